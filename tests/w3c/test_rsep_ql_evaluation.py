"""The W3C's query evaluation tests through RSEP-QL: SPARQL has its answers over a window (RS-24) and over the graphs of
the dataset (RS-1).

The default graph is the content of a landmark window, as one event or as an event a triple, and the test's WHERE stands
inside WINDOW; or it is the graph that FROM names, and WHERE stands alone. Named graphs are those of FROM NAMED. What
is rejected is listed by name, with a test that asks for the reason.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import Enum
from functools import cache
from pathlib import Path
from typing import TypeAlias

import pyoxigraph as ox
import pytest

import thence
from thence.algebra.expressions import Variable
from thence.algebra.patterns import Ask, Construct, DatasetClause, Describe, Select, SparqlQuery, WindowPattern
from thence.algebra.rsep_ql import WindowFile, select_of_ask
from thence.errors import QueryError
from thence.lang.sparql.parser import parse_query
from thence.match.sparql_queries import Result, SelectResult
from thence.rdf.terms import IRI, BlankNode, Literal, Triple
from thence.rdf.values import XSD_BOOLEAN
from thence.runtime.results import Match
from w3c.manifest import PUBLISHED, Entry, File, data_folder, needs_data
from w3c.results import differences, read_graph, read_result
from w3c.suite import suite

pytestmark = pytest.mark.numba

SERVICE = "sparql11/service"
"""Rejected, as by our SPARQL."""

ENTAILMENT = "sparql11/entailment"
"""RSEP-QL has no reasoning (RS-64)."""

REJECTED = {"sparql11/functions/uuid01": "UUID", "sparql11/functions/struuid01": "STRUUID"}
"""The same events must give the same rows: the word that the error names."""

OF_DATES = {"sparql11/functions/now01"}
"""NOW() is the evaluation's time (RS-55): here a tick, there a date."""

# A test as streams, background and query

DEFAULT = IRI("http://example.org/default")
WINDOW = IRI("http://example.org/w")
OVER_A_WINDOW = """PREFIX : <http://example.org/>
    SELECT * FROM NAMED :S WIN [LND 0] AS :w WHERE { WINDOW :w { ?s ?p ?o } }"""


Form: TypeAlias = Select | Construct | Ask


class Layout(Enum):
    """Where the default graph is."""

    ONE_EVENT = "one event"
    MANY_EVENTS = "an event a triple"
    BACKGROUND = "background"


def query_of(entry: Entry, form: Form, layout: Layout) -> thence.Query:
    """The test's query, over the content of the window, or beside it over the graph that FROM names (RS-3)."""
    query = thence.parse(OVER_A_WINDOW)
    assert isinstance(query.algebra, WindowFile)
    (only,) = query.algebra.queries
    named = (*form.dataset.named, *(IRI(file.iri) for file in entry.named))
    if layout is Layout.BACKGROUND:
        own = replace(form, dataset=DatasetClause((DEFAULT,), named))
    else:
        own = replace(form, where=WindowPattern(WINDOW, form.where), dataset=DatasetClause((), named))
    is_ask = isinstance(own, Ask)
    written = replace(only, form=select_of_ask(own) if isinstance(own, Ask) else own, is_ask=is_ask)
    return replace(query, algebra=WindowFile((written,)))


def file_of(name: IRI) -> File:
    """The file that FROM names."""
    folder = data_folder()
    assert folder is not None
    return File(name.value, Path(folder) / name.value.removeprefix(PUBLISHED))


def default_files(entry: Entry, form: SparqlQuery) -> list[File]:
    if form.dataset.default or form.dataset.named:
        return [file_of(name) for name in form.dataset.default]
    return [*entry.data]


def default_graph(entry: Entry, form: SparqlQuery) -> list[Triple]:
    return [triple for file in default_files(entry, form) for triple in read_graph(file)]


def events(entry: Entry, form: SparqlQuery, layout: Layout) -> list[thence.Event]:
    triples = [] if layout is Layout.BACKGROUND else default_graph(entry, form)
    graphs = [[triple] for triple in triples] if layout is Layout.MANY_EVENTS else [triples]
    return [thence.Event(1, graph, id=f"e{number}") for number, graph in enumerate(graphs)]


def background(entry: Entry, form: SparqlQuery, layout: Layout, folder: Path) -> dict[str, Path] | None:
    found = {file.iri: [file] for file in (*entry.named, *map(file_of, form.dataset.named))}
    if layout is Layout.BACKGROUND:
        found[DEFAULT.value] = default_files(entry, form)
    return {name: copied(files, folder / f"{number}.nt") for number, (name, files) in enumerate(found.items())} or None


def copied(files: Iterable[File], path: Path) -> Path:
    """The triples of some files in one, with the base IRIs that they are published under."""
    triples = [
        quad.triple
        for file in files
        for quad in ox.parse(
            path=file.path,
            format=ox.RdfFormat.from_extension(file.path.suffix[1:]),
            base_iri=file.iri,
            rename_blank_nodes=True,
        )
    ]
    ox.serialize(triples, path, format=ox.RdfFormat.N_TRIPLES)
    return path


def answered(entry: Entry, form: Form, layout: Layout, folder: Path) -> Result:
    query = query_of(entry, form, layout)
    found = query.match(events(entry, form, layout), background=background(entry, form, layout, folder))
    matches = [each for each in found if isinstance(each, Match)]
    if isinstance(form, Construct):
        return frozenset(triple for each in matches if each.constructed for triple in each.constructed.triples)
    if isinstance(form, Ask):
        (row,) = matches
        return bool(row.bindings["ask"] == Literal("true", XSD_BOOLEAN))
    rows = tuple({Variable(name): term for name, term in each.bindings.items()} for each in matches)
    return SelectResult(tuple(map(Variable, query.columns)), rows)


def problem(entry: Entry, form: Form, layout: Layout, folder: Path) -> str | None:
    """How the answer differs from the test's; None if it doesn't."""
    assert entry.result is not None
    ordered = isinstance(form, Select) and bool(form.modifiers.order)
    reduced = isinstance(form, Select) and form.reduced
    found = answered(entry, form, layout, folder)
    return differences(read_result(entry.result), found, ordered=ordered, reduced=reduced)


# Which tests are compared


@cache
def read_suite() -> tuple[tuple[Entry, SparqlQuery], ...]:
    found = (entry for entry in suite() if entry.folder not in (SERVICE, ENTAILMENT))
    return tuple((entry, parse_query(entry.action.text(), base=entry.action.iri)) for entry in found)


def forms() -> Iterator[tuple[Entry, Form]]:
    return ((entry, query) for entry, query in read_suite() if isinstance(query, Select | Construct | Ask))


def compared() -> Iterator[tuple[Entry, Form]]:
    return ((entry, query) for entry, query in forms() if entry.id not in {*REJECTED, *OF_DATES})


def layouts() -> Iterator[object]:
    for entry, form in compared():
        for layout in Layout:
            if layout is not Layout.MANY_EVENTS or can_be_split(entry, form):
                yield pytest.param(entry, form, layout, id=f"{entry.id}, {layout.value}")


def can_be_split(entry: Entry, form: Form) -> bool:
    """Whether the triples may stand in several events: blank nodes are those of one (RS-25)."""
    triples = default_graph(entry, form)
    return len(triples) > 1 and not any(isinstance(term, BlankNode) for triple in triples for term in triple)


@needs_data
@pytest.mark.parametrize(("entry", "form", "layout"), list(layouts()))
def test_sparql_has_its_answers(entry: Entry, form: Form, layout: Layout, tmp_path: Path) -> None:
    """RS-24, RS-3, RS-49: rows as a bag, and with ORDER BY in its order."""
    found = problem(entry, form, layout, tmp_path)
    assert found is None, found


@needs_data
@pytest.mark.parametrize("name", REJECTED)
def test_what_is_not_repeatable_is_rejected_by_name(name: str) -> None:
    (entry,) = (each for each in suite() if each.id == name)
    with pytest.raises(QueryError, match=rf"\b{REJECTED[name]} is not supported"):
        as_text(entry)


@needs_data
def test_describe_and_service_are_rejected_by_name() -> None:
    """RS-64."""
    for entry in suite():
        if entry.folder == SERVICE:
            with pytest.raises(QueryError, match="SERVICE is not supported"):
                as_text(entry)
    for entry, query in read_suite():
        if isinstance(query, Describe):
            with pytest.raises(QueryError, match="DESCRIBE"):
                as_text(entry)


def as_text(entry: Entry) -> thence.Query:
    return thence.parse(f"BASE <{entry.action.iri}>\n{entry.action.text()}", language="rsep-ql")


@needs_data
def test_every_exception_is_a_test_and_all_others_are_compared(capsys: pytest.CaptureFixture[str]) -> None:
    counts = Counter(entry.folder for entry, _ in compared())
    split = Counter(entry.folder for entry, form in compared() if can_be_split(entry, form))
    selects = sum(isinstance(form, Select) for _, form in compared())
    with capsys.disabled():
        print("\nW3C query evaluation tests, without DESCRIBE, through RSEP-QL, over a window and over a graph:")
        for folder, count in sorted(counts.items()):
            print(f"  {folder:34} {count:4}, {split[folder]:4} also as an event a triple")
        print(f"  {'together':34} {counts.total():4}, {split.total():4} also as an event a triple")
        print(f"  rejected: {', '.join(REJECTED.values())}, {SERVICE}; left out: {ENTAILMENT}")
    assert selects >= 450
    assert split.total() >= 309
    assert {entry.id for entry, _ in forms()} >= REJECTED.keys()
