"""UNION, FROM and IN STREAM in their smallest cases."""

from __future__ import annotations

from collections import Counter

from hypothesis import given

from oracle.sase_composed import answers, columns, stream, totals, written
from oracle.sase_composed_cases import Text, texts
from oracle.sase_notation import event, line, read_all
from oracle.sase_query import Event
from strategies import examples


def found(text: str, **streams: list[Event]) -> list[tuple[int, int, int, dict[str, object]]]:
    given = {name: tuple(events) for name, events in streams.items()}
    return [(row.start, row.end, row.certain, dict(row.cells)) for row in answers(read_all(text), given)]


def test_union_is_a_bag_of_rows_that_have_columns_by_name() -> None:
    text = "A a RETURN a.x AS x UNION A a RETURN a.x AS x UNION B b RETURN b.x AS y"
    assert found(text, events=line("b1:2 a1:1")) == [(1, 1, 1, {"y": 2}), *[(2, 2, 2, {"x": 1})] * 2]
    assert columns(read_all(text)) == ("x", "y")


def test_a_made_event_has_the_time_at_which_its_row_was_certain() -> None:
    text = "A a, ~N n WITHIN 3 RETURN (a.x AS x) AS Quiet IN STREAM s; FROM s Quiet q RETURN q.x AS x, q.time AS t"
    assert found(text, events=line("a1:7")) == [(4, 4, 4, {"x": 7, "t": 4})]


def test_it_is_of_the_type_that_as_gives_else_of_its_streams() -> None:
    queries = read_all("A a RETURN a.x AS x IN STREAM s; A a RETURN (a.x) AS T IN STREAM t; FROM s, t ANY a RETURN a.x")
    given = {"events": tuple(line("a1:1"))}
    assert [(each.type, each.attributes) for each in stream(queries, given, "s")] == [("s", (("x", 1),))]
    assert [(each.type, each.attributes) for each in stream(queries, given, "t")] == [("T", (("a.x", 1),))]


def test_the_parts_of_a_composite_are_attributes_and_what_is_missing_is_none() -> None:
    text = "A a RETURN a.(x, y) AS c, a.y AS y IN STREAM s; FROM s s a RETURN a.`c.x` AS x, a.`c.y` AS y, a.c AS c"
    assert found(text, events=line("a1:1")) == [(1, 1, 1, {"x": 1, "y": None, "c": None})]


def test_made_events_of_one_time_are_alternatives() -> None:
    text = "A a, B b WHERE skip_till_any_match(a, b) { } RETURN b.x AS x IN STREAM s; FROM s s a, s b RETURN b.x AS x"
    assert found(text, events=line("a1 a2 b1:1 b2:2")) == [(3, 4, 4, {"x": 2})] * 4


def test_from_replaces_the_input_and_contiguity_is_that_of_the_streams_read() -> None:
    strict = "A a, A b WHERE strict_contiguity(a, b) { } RETURN b.x AS x"
    one, other = [event("a1", 1), event("a2", 3)], [event("c1", 2)]
    assert len(found(f"FROM one {strict} UNION FROM other A c RETURN c.x", one=one, other=other)) == 1
    assert len(found(f"FROM one, other {strict}", one=one, other=other)) == 0


def test_a_query_may_stand_before_the_one_that_it_reads() -> None:
    text = "FROM s s a RETURN a.x AS x IN STREAM t; A a RETURN a.x AS x IN STREAM s; FROM t t a RETURN a.x AS x"
    assert found(text, events=line("a1:1")) == [(1, 1, 1, {"x": 1})]


def test_totals_of_a_union_stand_side_by_side() -> None:
    text = read_all("A a AGGREGATE count(*) AS n UNION B b AGGREGATE count(*) AS n, sum(b.x) AS s")
    assert totals(text, {"events": tuple(line("a1 a2 b1:3"))}) == [(("n", 2),), (("n", 1), ("s", 3))]


def test_texts_are_read_as_they_are_written_often_have_rows_and_use_whatever_there_is() -> None:
    counts = Counter[str]()

    @examples(1)
    @given(texts())
    def look(text: Text) -> None:
        assert read_all(written(text.queries)) == text.queries
        counts["all"] += 1
        if rows := answers(text.queries, text.given):
            counts.update(["rows", *(["several"] if len(rows) > 1 else []), *features(text)])

    look()
    assert counts["rows"] > 0.3 * counts["all"]
    assert {name: counts[name] for name in FEATURES if counts[name] < 0.01 * counts["all"]} == {}


FEATURES = ("several", "union", "made", "made twice", "union made", "of what is made", "two inputs", "two streams")


def features(text: Text) -> set[str]:
    made = text.queries[:-1]
    named = {
        "union": len(text.queries[-1]) > 1,
        "made": len(made) == 1,
        "made twice": len(made) == 2,
        "union made": any(len(union) > 1 for union in made),
        "of what is made": any(set(block.streams) & set("ABC") for union in made for block in union),
        "two inputs": len(text.given) > 1,
        "two streams": any(len(block.streams) > 1 for union in text.queries for block in union),
    }
    return {name for name, there in named.items() if there}
