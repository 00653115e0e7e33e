"""RSEP-QL: a query over windows on streams (Dell'Aglio, Dao-Tran, Calbimonte, Le Phuoc, Della Valle, "A Query Model to
Capture Event Pattern Matching in RDF Stream Processing Query Languages"). Patterns are those of SPARQL with
`WindowPattern` and `MatchPattern` (Section 3.3)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from thence.algebra.expressions import Aggregate, AggregateFunction, Compare, Comparison, Variable
from thence.algebra.patterns import Ask, BasicEvent, Construct, Graph, Pattern, Projection, Select
from thence.algebra.streams import Report, Stream
from thence.algebra.traversal import nodes
from thence.algebra.variables import in_scope
from thence.rdf.events import DEFAULT_NAMESPACE
from thence.rdf.terms import IRI, Literal
from thence.rdf.times import XSD_INTEGER, Domain, Instant, Span

# Window functions (Definition 3; RS-7 to RS-10)


@dataclass(frozen=True, slots=True)
class TimeWindow:
    """`[RANGE width SLIDE slide]`: (t' − width, t'], t' being t without SLIDE, else the last multiple of `slide`."""

    width: Span
    slide: Span | None = None


@dataclass(frozen=True, slots=True)
class LandmarkWindow:
    """`[LND first]`: from an instant on."""

    first: Instant


@dataclass(frozen=True, slots=True)
class IntervalWindow:
    """`[FROM first TO last]`, both included."""

    first: Instant
    last: Instant


@dataclass(frozen=True, slots=True)
class NowWindow:
    """`[NOW]` of CQELS: the events that end at t."""


@dataclass(frozen=True, slots=True)
class IdentityWindow:
    """`WIN []`, or without brackets, which a preset may fill (RS-60): the whole stream up to t."""


WindowFunction: TypeAlias = TimeWindow | LandmarkWindow | IntervalWindow | NowWindow | IdentityWindow


@dataclass(frozen=True, slots=True)
class NamedWindow:
    """`FROM NAMED :S WIN […] AS :w` (Definition 4). A window that the text gives no name (`STREAM <s> […] { … }`) has
    one that no text can write."""

    name: IRI
    stream: str  # the name of one of the query's streams
    function: WindowFunction


def clause_window(number: int) -> IRI:
    """The name of the window of a `FROM STREAM s […]`: no IRI in a text has a space."""
    return IRI(f"stream {number}")


def block_window(number: int) -> IRI:
    """The name of the window of a `STREAM s […] { … }`."""
    return IRI(f"block {number}")


def block_number(name: IRI) -> int | None:
    """The number of the window's STREAM block in the text, from 0.

    >>> block_number(block_window(3)), block_number(clause_window(3)), block_number(IRI("http://example.org/w"))
    (3, None, None)
    """
    kind, space, number = name.value.partition(" ")
    return int(number) if space and kind == "block" else None


def is_written(name: IRI) -> bool:
    """Whether the text has given the window its name."""
    return " " not in name.value


@dataclass(frozen=True, slots=True)
class EventPattern:
    """`EVENT ON :w { P } AS E1`: a basic event pattern with its name (RS-26, RS-28). `START ?s` and `END ?e` bind the
    times of the event."""

    name: str
    window: IRI
    pattern: Pattern
    start: Variable | None = None
    end: Variable | None = None

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that its mappings may bind."""
        times = (each for each in (self.start, self.end) if each is not None)
        return (*in_scope(self.pattern), *times)


class StreamOperator(Enum):
    """Selects the rows of an evaluation to emit: all, new or dropped ones (RS-50, RS-51)."""

    RSTREAM = "RSTREAM"
    ISTREAM = "ISTREAM"
    DSTREAM = "DSTREAM"


@dataclass(frozen=True, slots=True)
class WindowQuery:
    """A query: (SE, SDS, ET, QF) of Definition 5. FROM and FROM NAMED graphs are in `form.dataset`.

    `report` and `output` are None where the text says nothing. `merged` are windows whose graphs are part of the
    default graph (C-SPARQL). `is_cqels`: without report and output it evaluates on content and emits IStream. `is_ask`:
    the form is that of `select_of_ask`.
    """

    form: Select | Construct
    streams: tuple[Stream, ...]
    windows: tuple[NamedWindow, ...]
    events: tuple[EventPattern, ...] = ()
    report: Report | None = None
    output: StreamOperator | None = None
    label: str = ""  # REGISTER's name (RS-55)
    merged: tuple[IRI, ...] = ()
    is_cqels: bool = False
    is_ask: bool = False
    namespace: str = DEFAULT_NAMESPACE
    time_kind: tuple[Domain, str] | None = field(default=None, compare=False)  # the first words that demand one
    warnings: tuple[str, ...] = ()

    def window(self, name: IRI) -> NamedWindow:
        return next(each for each in self.windows if each.name == name)

    def event(self, basic: BasicEvent) -> EventPattern:
        return next(each for each in self.events if each.name == basic.name)


@dataclass(frozen=True, slots=True)
class WindowFile:
    """The queries of a text, in its order. Those that are output are numbered from 1 (RS-71)."""

    queries: tuple[WindowQuery, ...]

    @property
    def output(self) -> tuple[WindowQuery, ...]:
        """The SELECTs and ASKs; without any, the CONSTRUCTs (EP-82)."""
        return tuple(each for each in self.queries if isinstance(each.form, Select)) or self.queries

    @property
    def namespace(self) -> str:
        return self.queries[-1].namespace

    @property
    def time_kind(self) -> tuple[Domain, str] | None:
        return self.queries[0].time_kind  # all were read with one kind of time

    @property
    def warnings(self) -> tuple[str, ...]:
        found = [warning for query in self.queries for warning in query.warnings]
        if len(self.output) < len(self.queries) and isinstance(self.output[0].form, Select):
            found.append(
                "A file with a SELECT outputs only its rows, not those of its CONSTRUCTs. Try: a file for each"
            )
        return tuple(found)


ASK = Variable("ask")
"""The column of an ASK (RS-68)."""


def select_of_ask(ask: Ask) -> Select:
    """ASK as a SELECT of one row: whether WHERE has an answer."""
    several = Compare(Comparison.GREATER, Aggregate(AggregateFunction.COUNT, None), Literal("0", XSD_INTEGER))
    return Select((Projection(ASK, several),), ask.where, dataset=ask.dataset)


def read_graphs(query: WindowQuery) -> tuple[IRI, ...]:
    """The named graphs of the dataset: those of FROM NAMED; without any, those that GRAPH names."""
    if query.form.dataset.named:
        return query.form.dataset.named
    written = (query.form.where, query.events)
    return tuple(
        dict.fromkeys(node.name for node in nodes(written) if isinstance(node, Graph) and isinstance(node.name, IRI))
    )
