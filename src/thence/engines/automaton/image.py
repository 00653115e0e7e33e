"""An automaton as the machine reads it: one array of 64-bit integers, in which every number is already a place.

A head says where things are. A *record* is a state, an edge, a guard or a predicate, all of one width; its *lists*
are named by where their items begin, and either by where they end or, if `END` is behind the last item, by that
alone. A slot is its place in a frame or behind a run's `SLOTS`, a column its place in a row, so that the machine adds
nothing up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from thence.engines.automaton.program import ANEW, ANY, NOWHERE, START, TAKE, WAITS_ANY, Automaton
from thence.extraction.opcodes import AT_CODES, AT_CONSTANTS

Image = NDArray[np.int64]

# the head
(
    WINDOW,
    TUMBLING,
    ORIGIN,
    SLOT_WORDS,  # of a run: two for each slot
    MOST_EVENTS,  # of a row
    FITS,  # where in a row the bits are that say what its event can be taken for; -1: nowhere
    MERGES,  # whether runs that are alike become one
    GROUPED,  # and matches, that are alike in so many words
    APART,  # where in a row the time is that partition contiguity goes by
    CLOCK,  # where in a row its time is, which windows go by: its moment is in its place if they differ
    AT_FEEDS,
    AT_STATES,
    AT_EDGES,
    AT_GUARDS,
    _HEAD,
) = range(2, 17)

END = -1
"""Behind the last item of a list that is read to its end: the first number of an item is never this."""

# a feed: its edges, and the columns by which most of them find runs
EDGE_FROM, EDGE_TO, ROW_KEY, FEED_WIDTH = range(4)
# a state: the slots of its key; the slot that all its edges compare (-1: none), and whether the greatest will do it;
# whether a run that waits there when its window ends is a match
STATE_KEY, ORDERED, GREATEST, ACCEPTS, STATE_WIDTH = range(5)
# an edge
(
    STATE_OF,
    SELECTION_OF,
    ACCEPT,
    FEED_OF,
    CLOSES,  # whether a run that takes a row ends with it, if that is the last at its time
    TESTED,  # whether predicates remain to be tested once the quick ones hold
    LOOKS_ROUND,  # whether more than run and row decides: guards, or predicates of later parts
    BY_ROW_KEY,  # whether its key is that of the feed
    BOUND_COMPARISON,  # that slot to this column (-1: none)
    BOUND_COLUMN,
    PREVIOUS_OF,  # where in a row the time is that contiguity goes by
    ROLE,
    THEN,  # how the run waits once its closure has stopped
    FIT,  # the bit that the row must have; 0: none
    CUT,
    CUTS,
    STOPS,
    ABSORBS,
    LATE,  # (slot of the frame, column), or -1: what tests need of the row, which are to come before it is bound
    # lists to their end
    KEY,  # (slot, column): what finds the runs that may join
    EQUAL,  # (slot, column): compatible; those of the key are not among them
    BIND,  # (slot, column or -1, how); those of the key are not among them, unless they are bound again
    QUICK,  # (comparison, slot, column or -1, slot, column or -1): a predicate that is nothing but this
    SUCCESSORS,  # (state, whether its key is that of the feed)
    PLACES,
    ITERATED_OF,  # (place behind a node's `ITERATED`, column)
    # and others
    TEST,  # predicates
    TEST_END,
    PRUNE,  # predicates of later parts that are known here
    PRUNE_END,
    GUARDS,
    GUARDS_END,
    ENDS,
    ENDS_END,
    EDGE_WIDTH,
) = range(35)
# a guard: its edges; and a predicate: its instructions (`opcodes`)

# A row of the machine's input, all 64-bit integers: its time, which is the end of its events, the latest strictly
# earlier time that breaks contiguity with it, its feed, its events, and then tag and bits of each column. Rows are as
# wide as the widest feed needs; where some events have a duration, the start of the first one stands behind that. Under
# the option `order`, TIME and PREVIOUS are moments (`moments`), and the time stands behind the columns.
TIME, PREVIOUS, FEED, EVENTS = 0, 1, 2, 3


def row_width(automaton: Automaton) -> int:
    """How many numbers a row of points in time has. Behind its columns stand the previous times after the first, and
    its time if that is not its moment."""
    columns = 2 * automaton.feed_columns.max(initial=0)
    return int(automaton.row_values + columns + automaton.previous - 1 + automaton.ordered)


def previous_place(automaton: Automaton, number: int) -> int:
    """The place in a row of that previous time."""
    return PREVIOUS if number == 0 else row_width(automaton) - automaton.ordered - automaton.previous + number


def clock_place(automaton: Automaton) -> int:
    """The place in a row of its time."""
    return row_width(automaton) - 1 if automaton.ordered else TIME


def image(automaton: Automaton) -> Image:
    """The automaton as one array."""
    return _Layout(automaton).laid_out()


class _Layout:
    """Writes lists one behind the other, then the records that name them."""

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton
        self.words: list[int] = [0] * _HEAD

    def laid_out(self) -> Image:
        a, words = self.automaton, self.words
        words[WINDOW], words[TUMBLING], words[ORIGIN] = a.window, int(a.tumbling), a.origin
        words[SLOT_WORDS], words[MOST_EVENTS] = 2 * a.slots, int(a.feed_events.max())
        words[MERGES], words[GROUPED] = int(a.merges), 2 * a.grouped
        if a.merges:
            words[MOST_EVENTS] = 4  # nodes that a row may make: itself, and where two histories meet
        words[APART] = previous_place(a, a.previous - 1)
        words[CLOCK] = clock_place(a)
        words[FITS] = self._column(a.fits) + 1 if a.fits >= 0 else -1
        constants = zip(a.constant_tags.tolist(), a.constant_bits.tolist(), strict=True)
        words[AT_CONSTANTS] = self._list(constants)[0]
        words[AT_CODES] = self._records(self._code(p) for p in range(len(a.code_from) - 1))
        words[AT_GUARDS] = self._records(self._items(a.guard_edge_from, g, a.guard_edge) for g in range(_count(a)))
        words[AT_STATES] = self._records(
            (self._to_end((2 * slot,) for slot in _state_key(a, s)), *_order(a, s), int(a.state_accepts[s]))
            for s in range(len(a.selection))
        )
        words[AT_EDGES] = self._records(self._edge(edge) for edge in range(len(a.edge_state)))
        words[AT_FEEDS] = self._records(
            (int(a.feed_from[f]), int(a.feed_from[f + 1]), self._to_end((self._column(c),) for c in _row_key(a, f)))
            for f in range(len(a.feed_events))
        )
        return np.array(words, np.int64)

    def _list(self, items: Iterable[Sequence[int]]) -> tuple[int, int]:
        """The start and end of some items, now that they are written."""
        start = len(self.words)
        for item in items:
            self.words += item
        return start, len(self.words)

    def _to_end(self, items: Iterable[Sequence[int]]) -> int:
        """The start of some items that are read to their end."""
        return self._list((*items, (END,)))[0]

    def _records(self, records: Iterable[Sequence[int]]) -> int:
        made = list(records)  # first, since it writes the lists
        return self._list(made)[0]

    def _items(self, starts: NDArray[np.int32], number: int, items: NDArray[np.int32]) -> tuple[int, int]:
        return self._list((item,) for item in _span(starts, number, items))

    def _code(self, predicate: int) -> tuple[int, int]:
        a = self.automaton
        operations, arguments = (_span(a.code_from, predicate, of) for of in (a.operation, a.argument))
        return self._list(zip(operations, arguments, strict=True))

    def _column(self, column: int) -> int:
        return self.automaton.row_values + 2 * column if column >= 0 else -1

    def _edge(self, edge: int) -> list[int]:
        a = self.automaton
        state, feed = int(a.edge_state[edge]), int(a.edge_feed[edge])
        tests, quick = a.test_from[edge + 1] - a.test_from[edge], a.quick_from[edge + 1] - a.quick_from[edge]
        looks = a.guard_from[edge] < a.guard_from[edge + 1] or a.prune_from[edge] < a.prune_from[edge + 1]
        return [
            state,
            int(a.selection[state]) if state >= 0 else -1,
            int(a.edge_accept[edge]),
            feed,
            int(_closes(a, edge)),
            int(tests > (quick if state != START else 0)),  # where a run begins, nothing is sifted
            int(looks),
            int(_edge_key(a, edge) == _row_key(a, feed)),
            int(a.edge_order[edge, 0]),
            self._column(int(a.edge_order[edge, 1])),
            *self._of_closures(edge, state),
            *self._values(edge, state),
            *self._afterwards(edge),
            *self._items(a.test_from, edge, a.test_predicate),
            *self._items(a.prune_from, edge, a.prune_predicate),
            *self._items(a.guard_from, edge, a.guard),
            *self._items(a.end_from, edge, a.end),
        ]

    def _of_closures(self, edge: int, state: int) -> Iterator[int]:
        """The part of the image for SASE+."""
        a = self.automaton
        yield previous_place(a, int(a.state_previous[state]) if state >= 0 else 0)
        yield from (int(of[edge]) for of in (a.edge_role, a.edge_then))
        yield 1 << int(a.edge_fits[edge]) if a.edge_fits[edge] >= 0 else 0
        yield from (int(of[edge]) for of in (a.edge_cut, a.edge_cuts, a.edge_stops, a.edge_absorbs))
        late = zip(_span(a.late_from, edge, a.late_slot), _span(a.late_from, edge, a.late_column), strict=True)
        items = [(2 * slot, self._column(column)) for slot, column in late]
        yield self._to_end(items) if a.edge_late[edge] else -1

    def _values(self, edge: int, state: int) -> Iterator[int]:
        """The values that are compared and bound. A key is compared first, and every run has it."""
        a = self.automaton
        key = _state_key(a, state)
        pairs = zip(key, _edge_key(a, edge), strict=True)
        yield self._to_end((2 * slot, self._column(column)) for slot, column in pairs)
        equal = zip(_span(a.equal_from, edge, a.equal_slot), _span(a.equal_from, edge, a.equal_column), strict=True)
        old = {slot: column for slot, column in equal if slot not in key}
        yield self._to_end((2 * slot, self._column(column)) for slot, column in old.items())
        yield self._to_end(
            (2 * slot, self._column(column), how if how > ANEW else int(how == ANEW or slot not in old))
            for slot, column, how in _bound(a, edge)
            if slot not in key or how > ANEW
        )
        yield self._to_end(
            (comparison, 2 * left, self._column(left_column), 2 * right, self._column(right_column))
            for comparison, left, left_column, right, right_column in a.quick[
                a.quick_from[edge] : a.quick_from[edge + 1]
            ].tolist()
        )

    def _afterwards(self, edge: int) -> Iterator[int]:
        """The fate of a run, and the notes on its event."""
        a = self.automaton
        targets = (int(a.edge_target[edge]), int(a.edge_loop[edge]))
        yield self._to_end((state, int(_keeps_key(a, edge, state))) for state in targets if state != NOWHERE)
        yield self._to_end((place,) for place in _span(a.place_from, edge, a.place))
        columns = enumerate(_span(a.iterated_from, edge, a.iterated_column))
        yield self._to_end((2 * number, self._column(column)) for number, column in columns if column >= 0)


def _closes(automaton: Automaton, edge: int) -> bool:
    """Whether a run does not go on waiting, and no other edge is tried afterwards that leaves its state: the last
    edges of a feed come first."""
    state = int(automaton.edge_state[edge])
    goes_on = automaton.edge_role[edge] == TAKE and automaton.edge_then[edge] == WAITS_ANY
    if goes_on or automaton.edge_role[edge] > TAKE or automaton.edge_stops[edge] or automaton.merges:
        return False
    first = automaton.feed_from[automaton.edge_feed[edge]]
    return state >= 0 and automaton.selection[state] != ANY and state not in automaton.edge_state[first:edge]


def _state_key(automaton: Automaton, state: int) -> list[int]:
    return _span(automaton.state_key_from, state, automaton.state_key_slot) if state >= 0 else []


def _edge_key(automaton: Automaton, edge: int) -> list[int]:
    return _span(automaton.key_from, edge, automaton.key_column)


def _bound(automaton: Automaton, edge: int) -> list[tuple[int, int, int]]:
    a = automaton
    return list(zip(*(_span(a.bind_from, edge, of) for of in (a.bind_slot, a.bind_column, a.bind_how)), strict=True))


def _row_key(automaton: Automaton, feed: int) -> list[int]:
    """The columns by which the most edges of a feed find runs."""
    edges = range(int(automaton.feed_from[feed]), int(automaton.feed_from[feed + 1]))
    keys = Counter(tuple(_edge_key(automaton, edge)) for edge in edges if automaton.edge_state[edge] != START)
    return list(keys.most_common(1)[0][0]) if keys else []


def _keeps_key(automaton: Automaton, edge: int, target: int) -> bool:
    """Whether the key of a run that comes from an edge is the row's, value by value: it was the key by which the edge
    found the run, or the row begins the run."""
    state, row_key = int(automaton.edge_state[edge]), _row_key(automaton, int(automaton.edge_feed[edge]))
    if state != START:
        same = _state_key(automaton, state) == _state_key(automaton, target)
        return same and _edge_key(automaton, edge) == row_key
    columns = {slot: column for slot, column, _ in _bound(automaton, edge)}
    return [columns.get(slot, -1) for slot in _state_key(automaton, target)] == row_key


def _order(automaton: Automaton, state: int) -> tuple[int, int]:
    slot, greatest = automaton.state_order[state].tolist()
    return (2 * slot if slot >= 0 else -1, greatest)


def _count(automaton: Automaton) -> int:
    return len(automaton.guard_edge_from) - 1


def _span(starts: NDArray[np.int32], number: int, items: NDArray[np.generic]) -> list[int]:
    return [int(item) for item in items[starts[number] : starts[number + 1]].tolist()]
