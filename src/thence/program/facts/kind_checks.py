"""What the kinds of predicates forbid: all that Tables 4.1 and 4.2 do not admit (TEF-11 to TEF-15), uses of now() over
facts (TEF-65), ONCE PER with UNTIL (TEF-73)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import assert_never

from thence.algebra.expressions import Variable
from thence.algebra.patterns import TriplePattern
from thence.algebra.tef_sparql import (
    Absent,
    Arm,
    Assignment,
    Conjunction,
    ConstructStatement,
    Either,
    HeadTriple,
    Kind,
    OnEnd,
    OnInit,
    OnStart,
    Plain,
    Related,
    SelectStatement,
    TefFile,
    TefPattern,
    TefStatement,
    Test,
    Times,
    Until,
)
from thence.errors import QueryError
from thence.program.facts.kind_demands import (
    Demand,
    all_demands,
    arm_demands,
    certain_kind,
    operands,
)
from thence.program.facts.kind_table import RDF_TYPE, Kinds, asks_now, now_comparison, predicate_name
from thence.program.facts.kind_words import a_kind, cure, keyword_of, needed
from thence.program.facts.maker_checks import check_makers, unmade_facts
from thence.program.facts.placed_errors import StatementErrors
from thence.program.facts.variable_checks import check_variables
from thence.rdf.terms import IRI

_NOW = "now() > ?s + 10, behind a comma of its own"


def checked(file: TefFile, kinds: Kinds, *, background_is_known: bool) -> Kinds:
    """The kinds, if all statements go with them, with warnings (TEF-15)."""
    for number, statement in enumerate(file.statements, 1):
        check = _StatementCheck(file, kinds, number, statement)
        try:
            check.run()
        except _OpenClashError as error:
            if background_is_known:
                raise QueryError(error.reason, place=error.place, line=error.line, hint=error.hint) from None
    check_makers(file, kinds)
    return replace(kinds, warnings=tuple(unmade_facts(file, kinds)), file=file)


class _OpenClashError(QueryError):
    """A clash that a background which has the predicate would resolve."""


@dataclass(frozen=True, slots=True)
class _StatementCheck:
    """Checks one statement; `number` is its place."""

    file: TefFile
    kinds: Kinds
    number: int
    statement: TefStatement

    def run(self) -> None:
        self._check_on_init()
        self._check_head()
        found = [self._arm_kind(arm) for arm in self.statement.arms]
        self._check_arms(found)
        check_variables(self.statement, self.errors)
        self._check_now()
        self._check_clauses(found)

    def _check_clauses(self, found: list[Kind]) -> None:
        """ONCE PER (TEF-73) and WITHIN (TEF-76)."""
        arms = self.statement.arms
        if self.statement.once_per is not None:
            if any(isinstance(arm, Until) for arm in arms):
                reason = "ONCE PER can't stand on a statement with UNTIL."
                raise self.errors.at_once_per(reason, "two statements: ONCE PER on the one without UNTIL")
            if self._derived_head:
                reason = "ONCE PER can't stand on facts that are derived from facts: none of them is the first."
                raise self.errors.at_once_per(reason, "SINCE (ONSTART … )")
        has_event = Kind.EVENT in found or any(not isinstance(arm, Plain | OnInit) for arm in arms)
        if self.statement.within is not None and not has_event:
            raise self.errors.at_within("WITHIN says how long events may take, and there are none.", "no WITHIN")

    # Heads

    def _check_head(self) -> None:
        made = self.kinds.statements[self.number - 1]
        for position, predicate in self._head:
            known = self.kinds.known(predicate)
            if known.kind is made:
                continue
            name = self._name(predicate)
            reason = f"This makes {name} {a_kind(made)}, and {name} is {a_kind(known.kind)} ({known.why})."
            error = self.errors.at_head(reason, self._head_cure(predicate, known.kind, made), position)
            is_certain = certain_kind(self.statement) is not None
            plain = () if is_certain else filter(None, map(_plain_pattern, self.statement.arms))
            raise self._opened(error, *plain)

    def _head_cure(self, predicate: IRI, known: Kind, made: Kind) -> str:
        if predicate == RDF_TYPE:
            return f"DECLARE {made.value.upper()} rdf:type, or another predicate"
        if known is Kind.FACT and made is Kind.EVENT:
            return "SINCE before the events, or another predicate"
        return "another predicate"

    # Arms

    def _arm_kind(self, arm: Arm) -> Kind:
        """What an arm gives: a fact, or what its pattern does."""
        top = self.statement.kind if isinstance(self.statement, ConstructStatement) else None
        if not isinstance(arm, Plain) and (top is Kind.EVENT or isinstance(self.statement, SelectStatement)):
            words = "SELECT" if top is None else "CONSTRUCT EVENT"
            reason = f"{words} can't have {keyword_of(arm)}, which makes facts."
            raise self.errors.here(reason, "CONSTRUCT FACT")  # TEF-13
        for demand in arm_demands(arm, top):
            found = self._check(demand)
        return found if isinstance(arm, Plain) else Kind.FACT

    def _check_arms(self, found: list[Kind]) -> None:
        """UNION at the top joins what is of one kind (TEF-12)."""
        plain = [pattern for pattern in map(_plain_pattern, self.statement.arms) if pattern is not None]
        if Kind.STATIC in found and Kind.FACT in found and len(plain) == len(found):
            raise self._mixed_static(plain[found.index(Kind.FACT)], plain[found.index(Kind.STATIC)])
        if Kind.EVENT in found and (Kind.FACT in found or Kind.STATIC in found):
            event = self.statement.arms[found.index(Kind.EVENT)]
            other = next(arm for arm, kind in zip(self.statement.arms, found, strict=True) if kind is not Kind.EVENT)
            assert isinstance(event, Plain)
            if not isinstance(other, Plain):
                culprit = self._culprit(event.pattern, Kind.EVENT)
                reason = f"UNION joins {keyword_of(other)}, which makes facts, and an event: {culprit}."
                raise self._clash(reason, "SINCE before the event", Kind.EVENT, event.pattern)
            raise self._mixed("UNION", event.pattern, other.pattern)

    # Patterns

    def _check(self, demand: Demand) -> Kind:
        """The kind of a pattern, which its place admits."""
        kind = self._kind(demand)
        asked = demand.kind
        if asked is None or kind is asked:
            return kind
        if kind is Kind.STATIC and asked is Kind.FACT and demand.operator not in ("ONSTART", "ONEND", "REPLACE"):
            return kind  # a static triple always holds (TEF-4, TEF-9)
        culprit = self._culprit(demand.pattern, kind)
        reason = f"{demand.operator} needs {needed(demand)}, and {culprit}."
        raise self._clash(reason, cure(demand, kind), kind, demand.pattern)

    def _kind(self, demand: Demand) -> Kind:
        pattern, asked = demand.pattern, demand.kind or Kind.EVENT
        match pattern:
            case TriplePattern():
                return self.kinds.of_pattern(pattern, asked)
            case Times() | Test() | Assignment():
                self._kind(operands(demand)[0])
                return self.kinds.of_pattern(pattern, asked)
            case Conjunction() | Either():
                left, right = (self._kind(below) for below in operands(demand))
                return self._joined(pattern, left, right)
            case Absent():
                left, _ = (self._kind(below) for below in operands(demand))
                if left is Kind.STATIC:
                    reason = f"WITHOUT needs an event or a fact on its left, and {self._culprit(pattern.left, left)}."
                    raise self._clash(reason, "an event or a fact to its left", left, pattern.left)  # TEF-12
                return left
            case Related() | OnStart() | OnEnd():
                for below in operands(demand):
                    self._check(below)
                return Kind.EVENT
            case _:
                assert_never(pattern)

    def _joined(self, pattern: Conjunction | Either, left: Kind, right: Kind) -> Kind:
        """`,` joins events, or facts, and static triples with either; UNION what is of one kind (TEF-9, TEF-12)."""
        found = {left, right}
        united = isinstance(pattern, Either)
        if united and found == {Kind.FACT, Kind.STATIC}:
            sides = (pattern.left, pattern.right) if left is Kind.FACT else (pattern.right, pattern.left)
            raise self._mixed_static(*sides)
        if found == {Kind.EVENT, Kind.FACT} or (united and found == {Kind.EVENT, Kind.STATIC}):
            event, other = (pattern.left, pattern.right) if left is Kind.EVENT else (pattern.right, pattern.left)
            raise self._mixed("UNION" if united else '","', event, other)
        return left if left is not Kind.STATIC else right

    def _mixed(self, operator: str, event: TefPattern, other: TefPattern) -> QueryError:
        kind = self.kinds.of_pattern(other, Kind.FACT)
        static = kind is Kind.STATIC
        culprits = f"{self._culprit(event, Kind.EVENT)}, {self._culprit(other, kind)}"
        reason = f"{operator} can't join an event and {'what is static' if static else 'a fact'}: {culprits}."
        cure = "DURING or WITH" if operator != "UNION" else "ONSTART before the fact"
        return self._clash(reason, "an event beside the static triple" if static else cure, kind, event, other)

    def _mixed_static(self, fact: TefPattern, static: TefPattern) -> QueryError:
        culprits = f"{self._culprit(fact, Kind.FACT)}, {self._culprit(static, Kind.STATIC)}"
        reason = f"UNION can't join a fact and what is static: {culprits}."
        return self._clash(reason, "a statement for each", Kind.STATIC, fact, static)

    def _culprit(self, pattern: TefPattern, kind: Kind) -> str:
        """What makes a pattern of that kind, in words."""
        found = self._deciding(pattern, kind)
        match found:
            case TriplePattern():
                if isinstance(found.predicate, Variable):
                    return f"{found.predicate} stands for {a_kind(kind)}"
                assert isinstance(found.predicate, IRI)
                known = self.kinds.known(found.predicate)
                return f"{self._name(found.predicate)} is {a_kind(known.kind)} ({known.why})"
            case Related():
                return f"{found.relation.value} gives an event"
            case OnStart():
                return "ONSTART gives an event"
            case OnEnd():
                return "ONEND gives an event"
            case _:
                assert_never(found)

    def _deciding(self, pattern: TefPattern, kind: Kind) -> TriplePattern | Related | OnStart | OnEnd:
        """The part of a pattern that makes it of that kind."""
        match pattern:
            case TriplePattern() | Related() | OnStart() | OnEnd():
                return pattern
            case Times() | Test() | Assignment():
                return self._deciding(pattern.pattern, kind)
            case Conjunction() | Either():
                side = pattern.left if self.kinds.of_pattern(pattern.left, kind) is kind else pattern.right
                return self._deciding(side, kind)
            case Absent():
                return self._deciding(pattern.left, kind)
            case _:
                assert_never(pattern)

    # now() (TEF-65)

    def _check_on_init(self) -> None:
        for arm in self.statement.arms:
            for step in _steps(arm.pattern) if isinstance(arm, OnInit) else ():
                if asks_now(step.condition if isinstance(step, Test) else step.expression):
                    reason = "ON INIT runs before the first event, so it has no now()."
                    raise self.errors.at_pattern(reason, "a constant", step)

    def _check_now(self) -> None:
        for demand in all_demands(self.statement):
            kind = self.kinds.of_pattern(demand.pattern, demand.kind or Kind.EVENT)
            match demand.pattern:
                case Test(condition=condition) if kind is not Kind.EVENT and asks_now(condition):
                    if now_comparison(condition) is None:
                        reason = "now() over facts stands alone on one side of a comparison."
                        raise self.errors.at_pattern(reason, _NOW, demand.pattern)
                case Assignment(expression=expression) if kind is not Kind.EVENT and asks_now(expression):
                    reason = "now() has no one value over facts, so it can't be bound."
                    raise self.errors.at_pattern(reason, _NOW, demand.pattern)
        for position, triple in enumerate(self._derived_head):
            if asks_now(triple.object):
                reason = "now() has no one value over facts, so it can't stand in the head."
                raise self.errors.at_head(reason, _NOW, position)

    @property
    def _head(self) -> Iterator[tuple[int, IRI]]:
        """The predicates of the head, variables aside, each with the position of its triple."""
        head = self.statement.head if isinstance(self.statement, ConstructStatement) else ()
        return ((position, each.predicate) for position, each in enumerate(head) if isinstance(each.predicate, IRI))

    @property
    def _derived_head(self) -> tuple[HeadTriple, ...]:
        """The head, if it is derived from facts."""
        if isinstance(self.statement, SelectStatement) or self.kinds.statements[self.number - 1] is not Kind.FACT:
            return ()
        return self.statement.head if any(isinstance(arm, Plain) for arm in self.statement.arms) else ()

    # Errors

    def _name(self, predicate: IRI) -> str:
        return predicate_name(predicate, self.file.namespace)

    @property
    def errors(self) -> StatementErrors:
        return StatementErrors(self.file, self.number)

    def _clash(self, reason: str, hint: str, kind: Kind, *patterns: TefPattern) -> QueryError:
        """An error at what makes the last of the patterns of its kind; one that a background may resolve, if it is
        about a predicate that nothing else settles."""
        at = self._deciding(patterns[-1], kind)
        return self._opened(self.errors.at_pattern(reason, hint, at), *patterns)

    def _opened(self, error: QueryError, *patterns: TefPattern) -> QueryError:
        is_open = any(map(self._is_open, patterns))
        if not is_open:
            return error
        return _OpenClashError(error.reason, place=error.place, line=error.line, hint=error.hint)

    def _is_open(self, pattern: TefPattern) -> bool:
        """Whether a background may change the pattern's kind: not where an operator alone gives it."""
        match pattern:
            case TriplePattern():
                return isinstance(pattern.predicate, IRI) and self.kinds.known(pattern.predicate).is_open
            case Times() | Test() | Assignment():
                return self._is_open(pattern.pattern)
            case Conjunction() | Either():
                return self._is_open(pattern.left) or self._is_open(pattern.right)
            case Absent():
                return self._is_open(pattern.left)
            case Related() | OnStart() | OnEnd():
                return False
            case _:
                assert_never(pattern)


def _plain_pattern(arm: Arm) -> TefPattern | None:
    return arm.pattern if isinstance(arm, Plain) else None


def _steps(pattern: TefPattern) -> Iterator[Test | Assignment]:
    waiting = [pattern]
    while waiting:
        found = waiting.pop()
        if isinstance(found, Test | Assignment):
            yield found
        waiting += [below.pattern for below in operands(Demand(found, None, ""))]
