"""Converts between our terms and pyoxigraph's."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TypeAlias, assert_never

import pyoxigraph as ox

from thence.errors import RdfError
from thence.rdf.formats import Format
from thence.rdf.terms import IRI, BlankNode, Literal, Quad, Term
from thence.rdf.turtle_outline import RDF_12

OxTerm: TypeAlias = ox.NamedNode | ox.BlankNode | ox.Literal

OX_FORMATS = {
    Format.N_TRIPLES: ox.RdfFormat.N_TRIPLES,
    Format.N_QUADS: ox.RdfFormat.N_QUADS,
    Format.TURTLE: ox.RdfFormat.TURTLE,
    Format.TRIG: ox.RdfFormat.TRIG,
    Format.JSON_LD: ox.RdfFormat.JSON_LD,
}

NO_DIRECTION = "RDF 1.2 is not supported: write RDF 1.1, without base directions"

GENERATED = "[a-f][0-9a-f]{19,31}"
"""A label that pyoxigraph has made: a 128-bit number in hexadecimal. (A shorter one comes once in 10^14.)"""

_CACHED = 50_000  # terms; and only short ones, so that a cache stays small whatever it meets
_SHORT = 200


class BlankNodeLabels:
    """Labels for blank nodes. pyoxigraph labels anonymous ones at random: they are numbered instead, so that a document
    always reads the same. A document's own labels of either form are numbered with them, so that none is taken twice.

    >>> labels = BlankNodeLabels()
    >>> labels.of("d684ec134b6e42bc190808778ab5dd7c"), labels.of("anon0"), labels.of("house1")
    ('anon0', 'anon1', 'house1')
    """

    _GENERATED = re.compile(GENERATED + r"|anon[0-9]+")
    _OWN = re.compile(rb"_:(" + GENERATED.encode() + rb"|anon[0-9]++)")

    def __init__(self, first: int = 0, text: bytes = b"") -> None:
        self.next = first
        self._numbered: dict[str, str] = {}
        # of a part of a document its own labels are kept, which other parts may have too
        self._own = {label.decode() for label in self._OWN.findall(text)}

    def of(self, label: str) -> str:
        found = self._numbered.get(label)
        if found is None:
            if not self._GENERATED.fullmatch(label) or label in self._own:
                return label
            while f"anon{self.next}" in self._own:
                self.next += 1
            found = self._numbered[label] = f"anon{self.next}"
            self.next += 1
        return found


class FromOx:
    """Turns pyoxigraph's quads into ours, each frequent IRI into one object."""

    def __init__(self, labels: BlankNodeLabels | None = None) -> None:
        self._labels = labels
        self._iris: dict[str, IRI] = {}

    def quads(self, quads: Iterable[ox.Quad]) -> Iterator[Quad]:
        term = self.term
        for quad in quads:
            graph = quad.graph_name
            name = None if type(graph) is ox.DefaultGraph else term(graph)
            yield Quad(term(quad.subject), term(quad.predicate), term(quad.object), name)

    def term(self, term: object) -> Term:
        if type(term) is ox.NamedNode:
            return self._iri(term.value)
        if type(term) is ox.Literal:
            return self._literal(term)
        if type(term) is ox.BlankNode:
            return self._blank_node(term.value)
        raise RdfError(RDF_12)

    def _iri(self, value: str) -> IRI:
        found = self._iris.get(value)
        if found is None:
            found = IRI(value)
            if len(value) <= _SHORT:
                if len(self._iris) >= _CACHED:
                    self._iris.clear()
                self._iris[value] = found
        return found

    def _literal(self, term: ox.Literal) -> Literal:
        language = term.language
        if language is None:
            return Literal(term.value, self._iri(term.datatype.value).value)
        if term.direction is not None:
            raise RdfError(NO_DIRECTION)
        return Literal(term.value, language=language)

    def _blank_node(self, label: str) -> BlankNode:
        return BlankNode(self._labels.of(label) if self._labels else label)


_STRING = rb'"(?:[^"\\\n]++|\\.)*+"'
_OURS = rb"(" + GENERATED.encode() + rb"|anon[0-9]++)(?= "
# a subject begins its line; what stands further on is in no string if no quote follows
_LABEL = re.compile(rb"_:(?:(?<=\n_:)" + _OURS + rb")|(?<= _:)" + _OURS + rb"[^\"\n]*+\n))")
_TRIPLE_TERM = re.compile(rb"^\S++ \S++ <<", re.MULTILINE)
_DIRECTION = re.compile(rb"^\S++ \S++ " + _STRING + rb"@[A-Za-z0-9-]*?--", re.MULTILINE)


def rdf_11(quads: bytes, labels: BlankNodeLabels) -> bytes:
    """N-Quads that pyoxigraph has written, with steady labels. What only RDF 1.2 has is refused.

    >>> rdf_11(b'_:d684ec134b6e42bc1908 <x:p> "_:d684ec134b6e42bc1908 " .\\n', BlankNodeLabels())
    b'_:anon0 <x:p> "_:d684ec134b6e42bc1908 " .\\n'
    """
    # only few documents have these bytes at all, and a search for them costs next to nothing
    if b" <<" in quads and _TRIPLE_TERM.search(quads):
        raise RdfError(RDF_12)
    if b"--" in quads and _DIRECTION.search(quads):
        raise RdfError(NO_DIRECTION)
    if b"_:" not in quads:
        return quads

    def steady(found: re.Match[bytes]) -> bytes:
        return b"_:" + labels.of((found[1] or found[2]).decode()).encode()

    return _LABEL.sub(steady, b"\n" + quads)[1:]


def to_ox(term: Term) -> OxTerm:
    """One of our terms as one of pyoxigraph's. What is no RDF (an IRI with a space) is an RdfError."""
    try:
        match term:
            case IRI(value):
                return ox.NamedNode(value)
            case BlankNode(value):
                return ox.BlankNode(value)
            case Literal(value, _, str(language)):
                return ox.Literal(value, language=language)
            case Literal(value, datatype):
                return ox.Literal(value, datatype=ox.NamedNode(datatype))
            case _:
                assert_never(term)
    except ValueError as error:  # also what UTF-8 can't encode
        raise RdfError(f"{str(term)[:100]!a} is no RDF term: {error}") from None


def to_ox_quad(quad: Quad) -> ox.Quad:
    """One of our quads as one of pyoxigraph's."""
    subject, predicate, object = to_ox(quad.subject), to_ox(quad.predicate), to_ox(quad.object)
    graph = ox.DefaultGraph() if quad.graph is None else to_ox(quad.graph)
    if isinstance(subject, ox.Literal) or not isinstance(predicate, ox.NamedNode) or isinstance(graph, ox.Literal):
        shown = " ".join(map(str, quad[:3]))
        raise RdfError(f"{shown:.200} is no triple: only its object may be a literal, its predicate must be an IRI")
    return ox.Quad(subject, predicate, object, graph)
