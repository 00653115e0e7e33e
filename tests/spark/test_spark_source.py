"""Event files and folders as DataFrames: which files, those that come later, and Spark that reads them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from thence.errors import InputError
from thence.io.event_files import read_events
from thence.rdf.events import BadEvent, Event
from thence.rdf.times import Domain
from thence.spark.sources.event_source import SourceOptions

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# which files


def test_files_of_a_folder_come_in_the_order_in_which_they_were_written(tmp_path: Path) -> None:
    for number, name in enumerate(["c.nq", "a.nq", "b.nq", ".hidden", "_temporary"]):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (number // 2, number // 2))
    found = SourceOptions.of({"path": str(tmp_path), "stream": "S"}).files()
    assert [file.stream for file in found] == ["S/a.nq", "S/c.nq", "S/b.nq"]
    assert [file.stream for file in SourceOptions.of({"path": str(tmp_path / "c.nq"), "stream": "S"}).files()] == ["S"]
    assert [file.stream for file in SourceOptions.of({"path": f"file:{tmp_path}/c.nq"}).files()] == ["c.nq"]
    assert len(SourceOptions.of({"path": str(tmp_path / "[ab].nq")}).files()) == 2


@pytest.mark.parametrize(
    ("given_options", "reason"),
    [
        ({"path": "nowhere.nq"}, "nowhere.nq: no such file or folder"),
        ({"path": "{}/a.txt"}, "the ending is not that of an event file. Try: .nq"),
        ({"path": "{}/a.csv"}, "is a table, which Spark reads itself. Try: spark.read.csv"),
        ({"path": "{}"}, "a.csv is a table"),
        ({"path": "hdfs://host/a.nq"}, "is not in a file system of this machine"),
        ({"path": "{}", "spilt": "1"}, 'There is no option "spilt". Try: stream'),
        ({"path": "{}", "split": "0"}, 'Option split is "0". Try: a number above 0'),
        ({"path": "{}", "time": "seconds"}, 'Option time is "seconds". Try: ticks or datetime'),
        ({}, "A file is required. Try: load"),
    ],
)
def test_what_cant_be_read_is_refused_with_a_cure(tmp_path: Path, given_options: dict[str, str], reason: str) -> None:
    for name in ("a.csv", "a.txt"):
        (tmp_path / name).touch()
    with pytest.raises(InputError) as error:
        SourceOptions.of({name: value.format(tmp_path) for name, value in given_options.items()}).files()
    assert reason in str(error.value)


# files that come later


def stream_reader(folder: Path, **options: str) -> Any:
    from thence.spark.sources.event_source import EventSource, schema_of

    return EventSource({"path": str(folder), **options}).streamReader(schema_of(Domain.TICKS))


def event_file(path: Path, tick: int, modified: int) -> None:
    path.write_text(f'{{"time": {tick}, "graph": ""}}\n')
    os.utime(path, (modified, modified))


def taken(reader: Any, start: dict[str, Any], end: dict[str, Any]) -> list[str]:
    return [os.path.basename(each.part.path) for each in reader.partitions(start, end)]


def test_each_file_of_a_folder_is_taken_once_whenever_it_comes(tmp_path: Path) -> None:
    event_file(tmp_path / "b.jsonl", 1, 10)
    event_file(tmp_path / "a.jsonl", 2, 20)
    reader = stream_reader(tmp_path)
    nothing = reader.initialOffset()
    first = reader.latestOffset(nothing, reader.getDefaultReadLimit())
    assert taken(reader, nothing, first) == ["b.jsonl", "a.jsonl"]
    assert reader.latestOffset(first, reader.getDefaultReadLimit()) == first
    event_file(tmp_path / "c.jsonl", 3, 5)  # moved in, with an older time
    event_file(tmp_path / "a.jsonl", 2, 30)  # touched
    again = stream_reader(tmp_path)  # after a restart
    second = again.latestOffset(first, again.getDefaultReadLimit())
    assert taken(again, first, second) == ["c.jsonl"]
    assert taken(again, nothing, first) == ["b.jsonl", "a.jsonl"]  # a batch that is done once more
    (tmp_path / "b.jsonl").unlink()
    assert again.latestOffset(second, again.getDefaultReadLimit()) == second
    event_file(tmp_path / "d.jsonl", 4, 40)
    third = again.latestOffset(second, again.getDefaultReadLimit())
    assert taken(again, second, third) == ["d.jsonl"]
    event_file(tmp_path / "b.jsonl", 5, 50)  # another of that name, the first one having been forgotten
    assert taken(again, third, again.latestOffset(third, again.getDefaultReadLimit())) == ["b.jsonl"]
    (tmp_path / "d.jsonl").unlink()
    with pytest.raises(InputError, match="is gone before it was read"):
        again.partitions(second, third)


def test_a_batch_takes_no_more_files_than_it_may(tmp_path: Path) -> None:
    for number in range(5):
        event_file(tmp_path / f"{number}.jsonl", number, number)
    reader = stream_reader(tmp_path, files_per_batch="2")
    offset, batches = reader.initialOffset(), []
    reader.prepareForTriggerAvailableNow()
    event_file(tmp_path / "late.jsonl", 9, 0)  # not before that
    while (later := reader.latestOffset(offset, reader.getDefaultReadLimit())) != offset:
        batches.append(taken(reader, offset, later))
        offset = later
    assert batches == [["0.jsonl", "1.jsonl"], ["2.jsonl", "3.jsonl"], ["4.jsonl"]]


# on Spark

TIME = "<http://www.w3.org/ns/prov#generatedAtTime>"
TICK = "^^<http://www.w3.org/2001/XMLSchema#integer>"


def test_spark_reads_files_in_parts_and_a_stream_goes_on_where_it_was(spark: SparkSession, tmp_path: Path) -> None:
    folder, checkpoint, out = tmp_path / "in", str(tmp_path / "checkpoint"), str(tmp_path / "out")
    folder.mkdir()
    (folder / "a.nq").write_text(
        "".join(f'<u:g{i}> {TIME} "{i}"{TICK} .\n<u:s> <u:p> "{i}" <u:g{i}> .\n' for i in range(9)) + "oops\n"
    )
    frame = spark.read.format("thence").option("split", 300).load(str(folder))
    rows = frame.collect()
    expected = list(read_events(folder / "a.nq"))
    assert frame.rdd.getNumPartitions() > 1
    assert sorted(row.time for row in rows if row.bad is None) == sorted(
        event.start for event in expected if isinstance(event, Event)
    )
    assert sorted(row.bad.line for row in rows if row.bad) == sorted(
        event.line for event in expected if isinstance(event, BadEvent)
    )

    def run() -> list[int]:
        stream = spark.readStream.format("thence").option("time", "ticks").load(str(folder))
        writing = stream.where("bad is null").select("time").writeStream.format("parquet")
        query = writing.option("checkpointLocation", checkpoint).trigger(availableNow=True).start(out)
        assert query.awaitTermination(600)
        return sorted(row.time for row in spark.read.parquet(out).collect())

    before = run()
    assert before == sorted(row.time for row in rows if row.bad is None)
    event_file(folder / "later.jsonl", 99, 0)
    assert run() == [*before, 99]


def test_the_first_event_tells_what_the_times_are(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "0.nq").write_text("oops\n")
    (tmp_path / "1.jsonl").write_text('{"time": "2024-05-06T07:00:00.5Z", "graph": ""}\n')
    frame = spark.read.format("thence").load([str(tmp_path / "0.nq"), str(tmp_path / "1.jsonl")])
    assert dict(frame.dtypes)["time"] == "timestamp"
    assert [row[0] for row in frame.where("bad is null").selectExpr("unix_micros(time)").collect()] == [
        1714978800500000
    ]
    (tmp_path / "1.jsonl").unlink()
    with pytest.raises(Exception, match="there is no event yet that shows what the times are"):
        spark.read.format("thence").load(str(tmp_path))
