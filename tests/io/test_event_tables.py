"""Tables of typed events: Parquet and CSV give the events that their rows would give one by one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.event_tables import read_parquet
from support.tables import rows, tables
from thence.columns import shared_dictionary
from thence.columns.batches import ColumnBatch, encode
from thence.errors import InputError, LimitError, ThenceError
from thence.io import event_tables as parquet
from thence.io.event_files import read_batches
from thence.rdf.events import BadEvent, Event
from thence.rdf.limits import Limits

pytestmark = pytest.mark.numba


def events(found: list[ColumnBatch | BadEvent]) -> Iterator[Event]:
    for each in found:
        assert isinstance(each, ColumnBatch), each
        yield from each


def one_by_one(table: pa.Table) -> list[Event]:
    """What the rows are as objects; as columns, so that blank nodes have their own names."""
    made = []
    for number, row in enumerate(rows(table), start=1):
        attributes = {name: value for name, value in row.items() if name != "time"}
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


T = ["T", "T"]


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"type": T, "time": [1, None]}, 'no time: "time" is empty'),
        ({"type": ["T", None], "time": [1, 2]}, 'a typed event needs a "type", which is text'),
        ({"type": ["T", ""], "time": [1, 2]}, 'a typed event needs a "type", which is text'),
        ({"type": T, "time": [1, 2], "end": [None, 1]}, "it ends before it starts"),
        (
            {"type": T, "time": [1, 2], "end": pa.array([None, 1], pa.timestamp("us"))},
            "its start and its end are of different kinds: a tick and a date",
        ),
        (
            {"type": T, "time": pa.array([1000, 1], pa.timestamp("ns"))},
            '"1970-01-01 00:00:00.000000001" is finer than a microsecond',
        ),
        (
            {"type": T, "time": [1, 2], "x": pa.array([None, 1], pa.timestamp("ns"))},
            '"1970-01-01 00:00:00.000000001" is finer than a microsecond',
        ),
        (
            {"type": T, "time": pa.array([1, 2**63], pa.uint64())},
            '"9223372036854775808" is out of range: times have 64 bits',
        ),
        ({"type": T, "time": ["2024-05-06T07:00:00Z", "5"]}, '"5" is not a time. Try: "2024-05-06T07:00:00Z"'),
        (
            {"type": T, "time": [1, 2], "x": pa.array([b"x", b"\xff"], pa.binary()).view(pa.string())},
            'column "x" is not UTF-8',
        ),
    ],
)
def test_a_bad_row_has_its_number_and_reason_and_the_others_are_read(columns: dict[str, Any], reason: str) -> None:
    good, bad = read_parquet(pa.table(columns))
    assert isinstance(good, ColumnBatch) and isinstance(bad, BadEvent)
    assert [event.id for event in good] == ["s:1"]
    assert list(good) == list(good.as_events())
    assert (bad.stream, bad.line, bad.reason) == ("s", 2, reason)
    assert bad.text.startswith("{")


def test_rows_behind_a_bad_one_keep_their_numbers() -> None:
    good, _ = read_parquet(pa.table({"type": ["T"] * 3, "time": [1, None, 3], "x": ["a", "b", None]}))
    assert isinstance(good, ColumnBatch)
    assert ([event.id for event in good], good.positions.tolist()) == (["s:1", "s:3"], [0, 2])


def test_timestamps_without_a_zone_are_utc_and_text_is_iso_8601() -> None:
    moment = datetime(2024, 5, 6, 7, 0, tzinfo=UTC)
    for kind in (
        pa.timestamp("us"),
        pa.timestamp("ns", "America/New_York"),
        pa.timestamp("s"),
        pa.timestamp("ms", "UTC"),
    ):
        naive = moment if kind.tz else moment.replace(tzinfo=None)
        (event,) = events(read_parquet(pa.table({"type": ["T"], "time": pa.array([naive], kind)})))
        assert (event.start, event.domain) == (Event(moment, "").start, Event(moment, "").domain)
    (event,) = events(read_parquet(pa.table({"type": ["T"], "time": ["2024-05-06 09:00+02"]})))
    assert event.start == Event(moment, "").start


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        (
            {"type": ["T"], "x": [1], "ts": [1]},
            'no column is called "time", and an event needs one. Try: columns={"time": "ts"}',
        ),
        ({"type": [1], "time": [1]}, 'column "type" is of type int64. Try: text; or columns={"type": …}, if another'),
        (
            {"type": ["T"], "time": [1.5]},
            'column "time" is of type double. Try: integers, timestamps, or ISO 8601 text; or columns={"time": …}, if',
        ),
        ({"type": ["T"], "time": [1], "id": [1.5]}, 'column "id" is of type double. Try: text, or integers; or col'),
    ],
)
def test_a_table_that_holds_no_events_is_refused_with_its_column(columns: dict[str, Any], reason: str) -> None:
    with pytest.raises(InputError) as caught:
        read_parquet(pa.table(columns))
    assert f"s.parquet: {reason}" in str(caught.value)


def test_a_row_larger_than_an_event_is_bad() -> None:
    table = pa.table({"type": ["T"] * 3, "time": [1, 2, 3], "x": ["a", "b" * 200, "c"]})
    good, bad = read_parquet(table, limits=Limits(event_bytes=150))
    assert isinstance(good, ColumnBatch) and isinstance(bad, BadEvent)
    assert [event.start for event in good] == [1, 3]
    assert (bad.line, bad.reason) == (2, "larger than an event may be: 150 bytes or 100,000 triples")


def test_a_file_that_is_no_parquet_is_refused(tmp_path: Path) -> None:
    whole = tmp_path / "whole.parquet"
    pq.write_table(pa.table({"type": ["T"], "time": [1]}), whole)
    for name, content in (("empty", b""), ("text", b"type,time\nT,1\n"), ("half", whole.read_bytes()[:-20])):
        path = tmp_path / f"{name}.parquet"
        path.write_bytes(content)
        with pytest.raises(InputError, match=f"{name}.parquet is not a Parquet file, or a damaged one: "):
            list(read_batches(path))
    with pytest.raises(InputError, match="no such file"):
        list(read_batches(tmp_path / "none.parquet"))
    (tmp_path / "s.parquet.gz").write_bytes(b"")
    with pytest.raises(InputError, match="the ending is not that of an event file"):
        list(read_batches(tmp_path / "s.parquet.gz"))


def test_damage_in_the_middle_of_a_file_is_told_beside_the_events(tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    table = pa.table({"type": ["T"] * 1000, "time": range(1000), "x": np.random.default_rng(0).random(1000)})
    pq.write_table(table, path, row_group_size=500, compression="zstd")
    content = bytearray(path.read_bytes())
    chunk = pq.read_metadata(path).row_group(1).column(2)
    begin = chunk.dictionary_page_offset or chunk.data_page_offset
    content[begin : begin + chunk.total_compressed_size] = b"\xff" * chunk.total_compressed_size
    path.write_bytes(content)
    found = list(read_batches(path, stream="s"))
    assert isinstance(found[-1], BadEvent)
    assert found[-1].reason.startswith("the file is damaged: ")
    assert found[-1].line == sum(len(each) for each in found[:-1] if isinstance(each, ColumnBatch)) + 1


def test_a_file_that_unpacks_without_end_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    table = pa.table({"type": ["T"] * 200_000, "time": [0] * 200_000, "x": ["x" * 100] * 200_000})
    pq.write_table(table, path, use_dictionary=False, compression="zstd")
    with pytest.raises(LimitError, match="unpacks to more than 200 times its size"):
        list(read_batches(path))


def test_a_column_that_never_repeats_itself_does_not_grow_one_dictionary_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shared_dictionary, "_MANY", 1000)
    monkeypatch.setattr(parquet, "_TOGETHER", 600)
    table = pa.table({"type": ["T"] * 3000, "time": range(3000), "x": [f"x{i}" for i in range(3000)]})
    sizes = []
    for batch in read_parquet(table):
        assert isinstance(batch, ColumnBatch)
        batch.column(batch.predicates[1])
        sizes.append(len(batch.terms))
    assert sizes == [600, 1200, 600, 1200, 600]


def test_whatever_byte_of_a_file_is_wrong_it_is_read_or_told(tmp_path: Path) -> None:
    path = tmp_path / "s.parquet"
    columns = {"type": ["T"] * 300, "time": range(300), "x": [f"x{i % 7}" for i in range(300)]}
    pq.write_table(pa.table(columns), path)
    whole, random = path.read_bytes(), Random(1)
    for _ in range(300):
        content = bytearray(whole)
        content[random.randrange(len(content))] = random.randrange(256)
        path.write_bytes(content)
        with suppress(ThenceError):
            for found in read_batches(path):
                assert isinstance(found, BadEvent) or len(list(found.as_events())) == len(found)
