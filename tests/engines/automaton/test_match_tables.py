"""`match().table()`: the same rows, in the same order, as columns."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from pyarrow import parquet

import thence
from strategies.spaseq import Case, cases, text
from support.flows import flow_of
from support.spaseq_runs import background, batches_of
from thence.engines.automaton import match_buffer
from thence.engines.automaton.plan.spaseq import plan
from thence.errors import InputError
from thence.lang.spaseq.parser import parse
from thence.local import flow
from thence.local.match_table import MatchTable
from thence.rdf.times import Domain
from thence.runtime.results import column_names

pytestmark = pytest.mark.numba

QUERY = """
    PREFIX : <http://example.org/>
    {form} WITHIN 10 TICKS FROM STREAM S <http://example.org/s>
    {{ SEQ (A{sign}B) DEFINE GPM A ON S {{ ?x :is ?a }} DEFINE GPM B ON S {{ ?y :was ?b }} }}
"""


def query(form: str = "SELECT ?a ?b ?x", sign: str = ";") -> thence.Query:
    return thence.parse(QUERY.format(form=form, sign=sign))


def event(time: int, graph: str) -> thence.Event:
    return thence.Event(time, f"@prefix : <http://example.org/> . {graph}")


@given(cases())
def test_a_table_has_the_rows_of_the_matches_in_their_order(case: Case) -> None:
    program, streams, known = plan(parse(text(case.query))), batches_of(case), background(case)
    runner = flow_of(program, known)
    rows = list(runner.run(streams))
    names = [column.variable.name for column in program.query.form.columns]  # type: ignore[union-attr]
    collected, sorted_at_once = MatchTable(names), MatchTable(names)
    flow_of(program, known).collect(flow.in_time_order(streams), collected)
    table = collected.table(Domain.TICKS)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(match_buffer, "_MANY", 1)  # as if there were many
        flow_of(program, known).collect(flow.in_time_order(streams), sorted_at_once)
    assert sorted_at_once.table(Domain.TICKS).to_pylist() == table.to_pylist()
    assert table["start"].to_pylist() == [row.start for row in rows]
    assert table["end"].to_pylist() == [row.end for row in rows]
    for name, column in zip(names, table.columns[2:], strict=True):
        cells = [row.bindings.get(name) for row in rows]
        if pa.types.is_string(column.type):
            assert column.to_pylist() == [None if cell is None else cell.value for cell in cells]  # type: ignore[union-attr]
        elif pa.types.is_list(column.type):
            expected = [[term.value for term in cell] if isinstance(cell, tuple) else None for cell in cells]
            assert column.to_pylist() == expected
        else:
            assert column.to_pylist() == [None if cell is None else cell.python for cell in cells]  # type: ignore[union-attr]


def test_numbers_are_numbers_where_all_are_of_one_kind_and_else_texts() -> None:
    events = [event(1, ":h :is 1 . "), event(2, ":h :was 2.5e0 ."), event(3, ":h :is 7 . "), event(4, ":h :was true .")]
    table = query().match(events).table()
    assert table.schema.field("a").type == pa.int64()
    assert table.to_pylist() == [
        {"start": 1, "end": 2, "a": 1, "b": "2.5e0", "x": "http://example.org/h"},
        {"start": 3, "end": 4, "a": 7, "b": "true", "x": "http://example.org/h"},
    ]


def test_a_column_is_of_one_type_in_all_of_its_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flow, "MOST", 2)
    values = ["1", "2", '"x"', "true", "1.5", ":y", "3e0"]
    events = [
        each
        for number, value in enumerate(values)
        for each in (event(2 * number, f":h :is {value} . "), event(2 * number + 1, f":h :was {number} ."))
    ]
    table = query(sign=",").match(events).table()
    assert table["a"].to_pylist() == ["1", "2", "x", "true", "1.5", "http://example.org/y", "3e0"]
    assert table["b"].to_pylist() == list(range(7))
    assert (table["a"].num_chunks > 3, table.schema.field("b").type) == (True, pa.int64())


def test_what_is_unbound_is_null_beside_numbers_and_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(flow, "MOST", 2)
    events = [event(1, ":h :is 1 ."), event(2, ":h :was 1 ."), event(3, ":h :is 2 ; :note 5 ; :tells 'x' .")]
    events += [event(4, ":h :was 1 ."), event(5, ":h :is 3 ; :note 6 ; :tells 'y' ."), event(6, ":h :was 1 .")]
    optional = QUERY.format(form="SELECT ?a ?n ?t", sign=",").replace(
        "?a }", "?a OPTIONAL { ?x :note ?n ; :tells ?t } }"
    )
    table = thence.parse(optional).match(events).table()
    assert (table["n"].to_pylist(), table["t"].to_pylist()) == ([None, 5, 6], [None, "x", "y"])


def test_what_is_computed_or_collected_is_a_column_too() -> None:
    events = [event(1, ":h :is 1 . "), event(2, ":h :was 2 ."), event(3, ":h :was 3 .")]
    counted = thence.parse(
        QUERY.format(form="SELECT (?a + 1 AS ?more) (COLLECT(?b) AS ?all)", sign=";").replace("B)", "B+)")
    )
    assert counted.match(events).table().to_pylist() == [
        {"start": 1, "end": 2, "more": 2, "all": ["2"]},
        {"start": 1, "end": 3, "more": 2, "all": ["2", "3"]},
    ]


def test_times_are_timestamps_where_the_streams_have_dates() -> None:
    graph = "@prefix : <http://example.org/> . "
    events = [
        thence.Event("2024-01-01T00:00:00Z", graph + ":h :is 1 ."),
        thence.Event("2024-01-01T00:00:05Z", graph + ":h :was 2 ."),
    ]
    dated = thence.parse(QUERY.format(form="SELECT ?a", sign=";").replace("10 TICKS", "10 SECONDS"))
    assert [str(cell) for cell in dated.match(events).table()["end"].to_pylist()] == ["2024-01-01 00:00:05+00:00"]


def test_no_match_is_a_table_without_rows() -> None:
    table = query().match([event(1, ":h :is 1 .")]).table()
    assert (table.num_rows, table.column_names) == (0, ["start", "end", "a", "b", "x"])


def test_a_name_that_is_taken_gets_a_mark() -> None:
    assert column_names(["start", "Start", "events_", "events"]) == ["start_", "Start__", "events_", "events__"]


def test_events_that_are_made_are_no_table() -> None:
    with pytest.raises(InputError, match="this query makes events"):
        query("CONSTRUCT { ?x :is ?b }").match([]).table()


def test_a_table_after_some_matches_were_taken_has_all_of_them() -> None:
    found = query().match([event(1, ":h :is 1 . "), event(2, ":h :was 2 .")])
    next(iter(found))
    assert found.table().num_rows == found.counts.matches == 1


def test_what_could_not_be_read_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "events.nq"
    good = "<x:s> <x:p> <x:o> <x:g> .\n<x:g> <http://www.w3.org/ns/prov#generatedAtTime> 1 .\n"
    path.write_text("nonsense\n" + good.replace(" 1 .", ' "1"^^<http://www.w3.org/2001/XMLSchema#integer> .'))
    found = query().match(path)
    assert (found.table().num_rows, found.counts.bad, found.counts.events) == (0, 1, 1)


def test_a_table_without_rows_has_its_times_all_the_same() -> None:
    events = [thence.Event("2026-01-01T00:00:00Z", "@prefix : <http://example.org/> . :h :is 1 .")]
    text = QUERY.format(form="SELECT (?a + 1 AS ?more)", sign=";").replace("10 TICKS", "10 SECONDS")
    table = thence.parse(text).match(events).table()
    assert (table.num_rows, table.column_names) == (0, ["start", "end", "more"])
    assert table.schema.field("end").type == pa.timestamp("us", "UTC")


def test_a_table_of_ever_new_terms_has_the_rows_of_the_matches(tmp_path: Path) -> None:
    """So many that the kernel forgets the terms that nothing holds any more, more than once."""
    path = tmp_path / "houses.parquet"
    count = 300_000
    parquet.write_table(
        pa.table(
            {
                "type": ["Reading"] * count,
                "time": list(range(count)),
                "subject": [f"h{number // 2}" for number in range(count)],
                "watts": [number % 2 for number in range(count)],
            }
        ),
        path,
    )
    query = thence.parse("""PREFIX : <http://example.org/> SELECT ?h WITHIN 5 TICKS FROM STREAM S <http://example.org/s>
        { SEQ (A ; B) DEFINE GPM A ON S { ?h :watts 0 } DEFINE GPM B ON S { ?h :watts 1 } }""")
    expected = [f"http://example.org/h{number}" for number in range(count // 2)]
    assert query.match(path).table()["h"].to_pylist() == expected


@given(cases())
def test_matches_that_are_read_in_their_order_are_the_same(case: Case) -> None:
    """As many matches are, of which random cases have too few."""
    program, streams, known = plan(parse(text(case.query))), batches_of(case), background(case)

    def rows() -> list[tuple[object, ...]]:
        found = flow_of(program, known).run(streams)
        return [(row.certain, row.start, row.end, row.refs, row.places, dict(row.bindings)) for row in found]

    expected = rows()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(match_buffer, "_MANY", 1)
        assert rows() == expected
