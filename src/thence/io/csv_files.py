"""CSV files of typed events. A column is of integers, decimals, booleans or text by all of its values: so a file is
read twice, once to see what they are."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thence.columns.column_batch import ColumnBatch, RowPositions
from thence.errors import InputError
from thence.io.csv_blocks import CsvBlock, CsvBlocks
from thence.io.event_tables import OWN_COLUMNS, EventTable
from thence.io.gunzip import open_input
from thence.rdf.events import BadEvent
from thence.rdf.limits import Limits
from thence.rdf.typed_events import DEFAULT_NAMESPACE

_LIMITS = Limits()
_MOST_DIGITS = 3000  # as in JSON
_IN_64_BITS, _IN_128_BITS = 18, 38  # digits that surely fit

# a zero in front is no number's, but a code's: it would be lost
_INTEGER = r"^-?(0|[1-9][0-9]*)$"
_DECIMAL = r"^-?((0|[1-9][0-9]*)(\.[0-9]+)?|\.[0-9]+)$"
_BOOLEAN = r"^(?i:true|false)$"


def read_csv(
    path: str | os.PathLike[str],
    *,
    stream: str = "stream",
    limits: Limits = _LIMITS,
    namespace: str = DEFAULT_NAMESPACE,
) -> Iterator[ColumnBatch | BadEvent]:
    """The events of a file in batches, in the file's order, and the records that are none; constant memory."""
    name = os.fspath(path)
    names, contents = _seen(EventTable(name, stream, namespace, limits))
    reads = {each: content.reader() for each, content in contents.items()}
    table = EventTable(name, stream, namespace, limits, integers_in_text=True, reads=reads)
    with open_input(path, limits=limits) as file:
        yield from _events(table, names, contents, CsvBlocks(file, limits))


def csv_types(path: str | os.PathLike[str], *, limits: Limits = _LIMITS) -> dict[str, Any]:
    """The type of each column by all of its values: null, if it has none. The whole file is read."""
    name = os.fspath(path)
    names, contents = _seen(EventTable(name, name, DEFAULT_NAMESPACE, limits))
    return {each: contents[each].arrow_type() if each in contents else pa.string() for each in names}


def _seen(table: EventTable) -> tuple[list[str], dict[str, _Contents]]:
    """The columns of a file, and what those that are attributes may be."""
    with open_input(table.name, limits=table.limits) as file:
        blocks = CsvBlocks(file, table.limits)
        names = _header(table.name, blocks)
        table.check(pa.schema([(each, pa.string()) for each in names]))
        contents = {each: _Contents() for each in names if each not in OWN_COLUMNS}
        for found in blocks:
            if isinstance(found, CsvBlock):
                record = _parsed(found, names)
                for each, content in contents.items():
                    content.see(record.column(each))
    return names, contents


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
                columns = [contents[n].typed(record.column(n)) if n in contents else record.column(n) for n in names]
            except pa.ArrowInvalid:
                raise _changed(table) from None
            typed = pa.record_batch(columns, names=names)
            yield from table.read(typed, RowPositions(first, typed.num_rows, lines=found.lines))
            first += typed.num_rows
        else:
            yield BadEvent(table.stream, found.line, found.reason, found.text)


def _changed(table: EventTable) -> InputError:
    return InputError(f"{table.name} was written to while it was read. Try: again, once it is whole")


def _header(name: str, blocks: CsvBlocks) -> list[str]:
    first = blocks.header()
    if first is None and blocks.failure:
        raise InputError(blocks.failure)
    if first is None:
        raise InputError(f"{name} has no first line with the names of the columns. Try: type,time,… there")
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
    """What a column may be, by the values seen so far."""

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
        """What a text means that stays one: a number that Arrow has no type for."""
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
