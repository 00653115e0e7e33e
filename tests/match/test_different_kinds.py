"""C-30: literals of known datatypes that share no values are different, in every language and evaluator; `<` of them is
an error. SASE+ has its own rule (SA-29)."""

from __future__ import annotations

from itertools import permutations

import pytest

import thence
from support.sparql_data import rows

LITERALS = {
    "string": '"s"',
    "integer": "3",
    "decimal": "3.5",
    "double": "3e1",
    "boolean": "true",
    "date": '"2024-05-06"^^xsd:date',
    "dateTime": '"2024-05-06T07:00:00Z"^^xsd:dateTime',
    "time": '"07:00:00Z"^^xsd:time',
    "year": '"2024"^^xsd:gYear',
    "duration": '"PT1S"^^xsd:dayTimeDuration',
    "tagged": '"s"@en',
}
NUMBERS = {"integer", "decimal", "double"}
PAIRS = [(a, b) for a, b in permutations(LITERALS, 2) if not {a, b} <= NUMBERS]
SIGNS = ("=", "!=", "<", ">=")
TURTLE = "@prefix xsd: <http://www.w3.org/2001/XMLSchema#> . <x:a> <x:p> "

SPASEQ = """SELECT ?v ?w FROM STREAM S <x:s>
{{ SEQ (A ; B) DEFINE GPM A ON S {{ ?x <x:p> ?v }} DEFINE GPM B ON S {{ ?y <x:q> ?w FILTER({condition}) }} }}"""
EP_SPARQL = "SELECT ?v ?w WHERE {{ {{ ?x <x:p> ?v }} SEQ {{ ?y <x:q> ?w }} FILTER({condition}) }}"
TEF_SPARQL = "SELECT ?v ?w WHERE (?x <x:p> ?v) SEQ (?y <x:q> ?w), {condition}"
RSEP_QL = """SELECT ?v ?w FROM NAMED WINDOW <x:w> ON <x:s> [RANGE 10 STEP 1]
WHERE {{ WINDOW <x:w> {{ ?x <x:p> ?v . ?y <x:q> ?w FILTER({condition}) }} }}"""
LANGUAGES = {"spaseq": SPASEQ, "ep-sparql": EP_SPARQL, "tef-sparql": TEF_SPARQL, "rsep-ql": RSEP_QL}


@pytest.mark.parametrize("sign", SIGNS)
def test_in_sparql(sign: str) -> None:
    expected = {"=": "false", "!=": "true"}.get(sign, "-")
    for a, b in PAIRS:
        query = f"SELECT (({LITERALS[a]} {sign} {LITERALS[b]}) AS ?x) {{}}"
        assert rows(f"PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> {query}", "") == [expected], (a, sign, b)


@pytest.mark.parametrize("language", LANGUAGES)
def test_between_two_events(language: str) -> None:
    documents = [f"{TURTLE}{literal} ." for literal in LITERALS.values()]
    events = [thence.Event(1, document) for document in documents]
    events += [thence.Event(2, document.replace("x:p", "x:q")) for document in documents]
    for sign in SIGNS:
        query = thence.parse(LANGUAGES[language].format(condition=f"?v {sign} ?w"), language=language)
        found = {
            tuple(str(match.bindings[name]) for name in ("v", "w"))
            for match in query.match(events)
            if isinstance(match, thence.Match)
        }
        written = {name: str(event.triples[0].object) for name, event in zip(LITERALS, events, strict=False)}
        others = {(a, b) for a, b in PAIRS if (written[a], written[b]) in found}
        assert others == (set(PAIRS) if sign == "!=" else set()), sign
