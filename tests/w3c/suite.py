"""The W3C's query evaluation tests: their entries, the data of each, and the context in which all of them run."""

from __future__ import annotations

from pathlib import Path
from random import Random

from thence.algebra.patterns import SparqlQuery
from thence.match.context import Context
from thence.rdf.dataset import Dataset, IndexedGraph
from thence.rdf.terms import IRI, XSD, Literal
from w3c.manifest import PUBLISHED, Entry, File, data_folder, entries
from w3c.results import read_graph

KINDS = {"QueryEvaluationTest", "CSVResultFormatTest"}

CONTEXT = Context(now=Literal("2024-02-29T12:00:00Z", XSD + "dateTime"), random=Random(0))


def suite() -> tuple[Entry, ...]:
    found = entries("sparql/sparql10/manifest.ttl") + entries("sparql/sparql11/manifest-all.ttl")
    return tuple(entry for entry in found if entry.type in KINDS)


def dataset_of(entry: Entry, query: SparqlQuery) -> Dataset:
    """The test's graphs, and those that the query's FROM names."""
    default = IndexedGraph(triple for file in entry.data for triple in read_graph(file))
    named = {IRI(file.iri): IndexedGraph(read_graph(file)) for file in entry.named}
    for name in (*query.dataset.default, *query.dataset.named):
        folder = data_folder()
        assert folder is not None
        path = Path(folder) / name.value.removeprefix(PUBLISHED)
        named[name] = IndexedGraph(read_graph(File(name.value, path)))
    return Dataset(default, named)
