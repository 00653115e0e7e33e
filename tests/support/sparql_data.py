"""Small queries over small graphs, both written as text."""

from __future__ import annotations

from random import Random

from thence.lang.sparql.parser import parse_query
from thence.match.context import Context
from thence.match.sparql_queries import Result, SelectResult, run
from thence.rdf.dataset import Dataset, IndexedGraph
from thence.rdf.documents import Format, parse
from thence.rdf.terms import IRI, RDF, XSD, Literal, Triple

PREFIXES = {"": "http://example.org/", "xsd": XSD, "rdf": RDF}
CONTEXT = Context(now=Literal("2024-02-29T12:00:00Z", XSD + "dateTime"), random=Random(0))


def graph(turtle: str) -> IndexedGraph:
    """A graph in Turtle, with our prefixes."""
    head = "".join(f"@prefix {name}: <{iri}> . " for name, iri in PREFIXES.items())
    return IndexedGraph(Triple(*quad[:3]) for quad in parse(head + turtle, Format.TURTLE))


def dataset(turtle: str = "", **named: str) -> Dataset:
    """A default graph, and graphs named http://example.org/NAME."""
    return Dataset(graph(turtle), {IRI(PREFIXES[""] + name): graph(text) for name, text in named.items()})


def answer(query: str, data: Dataset, context: Context = CONTEXT) -> Result:
    return run(parse_query(query, prefixes=PREFIXES), data, context)


def rows(query: str, data: Dataset | str = "", context: Context = CONTEXT) -> list[str]:
    """The rows of SELECT, each as its terms with a space between: local names, lexical forms, `-` for unbound."""
    found = answer(query, dataset(data) if isinstance(data, str) else data, context)
    assert isinstance(found, SelectResult)
    cells = [[row.get(variable) for variable in found.variables] for row in found.rows]
    return [" ".join("-" if term is None else term.value.removeprefix(PREFIXES[""]) for term in row) for row in cells]


def bag(query: str, data: Dataset | str = "", context: Context = CONTEXT) -> list[str]:
    """The rows as a bag: sorted, so that their order says nothing."""
    return sorted(rows(query, data, context))
