"""Rows of DataFrames become the events that files of the same content hold, in whatever record batches they come."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from thence.errors import InputError
from thence.io import rdf_rows as spark_documents
from thence.io.event_files import read_events
from thence.io.rdf_rows import FORMATS
from thence.io.row_ids import row_ids
from thence.io.table_layout import TableLayout
from thence.rdf.events import BadEvent, Event
from thence.rdf.limits import Limits
from thence.rdf.times import Domain
from thence.spark.sources.row_decoder import decoder

pytestmark = [pytest.mark.numba, pytest.mark.usefixtures("however_many")]

X = "http://example.org/"
TRIPLES = pa.list_(pa.struct({"s": pa.string(), "p": pa.string(), "o": pa.string()}))
BAD = pa.struct({"line": pa.int64(), "reason": pa.string(), "text": pa.string()})


def read(record: pa.RecordBatch, **options: Any) -> list[Event | BadEvent]:
    found: list[Event | BadEvent] = []
    for each in decoder("S1", record.schema, namespace=X, **options).read(record):
        found += [each] if isinstance(each, BadEvent) else list(each)
    return found


def good(record: pa.RecordBatch, **options: Any) -> list[Event]:
    found = read(record, **options)
    assert all(isinstance(event, Event) for event in found), found
    return found  # type: ignore[return-value]


def bad(record: pa.RecordBatch, **options: Any) -> list[BadEvent]:
    return [event for event in read(record, **options) if isinstance(event, BadEvent)]


def documents(*texts: str | bytes | None, **more: Sequence[object]) -> pa.RecordBatch:
    kind = pa.binary() if any(isinstance(text, bytes) for text in texts) else pa.string()
    columns = {"time": pa.array(range(len(texts)), pa.int64()), "value": pa.array(texts, kind)}
    return pa.RecordBatch.from_pydict(columns | {name: pa.array(column) for name, column in more.items()})


def content(events: Sequence[Event | BadEvent]) -> list[object]:
    """All but the id."""
    return [(event.start, event.end, event.domain, event.triples) for event in events if isinstance(event, Event)]


# the same events as in files


def test_typed_rows_are_the_events_of_a_parquet_file(tmp_path: Path) -> None:
    table = pa.table(
        {
            "type": ["Reading", "Reading", "Alarm"],
            "time": pa.array([1, 2, 3], pa.timestamp("us")),
            "end": pa.array([1, None, 4], pa.timestamp("us")),
            "subject": ["house1", "house 2", "http://example.com/h"],
            "watts": [2150, None, 7],
            "ratio": [0.5, 1.5, float("nan")],
            "note": ["a", "", None],
        }
    )
    parquet.write_table(table, tmp_path / "power.parquet")
    [record] = table.to_batches()
    assert content(good(record)) == content(list(read_events(tmp_path / "power.parquet")))


def test_documents_are_the_events_of_a_jsonl_file(tmp_path: Path) -> None:
    graphs = [
        "<http://a/s> <http://a/p> 021.50 .",
        '<http://a/s> <http://a/p> "x"@EN .\n<http://a/s> <http://a/p> "\\u00e9" .\n<http://a/s> <http://a/p> "é" .',
        "@prefix : <http://a/> .\n:s :p 1 , 2 ; :q 'three' .",
        "",
        "# nothing",
    ]
    lines = [json.dumps({"time": time, "graph": graph}) for time, graph in enumerate(graphs)]
    (tmp_path / "power.jsonl").write_text("\n".join(lines))
    expected = content(list(read_events(tmp_path / "power.jsonl")))
    assert content(good(documents(*graphs))) == expected
    assert content(good(documents(*(graph.encode() for graph in graphs)))) == expected
    assert len(expected) == len(graphs)


def test_documents_of_quads_are_the_events_of_an_n_quads_file(tmp_path: Path) -> None:
    quads = [f'<{X}s> <{X}p> "{i}" <{X}g{i}> .\n<{X}s> <{X}q> <{X}o> <{X}g{i}> .\n' for i in range(30)]
    prov = "<http://www.w3.org/ns/prov#generatedAtTime>"
    times = [f'<{X}g{i}> {prov} "{i}"^^<http://www.w3.org/2001/XMLSchema#integer> .\n' for i in range(30)]
    (tmp_path / "power.nq").write_text("".join(time + graph for time, graph in zip(times, quads, strict=True)))
    assert content(good(documents(*quads))) == content(list(read_events(tmp_path / "power.nq")))


def test_arrays_of_triples_are_the_events_of_their_documents() -> None:
    terms = [
        [(f"<{X}s>", f"<{X}p>", f'"{i}"'), ("_:b", f"<{X}p>", f'"a\\"b{i}"@en-GB'), (f"<{X}s>", f"<{X}p>", "_:b")]
        for i in range(3)
    ]
    texts = ["".join(f"{s} {p} {o} .\n" for s, p, o in triples) for triples in terms]
    graphs = pa.array([[dict(zip("spo", triple, strict=True)) for triple in triples] for triples in terms], TRIPLES)
    ids = {"id": pa.array(["a", "b", "c"])}
    record = pa.RecordBatch.from_pydict({"time": pa.array([0, 1, 2]), "graph": graphs, **ids})
    assert good(record) == good(documents(*texts, id=["a", "b", "c"]))
    assert content(good(record.slice(1, 2))) == content(good(record))[1:]


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("n-triples", f'<{X}s> <{X}p> "1" .'),
        ("N-Quads", f'<{X}s> <{X}p> "1" <{X}g> .'),
        ("Turtle", f"PREFIX : <{X}> :s :p '1' ."),
        ("trig", f"PREFIX : <{X}> :g {{ :s :p '1' }}"),
        ("json-ld", '{"@id": "s", "http://example.org/p": "1"}'),
        (None, f"PREFIX : <{X}> :s :p '1' ."),
    ],
)
def test_a_column_names_the_format_of_each_document(format: str | None, text: str) -> None:
    [event, _] = good(documents(text, f'<{X}s> <{X}p> "1" .', format=[format, "n-quads"]))
    assert [str(term) for term in event.triples[0]] == [f"<{X}s>", f"<{X}p>", '"1"']


@pytest.mark.parametrize(
    ("times", "domain", "expected"),
    [
        (pa.array([5, 7]), Domain.TICKS, [5, 7]),
        (pa.array([5, 7], pa.int32()), Domain.TICKS, [5, 7]),
        (pa.array([5, 7], pa.timestamp("us", "Europe/Berlin")), Domain.DATETIME, [5, 7]),
        (pa.array([5, 7], pa.timestamp("us")), Domain.DATETIME, [5, 7]),
        (pa.array(["5", "+7"]), None, [5, 7]),
        (pa.array(["1970-01-01T00:00:00Z", "1970-01-01 01:00:00.000007+01:00"]), None, [0, 7]),
    ],
)
def test_times_are_ticks_or_dates_by_the_columns_type(
    times: pa.Array, domain: Domain | None, expected: list[int]
) -> None:
    typed = pa.RecordBatch.from_pydict({"type": ["A", "B"], "time": times})
    rdf = pa.RecordBatch.from_pydict({"time": times, "value": ["", ""]})
    for record in (typed, rdf):
        assert decoder("S1", record.schema, namespace=X).domain is domain
        assert [event.start for event in good(record)] == expected


# ids


def typed_rows() -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict(
        {
            "type": pa.array(["A", "A", "B", "A", "", "A"]),
            "time": pa.array([1, 1, 1, 1, 1, 1]),
            "note": pa.array(["x", "", None, "x", "x", None]),
            "more": pa.array([None, None, "x", None, None, ""]),
            "ratio": pa.array([0.0, -0.0, 1.5, 0.0, 2.5, float("nan")]),
            "price": pa.array([None] * 6, pa.decimal128(20, 2)),
            "sure": pa.array([True, False, None, True, None, None]),
        }
    )


def test_rows_without_an_id_are_known_by_what_they_hold() -> None:
    columns = {name: typed_rows().column(name) for name in typed_rows().schema.names}
    ids = row_ids("S1", columns).to_pylist()
    assert ids[0] == ids[3]
    assert len(set(ids)) == 5
    for other in ("x", "", None):  # the same in another column is another row
        assert row_ids("S1", {"a": pa.array([other]), "b": pa.array(["y"])}) != row_ids(
            "S1", {"a": pa.array(["y"]), "b": pa.array([other])}
        )
    assert len({str(row_ids("S1", {"a": column})) for column in (pa.array([""]), pa.array([None], pa.string()))}) == 2
    assert row_ids("S1", {"b": columns["note"], "a": columns["type"]}) == row_ids(
        "S1", {"a": columns["type"], "b": columns["note"]}
    )


@pytest.mark.parametrize("size", [1, 2, 5])
def test_ids_do_not_depend_on_how_rows_are_cut_or_encoded(size: int) -> None:
    for record in (typed_rows(), documents("", f"<{X}s> <{X}p> _:b .", "@prefix : <http://a/> .", "")):
        expected = [event.id for event in read(record) if isinstance(event, Event)]
        encoded = pa.RecordBatch.from_arrays(
            [column.dictionary_encode() if pa.types.is_string(column.type) else column for column in record.columns],
            record.schema.names,
        )
        for form in (record, encoded):
            parts = [form.slice(first, size) for first in range(0, len(form), size)]
            found = [event.id for part in parts for event in read(part) if isinstance(event, Event)]
            assert found == expected
        assert expected and all(len(str(id)) == 32 for id in expected)


def test_an_id_that_is_given_is_kept_and_an_empty_one_is_made() -> None:
    typed = pa.RecordBatch.from_pydict({"type": ["A"] * 3, "time": [1, 2, 3], "id": ["a b", None, ""]})
    rdf = documents("", "", "", id=['say "hi"\n', None, ""])
    for record, first in ((typed, "a b"), (rdf, 'say "hi"\n')):
        ids = [event.id for event in good(record)]
        assert ids[0] == first and all(id and id.startswith("S1:") and len(id) == 35 for id in ids[1:])
    numbers = pa.RecordBatch.from_pydict({"type": ["A"], "time": [1], "id": [7]})
    assert [event.id for event in good(numbers)] == ["7"]


# blank nodes


def subjects(events: Sequence[Event]) -> list[str]:
    return [event.triples[0].subject.value for event in events]


def test_blank_nodes_are_named_after_what_their_events_rows_hold() -> None:
    rdf = documents(*["_:b <http://a/p> 1 ."] * 3, id=["a", "x y", "a"])
    labels = subjects(good(rdf))
    assert len(set(labels)) == 3 and all(re.fullmatch("S1_[0-9a-f]{32}_b", label) for label in labels)
    typed = pa.RecordBatch.from_pydict({"type": ["A", "", "A", "B"], "time": [1] * 4, "id": ["a"] * 4})
    labels = subjects([event for event in read(typed) if isinstance(event, Event)])
    assert labels[0] == labels[1] != labels[2]  # which shards tell apart


def test_workers_that_read_different_rows_share_no_blank_node() -> None:
    rdf = documents(*[f'[] <http://a/p> "{i}" .' for i in range(4)])
    typed = pa.RecordBatch.from_pydict({"type": ["A"] * 4, "time": [1, 2, 3, 4]})
    again = typed.append_column("id", pa.array(["house"] * 4))
    for record in (rdf, typed, again):
        found = subjects(good(record.slice(0, 2))) + subjects(good(record.slice(2, 2)))
        assert len(set(found)) == 4
        assert found == subjects(good(record))


# rows that are none


def test_a_document_that_cant_be_read_is_a_bad_event_and_no_other_is() -> None:
    fine = '<http://a/s> <http://a/p> "1" .'
    record = documents(fine, f"{fine}\n<http://a/s> <http://a/p> .", "@prefix : <http://a/> . :s :p", None, fine)
    found = read(record)
    assert [event.start for event in found if isinstance(event, Event)] == [0, 4]
    reasons = [event.reason for event in found if isinstance(event, BadEvent)]
    assert reasons[0].startswith("line 2, column ")
    assert reasons[1].startswith("line 1, column ")
    assert reasons[2] == 'no graph: "value" is empty'
    assert [(event.stream, event.line) for event in found if isinstance(event, BadEvent)] == [("S1", 0)] * 3
    assert json.loads(bad(record)[1].text) == {"time": 2, "value": "@prefix : <http://a/> . :s :p"}


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"time": pa.array([None], pa.int64()), "value": [""]}, 'no time: "time" is empty'),
        ({"time": ["noon"], "value": [""]}, '"noon" is not a time. Try: "2024-05-06T07:00:00Z"'),
        ({"time": [2], "end": [1], "value": [""]}, "it ends before it starts"),
        (
            {"time": ["2"], "end": ["2024-05-06T07:00:00Z"], "value": [""]},
            "its start and its end are of different kinds",
        ),
        ({"time": [1], "value": [""], "format": ["xml"]}, '"xml" is not a format. Try: n-triples'),
        ({"time": [1], "value": ["<a:s> <a:p> 1 <a:g> ."], "format": ["n-triples"]}, "line 1, column"),
        ({"time": [1], "value": ["<a:s> <a:p> <a:o> <a:g> ."], "format": ["n-triples"]}, "line 1, column"),
        ({"time": [1], "value": ["<a:s> <a:p> <a:o> <a:g> .\n<a:s> <a:p> <a:o> <a:h> ."]}, "more than one graph"),
        ({"time": [1], "value": ["GRAPH <a:g> {} GRAPH <a:h> {}"], "format": ["turtle"]}, "line 1, column"),
        ({"time": [1], "value": ["[1]"], "format": ["json-ld"]}, "an event is a JSON object"),
        ({"time": [1], "value": [b'<a:s> <a:p> "\xff" .']}, "line 1, column"),
        ({"time": [1], "graph": pa.array([None], TRIPLES)}, 'no graph: "graph" is empty'),
        ({"time": [1], "graph": pa.array([[None]], TRIPLES)}, "null is not a valid subject"),
    ],
)
def test_what_is_no_event_is_told_with_its_reason(columns: dict[str, Any], reason: str) -> None:
    [event] = read(pa.RecordBatch.from_pydict(columns))
    assert isinstance(event, BadEvent)
    assert event.reason.startswith(reason)


def test_the_reason_is_that_of_the_format_that_was_most_likely_meant() -> None:
    quad = '<http://a/s> <http://a/p> "1" <http://a/g> .\n'
    [as_quads, as_turtle] = bad(
        documents(quad + quad + "<http://a/s> oops .\n", "<http://a/s> <http://a/p> 1 ;\n oops")
    )
    assert as_quads.reason.startswith("line 3, ")
    assert as_turtle.reason.startswith("line 2, ")


@pytest.mark.parametrize(
    ("s", "p", "o"),
    [
        ("<a:s> <a:p>", "<a:o>", ""),
        ("# <a:s>", "<a:p>", "<a:o>"),
        ("<a:s>", "<a:p>", "<a:o> <a:g>"),
        ("<a:s>", "<a:p>", '"x" .\n<a:s> <a:p> "y"'),
        ("_:a<a:p>", "<a:o>", "<a:g>"),
        ('"x"', "<a:p>", "<a:o>"),
        ("<a:s>", "_:p", "<a:o>"),
        ("<a:s>", "<a:p>", "7"),
        ("<a:s>", "<a:p>", " <a:o>"),
    ],
)
def test_a_field_of_a_triple_is_one_term_and_nothing_else(s: str, p: str, o: str) -> None:
    graph = pa.array([[{"s": s, "p": p, "o": o}], []], TRIPLES)
    found = read(pa.RecordBatch.from_pydict({"time": [1, 2], "graph": graph}))
    assert [type(event) for event in found] == [Event, BadEvent]
    assert " is not a valid " in found[1].reason  # type: ignore[union-attr]


def test_texts_that_are_no_utf_8_are_bad_events() -> None:
    wrong = pa.array([b"a", b"\xff"]).view(pa.string())
    for name in ("id", "time", "format"):
        columns = {"time": pa.array(["1", "2"]), "value": pa.array(["", ""]), "format": pa.array(["turtle"] * 2)}
        columns[name] = pa.array([b"1", b"\xff"]).view(pa.string()) if name == "time" else wrong
        reasons = [event.reason for event in bad(pa.RecordBatch.from_pydict(columns))]
        assert f'column "{name}" is not UTF-8' in reasons
    typed = pa.RecordBatch.from_pydict({"type": ["A", "A"], "time": [1, 2], "id": wrong})
    assert [event.reason for event in bad(typed)] == ['column "id" is not UTF-8']


def test_limits_hold_for_each_document() -> None:
    line = '<http://a/s> <http://a/p> "{}" .\n'
    many = "".join(line.format(i) for i in range(4))
    turtle = "@prefix : <http://a/> . :s :p 1, 2, 3, 4 ."
    large = line.format("x" * 400)
    record = documents(many, turtle, large, line.format(1))
    limits = Limits(event_bytes=300, event_triples=3)
    assert [event.reason for event in bad(record, limits=limits)] == [limits.describe_event()] * 3


def test_documents_that_stand_for_much_more_are_read_a_few_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = f"@prefix : <http://a/{'x' * 1000}> . " + "".join(f":s{i} :p :o . " for i in range(50))
    record = documents("<a:s> <a:p> <a:o> .", *[bomb, "oops", bomb, "<a:s> <a:p> <a:o> .", bomb])
    together = read(record)
    monkeypatch.setattr(spark_documents, "_ROOM", 100_000)
    reads = decoder("S1", record.schema, namespace=X)
    batches = [found for found in reads.read(record) if not isinstance(found, BadEvent)]
    assert len(batches) == 3
    assert read(record) == together
    assert [event.start for batch in batches for event in batch] == [0, 1, 3, 4, 5]


def test_what_our_source_could_not_read_is_bad_again() -> None:
    problems = pa.array([None, {"line": 7, "reason": "no time", "text": "<a:s> …"}], BAD)
    record = pa.RecordBatch.from_pydict({"time": [1, None], "value": ["", None], "bad": problems})
    assert bad(record) == [BadEvent("S1", 7, "no time", "<a:s> …")]
    assert len(read(record)) == 2
    flags = pa.RecordBatch.from_pydict({"time": [1], "value": [""], "bad": [True]})
    assert "bad" not in decoder("S1", flags.schema, namespace=X).columns


# together as alone

LINES = st.sampled_from(
    [
        '<http://a/s> <http://a/p> "1" .',
        '<http://a/s> <http://a/p> "1" <http://a/g> .',
        '<http://a/s> <http://a/p> "1" <http://a/h> .',
        "_:b <http://a/p> _:c .",
        '<http://a/s> <http://a/p> "\\u00e9"@EN .',
        '<http://a/s> <http://a/p> """a',
        'b""" .',
        "@prefix : <http://a/> .",
        ":s :p 1 .",
        "[] :p [ :q () ] .",
        "# a comment",
        "",
        "\r",
        "oops",
        "<http://a/s>",
        "<http://a/p> 1 .",
    ]
)
DOCUMENTS = st.lists(st.none() | st.lists(LINES, max_size=4).map("\n".join), max_size=6)


@given(DOCUMENTS, st.booleans())
def test_documents_read_together_are_as_those_read_alone(texts: list[str | None], ends: bool) -> None:
    texts = [text + "\n" if text is not None and ends else text for text in texts]
    record = documents(*texts, id=[str(number) for number in range(len(texts))])
    alone = [event for row in range(len(record)) for event in read(record.slice(row, 1))]
    together = read(record)
    for kind in (Event, BadEvent):
        assert [event for event in together if isinstance(event, kind)] == [
            event for event in alone if isinstance(event, kind)
        ]
    assert len(together) == len(texts)


WHATEVER = st.lists(st.tuples(st.none() | st.binary(max_size=40), st.sampled_from([None, *FORMATS, "xml"])), max_size=5)


@given(WHATEVER)
def test_whatever_stands_in_a_row_is_an_event_or_a_bad_one(rows: list[tuple[bytes | None, str | None]]) -> None:
    values, names = pa.array([row[0] for row in rows], pa.binary()), pa.array([row[1] for row in rows], pa.string())
    record = pa.RecordBatch.from_pydict(
        {"time": pa.array(range(len(rows)), pa.int64()), "value": values, "format": names}
    )
    assert len(read(record)) == len(rows)


# which columns


def test_a_decoder_is_the_same_after_it_was_sent() -> None:
    record = typed_rows()
    first = decoder("S1", record.schema, namespace=X)
    before = [list(found) for found in first.read(record) if not isinstance(found, BadEvent)]
    sent = pickle.loads(pickle.dumps(first))
    assert sent == first
    assert [list(found) for found in sent.read(record) if not isinstance(found, BadEvent)] == before


def test_columns_have_other_names_by_a_mapping() -> None:
    record = pa.RecordBatch.from_pydict(
        {"key": [b""], "value": [b"<a:s> <a:p> <a:o> ."], "timestamp": [7], "topic": ["t"]}
    )
    found = decoder("S1", record.schema, namespace=X, layout=TableLayout("S1", {"time": "timestamp"}))
    assert set(found.columns) == {"timestamp", "value"}
    assert [
        event.start for event in good(record.select(found.columns), layout=TableLayout("S1", {"time": "timestamp"}))
    ] == [7]
    typed = pa.RecordBatch.from_pydict({"kind": ["A"], "ts": [7], "value": ["on"]})
    [event] = good(typed, layout=TableLayout("S1", {"type": "kind", "time": "ts"}))
    assert [str(triple.predicate) for triple in event.triples][1:] == [
        f"<{X}{name}>" for name in ("kind", "ts", "value")
    ]


def test_beside_a_type_a_value_is_an_attribute_unless_it_was_named() -> None:
    record = pa.RecordBatch.from_pydict({"type": ["A"], "time": [7], "value": ["<a:s> <a:p> <a:o> ."]})
    assert len(good(record)[0].triples) == 2
    assert len(good(record, layout=TableLayout("S1", {"value": "value"}))[0].triples) == 1


@pytest.mark.parametrize(
    ("columns", "mapping", "reason"),
    [
        (["type"], {}, 'stream S1: no column is called "time"'),
        (["value"], {}, 'stream S1: no column is called "time"'),
        (["value", "graph", "time"], {}, "stream S1: an event comes from one of the columns value and graph"),
        (
            ["value", "moment"],
            {"time": "momnet"},
            'stream S1: no column is called "momnet". Did you mean moment?',
        ),
        (["value", "ts"], {"tiem": "ts"}, 'stream S1: an event from the column value has no "tiem". Try: time'),
        (["type", "time", "ts"], {"format": "ts"}, "stream S1: an event from the column type has no"),
    ],
)
def test_columns_that_are_no_events_are_refused_with_a_cure(
    columns: list[str], mapping: dict[str, str], reason: str
) -> None:
    with pytest.raises(InputError) as error:
        decoder(
            "S1", pa.schema([(name, pa.string()) for name in columns]), namespace=X, layout=TableLayout(columns=mapping)
        )
    assert str(error.value).startswith(reason)
    assert "Try: " in str(error.value) or "Did you mean" in str(error.value)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("time", pa.date32()),
        ("time", pa.float64()),
        ("id", pa.float64()),
        ("value", pa.int64()),
        ("graph", pa.string()),
    ],
)
def test_a_column_of_a_type_that_cant_be_is_refused(name: str, kind: Any) -> None:
    rdf = "graph" if name == "graph" else "value"
    fields = {"time": pa.int64(), rdf: pa.string()} | {name: kind}
    with pytest.raises(InputError, match=f'column "{name}" is of type'):
        decoder("S1", pa.schema(fields), namespace=X, layout=TableLayout("S1", {rdf: rdf}))


def test_a_value_that_is_no_document_is_an_attribute_of_a_row_without_a_type() -> None:
    record = pa.RecordBatch.from_pydict({"time": [7], "value": [2.5]})
    (event,) = good(record, layout=TableLayout("S1", named_types=("Reading",)))
    assert [str(triple.object).partition("^")[0] for triple in event.triples] == [f"<{X}Reading>", '"2.5"']
