"""Long work shows how far it has come: events, matches, open partial matches, also while one step runs."""

from __future__ import annotations

import io
import re
import sys
import time
from pathlib import Path

import pytest

import thence
from support.both_engines import thence_
from thence.cli import progress
from thence.cli.run import how_far
from thence.engines.automaton import machine

QUERY = "PATTERN SEQ(T a, T b, T c) WHERE skip_till_any_match(a, b, c) { c.v > 9 * a.v } WITHIN 9999 TICKS RETURN a.v"
LINE = re.compile(r"^\d+ s, (\d+|[\d,]+) of 400 events, 0 matches, ([\d,]+) open partial matches$")


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("q.sase").write_text(QUERY)
    Path("in.csv").write_text("type,time,v\n" + "".join(f"T,{time},7\n" for time in range(400)))


def test_without_a_terminal_lines_come_while_one_step_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EVERY", 0.002)
    monkeypatch.setattr(sys.modules["thence.cli.run"], "_AT_ONCE", 0)  # no time for a funnel
    monkeypatch.setattr(machine, "A_TURN", 50_000)  # so that the one step of 400 events is many calls
    result = thence_("run", "q.sase", "--stream", "in.csv", "--format", "csv")
    assert result.exit_code == 0, result.output
    found = [LINE.match(line) for line in result.stderr.splitlines()]
    held = {int(each[2].replace(",", "")) for each in found if each}
    assert len(held) > 2 and max(held) > 1000, result.stderr
    assert "400 events, 0 matches, 0 bad, 0 late" in result.stderr.splitlines()


def test_a_step_that_stops_now_and_then_has_the_same_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    query = thence.parse(QUERY.replace("c.v > 9 * a.v", "c.n > a.n + 20").replace("RETURN a.v", "RETURN a.n, c.n"))
    events = [thence.Event(time, {"type": "T", "v": 1, "n": time % 30}) for time in range(60)]
    whole = query.match(events).table()
    monkeypatch.setattr(machine, "A_TURN", 100)
    assert query.match(events).table() == whole
    assert whole.num_rows > 1000


def test_a_short_run_prints_no_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "EVERY", 10.0)
    with progress.progress(lambda: "never", output=None, format="csv"):
        pass


def test_on_a_terminal_one_line_is_renewed_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with progress.progress(lambda: "12 events", output=Path("out.csv"), format="csv"):
        time.sleep(0.05)
    shown = terminal.getvalue()
    assert "12 events" in shown
    assert shown.rstrip().endswith("\x1b[2K")  # the line is erased


def test_a_count_that_fails_while_the_state_changes_repeats_the_last_one() -> None:
    told = iter(["1 event"])

    def line() -> str:
        found = next(told, None)
        if found is None:
            raise RuntimeError("dictionary changed size during iteration")
        return found

    shown = progress._Told(line)
    assert [shown(), shown()] == ["1 event", "1 event"]


EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize(
    ("query", "streams", "held"),
    [
        ("stocks.sase", "stocks.csv", "open partial matches"),
        ("ep_sparql/organic.epsparql", "ep_sparql/organic.trig", "solutions held"),
        ("city/parking.rsepql", {name: f"city/{name}.csv" for name in ("traffic", "parking")}, "rows held"),
        ("tef_sparql/viewers.tefsparql", "tef_sparql/viewers.trig", "facts and partial matches"),
    ],
)
def test_every_engine_says_what_its_state_holds(
    query: str, streams: str | dict[str, str], held: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(EXAMPLES)
    background = "city/city.ttl" if "city" in query else None
    found = thence.parse(Path(query)).match(streams, background=background)
    assert how_far(found, time.monotonic()) == "0 s, reading: 0 events"
    for _ in found:
        pass
    assert re.fullmatch(rf"\d s, (\d+) of \1 events, \d+ match(es)?, [\d,]+ {held}", how_far(found, time.monotonic()))
