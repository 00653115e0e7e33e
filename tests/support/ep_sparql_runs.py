"""EP-SPARQL: rows and background of a case in comparable form, in one process and on Spark."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyoxigraph as ox

from oracle.ep_sparql import Row
from oracle.ep_sparql_cases import Case
from oracle.ep_sparql_data import GivenEvent
from oracle.ep_sparql_text import turtle
from support.comparable_terms import comparable_term, engine_term, store_of
from thence.columns.batches import Batch, encode
from thence.interface.solutions import Row as EngineRow
from thence.io.background_data import load_background
from thence.match.background import NO_BACKGROUND, Background
from thence.rdf import terms as engine
from thence.rdf.events import Event

NAMESPACE = "http://example.org/"


def given_events(events: Sequence[GivenEvent]) -> list[tuple[str, Event]]:
    return [("events", Event(start, turtle(triples), end=end, id=name)) for name, start, end, triples in events]


def spark_row(row: Mapping[str, Any], events: Sequence[GivenEvent], twice: bool) -> Shown:
    reserved = ("start", "end", "match_id", "events", "certain", "problem", "reason", "event", "stream", "query")
    cells = {name.rstrip("_"): cell for name, cell in row.items() if name not in reserved and cell is not None}
    terms = ((name, spark_term(cell, events)) for name, cell in sorted(cells.items()))
    return row.get("query", 1), row["start"], row["end"], tuple(terms), () if twice else tuple(row["events"])


def spark_term(cell: Mapping[str, Any], events: Sequence[GivenEvent]) -> object:
    match cell["type"]:
        case "uri":
            return engine_term(engine.IRI(cell["value"]), events)
        case "bnode":
            return engine_term(engine.BlankNode(cell["value"]), events)
        case _:
            return engine_term(engine.Literal(cell["value"], cell["datatype"] or engine.XSD_STRING), events)


def encoded(events: list[tuple[int, GivenEvent]]) -> Batch:
    made = [
        Event(start, turtle(triples), end=end, id=f"events:{number}") for number, (_, start, end, triples) in events
    ]
    return encode(made, stream="events", first=events[0][0])


def background_of(case: Case) -> Background:
    stores: dict[str | None, list[ox.Dataset]] = {}
    if case.background:
        stores[None] = [store_of(case.background)]
    for name, triples in case.named or ():
        stores[NAMESPACE + name] = [store_of(triples)]
    return Background(load_background(stores)) if stores else NO_BACKGROUND


Shown = tuple[int, int, int, tuple[tuple[str, object], ...], tuple[str, ...]]
"""A row as both sides show it: the number of its SELECT, start, end, cells, events."""


def shown(row: Row, *, sliced: bool) -> Shown:
    """A row of the oracle. Of equal rows a LIMIT may take any, so that their events may differ (EP-62). An event that
    fills several patterns is listed once."""
    number, start, end, bindings, events = row
    named = () if sliced else tuple(dict.fromkeys(events))
    return number, start, end, tuple((name, comparable_term(term)) for name, term in bindings), named


def cells(row: EngineRow, events: Sequence[GivenEvent]) -> tuple[tuple[str, object], ...]:
    return tuple(sorted((name, engine_term(cell, events)) for name, cell in row.bindings.items()))  # type: ignore[arg-type]
