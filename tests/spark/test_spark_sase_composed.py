"""SASE+ queries that feed each other, on Spark: random texts give the rows of the definitions, in batch and in
streaming, stopped in between and shuffled within the lateness."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from oracle.sase import Row
from oracle.sase_composed import answers, columns, written
from oracle.sase_composed_cases import Text, texts
from support.sase_composed import possible
from support.sase_shards import _comparable_cell, _plain
from support.spark_runs import taken
from support.spark_sase import table_of, write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FEW = settings(
    max_examples=min(60, int(os.environ["THENCE_CASES"])) if "THENCE_CASES" in os.environ else 2,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
SCHEMA = "time long, end long, id string, value string"
Comparable = tuple[int, int, tuple[object, ...]]


@FEW
@given(texts(), st.data())
def test_batch_gives_the_rows_of_the_definitions(spark: SparkSession, text: Text, data: st.DataObject) -> None:
    query, names = possible(written(text.queries)), columns(text.queries)
    frames = {
        name: spark.createDataFrame(table_of(data.draw(st.permutations(events)))) for name, events in text.given.items()
    }
    made = query.dataframe(frames, shards=2, terms="struct", problems=True).collect()
    assert Counter(comparable_rows(made, names)) == Counter(
        comparable(row, names) for row in answers(text.queries, text.given)
    )


@FEW
@given(texts(), st.integers(0, 8), st.data())
def test_streaming_gives_the_rows_that_are_certain(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, text: Text, middle: int, data: st.DataObject
) -> None:
    query, names = possible(written(text.queries)), columns(text.queries)
    every = [(name, event) for name, events in text.given.items() for event in events]
    times = [event.time for _, event in every]
    lateness = max(times) - min(times) if data.draw(st.booleans()) else 0
    order = data.draw(st.permutations(every)) if lateness else sorted(every, key=lambda each: each[1].time)
    folder = tmp_path_factory.mktemp("composed")
    found: list[Any] = []
    for number, piece in enumerate((order[:middle], order[middle:])):  # stopped between the two
        frames = {}
        for name in text.given:
            path = folder / name / f"{number}.parquet"
            write(path, table_of([event for stream, event in piece if stream == name]), number)
            frames[name] = spark.readStream.schema(SCHEMA).parquet(str(path.parent))
        made = query.dataframe(frames, shards=2, lateness=lateness, terms="struct", problems=True)
        found += taken(made, folder / "checkpoint")
    now = min(max((event.time for event in events), default=-1) for events in text.given.values()) - lateness
    expected = answers(text.queries, text.given)
    must = Counter(comparable(row, names) for row in expected if row.certain < now)
    may = Counter(comparable(row, names) for row in expected if row.certain <= now)
    assert must <= Counter(comparable_rows(found, names)) <= may


def comparable(row: Row, names: Sequence[str]) -> Comparable:
    cells = dict(row.cells)
    return row.start, row.end, tuple(_plain(cells.get(name)) for name in names)


def comparable_rows(found: Iterable[Any], names: Sequence[str]) -> Iterable[Comparable]:
    for row in found:
        listed = row.asDict(recursive=True)
        assert listed["problem"] is None, listed
        yield listed["start"], listed["end"], tuple(_comparable_cell(listed[name]) for name in names)
