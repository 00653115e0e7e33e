"""RSEP-QL: a query over windows on streams (Dell'Aglio, Dao-Tran, Calbimonte, Le Phuoc, Della Valle, "A Query Model to
Capture Event Pattern Matching in RDF Stream Processing Query Languages"). Patterns are those of SPARQL with
`WindowPattern` and `MatchPattern` (Section 3.3)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from thence.algebra.patterns import BasicEvent, Construct, Graph, Pattern, Select
from thence.algebra.report import Report
from thence.algebra.streams import Stream
from thence.algebra.traversal import nodes
from thence.rdf.terms import IRI
from thence.rdf.times import Domain, Instant, Span
from thence.rdf.typed_events import DEFAULT_NAMESPACE

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
    """Which STREAM block of the text the window is of, from 0.

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
    """`EVENT ON :w { P } AS E1`: a basic event pattern with its name (RS-26, RS-28)."""

    name: str
    window: IRI
    pattern: Pattern


class StreamOperator(Enum):
    """What of an evaluation's answer is emitted (RS-50, RS-51)."""

    RSTREAM = "RSTREAM"
    ISTREAM = "ISTREAM"
    DSTREAM = "DSTREAM"


@dataclass(frozen=True, slots=True)
class WindowQuery:
    """A query: (SE, SDS, ET, QF) of Definition 5. FROM and FROM NAMED graphs are in `form.dataset`.

    `report` and `output` are None where the text says nothing. `merged` are windows whose graphs are part of the
    default graph (C-SPARQL). `is_cqels`: without report and output it evaluates on content and emits IStream.
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
    namespace: str = DEFAULT_NAMESPACE
    time_kind: tuple[Domain, str] | None = None
    warnings: tuple[str, ...] = ()

    def window(self, name: IRI) -> NamedWindow:
        return next(each for each in self.windows if each.name == name)

    def event(self, basic: BasicEvent) -> EventPattern:
        return next(each for each in self.events if each.name == basic.name)


def read_graphs(query: WindowQuery) -> tuple[IRI, ...]:
    """The named graphs of the dataset: those of FROM NAMED; without any, those that GRAPH names."""
    if query.form.dataset.named:
        return query.form.dataset.named
    written = (query.form.where, query.events)
    return tuple(
        dict.fromkeys(node.name for node in nodes(written) if isinstance(node, Graph) and isinstance(node.name, IRI))
    )
