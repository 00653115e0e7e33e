"""JSON lines as batches of columns: typed events without an object each, and graphs many at a time.

A block of lines is scanned by `json_scanner`; each line that is not flat goes to the reader of single objects
(`jsonl.ObjectReader`), and so does each row that is no event, for its reason. So a line means the same, whoever reads
it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from thence.columns.batches import Batch, EventBatch, RowPositions, encode, localise_blank_nodes
from thence.columns.dictionary import Terms
from thence.columns.hashing import without_duplicates
from thence.columns.time_columns import Intervals, intervals, read_times
from thence.io import json_scanner as scanner
from thence.io.event_tables import EventTable
from thence.io.gunzip import READ_FAILURES
from thence.io.json_graphs import parts, triples_of
from thence.io.json_scanner import ABSENT, DECIMAL, DOUBLE, ESCAPED, FALSE, INTEGER, NULL, TEXT, TRUE
from thence.io.jsonl import RDF_KEYS, NumberedLine, ObjectReader
from thence.io.table_columns import IN_THE_GRAPH
from thence.io.table_layout import EventColumns, RowKind, TableLayout
from thence.rdf.events import DEFAULT_NAMESPACE, BadEvent, Event
from thence.rdf.limits import Limits
from thence.rdf.terms import Literal

_BLOCK = 1 << 20
_TOGETHER = 4096  # events of single lines that become one batch
_LEAST = 16  # rows that a batch has on average; if it is fewer, all lines of a block become objects
_COLUMNS = 32  # at first
_MOST_COLUMNS = 1024
_LIMITS = Limits()
_LAYOUT = TableLayout()

_HAS_TEXT = (TEXT, ESCAPED)
_ALLOWED = {
    "type": (ABSENT, *_HAS_TEXT),
    "time": (*_HAS_TEXT, INTEGER),
    "end": (ABSENT, NULL, *_HAS_TEXT, INTEGER),
    "id": (ABSENT, NULL, *_HAS_TEXT, INTEGER),
    "subject": (ABSENT, NULL, *_HAS_TEXT, INTEGER),
}
"""The kinds of cells that a flat line may have there."""


def read_json_batches(
    source: BinaryIO,
    *,
    stream: str = "stream",
    limits: Limits = _LIMITS,
    namespace: str = DEFAULT_NAMESPACE,
    first_line: int = 1,
    first: int = 0,
    layout: TableLayout = _LAYOUT,
) -> Iterator[Batch | BadEvent]:
    """The events of a file in batches, in order, and what could not be read between them; constant memory.
    `first_line` is the number of its first line, if it is a part of a file; positions are counted from `first`.
    `layout` says what the keys of typed events are."""
    table = EventTable(stream, stream, namespace, limits, EventColumns(RowKind.TYPED, {}), layout.times)
    reader = _BlockReader(ObjectReader(stream, limits, namespace, layout), table, first, _Names(_called(layout)))
    for piece in _pieces(source, limits, first_line):
        if isinstance(piece, NumberedLine):
            yield from reader.objects(found for found in [reader.lines.read(piece)] if found is not None)
        else:
            yield from reader.read(*piece)


def _pieces(source: BinaryIO, limits: Limits, number: int) -> Iterator[tuple[bytes, int] | NumberedLine]:
    """Whole lines, some at a time, with the number of the first; of a line that is too long only the head is kept. A
    stream that fails ends in a line with the reason."""
    enough = max(limits.event_bytes, NumberedLine.SHOWN)
    rest = b""
    try:
        while block := source.read(_BLOCK):
            head, newline, others = block.partition(b"\n")
            if len(rest) <= enough:
                rest += head
            if not newline:
                continue
            if len(rest) > enough:
                yield NumberedLine.of(number, rest, limits)
                number, rest = number + 1, b""
            else:
                others = rest + newline + others
            end = others.rfind(b"\n") + 1
            if end:
                yield others[:end], number
            number += others.count(b"\n")
            rest = others[end:]
    except READ_FAILURES as error:
        yield NumberedLine(number, rest, str(error) or type(error).__name__)
        return
    if len(rest) > enough:
        yield NumberedLine.of(number, rest, limits)
    elif rest:
        yield rest, number


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """The cells of some lines: arrays with a row for each name, and a place for each flat line."""

    names: list[str]
    kinds: NDArray[np.uint8]
    cells: NDArray[np.int64]  # where each starts and stops, its digits, and how many are behind the point
    lines: NDArray[np.int64]  # of all lines: where it starts and stops, what it is, and its place


@dataclass(slots=True)
class _Names:
    """The names that were seen so far, by the number of their column, and in what order they stood in the last line.
    `seeded` are those that the parts of events have; an empty one is none, as no flat line has it."""

    seeded: tuple[str, ...]
    room: int = _COLUMNS
    text: NDArray[np.uint8] = field(init=False)
    ends: NDArray[np.int64] = field(init=False)
    count: int = field(init=False)
    guess: NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        seeded = [name.encode() for name in self.seeded]
        self.count = len(seeded)
        joined = b"".join(seeded)
        self.text = np.zeros(self.room * 64 + len(joined), np.uint8)
        self.text[: len(joined)] = np.frombuffer(joined, np.uint8)
        self.ends = np.zeros(self.room, np.int64)
        self.ends[: self.count] = np.cumsum([len(name) for name in seeded])
        self.guess = np.zeros(self.room, np.int64)

    def listed(self) -> list[str]:
        bounds = [0, *self.ends[: self.count].tolist()]
        return [bytes(self.text[a:b]).decode() for a, b in pairwise(bounds)]


def _called(layout: TableLayout) -> tuple[str, ...]:
    """What the parts of events are called in lines."""
    found = [layout.columns.get(ours, ours) for ours in scanner.SEEDED[:-1]]
    if layout.type is not None:
        found[scanner.TYPE] = ""  # an attribute
    return (*found, scanner.SEEDED[-1])


@dataclass(slots=True)
class _BlockReader:
    """Reads blocks of whole lines. `first` is the position of the next event."""

    lines: ObjectReader
    table: EventTable
    first: int
    names: _Names

    def read(self, data: bytes, number: int) -> Iterator[Batch | BadEvent]:
        """The events of a block whose first line has that number."""
        cells = self._scanned(data) if _is_utf8(data) and self._is_plain else None
        if cells is None or not self._is_small(cells):
            yield from self.objects(self._each(data, number))
            return
        status = self._status(cells)
        others = {
            line: found
            for line in np.flatnonzero(status == scanner.OTHER).tolist()
            if (found := self._line(data, cells, line, number)) is not None
        }
        bad = [line for line, found in others.items() if isinstance(found, BadEvent)]
        status[bad] = scanner.BLANK
        events = np.flatnonzero(status != scanner.BLANK)
        runs = np.split(events, np.flatnonzero(np.diff(status[events])) + 1)
        if len(runs) > 1 and len(runs) * _LEAST > len(events):
            yield from self.objects(self._each(data, number))
            return
        for run in runs:
            kind = status[run[0]] if len(run) else scanner.BLANK
            if kind == scanner.TYPED:
                yield from self._typed(data, cells, run, number)
            elif kind == scanner.GRAPH:
                yield from self._graphs(data, cells, run, number)
            else:
                yield from self.objects(others[line] for line in run.tolist() if line in others)
        for line in bad:
            found = others[line]
            assert isinstance(found, BadEvent)
            yield found

    def objects(self, found: Iterator[Event | BadEvent]) -> Iterator[Batch | BadEvent]:
        """Events that are objects, as batches; what was bad passes through."""
        waiting: list[Event] = []
        bad: list[BadEvent] = []
        for each in found:
            if isinstance(each, Event):
                waiting.append(each)
            else:
                bad.append(each)
            if len(waiting) + len(bad) == _TOGETHER:
                yield from self._encoded(waiting, bad)
                waiting, bad = [], []
        yield from self._encoded(waiting, bad)

    def _encoded(self, good: list[Event], bad: list[BadEvent]) -> Iterator[Batch | BadEvent]:
        if good:
            yield encode(good, stream=self.lines.stream, first=self.first)
            self.first += len(good)
        yield from bad

    def _each(self, data: bytes, number: int) -> Iterator[Event | BadEvent]:
        for line, text in enumerate(data.removesuffix(b"\n").split(b"\n"), number):
            found = self.lines.read(NumberedLine.of(line, text, self.lines.limits))
            if found is not None:
                yield found

    def _line(self, data: bytes, cells: _Cells, line: int, number: int) -> Event | BadEvent | None:
        start, stop, *_ = cells.lines[line].tolist()
        return self.lines.read(NumberedLine.of(number + line, data[start:stop], self.lines.limits))

    @property
    def _is_plain(self) -> bool:
        """Whether no two parts of events have one name."""
        named = [name for name in self.names.seeded if name]
        return len(set(named)) == len(named)

    @property
    def _untyped(self) -> int:
        """Which lines without a type are typed events."""
        layout = self.lines.layout
        if layout.type is not None:
            return scanner.ALWAYS
        return scanner.NEVER if layout.named_types is None or len(layout.named_types) > 1 else scanner.BESIDE_GRAPHS

    def _status(self, cells: _Cells) -> NDArray[np.int64]:
        """What each line is. Those without a type are left to the other reader, where JSON-LD looks like that."""
        status = cells.lines[:, 2].copy()
        if self._untyped != scanner.BESIDE_GRAPHS:
            return status
        untyped = np.flatnonzero(status == scanner.TYPED)
        untyped = untyped[cells.kinds[scanner.TYPE, cells.lines[untyped, 3]] == ABSENT]
        rows = cells.lines[untyped, 3]
        left = np.zeros(len(rows), np.bool_)
        is_event = np.full(len(rows), bool(self.lines.layout.named_types))
        for kinds, name in zip(cells.kinds, cells.names, strict=True):
            if ":" in name:
                left |= kinds[rows] != ABSENT
            if name not in RDF_KEYS:
                is_event |= kinds[rows] != ABSENT
        status[untyped[left | ~is_event]] = scanner.OTHER
        return status

    @property
    def _type(self) -> str | None:
        """The type of typed events that say none, if there are such."""
        return None if self._untyped == scanner.NEVER else self.lines.layout.type_of_rows()

    def _is_small(self, cells: _Cells) -> bool:
        """Whether every event is surely within the limits, however it is measured."""
        limits = self.lines.limits
        longest = int((cells.lines[:, 1] - cells.lines[:, 0]).max(initial=0))
        names = sum(3 * len(name) + len(self.lines.namespace) for name in (*cells.names, self._type or ""))
        return 3 * longest + 4 * names < limits.event_bytes and len(cells.names) < limits.event_triples

    def _scanned(self, data: bytes) -> _Cells | None:
        """The cells of a block; None if its lines have too many names."""
        most = data.count(b"\n") + 1
        while True:
            names = self.names
            shape = (names.room, most)
            kinds, lines = np.zeros(shape, np.uint8), np.empty((most, 4), np.int64)
            cells = np.empty((*shape, 4), np.int64)
            count, rows, names.count, is_full = scanner.scan_lines(
                np.frombuffer(data, np.uint8),
                self.lines.limits.event_bytes,
                self._untyped,
                _MASK,
                names.text,
                names.ends,
                names.count,
                names.guess,
                kinds,
                cells,
                lines,
            )
            if not is_full:
                listed = names.listed()
                used = len(listed)
                return _Cells(listed, kinds[:used, :rows], cells[:used], lines[:count])
            if names.room == _MOST_COLUMNS:
                self.names = _Names(names.seeded)
                return None
            self.names = _Names(names.seeded, 2 * names.room)

    def _typed(self, data: bytes, cells: _Cells, chosen: NDArray[np.int64], number: int) -> Iterator[Batch | BadEvent]:
        """The typed events of some flat lines."""
        if not len(chosen):
            return
        rows = cells.lines[chosen, 3]
        source = np.frombuffer(data, np.uint8)
        parts, attributes = dict[str, Any](), dict[str, Any]()
        for place, name in enumerate(cells.names):
            column = _Column(source, cells, place, rows)
            if column.is_absent:
                continue
            ours = scanner.SEEDED[place] if place <= scanner.SUBJECT else None
            if ours is not None:
                own = column.names() if ours in ("id", "subject") else column.plain()
                own = self._with_types(own) if ours == "type" and own is not None else own
                if own is None or (ours == "type" and own.null_count):  # times of two kinds, of which most are bad
                    yield from self.objects(self._lines(data, cells, chosen, number))
                    return
                parts[ours] = own
            if name != ours or name not in IN_THE_GRAPH:
                attributes[name] = column.values()
        places = RowPositions(self.first, len(rows), lines=number + chosen)
        self.first += len(rows)
        called = {ours: name for ours, name in zip(scanner.SEEDED, cells.names, strict=False) if ours in parts}
        columns = EventColumns(RowKind.TYPED, called, type=None if "type" in parts else self._type)
        for found in replace(self.table, columns=columns).read(parts, attributes, places):
            if isinstance(found, BadEvent):
                bad = self._line(data, cells, found.line - number, number)
                assert isinstance(bad, BadEvent)
                yield bad
            else:
                yield found

    def _with_types(self, types: Any) -> Any:
        """Types, those of the layout where a line has none."""
        named = self._type
        return types if named is None or not types.null_count else types.fill_null(named)

    def _graphs(self, data: bytes, cells: _Cells, chosen: NDArray[np.int64], number: int) -> Iterator[Batch | BadEvent]:
        """The events of some lines that have a graph and its time: graphs that can be parsed together are."""
        rows = cells.lines[chosen, 3]
        source = np.frombuffer(data, np.uint8)
        places = (scanner.TIME, scanner.END, scanner.GRAPH_TEXT)
        time, end, graph = (_Column(source, cells, place, rows).plain() for place in places)
        if time is None or end is None:  # times of two kinds, of which most are bad
            yield from self.objects(self._lines(data, cells, chosen, number))
            return
        times, faults = intervals(*(read_times(each, self.table.times) for each in (time, end)))
        assert graph is not None, "each line has one"
        texts = graph.cast(pa.binary()).to_pylist()
        together = [row for row in parts(texts) if row not in faults]
        terms = Terms()
        triples, wrong = triples_of([texts[row] for row in together], terms, self.lines.limits)
        triples[0] = np.array(together, np.int32)[triples[0]]
        apart = sorted({*range(len(rows))}.difference(together) | {together[each] for each in wrong})
        read = {row: self._line(data, cells, int(chosen[row]), number) for row in apart}
        yield from self._joined(terms, triples, times, self._ids(source, cells, chosen, number), read)

    def _ids(self, source: NDArray[np.uint8], cells: _Cells, chosen: NDArray[np.int64], number: int) -> list[str]:
        given = _Column(source, cells, scanner.ID, cells.lines[chosen, 3]).names().to_pylist()
        lines = (number + chosen).tolist()
        return [name or f"{self.lines.stream}:{line}" for name, line in zip(given, lines, strict=True)]

    def _joined(
        self,
        terms: Terms,
        triples: NDArray[np.int32],
        times: Intervals,
        ids: list[str],
        read: Mapping[int, Event | BadEvent | None],
    ) -> Iterator[Batch | BadEvent]:
        """Graphs that were parsed together, and those that were read alone, as one batch; then what is bad."""
        starts, ends, domains = times.starts.copy(), times.ends.copy(), times.domains.copy()
        more = []
        for row, event in read.items():
            if isinstance(event, Event):
                found = terms.add_all(term for triple in event.triples for term in triple).reshape(-1, 3)
                more.append(np.column_stack([np.full(len(found), row, np.int32), found]).T)
                starts[row], ends[row], domains[row] = event.start, event.end, event.domain.value
        owners, *columns = np.concatenate([triples, *more], axis=1)
        order = np.argsort(owners, kind="stable")
        good = np.array([row for row in range(len(ids)) if isinstance(read.get(row, _WAS_READ), Event)], np.int64)
        offsets = np.zeros(len(ids) + 1, np.int64)
        np.cumsum(np.bincount(owners, minlength=len(ids)), out=offsets[1:])
        columns = [np.ascontiguousarray(column[order]) for column in columns]
        keep = without_duplicates(offsets, *columns)
        if not keep.all():
            offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(keep)])[offsets]
            columns = [column[keep] for column in columns]
        offsets = np.concatenate([offsets[:1], offsets[1:][good]])  # bad ones have no triples
        positions = np.arange(self.first, self.first + len(good))
        subjects, predicates, objects = columns
        localise_blank_nodes(terms, offsets, subjects, objects, positions, self.lines.stream)
        if len(good):
            yield EventBatch(
                terms=terms,
                offsets=offsets,
                subjects=subjects,
                predicates=predicates,
                objects=objects,
                starts=starts[good],
                ends=ends[good],
                domains=domains[good],
                ids=terms.add_all(Literal(ids[row]) for row in good.tolist()),
                positions=positions,
            )
        self.first += len(good)
        yield from (each for each in read.values() if isinstance(each, BadEvent))

    def _lines(self, data: bytes, cells: _Cells, chosen: NDArray[np.int64], number: int) -> Iterator[Event | BadEvent]:
        for line in chosen.tolist():
            found = self._line(data, cells, line, number)
            if found is not None:
                yield found


_WAS_READ = Event(0, [])
_MASK = np.array([[kind in _ALLOWED[name] for kind in range(scanner.KINDS)] for name in scanner.SEEDED[:5]])


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


_TENS = 10 ** np.arange(19, dtype=np.int64)
_MOST = 10**18


class _Column:
    """A column of some rows, as Arrow has it."""

    def __init__(self, data: NDArray[np.uint8], cells: _Cells, place: int, rows: NDArray[np.int64]) -> None:
        self._data, self._cells, self._place = data, cells, place
        self._rows = rows
        self._kinds = cells.kinds[place][rows]
        self._counts = np.bincount(self._kinds, minlength=scanner.KINDS)

    @property
    def is_absent(self) -> bool:
        return bool(self._counts[ABSENT] == len(self._rows))

    def _has(self, *kinds: int) -> bool:
        return bool(self._counts[list(kinds)].any())

    def plain(self) -> Any | None:
        """Values of one kind; None if there are several."""
        found = self._by_kind()
        return found[0] if len(found) == 1 else pa.nulls(len(self._rows)) if not found else None

    def values(self) -> Any:
        """Values of any kinds."""
        found = self._by_kind()
        if len(found) < 2:
            return found[0] if found else pa.nulls(len(self._rows))
        codes = pa.array(np.zeros(len(self._rows), np.int8))  # who reads them looks at all children
        return pa.UnionArray.from_sparse(codes, found)

    def names(self) -> Any:
        """Texts, and integers as texts."""
        found = [each.cast(pa.string()) for each in self._by_kind()]
        if len(found) < 2:
            return found[0] if found else pa.nulls(len(self._rows))
        return found[0].fill_null("") if not len(found[0]) else pa.compute.coalesce(*found)

    def _by_kind(self) -> list[Any]:
        """An array for each kind that occurs, null where a value is of another."""
        found = []
        if self._has(TEXT, ESCAPED):
            found.append(self._texts((self._kinds == TEXT) | (self._kinds == ESCAPED)))
        if self._has(INTEGER):
            given = self._kinds == INTEGER
            found.append(pa.array(np.where(given, self._numbers, 0), mask=None if given.all() else ~given))
        if self._has(DECIMAL):
            found.append(self._decimals(self._kinds == DECIMAL))
        if self._has(DOUBLE):
            found.append(self._texts(self._kinds == DOUBLE).cast(pa.float64()))
        if self._has(TRUE, FALSE):
            is_true = self._kinds == TRUE
            found.append(pa.array(is_true, mask=~(is_true | (self._kinds == FALSE))))
        return found

    @property
    def _numbers(self) -> NDArray[np.int64]:
        found: NDArray[np.int64] = self._cells.cells[self._place, self._rows, 2]
        return found

    def _texts(self, given: NDArray[np.bool_]) -> Any:
        cells, place = self._cells, self._place
        rows = self._rows[given]
        size = int((cells.cells[place, rows, 1] - cells.cells[place, rows, 0]).sum())
        out, ends = np.empty(size, np.uint8), np.empty(len(rows), np.int32)
        scanner.copy_texts(self._data, rows, cells.kinds[place], cells.cells[place], out, ends)
        offsets = np.zeros(len(self._rows) + 1, np.int32)
        if len(rows) == len(self._rows):
            offsets[1:] = ends
            valid = None
        else:
            offsets[1:][given] = ends
            np.maximum.accumulate(offsets, out=offsets)
            valid = _bitmap(given)
        return pa.Array.from_buffers(pa.string(), len(self._rows), [valid, pa.py_buffer(offsets), pa.py_buffer(out)])

    def _decimals(self, given: NDArray[np.bool_]) -> Any:
        scales = np.where(given, self._cells.cells[self._place, self._rows, 3], 0)
        scale = int(scales.max())
        factors = _TENS[scale - scales]
        numbers = np.where(given, self._numbers, 0)
        if (np.abs(numbers) > (_MOST - 1) // factors).any():
            return self._texts(given).cast(pa.decimal128(38, scale))
        words = np.empty((len(numbers), 2), np.int64)
        words[:, 0] = numbers * factors
        words[:, 1] = words[:, 0] >> 63
        valid = None if given.all() else _bitmap(given)
        return pa.Array.from_buffers(pa.decimal128(18, scale), len(numbers), [valid, pa.py_buffer(words)])


def _bitmap(given: NDArray[np.bool_]) -> Any:
    return pa.py_buffer(np.packbits(given, bitorder="little"))
