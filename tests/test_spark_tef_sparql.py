"""TEF-SPARQL on Spark: the rows and facts of one process, in batch and in streaming with a restart between
micro-batches."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import thence
from test_spark_ep_sparql import finite_frame, told
from test_spark_rsep_ql import SCHEMA, streamed
from test_tef_sparql_engine import EX, HOMES
from test_tef_sparql_examples import EXAMPLES
from thence.io.event_files import read_events

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

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
    assert told(matches) == Counter((row.start, row.end, None, row.match_id, tuple(row.events)) for row in found)


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
