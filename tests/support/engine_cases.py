"""SPAseQ cases through the public interface: queries, events, and matches in comparable form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, TypeAlias

import thence
from oracle import spaseq_query
from strategies.spaseq import Case, text, turtle
from support.spaseq_runs import background
from thence.rdf.terms import BlankNode
from thence.runtime.results import Match

Comparable: TypeAlias = tuple[Any, ...]
"""A row: start, end, when it was certain, events, bindings."""


def query_of(case: Case) -> thence.Query:
    return thence.parse(text(case.query))


def given_event(event: spaseq_query.Event) -> thence.Event:
    return thence.Event(event.start, turtle(event.graph), event.time, id=event.id)


def matched_rows(case: Case) -> list[Match]:
    streams = {
        stream: [given_event(event) for event in case.events if event.stream == stream] for stream in case.query.streams
    }
    return only_matches(query_of(case).match(streams, background=background(case)))


def only_matches(found: Iterable[object]) -> list[Match]:
    listed = list(found)
    assert all(isinstance(each, Match) for each in listed)
    return [each for each in listed if isinstance(each, Match)]


def tell(rows: Iterable[Match]) -> list[Comparable]:
    return [
        (*row.times, row.certain, row.event_ids, tuple(sorted((k, _cell(v)) for k, v in row.bindings.items())))
        for row in rows
    ]


def _cell(cell: object) -> str:
    """A blank node by its own label: where its event stood among the others depends on who asks."""
    if isinstance(cell, tuple):
        return " ".join(map(_cell, cell))
    return f"_:{cell.value.rpartition('_')[2]}" if isinstance(cell, BlankNode) else str(cell)


def summary(case: Case, rows: list[Comparable]) -> Counter[Comparable]:
    """Of equal rows of SELECT DISTINCT any may be the first, if they come at one time."""
    return Counter((row[2], row[-1]) if case.query.distinct else row for row in rows)
