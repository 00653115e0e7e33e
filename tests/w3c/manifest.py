"""The W3C's test manifests, read into plain entries.

The data is not part of this project: `THENCE_DATA` names the folder that holds `w3c/rdf/…` and `w3c/sparql/…`, as in
the repository w3c/rdf-tests. IRIs keep their published form (`https://w3c.github.io/rdf-tests/…`), so that the relative
ones in queries, data and results all meet in the same place, wherever the folder lies.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pyoxigraph as ox
import pytest

PUBLISHED = "https://w3c.github.io/rdf-tests/"
MF = "http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#"
QT = "http://www.w3.org/2001/sw/DataAccess/tests/test-query#"
DAWGT = "http://www.w3.org/2001/sw/DataAccess/tests/test-dawg#"
RDFT = "http://www.w3.org/ns/rdftest#"
RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
SD = "http://www.w3.org/ns/sparql-service-description#"


@dataclass(frozen=True)
class File:
    """A test's file: where it is, and the IRI it is published under, which is its base IRI and its graph's name."""

    iri: str
    path: Path

    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")


@dataclass(frozen=True)
class Entry:
    """One test. `action` is a query test's query, an RDF test's document; `data` and `named` are a query's graphs."""

    iri: str
    name: str
    type: str  # local name: PositiveSyntaxTest11, QueryEvaluationTest, TestTurtleEval …
    folder: str  # as in "sparql11/aggregates", "rdf11/rdf-turtle"
    action: File
    data: tuple[File, ...]
    named: tuple[File, ...]
    result: File | None
    approval: str | None  # local name: Approved, NotClassified, Rejected …; None where the manifest says nothing
    regimes: tuple[str, ...] = ()  # local names of the entailment regimes it is asked under: RDFS, D …

    @property
    def id(self) -> str:
        """A short name that no other entry has: `sparql11/aggregates/agg01`."""
        return f"{self.folder}/{_local(self.iri)}"


def data_folder() -> Path | None:
    """The folder of the W3C's tests, if there is one."""
    named = os.environ.get("THENCE_DATA")
    folder = Path(named) / "w3c" if named else None
    return folder if folder and folder.is_dir() else None


needs_data = pytest.mark.skipif(
    data_folder() is None, reason="the W3C's tests are not here: THENCE_DATA must name the folder that holds them"
)
"""Marks a test that can't run without the W3C's files."""


@cache
def entries(manifest: str) -> tuple[Entry, ...]:
    """All tests of a manifest and of those it includes, in order: `entries("sparql/sparql11/manifest-all.ttl")`.

    Nothing if the data is not here, so that it can parametrise a test that is then skipped.
    """
    folder = data_folder()
    return tuple(_read(folder, PUBLISHED + manifest)) if folder else ()


def parameters(found: tuple[Entry, ...]) -> list[object]:
    """`@pytest.mark.parametrize("entry", parameters(entries(…)))`: a test an entry, or one skipped with the reason."""
    missing = pytest.param(None, marks=needs_data, id="no data")
    return [pytest.param(entry, id=entry.id) for entry in found] or [missing]


def _read(folder: Path, iri: str) -> Iterator[Entry]:
    path = _file(folder, iri).path
    if not path.exists():  # a suite that is listed but not part of this copy (RDF/XML)
        return
    graph = _Graph(path, iri)
    manifest = next(graph.subjects(RDF + "type", MF + "Manifest"))
    for included in graph.list(manifest, MF + "include"):
        yield from _read(folder, included.value)
    for test in graph.list(manifest, MF + "entries"):
        entry = _entry(folder, graph, iri, test)
        if entry is not None:
            yield entry


def _entry(folder: Path, graph: _Graph, manifest: str, test: ox.NamedNode) -> Entry | None:
    action = graph.value(test, MF + "action")
    query = graph.value(action, QT + "query")
    subject = query or action
    if not isinstance(subject, ox.NamedNode):  # updates, protocols: no single query or document
        return None
    kind, result = graph.value(test, RDF + "type"), graph.value(test, MF + "result")
    approval = graph.value(test, DAWGT + "approval") or graph.value(test, RDFT + "approval")
    name = graph.value(test, MF + "name")
    return Entry(
        iri=test.value,
        name=name.value if name else _local(test.value),
        type=_local(kind.value),
        folder="/".join(manifest.removeprefix(PUBLISHED).split("/")[1:-1]),
        action=_file(folder, subject.value),
        data=tuple(_file(folder, iri.value) for iri in graph.values(action, QT + "data")),
        named=tuple(_file(folder, iri.value) for iri in graph.values(action, QT + "graphData")),
        result=_file(folder, result.value) if isinstance(result, ox.NamedNode) else None,
        approval=_local(approval.value) if approval else None,
        regimes=tuple(_local(regime.value) for regime in _regimes(graph, test, action)),
    )


def _regimes(graph: _Graph, test: ox.NamedNode, action: object) -> Iterator[ox.NamedNode]:
    """One or a list of them: an RDF test's own, or a query test's action's."""
    for subject, predicate in ((test, MF + "entailmentRegime"), (action, SD + "entailmentRegime")):
        for value in graph.values(subject, predicate):
            if isinstance(value, ox.BlankNode):
                yield from graph.list(subject, predicate)
            else:
                yield value


def _file(folder: Path, iri: str) -> File:
    return File(iri, folder / iri.removeprefix(PUBLISHED))


def _local(iri: str) -> str:
    return iri.rsplit("#", 1)[-1].rsplit("/", 1)[-1]


class _Graph:
    """A manifest's triples, with the three questions we ask."""

    def __init__(self, path: Path, base: str) -> None:
        self._store = ox.Store()
        self._store.extend(ox.parse(path=path, format=ox.RdfFormat.TURTLE, base_iri=base))

    def subjects(self, predicate: str, obj: str) -> Iterator[ox.NamedNode]:
        found = self._store.quads_for_pattern(None, ox.NamedNode(predicate), ox.NamedNode(obj))
        return (quad.subject for quad in found)

    def values(self, subject: object, predicate: str) -> list[ox.NamedNode]:
        if isinstance(subject, ox.Literal):
            return []
        return [quad.object for quad in self._store.quads_for_pattern(subject, ox.NamedNode(predicate), None)]

    def value(self, subject: object, predicate: str) -> ox.NamedNode | None:
        return next(iter(self.values(subject, predicate)), None) if subject is not None else None

    def list(self, subject: object, predicate: str) -> Iterator[ox.NamedNode]:
        cell = self.value(subject, predicate)
        while cell is not None and cell.value != RDF + "nil":
            item = self.value(cell, RDF + "first")
            assert item is not None
            yield item
            cell = self.value(cell, RDF + "rest")
