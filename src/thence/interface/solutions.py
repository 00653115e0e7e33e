"""Solutions as columns, each with its times and its events: the output of an operator."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, pairwise, repeat
from typing import TypeAlias

import numpy as np

from thence.columns.arrays import Ints
from thence.columns.dictionary import Terms
from thence.columns.value_columns import ValueColumn, term_of
from thence.rdf.events import Event
from thence.rdf.terms import Literal, Term, Triple

Struct: TypeAlias = Mapping[str, Term | None]
AnswerValue: TypeAlias = Term | tuple["Term | Struct | None", ...] | Struct
"""A row's value in a column: a term; several terms (a sequence), some of them possibly missing; or a
composite of named terms, or several of these."""

_TOGETHER = 1000
"""The number of solutions whose events become Python integers at a time; as Python objects they take four times the
memory.
"""


@dataclass(frozen=True, slots=True, eq=False)
class EventLists:
    """The events of some solutions in pattern order: those of solution i are at `offsets[i]:offsets[i+1]`.

    `refs` are the host's numbers of the events, `places` the part of the pattern that each fills. `values` are the
    variables that each event binds (an iteration's own variables); they distinguish solutions of the same events.
    """

    offsets: Ints
    refs: Ints
    places: Ints
    values: tuple[ValueColumn, ...] = ()

    @classmethod
    def none(cls, solutions: int) -> EventLists:
        """The event lists of solutions without events."""
        return cls(np.zeros(solutions + 1, np.int64), np.empty(0, np.int64), np.empty(0, np.int64))

    def take(self, rows: Ints) -> EventLists:
        """The event lists of some solutions, in the given order, as often as given."""
        lengths = np.diff(self.offsets)[rows]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        places = np.repeat(self.offsets[rows] - offsets[:-1], lengths) + np.arange(offsets[-1])
        values = tuple(column.take(places) for column in self.values)
        return EventLists(offsets, self.refs[places], self.places[places], values)

    def joined(self, others: Sequence[EventLists]) -> EventLists:
        """These lists, followed by those of further solutions."""
        parts = (self, *others)
        lengths = np.concatenate([np.diff(part.offsets) for part in parts])
        columns = zip(*(part.values for part in parts), strict=True)
        return EventLists(
            np.concatenate([[0], np.cumsum(lengths)]),
            np.concatenate([part.refs for part in parts]),
            np.concatenate([part.places for part in parts]),
            tuple(_joined(column) for column in columns),
        )


@dataclass(slots=True, eq=False)
class Deferred:
    """Event lists that are built when they are first read: most answers never read them."""

    make: Callable[[], EventLists]
    _made: EventLists | None = field(default=None)

    def get(self) -> EventLists:
        if self._made is None:
            self._made = self.make()
        return self._made


@dataclass(frozen=True, slots=True, eq=False)
class Solutions:
    """Rows that became certain in one step, as columns.

    `names` are the names of the columns. The values are in `columns`, or `compute` builds the cells of a row, or the
    row is only its triples. Values that name a term name one of `terms`. `identity` has the values that distinguish
    solutions of the same events; the id of a match covers them. `queries` has the number of each row's statement, where
    the answer is numbered; `triples` builds the triples of each row: a fact, or derived triples. Event lists must be
    read before the next step.
    """

    certain: Ints
    start: Ints
    end: Ints
    names: tuple[str, ...]
    terms: Terms
    events: Deferred
    columns: tuple[ValueColumn, ...] | None = None
    compute: Callable[[int], Mapping[str, AnswerValue]] | None = None
    triples: Callable[[int], tuple[Triple, ...]] | None = None
    identity: Callable[[], tuple[ValueColumn, ...]] = tuple
    queries: Ints | None = None
    rank: Ints | None = None
    """Their order among those of the same certainty and end, where ORDER BY gives one."""
    is_sorted: bool = False
    """Whether they are known to be in the order of certainty, end and start, with no two equal in all three."""
    is_compact: bool = False
    """Whether the arrays hold nothing but `columns` and the times, so that keeping them keeps nothing else."""

    def __len__(self) -> int:
        return len(self.certain)

    def take(self, rows: Ints) -> Solutions:
        """Some solutions, in the given order, as often as given."""
        compute, triples = self.compute, self.triples
        return Solutions(
            certain=self.certain[rows],
            start=self.start[rows],
            end=self.end[rows],
            names=self.names,
            terms=self.terms,
            events=Deferred(lambda: self.events.get().take(rows)),
            columns=None if self.columns is None else tuple(column.take(rows) for column in self.columns),
            compute=None if compute is None else lambda number: compute(int(rows[number])),
            triples=None if triples is None else lambda number: triples(int(rows[number])),
            identity=lambda: tuple(column.take(rows) for column in self.identity()),
            queries=None if self.queries is None else self.queries[rows],
            rank=None if self.rank is None else self.rank[rows],
        )

    def bindings(self, number: int) -> Mapping[str, AnswerValue]:
        """The cells of a row by column name; columns without a value are left out."""
        if self.columns is None:
            if self.compute is not None:
                return self.compute(number)
            assert self.triples is not None
            return {"fact": Literal(fact_text(self.triples(number)))}
        found: dict[str, AnswerValue] = {}
        for name, column in zip(self.names, self.columns, strict=True):
            term = term_of(int(column.tags[number]), int(column.bits[number]), self.terms)
            if term is not None:
                found[name] = term
        return found

    def row(self, number: int, *, stage: int = 1) -> Row:
        """One solution."""
        lists = self.events.get()
        own = slice(int(lists.offsets[number]), int(lists.offsets[number + 1]))
        times = int(self.certain[number]), int(self.start[number]), int(self.end[number])
        query = None if self.queries is None else int(self.queries[number])
        refs, places = tuple(lists.refs[own].tolist()), tuple(lists.places[own].tolist())
        return Row(*times, refs, places, self, number, stage, query=query)

    def rows(self, order: Ints | None = None, *, stage: int = 1) -> Iterator[Row]:
        """A `Row` for each solution, in the given order; None keeps their order. `stage` is the number of the stage
        that emits them."""
        if order is not None:
            yield from self.take(order).rows(stage=stage)
            return
        lists = self.events.get()
        times = (self.certain.tolist(), self.start.tolist(), self.end.tolist())
        refs, places = _cut(lists.refs, lists.offsets), _cut(lists.places, lists.offsets)
        queries = repeat(None) if self.queries is None else self.queries.tolist()
        known: dict[tuple[int, ...], tuple[int, ...]] = {}
        for certain, start, end, events, filled, query, number in zip(
            *times, refs, places, queries, count(), strict=False
        ):
            yield Row(certain, start, end, events, known.setdefault(filled, filled), self, number, stage, query=query)


def fact_text(triples: Iterable[Triple]) -> str:
    """Triples as N-Triples, on one line.

    >>> from thence.rdf.terms import IRI
    >>> fact_text([Triple(IRI("x:a"), IRI("x:p"), Literal("b"))])
    '<x:a> <x:p> "b" .'
    """
    return " ".join(f"{triple.subject} {triple.predicate} {triple.object} ." for triple in triples)


def as_one(parts: Sequence[Solutions]) -> Solutions:
    """The solutions of several parts as one; all are of one program."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    columns = None
    compute: Callable[[int], Mapping[str, AnswerValue]] | None = None
    triples: Callable[[int], tuple[Triple, ...]] | None = None
    bounds = np.cumsum([len(part) for part in parts])

    def place(number: int) -> tuple[Solutions, int]:
        part = int(np.searchsorted(bounds, number, side="right"))
        return parts[part], number - (int(bounds[part - 1]) if part else 0)

    if first.triples is not None:

        def triples(number: int) -> tuple[Triple, ...]:
            part, own = place(number)
            assert part.triples is not None
            return part.triples(own)

    if all(part.columns is not None for part in parts):
        columns = tuple(_joined(each) for each in zip(*(part.columns or () for part in parts), strict=True))
    else:

        def compute(number: int) -> Mapping[str, AnswerValue]:
            part, own = place(number)
            return part.bindings(own)

    return Solutions(
        certain=np.concatenate([part.certain for part in parts]),
        start=np.concatenate([part.start for part in parts]),
        end=np.concatenate([part.end for part in parts]),
        names=first.names,
        terms=first.terms,
        events=Deferred(lambda: first.events.get().joined([part.events.get() for part in parts[1:]])),
        columns=columns,
        compute=compute,
        triples=triples,
        identity=lambda: tuple(_joined(each) for each in zip(*(part.identity() for part in parts), strict=True)),
        queries=None if first.queries is None else np.concatenate([part.queries for part in parts]),
        rank=None if first.rank is None else np.concatenate([part.rank for part in parts]),
    )


def _joined(columns: Sequence[ValueColumn]) -> ValueColumn:
    return ValueColumn(np.concatenate([each.tags for each in columns]), np.concatenate([each.bits for each in columns]))


def _cut(values: Ints, offsets: Ints) -> Iterator[tuple[int, ...]]:
    """The values of each solution."""
    for start in range(0, len(offsets) - 1, _TOGETHER):
        bounds = offsets[start : start + _TOGETHER + 1]
        listed = values[bounds[0] : bounds[-1]].tolist()
        for first, last in pairwise((bounds - bounds[0]).tolist()):
            yield tuple(listed[first:last])


@dataclass(slots=True, eq=False)
class Row:
    """One solution. `refs` are its events in pattern order, a closure's iterations flat; `places` says which part of
    the pattern each fills. `stage` is the number of the stage that emits it; `event` the event that it makes; `query`
    the number of its statement, where the answer is numbered; `fact` the triples of a fact, once the row is detached
    from its columns."""

    certain: int
    start: int
    end: int
    refs: tuple[int, ...]
    places: tuple[int, ...]
    solutions: Solutions | None  # None once the row is detached, as after pickle
    number: int
    stage: int = 1
    event: Event | None = None
    bound: Mapping[str, AnswerValue] | None = None  # `bindings`, after the first read
    query: int | None = None
    fact: tuple[Triple, ...] = ()

    @property
    def triples(self) -> tuple[Triple, ...]:
        """The triples of the event that it makes, or of its fact."""
        if self.event is not None:
            return self.event.triples
        made = None if self.solutions is None else self.solutions.triples
        return self.fact if made is None else made(self.number)

    @property
    def bindings(self) -> Mapping[str, AnswerValue]:
        """Terms by column name. Terms are built when they are first read: most rows of a large answer never are."""
        if self.bound is None:
            assert self.solutions is not None
            self.bound = self.solutions.bindings(self.number)
        return self.bound
