"""TEF-SPARQL: a file of statements about events and facts ("TEF-SPARQL: The DDIS Query-Language for Time annotated
Event and Fact Triple-Streams", Chapters 3 to 5). Expressions are those of SPARQL; `now()` and `duration(a, b)` are
calls of NOW and DURATION."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from thence.algebra.expressions import Expression, Variable
from thence.algebra.patterns import TriplePattern
from thence.algebra.streams import Stream
from thence.rdf.terms import IRI
from thence.rdf.times import Domain, Instant, Span
from thence.rdf.typed_events import DEFAULT_NAMESPACE

if TYPE_CHECKING:
    from thence.algebra.tef_places import TefPlaces

UNNAMED = "events"
"""The one stream of a file without FROM STREAM."""


class Kind(Enum):
    """What a predicate is (TEF-1)."""

    EVENT = "event"
    FACT = "fact"
    STATIC = "static"


# Patterns (Tables 4.1 and 4.2)


class Open(Enum):
    """`∞`: an end that is still open (TEF-54)."""

    INFINITY = "∞"


When: TypeAlias = Variable | Instant | Open
"""What stands in `[start, end]`: a variable, a constant, or ∞. `?_` is a variable of its own each time (TEF-56)."""


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
    from 1, where there is no text; `places` say where each part stands in it, and are no part of what a file means."""

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
