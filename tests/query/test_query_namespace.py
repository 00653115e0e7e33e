"""Typed events speak in bare names: the query says in which namespace they are."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

import thence
from thence.cli import main
from thence.rdf.terms import IRI

pytestmark = pytest.mark.numba

BODY = """
SELECT ?house ?before ?after
WITHIN 10 TICKS
FROM STREAM S <http://streams/power>
WHERE {
  SEQ (A ; B)
  DEFINE GPM A ON S { ?house a :Reading ; :watts ?before }
  DEFINE GPM B ON S { ?house a :Reading ; :watts ?after FILTER(?after > ?before) }
}"""
OTHER = f"PREFIX : <http://other/ns#> {BODY}"
ROWS = [("h1", 1, 400), ("h2", 2, 300), ("h1", 3, 900), ("h2", 4, 100)]
TYPED = [{"type": "Reading", "subject": house, "watts": watts} for house, _, watts in ROWS]
EXPECTED = [(1, 3, "http://other/ns#h1", "400", "900")]


def as_jsonl(folder: Path) -> Path:
    path = folder / "s.jsonl"
    lines = [json.dumps(typed | {"time": time}) for typed, (_, time, _) in zip(TYPED, ROWS, strict=True)]
    path.write_text("\n".join(lines))
    return path


def as_csv(folder: Path) -> Path:
    path = folder / "s.csv"
    path.write_text("type,subject,time,watts\n" + "".join(f"Reading,{h},{t},{w}\n" for h, t, w in ROWS))
    return path


def as_parquet(folder: Path) -> Path:
    path = folder / "s.parquet"
    columns = [{**typed, "time": time} for typed, (_, time, _) in zip(TYPED, ROWS, strict=True)]
    pq.write_table(pa.Table.from_pylist(columns), path)
    return path


def as_objects(_: Path) -> list[thence.Event]:
    return [thence.Event(time, typed) for typed, (_, time, _) in zip(TYPED, ROWS, strict=True)]


def comparable(found: list[thence.Match | thence.Problem]) -> list[tuple[object, ...]]:
    matches = [match for match in found if isinstance(match, thence.Match)]
    values = [[match.bindings[name].value for name in ("house", "before", "after")] for match in matches]  # type: ignore[union-attr]
    return [(match.start, match.end, *bound) for match, bound in zip(matches, values, strict=True)]


@pytest.mark.parametrize("made", [as_jsonl, as_csv, as_parquet, as_objects])
@pytest.mark.parametrize(
    "text",
    [
        OTHER,
        f"BASE <http://other/ns#> PREFIX : <#> {BODY}",
        f"BASE <http://other/ns#> {BODY.replace(':Reading', '<#Reading>').replace(':watts', '<#watts>')}",
    ],
)
def test_the_names_of_typed_events_are_in_the_querys_namespace_wherever_they_come_from(
    made: object, text: str, tmp_path: Path
) -> None:
    query = thence.parse(text)
    assert callable(made)
    found = list(query.match(made(tmp_path)))
    assert comparable(found) == EXPECTED
    assert found[0].events[0].triples[1].predicate == IRI("http://other/ns#watts")


def test_pushed_events_are_in_the_querys_namespace_and_keep_their_attributes() -> None:
    engine = thence.parse(OTHER).engine()
    found = [match for event in as_objects(Path()) for match in engine.push(event)] + engine.close()
    assert comparable(found) == EXPECTED
    assert [event.attributes for event in found[0].events] == [TYPED[0], TYPED[2]]


@pytest.mark.parametrize("made", [as_jsonl, as_csv, as_parquet])
@pytest.mark.parametrize(("text", "options"), [(OTHER, []), (BODY, ["--namespace", "http://other/ns#"])])
def test_the_command_reads_files_in_the_querys_namespace(
    made: object, text: str, options: list[str], tmp_path: Path
) -> None:
    assert callable(made)
    query = tmp_path / "q.spaseq"
    query.write_text(text)
    call = ["run", str(query), "--stream", str(made(tmp_path)), "--format", "csv", "--engine", "local", *options]
    result = CliRunner().invoke(main, call)
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == ["start,end,house,before,after", "1,3,http://other/ns#h1,400,900"]


def test_a_namespace_that_is_given_goes_before_that_of_the_text() -> None:
    elsewhere = thence.parse(OTHER, namespace="http://elsewhere/")
    assert elsewhere.algebra.namespace == "http://elsewhere/"
    assert comparable(list(elsewhere.match(as_objects(Path())))) == []


def test_an_event_made_in_a_namespace_stays_there() -> None:
    events = [
        thence.Event(time, typed, namespace="http://other/ns#") for typed, time in zip(TYPED, (1, 2, 3, 4), strict=True)
    ]
    assert comparable(list(thence.parse(f"PREFIX : <urn:n:> {BODY}").match(events))) == []
    assert comparable(list(thence.parse(OTHER).match(events))) == EXPECTED


def test_a_namespace_too_long_for_an_events_attributes_makes_it_bad() -> None:
    query = thence.parse(f"PREFIX : <urn:{'n' * 1000}:> {BODY}")
    event = thence.Event(1, {"type": "T"} | dict.fromkeys(map(str, range(20_000)), 1))
    good = thence.Event(2, {"type": "T"})
    assert [found.problem for found in query.match([event, good], problems=True)] == ["bad"]
    assert [found.problem for found in query.engine(problems=True).push(event)] == ["bad"]


def test_a_namespace_that_is_no_iri_is_refused() -> None:
    with pytest.raises(
        thence.InputError, match=r"The namespace 'ns' is not an absolute IRI\. Try: http://example\.org/"
    ):
        thence.parse(BODY, namespace="ns")
