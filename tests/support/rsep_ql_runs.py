"""RSEP-QL: rows and background of a case in comparable form."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import pyoxigraph as ox

from oracle.ep_sparql_text import turtle
from oracle.rsep_ql_cases import (
    Case,
)
from oracle.rsep_ql_text import written_length, written_time
from oracle.terms import Literal, Term, Triple
from support.comparable_terms import NAMESPACE, comparable_term, store_of
from support.ep_sparql_runs import spark_term
from thence.io.background_data import load_background
from thence.match.background import NO_BACKGROUND, Background
from thence.rdf.events import Event

XSD = "http://www.w3.org/2001/XMLSchema#"
GENERATED = ox.NamedNode("http://www.w3.org/ns/prov#generatedAtTime")


SECOND = 1_000_000
"""A second in the engine's units."""


def given_time(time: int, *, dates: bool) -> int | str:
    """A time of the oracle as a user writes it."""
    return written_time(time, dates=True) if dates else time


def given_length(length: int, *, dates: bool) -> int | str:
    return written_length(length, dates=True) if dates else length


def given_report(case: Case) -> Any:
    """The option `report`."""
    match case.report:
        case int():
            return given_length(case.report, dates=case.query.dates)
        case None | str():
            return case.report
        case _:
            return [given_time(each, dates=case.query.dates) for each in case.report]


def comparable_time(time: Any, *, dates: bool) -> int:
    """A time of the engine as the oracle writes it."""
    if isinstance(time, datetime):
        return round(time.timestamp())
    seconds, rest = divmod(time, SECOND) if dates else (time, 0)
    assert not rest
    return int(seconds)


def given_events(events: Iterable[tuple[Any, ...]], *, dates: bool = False) -> list[tuple[str, Event]]:
    return [(stream, given_event(each, dates=dates)) for each in events for stream in each[:1]]


def given_event(event: tuple[Any, ...], *, dates: bool = False) -> Event:
    _, name, start, end, triples = event
    return Event(
        given_time(start, dates=dates),
        turtle(triples),
        end=given_time(end, dates=dates),
        id=name,
    )


def spark_row(row: Mapping[str, Any], events: Sequence[tuple[Any, ...]]) -> tuple[int, tuple[tuple[str, object], ...]]:
    reserved = ("start", "end", "match_id", "events", "certain", "problem", "reason", "event", "stream", "query")
    cells = {name.rstrip("_"): cell for name, cell in row.items() if name not in reserved and cell is not None}
    assert row["problem"] is None, row["reason"]
    time = comparable_time(row["start"], dates=False)
    assert time == comparable_time(row["end"], dates=isinstance(row["start"], datetime))
    named = [(each[1],) for each in events]
    return time, tuple((name, spark_term(cell, named)) for name, cell in sorted(cells.items()))


def comparable_bindings(bindings: Iterable[tuple[str, Term]]) -> tuple[tuple[str, object], ...]:
    return tuple((name, comparable_term(term)) for name, term in bindings)


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
            stores[NAMESPACE + name] = [versions(name, listed, case.query.time_term)]  # type: ignore[arg-type]
        else:
            stores[NAMESPACE + name] = [store_of(listed)]  # type: ignore[arg-type]
    return stores or None


def versions(
    name: str, listed: Sequence[tuple[int, Sequence[Triple]]], time_term: Callable[[int], Literal]
) -> ox.Dataset:
    """Each version a graph of its own, with its time (RS-5)."""
    made = ox.Dataset()
    for time, graph in listed:
        own = ox.NamedNode(f"{NAMESPACE}{name}/{time}")
        term = time_term(time)
        written = ox.Literal(term.lexical, datatype=ox.NamedNode(f"{XSD}{term.datatype}"))
        for quad in (*store_of(graph, own), ox.Quad(own, GENERATED, written, ox.DefaultGraph())):
            made.add(quad)
    return made
