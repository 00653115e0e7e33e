"""An automaton as the machine reads it: one array of 64-bit integers, in which every number is already a place.

A head says where things stand. A *record* is a state, an edge, a guard or a predicate, all of one width; its *lists*
are named by where their items begin and end. A slot is its place in a frame or behind a run's `SLOTS`, a column its
place in a row, so that the machine adds nothing up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from thence.program.automaton import ANY, NOWHERE, START, Automaton

Image = NDArray[np.int64]

# the head
(
    WINDOW,
    TUMBLING,
    ORIGIN,
    SLOT_WORDS,  # of a run: two for each slot
    AT_FEEDS,
    AT_STATES,
    AT_EDGES,
    AT_GUARDS,
    AT_CODES,
    AT_CONSTANTS,
    _HEAD,
) = range(11)

# a feed: its edges, and how many events make a row
EDGE_FROM, EDGE_TO, ROW_EVENTS, FEED_WIDTH = range(4)
# a state: the slots of its key; the slot that all its edges compare (-1: none), and whether the greatest will do it
STATE_KEY, STATE_KEY_END, ORDERED, GREATEST, STATE_WIDTH = range(5)
# an edge
(
    STATE_OF,
    SELECTION_OF,
    ACCEPT,
    FEED_OF,
    CLOSES,  # whether a run that takes a row ends with it, if that is the last at its time
    TESTED,  # whether predicates remain to be tested once the quick ones hold
    LOOKS_ROUND,  # whether more than run and row decides: guards, or predicates of later parts
    BOUND_COMPARISON,  # that slot to this column (-1: none)
    BOUND_COLUMN,
    KEY,  # (slot, column): what finds the runs that may join
    KEY_END,
    EQUAL,  # (slot, column): compatible; those of the key are not among them
    EQUAL_END,
    BIND,  # (slot, column or -1, anew); those of the key are not among them
    BIND_END,
    QUICK,  # (comparison, slot, column or -1, slot, column or -1): a predicate that is nothing but this
    QUICK_END,
    TEST,  # predicates
    TEST_END,
    PRUNE,  # predicates of later parts that are known here
    PRUNE_END,
    SUCCESSORS,  # states
    SUCCESSORS_END,
    PLACES,
    PLACES_END,
    GUARDS,
    GUARDS_END,
    ENDS,
    ENDS_END,
    ITERATED_OF,  # columns or -1; an edge that keeps none has no items
    ITERATED_END,
    EDGE_WIDTH,
) = range(32)
# a guard: its edges; and a predicate: its instructions
FIRST, BEYOND, RANGE_WIDTH = range(3)

# A row of the machine's input, all 64-bit integers: its time, the latest strictly earlier time that breaks contiguity
# with it, its feed, its events, and then tag and bits of each column. Rows are as wide as the widest feed needs.
TIME, PREVIOUS, FEED, EVENTS = 0, 1, 2, 3


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
        words[SLOT_WORDS] = 2 * a.slots
        constants = zip(a.constant_tags.tolist(), a.constant_bits.tolist(), strict=True)
        words[AT_CONSTANTS] = self._list(constants)[0]
        words[AT_CODES] = self._records(self._code(p) for p in range(len(a.code_from) - 1))
        words[AT_GUARDS] = self._records(self._items(a.guard_edge_from, g, a.guard_edge) for g in range(_count(a)))
        words[AT_STATES] = self._records(
            (*self._list((2 * slot,) for slot in _span(a.state_key_from, s, a.state_key_slot)), *_order(a, s))
            for s in range(len(a.selection))
        )
        words[AT_EDGES] = self._records(self._edge(edge) for edge in range(len(a.edge_state)))
        words[AT_FEEDS] = self._records(
            (int(a.feed_from[f]), int(a.feed_from[f + 1]), int(a.feed_events[f])) for f in range(len(a.feed_events))
        )
        return np.array(words, np.int64)

    def _list(self, items: Iterable[Sequence[int]]) -> tuple[int, int]:
        """Where some items begin and end, now that they are written."""
        start = len(self.words)
        for item in items:
            self.words += item
        return start, len(self.words)

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
        state = int(a.edge_state[edge])
        selection = int(a.selection[state]) if state >= 0 else -1
        lists = (self._key(edge, state), *self._values(edge, state), *self._others(edge))
        tests, quick = a.test_from[edge + 1] - a.test_from[edge], a.quick_from[edge + 1] - a.quick_from[edge]
        looks = a.guard_from[edge] < a.guard_from[edge + 1] or a.prune_from[edge] < a.prune_from[edge + 1]
        return [
            state,
            selection,
            int(a.edge_accept[edge]),
            int(a.edge_feed[edge]),
            int(_closes(a, edge)),
            int(tests > (quick if state != START else 0)),  # where a run begins, nothing is sifted
            int(looks),
            int(a.edge_order[edge, 0]),
            self._column(int(a.edge_order[edge, 1])),
            *(bound for span in lists for bound in span),
        ]

    def _key(self, edge: int, state: int) -> tuple[int, int]:
        a = self.automaton
        slots = _span(a.state_key_from, state, a.state_key_slot) if state >= 0 else []
        columns = _span(a.key_from, edge, a.key_column)
        return self._list((2 * slot, self._column(column)) for slot, column in zip(slots, columns, strict=True))

    def _values(self, edge: int, state: int) -> Iterator[tuple[int, int]]:
        """What is compatible, bound and compared. A key is compared before, and bound in every run."""
        a = self.automaton
        key = _span(a.state_key_from, state, a.state_key_slot) if state >= 0 else []
        equal = zip(_span(a.equal_from, edge, a.equal_slot), _span(a.equal_from, edge, a.equal_column), strict=True)
        kept = [(slot, column) for slot, column in equal if slot not in key]
        yield self._list((2 * slot, self._column(column)) for slot, column in kept)
        bound = zip(*(_span(a.bind_from, edge, of) for of in (a.bind_slot, a.bind_column, a.bind_anew)), strict=True)
        old = {slot for slot, _ in kept}
        yield self._list(
            (2 * slot, self._column(column), int(anew or slot not in old))
            for slot, column, anew in bound
            if slot not in key
        )
        yield self._list(
            (comparison, 2 * left, self._column(left_column), 2 * right, self._column(right_column))
            for comparison, left, left_column, right, right_column in a.quick[
                a.quick_from[edge] : a.quick_from[edge + 1]
            ].tolist()
        )

    def _others(self, edge: int) -> Iterator[tuple[int, int]]:
        a = self.automaton
        yield self._items(a.test_from, edge, a.test_predicate)
        yield self._items(a.prune_from, edge, a.prune_predicate)
        successors = (int(a.edge_target[edge]), int(a.edge_loop[edge]))
        yield self._list((state,) for state in successors if state != NOWHERE)
        yield self._items(a.place_from, edge, a.place)
        yield self._items(a.guard_from, edge, a.guard)
        yield self._items(a.end_from, edge, a.end)
        yield self._list((self._column(column),) for column in _span(a.iterated_from, edge, a.iterated_column))


def _closes(automaton: Automaton, edge: int) -> bool:
    """Whether a run does not go on waiting, and no later edge of the feed leaves its state too."""
    state = int(automaton.edge_state[edge])
    beyond = automaton.feed_from[automaton.edge_feed[edge] + 1]
    return state >= 0 and automaton.selection[state] != ANY and state not in automaton.edge_state[edge + 1 : beyond]


def _order(automaton: Automaton, state: int) -> tuple[int, int]:
    slot, greatest = automaton.state_order[state].tolist()
    return (2 * slot if slot >= 0 else -1, greatest)


def _count(automaton: Automaton) -> int:
    return len(automaton.guard_edge_from) - 1


def _span(starts: NDArray[np.int32], number: int, items: NDArray[np.generic]) -> list[int]:
    return [int(item) for item in items[starts[number] : starts[number + 1]].tolist()]
