"""What GRAPH reads of a background with and without graph names: one rule for all languages (SP-55, EP-40, RS-3)."""

from __future__ import annotations

from pathlib import Path

import pytest

import thence
from thence.errors import InputError

PREFIX = "PREFIX : <http://example.org/> "
QUERIES = {
    "spaseq": "SELECT ?y FROM STREAM S <http://example.org/S> WHERE { SEQ (A) "
    "DEFINE GPM A ON S { ?x :p :b GRAPH :g { ?x :k ?y } } }",
    "ep-sparql": "SELECT ?y { ?x :p :b GRAPH :g { ?x :k ?y } }",
    "rsep-ql": "REGISTER STREAM <out> AS SELECT ISTREAM ?y "
    "FROM NAMED WINDOW :w ON <http://example.org/S> [RANGE 5 SLIDE 1] "
    "WHERE { WINDOW :w { ?x :p :b } GRAPH :g { ?x :k ?y } }",
}
DEFAULT = "@prefix : <http://example.org/> . :a :k :default . "
NAMED = ":g { :a :k :g } "
OTHER = ":h { :a :k :h } "


def found(language: str, background: object) -> list[str]:
    query = thence.parse(PREFIX + QUERIES[language], language=language)
    events = [thence.Event(1, "@prefix : <http://example.org/> . :a :p :b .")]
    return [str(match.bindings["y"].value).rpartition("/")[2] for match in query.match(events, background=background)]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    for name, text in {"default.ttl": DEFAULT, "both.trig": DEFAULT + NAMED, "other.trig": DEFAULT + OTHER}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return {path.stem: path for path in tmp_path.iterdir()}


@pytest.mark.parametrize("language", QUERIES)
def test_a_background_without_graph_names_answers_for_every_iri(language: str, files: dict[str, Path]) -> None:
    assert found(language, files["default"]) == ["default"]


@pytest.mark.parametrize("language", QUERIES)
def test_where_a_graph_has_a_name_graph_reads_it_alone(language: str, files: dict[str, Path]) -> None:
    assert found(language, files["both"]) == ["g"]
    assert found(language, [files["default"], files["both"]]) == ["g"]
    assert found(language, {None: files["default"], "http://example.org/g": files["default"]}) == ["default"]


@pytest.mark.parametrize("language", QUERIES)
def test_an_iri_that_no_background_has_is_an_error_that_names_those_there_are(
    language: str, files: dict[str, Path]
) -> None:
    for background in (files["other"], [files["default"], files["other"]]):
        with pytest.raises(InputError, match=r"reads the graph <http://example.org/g>.*has: <http://example.org/h>"):
            found(language, background)
