"""What a row of triples shows: the events that CONSTRUCT makes, and facts, alike in every language that has them."""

from __future__ import annotations

import pickle

import pytest

import thence
from thence.rdf.terms import IRI, Literal, Triple

EX = "http://example.org/"
EVENTS = [thence.Event(time, f"<{EX}a> <{EX}p> {time} .") for time in (1, 3)]
MADE = Triple(IRI(f"{EX}a"), IRI(f"{EX}c"), Literal("3", "http://www.w3.org/2001/XMLSchema#integer"))
TEXT = f'<{EX}a> <{EX}c> "3"^^<http://www.w3.org/2001/XMLSchema#integer> .'
PREFIX = f"PREFIX : <{EX}>\n"
ALONE = PREFIX + "CONSTRUCT EVENT ?x c ?y WHERE ?x p ?y, ?y > 1"
BESIDE = ALONE + "\nCONSTRUCT FACT ?x f ?y WHERE SINCE ?x q ?y"
QUERIES = {
    "spaseq": PREFIX
    + "CONSTRUCT { ?x :c ?y } FROM STREAM S :S WHERE { SEQ(A) DEFINE GPM A ON S { ?x :p ?y FILTER(?y > 1) } }",
    "ep-sparql": PREFIX + "CONSTRUCT { ?x :c ?y } WHERE { ?x :p ?y FILTER(?y > 1) }",
    "rsep-ql": PREFIX
    + "CONSTRUCT { ?x :c ?y } FROM NAMED WINDOW :w ON :S [RANGE 1 TICKS STEP 1 TICKS]"
    + " WHERE { WINDOW :w { ?x :p ?y FILTER(?y > 1) } }",
}


def only_match(text: str, language: str) -> thence.Match:
    (found,) = thence.parse(text, language=language).match(EVENTS)
    assert isinstance(found, thence.Match)
    return found


@pytest.mark.parametrize("language", QUERIES)
def test_what_construct_makes_has_triples(language: str) -> None:
    found = only_match(QUERIES[language], language)
    assert found.triples == (MADE,) and found.fact == TEXT
    assert found.constructed is not None and found.constructed.triples == found.triples


@pytest.mark.parametrize("text", [ALONE, BESIDE])
def test_a_constructed_event_shows_the_same_with_facts_in_the_file_and_without(text: str) -> None:
    """TEF-74."""
    found = only_match(text, "tef-sparql")
    assert (found.start, found.end, found.triples, found.fact) == (3, 3, (MADE,), TEXT)
    assert dict(found.bindings) == {"fact": Literal(TEXT)}
    again = pickle.loads(pickle.dumps(found))
    assert (again.triples, again.fact, dict(again.bindings)) == (found.triples, found.fact, dict(found.bindings))


def test_what_an_operator_derives_binds_its_text() -> None:
    for language in ("ep-sparql", "rsep-ql"):
        assert dict(only_match(QUERIES[language], language).bindings) == {"fact": Literal(TEXT)}


def test_a_fact_has_its_triple_in_one_process_and_pushed() -> None:
    query = thence.parse(PREFIX + "CONSTRUCT FACT ?x c ?y WHERE SINCE ?x p ?y, ?y > 1")
    engine = query.engine()
    pushed = [each for event in EVENTS for each in engine.push(event)] + engine.close()
    for found in (*query.match(EVENTS), *pushed):
        assert isinstance(found, thence.Match)
        assert (found.end, found.triples, found.fact) == (None, (MADE,), TEXT)
        assert pickle.loads(pickle.dumps(found)).triples == (MADE,)


def test_several_triples_are_listed_in_order() -> None:
    text = PREFIX + "CONSTRUCT EVENT ?x c ?y, ?x d ?x WHERE ?x p ?y, ?y > 1"
    found = only_match(text, "tef-sparql")
    assert found.triples == (MADE, Triple(MADE.subject, IRI(f"{EX}d"), MADE.subject))
    assert found.fact == f"{TEXT} <{EX}a> <{EX}d> <{EX}a> ."


def test_rows_of_select_are_no_triples() -> None:
    """Not even if a variable is called fact."""
    found = only_match(PREFIX + "SELECT ?fact WHERE { ?x :p ?fact FILTER(?fact > 1) }", "ep-sparql")
    assert (found.triples, found.fact) == ((), None)
