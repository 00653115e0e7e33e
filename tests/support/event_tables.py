"""Parquet files of events as batches."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from thence.columns.batches import ColumnBatch
from thence.io.event_files import read_batches
from thence.rdf.events import BadEvent


def read_parquet(table: pa.Table, **options: Any) -> list[ColumnBatch | BadEvent]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.parquet"
        pq.write_table(table, path)
        return list(read_batches(path, stream="s", **options))
