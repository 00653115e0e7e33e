"""What the kinds of predicates forbid: all that Tables 4.1 and 4.2 do not admit (TEF-11 to TEF-15), uses of now() over
facts (TEF-65), ONCE PER with UNTIL (TEF-73)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import assert_never

from thence.algebra.expressions import Expression, Variable
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
    head_predicates,
    operands,
)
from thence.program.facts.kind_table import RDF_TYPE, Kinds, asks_now, now_comparison, predicate_name
from thence.program.facts.kind_words import a_kind, cure, keyword_of, needed
from thence.program.facts.maker_checks import check_makers, unmade_facts
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
                raise QueryError(error.reason, hint=error.hint) from None
    check_makers(file, kinds)
    return replace(kinds, warnings=tuple(unmade_facts(file, kinds)))


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
        check_variables(self.statement, self.number)
        self._check_now()
        self._check_clauses(found)

    def _check_clauses(self, found: list[Kind]) -> None:
        """ONCE PER (TEF-73) and WITHIN (TEF-76)."""
        arms = self.statement.arms
        if self.statement.once_per is not None:
            if any(isinstance(arm, Until) for arm in arms):
                reason = "ONCE PER can't stand on a statement with UNTIL."
                raise self._error(reason, "two statements: ONCE PER on the one without UNTIL")
            if self._derived_head:
                reason = "ONCE PER can't stand on facts that are derived from facts: none of them is the first."
                raise self._error(reason, "SINCE (ONSTART … )")
        has_event = Kind.EVENT in found or any(not isinstance(arm, Plain | OnInit) for arm in arms)
        if self.statement.within is not None and not has_event:
            raise self._error("WITHIN says how long events may take, and there are none.", "no WITHIN")

    # Heads

    def _check_head(self) -> None:
        made = self.kinds.statements[self.number - 1]
        for predicate in head_predicates(self.statement):
            known = self.kinds.known(predicate)
            if known.kind is made:
                continue
            name = self._name(predicate)
            makes = f"Statement {self.number} makes {name} {a_kind(made)}"
            reason = f"{makes}, and {name} is {a_kind(known.kind)} ({known.why})."
            error = QueryError(reason, hint=self._head_cure(predicate, known.kind, made))
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
            raise self._error(f"{words} can't have {keyword_of(arm)}, which makes facts.", "CONSTRUCT FACT")  # TEF-13
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
                raise self._clash(reason, "SINCE before the event", event.pattern)
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
        raise self._clash(reason, cure(demand, kind), demand.pattern)

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
                    raise self._clash(reason, "an event or a fact to its left", pattern.left)  # TEF-12
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
        return self._clash(reason, "an event beside the static triple" if static else cure, event, other)

    def _mixed_static(self, fact: TefPattern, static: TefPattern) -> QueryError:
        culprits = f"{self._culprit(fact, Kind.FACT)}, {self._culprit(static, Kind.STATIC)}"
        reason = f"UNION can't join a fact and what is static: {culprits}."
        return self._clash(reason, "a statement for each", fact, static)

    def _culprit(self, pattern: TefPattern, kind: Kind) -> str:
        """What makes a pattern of that kind, in words."""
        match pattern:
            case TriplePattern():
                if isinstance(pattern.predicate, Variable):
                    return f"{pattern.predicate} stands for {a_kind(kind)}"
                assert isinstance(pattern.predicate, IRI)
                known = self.kinds.known(pattern.predicate)
                return f"{self._name(pattern.predicate)} is {a_kind(known.kind)} ({known.why})"
            case Times() | Test() | Assignment():
                return self._culprit(pattern.pattern, kind)
            case Conjunction() | Either():
                side = pattern.left if self.kinds.of_pattern(pattern.left, kind) is kind else pattern.right
                return self._culprit(side, kind)
            case Absent():
                return self._culprit(pattern.left, kind)
            case Related():
                return f"{pattern.relation.value} gives an event"
            case OnStart():
                return "ONSTART gives an event"
            case OnEnd():
                return "ONEND gives an event"
            case _:
                assert_never(pattern)

    # now() (TEF-65)

    def _check_on_init(self) -> None:
        for arm in self.statement.arms:
            if isinstance(arm, OnInit) and any(asks_now(each) for each in _expressions(arm.pattern)):
                raise self._error("ON INIT runs before the first event, so it has no now().", "a constant")

    def _check_now(self) -> None:
        for demand in all_demands(self.statement):
            kind = self.kinds.of_pattern(demand.pattern, demand.kind or Kind.EVENT)
            match demand.pattern:
                case Test(condition=condition) if kind is not Kind.EVENT and asks_now(condition):
                    if now_comparison(condition) is None:
                        raise self._error("now() over facts stands alone on one side of a comparison.", _NOW)
                case Assignment(expression=expression) if kind is not Kind.EVENT and asks_now(expression):
                    raise self._error("now() has no one value over facts, so it can't be bound.", _NOW)
        if any(asks_now(triple.object) for triple in self._derived_head):
            raise self._error("now() has no one value over facts, so it can't stand in the head.", _NOW)

    @property
    def _derived_head(self) -> tuple[HeadTriple, ...]:
        """The head, if it is derived from facts."""
        if isinstance(self.statement, SelectStatement) or self.kinds.statements[self.number - 1] is not Kind.FACT:
            return ()
        return self.statement.head if any(isinstance(arm, Plain) for arm in self.statement.arms) else ()

    # Errors

    def _name(self, predicate: IRI) -> str:
        return predicate_name(predicate, self.file.namespace)

    def _error(self, reason: str, hint: str) -> QueryError:
        return QueryError(f"In statement {self.number}, {reason}", hint=hint)

    def _clash(self, reason: str, hint: str, *patterns: TefPattern) -> QueryError:
        """An error; one that a background may resolve, if it is about a predicate that nothing else settles."""
        return self._opened(self._error(reason, hint), *patterns)

    def _opened(self, error: QueryError, *patterns: TefPattern) -> QueryError:
        is_open = any(map(self._is_open, patterns))
        return _OpenClashError(error.reason, hint=error.hint) if is_open else error

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


def _expressions(pattern: TefPattern) -> Iterator[Expression]:
    waiting = [pattern]
    while waiting:
        found = waiting.pop()
        if isinstance(found, Test):
            yield found.condition
        elif isinstance(found, Assignment):
            yield found.expression
        waiting += [below.pattern for below in operands(Demand(found, None, ""))]
