"""DataFrames that are plain scans of Parquet files: workers read the files themselves, if Spark and Arrow surely decode
them alike.

Spark's own reading costs little; what costs is the rows' way from Java to Python. So where Spark's plan of a DataFrame
is a scan of Parquet files on a disk and nothing else, what is sent are the numbers of the files' parts. In doubt, rows
are sent: of other plans, of folders whose names are columns, of files in which a column is missing, or of a type that
Arrow might read otherwise.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import types as T
from pyspark.sql.pandas.types import to_arrow_schema

from thence.columns.arrow_values import is_text
from thence.io.table_layout import RowKind
from thence.spark.sources.parquet_splits import RowGroups, ScanReader
from thence.spark.sources.row_decoder import Decoder

_FILES = 1_000
"""Files whose ends are checked before anything is read; of more, that would take seconds."""

_LEAST, _MOST = 4 << 20, 128 << 20
"""Bytes of a part, as Spark has them by default: no more parts than cores, unless they would be very large."""

_SCAN = re.compile(
    r"== Optimized Logical Plan ==\n"
    r"(?:Project \[(?P<columns>[^\n]*)\]\n\+- )?Relation \[[^\n]*\] parquet\n\n"
    r"== Physical Plan ==\n"
    r"(?:[^\n]*\n){0,2}[^\n]*FileScan parquet \[[^\n]*, Location: InMemoryFileIndex\(1 paths\)\[[^\n]*\n*"
)
"""The plan of a scan of one path. Of several paths, Spark reads a file as often as it is named, and does not show how
often."""

_CODECS = frozenset({"UNCOMPRESSED", "SNAPPY", "GZIP", "ZSTD"})


def parquet_scan(frame: DataFrame, whole: Decoder, narrow: Decoder) -> tuple[DataFrame, ScanReader] | None:
    """The numbers of the parts of a DataFrame's files, and how these are read; None where Spark is to send rows."""
    if whole.kind is not RowKind.TYPED or not all(map(_is_plain, frame.schema)) or _are_alike(frame.columns):
        return None
    paths = _paths(frame)
    if not paths or not _is_scan(frame):
        return None
    spark = frame.sparkSession
    found: list[tuple[int, RowGroups]] = []
    for path in paths:
        stretches = _stretches(path, frame.schema)
        if stretches is None:
            return None
        found += stretches
    parts = tuple(task_splits(found, spark.sparkContext.defaultParallelism))
    schema = to_arrow_schema(frame.schema, timezone="UTC")
    numbers = spark.range(0, len(parts), 1, max(1, len(parts)))
    return numbers, ScanReader(parts, schema, whole, narrow)


def _is_plain(column: T.StructField) -> bool:
    """A column of a type that we know, with no more to it: a default, a field's number in the files."""
    return not column.metadata and "." not in column.name and _stored(column.dataType) is not None


def _are_alike(names: Iterable[str]) -> bool:
    lower = [name.lower() for name in names]
    return len(set(lower)) < len(lower)


def _paths(frame: DataFrame) -> list[str]:
    """The files that a DataFrame is made of; none, if they are not on a disk, are very many, or are in folders that
    are named by its columns."""
    found = [urlsplit(each) for each in frame.inputFiles()]
    if len(found) > _FILES or not all(map(_is_on_disk, found)):
        return []
    paths = sorted(unquote(each.path) for each in found)
    columns = {name.lower() for name in frame.columns}
    folders = {folder for path in paths for folder in path.split("/")[:-1] if "=" in folder}
    return [] if any(unquote(folder.partition("=")[0]).lower() in columns for folder in folders) else paths


def _is_on_disk(address: SplitResult) -> bool:
    return address.scheme == "file" and not (address.netloc or address.query or address.fragment)


def _is_scan(frame: DataFrame) -> bool:
    """Whether Spark would do nothing but read files."""
    plan = frame.sparkSession.sql("EXPLAIN EXTENDED SELECT * FROM {frame}", frame=frame).collect()[0][0]
    found = _SCAN.search(plan)
    if found is None or found.end() < len(plan):
        return False
    columns = found["columns"] or ""  # of these some may be something else, or not be shown
    return " AS " not in columns and " more fields" not in columns


# The content of the files


@dataclass(frozen=True, slots=True)
class _StoredType:
    """The form of a column in a file that Arrow and Spark read alike: the bytes, what they mean, and
    what Arrow takes them for."""

    physical: tuple[str, ...]
    logical: tuple[str, ...]
    arrow: Callable[[Any], bool]
    parameters: Mapping[str, object] = field(default_factory=dict)  # of the logical type
    dates_from: int | None = None  # before which it is a matter of settings what is meant


def _is(kind: Any) -> Callable[[Any], bool]:
    return lambda found: bool(found == kind)


def _is_moment(found: Any) -> bool:
    return bool(pa.types.is_timestamp(found) and found.unit == "us")


def _is_any_text(found: Any) -> bool:
    return is_text(found.value_type if pa.types.is_dictionary(found) else found)


_LONG = 18  # digits of a decimal, of which Spark makes another hash if it has more
_1900 = -25_567  # days
_MICROSECONDS = {"timeUnit": "microseconds", "is_from_converted_type": False}
_KNOWN: Mapping[T.DataType, _StoredType] = {
    T.BooleanType(): _StoredType(("BOOLEAN",), ("NONE",), _is(pa.bool_())),
    T.ByteType(): _StoredType(("INT32",), ("INT",), _is(pa.int8())),
    T.ShortType(): _StoredType(("INT32",), ("INT",), _is(pa.int16())),
    T.IntegerType(): _StoredType(("INT32",), ("NONE", "INT"), _is(pa.int32())),
    T.LongType(): _StoredType(("INT64",), ("NONE", "INT"), _is(pa.int64())),
    T.FloatType(): _StoredType(("FLOAT",), ("NONE",), _is(pa.float32())),
    T.DoubleType(): _StoredType(("DOUBLE",), ("NONE",), _is(pa.float64())),
    T.StringType(): _StoredType(("BYTE_ARRAY",), ("STRING",), _is_any_text),
    T.DateType(): _StoredType(("INT32",), ("DATE",), _is(pa.date32()), dates_from=_1900),
    T.TimestampType(): _StoredType(
        ("INT64",), ("TIMESTAMP",), _is_moment, _MICROSECONDS | {"isAdjustedToUTC": True}, _1900 * 86_400_000_000
    ),
    T.TimestampNTZType(): _StoredType(
        ("INT64",), ("TIMESTAMP",), _is_moment, _MICROSECONDS | {"isAdjustedToUTC": False}, _1900 * 86_400_000_000
    ),
}


def _stored(kind: T.DataType) -> _StoredType | None:
    """The required form of a column of a Spark type in a file."""
    if isinstance(kind, T.DecimalType) and kind.precision <= _LONG:
        parameters = {"precision": kind.precision, "scale": kind.scale}
        numbers = ("INT32", "INT64", "FIXED_LEN_BYTE_ARRAY")
        return _StoredType(numbers, ("DECIMAL",), _is(pa.decimal128(kind.precision, kind.scale)), parameters)
    return _KNOWN.get(kind)


def _stretches(path: str, schema: T.StructType) -> Iterator[tuple[int, RowGroups]] | None:
    """The row groups of a file, each with its size; None if it has other columns, or is to be read by Spark."""
    from pyarrow import parquet  # heavy

    try:
        status = os.stat(path)
        with parquet.ParquetFile(path) as file:
            if not all(_is_stored(file, column) for column in schema):
                return None
            groups = [file.metadata.row_group(number).total_byte_size for number in range(file.num_row_groups)]
    except (OSError, ValueError, pa.ArrowException):  # Spark reports what is wrong
        return None
    return (
        (size, RowGroups(path, status.st_size, status.st_mtime_ns, (number,))) for number, size in enumerate(groups)
    )


def _is_stored(file: Any, column: T.StructField) -> bool:
    """Whether a file has a column as we know it."""
    stored = _stored(column.dataType)
    alike = [number for number, name in enumerate(file.schema.names) if name.lower() == column.name.lower()]
    if stored is None or len(alike) != 1:
        return False
    number = alike[0]
    found = file.schema.column(number)
    if found.path != column.name or found.max_repetition_level or found.max_definition_level > 1:
        return False
    logical = json.loads(found.logical_type.to_json())
    return (
        found.physical_type in stored.physical
        and found.logical_type.type in stored.logical
        and all(logical.get(name) == value for name, value in stored.parameters.items())
        and stored.arrow(file.schema_arrow.field(column.name).type)
        and all(_is_readable(group.column(number), stored.dates_from) for group in _groups(file))
    )


def _groups(file: Any) -> Iterator[Any]:
    return (file.metadata.row_group(number) for number in range(file.num_row_groups))


def _is_readable(column: Any, dates_from: int | None) -> bool:
    """Whether a column of a row group has a supported codec and no date before `dates_from`."""
    if column.compression not in _CODECS:
        return False
    statistics = column.statistics
    return dates_from is None or (
        statistics is not None and statistics.has_min_max and statistics.min_raw >= dates_from
    )


def task_splits(stretches: Sequence[tuple[int, RowGroups]], cores: int) -> Iterator[tuple[RowGroups, ...]]:
    """Row groups put together, one behind the other, until there is enough for a task."""
    enough = min(max(sum(size for size, _ in stretches) / cores, _LEAST), _MOST)
    part, so_far = list[RowGroups](), 0.0
    for size, stretch in stretches:
        if part and so_far + size / 2 > enough:
            yield tuple(part)
            part, so_far = [], 0.0
        if part and part[-1].path == stretch.path:
            stretch = replace(stretch, groups=(*part.pop().groups, *stretch.groups))
        part.append(stretch)
        so_far += size
    if part:
        yield tuple(part)
