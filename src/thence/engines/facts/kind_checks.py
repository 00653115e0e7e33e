"""Checks of the kinds of predicates (TEF-9 to TEF-16), and of variables that an arm lacks or a UNION drops (TEF-69)."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
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
    Replace,
    SelectStatement,
    Since,
    StatementPlaces,
    TefFile,
    TefPattern,
    TefStatement,
    Test,
    Times,
    Until,
    bound,
    bound_by_arm,
    dropped,
    united,
)
from thence.algebra.variables import mentioned
from thence.engines.facts.kinds import (
    RDF_TYPE,
    Demand,
    Inference,
    Kinds,
    a_kind,
    all_demands,
    arm_demands,
    asks_now,
    certain_kind,
    cure,
    head_predicates,
    keyword_of,
    needed,
    now_comparison,
    operands,
    predicate_name,
    read_predicates,
)
from thence.errors import QueryError
from thence.rdf.terms import IRI

# Errors about statements of TEF-SPARQL: at their place in the text, where the file knows it.


@dataclass(frozen=True, slots=True)
class StatementErrors:
    """Makes errors about the statement of that number, from 1. A file that was built without a text gives the number
    in place of line and column."""

    file: TefFile
    number: int

    def here(self, reason: str, hint: str) -> QueryError:
        """About the whole statement."""
        return self._made(reason, hint, None if self._places is None else self._places.at)

    def at_pattern(self, reason: str, hint: str, pattern: TefPattern) -> QueryError:
        statement = self.file.statements[self.number - 1]
        return self._made(reason, hint, None if self._places is None else self._places.of(pattern, statement))

    def at_head(self, reason: str, hint: str, triple: int) -> QueryError:
        """About a triple of the head, by its position in it."""
        return self._made(reason, hint, None if self._places is None else self._places.head[triple])

    def at_once_per(self, reason: str, hint: str) -> QueryError:
        return self._made(reason, hint, None if self._places is None else self._places.once_per)

    def at_within(self, reason: str, hint: str) -> QueryError:
        return self._made(reason, hint, None if self._places is None else self._places.within)

    def at_first(self, reason: str, hint: str, variable: Variable) -> QueryError:
        """The first place of the variable in the statement."""
        places = self.file.places
        return self._made(reason, hint, None if places is None else places.first(variable, self.number))

    def at_last(self, reason: str, hint: str, variable: Variable) -> QueryError:
        """The last place of the variable in the statement."""
        places = self.file.places
        return self._made(reason, hint, None if places is None else places.last(variable, self.number))

    @property
    def _places(self) -> StatementPlaces | None:
        return None if self.file.places is None else self.file.places.statements[self.number - 1]

    def _made(self, reason: str, hint: str, at: int | None) -> QueryError:
        if at is None or self.file.places is None:
            return QueryError(f"Statement {self.number}: {reason}", hint=hint)
        return self.file.places.text.error(reason, at, hint=hint)


# Which statements make a fact predicate: by events, or from facts (TEF-14); facts that none makes (TEF-15), and
# rdf:type that nothing makes an event (TEF-5).


def check_makers(file: TefFile, kinds: Kinds) -> None:
    """A QueryError, if a predicate is both derived from facts and made by events, or REPLACE ends derived facts."""
    derived: dict[IRI, int] = {}
    made: dict[IRI, tuple[int, str]] = {}
    for number, statement in enumerate(file.statements, 1):
        if isinstance(statement, ConstructStatement) and kinds.statements[number - 1] is Kind.FACT:
            for predicate in head_predicates(statement):
                for arm in statement.arms:
                    if isinstance(arm, Plain):
                        derived.setdefault(predicate, number)
                    else:
                        made.setdefault(predicate, (number, keyword_of(arm)))
    for predicate, number in derived.items():
        if predicate in made:
            maker, keyword = made[predicate]
            name = predicate_name(predicate, file.namespace)
            how = "at the start" if keyword == "ON INIT" else "by events"
            reason = f"Statement {number} derives {name} from facts, and {keyword} in statement {maker} makes it {how}."
            missing = "SINCE before every event, or " if maker == number else ""
            hint = f"{missing}another predicate in one of them"
            raise StatementErrors(file, number).at_head(reason, hint, _position(file.statements[number - 1], predicate))
    _check_replaced(file, derived)


def _check_replaced(file: TefFile, derived: dict[IRI, int]) -> None:
    for number, statement in enumerate(file.statements, 1):
        errors = StatementErrors(file, number)
        for demand in all_demands(statement):
            if demand.operator != "REPLACE" or not isinstance(demand.pattern, TriplePattern):
                continue
            predicate = demand.pattern.predicate
            if isinstance(predicate, Variable) and derived:
                reason = f"REPLACE can't end facts of any predicate {predicate}: some are derived from facts."
                raise errors.at_pattern(reason, "a predicate that a statement makes", demand.pattern)
            if isinstance(predicate, IRI) and predicate in derived:
                name = predicate_name(predicate, file.namespace)
                reason = f"REPLACE can't end {name}, which statement {derived[predicate]} derives from facts."
                raise errors.at_pattern(reason, f"REPLACE what {name} is derived from", demand.pattern)


def unmade_facts(file: TefFile, kinds: Kinds) -> Iterator[str]:
    """Warnings of fact predicates that patterns read and no statement makes (TEF-15)."""
    statements = [each for each in file.statements if isinstance(each, ConstructStatement)]
    if any(isinstance(triple.predicate, Variable) for each in statements for triple in each.head):
        return  # it may make any
    derived_predicates = {predicate for each in statements for predicate in head_predicates(each)}
    for number, statement in enumerate(file.statements, 1):
        for predicate, demand in read_predicates(statement):
            known = kinds.known(predicate)
            if known.kind is Kind.FACT and predicate not in derived_predicates:
                derived_predicates.add(predicate)
                name = predicate_name(predicate, file.namespace)
                reason = f"This reads the fact {name} ({known.why}), which no statement makes."
                hint = f"CONSTRUCT FACT, or DECLARE STATIC {name} if the background has it"
                yield str(StatementErrors(file, number).at_pattern(reason, hint, demand.pattern))


def undeclared_types(file: TefFile, kinds: Kinds) -> Iterator[str]:
    """A warning where a pattern reads rdf:type, which is static only because nothing says otherwise (TEF-5): that of
    the stream is ignored (TEF-10)."""
    read = [
        (number, demand)
        for number, statement in enumerate(file.statements, 1)
        for predicate, demand in read_predicates(statement)
        if predicate == RDF_TYPE
    ]
    is_settled = RDF_TYPE in {predicate for predicate, _ in file.declared} | kinds.background
    if is_settled or any(demand.kind is Kind.STATIC for _, demand in read):
        return
    for number, demand in read[:1]:
        reason = "rdf:type is static unless it is DECLAREd: that of the stream is ignored."
        hint = "DECLARE EVENT rdf:type, or DECLARE STATIC rdf:type if the background has it"
        yield str(StatementErrors(file, number).at_pattern(reason, hint, demand.pattern))


def _position(statement: TefStatement, predicate: IRI) -> int:
    """The place of the first triple of the head that has the predicate."""
    assert isinstance(statement, ConstructStatement)
    return next(position for position, each in enumerate(statement.head) if each.predicate == predicate)


# Refuses variables that an arm of a statement lacks, that UNION drops before an expression, or that are in only some
# arms of a UNION and outside it (TEF-69).


def check_variables(statement: TefStatement, errors: StatementErrors) -> None:
    """A QueryError, if the head names a variable that an arm lacks, or an expression one that UNION drops."""
    for place, arm in enumerate(statement.arms, 1):
        known = bound_by_arm(arm)
        for variable, words in _named(statement):
            if variable not in known:
                which = f"arm {place} of UNION ({keyword_of(arm) or 'a pattern'})" if statement.arms[1:] else "WHERE"
                reason = f"{words} {variable}, which {which} does not bind."
                raise errors.at_first(reason, _cure(arm, variable), variable)
    if isinstance(statement, SelectStatement) and statement.once_per is not None:
        for variable in statement.once_per.variables:
            if variable not in statement.variables:  # Section 4.4
                reason = f"ONCE PER names {variable}, which SELECT does not."
                raise errors.at_first(reason, f"SELECT … {variable}", variable)
    for names, seen in _expressions(statement):
        inside = seen.outer.union(*map(bound, seen.patterns))
        for variable in sorted((names & seen.hidden) - inside, key=str):
            reason = f"An expression inside {seen.operator} names {variable}, which is bound outside."
            raise errors.at_last(reason, f"the expression after {seen.operator} ( … )", variable)
        lost = (
            frozenset[Variable]().union(*map(dropped, seen.patterns)).difference(*map(bound, seen.patterns), seen.outer)
        )
        for variable in sorted(names & lost, key=str):
            reason = f"An expression names {variable}, which only one side of the UNION before it binds."
            raise errors.at_last(reason, f"{variable} on both sides", variable)
    for variable in sorted(_split(statement), key=str):
        reason = f"{variable} is in only some arms of a UNION, so outside of it the name is another variable."
        raise errors.at_last(reason, f"{variable} in all arms, or another name inside the UNION", variable)


def _named(statement: TefStatement) -> Iterator[tuple[Variable, str]]:
    """The variables that every arm must bind, and the words for who names them."""
    match statement:
        case SelectStatement():
            yield from ((variable, "SELECT names") for variable in statement.variables)
        case ConstructStatement():
            for triple in statement.head:
                slots = (triple.subject, triple.predicate, *sorted(mentioned(triple.object), key=str))
                yield from ((slot, "The head names") for slot in slots if isinstance(slot, Variable))
        case _:
            assert_never(statement)
    if statement.once_per is not None:
        yield from ((variable, "ONCE PER names") for variable in statement.once_per.variables)
        for expression in statement.once_per.expressions:
            yield from ((variable, "ONCE PER names") for variable in sorted(mentioned(expression), key=str))


@dataclass(frozen=True, slots=True)
class _Seen:
    """Patterns before an expression, or one to look into; and what is bound to their left, outside of them."""

    patterns: tuple[TefPattern, ...]
    outer: frozenset[Variable]
    hidden: frozenset[Variable] = frozenset()  # what is bound outside of an ONSTART or ONEND around them (TEF-50)
    operator: str = ""


def _expressions(statement: TefStatement) -> Iterator[tuple[frozenset[Variable], _Seen]]:
    """The variables that each expression names, and what is before it (TEF-58). One that it assigns is new, also
    where an arm of a UNION has a variable of that name."""
    for arm in statement.arms:
        match arm:
            case Plain(pattern) | Since(pattern) | Until(pattern) | OnInit(pattern):
                yield from _within(pattern, _Seen((), frozenset()))
            case Replace():
                yield from _within(arm.facts, _Seen((), frozenset()))
                yield from _within(arm.events, _Seen((), bound(arm.facts)))
                for _, expression in arm.steps:
                    yield mentioned(expression), _Seen((arm.facts, arm.events), frozenset())
            case _:
                assert_never(arm)


def _within(pattern: TefPattern, seen: _Seen) -> Iterator[tuple[frozenset[Variable], _Seen]]:
    match pattern:
        case TriplePattern():
            return
        case Test(inner, condition):
            yield mentioned(condition), replace(seen, patterns=(inner,))
            yield from _within(inner, seen)
        case Assignment(inner, _, expression):
            yield mentioned(expression), replace(seen, patterns=(inner,))
            yield from _within(inner, seen)
        case Times(inner):
            yield from _within(inner, seen)
        case OnStart(inner) | OnEnd(inner):
            operator = "ONSTART" if isinstance(pattern, OnStart) else "ONEND"
            yield from _within(inner, _Seen((), frozenset(), seen.outer | seen.hidden, operator))
        case Either(left, right):
            yield from _within(left, seen)
            yield from _within(right, seen)
        case Conjunction(left, right) | Related(_, left, right) | Absent(left, right):
            yield from _within(left, seen)
            yield from _within(right, replace(seen, outer=seen.outer | bound(left)))
        case _:
            assert_never(pattern)


# Variables of some arms of a UNION


def _split(statement: TefStatement) -> frozenset[Variable]:
    """The variables that are in only some arms of a UNION and outside it."""
    variables: frozenset[Variable] = frozenset()
    for arm in statement.arms:
        match arm:
            case Plain(pattern) | Since(pattern) | Until(pattern) | OnInit(pattern):
                variables |= _split_in(pattern, _Around(frozenset(), frozenset()))
            case Replace():
                steps = frozenset(name for variable, each in arm.steps for name in (variable, *mentioned(each)) if name)
                facts, events = arm.facts, arm.events
                variables |= _split_in(facts, _Around(steps | _standing(events), frozenset()))
                variables |= _split_in(events, _Around(steps | _standing(facts), bound(facts)))
            case _:
                assert_never(arm)
    return variables


@dataclass(frozen=True, slots=True)
class _Around:
    """The variables that are around a pattern, other arms of a UNION aside, and what is bound to its left."""

    names: frozenset[Variable]
    left: frozenset[Variable]


def _split_in(pattern: TefPattern, around: _Around) -> frozenset[Variable]:
    match pattern:
        case TriplePattern():
            return frozenset()
        case Times(inner, start, end):
            return _split_in(inner, _with(around, {each for each in (start, end) if isinstance(each, Variable)}))
        case Test(inner, condition):
            return _split_in(inner, _with(around, mentioned(condition)))
        case Assignment(inner, variable, expression):
            return _split_in(inner, _with(around, {variable, *mentioned(expression)}))
        case OnStart(inner) | OnEnd(inner):
            return _split_in(inner, replace(around, left=frozenset()))
        case Conjunction(left, right) | Related(_, left, right):
            further = _Around(around.names | _standing(left), around.left | bound(left))
            return _split_in(left, _with(around, _standing(right))) | _split_in(right, further)
        case Absent(left, right):  # what is not bound to its left is its own (TEF-39)
            seen = around.left | bound(left)
            return _split_in(left, around) | _split_in(right, _Around(seen, seen))
        case Either():
            arms = tuple(united(pattern))
            own = [_standing(arm, around.left) for arm in arms]
            bindings = [bound(arm) for arm in arms]
            some = _not_in_all(own) | _not_in_all(bindings)
            return (some & around.names).union(*(_split_in(arm, around) for arm in arms))
        case _:
            assert_never(pattern)


def _with(around: _Around, names: AbstractSet[Variable]) -> _Around:
    return replace(around, names=around.names | names)


def _not_in_all(several: list[frozenset[Variable]]) -> frozenset[Variable]:
    return frozenset[Variable]().union(*several) - frozenset.intersection(*several)


def _standing(pattern: TefPattern, left: frozenset[Variable] = frozenset()) -> frozenset[Variable]:
    """The variables that are in a pattern, not right of WITHOUT alone. Of those that are bound to its left, an
    expression alone does not count (TEF-58)."""
    match pattern:
        case TriplePattern():
            return bound(pattern)
        case Times(inner, start, end):
            return _standing(inner, left).union(each for each in (start, end) if isinstance(each, Variable))
        case Test(inner, condition):
            return _standing(inner, left) | (mentioned(condition) - left)
        case Assignment(inner, variable, expression):
            return _standing(inner, left) | {variable} | (mentioned(expression) - left)
        case OnStart(inner) | OnEnd(inner):
            return _standing(inner, left)
        case Conjunction(one, other) | Related(_, one, other) | Either(one, other):
            return _standing(one, left) | _standing(other, left)
        case Absent(inner, _):
            return _standing(inner, left)
        case _:
            assert_never(pattern)


def _cure(arm: Arm, variable: Variable) -> str:
    if isinstance(arm, Until):
        return f"UNTIL ( … DURING the fact with {variable} )"
    return f"{variable} = … after it" if isinstance(arm, Since | Replace) else f"{variable} in that pattern"


# Refuses what Tables 4.1 and 4.2 do not admit for the kinds of predicates (TEF-11 to TEF-15), uses of now() over
# facts (TEF-65), ONCE PER with UNTIL (TEF-73).

_NOW = "now() > ?s + 10, after a comma of its own"


def checked(file: TefFile, kinds: Kinds, *, background_is_known: bool) -> Kinds:
    """The kinds, if all statements go with them, with warnings (TEF-5, TEF-15)."""
    for number, statement in enumerate(file.statements, 1):
        check = _StatementCheck(file, kinds, number, statement)
        try:
            check.run()
        except _OpenClashError as error:
            if background_is_known:
                raise QueryError(error.reason, place=error.place, line=error.line, hint=error.hint) from None
    check_makers(file, kinds)
    return replace(kinds, warnings=(*unmade_facts(file, kinds), *undeclared_types(file, kinds)), file=file)


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
        arm_kinds = [self._arm_kind(arm) for arm in self.statement.arms]
        self._check_arms(arm_kinds)
        check_variables(self.statement, self.errors)
        self._check_now()
        self._check_clauses(arm_kinds)

    def _check_clauses(self, arm_kinds: list[Kind]) -> None:
        """ONCE PER (TEF-73) and WITHIN (TEF-76)."""
        arms = self.statement.arms
        if self.statement.once_per is not None:
            if any(isinstance(arm, Until) for arm in arms):
                reason = "ONCE PER is not allowed with UNTIL."
                raise self.errors.at_once_per(reason, "two statements: ONCE PER on the one without UNTIL")
            if self._derived_head:
                reason = "ONCE PER is not allowed for facts that are derived from facts: none of them is the first."
                raise self.errors.at_once_per(reason, "SINCE (ONSTART … )")
        has_event = Kind.EVENT in arm_kinds or any(not isinstance(arm, Plain | OnInit) for arm in arms)
        if self.statement.within is not None and not has_event:
            raise self.errors.at_within(
                "WITHIN bounds how long events may take, and this statement reads no events.", "no WITHIN"
            )

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
        """The kind of an arm: a fact, or the kind of its pattern."""
        top = self.statement.kind if isinstance(self.statement, ConstructStatement) else None
        if not isinstance(arm, Plain) and (top is Kind.EVENT or isinstance(self.statement, SelectStatement)):
            words = "SELECT" if top is None else "CONSTRUCT EVENT"
            reason = f"{words} can't have {keyword_of(arm)}, which makes facts."
            raise self.errors.here(reason, "CONSTRUCT FACT")  # TEF-13
        for demand in arm_demands(arm, top):
            kind = self._check(demand)
        return kind if isinstance(arm, Plain) else Kind.FACT

    def _check_arms(self, arm_kinds: list[Kind]) -> None:
        """UNION at the top joins what is of one kind (TEF-12)."""
        plain = [pattern for pattern in map(_plain_pattern, self.statement.arms) if pattern is not None]
        if Kind.STATIC in arm_kinds and Kind.FACT in arm_kinds and len(plain) == len(arm_kinds):
            raise self._mixed_static(plain[arm_kinds.index(Kind.FACT)], plain[arm_kinds.index(Kind.STATIC)])
        if Kind.EVENT in arm_kinds and (Kind.FACT in arm_kinds or Kind.STATIC in arm_kinds):
            event = self.statement.arms[arm_kinds.index(Kind.EVENT)]
            other = next(
                arm for arm, kind in zip(self.statement.arms, arm_kinds, strict=True) if kind is not Kind.EVENT
            )
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
        both = {left, right}
        united = isinstance(pattern, Either)
        if united and both == {Kind.FACT, Kind.STATIC}:
            sides = (pattern.left, pattern.right) if left is Kind.FACT else (pattern.right, pattern.left)
            raise self._mixed_static(*sides)
        if both == {Kind.EVENT, Kind.FACT} or (united and both == {Kind.EVENT, Kind.STATIC}):
            event, other = (pattern.left, pattern.right) if left is Kind.EVENT else (pattern.right, pattern.left)
            raise self._mixed("UNION" if united else '","', event, other)
        return left if left is not Kind.STATIC else right

    def _mixed(self, operator: str, event: TefPattern, other: TefPattern) -> QueryError:
        kind = self.kinds.of_pattern(other, Kind.FACT)
        static = kind is Kind.STATIC
        culprits = f"{self._culprit(event, Kind.EVENT)}, {self._culprit(other, kind)}"
        reason = f"{operator} can't join an event and {'a static triple' if static else 'a fact'}: {culprits}."
        cure = "DURING or WITH" if operator != "UNION" else "ONSTART before the fact"
        return self._clash(reason, "an event beside the static triple" if static else cure, kind, event, other)

    def _mixed_static(self, fact: TefPattern, static: TefPattern) -> QueryError:
        culprits = f"{self._culprit(fact, Kind.FACT)}, {self._culprit(static, Kind.STATIC)}"
        reason = f"UNION can't join a fact and a static triple: {culprits}."
        return self._clash(reason, "a statement for each", Kind.STATIC, fact, static)

    def _culprit(self, pattern: TefPattern, kind: Kind) -> str:
        """The part that gives a pattern that kind, in words."""
        deciding = self._deciding(pattern, kind)
        match deciding:
            case TriplePattern():
                if isinstance(deciding.predicate, Variable):
                    return f"{deciding.predicate} is {a_kind(kind)}"
                assert isinstance(deciding.predicate, IRI)
                known = self.kinds.known(deciding.predicate)
                return f"{self._name(deciding.predicate)} is {a_kind(known.kind)} ({known.why})"
            case Related():
                return f"{deciding.relation.value} gives an event"
            case OnStart():
                return "ONSTART gives an event"
            case OnEnd():
                return "ONEND gives an event"
            case _:
                assert_never(deciding)

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
                    reason = "ON INIT runs before the first event, so now() is not allowed."
                    raise self.errors.at_pattern(reason, "a constant", step)

    def _check_now(self) -> None:
        for demand in all_demands(self.statement):
            kind = self.kinds.of_pattern(demand.pattern, demand.kind or Kind.EVENT)
            match demand.pattern:
                case Test(condition=condition) if kind is not Kind.EVENT and asks_now(condition):
                    if now_comparison(condition) is None:
                        reason = "now() over facts must be alone on one side of a comparison."
                        raise self.errors.at_pattern(reason, _NOW, demand.pattern)
                case Assignment(expression=expression) if kind is not Kind.EVENT and asks_now(expression):
                    reason = "now() has no single value over facts, so it can't be bound."
                    raise self.errors.at_pattern(reason, _NOW, demand.pattern)
        for position, triple in enumerate(self._derived_head):
            if asks_now(triple.object):
                reason = "now() has no single value over facts, so it is not allowed in the head."
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
        node = waiting.pop()
        if isinstance(node, Test | Assignment):
            yield node
        waiting += [below.pattern for below in operands(Demand(node, None, ""))]


# Kinds of predicates in TEF-SPARQL: inferred and checked (TEF-1 to TEF-16).

__all__ = ["Kinds", "asks_now", "now_comparison", "predicate_kinds"]


def predicate_kinds(file: TefFile, background_predicates: frozenset[IRI] | None = frozenset()) -> Kinds:
    """The kinds of a file's predicates, or a QueryError that says where in the text it is.

    `background_predicates` are those that the background has. None says that it is not known yet: then a clash that a
    background may resolve is not an error (TEF-16).

    >>> from thence.lang.tef_sparql.parser import parse
    >>> kinds = predicate_kinds(parse("CONSTRUCT ?p liveIn ?x WHERE (SINCE ?p bornIn ?x) UNION (UNTIL ?p leaves ?x)"))
    >>> kinds.of(IRI("http://example.org/liveIn")), kinds.of(IRI("http://example.org/bornIn"))
    (<Kind.FACT: 'fact'>, <Kind.EVENT: 'event'>)
    """
    kinds = Inference(file, background_predicates or frozenset()).kinds()
    return checked(file, kinds, background_is_known=background_predicates is not None)
