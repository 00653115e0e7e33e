"""A real cluster: two executors in processes of their own, to which the package is sent, since it is not installed
there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import thence
from support.cluster_driver import QUERY
from thence.spark.session.ship import zipped

DRIVER = Path(__file__).parents[1] / "support" / "cluster_driver.py"
PATIENCE = 600  # seconds for what takes thirty on a quiet machine


@pytest.mark.minutes
def test_a_cluster_that_has_not_the_package_is_sent_it_and_answers(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    cache = pytestconfig.cache.mkdir("thence-shipped")  # type: ignore[union-attr]
    given = [_event(time, f"h{time % 7}", "is" if time % 3 else "was", 10 * time % 17) for time in range(300)]
    given.append(_event(1000, "h", "odd", 0))
    (tmp_path / "events").mkdir()
    for number in range(4):
        path = tmp_path / "events" / f"{number}.jsonl"
        path.write_text("".join(json.dumps(each) + "\n" for each in given[100 * number : 100 * number + 100]))
        os.utime(path, (1_600_000_000 + number,) * 2)
    command = [sys.executable, str(DRIVER), str(tmp_path), str(cache)]
    with (tmp_path / "log").open("wb") as log:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=log, timeout=PATIENCE, check=False)
    assert done.returncode == 0, (tmp_path / "log").read_text()[-5000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["before"] == ["nowhere"]
    (sent,) = found["after"]
    assert Path(sent).is_relative_to(cache)
    assert list(Path(sent).parent.rglob("*.nbc")), "nothing that was compiled is kept"
    expected = sorted(_in_one_process(given))
    assert len(expected) > 50
    assert found["batch"] == expected
    assert found["lines"] == expected
    assert found["streaming"] == expected


def _event(time: int, house: str, verb: str, value: int) -> dict[str, object]:
    return {"time": time, "id": f"e{time}", "graph": f"<x:{house}> <http://example.org/{verb}> {value} ."}


def _in_one_process(given: list[dict[str, object]]) -> list[list[object]]:
    events = [thence.Event(each["time"], each["graph"], id=each["id"]) for each in given]  # type: ignore[arg-type]
    found: list[list[object]] = []
    for match in thence.parse(QUERY).match(events):
        assert isinstance(match, thence.Match)
        cells = [match.bindings[name].value for name in ("x", "a", "b")]
        found.append([*cells, [event.id for event in match.events]])
    return found


def test_what_is_sent_is_named_by_what_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "again").mkdir()
    path, again = zipped(tmp_path), zipped(tmp_path / "again")
    assert (path.name, path.read_bytes()) == (again.name, again.read_bytes())
    with zipfile.ZipFile(path) as content:
        names = content.namelist()
    assert {"thence/__init__.py", "pyspark_thence/__init__.py", "shipped/thence/engines/automaton/machine.py"} <= set(
        names
    )
    assert not [name for name in names if "__pycache__" in name]
