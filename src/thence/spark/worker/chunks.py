"""Chunks: extracted events on their way to a shard, packed into bytes.

A `Chunk` contains what one shard needs of some events of one stream, in the order of time. An event is sent to every
shard that one of its matches belongs to, by the shard key. One of these is its home shard, which counts it if it is
late; an event that matches nothing has a home shard too. Where strict contiguity covers all events of all streams, each
shard receives all their times.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Variable
from thence.columns.array_codec import ArrayReader, pack_arrays, unpack_arrays
from thence.columns.arrays import Ints
from thence.columns.dictionary import Terms
from thence.columns.hashing import as_hexadecimal, from_hexadecimal
from thence.columns.texts import Texts
from thence.columns.value_columns import ValueColumn, holds_term_id, shards_of
from thence.interface.event_order import EventOrder, concatenate_columns
from thence.interface.extracted import BindingTable, Extracted, concatenate_bindings, times_at
from thence.interface.operator import Program
from thence.interface.saved_arrays import (
    check_array,
    check_column,
    check_intervals,
    check_terms,
    check_texts,
    check_values,
    check_within,
    require,
)

MOST = 16_384
"""Events of a chunk. Few, so that a shard that takes chunks in the order of their first times holds few at once."""


@dataclass(frozen=True, slots=True, eq=False)
class Chunk:
    """Events `0, 1, …` in the order of time. The tables' refs are these numbers, and what names a term in their columns
    is its place in `terms`, canonical N-Triples. `others` are the times of all events of the stream, where they count
    for contiguity. Time is where events end; where all are points in time, `starts` may be the same array as `ends`.
    `file` and `lines` are the events' positions at the source; no lines where there are none, or no program asks."""

    stream: str
    starts: Ints
    ends: Ints
    ids: Texts
    home: NDArray[np.bool_]
    others: Ints
    tables: tuple[BindingTable, ...]
    terms: Texts
    numbered: bool  # whether no event was given an id, so that all have digests of their rows
    lines: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    file: str = ""
    order: tuple[ValueColumn, ...] = ()  # the events' values of the option `order`

    def __len__(self) -> int:
        return len(self.ends)

    @property
    def first(self) -> int:
        """The earliest time that it speaks of."""
        return min(int(times[0]) for times in (self.ends, self.others) if len(times))

    def before(self, time: int, *, heard: int | None = None) -> tuple[Chunk, Chunk]:
        """The part before a time, and the rest. The times of all events are cut at `heard`, if given."""
        cut = int(np.searchsorted(self.ends, time))
        other = int(np.searchsorted(self.others, time if heard is None else heard))
        return self._part(0, cut, 0, other), self._part(cut, len(self.ends), other, len(self.others))

    def _part(self, first: int, last: int, other_first: int, other_last: int) -> Chunk:
        if first == 0 and last == len(self.ends) and other_last - other_first == len(self.others):
            return self
        tables = tuple(_between(rows, first, last) for rows in self.tables)
        ends = self.ends[first:last]
        return replace(
            self,
            starts=ends if self.starts is self.ends else self.starts[first:last],
            ends=ends,
            ids=self.ids.slice(first, last),
            home=self.home[first:last],
            others=self.others[other_first:other_last],
            tables=tables,
            lines=self.lines[first:last],
            order=tuple(values.take(np.arange(first, last)) for values in self.order),
        )

    def pieces(self, most: int) -> Iterator[Chunk]:
        """The same in pieces of so many events; the last has the times of all that come behind it, too."""
        bounds = [*range(0, max(len(self.ends), 1), most), len(self.ends)]
        others = [0, *np.searchsorted(self.others, self.ends[bounds[1:-1]]).tolist(), len(self.others)]
        for number in range(len(bounds) - 1):
            yield self._part(bounds[number], bounds[number + 1], others[number], others[number + 1])


def _between(rows: BindingTable, first: int, last: int) -> BindingTable:
    refs = rows.refs[:, 0]
    if (refs[1:] >= refs[:-1]).all():
        low, high = np.searchsorted(refs, [first, last])
        chosen = np.arange(low, high)
    else:
        chosen = np.flatnonzero((refs >= first) & (refs < last))
    found = rows.take(chosen)
    return replace(found, refs=found.refs - first)


def split_by_shard(
    program: Program,
    stream: str,
    found: Extracted,
    terms: Terms,
    starts: Ints,
    ids: Texts,
    *,
    shards: int,
    numbered: bool,
    homes: bool,
    reported: Sequence[int] = (),
    bad: Sequence[int] = (),
    lines: Ints | None = None,
    file: str = "",
) -> Iterator[tuple[int, Chunk]]:
    """The chunk of each of some shards. The events are in the order of time, and the refs of their binding rows count
    from 0. `starts` and `ids` have the start and the id of each. Without `homes`, an event that matches nothing is sent
    to no shard. A `reported` event (a bad one) is sent to none either, so that it is not reported as late too; the time
    of a `bad` one is ignored. `file` and `lines` are the events' positions, if they have them and the program needs
    them."""
    of_rows = [_shards(program, table, rows, terms, shards) for table, rows in enumerate(found.tables)]
    here = np.zeros((shards, found.events), np.bool_)
    for rows, belongs in zip(found.tables, of_rows, strict=True):
        here[belongs, rows.refs[: len(belongs), 0]] = True
    home = here.argmax(axis=0)  # the first of its shards, and shard 0 for what has none
    home[list(reported)] = -1
    if found.order is not None:  # a bad event does not come between others
        home[list(bad)] = -1
    everywhere = np.delete(found.times, list(bad)) if program.broadcasts_times else found.times[:0]
    points = starts is found.times or bool((starts == found.times).all())
    for shard in range(shards):
        at_home = home == shard if homes else np.zeros(found.events, np.bool_)
        is_own = here[shard] | at_home
        own, number = np.flatnonzero(is_own), np.cumsum(is_own) - 1
        tables = []
        for rows, belongs in zip(found.tables, of_rows, strict=True):
            some = rows.take(np.flatnonzero(belongs == shard))
            tables.append(replace(some, refs=number[some.refs]))
        if len(own) or len(everywhere):
            values = () if found.order is None else found.order.take(own).columns
            kept, order, names = _vocabulary(tables, values, terms)
            ends = found.times[own]
            began = ends if points else starts[own]
            chunk = Chunk(
                stream, began, ends, ids.take(own), at_home[own], everywhere, kept, names, numbered, order=order
            )
            yield shard, chunk if lines is None else replace(chunk, lines=lines[own], file=file)


def _shards(program: Program, table: int, rows: BindingTable, terms: Terms, shards: int) -> Ints:
    """The shard of each row of a table, by its values of the key; of none, if nothing reads the table."""
    route = program.shard_key.routes[table]
    if route is None:
        return np.empty(0, np.int64)
    columns = list(rows.columns.values())
    return shards_of([columns[number] for number in route], len(rows), terms, shards)


def _vocabulary(
    tables: Sequence[BindingTable], order: Sequence[ValueColumn], terms: Terms
) -> tuple[tuple[BindingTable, ...], tuple[ValueColumn, ...], Texts]:
    """Tables, and values of `order`, whose terms are named by their place among those that they use, and these."""
    used = np.zeros(len(terms) + 1, np.bool_)
    for values in (*order, *(values for rows in tables for values in rows.columns.values())):
        used[values.bits[_named(values)]] = True
    kept, places = np.flatnonzero(used), np.cumsum(used) - 1
    renamed = tuple(_with_places(values, places) for values in order)
    return tuple(_renamed(rows, places) for rows in tables), renamed, terms.joined.take(kept)


def _named(values: ValueColumn) -> NDArray[np.bool_]:
    """Which of some values are terms' numbers."""
    named: NDArray[np.bool_] = holds_term_id(values.tags)
    return named


def _renamed(rows: BindingTable, places: Ints) -> BindingTable:
    """The same rows, whose terms have other numbers."""
    return replace(rows, columns={name: _with_places(values, places) for name, values in rows.columns.items()})


def _with_places(values: ValueColumn, places: Ints) -> ValueColumn:
    named = _named(values)
    bits = values.bits
    if named.all():
        bits = places[bits]
    elif named.any():
        bits = bits.copy()
        bits[named] = places[bits[named]]
    return ValueColumn(values.tags, bits)


def merge_chunks(
    program: Program, chunks: Sequence[Chunk], terms: Terms, first_ref: int, order: Ints | None = None
) -> Extracted:
    """The tables of some chunks together, with the terms of a state's dictionary and refs counted from `first_ref`, in
    the order of the chunks or the given one."""
    tables: list[list[BindingTable]] = [[] for _ in program.tables]
    values: list[list[ValueColumn]] = []
    ref = 0
    for chunk in chunks:
        places = terms.add_joined(chunk.terms).astype(np.int64)
        for rows, listed in zip(chunk.tables, tables, strict=True):
            if len(rows):
                named = _renamed(rows, places)
                listed.append(replace(named, refs=named.refs + ref))
        values.append([_with_places(each, places) for each in chunk.order])
        ref += len(chunk)
    together = tuple(
        _in_order(concatenate_bindings(listed, asked.variables), order, first_ref)
        for listed, asked in zip(tables, program.tables, strict=True)
    )
    of_all = program.broadcasts_times
    times = [chunk.others if of_all else chunk.ends for chunk in chunks]
    found = Extracted(together, np.concatenate(times) if times else np.empty(0, np.int64), ref)
    return replace(found, order=_order(program, chunks, values, order, first_ref)) if program.order else found


def _order(
    program: Program,
    chunks: Sequence[Chunk],
    values: Sequence[Sequence[ValueColumn]],
    order: Ints | None,
    first_ref: int,
) -> EventOrder:
    """The values of the option `order` of all events of some chunks."""
    ends = np.concatenate([np.empty(0, np.int64), *(chunk.ends for chunk in chunks)])
    refs = np.arange(len(ends))
    if order is not None:
        refs[order] = np.arange(len(ends))
    return EventOrder(refs + first_ref, ends, concatenate_columns(values, _order_width(program)))


def _order_width(program: Program) -> int:
    return max((len(predicates) for _, predicates in program.order), default=0)


def _in_order(rows: BindingTable, order: Ints | None, first_ref: int) -> BindingTable:
    """Rows whose refs count events from 0, as those of events in the order given."""
    if order is None:
        return replace(rows, refs=rows.refs + first_ref)
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    found = replace(rows, refs=places[rows.refs] + first_ref)
    return found.take(np.argsort(found.refs[:, 0], kind="stable"))


def pack_chunk(chunk: Chunk) -> bytes:
    words = from_hexadecimal(chunk.ids)
    head = {"stream": chunk.stream, "numbered": chunk.numbered, "hashes": words is not None, "file": chunk.file}
    arrays: list[NDArray[np.generic]] = [chunk.ends, chunk.ends[:0] if chunk.starts is chunk.ends else chunk.starts]
    arrays += [chunk.ids.text, chunk.ids.ends] if words is None else _halves(words, chunk.starts)
    arrays += [chunk.home if chunk.home.any() else chunk.home[:0], chunk.others, chunk.lines]
    arrays += [chunk.terms.text, chunk.terms.ends]
    for rows in chunk.tables:
        arrays.append(rows.refs.astype(np.int32))
        for values in rows.columns.values():
            arrays += _packed_values(values)
    for values in chunk.order:
        arrays += _packed_values(values)
    return pack_arrays(head, arrays)


def _packed_values(values: ValueColumn) -> list[NDArray[np.generic]]:
    alike = len(values.tags) > 0 and (values.tags == values.tags[0]).all()
    return [values.tags[:1] if alike else values.tags, values.bits]


def _halves(words: NDArray[np.uint64], times: Ints) -> list[NDArray[np.generic]]:
    """The halves of hashes. The second one is often the time, which is there already."""
    high, low = words[:, 0], words[:, 1]
    return [high.copy(), low[:0] if (low == times.view(np.uint64)).all() else low.copy()]


def unpack_chunk(program: Program, content: bytes | memoryview) -> Chunk:
    """The chunk that was packed. InputError if the bytes are malformed."""
    head, reader = unpack_arrays(content)
    kinds = {"stream": str, "numbered": bool, "hashes": bool, "file": str}
    require(all(isinstance(head.get(name), kind) for name, kind in kinds.items()), "the head of a chunk is malformed")
    ends, starts = reader.next(), reader.next()
    starts = starts if starts.size else ends
    check_array(ends, np.int64, -1)
    check_array(starts, np.int64, len(ends))
    check_intervals(starts, ends)
    ids = _hashes(reader.next(), reader.next(), starts) if head["hashes"] else Texts(reader.next(), reader.next())
    home, others, lines = reader.next(), reader.next(), reader.next()
    check_array(lines, np.int64, len(ends) if lines.size else 0)
    home = home if len(home) else np.zeros(len(ends), np.bool_)
    terms = Texts(reader.next(), reader.next())
    _check_events(ends, ids, home, others)
    check_terms(terms)
    tables = tuple(_table(reader, asked.variables, (starts, ends), len(terms)) for asked in program.tables)
    order = tuple(_values(reader, len(ends), len(terms)) for _ in range(_order_width(program)))
    return Chunk(
        head["stream"], starts, ends, ids, home, others, tables, terms, head["numbered"], lines, head["file"], order
    )


def _hashes(high: NDArray[np.uint64], low: NDArray[np.uint64], times: Ints) -> Texts:
    low = low if len(low) else times.view(np.uint64)
    for half in (high, low):
        check_array(half, np.uint64, len(times))
    return as_hexadecimal(np.column_stack([high, low]))


def _check_events(ends: Ints, ids: Texts, home: NDArray[np.bool_], others: Ints) -> None:
    for each in (ends, others):
        check_array(each, np.int64, -1)
        require((each[1:] >= each[:-1]).all(), "the events of a chunk are not in the order of time")
    check_texts(ids)
    require(len(ids) == len(ends), "the ids of events are incomplete")
    check_array(home, np.bool_, len(ends))


def _table(reader: ArrayReader, variables: Sequence[Variable], times: tuple[Ints, Ints], terms: int) -> BindingTable:
    refs = reader.next().astype(np.int64)
    check_array(refs, np.int64, -1, 1)
    check_within(refs, 0, len(times[1]), "the number of an event")
    columns = {variable: _values(reader, len(refs), terms) for variable in variables}
    return BindingTable(*times_at(times, refs[:, 0]), refs, columns, np.ones(len(refs), np.bool_))


def _values(reader: ArrayReader, count: int, terms: int) -> ValueColumn:
    tags, bits = reader.next(), reader.next()
    require(tags.shape in ((1,), (count,)), "an array has the wrong shape")
    values = ValueColumn(np.broadcast_to(tags, count), bits)
    check_column(values, count)
    check_values(values.tags, bits, terms)
    return values
