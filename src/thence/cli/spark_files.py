"""A run's event files as DataFrames."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from thence.errors import InputError
from thence.io.event_files import is_parquet
from thence.io.table_layout import ID, TableLayout
from thence.local.inputs import StreamInput, stream_inputs
from thence.rdf.times import Domain
from thence.spark.driver.column_selection import quoted
from thence.spark.driver.pipeline import Settings
from thence.spark.sources.row_positions import BESIDE_ATTRIBUTES, file_rank
from thence.spark.sources.split_reader import SplitReader, domain_of, file_splits

if TYPE_CHECKING:
    from thence.runtime.watermark import TimeDomain

_PATTERN = re.compile(r"[*?\[\]{}\\]")
"""Characters that Spark interprets as a glob pattern."""
_TIMES = {Domain.TICKS: "ticks", Domain.DATETIME: "datetime"}


@dataclass(frozen=True, slots=True)
class StreamFiles:
    """The files of a stream, each with the prefix of generated event ids."""

    stream: str
    labels: Mapping[str, str]
    layout: TableLayout

    @classmethod
    def of(cls, stream: str, paths: Sequence[str], layout: TableLayout) -> StreamFiles:
        """Files, and all files of folders and patterns; an InputError for one that can't be read."""
        found = stream_inputs(stream, list(paths), namespace="", layout=layout)
        for source in found:
            source.check()
        return cls(stream, {_path(source): source.label for source in found}, layout)

    def inputs(self, namespace: str) -> list[StreamInput]:
        """The files as one process reads them."""
        return [StreamInput(label, path, namespace) for path, label in self.labels.items()]

    @property
    def are_tables_of_spark(self) -> bool:
        """Whether Spark itself reads them, and as they are: Parquet files of one schema, of types that it has."""
        if not self.labels or not all(is_parquet(path) and not _PATTERN.search(path) for path in self.labels):
            return False
        from pyarrow import parquet  # heavy

        try:
            schemas = [parquet.read_schema(path) for path in self.labels]
        except (pa.ArrowException, OSError, UnicodeDecodeError):
            return False  # our own reader says what is wrong
        first = schemas[0]
        return (
            all(each.equals(first) for each in schemas) and all(map(_is_spark_s, first.types)) and _apart(first.names)
        )


def _in(path: str) -> list[str]:
    """A file, or the files of a folder."""
    if not os.path.isdir(path):
        return [path]
    names = [name for name in sorted(os.listdir(path)) if not name.startswith((".", "_"))]
    found = [os.path.join(path, name) for name in names]
    if not found:
        raise InputError(f"{path} is an empty folder. Try: --watch, to wait for files")
    return found


def _path(source: StreamInput) -> str:
    assert isinstance(source.value, str)
    return source.value


def _apart(names: Sequence[str]) -> bool:
    return len({name.casefold() for name in names}) == len(names)  # Spark knows no upper and lower case


def _is_spark_s(kind: Any) -> bool:
    """Whether a type of Arrow is the same to Spark: it takes nanoseconds for an error, and an unsigned integer of 64
    bits for a decimal."""
    types = pa.types
    if types.is_timestamp(kind):
        return kind.unit in ("ms", "us")
    plain = types.is_signed_integer(kind) or types.is_boolean(kind) or types.is_string(kind) or types.is_date32(kind)
    return bool(plain or types.is_float32(kind) or types.is_float64(kind) or types.is_decimal128(kind))


@dataclass(frozen=True, slots=True)
class SparkInput:
    """The input of `all_rows`: DataFrames and, for parts of files, how to read them."""

    frames: dict[str, DataFrame] = field(default_factory=dict)
    readers: dict[str, SplitReader] = field(default_factory=dict)


def finite_input(
    spark: SparkSession, files: Sequence[StreamFiles], namespace: str, domains: Mapping[str, Domain]
) -> SparkInput:
    """Files that are read to their end. `domains` are those of the streams whose files have events."""
    found = SparkInput()
    for each in files:
        if each.are_tables_of_spark:
            found.frames[each.stream] = _united(
                [
                    _with_ids(spark.read.parquet(_full(path)), F.lit(label), F.lit(file_rank(number)), each.layout)
                    for number, (path, label) in enumerate(each.labels.items())
                ]
            )
            continue
        parts = tuple(
            part
            for number, (path, label) in enumerate(each.labels.items())
            for part in file_splits(_full(path), label=label, number=number)
        )
        found.readers[each.stream] = SplitReader(parts, namespace, domains.get(each.stream), each.layout)
        rows = max(1, len(parts))  # of an empty DataFrame, Spark would leave out all that follows, and report no counts
        found.frames[each.stream] = spark.range(0, rows, 1, rows)
    return found


def settle_time_domain(domain: TimeDomain, files: Sequence[StreamFiles], namespace: str) -> dict[str, Domain]:
    """Set the query's kind of time from the first events of the streams. InputError if they differ."""
    found = {}
    for each in files:
        kind = domain_of(list(each.labels.items()), namespace=namespace, layout=each.layout)
        if kind is not None:
            domain.begin(each.stream, kind)
            found[each.stream] = kind
    return found


def growing_input(
    spark: SparkSession, streams: Mapping[str, Sequence[str]], namespace: str, settings: Settings, domain: TimeDomain
) -> SparkInput:
    """Files and folders that are read as they grow."""
    return SparkInput(
        {
            name: _united(
                [
                    _Growing(spark, name, settings.layout(name), namespace, domain).frame(
                        path, several=len(paths) > 1, number=number
                    )
                    for number, path in enumerate(paths)
                ]
            )
            for name, paths in streams.items()
        }
    )


@dataclass(frozen=True, slots=True)
class _Growing:
    spark: SparkSession
    stream: str
    layout: TableLayout
    namespace: str
    domain: TimeDomain

    def frame(self, path: str, *, several: bool, number: int) -> DataFrame:
        if not os.path.exists(path):
            raise InputError(f"{path}: no such file or folder")
        label = f"{self.stream}/{os.path.basename(os.path.abspath(path))}" if several else self.stream
        now = _in(path) if not os.path.isdir(path) or _has_files(path) else []
        if any(each.lower().removesuffix(".gz").endswith(".csv") for each in now):
            raise InputError(
                f"{path} has CSV files: the type of a CSV column depends on all of its values, and more may still "
                "come. Try: .parquet or .jsonl; or no --watch and no --checkpoint"
            )
        if now and all(map(is_parquet, now)):
            frame = self.spark.readStream.schema(self.spark.read.parquet(_full(path)).schema).parquet(_full(path))
            name = F.element_at(F.split(F.col("_metadata.file_path"), "/"), -1)
            if not os.path.isdir(path):
                return _with_ids(frame, F.lit(label), F.lit(file_rank(number)), self.layout)
            return _with_ids(
                frame, F.concat(F.lit(f"{label}/"), name), F.concat(F.lit(file_rank(number)), name), self.layout
            )
        if any(map(is_parquet, now)):
            raise InputError(f"{path} mixes Parquet files with others. Try: a folder for each, and --stream for both")
        kind = domain_of([(each, label) for each in now], namespace=self.namespace, layout=self.layout)
        if kind is not None:
            self.domain.begin(self.stream, kind)
        if self.domain.domain is None:
            raise InputError(
                f"{path} has no event yet that shows whether times are ticks or dates. Try: WITHIN in the query; or "
                "start when it has one"
            )
        source = self.spark.readStream.format("thence").option("stream", label).option("namespace", self.namespace)
        source = source.option("rank", str(number + 1)).option("layout", self.layout.as_json())
        return source.option("time", _TIMES[self.domain.domain]).load(_full(path))


def _has_files(path: str) -> bool:
    return any(not name.startswith((".", "_")) for name in os.listdir(path))


def _united(frames: Sequence[DataFrame]) -> DataFrame:
    return reduce(DataFrame.unionByName, frames)


def _with_ids(frame: DataFrame, label: Any, rank: Any, layout: TableLayout) -> DataFrame:
    """A table of a file whose rows have ids: their own, or what is before their number in the file. `rank` orders the
    files of the stream."""
    line = F.col("_metadata.row_index")
    frame = frame.withColumn(BESIDE_ATTRIBUTES, F.struct(rank.alias("file"), line.alias("line")))
    number = F.concat(label, F.lit(":"), (F.col("_metadata.row_index") + 1).cast("string"))
    name = layout.columns.get("id", "id")
    if name not in frame.columns:
        return frame.withColumn(ID, number)
    own = F.col(quoted(name)).cast("string")
    return frame.withColumn(ID, F.when(own.isNotNull() & (own != ""), own).otherwise(number))


def _full(path: str) -> str:
    return os.path.abspath(path)
