"""A compiled RSEP-QL query: a `Program`, and which of its parts are maintained from evaluation to evaluation."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

from thence.algebra.expressions import Aggregate, Variable
from thence.algebra.patterns import Bgp, EventExpression, Graph, Pattern, PatternTerm, WindowPattern
from thence.algebra.rsep_ql import StreamOperator, WindowFunction, WindowQuery, read_graphs
from thence.algebra.streams import Report, Stream
from thence.interface.operator import Feature, Order, ShardKey, TieOrder
from thence.interface.output import Output
from thence.interface.tables import Table
from thence.rdf.terms import IRI, BlankNode, Term

# The parts of a query that are maintained from evaluation to evaluation, and those that are recomputed.

Columns: TypeAlias = tuple[Variable | BlankNode, ...]

ROWS: Final = WindowPattern(IRI("rows of a part"), Bgp(()))
"""Stands in a pattern for the rows of a part: no text can write this name."""


@dataclass(frozen=True, slots=True)
class KeptTriple:
    """The triples of a window that match a triple pattern: those of a table, `places` being the columns that stand for
    `columns`."""

    table: int
    function: WindowFunction
    columns: Columns
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class KeptJoin:
    """A join of two parts. The variables that both have are bound in every row."""

    left: KeptPart
    right: KeptPart
    columns: Columns


@dataclass(frozen=True, slots=True)
class KeptUnion:
    """UNION of two parts."""

    left: KeptPart
    right: KeptPart
    columns: Columns


@dataclass(frozen=True, slots=True)
class KeptRows:
    """The result of a pattern for each row of a part alone: FILTER, BIND, and joins with constant data. In the pattern,
    ROWS stands for them."""

    pattern: Pattern
    part: KeptPart
    columns: Columns


@dataclass(frozen=True, slots=True)
class KeptEvents:
    """The mappings of an EVENT (4): a table's rows, `places` being the columns that stand for `columns`. All are always
    bound."""

    table: int
    function: WindowFunction
    columns: Columns
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class KeptSeq:
    """`E1 SEQ E2` (7), without a policy."""

    left: KeptEventPart
    right: KeptEventPart
    columns: Columns


@dataclass(frozen=True, slots=True)
class KeptMatch:
    """MATCH (8): event mappings without their times. `listed` are the places of its events (RS-56)."""

    events: KeptEventPart
    columns: Columns
    listed: tuple[int, ...]


KeptEventPart: TypeAlias = KeptEvents | KeptSeq
KeptPart: TypeAlias = KeptTriple | KeptJoin | KeptUnion | KeptRows | KeptMatch


@dataclass(frozen=True, slots=True)
class KeptPattern:
    """A part of WHERE, and how its solutions are kept. `reads_graphs`: graphs of the dataset are read, which must not
    change. `events`: for each event of a row its place among those of all MATCHes (RS-56)."""

    pattern: Pattern
    part: KeptPart
    reads_graphs: bool
    events: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class KeptGroups:
    """Aggregates that are kept group by group. `by_group`: so are the rows that groups make."""

    aggregates: tuple[Aggregate, ...]
    by_group: bool


@dataclass(frozen=True, slots=True)
class Maintenance:
    """`patterns` are the parts of WHERE that are maintained. `is_answer`: the only one is WHERE, and its solutions are
    the rows of the answer. `groups`: it is WHERE, and groups are maintained too. `keeps_graphs`: the order of
    rows does not matter, so that graphs of windows that are read one solution at a time may be changed instead of built
    again. `reasons` say why the rest is recomputed."""

    patterns: tuple[KeptPattern, ...] = ()
    is_answer: bool = False
    groups: KeptGroups | None = None
    keeps_graphs: bool = False
    reasons: tuple[str, ...] = ()

    @property
    def makes_deltas(self) -> bool:
        """Whether the added and removed rows are known without reading the others."""
        return self.is_answer or (self.groups is not None and self.groups.by_group)


# A compiled RSEP-QL query: a `Program` of `thence.interface.operator`.


@dataclass(frozen=True, slots=True)
class TriplePart:
    """Triples of a stream: a table, and what is in the three places: a term, or a column of the table."""

    table: int
    slots: tuple[PatternTerm, PatternTerm, PatternTerm]


@dataclass(frozen=True, slots=True)
class WindowTriples:
    """A window that some WINDOW or the default graph reads: the tables that hold its triples."""

    name: IRI
    parts: tuple[TriplePart, ...]


@dataclass(frozen=True, slots=True)
class EventPatternTable:
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


@dataclass(frozen=True, slots=True)
class NeededTables:
    """Tables of a WINDOW or an EVENT, and its window."""

    tables: tuple[int, ...]
    function: WindowFunction


@dataclass(frozen=True, slots=True, eq=False)
class WindowProgram:
    """A query with everything settled that a preset or an option may settle.

    `variables` are those of an answer's rows. `is_projection`: they are solutions of WHERE as they are, without
    modifiers. `where` is WHERE as it is evaluated over columns, if it is (`vectorised`); `groups_columns`: so are
    groups. `asks_for_time`: NOW() occurs, so that an evaluation may differ though nothing else has changed.
    `maintenance` says what is kept from one evaluation to the next. `contents` are the tables that hold all events of
    each window, where evaluations depend on whether there are any (RS-70). `needed` are groups of tables: the answer is
    empty, whatever NOW() is, if all tables of one hold nothing in their window. `number` is that of the query in its
    file, if there are several.
    """

    query: WindowQuery
    report: Report
    emits: StreamOperator
    windows: tuple[WindowTriples, ...]
    events: tuple[EventPatternTable, ...]
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
    contents: tuple[int, ...] = ()
    needed: tuple[NeededTables, ...] = ()
    number: int | None = None

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
    def order(self) -> Order:
        """Its definitions compare intervals, which have an order of their own (C-12)."""
        return ()

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
        for number, declared in zip(self.contents, self.query.windows, strict=False):
            found[number].append(declared.function)
        return tuple(map(tuple, found))

    @property
    def consumers(self) -> tuple[tuple[int, ...], ...]:
        """The MATCHes that read each table, if nothing else reads it and all of them consume: an event that all have
        consumed is no longer needed. Empty for other tables."""
        others = {part.table for window in self.windows for part in window.parts}.union(self.contents)
        found: list[tuple[int, ...]] = []
        for number in range(len(self.tables)):
            names = {each.name for each in self.events if number in (each.table, each.triples)}
            matches = tuple(place for place, each in enumerate(self.matches) if names & each.names)
            alone = number not in others and all(self.matches[place].consumes for place in matches)
            found.append(matches if alone else ())
        return tuple(found)

    def fingerprint(self) -> str:
        return _fingerprint(self)


@lru_cache(maxsize=16)
def _fingerprint(program: WindowProgram) -> str:
    settled = (program.report, program.emits, program.tables, program.shard_key, program.preset, program.number)
    described = (program.query, *settled)
    return hashlib.sha256(repr(described).encode()).hexdigest()
