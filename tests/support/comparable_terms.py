"""Terms of oracle and engine as comparable values, and helpers of such comparisons."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pyoxigraph as ox

from oracle.ep_sparql import MADE
from oracle.ep_sparql_text import turtle
from oracle.terms import Blank, Iri, Literal, Term, Triple
from thence.local.flow import LocalFlow
from thence.rdf import terms as engine
from thence.runtime import saved_state

NAMESPACE = "http://example.org/"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"


def comparable_term(term: Term) -> object:
    """A term of an oracle, as both sides show it."""
    match term:
        case Iri(name):
            return "iri", name
        case Blank():
            made = term == MADE or term.event == "new"
            return ("blank", "made") if made else ("blank", term.label, term.event)
        case Literal(lexical, datatype):
            return datatype, (_rounded(Fraction(lexical)) if datatype in ("integer", "decimal") else lexical)


def engine_term(term: engine.Term, events: Sequence[Sequence[Any]]) -> object:
    """A term of the engine. Blank nodes are those of the event at a position; its id is the first that it has."""
    match term:
        case engine.IRI(value):
            return "iri", shortened(value)
        case engine.BlankNode(label):
            if label.startswith("rule"):
                return "blank", "made"
            _, position, own = label.split("_", 2)
            return "blank", own, events[int(position)][0]
        case engine.Literal(lexical, datatype):
            kind = datatype.partition("#")[2]
            return kind, (_rounded(Fraction(Decimal(lexical))) if kind in ("integer", "decimal") else lexical)


def _rounded(number: Fraction) -> Fraction:
    """The engine writes quotients without an end with 34 digits, the oracles as fractions."""
    return round(number, 30)


def shortened(iri: str) -> str:
    """An IRI as the oracles write it."""
    for prefix, namespace in (("", NAMESPACE), ("rdf:", engine.RDF), ("rdfs:", RDFS)):
        if iri.startswith(namespace):
            return prefix + iri.removeprefix(namespace)
    return iri


def restart(flow: LocalFlow) -> None:
    """Save every stage and go on from what was saved."""
    for host in flow.hosts:
        head, arrays = host.snapshot()
        fingerprint = host.stage.program.fingerprint()
        state = saved_state.save(head, arrays, fingerprint=fingerprint, shards=1)
        host.restore(*saved_state.restore(state, fingerprint=fingerprint, shards=1))


def store_of(triples: Iterable[Triple], name: ox.NamedNode | None = None) -> ox.Dataset:
    """Triples of an oracle as a dataset, which keeps how numbers are written, as a store does not."""
    graph = ox.DefaultGraph() if name is None else name
    found = ox.parse(turtle(tuple(triples)).encode(), format=ox.RdfFormat.TURTLE)
    return ox.Dataset(ox.Quad(each.subject, each.predicate, each.object, graph) for each in found)
