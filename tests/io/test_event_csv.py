"""CSV files of typed events: types by all values, records with their lines, and records that are none."""

from __future__ import annotations

import csv
import gzip
import io
import re
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.blocks import in_blocks
from thence.columns.batches import encode
from thence.columns.time_reading import TimeReading
from thence.errors import InputError, ThenceWarning
from thence.io import csv_files
from thence.io.csv_columns import read_number
from thence.io.event_files import read_batches, read_events, table_types
from thence.io.table_layout import TableLayout
from thence.rdf.events import BadCell, BadEvent, Event
from thence.rdf.limits import Limits
from thence.rdf.terms import XSD, Literal
from thence.spark.sources.split_reader import SplitReader, file_splits, first_domain

pytestmark = pytest.mark.numba


def read(text: str | bytes, *, name: str = "s.csv", **options: Any) -> list[Event | BadEvent]:
    data = text if isinstance(text, bytes) else text.encode()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return list(read_events(path, stream="s", **options))


def objects(text: str, attribute: str) -> list[object]:
    """The attribute's value in each event, None where there is none."""
    found: list[object] = []
    for event in read(text):
        assert isinstance(event, Event), event
        named = {triple.predicate.value.rpartition("/")[2]: triple.object for triple in event.triples}
        found.append(named.get(attribute))
    return found


cells = st.one_of(
    st.just(""),
    st.integers(-30, 30).map(str),
    st.from_regex(r"[+-]?[0-9]{0,3}(\.[0-9]{0,3})?(e-?[0-9])?", fullmatch=True),
    st.sampled_from(["true", "False", "TRUE", "9223372036854775808", "0.1234567890123456789012345678901234567890"]),
    st.sampled_from(["a", 'say "hi"', "two\nlines", "one,two", "€", "007", "1e5", "+1", "-", ".", " 1", "1" * 17]),
    st.sampled_from(["NaN", "-inf", "Infinity", "1e-05", "-.5", "5.", "1E+300", "00", "nano", "+nan", "infin"]),
)


def as_python(column: list[str]) -> list[object]:
    """What the cells of a column mean, by all of them (BAD-10)."""
    given = [cell for cell in column if cell]
    plain, power = r"(0|[1-9][0-9]*)(\.[0-9]*)?|\.[0-9]+", r"([eE][+-]?[0-9]+)"

    def are(pattern: str) -> bool:
        return all(re.fullmatch(pattern, cell) for cell in given)

    read: Any = str
    if are(r"[+-]?(0|[1-9][0-9]*)"):
        read = int
    elif are(rf"[+-]?({plain})"):
        read = Decimal
    elif are(rf"(?i)[+-]?(({plain}){power}?|nan|inf|infinity)"):
        whole = [cell.lstrip("+-") for cell in given if cell.lstrip("+-").isdigit()]
        read = read_number if any(len(each) > 15 for each in whole) else float
    elif are(r"(?i)true|false"):
        read = lambda cell: cell.lower() == "true"  # noqa: E731
    return [read(cell) if cell else None for cell in column]


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=6), st.sampled_from(["\n", "\r\n"]), st.integers(3, 60))
def test_cells_mean_what_all_cells_of_their_column_allow(rows: list[tuple[str, str]], end: str, block: int) -> None:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator=end)
    writer.writerow(["type", "time", "x", "y"])
    lines = []
    for number, row in enumerate(rows):
        lines.append(file.getvalue().count("\n") + 1)
        writer.writerow(["T", str(number), *row])
    columns = [as_python([row[place] for row in rows]) for place in (0, 1)]
    made = [
        Event(number, {"type": "T", "x": columns[0][number], "y": columns[1][number]}, id=f"s:{lines[number]}")
        for number in range(len(rows))
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_files, "_BLOCK", block)
        assert [event_without_place(event) for event in read(file.getvalue())] == [
            event_without_place(event) for event in encode(made, stream="s")
        ]


def event_without_place(event: Event | BadEvent) -> object:
    assert isinstance(event, Event), event
    return event.id, event.start, event.end, [triple[1:] for triple in event.triples]


@pytest.mark.parametrize(
    ("column", "kind", "texts"),
    [
        (["1", "-20", ""], "integer", ["1", "-20", None]),
        (["1", "2.50"], "decimal", ["1", "2.5"]),
        (["true", "False"], "boolean", ["true", "false"]),
        (["1", "x"], "string", ["1", "x"]),
        (["007", "1"], "string", ["007", "1"]),  # a code: a number would lose its zeros
        (["1e-05", "+5", "-.5"], "double", ["1e-05", "5.0", "-0.5"]),
        (["+5", "-0", "3"], "integer", ["5", "0", "3"]),
        (["+5", "-.5", "5."], "decimal", ["5", "-0.5", "5"]),
        (["NaN", "2.50"], "double", ["NaN", "2.5"]),
        (["inf", "-Infinity", "1"], "double", ["INF", "-INF", "1.0"]),
        (["true", "1"], "string", ["true", "1"]),
        (["1" * 30], "integer", ["1" * 30]),
        (["1" * 4000], "string", ["1" * 4000]),
    ],
)
def test_a_column_has_one_type(column: list[str], kind: str, texts: list[str | None]) -> None:
    text = "type,time,x\n" + "".join(f"T,{row},{cell}\n" for row, cell in enumerate(column))
    expected = [None if each is None else Literal(each, XSD + kind) for each in texts]
    assert objects(text, "x") == expected


def test_times_are_ticks_where_they_are_integers_and_dates_else() -> None:
    events = read(
        "type,time,end\nT,7,9\nT,+8,\nT,2024-05-06T07:00:00Z,2024-05-06 07:00:01\nT,2024-05-06T07:00+01:00,\n"
    )
    as_objects = [
        Event(7, {"type": "T"}, 9),
        Event(8, {"type": "T"}),
        Event("2024-05-06T07:00:00Z", {"type": "T"}, "2024-05-06T07:00:01Z"),
        Event("2024-05-06T06:00:00Z", {"type": "T"}),
    ]
    for event, other in zip(events, as_objects, strict=True):
        assert isinstance(event, Event)
        assert (event.start, event.end, event.domain) == (other.start, other.end, other.domain)


def test_subjects_ids_and_a_byte_order_mark() -> None:
    first, second = read("\ufefftype,time,subject,id\nT,1,h1,e1\nT,1,,\n")
    assert isinstance(first, Event) and isinstance(second, Event)
    assert (first.id, first.triples[0].subject.value) == ("e1", "http://example.org/h1")
    assert (second.id, second.triples[0].subject.value) == ("s:3", "s_1_subject")


def test_a_byte_order_mark_is_passed_over_wherever_a_block_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_files, "_BLOCK", 1)
    assert [event.id for event in read("\ufefftype,time\nT,1\n") if isinstance(event, Event)] == ["s:2"]


def test_a_gzipped_file_is_read_twice_as_well() -> None:
    text = "type,time,x\n" + "T,1,5\n" * 3
    assert read(text, name="s.csv.gz") == read(text)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("T,1", "2 cells, where the first line has 3"),
        ("T,1,2,3", "4 cells, where the first line has 3"),
        (b"T,1,\xff", "no UTF-8"),
        ("T,,5", 'no time: "time" is empty'),
        ("T,1.5,5", '"1.5" is not a time. Try: "2024-05-06T07:00:00Z"'),
        ("T,2023-02-29T00:00:00Z,5", '"2023-02-29T00:00:00Z" is not a time: there is no such day'),
        ("T,99999999999999999999,5", '"99999999999999999999" is out of range: times have 64 bits'),
        (",1,5", 'a typed event needs a "type", which is text'),
    ],
)
def test_a_bad_record_has_its_line_and_reason_and_the_others_are_read(line: str | bytes, reason: str) -> None:
    written = line if isinstance(line, bytes) else line.encode()
    good, later, bad = read(b'type,time,x\nT,1,"a\nb"\n' + written + b"\nT,2,c\n")
    assert isinstance(good, Event) and isinstance(later, Event)
    assert isinstance(bad, BadEvent)
    assert (good.id, later.id, bad.line, bad.reason) == ("s:2", "s:5", 4, reason)
    assert bad.text


def test_a_quote_that_nothing_closes_costs_one_line() -> None:
    found = read('type,time,x\nT,1,"a\nT,2,b\nT,3,c\n')
    assert [each.id for each in found if isinstance(each, Event)] == ["s:3", "s:4"]
    assert [each for each in found if isinstance(each, BadEvent)] == [
        BadEvent("s", 2, "a quote that is never closed", 'T,1,"a')
    ]


def test_a_record_may_not_be_longer_than_an_event(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_files, "_BLOCK", 50)
    text = "type,time,x\nT,1,a\nT,2," + "b" * 1000 + "\nT,3,c\n"
    found = read(text, limits=Limits(event_bytes=200))
    assert [each.id for each in found if isinstance(each, Event)] == ["s:2", "s:4"]
    (bad,) = (each for each in found if isinstance(each, BadEvent))
    assert (bad.line, bad.reason) == (3, "a record longer than 200 bytes")


def ids_and_problems(found: list[Event | BadEvent]) -> tuple[list[str | None], list[tuple[int, str]]]:
    bad = [(each.line, each.reason) for each in found if isinstance(each, BadEvent)]
    return [each.id for each in found if isinstance(each, Event)], bad


@pytest.mark.parametrize("block", [1, 3, 1 << 20])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_a_bad_record_costs_one_line_whatever_ends_a_line(
    monkeypatch: pytest.MonkeyPatch, end: bytes, block: int
) -> None:
    monkeypatch.setattr(csv_files, "_BLOCK", block)
    too_long = [b"type,time,x", b"T,1," + b"a" * 60, b"T,2,b", b"T,3,c"]
    found = read(end.join(too_long), limits=Limits(event_bytes=60))
    assert ids_and_problems(found) == (["s:3", "s:4"], [(2, "a record longer than 60 bytes")])
    unclosed = [b"type,time,x", b'T,1,"a', b"T,2,b", b"T,3,c"]
    found = read(end.join(unclosed), limits=Limits(event_bytes=60))
    assert ids_and_problems(found) == (["s:3", "s:4"], [(2, "a quote that is never closed")])


@pytest.mark.parametrize("block", [1, 20, 1 << 20])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_a_record_may_be_as_long_as_an_event(monkeypatch: pytest.MonkeyPatch, end: bytes, block: int) -> None:
    monkeypatch.setattr(csv_files, "_BLOCK", block)
    longest = b'T,1,"' + b'""' * 147 + b'"'
    assert len(longest) == 300
    found = read(end.join([b"type,time,x", longest, b"T,2,b"]), limits=Limits(event_bytes=300))
    assert ids_and_problems(found) == (["s:2", "s:3"], [])


def test_events_between_two_quotes_that_are_too_far_apart_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    text = b'type,time,x\nT,1,"a\n' + b"T,2,b\n" * 10 + b'T,3,c"\nT,4,d\n'
    for block in (1, 20, 1 << 20):
        monkeypatch.setattr(csv_files, "_BLOCK", block)
        ids, bad = ids_and_problems(read(text, limits=Limits(event_bytes=60)))
        assert ids == [f"s:{line}" for line in range(3, 15)]
        assert bad == [(2, "a record longer than 60 bytes")]


def test_an_event_that_is_too_large_harms_none_that_has_no_value_there() -> None:
    found = read("type,time,x\nT,1," + "a" * 80 + "\nT,2,\n", limits=Limits(event_bytes=100))
    assert ids_and_problems(found) == (["s:3"], [(2, Limits(event_bytes=100).describe_event())])


def test_a_record_that_is_torn_is_no_event() -> None:
    stream = in_blocks(b"type,time,x\nT,1,5\nT,2,1", failure=OSError("the disk is gone"))  # and most likely more digits
    blocks = csv_files.CsvBlocks(stream, Limits())
    blocks.header()
    block, flaw = blocks
    assert isinstance(block, csv_files.CsvBlock)
    assert (block.text, block.lines.tolist()) == (b"T,1,5", [2])
    assert flaw == csv_files.BadRecord(3, "the disk is gone", "T,2,1")


def test_a_damaged_archive_gives_what_came_before_the_damage() -> None:
    whole = gzip.compress(b"type,time,x\n" + b"".join(b"T,%d,%d\n" % (i, i * i) for i in range(100_000)))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "s.csv.gz"
        path.write_bytes(whole[: len(whole) // 2])
        found = list(read_events(path, stream="s"))
    assert len(found) > 1000
    assert isinstance(found[-1], BadEvent)
    assert found[-1].reason == f"{path} ends in the middle of its gzipped data"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "needs a first line with the names of the columns"),
        ("type,x\n1,2\n", 'no column is called "time", and an event needs one'),
        ("type,time,x,x\n", 'two columns are called "x"'),
        ("type,time,\n", "column 3 has no name"),
        (b"type,time,\xff\n", "the names of the columns can't be read"),
    ],
)
def test_a_file_without_the_needed_columns_is_refused(text: str | bytes, reason: str) -> None:
    with pytest.raises(InputError, match=re.escape(reason)):
        read(text)


def test_a_file_of_names_alone_has_no_events() -> None:
    assert read("type,time,x\n") == read("type,time,x") == []


@given(st.text(alphabet='T1,"\n\rx', max_size=40).map(str.encode) | st.binary(max_size=40), st.integers(1, 50))
def test_nothing_that_a_file_holds_stops_the_reading_nor_does_it_matter_where_it_is_cut(
    body: bytes, block: int
) -> None:
    whole = read(b"type,time,x\n" + body)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_files, "_BLOCK", block)
        assert sorted(map(str, read(b"type,time,x\n" + body))) == sorted(map(str, whole))


# Bad cells (BAD-10).


def column_of(cells: list[str]) -> str:
    return "type,time,x\n" + "".join(f"T,{row},{cell}\n" for row, cell in enumerate(cells))


def values(found: list[Event | BadEvent]) -> list[str | None]:
    """The texts of the events' last attribute."""
    events = [each for each in found if isinstance(each, Event)]
    return [event.triples[1].object.value if len(event.triples) > 1 else None for event in events]


@pytest.mark.parametrize(("odd", "line"), [("n/a", 4), ("true", 4), ("1.2.3", 4), ("1e999", 4)])
def test_a_hundredth_of_odd_cells_is_read_as_null_and_reported(odd: str, line: int) -> None:
    """BAD-10"""
    cells = ["1.5", "+2", odd, *["7"] * 98]  # 101, one of them odd
    found = read(column_of(cells))
    (bad,) = (each for each in found if isinstance(each, BadEvent))
    assert isinstance(bad, BadCell)
    assert (bad.problem, bad.line, bad.text) == ("bad_cell", line, odd)
    assert bad.reason == f'column "x": "{odd}" is not a number, and is read as null'
    assert len(found) == 102
    double = "e" in odd and odd != "true"
    assert values(found)[:4] == ["1.5", "2.0" if double else "2", None, "7.0" if double else "7"]


def test_more_odd_cells_make_a_column_text_and_so_does_one_leading_zero() -> None:
    """BAD-10"""
    assert values(read(column_of(["1", "n/a", "n/a", *["7"] * 150])))[:2] == ["1", "n/a"]
    assert values(read(column_of(["1", "007", *["7"] * 150])))[:3] == ["1", "007", "7"]
    assert values(read(column_of(["n/a", *[""] * 1000])))[0] == "n/a"  # an empty cell is none


def test_large_ids_beside_an_exponent_stay_exact() -> None:
    """BAD-10"""
    assert objects(column_of(["12345678901234567", "1e-05", "0.1"]), "x") == [
        Literal("12345678901234567", XSD + "integer"),
        Literal("1e-05", XSD + "double"),
        Literal("0.1", XSD + "decimal"),
    ]


def test_columns_that_are_parts_of_events_are_attributes_with_the_types_of_their_cells(tmp_path: Path) -> None:
    """BAD-10, C-30. A cell of a bad event is no bad cell: the event is reported."""
    path = tmp_path / "s.csv"
    rows = "".join(f"{row},{row},{row}.5,{row % 2}\n" for row in range(20180501, 20180521))
    path.write_text("ts,id,n,kind\n" + rows * 6 + "20180501,x,1,1\nx,3,x,1\n")
    named = {"time": "ts", "id": "id", "type": "kind"}
    layout = TableLayout(columns=named, times=TimeReading(format="%Y%m%d"))
    types = table_types(path, layout)
    assert types is not None
    assert {name: str(types[name]) for name in ("ts", "time", "id", "n", "kind")} == {
        "ts": "integer",
        "time": "timestamp",
        "id": "integer",
        "n": "decimal(9,1)",
        "kind": "integer",
    }
    batch, bad, cell = read_batches(path, stream="s", layout=layout)
    assert not isinstance(batch, BadEvent)
    assert isinstance(cell, BadCell)
    assert isinstance(bad, BadEvent)
    assert (bad.line, cell.line, cell.text) == (123, 122, "x")
    assert [batch.id(0), batch.id(120)] == ["20180501", "x"]
    assert [str(triple.object) for triple in batch.event(0).triples] == [
        "<http://example.org/1>",
        '"20180501"^^<http://www.w3.org/2001/XMLSchema#integer>',
        '"20180501"^^<http://www.w3.org/2001/XMLSchema#integer>',
        '"20180501.5"^^<http://www.w3.org/2001/XMLSchema#decimal>',
        '"1"^^<http://www.w3.org/2001/XMLSchema#integer>',
    ]


def read_once(text: str) -> list[Event | BadEvent]:
    found: list[Event | BadEvent] = []
    for each in csv_files.read_csv_once(io.BytesIO(text.encode()), name="-", stream="s"):
        found += [each] if isinstance(each, BadEvent) else list(each)
    return found


def test_a_stream_that_can_not_be_read_twice_has_the_types_of_its_first_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """BAD-10"""
    monkeypatch.setattr(csv_files, "_BLOCK", 60)
    monkeypatch.setattr(csv_files, "_FIRST_ROWS", 20)
    with pytest.warns(ThenceWarning, match="- can't be read twice, so its first 2. rows give the types"):
        found = read_once(column_of([*["5"] * 40, "2.50", "1e-05", "x", "007", *["6"] * 10]))
    assert values(found) == [*["5"] * 40, "2.5", "1e-05", None, None, *["6"] * 10]
    assert [(each.line, each.text) for each in found if isinstance(each, BadCell)] == [(44, "x"), (45, "007")]


def test_a_short_stream_is_read_as_a_file_of_the_same_text() -> None:
    text = column_of(["1", "2.5", "", "1e3"])
    assert read_once(text) == read(text)


@given(
    st.lists(st.sampled_from(["T,1,5\n", 'T,2,"a\nb"\n', "T,3\n", "\n", "T,4,x\r\n", 'T,5,"y\n']), max_size=30),
    st.integers(1, 40),
)
def test_splits_of_a_file_hold_what_the_file_holds(lines: list[str], size: int) -> None:
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv_files, "_BLOCK", 8)
        patch.setattr(csv_files, "_SPLIT", size)
        path = Path(folder) / "s.csv"
        path.write_bytes(b"\xef\xbb\xbftype,time,x\n" + "".join(lines).encode())
        limits = Limits(event_bytes=50)
        types = csv_files.types_of_csv(path, limits=limits)
        assert types.splits is not None
        read = [csv_files.read_csv(path, stream="s", limits=limits, types=types, split=each) for each in types.splits]
        apart = [each for part in read for each in part]
        whole = list(csv_files.read_csv(path, stream="s", limits=limits))
    assert listed(apart) == listed(whole)


def test_a_file_is_read_twice_at_most_however_often_its_types_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In one process, and by Spark, whose workers read each part once."""
    taken: list[int] = []

    class Counted(csv_files.CsvBlocks):
        def __iter__(self) -> Any:
            taken.append(0)
            for found in super().__iter__():
                taken[-1] += len(getattr(found, "lines", ()))
                yield found

    monkeypatch.setattr(csv_files, "CsvBlocks", Counted)
    monkeypatch.setattr(csv_files, "_BLOCK", 100)
    monkeypatch.setattr(csv_files, "_SPLIT", 300)
    monkeypatch.setattr(csv_files, "_SETTLED", 0)
    monkeypatch.chdir(tmp_path)
    Path("s.csv").write_text(column_of(list(map(str, range(100)))))
    csv_files.csv_schema("s.csv")
    list(csv_files.read_csv("s.csv"))
    assert taken == [100, 100]
    taken.clear()
    Path("s.csv").write_text(column_of(list(map(str, range(101)))))
    domain = first_domain("s.csv", label="s", namespace="u:", layout=TableLayout())
    reader = SplitReader(tuple(file_splits(str(tmp_path / "s.csv"), label="s")), "u:", domain)
    assert reader.types() is not None
    numbers = pa.record_batch({"id": list(range(len(reader.parts)))})
    assert sum(len(each.batch) for each in reader.read(numbers) if not isinstance(each, BadEvent)) == 101
    whole, head, *parts = taken
    assert (whole, sum(parts), len(parts) > 2) == (101, 101, True)
    assert head < 20


def listed(found: list[Any]) -> list[str]:
    return sorted(str(row) for each in found for row in ([each] if isinstance(each, BadEvent) else positioned(each)))


def positioned(batch: Any) -> list[object]:
    return list(zip(batch, batch.positions.tolist(), strict=True))
