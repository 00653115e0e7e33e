"""TEF-SPARQL: a file of statements about events and facts ("TEF-SPARQL: The DDIS Query-Language for Time annotated
Event and Fact Triple-Streams", Chapters 3 to 5). Expressions are those of SPARQL; `now()` and `duration(a, b)` are
calls of NOW and DURATION.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import reduce
from itertools import count
from typing import Any, TypeAlias, assert_never

from thence.algebra.expressions import Expression, Variable
from thence.algebra.patterns import TriplePattern
from thence.algebra.streams import PlacedText, Stream
from thence.rdf.events import DEFAULT_NAMESPACE
from thence.rdf.terms import IRI
from thence.rdf.times import Domain, Instant, Span

UNNAMED = "events"
"""The one stream of a file without FROM STREAM."""


class Kind(Enum):
    """The kind of a predicate (TEF-1)."""

    EVENT = "event"
    FACT = "fact"
    STATIC = "static"


# Patterns (Tables 4.1 and 4.2)


class Open(Enum):
    """`∞`: an end that is still open (TEF-54)."""

    INFINITY = "∞"


When: TypeAlias = Variable | Instant | Open
"""A bound in `[start, end]`: a variable, a constant, or ∞. Each `?_` is a separate variable (TEF-56)."""


@dataclass(frozen=True, slots=True)
class Times:
    """`P[start, end]`: the times of the triple or group just before (TEF-53)."""

    pattern: TefPattern
    start: When
    end: When


@dataclass(frozen=True, slots=True)
class Conjunction:
    """`left, right`."""

    left: TefPattern
    right: TefPattern


@dataclass(frozen=True, slots=True)
class Either:
    """`left UNION right`, inside a group: only common variables stay (TEF-69)."""

    left: TefPattern
    right: TefPattern


@dataclass(frozen=True, slots=True)
class Test:
    """`P, expression`: it must be true."""

    pattern: TefPattern
    condition: Expression


@dataclass(frozen=True, slots=True)
class Assignment:
    """`P, ?v = expression`, where ?v is new (TEF-57); BIND."""

    pattern: TefPattern
    variable: Variable
    expression: Expression


class TemporalRelation(Enum):
    """The infix operators, by keyword; HAPPENSWHILE is DURING."""

    SEQ = "SEQ"
    BEFORE = "BEFORE"
    DURING = "DURING"
    WITH = "WITH"


@dataclass(frozen=True, slots=True)
class Related:
    """`left SEQ right` and the like (TEF-30 to TEF-35)."""

    relation: TemporalRelation
    left: TefPattern
    right: TefPattern


@dataclass(frozen=True, slots=True)
class Absent:
    """`left WITHOUT right` (TEF-32, TEF-36 to TEF-39)."""

    left: TefPattern
    right: TefPattern


@dataclass(frozen=True, slots=True)
class OnStart:
    """`ONSTART F`: the event that F begins."""

    facts: TefPattern


@dataclass(frozen=True, slots=True)
class OnEnd:
    """`ONEND F`: the event that F ends."""

    facts: TefPattern


TefPattern: TypeAlias = (
    TriplePattern | Times | Conjunction | Either | Test | Assignment | Related | Absent | OnStart | OnEnd
)


# Arms: what UNION separates at the top of a WHERE


@dataclass(frozen=True, slots=True)
class Plain:
    """A pattern alone."""

    pattern: TefPattern


@dataclass(frozen=True, slots=True)
class Since:
    """`SINCE E`: the head's facts start."""

    events: TefPattern


@dataclass(frozen=True, slots=True)
class Until:
    """`UNTIL E`, `TILL E`: the head's facts end (TEF-41)."""

    events: TefPattern


@dataclass(frozen=True, slots=True)
class Replace:
    """`REPLACE F ON E`: the facts matched end, the head's start (TEF-42). `steps` are bare expressions behind it, which
    belong to the arm (TEF-68): tests, and assignments of a variable."""

    facts: TefPattern
    events: TefPattern
    steps: tuple[tuple[Variable | None, Expression], ...] = ()


@dataclass(frozen=True, slots=True)
class OnInit:
    """`F ON INIT`: over the background, before the first event (TEF-44)."""

    pattern: TefPattern


Arm: TypeAlias = Plain | Since | Until | Replace | OnInit


# Statements


@dataclass(frozen=True, slots=True)
class HeadTriple:
    """A triple that CONSTRUCT makes: its object may be computed."""

    subject: Variable | IRI
    predicate: Variable | IRI
    object: Expression


@dataclass(frozen=True, slots=True)
class OncePer:
    """`ONCE PER ?v …, expression …`: the first row for each value (TEF-73)."""

    variables: tuple[Variable, ...]
    expressions: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class ConstructStatement:
    """`CONSTRUCT [FACT|EVENT] head WHERE arms`."""

    kind: Kind | None
    head: tuple[HeadTriple, ...]
    arms: tuple[Arm, ...]
    once_per: OncePer | None = None
    within: Span | None = None


@dataclass(frozen=True, slots=True)
class SelectStatement:
    """`SELECT ?v … WHERE arms`, all of them `Plain`."""

    variables: tuple[Variable, ...]
    arms: tuple[Arm, ...]
    distinct: bool = False
    once_per: OncePer | None = None
    within: Span | None = None


TefStatement: TypeAlias = ConstructStatement | SelectStatement


@dataclass(frozen=True, slots=True)
class TefFile:
    """Statements in the order of the text, and the kinds that DECLARE gives. Errors name a statement by its number,
    from 1, where there is no text; `places` say where each part is in it, and are not part of what a file means."""

    statements: tuple[TefStatement, ...]
    declared: tuple[tuple[IRI, Kind], ...] = ()
    streams: tuple[Stream, ...] = ()
    namespace: str = DEFAULT_NAMESPACE
    time_kind: tuple[Domain, str] | None = None
    warnings: tuple[str, ...] = ()
    places: TefPlaces | None = field(default=None, compare=False, repr=False)

    @property
    def selects(self) -> tuple[SelectStatement, ...]:
        return tuple(each for each in self.statements if isinstance(each, SelectStatement))


# Where the parts of a TEF-SPARQL file are in its text: for errors that are found only once the kinds of predicates
# are known (TEF-16).


@dataclass(frozen=True, slots=True)
class StatementPlaces:
    """Offsets of a statement's parts: of the predicate of each triple, of each step behind a comma, of clauses."""

    at: int
    head: tuple[int, ...]  # of each triple of the head
    patterns: tuple[int, ...]  # of each pattern, in the order of `statement_patterns`
    once_per: int
    within: int

    def of(self, pattern: TefPattern, statement: TefStatement) -> int:
        """The place of a pattern of the statement; the statement's own place if the pattern is not in it."""
        pairs = zip(statement_patterns(statement), self.patterns, strict=True)
        return next((at for each, at in pairs if each is pattern), self.at)


@dataclass(frozen=True, slots=True)
class TefPlaces:
    """A file's text, and where its statements and variables are in it."""

    text: PlacedText
    statements: tuple[StatementPlaces, ...]
    named: Mapping[Variable, Sequence[int]]  # in order

    def first(self, variable: Variable, number: int) -> int:
        """Where the statement of that number first names the variable; the statement's own place if it does not."""
        at = self.statements[number - 1].at
        found = self._in_statement(variable, number)
        return found[0] if found else at

    def last(self, variable: Variable, number: int) -> int:
        """The last place of the variable in the statement of that number."""
        at = self.statements[number - 1].at
        found = self._in_statement(variable, number)
        return found[-1] if found else at

    def _in_statement(self, variable: Variable, number: int) -> Sequence[int]:
        places = self.named.get(variable, ())
        begin = bisect_left(places, self.statements[number - 1].at)
        more = number < len(self.statements)
        return places[begin : bisect_left(places, self.statements[number].at) if more else None]


def pattern_places(statement: TefStatement, noted: Mapping[int, int], at: int) -> tuple[int, ...]:
    """The offsets of all patterns. `noted` has some of them by identity; a pattern without one is where its first
    part does. `at` is where the statement does."""
    found: list[int] = []
    for pattern in reversed(list(statement_patterns(statement))):
        found.append(noted.get(id(pattern), found[-1] if found else at))
    return tuple(reversed(found))


def statement_patterns(statement: TefStatement) -> Iterator[TefPattern]:
    """All patterns of a statement, each before its parts, in the order of the text; without recursion."""
    waiting: list[TefPattern] = []
    for arm in reversed(statement.arms):
        match arm:
            case Plain(pattern) | Since(pattern) | Until(pattern) | OnInit(pattern):
                waiting.append(pattern)
            case Replace():
                waiting += [arm.events, arm.facts]
            case _:
                assert_never(arm)
    while waiting:
        found = waiting.pop()
        yield found
        match found:
            case TriplePattern():
                pass
            case Times(inner) | Test(inner) | Assignment(inner) | OnStart(inner) | OnEnd(inner):
                waiting.append(inner)
            case Conjunction() | Either() | Related() | Absent():
                waiting += [found.right, found.left]
            case _:
                assert_never(found)


# Which variables a pattern of TEF-SPARQL binds (Tables 4.1 and 4.2, "Returned Bindings"), and which UNION drops.

FRESH = "_ "
"""The prefix of the names of `?_`: no text can write them (TEF-56)."""


def is_fresh(variable: Variable) -> bool:
    """Whether it was written `?_`."""
    return variable.name.startswith(FRESH)


def bound(pattern: TefPattern) -> frozenset[Variable]:
    """The variables that the pattern binds: those common to both sides of a UNION, and none of WITHOUT's right side.

    >>> from thence.lang.tef_sparql.parser import parse
    >>> (arm,) = parse("SELECT ?a WHERE ?a p ?b[?s, 7], ((?a q ?c) UNION (?a r ?d)), ?n = 1").statements[0].arms
    >>> print(*sorted(variable.name for variable in bound(arm.pattern)))
    a b n s
    """
    match pattern:
        case TriplePattern():
            return _variables(pattern.subject, pattern.predicate, pattern.object)
        case Times():
            return bound(pattern.pattern) | _variables(pattern.start, pattern.end)
        case Conjunction() | Related():
            return bound(pattern.left) | bound(pattern.right)
        case Either():
            return bound(pattern.left) & bound(pattern.right)
        case Test():
            return bound(pattern.pattern)
        case Assignment():
            return bound(pattern.pattern) | {pattern.variable}
        case Absent():
            return bound(pattern.left)
        case OnStart() | OnEnd():
            return bound(pattern.facts)
        case _:
            assert_never(pattern)


def united(pattern: Either) -> Iterator[TefPattern]:
    """The arms of a UNION, those of UNIONs that are arms included."""
    for side in (pattern.left, pattern.right):
        if isinstance(side, Either):
            yield from united(side)
        else:
            yield side


def dropped(pattern: TefPattern) -> frozenset[Variable]:
    """The variables that only one side of a UNION in the pattern binds (TEF-69), unless another part binds them."""
    return _dropped(pattern) - bound(pattern)


def _dropped(pattern: TefPattern) -> frozenset[Variable]:
    match pattern:
        case TriplePattern():
            return frozenset()
        case Times() | Test() | Assignment():
            return _dropped(pattern.pattern)
        case Either():
            one_sided = bound(pattern.left) ^ bound(pattern.right)
            return one_sided | _dropped(pattern.left) | _dropped(pattern.right)
        case Conjunction() | Related():
            return _dropped(pattern.left) | _dropped(pattern.right)
        case Absent():
            return _dropped(pattern.left)
        case OnStart() | OnEnd():
            return _dropped(pattern.facts)
        case _:
            assert_never(pattern)


def bound_by_arm(arm: Arm) -> frozenset[Variable]:
    """The variables that an arm binds, those that the expressions behind REPLACE assign included."""
    match arm:
        case Plain(pattern) | Since(pattern) | Until(pattern) | OnInit(pattern):
            return bound(pattern)
        case Replace():
            assigned = frozenset(variable for variable, _ in arm.steps if variable is not None)
            return bound(arm.facts) | bound(arm.events) | assigned
        case _:
            assert_never(arm)


def _variables(*slots: object) -> frozenset[Variable]:
    return frozenset(slot for slot in slots if isinstance(slot, Variable))


# The variables that a UNION drops (TEF-69) under names of their own, so that nothing outside joins them.


def with_private_names(file: TefFile) -> TefFile:
    """The file with these names: `?n 1`, which no text can write. Recursive: for what is within the limit of depth.

    >>> from thence.lang.tef_sparql.parser import parse
    >>> file = parse("SELECT ?a WHERE ?a p ?n, ((?a q ?n) UNION (?a r ?m))")
    >>> (arm,) = with_private_names(file).statements[0].arms
    >>> [str(side.object) for side in (arm.pattern.right.left, arm.pattern.right.right)]
    ['?n 1', '?m 1']
    """
    statements = []
    for statement in file.statements:
        numbers = count(1)
        statements.append(replace(statement, arms=tuple(_arm(arm, numbers) for arm in statement.arms)))
    return replace(file, statements=tuple(statements))


def _arm(arm: Arm, numbers: Iterator[int]) -> Arm:
    match arm:
        case Plain() | OnInit():
            return replace(arm, pattern=_pattern(arm.pattern, numbers))
        case Since() | Until():
            return replace(arm, events=_pattern(arm.events, numbers))
        case Replace():
            return replace(arm, facts=_pattern(arm.facts, numbers), events=_pattern(arm.events, numbers))
        case _:
            assert_never(arm)


def _pattern(pattern: TefPattern, numbers: Iterator[int]) -> TefPattern:
    match pattern:
        case TriplePattern():
            return pattern
        case Times() | Test() | Assignment():
            return replace(pattern, pattern=_pattern(pattern.pattern, numbers))
        case Conjunction() | Related() | Absent():
            return replace(pattern, left=_pattern(pattern.left, numbers), right=_pattern(pattern.right, numbers))
        case OnStart() | OnEnd():  # equal ones stay equal: what they drop meets nothing outside
            return replace(pattern, facts=_pattern(pattern.facts, count(1)))
        case Either():  # arms never meet, so that they may have names in common
            sides = [_pattern(side, numbers) for side in united(pattern)]
            common, number = frozenset.intersection(*map(bound, sides)), next(numbers)
            return reduce(Either, (_private(side, common, number) for side in sides))
        case _:
            assert_never(pattern)


def _private(side: TefPattern, common: frozenset[Variable], number: int) -> TefPattern:
    made: TefPattern = _renamed(side, {each: Variable(f"{each.name} {number}") for each in bound(side) - common})
    return made


def _renamed(tree: Any, names: Mapping[Variable, Variable]) -> Any:
    if isinstance(tree, Variable):
        return names.get(tree, tree)
    if type(tree) is tuple:
        return tuple(_renamed(each, names) for each in tree)
    if (fields := getattr(tree, "__dataclass_fields__", None)) is not None:
        return type(tree)(**{name: _renamed(getattr(tree, name), names) for name in fields})
    return tree
