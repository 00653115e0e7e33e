"""`spark.read.format("thence")` and `spark.readStream.format("thence")`: event files and folders as DataFrames."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Iterator
from typing import Any

from pyspark.sql.datasource import DataSource, DataSourceReader, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadLimit, ReadMaxFiles, SupportsTriggerAvailableNow
from pyspark.sql.types import DataType, LongType, StringType, StructField, StructType, TimestampType

from thence.errors import InputError
from thence.rdf.limits import Limits
from thence.rdf.times import Domain
from thence.spark.sources.event_rows import split_rows
from thence.spark.sources.file_splits import FileSplit, first_domain, split_file
from thence.spark.sources.source_options import SourceFile, SourceOptions

_LIMITS = Limits()
_TIMES: dict[Domain, DataType] = {Domain.TICKS: LongType(), Domain.DATETIME: TimestampType()}


class EventSource(DataSource):
    """Event files (`.nq`, `.trig`, `.jsonl`, also gzipped) as rows of `time`, `end`, `id`, `value`: an event's graph is
    an N-Triples document. `position` is the file and the line, which order events of one time. What is no event is a
    row with `bad` alone.

    Options: `stream` (what ids of events without one begin with), `time` (`ticks` or `datetime`; else the first event
    tells), `namespace` (of the names in typed events), `split` (bytes of a large file that are read at a time),
    `files_per_batch` (new files that a micro-batch takes at most), `rank` (the number of these paths among those of
    other sources that are the same stream).
    """

    @classmethod
    def name(cls) -> str:
        return "thence"

    def schema(self) -> StructType:
        options = SourceOptions.of(self.options)
        return schema_of(options.time or _told(options))

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


def _told(options: SourceOptions) -> Domain:
    """What the times are, by the first event that is there."""
    for file in options.files():
        found = first_domain(file.path, limits=_LIMITS)
        if found is not None:
            return found
    raise InputError(
        f"{', '.join(options.paths)[:200]}: there is no event yet that shows what the times are. "
        'Try: option("time", "ticks") or option("time", "datetime")'
    )


class _TaskSplits(InputPartition):
    """What one task reads."""

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
    return split_rows(partition.part, domain, namespace=options.namespace, limits=_LIMITS)


class _StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """New files, each taken once.

    An offset has the names of all files that were taken and are still there. A mark of time would be shorter, but would
    pass over a file that is moved in with an older time, and read one twice that is touched. So an offset is as long as
    the folder's list of files, packed; files that are removed from the folder, once they were read, are forgotten.
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
                raise InputError(f"{path} was taken, and is gone before it was read. Try: put it back")
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
