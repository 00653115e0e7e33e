"""What is wrong with a query or its data, as the command line tells it: a sentence, the place, status 2."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from thence.cli import main

QUERY = """PREFIX : <http://example.org/>
SELECT ?x ?y
WITHIN 10 TICKS
FROM STREAM S1 <http://example.org/s1>
FROM STREAM S2 <http://example.org/s2>
WHERE {
  SEQ (A ; B)
  DEFINE GPM A ON S1 { ?x :is :a }
  DEFINE GPM B ON S2 { ?y :is :b FILTER(?y != ?x) }
}
"""

WRONG = [
    (
        ("?y != ?x", "?y != ?z"),
        "9:47: The FILTER of GPM B names ?z, which nothing binds.",
    ),
    (("ON S2", "ON S3"), '9:19: No FROM STREAM names the stream "S3". Try: S1 or S2'),
    (("A ; B", "A ; BB"), '7:12: There is no GPM "BB". Try: DEFINE GPM BB ON S1 { … }'),
    (("GPM B", "GPM A"), '9:14: The GPM "A" is defined twice, first at 8:14. Try: a new name'),
    (("A ; B", "A! ; B"), "7:8: A negation is not allowed first: no event begins its gap."),
    (("{ ?x :is :a }", "{ ?x :is :a"), '9:3: The "{" at 8:22 is not closed before DEFINE. Try: }'),
    (("DEFINE GPM B", "DEFIN GPM B"), '9:3: "DEFIN" is not known here. Try: DEFINE'),
    (("10 TICKS", "ten TICKS"), '3:8: WITHIN needs a duration, found "ten". Try: WITHIN 10 MINUTES'),
]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def complaint(query: str, *arguments: str) -> list[str]:
    """What is printed on stderr, of a call that fails with status 2 and prints nothing else."""
    Path("q.spaseq").write_text(query)
    result = CliRunner().invoke(main, [*(arguments or ("check",)), "q.spaseq"])
    assert result.exit_code == 2
    assert result.stdout == ""
    return result.stderr.splitlines()


@pytest.mark.parametrize(("change", "message"), WRONG, ids=lambda value: str(value)[:40])
def test_a_wrong_query_is_told_with_its_place_and_a_caret(change: tuple[str, str], message: str) -> None:
    first, line, caret = complaint(QUERY.replace(*change))
    assert first == f"thence: q.spaseq:{message}"
    number, column, _ = message.split(":", 2)
    assert line == QUERY.replace(*change).splitlines()[int(number) - 1]
    assert caret == " " * (int(column) - 1) + "^"


def test_a_negation_at_the_end_needs_a_window() -> None:
    query = QUERY.replace("A ; B", "A ; B!").replace("?x ?y", "?x").replace("WITHIN 10 TICKS\n", "")
    assert complaint(query)[0] == (
        "thence: q.spaseq:6:12: A negation at the end needs WITHIN, which says how long to wait. Try: WITHIN 10 MINUTES"
    )


def test_a_query_is_refused_before_any_data_is_read() -> None:
    found = complaint(QUERY.replace("A ; B", "A ; BB"), "run", "--stream", "S1=missing.nq", "--stream", "S2=missing.nq")
    assert found[0].startswith("thence: q.spaseq:7:12:")


TICK = '{"time": 1, "graph": ""}\n'
DATE = '{"time": "2024-05-06T07:00:00Z", "graph": ""}\n'


@pytest.mark.parametrize(
    ("within", "first", "second", "message"),
    [
        (
            "WITHIN 10 MINUTES",
            TICK,
            DATE,
            "The times of stream S1 are ticks, but WITHIN 10 MINUTES is in dates: a query has one kind of time. "
            "Try: --time-unit 's', if they count from 1970; or WITHIN … TICKS, for times that are plain integers",
        ),
        (
            "WITHIN 10 TICKS",
            TICK,
            DATE,
            "The times of stream S2 are dates, but WITHIN 10 TICKS is in ticks: a query has one kind of time. "
            "Try: WITHIN … SECONDS, for times that are dates",
        ),
        (
            "",
            DATE,
            TICK,
            "The times of stream S2 are ticks, but stream S1 is in dates: a query has one kind of time.",
        ),
    ],
)
def test_ticks_and_dates_are_not_mixed(within: str, first: str, second: str, message: str) -> None:
    Path("one.jsonl").write_text(first)
    Path("two.jsonl").write_text(second)
    query = QUERY.replace("WITHIN 10 TICKS", within)
    found = complaint(query, "run", "--format", "csv", "--stream", "S1=one.jsonl", "--stream", "S2=two.jsonl")
    assert found[-1] == f"thence: {message}"


def test_a_graph_that_no_background_has_is_told_before_any_event_is_read() -> None:
    Path("one.jsonl").write_text("no event")
    query = QUERY.replace("{ ?x :is :a }", "{ ?x :is :a GRAPH :kb { ?x :owner ?o } }")
    (message,) = complaint(query, "run", "--stream", "S1=one.jsonl", "--stream", "S2=one.jsonl")
    assert message == (
        "thence: The query reads the graph <http://example.org/kb>, but no background data has it (it has: none). "
        "Supply it with background={'http://example.org/kb': PATH} or --background http://example.org/kb=PATH."
    )


def test_check_refuses_what_a_run_would_refuse() -> None:
    mixed = QUERY.replace("FILTER(?y != ?x)", "FILTER(?y != ?x || EXISTS { ?y :was :a })")
    assert "combines EXISTS" in complaint(mixed)[0]
