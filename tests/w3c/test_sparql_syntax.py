"""The W3C's SPARQL syntax tests, and its evaluation tests' queries: the legal ones parse, the others are refused."""

from __future__ import annotations

import pytest

from thence.algebra.show import show
from thence.errors import QueryError
from thence.lang.sparql.parser import parse_query
from w3c.manifest import Entry, entries, needs_data, parameters

QUERIES = tuple(
    entry
    for manifest in ("sparql/sparql10/manifest.ttl", "sparql/sparql11/manifest-all.ttl")
    for entry in entries(manifest)
    if "Update" not in entry.type  # updates are not queries
)

# Queries that ask another server are refused by design: a query reads only the data it is given.
SERVICE = tuple(entry for entry in QUERIES if entry.folder in ("sparql11/service", "sparql11/syntax-fed"))
NEGATIVE = tuple(entry for entry in QUERIES if entry.type.startswith("NegativeSyntaxTest"))
LEGAL = tuple(entry for entry in QUERIES if entry not in SERVICE and entry not in NEGATIVE)


@pytest.mark.parametrize("entry", parameters(LEGAL))
def test_a_legal_query_parses_and_its_text_written_anew_parses_to_the_same(entry: Entry) -> None:
    query = parse_query(entry.action.text(), base=entry.action.iri)
    assert parse_query(show(query)) == query


@pytest.mark.parametrize("entry", parameters(NEGATIVE))
def test_an_illegal_query_is_refused(entry: Entry) -> None:
    with pytest.raises(QueryError) as refused:
        parse_query(entry.action.text(), base=entry.action.iri)
    assert refused.value.place is not None


@pytest.mark.parametrize("entry", parameters(SERVICE))
def test_a_query_for_another_server_is_refused(entry: Entry) -> None:
    with pytest.raises(QueryError, match="SERVICE would ask another server"):
        parse_query(entry.action.text(), base=entry.action.iri)


@needs_data
def test_the_suites_are_all_there(capsys: pytest.CaptureFixture[str]) -> None:
    positive = sum(entry.type.startswith("PositiveSyntaxTest") for entry in LEGAL)
    evaluation = len(LEGAL) - positive
    with capsys.disabled():
        print(
            f"\nW3C SPARQL 1.0 and 1.1: {positive} positive syntax tests and {evaluation} evaluation tests parse, "
            f"{len(NEGATIVE)} negative syntax tests are refused; {len(SERVICE)} with SERVICE are refused by design"
        )
    assert (positive, evaluation, len(NEGATIVE), len(SERVICE)) == (212, 588, 98, 10)
