"""A compiled RSEP-QL query: a `Program` of `thence.program.operator`."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache

from thence.algebra.expressions import Variable
from thence.algebra.patterns import Bgp, EventExpression, Graph, Pattern, PatternTerm
from thence.algebra.report import Report
from thence.algebra.rsep_ql import StreamOperator, WindowFunction, WindowQuery, read_graphs
from thence.algebra.streams import Stream
from thence.program.operator import Feature, ShardKey, TieOrder
from thence.program.output import Output
from thence.program.tables import Table
from thence.program.windows.maintenance import Maintenance
from thence.rdf.terms import IRI, Term


@dataclass(frozen=True, slots=True)
class TriplePart:
    """Triples of a stream: a table, and what stands in the three places: a term, or a column of the table."""

    table: int
    slots: tuple[PatternTerm, PatternTerm, PatternTerm]


@dataclass(frozen=True, slots=True)
class WindowTriples:
    """A window that some WINDOW or the default graph reads: the tables that hold its triples."""

    name: IRI
    parts: tuple[TriplePart, ...]


@dataclass(frozen=True, slots=True)
class EventTable:
    """An EVENT: the table of its mappings. `triples` is the table of its stream's triples where the pattern depends on
    the evaluation's time (RS-31, NOW); its mappings are then found at each evaluation, and `table` has the events."""

    name: str
    table: int
    triples: int | None = None


@dataclass(frozen=True, slots=True)
class EventMatch:
    """A MATCH. `consumes`: its events are invisible at later evaluations (RS-44). `is_shown`: rows list its events
    (RS-56)."""

    events: EventExpression
    names: frozenset[str]  # of its EVENTs
    width: int  # how many events an answer is made of
    variables: tuple[Variable, ...]
    consumes: bool
    is_shown: bool


@dataclass(frozen=True, slots=True, eq=False)
class WindowProgram:
    """A query with everything settled that a preset or an option may settle.

    `variables` are those of an answer's rows. `is_projection`: they are solutions of WHERE as they are, without
    modifiers. `where` is WHERE as it is evaluated over columns, if it is (`vectorised`); `groups_columns`: so are
    groups. `asks_for_time`: NOW() occurs, so that an evaluation may differ though nothing else has changed.
    `maintenance` says what is kept from one evaluation to the next.
    """

    query: WindowQuery
    report: Report
    emits: StreamOperator
    windows: tuple[WindowTriples, ...]
    events: tuple[EventTable, ...]
    matches: tuple[EventMatch, ...]
    tables: tuple[Table, ...]
    shard_key: ShardKey
    output: Output
    variables: tuple[Variable, ...]
    is_projection: bool
    where: Pattern
    vectorised: bool
    groups_columns: bool
    asks_for_time: bool
    maintenance: Maintenance
    preset: str = ""

    @property
    def streams(self) -> tuple[Stream, ...]:
        return self.query.streams

    @property
    def namespace(self) -> str:
        return self.query.namespace

    @property
    def constants(self) -> tuple[Term, ...]:
        return ()

    @property
    def features(self) -> frozenset[Feature]:
        return frozenset({Feature.BACKGROUND, Feature.POLICY, Feature.REPORT})

    @property
    def waits_for_time(self) -> bool:
        """An evaluation waits until all events up to its time are there (RS-14)."""
        return True

    @property
    def ends_with_input(self) -> bool:
        return False

    @property
    def broadcasts_times(self) -> bool:
        """Events that match nothing cause evaluations too (RS-18, RS-20)."""
        return True

    @property
    def tie_order(self) -> TieOrder:
        """LIMIT and aggregates such as SAMPLE take rows in the order of their events."""
        return TieOrder.COMPLETE

    @property
    def background_patterns(self) -> tuple[Pattern, ...]:
        return tuple(Graph(name, Bgp(())) for name in (*self.query.form.dataset.default, *read_graphs(self.query)))

    @property
    def readers(self) -> tuple[tuple[WindowFunction, ...], ...]:
        """For each table, the windows that read it."""
        found: list[list[WindowFunction]] = [[] for _ in self.tables]
        for window in self.windows:
            for part in window.parts:
                found[part.table].append(self.query.window(window.name).function)
        for table, event in zip(self.events, self.query.events, strict=True):
            for number in {table.table, table.table if table.triples is None else table.triples}:
                found[number].append(self.query.window(event.window).function)
        return tuple(map(tuple, found))

    def fingerprint(self) -> str:
        return _fingerprint(self)


@lru_cache(maxsize=16)
def _fingerprint(program: WindowProgram) -> str:
    described = (program.query, program.report, program.emits, program.tables, program.shard_key, program.preset)
    return hashlib.sha256(repr(described).encode()).hexdigest()
