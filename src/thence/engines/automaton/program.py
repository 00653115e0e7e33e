"""A compiled automaton (NFA_scep; SPAseQ, Definition 17): what is extracted, its states and edges, and what its slots
mean. Immutable."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Expression, Variable
from thence.algebra.patterns import Pattern
from thence.algebra.sase import Component, ComponentQuery, Key
from thence.algebra.show import show
from thence.algebra.show_sase import key_text
from thence.algebra.spaseq import LateGraph, SequenceQuery
from thence.algebra.streams import Name, Stream
from thence.interface.operator import Feature, Order, ShardKey, TieOrder
from thence.interface.output import Output
from thence.interface.tables import Attributes, Table
from thence.rdf.terms import Term

# The compiled automaton: NFA_scep (SPAseQ, Definition 17) as arrays that the machine reads.
#
# A run waits in a *state*. An *input* is what the graph matcher makes of one operand: its matches at one time. Inputs
# that differ in the names of their variables alone are one *feed* of rows. An *edge* leads from a state, over a row of
# its feed, to further states. Variables live in *slots*; a row's columns are compared with slots, then bound to them,
# and predicates read slots only. Lists of different length for each edge are flattened: the items of edge e are at
# `x_from[e]:x_from[e+1]`.

Int32s = NDArray[np.int32]
Int64s = NDArray[np.int64]

STRICT, NEXT, ANY = 0, 1, 2
"""How a state waits: Definitions 12, 11 and 10."""

START = -1
"""The state of an edge that begins a run."""

NOWHERE = -1
"""The target of an edge that has none."""

PLAIN, TAKE, PROCEED, CUT_OFF = 0, 1, 2, 3
"""The role of an edge for the closure of SASE+ that a run is in: none; its take edge; or, without an end condition,
one that begins the component after it, while the closure goes on and after it stopped. CUT_OFF ends the closure."""

OVER, WAITS_NEXT, WAITS_ANY, WAITS_APART = 0, 1, 2, 3
"""How a run waits for the component after a closure once that has stopped: not at all, by skip-till-next, by
skip-till-any; or by partition contiguity, where strict contiguity stopped it."""

AT_STOP, AT_WINDOWS_END = 1, 2
"""When a run that waits in a state is a match: once its closure stops, at the latest when its window ends; or only
then."""

KEEP, ANEW, COUNT, SUM, LEAST, GREATEST, EARLIEST, LATEST, AVERAGE = range(9)
"""The effect of a row on a slot: binds it if unbound; binds it anew; counts, adds, compares, or takes it if present.
After a SUM comes the rest of its rounding; after an AVERAGE its sum, the rest of that, and the count."""

RANKS = 4
"""Behind a slot of the LEAST or GREATEST may be those of the next ones in order: `bind_how` has so many bits higher
how many."""


class Automaton(NamedTuple):
    """States, edges and predicates. All arrays; nothing here changes while it runs."""

    selection: NDArray[np.uint8]  # of each state: STRICT, NEXT or ANY
    window: int  # microseconds or ticks; -1: none
    tumbling: bool
    origin: int  # where tumbling windows begin
    slots: int  # of a run
    frame: int  # slots, and those that only negated parts use
    iterated: int  # local variables whose value in each iteration is kept
    fits: int  # the column of rows that says, bit by bit, what their events can be taken for; -1: none
    merges: bool  # runs that are alike become one: AGGREGATE of SASE+
    grouped: int  # and matches, by the first so many slots
    previous: int  # how many previous times a row has: of all events, or of its partition

    feed_from: Int32s  # edges of feed f: feed_from[f]:feed_from[f+1]
    feed_columns: Int32s  # how many columns its rows have
    feed_events: Int32s  # and how many events make a row

    edge_state: Int32s  # where the run waits; START
    edge_target: Int32s  # where it waits next; NOWHERE
    edge_loop: Int32s  # where it waits for another iteration; NOWHERE
    edge_accept: NDArray[np.bool_]  # whether the row completes a match
    edge_input: Int32s  # the operand that it is about
    edge_feed: Int32s  # and where its rows are found
    edge_role: Int32s  # PLAIN, TAKE, PROCEED, CUT_OFF
    edge_then: Int32s  # how the run waits once its closure has stopped
    edge_fits: Int32s  # the bit that an event must have to be taken; -1: none
    edge_cut: NDArray[np.bool_]  # not for an event by which the run has just gone over an edge that `cuts`
    edge_cuts: NDArray[np.bool_]
    edge_absorbs: NDArray[np.bool_]  # a run that takes an event is as it was, but for its history
    edge_stops: NDArray[np.bool_]  # an event that counts for contiguity, and can't be taken, stops the closure

    equal_from: Int32s
    equal_slot: Int32s
    equal_column: Int32s
    bind_from: Int32s
    bind_slot: Int32s
    bind_column: Int32s
    bind_how: Int32s  # KEEP, ANEW, …; and above RANKS, how many slots more
    edge_late: NDArray[np.bool_]  # tests come before binding; what they need of the row is in slots of the frame alone:
    late_from: Int32s
    late_slot: Int32s
    late_column: Int32s
    test_from: Int32s
    test_predicate: Int32s
    quick_from: Int32s  # the tests that are mere comparisons of two variables, once more:
    quick: Int32s  # comparison, slot, column or -1, slot, column or -1
    prune_from: Int32s  # tests of later parts that can be judged once this edge is taken
    prune_predicate: Int32s
    key_from: Int32s  # the columns whose values find the runs that may join
    key_column: Int32s
    place_from: Int32s  # the part of the pattern that each event of the row fills
    place: Int32s
    iterated_from: Int32s
    iterated_column: Int32s  # column of each iterated variable, or -1; none where no iteration ends

    state_key_from: Int32s  # the slots that `key_column` is compared with
    state_key_slot: Int32s
    state_previous: Int32s  # which of a row's previous times its contiguity goes by
    state_accepts: Int32s  # 0, AT_STOP or AT_WINDOWS_END
    state_order: Int32s  # the slot that every edge of a state compares with a column, or -1; whether greater is easier
    edge_order: Int32s  # how it is compared, and with which column, or -1

    guard_from: Int32s  # of an edge: the negations of the gap before it
    guard: Int32s
    end_from: Int32s  # of an accepting edge: the negations of the gap after it
    end: Int32s
    guard_edge_from: Int32s  # of a negation: edges without state, one for each alternative of its operand
    guard_edge: Int32s
    row_values: int  # where in a row its columns begin

    code_from: Int32s  # of a predicate
    operation: Int32s
    argument: Int32s
    constant_tags: NDArray[np.uint16]
    constant_bits: Int64s

    ordered: bool = False  # rows have moments, and their times besides (C-9)


# A compiled automaton: the tables, the code of the machine, and the meaning of its slots. Immutable.


@dataclass(frozen=True, slots=True)
class Source:
    """A GPM: the table of its matches, and what the table's variables are called here."""

    gpm: str
    stream: str
    pattern: Pattern | Attributes
    variables: tuple[Variable, ...]
    table: int


@dataclass(frozen=True, slots=True)
class Partition:
    """A GPM that decides which partition an event is in: the table of its matches without FILTER and GRAPH, and what
    the table's variables are called here."""

    table: int
    variables: tuple[Variable, ...]


@dataclass(frozen=True, slots=True)
class Input:
    """The rows of one alternative of an operand: matches of its sources at one time, joined (Definition 8). Inputs of
    the same single table are one feed of the machine."""

    sources: tuple[int, ...]
    variables: tuple[Variable, ...]
    feed: int


@dataclass(frozen=True, slots=True)
class Conjunct:
    """A condition of SASE+ on the events of a run: with the one that it is about to take for `component`, or has just
    taken."""

    condition: Expression
    component: str


@dataclass(frozen=True, slots=True)
class Negation:
    """A negated component of SASE+: the places of its neighbours (-1: it is the last), the bits that its events have as
    the first and as a later one of a series, and what each of these is asked together with the match, and the whole
    series."""

    component: Component
    before: int
    after: int
    fits: int
    fits_later: int
    conditions: tuple[Expression, ...]
    later: tuple[Expression, ...]
    ends: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Components:
    """The components of SASE+ that negations and RETURN need; empty in other languages. An event's place is the number
    of its component in `positive`."""

    positive: tuple[Component, ...] = ()
    names: tuple[Name, ...] = ()  # of the attributes, in the order of a node's values
    conjuncts: tuple[Conjunct | None, ...] = ()  # of each predicate: the condition on a run's events that it stands for
    negations: tuple[Negation, ...] = ()
    tested: tuple[Variable, ...] = ()  # what all events of a match are alike in
    parted: tuple[Variable, ...] = ()  # and those of a partition

    def conjunct(self, predicate: int) -> Conjunct | None:
        return self.conjuncts[predicate] if predicate < len(self.conjuncts) else None


@dataclass(frozen=True, slots=True, eq=False)
class SequenceProgram:
    """A compiled automaton (SPAseQ, SASE+): a `Program` of `thence.interface.operator`. `query` is as it was
    written; all the rest is compiled from what the optimiser has `rewritten` it to."""

    query: SequenceQuery | ComponentQuery
    rewritten: SequenceQuery | ComponentQuery
    streams: tuple[Stream, ...]
    tables: tuple[Table, ...]
    sources: tuple[Source, ...]
    inputs: tuple[Input, ...]
    feeds: tuple[int, ...]  # of each feed, an input
    negated: tuple[int, ...]  # feeds that guards read
    partitions: tuple[Partition, ...]  # empty: contiguity is over all events
    contiguous: tuple[tuple[Variable, ...], ...]  # what each of a row's previous times is by; by nothing: of all events
    slots: tuple[Variable, ...]  # those of a run, then those that negated parts use
    outputs: tuple[Variable, ...]  # of a complete match: a run's slots, then what late GRAPH blocks add
    shard_key: ShardKey
    output: Output
    features: frozenset[Feature]
    iterated: tuple[Variable, ...]
    predicates: tuple[Expression, ...]
    constants: tuple[Term, ...]  # the first entries of every state's dictionary, in this order
    automaton: Automaton
    image: NDArray[np.int64]  # the same, as the machine reads it
    shown: tuple[Variable, ...] | None = None  # the outputs that are a row's columns; None, if these are computed
    late: tuple[LateGraph, ...] = ()
    components: Components = field(default_factory=Components)
    order: Order = ()

    def ordered(self, order: Order) -> SequenceProgram:
        """The same query, whose events of one time follow each other in an order. Contiguity over all events is judged
        in one shard, since others do not know the values of `order`."""
        from thence.engines.automaton.image import image  # which imports this module

        automaton = self.automaton._replace(ordered=True)
        key = self.shard_key
        if self._counts_every_event and key.names:
            routes = tuple(None if route is None else () for route in key.routes)
            key = ShardKey((), routes, "with order, strict contiguity counts every event of all streams in one shard")
        return replace(self, order=order, automaton=automaton, image=image(automaton), shard_key=key)

    @property
    def namespace(self) -> str:
        return self.query.namespace

    @property
    def waits_for_time(self) -> bool:
        return bool(self.automaton.end.size) or bool(self.automaton.state_accepts.any())

    @property
    def ends_with_input(self) -> bool:
        """A last closure without end condition and window is complete where the input ends (SA-21)."""
        return self.automaton.window < 0 and bool(self.automaton.state_accepts.any())

    @property
    def broadcasts_times(self) -> bool:
        """Under strict contiguity without partitions any event of any stream may break a run."""
        return self._counts_every_event and not self.order

    @property
    def _counts_every_event(self) -> bool:
        return () in self.contiguous and bool((self.automaton.selection == STRICT).any())

    @property
    def tie_order(self) -> TieOrder:
        """The order of ties does not matter: they never follow each other (C-6, C-11)."""
        return TieOrder.WHOLE if self.order else TieOrder.ANY

    @property
    def ties_matter(self) -> bool:
        """Contiguity and skip-till-next ask what comes between two events."""
        return bool((self.automaton.selection != ANY).any())

    @property
    def background_patterns(self) -> tuple[Pattern, ...]:
        return tuple(late.block for late in self.late)

    @property
    def has_running_aggregates(self) -> bool:
        """Whether a slot may be UNKNOWN: a running aggregate that only the history has."""
        return bool((self.automaton.bind_how > ANEW).any())

    def fingerprint(self) -> str:
        return _fingerprint(self)


@lru_cache(maxsize=16)
def _fingerprint(program: SequenceProgram) -> str:
    """The fingerprint of the query, of its automaton, and of the layout of a state's arrays, which depends on how the
    query was compiled."""
    query = program.query
    digest = hashlib.sha256((show(query) if isinstance(query, SequenceQuery) else repr(query)).encode())
    digest.update(program.image.tobytes())
    tables = [(table.stream, table.variables) for table in program.tables]
    sources = [(source.table, source.variables) for source in program.sources]
    arrays = (tables, sources, program.inputs, program.feeds, program.negated, program.slots, program.iterated)
    digest.update(repr((arrays, program.shard_key.routes, program.constants, program.order)).encode())
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class KeyVariable(Variable):
    """The column of a key as equality compares it, and a run's slot for it."""

    key: Key


def as_compared(key: Key) -> KeyVariable:
    return KeyVariable(key_text(key), key)
