"""SASE+ on Spark: tables of typed events, written and read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
from pyarrow import parquet

from oracle.sase_query import Event
from support.sase_runs import typed
from thence.rdf.documents import Format, serialize

if TYPE_CHECKING:
    pass


SCHEMA = pa.schema({"time": pa.int64(), "end": pa.int64(), "id": pa.string(), "value": pa.string()})


def table_of(chosen: Sequence[Event]) -> pa.Table:
    """Events as RDF, which has attributes of any types."""
    told_as = [serialize(typed(event).triples, Format.N_TRIPLES).decode() for event in chosen]
    listed = [
        {"time": event.start, "end": event.time if event.lasts else None, "id": event.id, "value": value}
        for event, value in zip(chosen, told_as, strict=True)
    ]
    return pa.Table.from_pylist(listed, schema=SCHEMA)


def write(path: Path, table: pa.Table, number: int) -> None:
    path.parent.mkdir(exist_ok=True)
    parquet.write_table(table, path)
    os.utime(path, (1_600_000_000 + number,) * 2)
