"""Splits event files into ranges that workers read; no split cuts an event.

A part of a `.jsonl` file begins at the first line that begins in its range. In a `.nq` file an event is a run of quads
with one owner (`io.event_grouping`): its graph, or the graph whose time a quad in the default graph gives. So a part
begins between two lines that can be read and have different owners, the first such place behind the first whole line of
its range: neither event goes on across it, and nothing that can't be read and may be either's is there. Other files
are one part each.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, cast

import numpy as np

from thence.errors import InputError
from thence.io.event_files import batches
from thence.io.event_grouping import UNKNOWN, owners_of
from thence.io.gunzip import open_input
from thence.io.json_columns import read_json_batches
from thence.io.jsonl import read_json, read_jsonl
from thence.io.nquads import events_of, read_nquads
from thence.io.nquads_lines import SMALL, scan_quads
from thence.io.table_layout import TableLayout
from thence.io.trig import trig_chunks
from thence.rdf.events import BadEvent, Event
from thence.rdf.limits import Limits
from thence.rdf.times import Domain
from thence.spark.sources.row_positions import file_rank

if TYPE_CHECKING:
    from thence.columns.batches import Batch
    from thence.io.csv_files import CsvSplit, CsvTypes

_BLOCK = 1 << 20
_WINDOW = SMALL  # bytes in which an event's beginning is looked for at a time: few, for which nothing is compiled
_HEAD = 1 << 18  # bytes in which a file's first event is looked for at a time
_LAYOUT = TableLayout()
_TABLES = {"parquet": "parquet", "csv": "csv"}


@dataclass(frozen=True, slots=True)
class CsvPart:
    """The types of a CSV file's columns, and the part of it; None is the whole file."""

    types: CsvTypes
    split: CsvSplit | None = None


@dataclass(frozen=True, slots=True)
class FileSplit:
    """A range of a file, which holds whole events. `stream` is the stream's name in generated event ids; `rank` orders
    the files of a stream."""

    path: str
    stream: str
    begin: int = 0
    end: int | None = None  # None: the file's
    first_line: int = 1
    rank: str = file_rank(0)
    csv: CsvPart | None = None


def ending(path: str) -> str:
    """The ending that says what an event file holds; without `.gz`."""
    found = path.lower().removesuffix(".gz").rpartition(".")[2]
    if found in _TABLES:
        raise InputError(
            f"{path} is a table, which Spark reads itself. Try: spark.read.{_TABLES[found]}, whose rows are events as "
            "they are, with columns type and time"
        )
    if found == "ndjson":
        return "jsonl"
    if found not in ("nq", "trig", "jsonl", "json"):
        cure = ".nq, .trig, .jsonl, .ndjson or .json, or these with .gz"
        raise InputError(f"{path}: the ending is not that of an event file. Try: {cure}")
    return found


def split_file(path: str, *, stream: str, split: int, rank: str = file_rank(0)) -> list[FileSplit]:
    """The parts of a file, of about `split` bytes each."""
    kind = ending(path)
    if kind in ("trig", "json") or path.lower().endswith(".gz"):
        open_input(path).close()  # so that a missing file is reported now
        return [FileSplit(path, stream, rank=rank)]
    find = _next_event if kind == "nq" else _next_line
    found = []
    with open_input(path) as file:
        size = os.fstat(file.fileno()).st_size
        begin, line = 0, 1
        while begin < size:
            end = find(file, begin + split, size) if begin + split < size else size
            found.append(FileSplit(path, stream, begin, end, line, rank))
            line += _newlines(file, begin, end) if end < size else 0
            begin = end
    return found


def read_split(
    part: FileSplit, *, namespace: str, limits: Limits, layout: TableLayout = _LAYOUT
) -> Iterator[Batch | BadEvent]:
    """The events of a part in batches, and what could not be read between them."""
    with open_input(part.path, limits=limits) as file:
        source = file if part.end is None else _stretch(file, part.begin, part.end)
        match ending(part.path):
            case "nq":
                yield from read_nquads(source, stream=part.stream, limits=limits, first_line=part.first_line)
            case "trig":
                yield from events_of(
                    trig_chunks(source, stream_name=part.stream, limits=limits), stream=part.stream, limits=limits
                )
            case "json":
                found = read_json(source, stream_name=part.stream, limits=limits, namespace=namespace, layout=layout)
                yield from batches(found, stream=part.stream, first=part.first_line)
            case _:
                yield from read_json_batches(
                    source,
                    stream=part.stream,
                    limits=limits,
                    namespace=namespace,
                    first_line=part.first_line,
                    first=part.first_line,  # a line has one event at most, so that no other part has these positions
                    layout=layout,
                )


def first_domain(path: str, *, limits: Limits, layout: TableLayout = _LAYOUT) -> Domain | None:
    """The kind of time of a file's first event; None if it has no event."""
    with open_input(path, limits=limits) as file:
        match ending(path):
            case "nq":
                found: Iterator[object] = read_nquads(file, limits=limits, chunk=_HEAD)
            case "trig":
                found = events_of(trig_chunks(file, limits=limits), stream="", limits=limits)
            case "json":
                found = read_json(file, limits=limits, layout=layout)
            case _:
                found = read_jsonl(file, limits=limits, layout=layout)
        for each in found:
            match each:
                case BadEvent():
                    continue
                case Event(domain=domain):
                    return domain
                case _:
                    return Domain(int(each.domains[0]))  # type: ignore[attr-defined]
    return None


class _ByteRange(io.RawIOBase):
    """Some bytes of a file."""

    def __init__(self, file: BinaryIO, begin: int, end: int) -> None:
        file.seek(begin)
        self._file = file
        self._left = end - begin

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        data = self._file.read(self._left if size < 0 else min(size, self._left))
        self._left -= len(data)
        return data


def _stretch(file: BinaryIO, begin: int, end: int) -> BinaryIO:
    return cast(BinaryIO, _ByteRange(file, begin, end))


def _newlines(file: BinaryIO, begin: int, end: int) -> int:
    stretch = _stretch(file, begin, end)
    count = 0
    while block := stretch.read(_BLOCK):
        count += int(np.count_nonzero(np.frombuffer(block, np.uint8) == 10))
    return count


def _next_line(file: BinaryIO, position: int, size: int) -> int:
    """The start of the first line at or after a position; the file's size if there is no such line."""
    file.seek(position - 1)
    at = position - 1
    while block := file.read(_WINDOW):
        found = block.find(b"\n")
        if found >= 0:
            return min(at + found + 1, size)
        at += len(block)
    return size


def _next_event(file: BinaryIO, position: int, size: int) -> int:
    """The start of an event after the first line at or after a position; the file's size if there is no such event. It
    takes little memory, however far that is."""
    position = _next_line(file, position, size)
    while position < size:
        file.seek(position)
        data = file.read(min(_WINDOW, size - position))
        cut = len(data) if position + len(data) == size else data.rfind(b"\n") + 1
        if not cut:  # a very long line, which is no neighbour to be judged by
            position = _next_line(file, position + len(data), size)
            continue
        quads = scan_quads(data[:cut])
        owners, _ = owners_of(quads)
        known = owners != UNKNOWN
        begins = np.flatnonzero(known[1:] & known[:-1] & (owners[1:] != owners[:-1])) + 1
        if len(begins):
            return position + int(quads.spans[quads.lines[begins[0]]])
        last = int(quads.spans[quads.lines[-1]]) if len(quads.lines) else 0
        position += last or cut  # its last line once more, beside the next
    return size
