"""Tables of typed events: Parquet and CSV give the events that their rows would give one by one."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tables import rows, tables
from thence.rdf.column_batch import ColumnBatch
from thence.rdf.columns import encode
from thence.rdf.events import BadEvent, Event
from thence.rdf.files import read_batches

pytestmark = pytest.mark.numba


def read_parquet(table: pa.Table, **options: Any) -> list[ColumnBatch | BadEvent]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.parquet"
        pq.write_table(table, path)
        return list(read_batches(path, stream="s", **options))


def events(found: list[ColumnBatch | BadEvent]) -> Iterator[Event]:
    for each in found:
        assert isinstance(each, ColumnBatch), each
        yield from each


def one_by_one(table: pa.Table) -> list[Event]:
    """What the rows are as objects; as columns, so that blank nodes have their own names."""
    made = []
    for number, row in enumerate(rows(table), start=1):
        attributes = {name: value for name, value in row.items() if name not in ("time", "end", "id")}
        made.append(Event(row["time"], attributes, row.get("end"), row.get("id") or f"s:{number}"))
    return list(encode(made, stream="s"))


@given(tables())
def test_the_rows_of_a_parquet_file_are_the_events_that_they_would_be_one_by_one(table: pa.Table) -> None:
    assert list(events(read_parquet(table))) == one_by_one(table)


@given(tables(), st.data())
def test_a_batch_of_columns_is_the_same_as_triples_and_in_part(table: pa.Table, data: st.DataObject) -> None:
    (batch,) = read_parquet(table)
    assert isinstance(batch, ColumnBatch)
    assert list(batch.as_events()) == list(batch)
    chosen = np.array(data.draw(st.lists(st.integers(0, len(batch) - 1))), np.int64)
    some = batch.take(chosen)
    assert list(some) == list(some.as_events()) == [batch.event(index) for index in chosen.tolist()]
    assert some.positions.tolist() == chosen.tolist()
    first = data.draw(st.integers(0, len(batch)))
    assert list(batch.take(np.arange(first, len(batch))).take(np.arange(0, len(batch) - first))) == list(batch)[first:]
