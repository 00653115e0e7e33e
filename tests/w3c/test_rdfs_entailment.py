"""The W3C's tests of RDF 1.1 Semantics and of SPARQL's entailment regimes that are about RDFS, with the rules of EP-55
and the data as background."""

from __future__ import annotations

import pyoxigraph as ox
import pytest

from thence.lang.sparql.parser import parse_query
from thence.match.sparql_queries import run
from thence.rdf.dataset import Dataset, IndexedGraph
from thence.rdf.documents import to_ox_quad
from thence.rdf.rdfs import closed
from thence.rdf.terms import Quad
from w3c.manifest import Entry, entries, needs_data, parameters
from w3c.results import differences, read_graph, read_result
from w3c.suite import CONTEXT

NOT_APPLICABLE = {
    "knowledge of datatypes, which makes a graph inconsistent": (
        "rdf11/rdf-mt/datatypes-non-well-formed-literal-2",
        "rdf11/rdf-mt/datatypes-range-clash",
        "rdf11/rdf-mt/datatypes-test010",
        "rdf11/rdf-mt/rdfs-entailment-test001",
        "rdf11/rdf-mt/rdfs-entailment-test002",
        "rdf11/rdf-mt/xmlsch-02-whitespace-facet-2",
        "rdf11/rdf-mt/xmlsch-02-whitespace-facet-4",
        "rdf11/rdf-mt/az-tests/inconsistent-recognizing-integer",
        "rdf11/rdf-mt/az-tests/langstring-disjoint-string",
        "rdf11/rdf-mt/az-tests/langstring-not-subclassof-string",
        "rdf11/rdf-mt/az-tests/only-one-class",
        "rdf11/rdf-mt/az-tests/only-one-property",
    ),
    "axiomatic triples of containers": (
        "rdf11/rdf-mt/rdfms-seq-representation-test002",
        "rdf11/rdf-mt/rdfms-seq-representation-test003",
        "rdf11/rdf-mt/rdfms-seq-representation-test004",
    ),
    "every term is an rdfs:Resource (rdfs4)": (
        "rdf11/rdf-mt/az-tests/rdf11-tautology",
        "rdf11/rdf-mt/az-tests/resource-is-literal",
    ),
    "a class is its own subclass (rdfs10), or a property its own sub-property (rdfs6)": (
        "sparql11/entailment/paper-sparqldl-Q1-rdfs",
        "sparql11/entailment/rdfs05",
        "sparql11/entailment/rdfs11",
        "sparql11/entailment/sparqldl-02",
        "sparql11/entailment/sparqldl-03",
    ),
    "a step has a blank node as its predicate, and so is not a triple": ("rdf11/rdf-mt/az-tests/horst-complete-rules",),
    "its files are missing": ("rdf11/rdf-mt/az-tests/same-as-one",),
}
"""The tests under RDFS that need more than the six rules, by what they need."""

LEFT_OUT = {name for names in NOT_APPLICABLE.values() for name in names}


def suite() -> tuple[Entry, ...]:
    manifests = ("rdf-mt/manifest.ttl", "rdf-mt/az-tests/manifest.ttl")
    found = [entry for manifest in manifests for entry in entries(f"rdf/rdf11/{manifest}")]
    return tuple(entry for entry in found if "RDFS" in entry.regimes)


def queries() -> tuple[Entry, ...]:
    return tuple(entry for entry in entries("sparql/sparql11/entailment/manifest.ttl") if "RDFS" in entry.regimes)


APPLICABLE = tuple(entry for entry in suite() if entry.id not in LEFT_OUT)
POSITIVE = tuple(entry for entry in APPLICABLE if entry.type == "PositiveEntailmentTest")
NEGATIVE = tuple(entry for entry in APPLICABLE if entry.type == "NegativeEntailmentTest")
QUERIES = tuple(entry for entry in queries() if entry.id not in LEFT_OUT)


def entails(entry: Entry) -> bool:
    """Whether the action, closed, entails the result simply: blank nodes of the result are variables. A result that is
    `false` is entailed by what is inconsistent, and RDFS without datatypes has nothing that is."""
    if entry.result is None:
        return False
    store = ox.Store()
    store.extend(to_ox_quad(Quad(*triple, None)) for triple in closed(read_graph(entry.action)))
    pattern = " ".join(f"{' '.join(map(str, triple))} ." for triple in read_graph(entry.result))
    return bool(store.query(f"ASK {{ {pattern} }}"))


def answers_differ(entry: Entry) -> str | None:
    """How the answers over the closed data differ from the expected ones."""
    query = parse_query(entry.action.text(), source=entry.action.path.name, base=entry.action.iri)
    graph = IndexedGraph(closed(triple for file in entry.data for triple in read_graph(file)))
    assert entry.result is not None
    return differences(read_result(entry.result), run(query, Dataset(graph), CONTEXT), ordered=False, reduced=False)


@pytest.mark.parametrize("entry", parameters(POSITIVE))
def test_what_is_entailed_is_inferred(entry: Entry) -> None:
    assert entails(entry)


@pytest.mark.parametrize("entry", parameters(NEGATIVE))
def test_what_is_not_entailed_is_not_inferred(entry: Entry) -> None:
    assert not entails(entry)


@pytest.mark.parametrize("entry", parameters(QUERIES))
def test_a_query_has_its_answers_over_the_closed_data(entry: Entry) -> None:
    problem = answers_differ(entry)
    assert problem is None, problem


@needs_data
def test_every_test_left_out_has_a_reason_and_needs_more_than_our_rules(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print(
            f"\nW3C tests under RDFS: {len(POSITIVE)} entailments are inferred, {len(NEGATIVE)} others are not, "
            f"{len(QUERIES)} queries are answered"
        )
        for reason, names in NOT_APPLICABLE.items():
            print(f"  left out ({len(names)}): {reason}: {', '.join(name.rsplit('/', 1)[-1] for name in names)}")
    known = {entry.id: entry for entry in (*suite(), *queries())}
    assert known.keys() >= LEFT_OUT
    missing = NOT_APPLICABLE["its files are missing"]
    assert not [name for name in missing if known[name].action.path.exists()]
    for entry in (known[name] for name in LEFT_OUT.difference(missing)):
        assert answers_differ(entry) if entry.data else not entails(entry)
    assert (len(POSITIVE), len(NEGATIVE), len(QUERIES)) == (4, 12, 31)
