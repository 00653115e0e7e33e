"""Background data as columns: files and stores (pyoxigraph, rdflib), each graph a batch of one event without a time."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyoxigraph as ox

from thence.columns.arrays import Ids
from thence.columns.batches import EventBatch
from thence.columns.dictionary import UNBOUND, Terms
from thence.columns.hashing import without_duplicates
from thence.columns.value_kinds import BLANK, KIND_MASK
from thence.errors import InputError, Place, RdfError
from thence.io.event_grouping import GENERATED
from thence.io.gunzip import open_input
from thence.io.nquads_lines import scan_quads
from thence.rdf.dataset import GraphName
from thence.rdf.documents import BOM, BlankNodeLabels, Format, FromOx, explain, ox_quads, rdf_11, to_ox_quad
from thence.rdf.limits import Limits
from thence.rdf.terms import IRI, BlankNode, Literal, Quad, Term, Triple
from thence.rdf.times import Instant, format_time, parse_time

# RDF files and stores (pyoxigraph, rdflib) as N-Quads, in chunks of whole lines.

_LIMITS = Limits()
_PIECE = 50_000  # quads written out at a time
_BLOCK = 4 << 20


def nquads_of(source: object, *, limits: Limits = _LIMITS) -> Iterator[bytes]:
    """A file's or a store's quads as N-Quads, in pieces of whole lines; files that are N-Quads already as they are."""
    if not isinstance(source, str | os.PathLike):
        yield from _written(map(to_ox_quad, from_store(source)))
        return
    format, name = Format.of(source), os.fspath(source)
    with open_input(source, limits=limits) as file:
        if format in (Format.N_TRIPLES, Format.N_QUADS):
            yield from _lines(file)
            return
        try:
            labels = BlankNodeLabels()
            for piece in _written(ox_quads(file, format, None, name, limits)):
                yield rdf_11(piece, labels)
        except (SyntaxError, MemoryError) as error:
            raise explain(error, Place(1, 1, name)) from None


def _written(quads: Iterator[ox.Quad]) -> Iterator[bytes]:
    while piece := ox.serialize(islice(quads, _PIECE), format=ox.RdfFormat.N_QUADS):
        yield piece


def _lines(file: BinaryIO) -> Iterator[bytes]:
    rest = b""
    first = True
    while block := file.read(_BLOCK):
        data = rest + (block.removeprefix(BOM) if first else block)
        first = False
        cut = data.rfind(b"\n") + 1
        rest = data[cut:]
        if cut:
            yield data[:cut]
    if rest:
        yield rest + b"\n"


def from_store(store: object) -> Iterator[Quad]:
    """The quads of a pyoxigraph Store or Dataset, or of an rdflib Graph or Dataset."""
    if isinstance(store, ox.Store | ox.Dataset):
        return FromOx().quads(store)
    rdflib = sys.modules.get("rdflib")  # whoever has one of its graphs has imported it
    if rdflib and isinstance(store, rdflib.Graph):
        return _from_rdflib(store, rdflib)
    raise InputError(f"{type(store).__name__} is not a store. Try: an rdflib Graph or Dataset, or a pyoxigraph Store")


def _from_rdflib(graph: Any, rdflib: Any) -> Iterator[Quad]:
    if not isinstance(graph, rdflib.ConjunctiveGraph):
        for s, p, o in graph:
            yield Quad(_rdflib_term(s, rdflib), _rdflib_term(p, rdflib), _rdflib_term(o, rdflib), None)
        return
    # a Dataset has both, the second of them deprecated; a graph without triples counts as false
    default_graph = getattr(graph, "default_graph", None)
    default = (graph.default_context if default_graph is None else default_graph).identifier
    for s, p, o, context in graph.quads():
        name = getattr(context, "identifier", context)
        in_default = name is None or name == default
        subject, predicate, object = (_rdflib_term(term, rdflib) for term in (s, p, o))
        yield Quad(subject, predicate, object, None if in_default else _rdflib_term(name, rdflib))


def _rdflib_term(term: Any, rdflib: Any) -> Term:
    if isinstance(term, rdflib.URIRef):
        return IRI(str(term))
    if isinstance(term, rdflib.BNode):
        return BlankNode(str(term))
    if isinstance(term, rdflib.Literal):
        if term.language:
            return Literal(str(term), language=term.language)
        return Literal(str(term), str(term.datatype)) if term.datatype else Literal(str(term))
    raise InputError(f"{term!r:.100} is not an RDF 1.1 term")


@dataclass(frozen=True, slots=True, eq=False)
class GraphVersion:
    """A graph that holds from a time on (RS-5)."""

    time: Instant
    graph: EventBatch


@dataclass(slots=True, eq=False)
class BackgroundData:
    """Graphs by name, and one without a name, which answers for every IRI where no graph has a name (SP-55). `parts`
    has, for each name under which sources were supplied, the names of the graphs in these sources."""

    terms: Terms = field(default_factory=Terms)
    named: dict[GraphName, EventBatch] = field(default_factory=dict)
    unnamed: EventBatch | None = None
    parts: dict[GraphName, tuple[GraphName, ...]] = field(default_factory=dict)

    def has(self, name: GraphName) -> bool:
        """Whether there is something for `GRAPH <name>` to read."""
        return self.graph(name) is not None

    def graph(self, name: GraphName) -> EventBatch | None:
        """The graph that `GRAPH <name>` reads, or None."""
        if self.answers_for_all and isinstance(name, IRI):
            return self.unnamed
        return self.named.get(name)

    @property
    def answers_for_all(self) -> bool:
        """Whether the graph without a name answers for every IRI."""
        return self.unnamed is not None and not self.named

    def with_unnamed(self, triples: Sequence[Triple]) -> BackgroundData:
        """The same with other triples without a graph's name."""
        subjects, predicates, objects = (self.terms.add_all(triple[place] for triple in triples) for place in range(3))
        return replace(self, unnamed=_one_graph(self.terms, [(subjects, predicates, objects)]))

    def merged(self, graphs: Sequence[EventBatch]) -> EventBatch:
        """The merge of some of these graphs."""
        return graphs[0] if len(graphs) == 1 else _one_graph(self.terms, [_triples(graph) for graph in graphs])

    def versions(self, name: GraphName) -> tuple[GraphVersion, ...]:
        """The versions of a graph, in the order of time: the graphs of its sources that have prov:generatedAtTime
        (RS-5). None: it does not vary."""
        predicate = self.terms.find(GENERATED)
        parts = {self.terms.find(part): self.named[part] for part in self.parts.get(name, ())}
        listed = [(subject, time) for subject, graph in parts.items() for time in _objects(graph, subject, predicate)]
        if name in self.named:
            graph = self.named[name]
            rows = np.flatnonzero(graph.predicates == predicate)
            listed += zip(graph.subjects[rows].tolist(), graph.objects[rows].tolist(), strict=True)
        if not any(subject in parts for subject, _ in listed):
            return ()
        if untimed := parts.keys() - {subject for subject, _ in listed}:
            graph_name = min(str(self.terms[each]) for each in untimed)
            raise InputError(
                f"The graph {graph_name} of the background for {name} has no time, and others there have. "
                "Try: prov:generatedAtTime in the default graph"
            )
        found: dict[int, GraphVersion] = {}
        for subject, literal in dict.fromkeys(listed):
            time = parse_time(self.terms[literal])
            if time.time in found:
                shown = format_time(time.time, time.domain)
                raise InputError(f"The background has two versions of {name} at {shown}. Try: one for each time")
            graph = parts.get(subject, self.merged([]))  # a graph without triples is in no file
            found[time.time] = GraphVersion(time, _without(graph, subject, predicate))
        if len({each.time.domain for each in found.values()}) > 1:
            raise InputError(f"The versions of {name} have two kinds of time. Try: integers, or xsd:dateTime, for all")
        return tuple(found[time] for time in sorted(found))


def _objects(graph: EventBatch, subject: int, predicate: int) -> list[int]:
    rows = (graph.subjects == subject) & (graph.predicates == predicate)
    listed: list[int] = graph.objects[rows].tolist()
    return listed


def _without(graph: EventBatch, subject: int, predicate: int) -> EventBatch:
    kept = (graph.subjects != subject) | (graph.predicates != predicate)
    return _one_graph(graph.terms, [(graph.subjects[kept], graph.predicates[kept], graph.objects[kept])])


def load_background(sources: Any) -> BackgroundData:
    """Background data from a path, an rdflib or pyoxigraph object, several of them, or a mapping from graph names to
    them.

    Where a mapping names the graph, triples of the source's default graph go there; a source's own named graphs keep
    their names.
    """
    data = BackgroundData()
    parts: dict[GraphName | None, list[tuple[Ids, Ids, Ids]]] = {}
    for number, (name, source) in enumerate(_named(sources)):
        graphs: set[GraphName | None] = set()
        for quads in _columns(source, data.terms, f"bg-{number}_"):  # as no stream's labels begin
            for graph in np.unique(quads[3]).tolist():
                key = name if graph == UNBOUND else _graph_name(data.terms[graph])
                graphs.add(key)
                rows = np.flatnonzero(quads[3] == graph)
                parts.setdefault(key, []).append((quads[0][rows], quads[1][rows], quads[2][rows]))
        if name is not None or not graphs:
            parts.setdefault(name, [])  # what was given is there, be it empty
        if name is not None:
            own = (graph for graph in graphs if graph is not None and graph != name)
            data.parts[name] = (*data.parts.get(name, ()), *own)
    for key, triples in parts.items():
        graph_batch = _one_graph(data.terms, triples)
        if key is None:
            data.unnamed = graph_batch
        else:
            data.named[key] = graph_batch
    return data


def _graph_name(term: Term) -> GraphName:
    assert not isinstance(term, Literal), "no RDF format has literals as graph names"
    return term


def _named(sources: Any) -> Iterator[tuple[IRI | None, Any]]:
    if isinstance(sources, Mapping):
        for name, source in sources.items():
            graph = name if isinstance(name, IRI) or name is None else IRI(str(name))
            yield from ((graph, each) for each in _several(source))
    else:
        yield from ((None, each) for each in _several(sources))


def _several(sources: Any) -> Iterable[Any]:
    return sources if isinstance(sources, list | tuple) else [sources]


def _columns(source: Any, terms: Terms, prefix: str) -> Iterator[tuple[Ids, Ids, Ids, Ids]]:
    """The quads of a source as columns, a piece at a time; blank nodes are the source's own."""
    place = str(source) if isinstance(source, str | Path) else type(source).__name__
    line = 1
    own = f"_:{prefix}".encode()
    for data in nquads_of(source):
        quads = scan_quads(data, terms=terms)
        for number, reason in quads.errors.items():
            raise RdfError(f"{place}:{line + number}: {reason}")
        line += data.count(b"\n")
        columns = (quads.subjects, quads.predicates, quads.objects, quads.graphs)
        blank = (terms.tags & KIND_MASK) == BLANK
        for ids in (quads.subjects, quads.objects, quads.graphs):
            rows = np.flatnonzero((ids != UNBOUND) & blank[ids])
            distinct, where = np.unique(ids[rows], return_inverse=True)
            labels = (text.removeprefix(b"_:") for text in terms.texts(distinct))
            ids[rows] = terms.add_texts([own + label for label in labels])[where]
        yield columns


def _triples(batch: EventBatch) -> tuple[Ids, Ids, Ids]:
    return batch.subjects, batch.predicates, batch.objects


def _one_graph(terms: Terms, parts: list[tuple[Ids, Ids, Ids]]) -> EventBatch:
    nothing = np.empty(0, np.int32)
    subjects, predicates, objects = (
        np.concatenate(columns) for columns in zip((nothing, nothing, nothing), *parts, strict=True)
    )
    offsets = np.array([0, len(subjects)], np.int64)
    keep = without_duplicates(offsets, subjects, predicates, objects)
    no_time = np.zeros(1, np.int64)
    return EventBatch(
        terms=terms,
        offsets=np.array([0, int(keep.sum())], np.int64),
        subjects=subjects[keep],
        predicates=predicates[keep],
        objects=objects[keep],
        starts=no_time,
        ends=no_time,
        domains=np.zeros(1, np.uint8),
        ids=np.full(1, UNBOUND, np.int32),
        positions=no_time,
    )
