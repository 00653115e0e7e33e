"""`thence run` on Spark prints what it prints in one process, byte for byte; what grows is read once."""

from __future__ import annotations

import _thread
import csv
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import Result
from pyarrow import parquet
from pyspark.sql import SparkSession

from support.both_engines import both, thence_
from thence.cli.demo import DEMOS
from thence.cli.run import NOTICE
from thence.cli.spark_watch import Journal
from thence.errors import InputError
from thence.spark.session.session import Launch, _sockets

pytestmark = pytest.mark.usefixtures("spark")

EXAMPLES = Path(__file__).parents[2] / "examples"
STREAMS = {
    "smartgrid": ["S1", "S2", "S3"],
    "traffic": ["S1", "S2", "S3"],
    "fraud": [],
    "vessels": [],
    "shoulders": [],
    "vshape": [],
}
RISES = """PREFIX : <http://example.org/>
SELECT ?house ?before ?after WITHIN 10 TICKS FROM STREAM S1 <http://example.org/s1>
WHERE { SEQ (A ; B)
  DEFINE GPM A ON S1 { ?house :watts ?before }
  DEFINE GPM B ON S1 { ?house :watts ?after FILTER(?after > ?before) }
}
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("rises.spaseq").write_text(RISES)
    return tmp_path


def said(result: Result) -> str:
    """What stood on stderr, but for the notice that the very first run compiles."""
    return result.stderr.replace(NOTICE + "\n", "")


def example(name: str) -> list[str]:
    ending = "nq" if name in ("shoulders", "vshape") else "trig"
    files = {stream: EXAMPLES / f"{name}-{stream}.{ending}" for stream in STREAMS[name]}
    given = [f"{stream}={path}" for stream, path in files.items()] or [str(EXAMPLES / f"{name}.{ending}")]
    background = EXAMPLES / f"{name}.ttl"
    known = ["--background", str(background)] if background.exists() else []
    return [str(EXAMPLES / f"{name}.spaseq"), *(part for path in given for part in ("--stream", path)), *known]


def line(time: int, watts: object, house: str = "h") -> str:
    graph = f"<http://example.org/{house}> <http://example.org/watts> {watts} ."
    return json.dumps({"time": time, "graph": graph}) + "\n"


@pytest.mark.parametrize("format", ["jsonl", "table"])
@pytest.mark.parametrize("name", STREAMS)
def test_the_examples_are_printed_as_in_one_process(name: str, format: str) -> None:
    spark, local = both(*example(name), "--format", format, "--events")
    assert spark.exit_code == 0, spark.output
    assert spark.stdout == local.stdout
    assert said(spark) == said(local)


@pytest.mark.parametrize("format", ["csv", "tsv", "json"])
def test_other_formats_are_too(format: str) -> None:
    spark, local = both(*example("vshape"), "--format", format, "--events")
    assert spark.stdout == local.stdout != ""


@pytest.mark.parametrize("format", ["jsonl", "trig", "table"])
def test_constructed_events_are_too(format: str) -> None:
    rises = RISES.replace("SELECT ?house ?before ?after", "CONSTRUCT { ?house :rose [ :from ?before ; :to ?after ] }")
    Path("rises.spaseq").write_text(rises.replace("A ; B", "A : B"))
    Path("in.jsonl").write_text("".join(line(tick, tick, house) for house in "ba" for tick in (3, 1, 2)))
    spark, local = both("rises.spaseq", "--stream", "in.jsonl", "--format", format)
    assert spark.exit_code == 0, spark.output
    assert (spark.stdout, said(spark)) == (local.stdout, said(local))
    assert "6 events, 6 matches" in spark.stderr


def test_variables_may_be_called_as_our_columns_are() -> None:
    renamed = RISES.replace("?house", "?event").replace("?before", "?certain").replace("?after", "?reason")
    Path("rises.spaseq").write_text(renamed)
    Path("in.jsonl").write_text(line(1, 1) + "rubbish\n" + line(2, 5))
    spark, local = both("rises.spaseq", "--stream", "in.jsonl", "--format", "csv")
    assert spark.exit_code == 0, spark.output
    assert spark.stdout == local.stdout
    assert "1 bad" in spark.stderr


def tables() -> None:
    """A table as CSV and as Parquet, of types that Spark has and of some that it has not."""
    rows = [
        {"type": "Reading", "time": tick, "subject": f"h{tick % 2}", "watts": tick * 1.5, "note": f"n{tick}"}
        for tick in range(1, 8)
    ]
    with open("table.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    table = pa.Table.from_pylist(rows)
    parquet.write_table(table, "plain.parquet")
    unsigned = pa.array(range(1, 8), pa.uint64())
    parquet.write_table(table.set_column(3, "watts", unsigned), "unsigned.parquet")


@pytest.mark.parametrize("file", ["table.csv", "plain.parquet", "unsigned.parquet"])
def test_tables_give_the_same_events(file: str) -> None:
    tables()
    spark, local = both("rises.spaseq", "--stream", file, "--format", "jsonl", "--events")
    assert spark.exit_code == 0, spark.output
    assert (spark.stdout, said(spark)) == (local.stdout, said(local))
    assert "S1:" in spark.stdout


def test_files_of_several_kinds_are_one_stream() -> None:
    tables()
    Path("more.jsonl").write_text(line(5, 100, "h1") + line(2, 7))
    streams = [part for file in ("table.csv", "plain.parquet", "more.jsonl") for part in ("--stream", file)]
    spark, local = both("rises.spaseq", *streams, "--format", "jsonl", "--events")
    assert (spark.stdout, said(spark)) == (local.stdout, said(local))


def test_bad_events_are_counted_and_written() -> None:
    Path("in.jsonl").write_text(line(1, 1) + "rubbish\n" + line(2, 5))
    spark, local = both("rises.spaseq", "--stream", "in.jsonl", "--problems", "p.jsonl", "--format", "csv")
    assert spark.stdout == local.stdout
    assert said(spark).splitlines()[0] == said(local).splitlines()[0] == "2 events, 1 match, 1 bad, 0 late"
    thence_("run", "rises.spaseq", "--stream", "in.jsonl", "--problems", "p.jsonl", "--engine", "spark")
    (found,) = map(json.loads, Path("p.jsonl").read_text().splitlines())
    assert (found["problem"], found["event"], found["stream"]) == ("bad", "rubbish", "S1")


def test_nothing_ends_in_a_silent_zero_on_spark_either() -> None:
    """BAD-2, BAD-4, BAD-5, BAD-8, and how far partial matches came."""
    Path("in.csv").write_text("type,time,watts\nReading,1,5\nReading,2,7\n")
    Path("query.sase").write_text("PATTERN SEQ(reading a, Reading b) WITHIN 9 RETURN a.watts")
    spark, local = both("query.sase", "--stream", "in.csv", "--format", "csv")
    assert (spark.stdout, said(spark), spark.exit_code) == (local.stdout, said(local), 0)
    assert "No event has the type reading. Did you mean Reading? There were: Reading (2)." in said(spark)
    assert "0 matches; no event could begin a\n" in said(spark)
    Path("query.sase").write_text("PATTERN SEQ(Reading a, Reading b) WHERE b.wats > 1 WITHIN 9 RETURN a.watts")
    spark, local = both("query.sase", "--stream", "in.csv", "--format", "csv")
    assert (spark.stdout, said(spark), spark.exit_code) == (local.stdout, said(local), 2)
    assert "No stream has the attribute wats. Did you mean watts?" in said(spark)
    Path("bad.jsonl").write_text('{"time": "x", "type": "Reading"}\n' * 2)
    Path("two.sase").write_text("FROM S, R PATTERN SEQ(Reading a, Reading b) WITHIN 9 RETURN a.watts")
    streams = ("--stream", "S=bad.jsonl", "--stream", "R=in.csv")
    spark, local = both("two.sase", *streams, "--format", "csv")
    assert (spark.stdout, spark.exit_code) == (local.stdout, local.exit_code) == ("", 1)
    assert said(spark).splitlines()[0] == said(local).splitlines()[0] == "2 events, 0 matches, 2 bad, 0 late"
    assert 'All 2 events of the stream S are bad. The first, S: "x" is not a time.' in said(spark)


def test_bad_cells_are_read_as_null_and_reported_with_their_lines() -> None:
    """BAD-10"""
    Path("in.csv").write_text(
        "type,time,subject,watts\n" + "".join(f"T,{n},h,{n % 7}\n" for n in range(150)) + "T,150,h,n/a\n"
    )
    spark, local = both("rises.spaseq", "--stream", "in.csv", "--problems", "p.jsonl", "--format", "csv")
    assert spark.stdout == local.stdout
    assert said(spark).splitlines()[0] == said(local).splitlines()[0]
    assert said(local).splitlines()[0].startswith("151 events,")
    assert said(local).splitlines()[0].endswith(" 0 bad, 0 late, 1 bad cell")
    (found,) = map(json.loads, Path("p.jsonl").read_text().splitlines())
    reason = 'column "watts": "n/a" is not a number, and is read as null'
    assert found == {"problem": "bad_cell", "reason": reason, "event": "n/a", "stream": "S1", "line": 152}
    told = [said(each).splitlines()[1] for each in (spark, local)]
    assert told == [f"the first of them: S1: line 152, {reason}", f"the first of them: S1, line 152: {reason}"]


def test_an_empty_file_has_no_matches() -> None:
    Path("in.jsonl").write_text("")
    spark, local = both("rises.spaseq", "--stream", "in.jsonl", "--format", "csv")
    assert (spark.stdout, said(spark), spark.exit_code) == (local.stdout, said(local), 0)


def test_a_limit_that_a_worker_meets_is_one_sentence_and_status_1() -> None:
    Path("in.jsonl").write_text("".join(line(1, 1) for _ in range(9)) + line(2, 5))
    spark, local = both("rises.spaseq", "--stream", "in.jsonl", "--max-runs", "3")
    assert spark.exit_code == local.exit_code == 1
    assert spark.stdout == ""
    assert said(spark).splitlines() == said(local).splitlines()[-1:]


def grown(*arguments: str) -> Result:
    call = ("run", "rises.spaseq", "--engine", "spark", "--stream", "in", "--format", "jsonl", "--checkpoint", "ckpt")
    return thence_(*call, *arguments)


def ends(text: str) -> list[int]:
    return [json.loads(each)["end"] for each in text.splitlines()]


def test_a_checkpoint_goes_on_with_what_is_new() -> None:
    Path("in").mkdir()
    Path("in/1.jsonl").write_text(line(1, 1) + line(2, 5))
    first = grown("--output", "out.jsonl")
    assert (first.exit_code, first.stdout) == (0, ""), first.output
    assert first.stderr == "2 events, 1 match, 0 bad, 0 late\n"
    Path("in/2.jsonl").write_text(line(3, 7) + line(1, 9))
    second = grown("--output", "out.jsonl")
    assert second.stderr.splitlines()[0] == "2 events, 1 match, 0 bad, 1 late"
    assert ends(Path("out.jsonl").read_text()) == [2, 3]
    third = grown("--output", "out.jsonl")
    assert third.stderr == "0 events, 0 matches, 0 bad, 0 late\n"
    assert ends(Path("out.jsonl").read_text()) == [2, 3]
    other = grown("--output", "other.jsonl")
    assert other.exit_code == 2
    assert "belongs to output to" in other.stderr


def test_what_a_killed_run_left_half_written_is_written_once() -> None:
    Path("in").mkdir()
    Path("in/1.jsonl").write_text(line(1, 1) + line(2, 5))
    assert grown("--output", "out.jsonl").exit_code == 0
    Path("in/2.jsonl").write_text(line(3, 7))
    assert grown("--output", "out.jsonl").exit_code == 0
    whole = Path("out.jsonl").read_text()
    # as if it had been killed while the last micro-batch was written: Spark has no word of its end, and half is there
    last = max(int(path.name) for path in Path("ckpt/commits").iterdir() if path.name.isdigit())
    for path in Path("ckpt/commits").glob(f"*{last}*"):
        path.unlink()
    journal = json.loads(Path("ckpt/thence-output.json").read_text())
    before = whole.splitlines(keepends=True)[0]
    assert journal["batch"] == last
    journal |= {"done": False, "sizes": {os.path.abspath("out.jsonl"): len(before.encode())}}
    Path("ckpt/thence-output.json").write_text(json.dumps(journal))
    Path("out.jsonl").write_text(whole[:-20])
    assert grown("--output", "out.jsonl").exit_code == 0
    assert Path("out.jsonl").read_text() == whole


def test_a_checkpoint_of_another_query_is_refused() -> None:
    Path("in").mkdir()
    Path("in/1.jsonl").write_text(line(1, 1) + line(2, 5))
    assert grown().exit_code == 0
    Path("in/2.jsonl").write_text(line(3, 7))
    shards = grown("--shards", "2")
    assert shards.exit_code == 2
    assert shards.stderr == (
        f"thence: The checkpoint {os.path.abspath('ckpt')} was written with --shards 4, and now it is 2. "
        "Go on with --shards 4, or start over with an empty checkpoint.\n"
    )
    Path("rises.spaseq").write_text(RISES.replace("?after > ?before", "?after < ?before"))
    query = grown()
    assert query.exit_code == 2
    assert "belongs to another query, or to this one with other options. Give each query a" in query.stderr
    Path("in/2.jsonl").unlink()
    assert grown().exit_code == 2  # though nothing is new
    Path("rises.spaseq").write_text(RISES)
    assert grown("--format", "csv").exit_code == 0  # on stdout nothing is mixed


def test_another_output_is_told_before_another_way_to_write_it() -> None:
    Path("in").mkdir()
    Path("in/1.jsonl").write_text(line(1, 1) + line(2, 5))
    assert grown("--output", "out", "--events").exit_code == 0
    for elsewhere in (grown(), grown("--events")):
        assert (elsewhere.exit_code, "belongs to output to" in elsewhere.stderr) == (2, True)


def test_what_is_added_to_a_file_is_of_one_format() -> None:
    Path("in").mkdir()
    Path("in/1.jsonl").write_text(line(1, 1) + line(2, 5))
    assert grown("--output", "out").exit_code == 0
    other = grown("--output", "out", "--format", "csv")
    assert (other.exit_code, "was written with --format jsonl, and now it is csv. Go on" in other.stderr) == (2, True)
    events = grown("--output", "out", "--events")
    assert (events.exit_code, "was written without --events. Go on without it, or" in events.stderr) == (2, True)


def when(ready: Callable[[], bool], act: Callable[[], object]) -> threading.Thread:
    """Act once something is so; in four minutes at the latest, so that what fails ends."""

    def wait() -> None:
        until = time.monotonic() + 240
        while time.monotonic() < until and not ready():
            time.sleep(0.1)
        act()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def test_watching_a_folder_prints_what_comes_until_it_is_interrupted() -> None:
    Path("in").mkdir()
    Path("in/1.jsonl").write_text(line(1, 1) + line(2, 5))
    out = Path("out.jsonl")

    def rows() -> int:
        return len(out.read_text().splitlines()) if out.exists() else 0

    def put() -> None:
        Path("new").write_text(line(3, 7))
        shutil.move("new", "in/2.jsonl")

    threads = [when(lambda: rows() == 1, put), when(lambda: rows() == 2, _thread.interrupt_main)]
    call = ("run", "rises.spaseq", "--stream", "in", "--format", "jsonl", "--output", str(out))
    watched = thence_(*call, "--watch")
    for thread in threads:
        thread.join()
    assert watched.exit_code == 0, watched.output
    assert ends(out.read_text()) == [2, 3]
    assert watched.stderr == "on Spark: --watch\n3 events, 2 matches, 0 bad, 0 late\n"


def test_watching_and_going_on_are_for_queries_that_feed_each_other_too() -> None:
    """Query 5's events in two files, the second of which comes while the first is watched; then, from the checkpoint,
    one more that makes all certain."""
    Path("in").mkdir()
    with open(EXAMPLES / "couriers.csv", newline="") as file:
        lines = [json.dumps({name: value for name, value in row.items() if value}) for row in csv.DictReader(file)]
    Path("in/1.jsonl").write_text("\n".join(lines[:25]) + "\n")
    Path("new").write_text("\n".join(lines[25:]) + "\n")
    query = ("run", str(EXAMPLES / "couriers.sase"), "--engine", "spark")
    given = (*query, "--stream", "in", "--format", "jsonl", "--checkpoint", "ckpt")
    begun = [when(Path("ckpt/commits/0").exists, lambda: shutil.move("new", "in/2.jsonl"))]
    begun.append(when(Path("ckpt/commits/1").exists, _thread.interrupt_main))
    watched = thence_(*given, "--output", "out", "--watch")
    for thread in begun:
        thread.join()
    assert (watched.exit_code, watched.stderr) == (0, f"{len(lines)} events, 1 match, 0 bad, 0 late\n"), watched.output
    Path("in/3.jsonl").write_text(json.dumps({"type": "END", "time": "2099-01-01T00:00:00Z"}) + "\n")
    assert thence_(*given, "--output", "out").stderr == "1 event, 1 match, 0 bad, 0 late\n"
    expected = (EXAMPLES / "couriers.expected.jsonl").read_text().splitlines()
    shown = [json.loads(line)["bindings"] for line in expected]
    assert [json.loads(line)["bindings"] for line in Path("out").read_text().splitlines()] == shown


@pytest.mark.parametrize("name", ["stocks", "couriers"])  # one query, and several that feed each other
def test_what_sase_does_not_know_is_refused_and_not_passed_over(name: str) -> None:
    given = ("run", str(EXAMPLES / f"{name}.sase"), "--stream", str(EXAMPLES / f"{name}.csv"), "--engine", "spark")
    run = thence_(*given, "--background", str(EXAMPLES / "smartgrid.ttl"))
    assert (run.exit_code, run.stderr) == (2, "thence: background= is not supported for SASE+. Try: remove it\n")
    run = thence_(*given, "--timed-out")
    assert run.exit_code == 2 and run.stderr.startswith("thence: timed_out= is not supported for SASE+")


def test_a_spark_is_found_by_any_thread(spark: SparkSession) -> None:
    """Java tells of an active session only those threads that have one; an interrupt gives Python's thread another."""
    with ThreadPoolExecutor() as pool:
        found = pool.submit(lambda: Launch().session()).result()
    assert found.sparkContext is spark.sparkContext


def test_sockets_are_in_a_folder_of_our_own_if_their_names_are_short_enough(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as short:
        monkeypatch.setattr(tempfile, "tempdir", short)
        found = Path(_sockets()["spark.python.unix.domain.socket.dir"])
        assert (found.parent, found.stat().st_mode & 0o777) == (Path(short), 0o700)
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(str(found / f".{uuid.uuid4()}.sock"))
    long = folder / ("long" * 20)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))
    assert _sockets() == {} and not list(long.iterdir())


def test_csv_files_can_not_grow() -> None:
    Path("in").mkdir()
    tables()
    shutil.move("table.csv", "in/table.csv")
    result = thence_("run", "rises.spaseq", "--stream", "in", "--watch")
    assert (result.exit_code, result.stdout) == (2, "")
    assert "\nthence: in has CSV files: the type of a CSV column depends on all of its values" in result.stderr


def test_a_growing_folder_of_parquet_files_is_read(folder: Path) -> None:
    Path("in").mkdir()
    tables()
    shutil.move("plain.parquet", "in/plain.parquet")
    result = grown("--events")
    assert result.exit_code == 0, result.output
    assert result.stderr.startswith("7 events, ")
    assert json.loads(result.stdout.splitlines()[0])["events"][0].startswith("S1/plain.parquet:")


def test_json_is_for_what_has_an_end() -> None:
    result = thence_("run", "rises.spaseq", "--stream", "in", "--watch", "--format", "json")
    assert result.exit_code == 2
    assert result.stderr == "thence: json needs a last row, and a stream never ends. Try: --format jsonl\n"


KEPT_FOR = {"query": ["a"], "shards": 4, "format": "jsonl", "events": False}


def test_a_journal_refuses_an_output_that_lost_rows(tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.write_text("rows\n")
    journal = Journal.of(tmp_path, [out], KEPT_FOR)
    assert journal.begin(0)
    journal.done(0)
    assert not Journal.of(tmp_path, [out], KEPT_FOR).begin(0)
    out.write_text("")
    with pytest.raises(InputError, match="is shorter than the checkpoint"):
        Journal.of(tmp_path, [out], KEPT_FOR)


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"version": 8}, "was written by version 9 of the state's format, and this is version 8. Continue with the"),
        ({"query": ["b"]}, "belongs to another query"),
        ({"shards": 2}, "was written with --shards 4, and now it is 2. Go on with --shards 4"),
    ],
)
def test_a_journal_refuses_what_its_states_are_not_for(changed: dict[str, object], told: str, tmp_path: Path) -> None:
    """Before Spark starts: nothing stands around the sentence."""
    journal = Journal.of(tmp_path, [], KEPT_FOR | {"version": 9})
    assert journal.begin(0)
    assert not Journal.of(tmp_path, [], KEPT_FOR).is_new  # of a release whose journal had no version
    with pytest.raises(InputError, match=told):
        Journal.of(tmp_path, [], KEPT_FOR | {"version": 9} | changed)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_a_union_of_a_number_and_a_text_of_a_table_is_refused_as_in_one_process(ending: str) -> None:
    Path("union.sase").write_text("PATTERN A a RETURN a.n AS x UNION PATTERN B b RETURN b.s AS x")
    Path("in.csv").write_text("type,time,n,s\nA,1,7,u\nB,2,8,v\n")
    parquet.write_table(pa.table({"type": ["A", "B"], "time": [1, 2], "n": [7, 8], "s": ["u", "v"]}), "in.parquet")
    spark, local = both("union.sase", "--stream", f"in.{ending}")
    assert (spark.exit_code, local.exit_code) == (2, 2)
    assert said(spark) == said(local)
    assert said(spark).startswith('thence: The column "x" of the UNION would be integer and string. Try: another name')
    Path("in.jsonl").write_text('{"type": "A", "time": 1, "n": 7}\n{"type": "B", "time": 2, "s": "u"}\n')
    spark, local = both("union.sase", "--stream", "in.jsonl", "--format", "jsonl")
    assert (spark.exit_code, spark.stdout) == (0, local.stdout)
    assert '"x": 7' in spark.stdout and '"x": "u"' in spark.stdout


def command(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    called = [sys.executable, "-m", "thence", *arguments]
    return subprocess.run(
        called, capture_output=True, text=True, env=os.environ | environment, timeout=300, check=False
    )


def test_the_command_itself_says_nothing_but_matches_and_counts() -> None:
    spark = command("run", *example("vshape"), "--format", "jsonl", "--engine", "spark")
    local = thence_("run", *example("vshape"), "--format", "jsonl", "--engine", "local")
    told = re.sub(r"^\d+ s, .*\n", "", spark.stderr, flags=re.MULTILINE)  # a slow machine takes more than ten seconds
    assert (spark.returncode, spark.stdout, told) == (0, local.stdout, said(local))


@pytest.mark.parametrize("name", DEMOS)
def test_a_demo_runs_on_spark_unless_told_otherwise(name: str) -> None:
    spark, local = thence_("demo", name), thence_("demo", name, "--engine", "local")
    assert spark.exit_code == 0, spark.output
    assert spark.stdout == local.stdout != ""
    assert "on Spark, on all cores of this machine.\n" in spark.stderr
    assert said(local).replace("in one process", "on Spark, on all cores of this machine") == said(spark)


def test_without_java_there_is_one_sentence_with_the_cure() -> None:
    found = command("run", *example("vshape"), "--engine", "spark", JAVA_HOME="/nowhere")
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.startswith("thence: Spark needs Java: JAVA_HOME is /nowhere, where there is no bin/java. Try: ")
    assert found.stderr.endswith("; or --engine local\n")
    assert found.stderr.count("\n") == 1
