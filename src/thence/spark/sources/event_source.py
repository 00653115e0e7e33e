"""`spark.read.format("thence")` and `spark.readStream.format("thence")`: event files and folders as DataFrames, and
their options."""

from __future__ import annotations

import base64
import glob
import json
import os
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxFiles, SupportsTriggerAvailableNow
from pyspark.sql.types import DataType, LongType, StringType, StructField, StructType, TimestampType

from thence.columns.batches import EventBatch
from thence.columns.dictionary import Terms
from thence.errors import InputError
from thence.io.table_layout import TableLayout
from thence.rdf.events import DEFAULT_NAMESPACE, BadEvent
from thence.rdf.limits import Limits
from thence.rdf.times import Domain
from thence.spark.sources.file_splits import FileSplit, ending, first_domain, read_split, split_file
from thence.spark.sources.row_positions import COLUMN, POSITION, file_rank

if TYPE_CHECKING:
    from thence.rdf.limits import Limits


# Events from files as rows of a DataFrame: `time`, `end`, `id`, `value`, `position`, and `bad` for a bad event.


_BAD = pa.struct([("file", pa.string()), ("line", pa.int64()), ("reason", pa.string()), ("text", pa.string())])
_LAYOUT = TableLayout()
_TOGETHER = 1000  # bad events that become one record batch
_A_TIME = {Domain.TICKS: "a tick", Domain.DATETIME: "a date"}
_TIME_FIELDS = {Domain.TICKS: "ticks", Domain.DATETIME: "dates"}


def arrow_schema(domain: Domain) -> Any:
    """The columns of rows whose times are of a domain. A point in time has no `end`; a bad event has only `bad`:
    the file, the line, the reason and the text. `position` orders events of one time."""
    time = pa.int64() if domain is Domain.TICKS else pa.timestamp("us", "UTC")
    texts = [("id", pa.string()), ("value", pa.string())]
    return pa.schema([("time", time), ("end", time), *texts, (COLUMN, POSITION), ("bad", _BAD)])


def split_rows(
    part: FileSplit, domain: Domain, *, namespace: str, limits: Limits, layout: TableLayout = _LAYOUT
) -> Iterator[Any]:
    """The rows of a part of a file, as record batches."""
    bad: list[BadEvent] = []
    for found in read_split(part, namespace=namespace, limits=limits, layout=layout):
        if isinstance(found, BadEvent):
            bad.append(found)
        else:
            batch = found.as_events()
            fits = batch.domains == domain.value
            if not fits.all():
                bad += _of_another_time(batch.take(np.flatnonzero(~fits)), part.stream, domain)
                batch = batch.take(np.flatnonzero(fits))
            if len(batch):
                yield _events(batch, part.rank, domain)
        if len(bad) >= _TOGETHER:
            yield _bad(bad, part.path, domain)
            bad = []
    if bad:
        yield _bad(bad, part.path, domain)


def _events(batch: EventBatch, rank: str, domain: Domain) -> Any:
    schema = arrow_schema(domain)
    ends = pa.array(batch.ends, mask=batch.ends == batch.starts)
    return pa.RecordBatch.from_arrays(
        [
            pa.array(batch.starts).cast(schema.field("time").type),
            ends.cast(schema.field("end").type),
            _ids(batch),
            graph_texts(batch),
            _positions(batch, rank),
            pa.nulls(len(batch), _BAD),
        ],
        schema=schema,
    )


def _positions(batch: EventBatch, rank: str) -> Any:
    files = pa.repeat(pa.scalar(_encodable(rank), pa.string()), len(batch))
    return pa.StructArray.from_arrays([files, pa.array(batch.positions, pa.int64())], fields=list(POSITION))


def _bad(events: Sequence[BadEvent], file: str, domain: Domain) -> Any:
    schema = arrow_schema(domain)
    rows = [(_encodable(file), event.line, _encodable(event.reason), _encodable(event.text)) for event in events]
    columns = [pa.nulls(len(events), field.type) for field in schema if field.name != "bad"]
    return pa.RecordBatch.from_arrays([*columns, pa.array(rows, _BAD)], schema=schema)


def _of_another_time(batch: EventBatch, stream: str, domain: Domain) -> Iterator[BadEvent]:
    """Events whose kind of time differs from the column's, as bad events."""
    for index, text in enumerate(graph_texts(batch).to_pylist()):
        other = _A_TIME[Domain(int(batch.domains[index]))]
        reason = f"its time is {other}, but times in this DataFrame are {_TIME_FIELDS[domain]}"
        yield BadEvent(stream, 0, reason, f"{batch.id(index)}\n{text}")


def graph_texts(batch: EventBatch) -> Any:
    """The graph of each event as N-Triples, canonical; as an Arrow array of texts."""
    parts = [_texts(batch.terms, column) for column in (batch.subjects, batch.predicates, batch.objects)]
    lines = pc.binary_join_element_wise(*parts, pa.scalar(b".\n", _TEXT), pa.scalar(b" ", _TEXT))
    _, bounds, data = lines.buffers()
    offsets = np.frombuffer(bounds, np.int64)[batch.offsets].astype(np.int32)
    return pa.StringArray.from_buffers(len(batch), pa.py_buffer(offsets), data or pa.py_buffer(b""))


_TEXT = pa.large_binary()


def _texts(terms: Terms, ids: NDArray[np.int32]) -> Any:
    """The canonical N-Triples texts of some terms, as an Arrow array."""
    bounds = np.zeros(len(terms) + 1, np.int64)
    bounds[1:] = terms.ends[: len(terms)]
    known = pa.LargeBinaryArray.from_buffers(_TEXT, len(terms), [None, pa.py_buffer(bounds), pa.py_buffer(terms.text)])
    return known.take(pa.array(ids))


def _ids(batch: EventBatch) -> Any:
    found = _texts(batch.terms, batch.ids)
    if pc.any(pc.match_substring(found, "\\")).as_py():
        return pa.array([batch.id(index) for index in range(len(batch))], pa.string())
    return pc.binary_slice(found, 1, -1).cast(pa.string())  # an IRI or a text, between two signs


def _encodable(text: str) -> str:
    """With what is not a character replaced: names of files may have it."""
    return text.encode("utf-8", "replace").decode()


# The options of `format("thence")`: which files are read (a file, a folder, a glob, a list), and how.

_SPLIT = 64 << 20
_DOMAINS = {"ticks": Domain.TICKS, "datetime": Domain.DATETIME}
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_PATTERN = re.compile(r"[*?\[]")
_KNOWN = ("path", "paths", "stream", "time", "namespace", "split", "files_per_batch", "rank", "layout")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file, and the stream's name in generated event ids."""

    path: str  # absolute: workers may be elsewhere, and a restart, too
    stream: str
    modified: int  # nanoseconds since 1970
    rank: str  # orders files of one stream: by the paths that were given, and in a folder by name


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """The options of a call of `spark.read.format("thence")`."""

    paths: tuple[str, ...]
    stream: str | None = None
    time: Domain | None = None
    namespace: str = DEFAULT_NAMESPACE
    split: int = _SPLIT
    files_per_batch: int | None = None
    rank: int = 0  # of the first path
    layout: TableLayout = field(default_factory=TableLayout)

    @classmethod
    def of(cls, given: Mapping[str, str]) -> SourceOptions:
        """Options as Spark has them: all text, their names in lower case.

        >>> SourceOptions.of({"path": "power.nq", "split": "1000"}).split
        1000
        """
        unknown = next((name for name in given if name.lower() not in _KNOWN), None)
        if unknown is not None:
            raise InputError(f'There is no option "{unknown:.80}". Try: {", ".join(_KNOWN[2:-1])}')
        time = given.get("time")
        if time is not None and time.lower() not in _DOMAINS:
            raise InputError(f'Option time is "{time:.80}". Try: ticks or datetime')
        files = given.get("files_per_batch")
        return cls(
            paths=_paths(given),
            stream=given.get("stream") or None,
            time=_DOMAINS[time.lower()] if time else None,
            namespace=given.get("namespace") or DEFAULT_NAMESPACE,
            split=_positive("split", given.get("split", str(_SPLIT))),
            files_per_batch=None if files is None else _positive("files_per_batch", files),
            rank=_positive("rank", given.get("rank", "1")) - 1,
            layout=TableLayout.from_json(given["layout"]) if "layout" in given else TableLayout(),
        )

    def files(self) -> list[SourceFile]:
        """The files that are there now, in the order of paths, and of a folder or a pattern in the order in which they
        were written."""
        several = len(self.paths) > 1
        ranked = enumerate(self.paths, self.rank)
        return [file for rank, path in ranked for file in self._files(path, rank, several)]

    def _files(self, path: str, rank: int, several: bool) -> list[SourceFile]:
        if os.path.isdir(path):
            found = [os.path.join(path, name) for name in sorted(os.listdir(path)) if not name.startswith((".", "_"))]
            folder = next((each for each in found if os.path.isdir(each)), None)
            if folder is not None:
                raise InputError(f'{folder} is a folder in a folder. Try: load("{os.path.join(path, "*", "*")}")')
            return self._listed(found, rank, in_full=several)
        if not os.path.exists(path) and _PATTERN.search(path):
            return self._listed([each for each in sorted(glob.glob(path)) if os.path.isfile(each)], rank, in_full=True)
        if not os.path.exists(path):
            raise InputError(f"{path}: no such file or folder")
        ending(path)
        name = path if several else os.path.basename(path)
        stream = name if self.stream is None else f"{self.stream}/{name}" if several else self.stream
        return [SourceFile(os.path.abspath(path), stream, os.stat(path).st_mtime_ns, file_rank(rank))]

    def _listed(self, paths: list[str], rank: int, *, in_full: bool) -> list[SourceFile]:
        found = []
        for path in paths:
            ending(path)
            name = path if in_full else os.path.basename(path)
            try:
                modified = os.stat(path).st_mtime_ns
            except FileNotFoundError:  # gone since the folder was listed
                continue
            stream = name if self.stream is None else f"{self.stream}/{name}"
            found.append(SourceFile(os.path.abspath(path), stream, modified, file_rank(rank, name)))
        return sorted(found, key=lambda file: (file.modified, file.path))


def _paths(given: Mapping[str, str]) -> tuple[str, ...]:
    listed = [given["path"]] if "path" in given else json.loads(given.get("paths", "[]"))
    if not listed:
        raise InputError('A file is required. Try: load("power.nq"), or a folder, or a list of both')
    return tuple(_local(path) for path in listed)


def _local(path: str) -> str:
    """A path of the file system: `file:` may be before it."""
    if path.startswith("file:"):
        return re.sub(r"^file:(?://[^/]*)?(?=/)", "", path)
    if _SCHEME.match(path) and not os.path.exists(path):
        raise InputError(
            f"{path} is not in a file system of this machine. Try: spark.read.text, and documents made of its "
            "lines in a column value"
        )
    return path


def _positive(name: str, text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", text) or int(text) == 0:
        raise InputError(f'Option {name} is "{text:.80}". Try: a number above 0')
    return int(text)


_LIMITS = Limits()
_TIMES: dict[Domain, DataType] = {Domain.TICKS: LongType(), Domain.DATETIME: TimestampType()}


class EventSource(DataSource):
    """Event files (`.nq`, `.trig`, `.jsonl`, also gzipped) as rows of `time`, `end`, `id`, `value`: an event's graph is
    an N-Triples document. `position` is the file and the line, which order events of one time. A bad event is a
    row with `bad` alone.

    Options: `stream` (what ids of events without one begin with), `time` (`ticks` or `datetime`; else the first event
    decides), `namespace` (of the names in typed events), `split` (bytes of a large file that are read at a time),
    `files_per_batch` (new files that a micro-batch takes at most), `rank` (the number of these paths among those of
    other sources that are the same stream).
    """

    @classmethod
    def name(cls) -> str:
        return "thence"

    def schema(self) -> StructType:
        options = SourceOptions.of(self.options)
        return schema_of(options.time or _first_time_kind(options))

    def reader(self, schema: StructType) -> DataSourceReader:
        return _BatchReader(SourceOptions.of(self.options), _domain(schema))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        return _StreamReader(SourceOptions.of(self.options), _domain(schema))


def schema_of(domain: Domain) -> StructType:
    """The columns of a DataFrame whose times are of a domain."""
    time = _TIMES[domain]
    bad = [("file", StringType()), ("line", LongType()), ("reason", StringType()), ("text", StringType())]
    columns = [
        ("time", time),
        ("end", time),
        ("id", StringType()),
        ("value", StringType()),
        ("position", StructType([StructField("file", StringType()), StructField("line", LongType())])),
        ("bad", StructType([StructField(name, kind) for name, kind in bad])),
    ]
    return StructType([StructField(name, kind) for name, kind in columns])


def _domain(schema: StructType) -> Domain:
    for domain in Domain:
        if schema == schema_of(domain):
            return domain
    raise InputError("Events from files have columns of their own. Try: no schema, and option time=ticks or datetime")


def _first_time_kind(options: SourceOptions) -> Domain:
    """The kind of time of the first event found."""
    for file in options.files():
        found = first_domain(file.path, limits=_LIMITS, layout=options.layout)
        if found is not None:
            return found
    raise InputError(
        f"{', '.join(options.paths)[:200]}: there is no event yet that shows what the times are. "
        'Try: option("time", "ticks") or option("time", "datetime")'
    )


class _TaskSplits(InputPartition):
    """The splits that one task reads."""

    def __init__(self, part: FileSplit) -> None:
        self.part = part


def _stretches(files: Iterable[SourceFile], split: int) -> list[InputPartition]:
    return [_TaskSplits(part) for file in files for part in _splits(file, split)]


def _splits(file: SourceFile, split: int) -> list[FileSplit]:
    return split_file(file.path, stream=file.stream, split=split, rank=file.rank)


class _BatchReader(DataSourceReader):
    def __init__(self, options: SourceOptions, domain: Domain) -> None:
        self._options = options
        self._domain = domain

    def partitions(self) -> list[InputPartition]:
        return _stretches(self._options.files(), self._options.split)

    def read(self, partition: InputPartition) -> Iterator[Any]:
        return _rows(partition, self._options, self._domain)


def _rows(partition: InputPartition, options: SourceOptions, domain: Domain) -> Iterator[Any]:
    if not isinstance(partition, _TaskSplits):  # Spark's own, where there is no file
        return iter(())
    return split_rows(partition.part, domain, namespace=options.namespace, limits=_LIMITS, layout=options.layout)


class _StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """New files, each taken once.

    An offset has the names of all files that were taken and are still there. A mark of time would be shorter, but would
    pass over a file that is moved in with an older time, and read one twice that is touched. So an offset is as long as
    the folder's list of files, packed; files that are removed from the folder, once they were read, are dropped.
    """

    def __init__(self, options: SourceOptions, domain: Domain) -> None:
        self._options = options
        self._domain = domain
        self._available: set[str] | None = None  # the files to end with, if no more shall be taken

    def initialOffset(self) -> dict[str, Any]:
        return {"files": 0, "taken": _packed([])}

    def getDefaultReadLimit(self) -> ReadLimit:
        most = self._options.files_per_batch
        return ReadAllAvailable() if most is None else ReadMaxFiles(most)

    def prepareForTriggerAvailableNow(self) -> None:
        self._available = {file.path for file in self._options.files()}

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        taken = _unpacked(start["taken"])
        there = [file.path for file in self._in_order()]
        known = set(taken)
        new = [path for path in there if path not in known and (self._available is None or path in self._available)]
        if isinstance(limit, ReadMaxFiles):
            new = new[: limit.max_files]
        if not new:
            return start
        remaining = set(there)
        kept = [path for path in taken if path in remaining]
        return {"files": start["files"] + len(new), "taken": _packed(kept + new)}

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        before = set(_unpacked(start["taken"]))
        by_path = {file.path: file for file in self._in_order()}
        new = [path for path in _unpacked(end["taken"]) if path not in before]
        for path in new:
            if path not in by_path:
                raise InputError(f"{path} was listed, but is gone before it was read. Try: put it back")
        return _stretches([by_path[path] for path in new], self._options.split)

    def read(self, partition: InputPartition) -> Iterator[Any]:
        return _rows(partition, self._options, self._domain)

    def _in_order(self) -> list[SourceFile]:
        return sorted(self._options.files(), key=lambda file: (file.modified, file.path))


def _packed(paths: list[str]) -> str:
    return base64.b64encode(zlib.compress(json.dumps(paths).encode())).decode()


def _unpacked(text: str) -> list[str]:
    found: list[str] = json.loads(zlib.decompress(base64.b64decode(text)))
    return found
