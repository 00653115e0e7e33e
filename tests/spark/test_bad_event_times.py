"""The time of a bad event (BAD-6): an event that extraction refuses has arrived, so the watermark sees its time (C-15);
apart from that it is not an event: in one process, in batch and in micro-batches alike, also for an event that only
one of several stages refuses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

import thence
from support.shards import Pipeline

pytestmark = pytest.mark.numba

Shown = tuple[int, int, str]

STAGES = """
    PATTERN SEQ(A a, A b) WHERE strict_contiguity(a, b) { a.x > 0 } RETURN a.x AS n
    UNION PATTERN SEQ(A a, A b) WHERE strict_contiguity(a, b) { a.y > 0 } RETURN b.y AS n
    UNION PATTERN SEQ(A a, ~(B b)) WHERE skip_till_next_match(a) { a.z > 0 } WITHIN 2 RETURN a.z AS n
"""
FACTS = """
    PREFIX : <http://example.org/>
    CONSTRUCT FACT { :f :is ?v } WHERE { SINCE ?a :p ?v UNION UNTIL ?b :q ?v }
    SELECT ?n WHERE ?x :is ?n
    SELECT ?n WHERE ?a :p ?n
"""
CASES = {
    "sase+": (
        STAGES,
        [
            (1, ":s a :A ; :x 1 ; :y 2 ; :z 3 ."),
            (3, ":s a :A ; :x 4 ; :y 5, 6 ; :z 7 ."),  # the second stage refuses it
            (5, ":s a :A ; :x 8 ; :y 9 ; :z 10 ."),
            (9, ":s a :A ; :x 1 ; :y 1 ; :z 1, 2 ."),  # the third one does
        ],
        [(1, 3, "1"), (1, 5, "9"), (3, 5, "4"), (5, 9, "1"), (5, 9, "8")],
    ),
    "tef-sparql": (
        FACTS,
        [
            (1, ":a :p 1 ."),
            (3, ":f :is 7 . :a :p 6 ."),
            (3, ":a :p 2 ."),
            (6, ":f :is 7 . :a :p 5 ."),
        ],
        [(1, 1, "1"), (1, 1, "1"), (3, 3, "2"), (3, 3, "2")],
    ),
}
EXPIRED = {"sase+": [(1, 1, "3"), (3, 3, "7"), (5, 5, "10")], "tef-sparql": []}


def given(language: str) -> list[thence.Event]:
    return [
        thence.Event(time, f"@prefix : <http://example.org/> . {graph}", id=f"e{number}")
        for number, (time, graph) in enumerate(CASES[language][1])
    ]


def shown(rows: Sequence[object]) -> list[Shown]:
    return sorted((row.start, row.end, row.bindings["n"].value) for row in rows if isinstance(row, thence.Match))  # type: ignore[misc]


def spark_shown(rows: Sequence[Mapping[str, object]]) -> list[Shown]:
    return sorted((row["start"], row["end"], row["n"]["value"]) for row in rows if row["problem"] is None)  # type: ignore[misc, index]


@pytest.mark.parametrize("language", CASES)
def test_in_one_process_each_stage_judges_for_itself(language: str) -> None:
    query = thence.parse(CASES[language][0], language=language)
    matching = query.match(given(language), problems=True)
    found = list(matching)
    assert shown(found) == sorted(CASES[language][2] + EXPIRED[language])
    assert sorted(each.event.id for each in found if isinstance(each, thence.Problem)) == ["e1", "e3"]  # type: ignore[union-attr, type-var]
    assert (matching.counts.events, matching.counts.bad) == (2, 2)


@pytest.mark.parametrize("shards", [1, 2])
@pytest.mark.parametrize("language", CASES)
def test_batch_and_micro_batches_are_as_one_process(language: str, shards: int) -> None:
    """C-15, C-16: after each event, what is certain by the watermark, which bad events move, too."""
    query = thence.parse(CASES[language][0], language=language)
    stages, events = query.dataflow().stages, given(language)
    engine = query.engine()
    pushed = [shown(engine.push(event)) for event in events]
    assert engine.watermark.now == events[-1].end and any(pushed)

    def pipelines() -> list[Pipeline]:
        named = [("events", event) for event in events]
        return [Pipeline(each.program, named, shards, operator=each.operator) for each in stages]

    running = pipelines()
    for number, expected in enumerate(pushed):
        rows = [row for each in running for row in each.micro_batches([[number]])]
        assert spark_shown(rows) == expected, number
    whole = [row for each in pipelines() for row in each.batch()]
    assert spark_shown(whole) == shown(list(query.match(events)))
