"""RSEP-QL on Spark: the rows of one process, in batch and in streaming with a restart between micro-batches."""

from __future__ import annotations

import csv
import os
import re
from collections import Counter
from pathlib import Path
from shutil import copy
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

import thence
from oracle.ep_sparql_text import turtle
from oracle.rsep_ql_cases import Case, answer, cases, is_construct
from oracle.rsep_ql_text import text
from oracle.terms import Blank
from support.rsep_ql_files import EXAMPLES
from support.rsep_ql_runs import background_stores, comparable_bindings, spark_row
from support.spark_ep_sparql import comparable
from support.spark_rsep_ql import SCHEMA, streamed
from thence.io.event_files import read_events

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PREFIX = "PREFIX : <http://example.org/>\n"

FIGURE = (
    PREFIX
    + """SELECT ?x ?z
FROM NAMED :S WIN [LND 1] AS :w1
FROM NAMED :S WIN [RANGE 5] AS :w2
REPORT AT 8, 10
EVENT ON :w1 { ?x :p ?y } AS E1
EVENT ON :w2 { ?y :q ?z } AS E2
WHERE { MATCH { E1 SEQ RECENT E2 } }"""
)
AVERAGES = (
    PREFIX
    + """REGISTER ISTREAM :out AS
SELECT ?room (AVG(?t) AS ?average) (COUNT(*) AS ?count)
FROM NAMED WINDOW :w ON :S [RANGE 4 STEP 2]
WHERE { WINDOW :w { ?room :t ?t } } GROUP BY ?room"""
)
WARM = (
    PREFIX
    + """CONSTRUCT { ?room :isWarm true }
FROM NAMED WINDOW :w ON :S [RANGE 4 STEP 2]
WHERE { WINDOW :w { ?room :t ?t FILTER(?t > 20) } }"""
)


SEVERAL = (
    AVERAGES
    + """
ASK FROM NAMED WINDOW :w ON :S [RANGE 4 STEP 2] REPORT ON NON_EMPTY_CONTENT WHERE { WINDOW :w { ?room :t ?t } }
SELECT ?s ?e FROM NAMED WINDOW :w ON :S [RANGE 4 STEP 2] EVENT ON :w { ?room :t 20 } AS A END ?s
EVENT ON :w { ?room :t ?t } AS B START ?e WHERE { MATCH { A SEQ B } FILTER(?e - ?s < 2) }"""
)


def graph(*triples: str) -> str:
    return PREFIX + "".join(f"{triple} .\n" for triple in triples)


FIGURE_EVENTS = [
    (2, graph(":a1 :p :b1")),
    (4, graph(":a2 :p :b2")),
    (6, graph(":b1 :q :c1", ":b2 :q :c2")),
    (8, graph(":b2 :q :c2", ":a3 :p :b3")),
    (10, graph(":b1 :q :c1")),
    (12, graph(":b1 :q :c1")),
]
ROOM_EVENTS = [
    (1, graph(":r1 :t 20")),
    (2, graph(":r2 :t 25", ":r1 :t 22")),
    (3, graph(":r1 :t 30")),
    (5, graph(":r2 :t 10")),
    (9, graph(":r3 :t 21")),
    (14, graph(":r3 :t 19")),
]


@pytest.mark.parametrize(
    ("written", "given_events"),
    [(FIGURE, FIGURE_EVENTS), (AVERAGES, ROOM_EVENTS), (WARM, ROOM_EVENTS), (SEVERAL, ROOM_EVENTS)],
    ids=["figure", "averages", "construct", "several"],
)
@pytest.mark.parametrize("streaming", [False, True], ids=["batch", "streaming"])
def test_spark_gives_the_rows_and_ids_of_one_process(
    spark: SparkSession, tmp_path: Path, written: str, given_events: list[tuple[int, str]], streaming: bool
) -> None:
    query = thence.parse(written)
    rows = [(time, time, f"e{number}", each, "turtle") for number, (time, each) in enumerate(given_events)]
    matches = list(query.match([thence.Event(time, each, id=name) for time, _, name, each, _ in rows]))
    if streaming:  # the last instant stays open, and so does all behind it
        last = given_events[-1][0]
        matches = [each for each in matches if isinstance(each, thence.Match) and each.end < last]
        found = streamed(spark, query, [rows[:2], rows[2:3], rows[3:]], tmp_path)
    else:
        found = query.dataframe(spark.createDataFrame(rows, SCHEMA).repartition(3)).collect()
    if query.constructs:
        expected = Counter((each.end, each.constructed.id) for each in matches)  # type: ignore[union-attr]
        assert expected == Counter((row.time, row.id) for row in found)
    else:
        assert comparable(matches) == Counter(
            (row.start, row.end, row.query if "query" in row else None, row.match_id, tuple(row.events))
            for row in found
        )
    assert matches


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("streaming", [False, True], ids=["batch", "streaming"])
def test_the_examples_have_their_rows_on_spark(spark: SparkSession, tmp_path: Path, name: str, streaming: bool) -> None:
    """Expected files, in batch; in streaming, all but what waits for the last instant."""
    example = EXAMPLES[name]
    query = thence.parse(example.query)
    matches = [each for each in query.match(dict(example.streams), **example.options) if isinstance(each, thence.Match)]
    expected = {each.id for each in matches}
    assert len(matches) == len(example.expected)
    if not streaming:
        frames = {stream: frame_of_file(spark, path) for stream, path in example.streams.items()}
        assert {row.match_id for row in query.dataframe(frames, **example.options).collect()} == expected
        return
    frames = {}
    for stream, path in example.streams.items():
        folder = tmp_path / stream
        folder.mkdir()
        copy(path, folder)
        reader = spark.readStream
        if path.suffix == ".csv":
            frames[stream] = reader.schema(csv_schema(path)).option("header", True).csv(str(folder))
        else:
            frames[stream] = reader.format("thence").load(str(folder))
    found: list[Any] = []
    writer = query.dataframe(frames, **example.options).writeStream
    writer = writer.foreachBatch(lambda some, _: found.extend(some.collect()))
    writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True)
    writer.start().awaitTermination()
    assert {row.match_id for row in found} <= expected
    last = min(max(event.end for event in read_events(path)) for path in example.streams.values())  # type: ignore[union-attr]
    assert {each.id for each in matches if each.times[0] < last} == {row.match_id for row in found}


def frame_of_file(spark: SparkSession, path: Path) -> Any:
    if path.suffix == ".csv":
        return spark.read.schema(csv_schema(path)).option("header", True).csv(str(path))
    return spark.read.format("thence").load(str(path))


def csv_schema(path: Path) -> str:
    """The types of a table's columns: Spark takes `T1` for one o'clock."""
    with path.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))

    def kind(name: str) -> str:
        values = [row[name] for row in rows]
        if name == "time":
            return "timestamp"
        if all(re.fullmatch(r"-?[0-9]+", value) for value in values):
            return "long"
        return "decimal(20,4)" if all(re.fullmatch(r"-?[0-9]+\.?[0-9]*", value) for value in values) else "string"

    return ", ".join(f"`{name}` {kind(name)}" for name in rows[0])


def has_blank_nodes(case: Case) -> bool:
    """Whether an event has one: its label in a DataFrame is another."""
    return any(isinstance(term, Blank) for *_, triples in case.events for each in triples for term in each)


CASES = min(100, int(os.environ["THENCE_CASES"])) if "THENCE_CASES" in os.environ else 4
SETTINGS = settings(max_examples=CASES, suppress_health_check=list(HealthCheck), deadline=None)


@SETTINGS
@given(case=cases())
def test_random_cases_in_batch_are_those_of_the_definitions(spark: SparkSession, case: Case) -> None:
    assume(not is_construct(case) and not has_blank_nodes(case))
    expected = Counter((time, comparable_bindings(bindings)) for time, bindings, _ in answer(case))
    assume(expected)
    query = thence.parse(text(case.query), language="rsep-ql")
    streams = {name: frame_of(spark, case, name) for name in query.streams}
    options = {"policy": case.preset, "report": case.report, "background": background_stores(case)}
    found = query.dataframe(streams, terms="struct", **options).collect()
    rows = Counter(spark_row({**row.asDict(recursive=True), "problem": None}, case.events) for row in found)
    assert rows == expected, text(case.query)


@SETTINGS
@given(case=cases())
def test_random_cases_in_streaming_are_those_of_the_definitions(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, case: Case
) -> None:
    assume(not is_construct(case) and not has_blank_nodes(case) and len({each[0] for each in case.events}) == 1)
    query = thence.parse(text(case.query), language="rsep-ql")
    assume(len(query.streams) == 1)
    order = sorted(case.events, key=lambda each: each[3])
    comparable_rows = [(time, comparable_bindings(bindings)) for time, bindings, _ in answer(case)]
    expected = Counter(row for row in comparable_rows if row[0] < order[-1][3])
    assume(expected)
    rows = [(start, end, name, turtle(triples), "turtle") for _, name, start, end, triples in order]
    options = {"policy": case.preset, "report": case.report, "background": background_stores(case)}
    folder = tmp_path_factory.mktemp("case")
    middle = len(rows) // 2
    found = streamed(spark, query, [rows[:middle], rows[middle:]], folder, terms="struct", **options)
    listed = Counter(spark_row({**row.asDict(recursive=True), "problem": None}, order) for row in found)
    assert listed == expected, text(case.query)


def frame_of(spark: SparkSession, case: Case, stream: str) -> Any:
    own = [each[1:] for each in case.events if each[0] == stream]
    rows = [(start, end, name, turtle(triples), "turtle") for name, start, end, triples in own]
    return spark.createDataFrame(rows, SCHEMA)
