"""A streaming query that is killed goes on from its checkpoint: nothing is lost, and nothing comes twice. Another query
does not. And problems with events are reported, once."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyarrow import parquet

import thence
from support.streaming_driver import QUERY
from thence.spark.session.session import _SETTINGS, _sockets

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

DRIVER = Path(__file__).parents[1] / "support" / "streaming_driver.py"
CHECKPOINTS = "spark.sql.streaming.checkpointFileManagerClass"
MICRO_BATCHES = 8
TIMES_KILLED = 3
SEEDS = range(max(1, min(40, int(os.environ["THENCE_CASES"]) // 200))) if "THENCE_CASES" in os.environ else [0]
PATIENCE = 300  # seconds for what takes ten on a quiet machine


@pytest.mark.minutes
@pytest.mark.parametrize("seed", SEEDS)
def test_killed_at_any_moments_each_match_is_told_once(tmp_path: Path, seed: int) -> None:
    random_numbers = random.Random(seed)
    events = _events(random_numbers)
    _write(events, tmp_path)
    (tmp_path / "out").mkdir()
    as_the_command = {CHECKPOINTS: _SETTINGS[CHECKPOINTS], **_sockets()}
    settings = [] if seed % 2 else [f"{name}={value}" for name, value in as_the_command.items()]  # else Spark's own
    for _ in range(TIMES_KILLED):
        with _running(tmp_path, *settings) as driver:
            wanted = _steps(tmp_path) + random_numbers.randint(1, 6)
            _wait_until(lambda driver=driver, wanted=wanted: _steps(tmp_path) >= wanted or driver.poll() is not None)
            time.sleep(random_numbers.uniform(0, 0.7))
            if driver.poll() is not None:
                break  # it was done before
            os.killpg(driver.pid, signal.SIGKILL)
            assert driver.wait() == -signal.SIGKILL
    with _running(tmp_path, *settings) as driver:
        assert driver.wait(PATIENCE) == 0, (tmp_path / "log").read_text()[-5000:]
    rows = [json.loads(line) for path in tmp_path.glob("out/*.jsonl") for line in path.read_text().splitlines()]
    assert len({row["match_id"] for row in rows}) == len(rows)
    found = sorted((row["start"], row["end"], row["house"], row["events"]) for row in rows)
    assert found == sorted(_matches(events))
    assert len({path.stem for path in tmp_path.glob("out/*.jsonl") if path.stat().st_size}) > 4


Events = dict[str, list[list[dict[str, object]]]]
"""Of each stream, the events of each micro-batch."""


def _events(random_numbers: random.Random) -> Events:
    """Houses' watts, and now and then an alarm; the last are behind all windows, so that all is certain."""
    found: Events = {"S1": [], "S2": []}
    for number in range(MICRO_BATCHES):
        power, alarms = [], []
        for at in range(30 * number, 30 * number + 30):
            for house in random_numbers.sample(range(12), 3):
                watts = random_numbers.choice([100, 150, 220, 330, 500])
                power.append({"time": at, "id": f"p{at}-{house}", "type": "P", "house": house, "watts": watts})
            if random_numbers.random() < 0.3:
                alarms.append({"time": at, "id": f"a{at}", "type": "A", "house": random_numbers.randrange(12)})
        end = 30 * number + 30 if number < MICRO_BATCHES - 1 else 1000
        alarms.append({"time": end, "id": f"a{end}", "type": "A", "house": 99})
        power.append({"time": end, "id": f"p{end}", "type": "P", "house": 99, "watts": 1})
        found["S1"].append(power)
        found["S2"].append(alarms)
    return found


def _write(events: Events, folder: Path) -> None:
    schema = pa.schema(
        [("time", "int64"), ("id", "string"), ("type", "string"), ("house", "int64"), ("watts", "int64")]
    )
    for stream, pieces in events.items():
        (folder / stream).mkdir()
        for number, piece in enumerate(pieces):
            path = folder / stream / f"{number:03}.parquet"
            parquet.write_table(pa.Table.from_pylist(piece, schema=schema), path)
            os.utime(path, (1_600_000_000 + number,) * 2)  # the order in which Spark takes them


def _matches(events: Events) -> Iterator[tuple[object, ...]]:
    """What one process finds."""
    given = {name: [_event(row) for piece in pieces for row in piece] for name, pieces in events.items()}
    for match in thence.parse(QUERY).match(given):
        assert isinstance(match, thence.Match)
        yield match.start, match.end, match.bindings["house"].value, [event.id for event in match.events]


def _event(row: dict[str, object]) -> thence.Event:
    attributes = {name: value for name, value in row.items() if name in ("type", "house", "watts")}
    return thence.Event(row["time"], attributes, id=str(row["id"]))  # type: ignore[arg-type]


@contextmanager
def _running(folder: Path, *settings: str) -> Iterator[subprocess.Popen[bytes]]:
    """The driver in a process group of its own, of which nothing is left afterwards."""
    with (folder / "log").open("ab") as log:
        command = [sys.executable, str(DRIVER), str(folder), *settings]
        driver = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        try:
            yield driver
        finally:
            if driver.poll() is None:
                os.killpg(driver.pid, signal.SIGKILL)
                driver.wait()


def _steps(folder: Path) -> int:
    """How far it has come: micro-batches begun, reported, and known to be done."""
    return sum(
        len(list(folder.glob(f"{where}/[0-9]*"))) for where in ("checkpoint/offsets", "out", "checkpoint/commits")
    )


def _wait_until(holds: object) -> None:
    assert callable(holds)
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "nothing has happened for too long"
        time.sleep(0.02)


SMALL = """
    PREFIX : <http://example.org/>
    SELECT ?x ?a WITHIN 10 TICKS FROM STREAM S <http://example.org/s>
    { SEQ (A ; B) DEFINE GPM A ON S { ?x :is ?a } DEFINE GPM B ON S { ?x :was ?b } }
"""
ABSENT = SMALL.replace("A ; B", "A ; B!")
ROWS = "time long, id string, value string"


def test_a_checkpoint_of_another_query_or_number_of_shards_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    from pyspark.errors import StreamingQueryException

    _give(tmp_path, 0, [(1, "e1", "<x:h> <http://example.org/is> 1 .")])
    assert _taken(spark, SMALL, tmp_path, shards=2) == []
    _give(tmp_path, 1, [(5, "e2", "<x:h> <http://example.org/was> 1 .")])
    with pytest.raises(StreamingQueryException, match=r"The checkpoint belongs to another query\. Give each query a"):
        _taken(spark, SMALL.replace("10 TICKS", "11 TICKS"), tmp_path, shards=2)
    with pytest.raises(
        StreamingQueryException, match=r"written with 2 shards, and now there are 3\. Continue with shards=2"
    ):
        _taken(spark, SMALL, tmp_path, shards=3)
    assert [row["events"] for row in _taken(spark, SMALL, tmp_path, shards=2)] == [["e1", "e2"]]


def test_what_goes_wrong_is_told_once_and_absence_needs_no_event_of_its_own(
    spark: SparkSession, tmp_path: Path
) -> None:
    _give(
        tmp_path,
        0,
        [
            (1, "e1", "<x:h1> <http://example.org/is> 1 ."),
            (2, "e2", "this is no Turtle"),
            (None, "e3", "<x:h1> <http://example.org/was> 1 ."),
            (4, "e4", "<x:h2> <http://example.org/is> 1 ."),
        ],
    )
    rows = _taken(spark, ABSENT, tmp_path, shards=3, problems=True)
    assert sorted((row["problem"], row["stream"]) for row in rows) == [("bad", "S"), ("bad", "S")]
    _give(tmp_path, 1, [(3, "e5", "<x:h3> <x:odd> 1 ."), (2, "e6", "<x:h1> <http://example.org/was> 1 .")])
    _give(tmp_path, 2, [(12, "e7", "<x:h4> <x:odd> 1 .")])
    rows = _taken(spark, ABSENT, tmp_path, shards=3, problems=True)
    assert sorted((row["problem"], row["event"]) for row in rows if row["problem"]) == [("late", "e5"), ("late", "e6")]
    assert [(row["x"], row["events"]) for row in rows if not row["problem"]] == [("x:h1", ["e1"])]


def test_what_goes_wrong_is_counted_though_nobody_asks(spark: SparkSession, tmp_path: Path) -> None:
    _give(tmp_path, 0, [(2, "e1", "<x:h1> <http://example.org/is> 1 ."), (3, "e2", "this is no Turtle")])
    _give(tmp_path, 1, [(1, "e3", "<x:h1> <x:odd> 1 ."), (5, "e4", "<x:h1> <http://example.org/was> 1 .")])
    progress: list[Any] = []
    assert [row["events"] for row in _taken(spark, SMALL, tmp_path, shards=3, progress=progress)] == [["e1", "e4"]]
    found = [each.observedMetrics["thence.found"].asDict() for each in progress if each.numInputRows]
    assert found == [
        {"matches": 0, "bad": 1, "late": 0, "timed_out": 0, "bad_cell": 0},
        {"matches": 1, "bad": 0, "late": 1, "timed_out": 0, "bad_cell": 0},
    ]


def test_partial_matches_time_out_with_no_event_of_their_own(spark: SparkSession, tmp_path: Path) -> None:
    _give(tmp_path, 0, [(1, "e1", "<x:h1> <http://example.org/is> 1 ."), (2, "e2", "<x:h2> <x:odd> 1 .")])
    assert _taken(spark, SMALL, tmp_path, shards=3, timed_out=True) == []
    _give(tmp_path, 1, [(12, "e3", "<x:h2> <x:odd> 1 .")])
    (row,) = _taken(spark, SMALL, tmp_path, shards=3, timed_out=True)
    assert (row["problem"], row["event"]) == ("timed_out", "e1")
    assert row["reason"] == "B did not arrive before the window ended (11)"


def _give(folder: Path, number: int, rows: Sequence[tuple[int | None, str, str]]) -> None:
    """One more file."""
    path = folder / "in" / f"{number:03}.parquet"
    path.parent.mkdir(exist_ok=True)
    listed = [dict(zip(("time", "id", "value"), row, strict=True)) for row in rows]
    schema = pa.schema([("time", "int64"), ("id", "string"), ("value", "string")])
    parquet.write_table(pa.Table.from_pylist(listed, schema=schema), path)
    os.utime(path, (1_600_000_000 + number,) * 2)


def _taken(
    spark: SparkSession, text: str, folder: Path, progress: list[Any] | None = None, **options: Any
) -> list[dict[str, Any]]:
    """The rows that come of the files that are new, one a micro-batch; `progress` receives each."""
    found: list[dict[str, Any]] = []
    given = spark.readStream.schema(ROWS).option("maxFilesPerTrigger", 1).parquet(str(folder / "in"))
    made = thence.parse(text).dataframe(given, **options)
    writer = made.writeStream.foreachBatch(lambda rows, _: found.extend(row.asDict() for row in rows.collect()))
    writer = writer.option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True)
    running = writer.start()
    running.awaitTermination()
    if progress is not None:
        progress += running.recentProgress
    return found
