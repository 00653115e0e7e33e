"""An operator that is written against the interface alone runs on every path in one process."""

from __future__ import annotations

import json

import pytest

import thence
from support.operator_cases import ROWS, TIMED_OUT, events, query


def rows(found: list[thence.Match | thence.Problem]) -> list[tuple[object, ...]]:
    matches = [each for each in found if isinstance(each, thence.Match)]
    return [(each.start, each.end, each.bindings["k"].value, each.event_ids) for each in matches]  # type: ignore[union-attr]


def test_match_gives_its_rows_and_partial_matches_that_timed_out() -> None:
    found = list(query().match(events(), timed_out=True))
    assert rows(found) == ROWS
    problems = [each for each in found if isinstance(each, thence.Problem)]
    reasons = [(each.event.id, each.reason) for each in problems if each.event is not None]
    assert reasons == [*TIMED_OUT, ("e30", "a third event did not arrive before the window ended (40)")]
    assert query().match(events()).table().to_pydict()["k"] == [row[2] for row in ROWS]


def test_an_engine_emits_a_row_once_the_watermark_has_passed_its_deadline() -> None:
    engine = query().engine(problems=True)
    pushed = [(event.end, engine.push(event)) for event in events()]
    assert [(time, rows(found)) for time, found in pushed if found] == [(12, ROWS[:1]), (30, ROWS[1:])]
    (late,) = engine.push(events()[0])
    assert isinstance(late, thence.Problem)
    assert late.reason == "event time 1 is behind the watermark (30)"
    assert engine.close() == []


def test_distinct_keeps_the_first_of_equal_rows() -> None:
    assert rows(list(query("DISTINCT THREE").match(events()))) == ROWS[:1]


def test_explain_shows_it_in_every_format() -> None:
    assert query().explain() == "A window of 10 ticks for each ?k."
    assert json.loads(query().explain("json"))["length"] == 10
    assert "an open window" in query().explain("mermaid") and "an open window" in query().explain("svg")


def test_an_option_that_its_language_does_not_support_is_rejected() -> None:
    with pytest.raises(thence.InputError, match=r"background= is not supported for Three\. Try: remove it"):
        query().match(events(), background={})
