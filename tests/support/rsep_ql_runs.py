"""RSEP-QL: rows and background of a case in comparable form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyoxigraph as ox

from oracle.ep_sparql_text import turtle
from oracle.rsep_ql_cases import (
    Case,
)
from oracle.terms import Term, Triple
from support.ep_sparql_runs import spark_term
from support.told_terms import NAMESPACE, store_of, told_term
from thence.io.background_data import load_background
from thence.match.background import NO_BACKGROUND, Background
from thence.rdf.events import Event

GENERATED = ox.NamedNode("http://www.w3.org/ns/prov#generatedAtTime")


def given_events(events: Iterable[tuple[Any, ...]]) -> list[tuple[str, Event]]:
    return [(stream, Event(start, turtle(triples), end=end, id=name)) for stream, name, start, end, triples in events]


def spark_row(row: Mapping[str, Any], events: Sequence[tuple[Any, ...]]) -> tuple[int, tuple[tuple[str, object], ...]]:
    reserved = ("start", "end", "match_id", "events", "certain", "problem", "reason", "event", "stream", "query")
    cells = {name.rstrip("_"): cell for name, cell in row.items() if name not in reserved and cell is not None}
    assert row["problem"] is None and row["start"] == row["end"]
    named = [(each[1],) for each in events]
    return row["end"], tuple((name, spark_term(cell, named)) for name, cell in sorted(cells.items()))


def told_bindings(bindings: Iterable[tuple[str, Term]]) -> tuple[tuple[str, object], ...]:
    return tuple((name, told_term(term)) for name, term in bindings)


def background_of(case: Case) -> Background:
    stores = background_stores(case)
    return Background(load_background(stores)) if stores else NO_BACKGROUND


def background_stores(case: Case) -> dict[str | None, list[ox.Dataset]] | None:
    stores: dict[str | None, list[ox.Dataset]] = {}
    if case.background:
        stores[None] = [store_of(case.background)]
    for name, graph in (case.named or {}).items():
        listed = list(graph)
        if listed and len(listed[0]) == 2:
            stores[NAMESPACE + name] = [versions(name, listed)]  # type: ignore[arg-type]
        else:
            stores[NAMESPACE + name] = [store_of(listed)]  # type: ignore[arg-type]
    return stores or None


def versions(name: str, listed: Sequence[tuple[int, Sequence[Triple]]]) -> ox.Dataset:
    """Each version a graph of its own, with its time (RS-5)."""
    made = ox.Dataset()
    for time, graph in listed:
        own = ox.NamedNode(f"{NAMESPACE}{name}/{time}")
        for quad in (*store_of(graph, own), ox.Quad(own, GENERATED, ox.Literal(time), ox.DefaultGraph())):
            made.add(quad)
    return made
