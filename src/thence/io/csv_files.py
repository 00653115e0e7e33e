"""CSV files of typed events, read in blocks of whole records."""

from __future__ import annotations

import csv
import io
import os
import re
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from thence.columns.arrow_values import buffer_numbers, is_valid
from thence.columns.batches import ColumnBatch, RowPositions
from thence.columns.time_reading import TimeReading
from thence.errors import InputError, ThenceWarning
from thence.io.csv_cells import CellCounts
from thence.io.csv_columns import CsvColumn, CsvKind
from thence.io.csv_records import find_records
from thence.io.event_tables import EventTable
from thence.io.gunzip import READ_FAILURES, open_input
from thence.io.table_columns import event_columns
from thence.io.table_layout import TableLayout
from thence.rdf.documents import BOM
from thence.rdf.events import DEFAULT_NAMESPACE, BadCell, BadEvent
from thence.rdf.limits import Limits, size

# A CSV file in blocks of whole records that Arrow can parse; a record that it could not parse is a bad event.

_BLOCK = 1 << 20
_SHOWN = 4 * BadEvent.LONGEST  # bytes that hold as many characters
_UNCLOSED = "a quote that is never closed"
_LINE_END = re.compile(rb"\n|\r\n?")


@dataclass(frozen=True, slots=True, eq=False)
class CsvBlock:
    """Records of one length, as text that is UTF-8, and the line on which each begins."""

    text: bytes
    lines: NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class BadRecord:
    """A record that can't be parsed: its line, the reason, and its text."""

    line: int
    reason: str
    text: str = ""


@dataclass(slots=True)
class CsvBlocks:
    """Reads a file: the first record, then the others. A stream that fails ends in a flaw with the reason.

    A record that is too long, or that a quote leaves without end, costs the line on which it begins: reading goes on at
    the next, because what follows a stray quote may be good.
    """

    stream: BinaryIO
    limits: Limits
    cells: int = 0  # of the first record, and so of all
    line: int = 1  # on which what is not yet given begins
    stop: int | None = None  # bytes of the stream, behind a record, at which to stop
    failure: str = ""  # why the stream could not be read to its end
    _torn: bytes = b""  # the line at which it failed
    _taken: int = 0  # bytes of the stream that were read
    _rest: bytes = b""
    _ended: bool = False

    def header(self) -> bytes | None:
        """The first record, where there is one."""
        while len(self._rest) < len(BOM) and not self._ended:
            self._read()
        self._rest = self._rest.removeprefix(BOM)
        while True:
            records, _, _ = find_records(np.frombuffer(self._rest, np.uint8), final=self._ended)
            if len(records) and records[0, 1] <= self.limits.event_bytes:
                start, stop, line, self.cells = records[0].tolist()
                first = self._rest[start:stop]
                end = 2 if self._rest[stop : stop + 2] == b"\r\n" else 1
                self._rest = self._rest[stop + end :]
                self.line += line + first.count(b"\n") + 1
                return first
            if self._ended or self._too_long():
                return None
            self._read()

    @property
    def at(self) -> int:
        """Where in the stream begins what is not yet given: while a block is given, where the block begins."""
        return self._taken - len(self._rest)

    def __iter__(self) -> Iterator[CsvBlock | BadRecord]:
        while True:
            data = self._rest
            records, taken, lines = find_records(np.frombuffer(data, np.uint8), final=self._ended)
            if self.stop is not None and taken > self.stop - self.at:
                taken = self.stop - self.at
                records = records[records[:, 0] < taken]
            too_long = np.flatnonzero(records[:, 1] - records[:, 0] > self.limits.event_bytes)
            if len(too_long):
                taken, _, lines, _ = records[too_long[0]].tolist()
                records = records[: too_long[0]]
            if len(records):
                yield from self._judged(data, records)
            self.line += lines
            self._rest = data[taken:]
            if self.stop is not None and self.at >= self.stop:
                break
            if self._rest and (self._ended or self._too_long()):
                yield self._skipped()
            elif not self._ended:
                self._read()
            elif not self._rest:
                break
        if self.failure:
            yield BadRecord(self.line, self.failure, self._torn[:_SHOWN].decode("utf-8", "replace"))

    def _read(self) -> None:
        """Read a block more. Of a stream that fails then, the last line is torn."""
        try:
            block = self.stream.read(_BLOCK)
        except READ_FAILURES as error:
            whole = max(self._rest.rfind(b"\n"), self._rest.rfind(b"\r")) + 1
            self._rest, self._torn = self._rest[:whole], self._rest[whole:]
            self._taken -= len(self._torn)
            self.failure, block = str(error) or type(error).__name__, b""
        self._ended = not block
        self._taken += len(block)
        self._rest += block

    def _too_long(self) -> bool:
        """Whether the record is too long that begins what is not yet read; a line end is not part of it."""
        return len(self._rest) - self._rest.endswith(b"\r") > self.limits.event_bytes

    def _skipped(self) -> BadRecord:
        """Leave out the line on which a record begins that does not end, or is too long."""
        reason = f"a record longer than {size(self.limits.event_bytes)}" if self._too_long() else _UNCLOSED
        shown = b""
        while True:
            found = _LINE_END.search(self._rest)
            stop, behind = found.span() if found else (len(self._rest), len(self._rest))
            if self._ended or (found and (behind < len(self._rest) or found[0] != b"\r")):
                break
            shown = (shown + self._rest[:stop])[:_SHOWN]
            self._rest = self._rest[stop:]
            self._read()
        shown = (shown + self._rest[:stop])[:_SHOWN]
        self._rest = self._rest[behind:]
        self.line += 1
        return BadRecord(self.line - 1, reason, shown.decode("utf-8", "replace"))

    def _judged(self, data: bytes, records: NDArray[np.int64]) -> Iterator[CsvBlock | BadRecord]:
        flaws = [
            self._flaw(data, row, self._wrong_length(row[3])) for row in records[records[:, 3] != self.cells].tolist()
        ]
        good = records[records[:, 3] == self.cells]
        if not _is_utf8(data):
            wrong = np.array([not _is_utf8(data[start:stop]) for start, stop, _, _ in good.tolist()], np.bool_)
            flaws += [self._flaw(data, row, "no UTF-8") for row in good[wrong].tolist()]
            good = good[~wrong]
        if len(good):
            whole = len(good) == len(records)
            text = data[: int(records[-1, 1])] if whole else b"\n".join(data[a:b] for a, b in good[:, :2].tolist())
            yield CsvBlock(text, self.line + good[:, 2])
        yield from sorted(flaws, key=lambda flaw: flaw.line)

    def _wrong_length(self, cells: int) -> str:
        return f"{cells:,} cells, where the first line has {self.cells:,}"

    def _flaw(self, data: bytes, record: list[int], reason: str) -> BadRecord:
        start, stop, line, _ = record
        return BadRecord(self.line + line, reason, data[start : min(stop, start + _SHOWN)].decode("utf-8", "replace"))


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


# CSV files of typed events. A column is of numbers, booleans or text by all of its cells: so a file is read twice, once
# to see what they are.

_LIMITS = Limits()
_LAYOUT = TableLayout()
_FIRST_ROWS = 10_000
"""Rows that give the types of a stream that can't be read twice."""
_SPLIT = 32 << 20
"""Bytes of a file that a task reads on Spark."""


@dataclass(frozen=True, slots=True)
class CsvSplit:
    """A range of a file that holds whole records: its bytes, its first line, and the number of rows before it."""

    begin: int
    end: int | None
    line: int
    row: int


@dataclass(frozen=True, slots=True)
class CsvTypes:
    """The columns of a file, what the cells of each are, and ranges of it that can be read apart; None for a file that
    must be read from its start. With `in_part`, only the first rows gave the types."""

    names: list[str]
    columns: Mapping[str, CsvColumn]
    rows: int
    splits: tuple[CsvSplit, ...] | None
    in_part: bool = False


def read_csv(
    path: str | os.PathLike[str],
    *,
    stream: str = "stream",
    limits: Limits = _LIMITS,
    namespace: str = DEFAULT_NAMESPACE,
    layout: TableLayout = _LAYOUT,
    types: CsvTypes | None = None,
    split: CsvSplit | None = None,
) -> Iterator[ColumnBatch | BadEvent]:
    """The events of a file in batches, in the file's order, its bad records and bad cells; constant memory. `types` are
    those of the whole file, and `split` a range of it, if that is all to read."""
    name = os.fspath(path)
    types = types or types_of_csv(path, limits=limits)
    table = _table(name, stream, namespace, limits, layout, types.names)
    with open_input(path, limits=limits) as file:
        if split is None:
            blocks = CsvBlocks(file, limits)
            if _header(name, blocks) != types.names:
                raise _changed(table)
            yield from _events(table, types, blocks)
            return
        file.seek(split.begin)
        stop = None if split.end is None else split.end - split.begin
        yield from _events(table, types, CsvBlocks(file, limits, len(types.columns), split.line, stop), split.row)


def read_csv_once(
    source: BinaryIO,
    *,
    name: str,
    stream: str = "stream",
    limits: Limits = _LIMITS,
    namespace: str = DEFAULT_NAMESPACE,
    layout: TableLayout = _LAYOUT,
) -> Iterator[ColumnBatch | BadEvent]:
    """The events of a CSV text that can be read only once: its first rows give the types of its columns, and a warning
    says so. `name` names it in errors."""
    blocks = CsvBlocks(source, limits)
    names = _header(name, blocks)
    table = _table(name, stream, namespace, limits, layout, names)
    counts, rows = CellCounts(len(names)), 0
    first: list[CsvBlock | BadRecord] = []
    remaining = iter(blocks)
    while rows < _FIRST_ROWS and (found := next(remaining, None)) is not None:
        first.append(found)
        if isinstance(found, CsvBlock):
            counts.see(found.text)
            rows += len(found.lines)
    whole = rows < _FIRST_ROWS
    types = _types(names, counts, rows, None, in_part=not whole)
    if not whole:
        warnings.warn(
            f"{name} can't be read twice, so its first {rows:,} rows give the types of its columns. Try: a file, "
            "of which all rows give them",
            ThenceWarning,
            stacklevel=2,
        )
    yield from _events(table, types, chain(first, remaining))


def csv_schema(path: str | os.PathLike[str], *, limits: Limits = _LIMITS) -> Any:
    """The columns of a file with the type of each by all of its cells: null, if it has none. The whole file is read."""
    types = types_of_csv(path, limits=limits)
    return pa.schema([(name, types.columns[name].arrow_type) for name in types.names])


def csv_header(path: str | os.PathLike[str], *, limits: Limits = _LIMITS) -> Any:
    """The columns of a file, all as text."""
    with open_input(path, limits=limits) as file:
        return _as_text(_header(os.fspath(path), CsvBlocks(file, limits)))


def _as_text(names: list[str]) -> Any:
    return pa.schema([(each, pa.string()) for each in names])


def _table(name: str, stream: str, namespace: str, limits: Limits, layout: TableLayout, names: list[str]) -> EventTable:
    columns = event_columns(layout, name, _as_text(names), rdf=False)
    return EventTable(name, stream, namespace, limits, columns, layout.in_text)


def types_of_csv(path: str | os.PathLike[str], *, limits: Limits = _LIMITS) -> CsvTypes:
    """What the cells of a file are. The file is read for it once, and again only after it has changed."""
    open_input(path).close()  # a missing file is reported as elsewhere
    status = os.stat(path)
    key = (limits, status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)
    if key in _KNOWN:
        return _KNOWN[key]
    seen_at = time.time_ns()
    found = _seen(os.fspath(path), limits)
    if seen_at - status.st_mtime_ns >= _SETTLED:
        if len(_KNOWN) == _MOST_KNOWN:
            _KNOWN.pop(next(iter(_KNOWN)))
        _KNOWN[key] = found
    return found


_KNOWN: dict[tuple[object, ...], CsvTypes] = {}
_MOST_KNOWN = 64
_SETTLED = 100_000_000
"""Nanoseconds. A file that was written more recently may change again without another time of its own."""


def _seen(name: str, limits: Limits) -> CsvTypes:
    with open_input(name, limits=limits) as file:
        blocks = CsvBlocks(file, limits)
        names = _header(name, blocks)
        begins = [(blocks.at, blocks.line, 0)]
        counts, rows = CellCounts(len(names)), 0
        for found in blocks:
            if isinstance(found, CsvBlock):
                if blocks.at - begins[-1][0] >= _SPLIT:
                    begins.append((blocks.at, blocks.line, rows))
                counts.see(found.text)
                rows += len(found.lines)
    if name.lower().endswith(".gz"):
        return _types(names, counts, rows, None)
    ends = [begin for begin, _, _ in begins[1:]]
    splits = (CsvSplit(at, end, line, row) for (at, line, row), end in zip(begins, [*ends, None], strict=True))
    return _types(names, counts, rows, tuple(splits))


def _types(
    names: list[str], counts: CellCounts, rows: int, splits: tuple[CsvSplit, ...] | None, *, in_part: bool = False
) -> CsvTypes:
    columns = {name: CsvColumn.of(counts[place]) for place, name in enumerate(names)}
    return CsvTypes(names, columns, rows, splits, in_part)


def _events(
    table: EventTable, types: CsvTypes, blocks: Iterable[CsvBlock | BadRecord], first: int = 0
) -> Iterator[ColumnBatch | BadEvent]:
    for found in blocks:
        if isinstance(found, BadRecord):
            yield BadEvent(table.stream, found.line, found.reason, found.text)
            continue
        columns = _of_block(types, found) if types.in_part else types.columns
        try:
            cells = _typed(found, columns, table, in_part=types.in_part)
        except pa.ArrowInvalid:
            raise _changed(table) from None
        reads = {name: read for name in table.columns.attributes if (read := columns[name].read) is not None}
        rows = RowPositions(first, len(found.lines), lines=found.lines)
        wrong = set()
        for each in replace(table, reads=reads).read(cells.parts, cells.attributes, rows):
            if isinstance(each, BadEvent):
                wrong.add(each.line)
            yield each
        for name, row, text in cells.bad:
            line = int(found.lines[row])
            if line not in wrong:
                yield BadCell(table.stream, line, columns[name].reason(name, text), text)
        first += len(found.lines)


def _of_block(types: CsvTypes, block: CsvBlock) -> dict[str, CsvColumn]:
    counts = CellCounts(len(types.columns))
    counts.see(block.text)
    return {name: column.of_block(counts[place]) for place, (name, column) in enumerate(types.columns.items())}


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """The cells of a block: parts of events by our names, attributes, and bad cells as column, row and text."""

    parts: dict[str, Any]
    attributes: dict[str, Any]
    bad: list[tuple[str, int, str]]


def _typed(block: CsvBlock, columns: Mapping[str, CsvColumn], table: EventTable, *, in_part: bool) -> _Cells:
    """A block as columns of values."""
    called, names = table.columns.parts, table.columns.attributes
    as_text = {
        theirs for ours, theirs in called.items() if in_part or not _are_ticks(ours, columns[theirs], table.times)
    }
    direct = {name: None if name in as_text else column.direct for name, column in columns.items()}
    given = _parsed(block, {name: kind or pa.string() for name, kind in direct.items()})
    attributes, bad = {}, list[tuple[str, int, str]]()
    for name in names:
        column = columns[name]
        texts = array = given.column(name)
        is_bad = None
        if direct[name] is None:
            array, is_bad = column.typed(texts)
        if column.kind is CsvKind.DOUBLE and (infinite := np.isinf(buffer_numbers(array)) & is_valid(array)).any():
            if direct[name] is not None:
                texts = _parsed(block, dict.fromkeys(columns, pa.string())).column(name)
            array, is_bad = column.without_overflow(array, texts, infinite, is_bad)
        if is_bad is not None and is_bad.any():
            bad += [(name, row, texts[row].as_py()) for row in np.flatnonzero(is_bad).tolist()]
        attributes[name] = array
    parts = {ours: given.column(theirs) for ours, theirs in called.items()}
    return _Cells(parts, attributes, sorted(bad, key=lambda cell: cell[1]))


def _are_ticks(ours: str, column: CsvColumn, times: TimeReading) -> bool:
    """Whether the cells of a part of events can be read as integers: all are, and they mean the same as times."""
    return ours in ("time", "end") and column.direct == pa.int64() and times.format is None


def _changed(table: EventTable) -> InputError:
    return InputError(f"{table.name} has changed while it was read. Try: again, once it is complete")


def _header(name: str, blocks: CsvBlocks) -> list[str]:
    first = blocks.header()
    if first is None and blocks.failure:
        raise InputError(blocks.failure)
    if first is None:
        raise InputError(f"{name} needs a first line with the names of the columns. Try: type,time,… there")
    try:
        (names,) = csv.reader(io.StringIO(first.decode(), newline=""))
    except (UnicodeDecodeError, csv.Error, ValueError) as error:
        raise InputError(f"{name}:1: the names of the columns can't be read: {error}") from None
    if "" in names:
        raise InputError(f"{name}:1: column {names.index('') + 1} has no name. Try: a name, or leave it out")
    other = next((sign for sign in ";\t|" if len(names) == 1 and sign in names[0]), None)
    if other is not None:
        raise InputError(
            f"{name}:1: cells are separated by commas, and these are by {other!r}. Try: commas in the file"
        )
    return names


def _parsed(block: CsvBlock, types: Mapping[str, Any]) -> Any:
    """A block as columns of these types; an empty cell is null."""
    from pyarrow import csv as arrow  # heavy

    names = list(types)
    table = arrow.read_csv(
        pa.BufferReader(block.text),
        read_options=arrow.ReadOptions(use_threads=False, block_size=len(block.text) + 1, column_names=names),
        parse_options=arrow.ParseOptions(newlines_in_values=True),
        convert_options=arrow.ConvertOptions(
            check_utf8=False,  # the block is
            column_types=types,
            null_values=[""],
            strings_can_be_null=True,
        ),
    )
    assert table.num_rows == len(block.lines), "a record is a row"
    columns = [table.column(name).combine_chunks() for name in names]
    return pa.record_batch(columns, names=names)
