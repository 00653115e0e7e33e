"""TEF-SPARQL on Spark: the rows and facts of one process, in batch and in streaming with a restart between
micro-batches, however many events have one time. `test_shards_tef_sparql` has many more random cases, without Spark."""

from __future__ import annotations

import os
from collections import Counter
from functools import cache
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import thence
from oracle.tef_sparql import GivenEvent
from oracle.tef_sparql_cases import Case, whole
from oracle.tef_sparql_text import text
from support.both_engines import both
from support.comparable_terms import store_of
from support.spark_ep_sparql import comparable, finite_frame
from support.spark_rsep_ql import SCHEMA, streamed
from support.tef_engine import document
from support.tef_sparql_cases import EX, HOMES
from support.tef_sparql_files import EXAMPLES
from support.tef_sparql_shards import (
    by_id,
    cases_with_a_key,
    has_blank_nodes,
    program_of,
    seeded_cases,
    shown,
    stream_of,
)
from support.tef_sparql_shards import comparable as comparable_rows
from thence.interface.operator import Environment
from thence.io.background_data import load_background
from thence.io.event_files import read_events
from thence.match.background import Background
from thence.runtime.watermark import Watermark
from thence.spark.driver.pipeline import Settings, _shards

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LIFE = [
    (1685, "bornIn", "eisenach"),
    (1695, "relocatedTo", "ohrdruf"),
    (1700, "relocatedTo", "lueneburg"),
    (1707, "relocatedTo", "muehlhausen"),
    (1723, "relocatedTo", "leipzig"),
    (1750, "diedIn", "leipzig"),
    (1800, "rememberedIn", "leipzig"),
]
ROWS: list[tuple[int, int, str, str, str]] = [
    (time, time, f"e{time}", f"<{EX}bach> <{EX}{predicate}> <{EX}{place}> .", "turtle")
    for time, predicate, place in LIFE
]
STAYS = HOMES + "SELECT ?place WHERE ?person liveIn ?place[?s, ?_], now() > ?s + 10"


@pytest.mark.parametrize("written", [HOMES, STAYS], ids=["facts", "stays"])
@pytest.mark.parametrize("streaming", [False, True], ids=["batch", "streaming"])
def test_spark_gives_the_rows_and_ids_of_one_process(
    spark: SparkSession, tmp_path: Path, written: str, streaming: bool
) -> None:
    query = thence.parse(written)
    matches: list[Any] = list(query.match([thence.Event(time, graph, id=name) for time, _, name, graph, _ in ROWS]))
    if streaming:
        found = streamed(spark, query, [ROWS[:2], ROWS[2:3], ROWS[3:]], tmp_path)
    else:
        found = query.dataframe(spark.createDataFrame(ROWS, SCHEMA).repartition(3)).collect()
    assert matches
    assert comparable(matches) == Counter((row.start, row.end, None, row.match_id, tuple(row.events)) for row in found)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_have_their_rows_in_batch(spark: SparkSession, name: str) -> None:
    example = EXAMPLES[name]
    query = thence.parse(example.query)
    matches = list(query.match(example.events, background=example.background))
    assert len(matches) == len(example.expected)
    found = query.dataframe(finite_frame(spark, example.events), background=example.background).collect()
    assert Counter(row.match_id for row in found) == Counter(identity(each) for each in matches)


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_examples_have_their_rows_in_streaming(spark: SparkSession, tmp_path: Path, name: str) -> None:
    """Two runs, the second from the checkpoint of the first. A stream has no end: the rows are those that an engine
    gives before it is closed."""
    example = EXAMPLES[name]
    query = thence.parse(example.query)
    engine = query.engine(background=example.background)
    events = [each for each in read_events(example.events) if isinstance(each, thence.Event)]
    expected = Counter(identity(each) for event in events for each in engine.push(event))
    assert expected
    found: list[Any] = []
    folder = tmp_path / "in"
    folder.mkdir()
    for number, half in enumerate(halves(example.events)):
        (folder / f"{number}{example.events.suffix}").write_text(half, encoding="utf-8")
        if example.events.suffix == ".csv":
            schema = finite_frame(spark, example.events).schema
            frame = spark.readStream.schema(schema).option("header", True).csv(str(folder))
        else:
            frame = spark.readStream.format("thence").load(str(folder))
        writer = query.dataframe(frame, background=example.background).writeStream
        writer = writer.foreachBatch(lambda some, _: found.extend(some.collect()))
        writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True)
        writer.start().awaitTermination()
    assert Counter(row.match_id for row in found) == expected


def identity(match: object) -> str:
    assert isinstance(match, thence.Match)
    return match.id


def halves(path: Path) -> tuple[str, str]:
    """A file of events as two, each with the file's beginning: prefixes, or the names of columns."""
    between = "\n" if path.suffix == ".csv" else "\n\n"
    first, *events = path.read_text(encoding="utf-8").rstrip("\n").split(between)
    middle = len(events) // 2
    earlier, later = (between.join([first, *some]) + "\n" for some in (events[:middle], events[middle:]))
    return earlier, later


# Events of one time (C-5, TEF-19)


@cache
def random_cases() -> list[Case]:
    """Some whose rows depend on the order of events of one time, and some that fall apart by key, over one stream."""
    drawn = [*seeded_cases(11, telling=10, others=0), *cases_with_a_key(5, 16)]
    plain = [case for case in drawn if case.program.selects and not has_blank_nodes(case)]
    fitting = [case for case in plain if len(case.program.streams) < 2 and whole(case).rows]
    keyed = [case for case in fitting if program_of(case).shard_key.names]
    others = [case for case in fitting if not program_of(case).shard_key.names]
    return [*others[:3], *keyed[:2]]


def row(event: GivenEvent) -> tuple[int, int, str, str, str]:
    return event.start, event.end, event.id, document(event.triples), "turtle"


def options_of(case: Case) -> dict[str, Any]:
    options: dict[str, Any] = {"terms": "struct", "shards": 3}
    return options | ({"background": store_of(case.background)} if case.background else {})


def rows_of(found: list[Any], case: Case) -> Counter[tuple[object, ...]]:
    return shown([{**each.asDict(recursive=True), "problem": None} for each in found], case.events)


@pytest.mark.parametrize("number", range(5))
def test_random_cases_in_batch_are_those_of_the_definitions(spark: SparkSession, number: int) -> None:
    random = Random(number)
    case = by_id(random_cases()[number], random)
    query = thence.parse(text(case.program), language="tef-sparql")
    frames: dict[str, DataFrame] = {}
    for stream in query.algebra.streams:  # type: ignore[attr-defined]
        own = [row(each) for each in case.events if stream_of(query, each) == stream.name]
        frames[stream.name] = spark.createDataFrame(random.sample(own, len(own)), SCHEMA).repartition(3)
    found = query.dataframe(frames, **options_of(case)).collect()
    assert rows_of(found, case) == comparable_rows(whole(case).rows), text(case.program)


@pytest.mark.parametrize("number", range(5))
def test_random_cases_in_micro_batches_are_those_of_the_definitions(
    spark: SparkSession, tmp_path: Path, number: int
) -> None:
    """TEF-17: those of one time come in different micro-batches, with a restart between them."""
    random = Random(number)
    case = by_id(random_cases()[number], random)
    query = thence.parse(text(case.program), language="tef-sparql")
    events = sorted(random.sample(case.events, len(case.events)), key=lambda each: each.end)
    stream = case.program.streams[0] if case.program.streams else None
    events.append(GivenEvent("last", 99, 99, (), stream))  # so that the watermark passes the others
    cuts = sorted(random.sample(range(1, len(events)), min(2, len(events) - 1)))
    batches = [[row(each) for each in events[low:high]] for low, high in pairwise([0, *cuts, len(events)])]
    found = streamed(spark, query, batches, tmp_path, **options_of(case))
    assert rows_of(found, case) == comparable_rows(whole(case, until=99).rows), text(case.program)


MOVES = HOMES + "SELECT ?person ?place WHERE ?person rings ?_ DURING ?person liveIn ?place"
LINES = [("e9", "bornIn", "a"), ("e5", "relocatedTo", "b"), ("e7", "relocatedTo", "c"), ("e1", "rings", "d")]
GENERATED = "<http://www.w3.org/ns/prov#generatedAtTime>"


def quads(lines: list[tuple[str, str, str]], person: str, time: int) -> str:
    graphs = [(f"<{EX}{person}/{name}>", predicate, target) for name, predicate, target in lines]
    return "".join(
        f"<{EX}{person}> <{EX}{predicate}> <{EX}{target}> {graph} .\n"
        f'{graph} {GENERATED} "{time}"^^<http://www.w3.org/2001/XMLSchema#integer> .\n'
        for graph, predicate, target in graphs
    )


@pytest.fixture
def moves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of files with events of one time, whose ids and times of writing order them otherwise than positions."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "in"
    folder.mkdir()
    for age, (name, lines) in enumerate([("c", LINES[3:]), ("b", LINES[1:3]), ("a", LINES[:1]), ("d", [])]):
        path = folder / f"{name}.nq"
        last = quads([("last", "rests", "a")], "z", 9) if name == "d" else ""
        path.write_text("".join(quads(lines, person, 5) for person in ("q", "p")) + last)
        os.utime(path, ns=(10**15 + age * 10**9,) * 2)
    Path("moves.tefsparql").write_text(MOVES)
    return folder


def test_files_give_the_rows_of_one_process_on_every_path(spark: SparkSession, moves: Path) -> None:
    """The files of a folder by name, then the lines: the one who rings has moved twice."""
    query = thence.parse(MOVES)
    paths = sorted(map(str, moves.iterdir()))
    expected = {each.id: each.bindings["place"].value for each in query.match(paths)}  # type: ignore[union-attr]
    assert list(expected.values()) == [f"{EX}c", f"{EX}c"]
    for given in (str(moves), paths):
        frame = spark.read.format("thence").load(given).repartition(3)
        assert {row.match_id: row.place for row in query.dataframe(frame, shards=2).collect()} == expected
    on_spark, local = both("moves.tefsparql", *(f"--stream={path}" for path in paths), "--format", "csv", "--events")
    assert on_spark.stdout == local.stdout and local.stdout.count(f"{EX}c") == 2


def test_files_that_come_one_by_one_give_the_rows_of_one_process(
    spark: SparkSession, moves: Path, tmp_path: Path
) -> None:
    """A file is a micro-batch, the last one first: events wait until the watermark has passed them."""
    query = thence.parse(MOVES)
    frame = spark.readStream.format("thence").option("files_per_batch", 1).load(str(moves))
    found: list[Any] = []
    writer = query.dataframe(frame).writeStream.foreachBatch(lambda some, _: found.extend(some.collect()))
    writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True)
    writer.start().awaitTermination()
    assert Counter(row.place for row in found) == {f"{EX}c": 2}


def test_a_background_that_makes_an_event_static_leaves_one_shard(spark: SparkSession, tmp_path: Path) -> None:
    """TEF-4: what has no key would be in every shard."""
    query = thence.parse("CONSTRUCT FACT ?x knows ?y WHERE ?x likes ?y")
    (stage,) = query.dataflow().stages
    path = tmp_path / "likes.nt"
    path.write_text(f"<{EX}a> <{EX}likes> <{EX}b> .\n")
    background = Background(load_background(str(path)))
    settings = Settings(Environment(background), Watermark(("S",)), shards=3)
    assert _shards(stage.program, settings, False, spark) == 1
    row = (1, 1, "e", f"<{EX}c> <{EX}likes> <{EX}d> .", "turtle")
    rows = query.dataframe(spark.createDataFrame([row], SCHEMA), background=str(path), shards=3).collect()
    assert [row.fact for row in rows] == [f"<{EX}a> <{EX}knows> <{EX}b> ."]
