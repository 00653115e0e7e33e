"""Parquet files of typed events, some ten thousand rows at a time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from thence.errors import InputError, LimitError
from thence.rdf.arrow_values import is_text
from thence.rdf.column_batch import ColumnBatch, Places
from thence.rdf.events import BadEvent
from thence.rdf.limits import Limits
from thence.rdf.tabular import Table
from thence.rdf.typed import DEFAULT_NAMESPACE

_TOGETHER = 65_536
_LIMITS = Limits()


def read_parquet(
    path: str | os.PathLike[str],
    *,
    stream: str = "stream",
    limits: Limits = _LIMITS,
    namespace: str = DEFAULT_NAMESPACE,
) -> Iterator[ColumnBatch | BadEvent]:
    """The events of a file in batches, in the file's order, and the rows that are none; constant memory."""
    name = os.fspath(path)
    file = _opened(name, limits)
    table = Table(name, stream, namespace, limits)
    table.check(file.schema_arrow)
    first = 0
    try:
        for record in file.iter_batches(batch_size=_TOGETHER, use_threads=False):
            yield from table.read(record, Places(first, record.num_rows))
            first += record.num_rows
    except (pa.ArrowException, OSError) as error:
        yield BadEvent(stream, first + 1, f"the file is damaged: {_reason(error)}", "")
    finally:
        file.close()


def _opened(name: str, limits: Limits) -> Any:
    """The file, which may not grow without end; texts are read as dictionaries, so that a long one that stands in many
    rows is kept once."""
    from pyarrow import parquet  # heavy

    try:
        schema = parquet.read_schema(name)
        texts = [column.name for column in schema if is_text(column.type)]
        file = parquet.ParquetFile(name, read_dictionary=texts)
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:  # the last by a column's name
        raise InputError(f"{name} is no Parquet file, or a damaged one: {_reason(error)}") from None
    unpacked = sum(file.metadata.row_group(number).total_byte_size for number in range(file.metadata.num_row_groups))
    if unpacked > limits.event_bytes and unpacked > os.path.getsize(name) * limits.gunzip_ratio:
        file.close()
        raise LimitError(f"{name} unpacks to more than {limits.gunzip_ratio} times its size, which no honest file does")
    return file


def _reason(error: Exception) -> str:
    return str(error).split("\n")[0].rstrip(".")[:200]
