"""A streaming query that is killed goes on from its checkpoint: nothing is lost, and nothing comes twice."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import thence
from streaming_driver import QUERY

DRIVER = Path(__file__).with_name("streaming_driver.py")
MICRO_BATCHES = 8
TIMES_KILLED = 3
SEEDS = range(min(40, int(os.environ["THENCE_CASES"]) // 200)) if "THENCE_CASES" in os.environ else [0]
PATIENCE = 300  # seconds for what takes ten on a quiet machine


@pytest.mark.parametrize("seed", SEEDS)
def test_killed_at_any_moments_each_match_is_told_once(tmp_path: Path, seed: int) -> None:
    random_numbers = random.Random(seed)
    events = _events(random_numbers)
    _write(events, tmp_path)
    (tmp_path / "out").mkdir()
    for _ in range(TIMES_KILLED):
        with _running(tmp_path) as driver:
            wanted = _steps(tmp_path) + random_numbers.randint(1, 6)
            _wait_until(lambda driver=driver, wanted=wanted: _steps(tmp_path) >= wanted or driver.poll() is not None)
            time.sleep(random_numbers.uniform(0, 0.7))
            if driver.poll() is not None:
                break  # it was done before
            os.killpg(driver.pid, signal.SIGKILL)
            assert driver.wait() == -signal.SIGKILL
    with _running(tmp_path) as driver:
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
def _running(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """The driver in a process group of its own, of which nothing is left afterwards."""
    with (folder / "log").open("ab") as log:
        command = [sys.executable, str(DRIVER), str(folder)]
        driver = subprocess.Popen(command, stdout=log, stderr=log, start_new_session=True)
        try:
            yield driver
        finally:
            if driver.poll() is None:
                os.killpg(driver.pid, signal.SIGKILL)
                driver.wait()


def _steps(folder: Path) -> int:
    """How far it has come: micro-batches begun, told, and known to be done."""
    return sum(
        len(list(folder.glob(f"{where}/[0-9]*"))) for where in ("checkpoint/offsets", "out", "checkpoint/commits")
    )


def _wait_until(holds: object) -> None:
    assert callable(holds)
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "nothing has happened for too long"
        time.sleep(0.02)
