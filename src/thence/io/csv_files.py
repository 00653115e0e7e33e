"""CSV files of typed events, read in blocks of whole records."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from thence.columns.batches import ColumnBatch, RowPositions
from thence.errors import InputError
from thence.io.csv_records import find_records
from thence.io.event_tables import EventTable
from thence.io.gunzip import READ_FAILURES, open_input
from thence.io.table_columns import event_columns
from thence.io.table_layout import EventColumns, TableLayout
from thence.rdf.documents import BOM
from thence.rdf.events import DEFAULT_NAMESPACE, BadEvent
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
    failure: str = ""  # why the stream could not be read to its end
    _torn: bytes = b""  # the line at which it failed
    _line: int = 1
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
                self._line += line + first.count(b"\n") + 1
                return first
            if self._ended or self._too_long():
                return None
            self._read()

    def __iter__(self) -> Iterator[CsvBlock | BadRecord]:
        while True:
            data = self._rest
            records, taken, lines = find_records(np.frombuffer(data, np.uint8), final=self._ended)
            too_long = np.flatnonzero(records[:, 1] - records[:, 0] > self.limits.event_bytes)
            if len(too_long):
                taken, _, lines, _ = records[too_long[0]].tolist()
                records = records[: too_long[0]]
            if len(records):
                yield from self._judged(data, records)
            self._line += lines
            self._rest = data[taken:]
            if self._rest and (self._ended or self._too_long()):
                yield self._skipped()
            elif not self._ended:
                self._read()
            elif not self._rest:
                break
        if self.failure:
            yield BadRecord(self._line, self.failure, self._torn[:_SHOWN].decode("utf-8", "replace"))

    def _read(self) -> None:
        """Read a block more. Of a stream that fails then, the last line is torn."""
        try:
            block = self.stream.read(_BLOCK)
        except READ_FAILURES as error:
            whole = max(self._rest.rfind(b"\n"), self._rest.rfind(b"\r")) + 1
            self._rest, self._torn = self._rest[:whole], self._rest[whole:]
            self.failure, block = str(error) or type(error).__name__, b""
        self._ended = not block
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
        self._line += 1
        return BadRecord(self._line - 1, reason, shown.decode("utf-8", "replace"))

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
            yield CsvBlock(text, self._line + good[:, 2])
        yield from sorted(flaws, key=lambda flaw: flaw.line)

    def _wrong_length(self, cells: int) -> str:
        return f"{cells:,} cells, where the first line has {self.cells:,}"

    def _flaw(self, data: bytes, record: list[int], reason: str) -> BadRecord:
        start, stop, line, _ = record
        return BadRecord(self._line + line, reason, data[start : min(stop, start + _SHOWN)].decode("utf-8", "replace"))


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True


# CSV files of typed events. A column is of integers, decimals, booleans or text by all of its values: so a file is
# read twice, once to see what they are.

_LIMITS = Limits()
_MOST_DIGITS = 3000  # as in JSON
_IN_64_BITS, _IN_128_BITS = 18, 38  # digits that surely fit

# a leading zero marks a code; a number would lose it
_INTEGER = r"^-?(0|[1-9][0-9]*)$"
_DECIMAL = r"^-?((0|[1-9][0-9]*)(\.[0-9]+)?|\.[0-9]+)$"
_BOOLEAN = r"^(?i:true|false)$"


_LAYOUT = TableLayout()


def read_csv(
    path: str | os.PathLike[str],
    *,
    stream: str = "stream",
    limits: Limits = _LIMITS,
    namespace: str = DEFAULT_NAMESPACE,
    layout: TableLayout = _LAYOUT,
) -> Iterator[ColumnBatch | BadEvent]:
    """The events of a file in batches, in the file's order, and its bad records; constant memory."""
    name = os.fspath(path)
    names, columns, contents = _seen(name, layout, limits)
    reads = {each: content.reader() for each, content in contents.items()}
    table = EventTable(name, stream, namespace, limits, columns, layout.in_text, reads)
    with open_input(path, limits=limits) as file:
        yield from _events(table, names, contents, CsvBlocks(file, limits))


def csv_schema(path: str | os.PathLike[str], *, layout: TableLayout = _LAYOUT, limits: Limits = _LIMITS) -> Any:
    """The columns of a file with the type of each by all of its values: null, if it has none. The whole file is
    read."""
    names, _, contents = _seen(os.fspath(path), layout, limits)
    return pa.schema([(each, contents[each].arrow_type() if each in contents else pa.string()) for each in names])


def csv_header(path: str | os.PathLike[str], *, limits: Limits = _LIMITS) -> Any:
    """The columns of a file, all as text."""
    with open_input(path, limits=limits) as file:
        names = _header(os.fspath(path), CsvBlocks(file, limits))
    return pa.schema([(each, pa.string()) for each in names])


def _seen(name: str, layout: TableLayout, limits: Limits) -> tuple[list[str], EventColumns, dict[str, _Contents]]:
    """The columns of a file, what they are, and what those that are attributes may be."""
    with open_input(name, limits=limits) as file:
        blocks = CsvBlocks(file, limits)
        names = _header(name, blocks)
        columns = event_columns(layout, name, pa.schema([(each, pa.string()) for each in names]), rdf=False)
        contents = {each: _Contents() for each in columns.attributes}
        for found in blocks:
            if isinstance(found, CsvBlock):
                record = _parsed(found, names)
                for each, content in contents.items():
                    content.see(record.column(each))
    return names, columns, contents


def _events(
    table: EventTable, names: list[str], contents: dict[str, _Contents], blocks: CsvBlocks
) -> Iterator[ColumnBatch | BadEvent]:
    if _header(table.name, blocks) != names:
        raise _changed(table)
    first = 0
    for found in blocks:
        if isinstance(found, CsvBlock):
            record = _parsed(found, names)
            try:
                typed = {each: content.typed(record.column(each)) for each, content in contents.items()}
            except pa.ArrowInvalid:
                raise _changed(table) from None
            parts = {ours: record.column(theirs) for ours, theirs in table.columns.parts.items()}
            yield from table.read(parts, typed, RowPositions(first, record.num_rows, lines=found.lines))
            first += record.num_rows
        else:
            yield BadEvent(table.stream, found.line, found.reason, found.text)


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
    return names


def _parsed(block: CsvBlock, names: list[str]) -> Any:
    """A block as columns of text; an empty cell is null."""
    from pyarrow import csv as arrow  # heavy

    table = arrow.read_csv(
        pa.BufferReader(block.text),
        read_options=arrow.ReadOptions(use_threads=False, block_size=len(block.text) + 1, column_names=names),
        parse_options=arrow.ParseOptions(newlines_in_values=True),
        convert_options=arrow.ConvertOptions(
            check_utf8=False,  # the block is
            column_types={name: pa.string() for name in names},
            null_values=[""],
            strings_can_be_null=True,
        ),
    )
    assert table.num_rows == len(block.lines), "a record is a row"
    columns = [table.column(name).combine_chunks() for name in names]
    return pa.record_batch(columns, names=names)


@dataclass(slots=True)
class _Contents:
    """The types that a column may have, by the values seen so far."""

    seen: bool = False
    integer: bool = True
    decimal: bool = True
    boolean: bool = True
    whole: int = 0  # digits before the point, at most
    fraction: int = 0  # and behind it

    def see(self, array: Any) -> None:
        values = array.drop_null()
        if not len(values):
            return
        self.seen = True
        self.integer = self.integer and _all(values, _INTEGER)
        self.decimal = self.decimal and (self.integer or _all(values, _DECIMAL))
        self.boolean = self.boolean and _all(values, _BOOLEAN)
        if self.decimal:
            self._measure(values)

    def _measure(self, values: Any) -> None:
        lengths = pc.binary_length(values).to_numpy(zero_copy_only=False)
        points = pc.find_substring(values, ".").to_numpy(zero_copy_only=False)
        wholes = np.where(points < 0, lengths, points)
        self.whole = max(self.whole, int(wholes.max()))
        self.fraction = max(self.fraction, int((lengths - np.where(points < 0, lengths, points + 1)).max()))
        if self.whole > _MOST_DIGITS or self.fraction > _MOST_DIGITS:
            self.integer = self.decimal = False

    def reader(self) -> Callable[[str], object] | None:
        """The reader of a text column whose texts have a meaning: numbers that Arrow has no type for."""
        if not self.seen or self._type() is not None or not self.decimal:
            return None
        return int if self.integer else Decimal

    def _type(self) -> Any | None:
        """Arrow's type for the values, where it has one that is not text."""
        if self.integer:
            return pa.int64() if self.whole <= _IN_64_BITS else None
        if self.decimal and self.whole + self.fraction <= _IN_128_BITS:
            return pa.decimal128(max(self.whole + self.fraction, 1), self.fraction)
        return pa.bool_() if self.boolean else None

    def arrow_type(self) -> Any:
        """The type that the values have. Numbers of more digits than Arrow knows are numbers all the same."""
        if not self.seen:
            return pa.null()
        if self.integer:
            return pa.int64()
        if self.decimal:
            return self._type() or pa.decimal256(76, min(self.fraction, 75))
        return self._type() or pa.string()

    def typed(self, array: Any) -> Any:
        kind = self._type() if self.seen else None
        if kind is None:
            return array
        if kind != pa.bool_():
            return array.cast(kind)
        return pc.equal(pc.ascii_lower(array), "true")


def _all(values: Any, pattern: str) -> bool:
    return bool(pc.all(pc.match_substring_regex(values, pattern)).as_py())
