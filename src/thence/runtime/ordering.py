"""The order of rows (certainty, end, start, ids of events, statement), and DISTINCT, which keeps the first of equal
rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from thence.columns.arrays import Ints
from thence.columns.id_order import id_ranks
from thence.columns.row_order import sorted_by_times
from thence.columns.value_columns import term_of
from thence.interface.output import Distinct
from thence.interface.solutions import AnswerValue, EventLists, Solutions, as_one
from thence.jit.pointers import read_columns
from thence.rdf.terms import Literal, Term
from thence.runtime.event_log import EventLog
from thence.runtime.match_ids import match_ids

# The order of rows: certainty, then end, start, the ids of the events, the statement's number, and what the
# rows bind.

Ordered = tuple[Solutions, Ints | None]
"""Solutions, and the order of their rows; None if they are already in order."""


def in_order(parts: Iterable[Solutions], log: EventLog, *, by_certainty: bool) -> Iterator[Ordered]:
    """The solutions of a step in order. `by_certainty`: the parts are in the order of certainty, so that each can be
    emitted as soon as no later one can have rows of its last time."""
    waiting: list[Solutions] = []
    for part in parts:
        if not len(part):
            continue
        if by_certainty and waiting:
            earlier = as_one(waiting)
            tail = int(np.searchsorted(earlier.certain, earlier.certain[-1]))
            if tail:
                head = earlier.take(np.arange(tail))
                yield head, order_of(head, log)
            waiting = [earlier.take(np.arange(tail, len(earlier)))]
        waiting.append(part)
    if waiting:
        together = as_one(waiting)
        yield together, order_of(together, log)


def order_of(solutions: Solutions, log: EventLog) -> Ints | None:
    """The order of some rows; None if they are already in order."""
    if solutions.is_sorted or len(solutions) < 2:
        return None
    certain, end, start = solutions.certain, solutions.end, solutions.start
    if solutions.rank is not None:
        return np.lexsort((solutions.rank, end, certain))
    order = sorted_by_times(certain, end, start)
    is_new = bool((order[1:] < order[:-1]).any())
    if is_new:
        certain, end, start = read_columns([certain, end, start], order)
    tied = _Tied.of(order, certain, end, start)
    if len(tied):
        tied.settle(solutions, log)
        is_new = True
    return order if is_new else None


@dataclass(slots=True, eq=False)
class _Tied:
    """Rows of an order that are equal so far: their positions in it, and for each the number of its group, ascending.
    Every group has several rows."""

    order: Ints
    slots: Ints
    groups: Ints

    @classmethod
    def of(cls, order: Ints, certain: Ints, end: Ints, start: Ints) -> _Tied:
        """The rows that have the same certainty, end and start as another row. The rows are in order."""
        same = (end[1:] == end[:-1]) & (start[1:] == start[:-1])
        if same.any():
            same &= certain[1:] == certain[:-1]
        tied = cls(order, np.arange(len(order)), np.zeros(len(order), np.int64))
        tied._split(same)
        return tied

    def __len__(self) -> int:
        return len(self.slots)

    @property
    def rows(self) -> Ints:
        return self.order[self.slots]

    def settle(self, solutions: Solutions, log: EventLog) -> None:
        """Orders the rows by the ids of their events. Rows of the same events are ordered by the number of their
        statement, then by their bindings, then by match id, so the order never depends on the order of arrival."""
        lists = solutions.events.get()
        place = 0
        while len(self) and (refs := _refs_at(lists, self.rows, place)).max() != _NO_REF:
            is_same = refs[1:] == refs[:-1]
            if not is_same[self.groups[1:] == self.groups[:-1]].all():
                self._sort(_ranks(refs, log))
            place += 1
        if len(self) and solutions.queries is not None:
            self._sort(solutions.queries[self.rows])
        for slots in np.split(self.slots, np.flatnonzero(np.diff(self.groups)) + 1) if len(self) else ():
            self.order[slots] = _by_bindings(solutions, self.order[slots].tolist(), log)

    def _sort(self, keys: Ints) -> None:
        """Orders the rows of each group by a key, and removes those whose key is unique."""
        found = np.lexsort((keys, self.groups))
        self.order[self.slots] = self.rows[found]
        self._split(keys[found[1:]] == keys[found[:-1]])

    def _split(self, same: NDArray[np.bool_]) -> None:
        """Splits groups. `same`: whether a row equals the one before, if both are of one group. Rows that equal no
        other are removed."""
        continues = np.zeros(len(self) + 1, np.bool_)
        continues[1:-1] = same & (self.groups[1:] == self.groups[:-1])
        kept = np.flatnonzero(continues[:-1] | continues[1:])
        self.groups = np.cumsum(~continues[:-1], dtype=np.int64)[kept]
        self.slots = self.slots[kept]


_NO_REF = -1


def _refs_at(lists: EventLists, rows: Ints, place: int) -> Ints:
    """The event at one position of each row's list; _NO_REF beyond its end."""
    refs = np.full(len(rows), _NO_REF, np.int64)
    places = lists.offsets[rows] + place
    has = np.flatnonzero(places < lists.offsets[rows + 1])
    refs[has] = lists.refs[places[has]]
    return refs


def _ranks(refs: Ints, log: EventLog) -> Ints:
    """The ranks of events by their ids. A missing event comes first, so a list comes before its continuations."""
    distinct, where = np.unique(refs, return_inverse=True)
    named = distinct[distinct != _NO_REF]
    ranks = np.full(len(distinct), _NO_REF, np.int64)
    ranks[len(distinct) - len(named) :] = id_ranks(log.ids(named))
    return ranks[where]


def _by_bindings(solutions: Solutions, rows: list[int], log: EventLog) -> list[int]:
    shown = dict(zip(rows, _shown_texts(solutions, rows), strict=True))
    if len(set(shown.values())) == len(rows):
        return sorted(rows, key=shown.__getitem__)
    some = solutions.take(np.array(rows, np.int64))
    names = dict(zip(rows, match_ids(some, log.ids(some.events.get().refs)).to_list(), strict=True))
    return sorted(rows, key=lambda row: (shown[row], names[row]))


def _shown_texts(solutions: Solutions, rows: list[int]) -> list[str]:
    """The text of each row, as from `shown_text`, or a prefix of it that no other row shares. No cell is a prefix of
    another, so the order is the same."""
    if solutions.columns is None:
        return [shown_text(solutions.bindings(row)) for row in rows]
    texts, left, is_whole = ["["] * len(rows), list(range(len(rows))), True
    for name, column in sorted(zip(solutions.names, solutions.columns, strict=True), key=lambda each: each[0]):
        chosen = [rows[place] for place in left]
        for place, tag, bits in zip(left, column.tags[chosen].tolist(), column.bits[chosen].tolist(), strict=True):
            term = term_of(tag, bits, solutions.terms)
            if term is None:
                is_whole = False
            else:
                texts[place] += f"({name!r}, {_shown_term(term)}), "
        if is_whole:
            counts = Counter(texts[place] for place in left)
            left = [place for place in left if counts[texts[place]] > 1]
    for place in left:
        texts[place] = texts[place].removesuffix(", ") + "]"
    return texts


def _shown_term(term: Term) -> str:
    """The term's repr, computed faster."""
    if isinstance(term, Literal):
        return f"Literal(value={term.value!r}, datatype={term.datatype!r}, language={term.language!r})"
    return f"{type(term).__name__}(value={term.value!r})"


def shown_text(bindings: object) -> str:
    """A row as text: equal rows have equal texts."""
    assert hasattr(bindings, "items")
    items: list[tuple[str, AnswerValue]] = sorted(bindings.items(), key=lambda item: item[0])
    return repr(items)


@dataclass(slots=True)
class Seen:
    """The emitted rows that a later row may equal, as texts, each with the time after which none can."""

    scope: Distinct
    rows: dict[str, int] = field(default_factory=dict)

    def first_of(self, found: Iterable[Ordered]) -> Iterator[Solutions]:
        """The rows, in order, that were not emitted before."""
        for solutions, order in found:
            numbers = range(len(solutions)) if order is None else order.tolist()
            kept = [number for number in numbers if self._is_new(solutions, number)]
            if kept:
                yield solutions.take(np.array(kept, np.int64))

    def _is_new(self, solutions: Solutions, number: int) -> bool:
        text, until = shown_text(solutions.bindings(number)), int(solutions.end[number])
        match self.scope:
            case Distinct.FOREVER:
                pass
            case Distinct.INTERVAL:
                text = f"{solutions.start[number]} {until} {text}"
            case Distinct.EVALUATION:
                until = int(solutions.certain[number])
                text = f"{until} {text}"
        if text in self.rows:
            return False
        self.rows[text] = until
        return True

    def prune(self, watermark: int) -> None:
        """Evicts rows that no later row can equal: rows that become certain from now on end at the watermark or
        later."""
        if self.scope is not Distinct.FOREVER:
            self.rows = {text: until for text, until in self.rows.items() if until >= watermark}
