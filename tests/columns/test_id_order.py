"""Ids are ordered by text and number (C-33), wherever they order something."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

import thence
from oracle.id_order import id_order
from support.shards import Pipeline
from thence.columns.id_order import id_key, id_ranks
from thence.columns.texts import Texts

IDS = st.one_of(
    st.builds("{}:{}".format, st.sampled_from(["S", "", "urn:x", "é"]), st.integers(0, 120)),
    st.text("S:0123é", max_size=6),
    st.builds("S:{}".format, st.integers(10**17, 10**21)),
)


@given(st.lists(IDS, max_size=12))
@example(["S:10", "S:6", "S:06", "S:", ":", "", "S:0", "S:00", "S", "7", ":7"])
@example(["S:100000000000000000000", "S:99999999999999999999", "S:099999999999999999998"])
def test_ids_are_ordered_by_text_and_number(ids: list[str]) -> None:
    ordered = sorted(ids, key=id_order)
    ranks = id_ranks(Texts.of(ids)).tolist()
    assert sorted(ids, key=id_key) == ordered
    assert [name for _, name in sorted(zip(ranks, ids, strict=True))] == ordered
    assert len(set(ranks)) == len(set(ids))


PAIRS = """PREFIX : <http://example.org/> SELECT ?x FROM STREAM S <x:s>
{ SEQ (A) DEFINE GPM A ON S { ?x a :A } }"""


def test_rows_of_one_time_are_in_the_order_of_numbers() -> None:
    """Of matches, of pushed events, and of several SELECTs, which are merged."""
    events = [thence.Event(1, {"type": "A"}, id=f"S:{number}") for number in (10, 9, 100, 6)]
    in_order = [("S:6",), ("S:9",), ("S:10",), ("S:100",)]
    found = thence.parse(PAIRS).match(events)
    assert [match.event_ids for match in found if isinstance(match, thence.Match)] == in_order
    select = "SELECT ?x WHERE { ?x a <http://example.org/A> }\n"
    both = thence.parse(2 * select, language="ep-sparql").match(events)
    rows = [(match.event_ids, match.query) for match in both if isinstance(match, thence.Match)]
    assert rows == [(ids, number) for ids in in_order for number in (1, 2)]


def test_events_of_one_time_without_a_position_are_taken_by_their_ids() -> None:
    """C-5, C-7: on Spark, as its workers run it."""
    program = "CONSTRUCT FACT ?x at ?y WHERE REPLACE ?x at ?old ON ?x moved ?y UNION SINCE ?x born ?y"
    query = thence.parse(program, language="tef-sparql")
    (stage,) = query.dataflow().stages
    born = thence.Event(0, "<http://example.org/a> <http://example.org/born> 0 .", id="S:0")
    moves = [
        thence.Event(1, f"<http://example.org/a> <http://example.org/moved> {number} .", id=f"S:{number}")
        for number in (10, 9, 100, 6)
    ]
    events = [(query.streams[0], event) for event in (born, *moves)]
    rows = Pipeline(stage.program, events, 1, operator=stage.operator).batch()
    (last,) = (row["fact"] for row in rows if row["start"] == 1)
    assert '"100"' in str(last)
