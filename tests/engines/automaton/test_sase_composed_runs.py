"""SASE+ with several queries in a text: what one of them alone would do rightly, all of them do, too."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import thence
from thence.columns.batches import encode
from thence.engines.automaton.plan.sase import compile_query
from thence.lang.sase import parser as sase
from thence.local.flow import LocalFlow
from thence.runtime.watermark import TimeDomain

pytestmark = pytest.mark.numba

UNION = "PATTERN A a RETURN a.x AS x UNION PATTERN ANY a WHERE a.y > 5 RETURN a.y AS y"
FEEDING = """
    FROM S PATTERN A a WHERE a.y > 4 RETURN (a.y AS n) AS B IN STREAM Made;
    FROM Made, S PATTERN SEQ(B b, ANY c) WITHIN 9 RETURN b.n AS n, c.x AS x
"""
ROWS = {
    UNION: [(1, 1, 1, None), (2, 2, 2, None), (3, 3, None, 6)],
    FEEDING: [(2, 3, 5, 3)],
}


@pytest.mark.parametrize("text", ROWS)
@pytest.mark.parametrize("order", [[0, 1, 2], [0, 2, 1]])
def test_a_table_has_what_any_of_them_asks_for_in_whatever_order_events_stand(
    text: str, order: list[int], tmp_path: Path
) -> None:
    columns = {"type": ["A", "A", "B"], "time": [1, 2, 3], "x": [1, 2, 3], "y": [4, 5, 6]}
    events = pa.table(columns).take(pa.array(order))
    pq.write_table(events, tmp_path / "s.parquet", row_group_size=1)
    found = thence.parse(text).match(tmp_path / "s.parquet").table()
    assert [tuple(row.values()) for row in found.to_pylist()] == ROWS[text]


def test_events_that_two_queries_make_of_one_row_are_told_apart() -> None:
    query = thence.parse("""
        PATTERN A a RETURN (a.x AS x) AS B IN STREAM Made
        UNION PATTERN A a RETURN (a.x AS x) AS C IN STREAM Made
        UNION PATTERN A a RETURN (a.x AS x) AS C IN STREAM Made;
        FROM Made PATTERN ANY a RETURN a.x AS x""")
    found = list(query.match([thence.Event(1, {"type": "A", "x": 1})]))
    assert len({match.event_ids for match in found if isinstance(match, thence.Match)}) == 3
    assert len({match.id for match in found if isinstance(match, thence.Match)}) == 3


@pytest.mark.parametrize("text", ROWS)
def test_a_query_begun_anew_knows_nothing_of_what_it_was_fed(text: str) -> None:
    (name,) = (query := sase.parse(text)).streams
    runner, columns = LocalFlow(compile_query(query)), {"x": 1, "y": 7}
    events = [thence.Event(time, {"type": "A", **columns}) for time in (1, 2)]
    batches = {name.name: [encode(events, stream=name.name)]}
    first = [row.bindings for row in runner.feed(batches, 2)]
    assert first and [row.bindings for row in runner.fresh(TimeDomain()).feed(batches, 2)] == first


@pytest.mark.parametrize(
    "text",
    [
        "PATTERN SEQ(A+ a[]) WITHIN 5 RETURN count(a[]) AS n",
        "PATTERN SEQ(A+ a[]) WHERE strict_contiguity(a[]) { } WITHIN 5 RETURN count(a[]) AS n",
        "PATTERN SEQ(A a, ~B b) WITHIN 5 RETURN a.x AS n",
        "PATTERN C c RETURN c.x AS n UNION PATTERN SEQ(A a, ~B b) WITHIN 5 RETURN a.x AS n",
        "PATTERN SEQ(A a, ~B b) WITHIN 5 RETURN (a.x AS x) AS C IN STREAM S; FROM S PATTERN C c RETURN c.x AS n",
    ],
)
def test_a_row_that_waits_for_time_comes_once_time_has_passed(text: str) -> None:
    engine = thence.parse(text).engine()
    assert engine.push(thence.Event(1, {"type": "A", "x": 1})) == []
    assert engine.advance(6) == []  # at which a B may still come
    (match,) = engine.advance(7)
    assert isinstance(match, thence.Match)
    assert (match.certain, match.bindings["n"].python) == (6, 1)  # type: ignore[union-attr]
    assert engine.close() == []


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("FROM s, s PATTERN A a RETURN a.x AS x", [{"x": 1}, {"x": 2}]),
        ("FROM s, s PATTERN A a AGGREGATE count(*) AS n, sum(a.x) AS x", [{"n": 2, "x": 3}]),
        (
            "FROM s, s PATTERN A a RETURN a.x AS x IN STREAM t; FROM t, t PATTERN t b RETURN b.x AS x",
            [{"x": 1}, {"x": 2}],
        ),
    ],
)
def test_a_stream_that_is_named_twice_is_read_once(text: str, rows: list[dict[str, int]]) -> None:
    events = [thence.Event(time, {"type": "A", "x": time}) for time in (1, 2)]
    found = thence.parse(text).match({"s": events}).table()
    assert [{name: row[name] for name in rows[0]} for row in found.to_pylist()] == rows
