"""SASE+: events with values of every kind, and the matches of a condition over them."""

from __future__ import annotations

from typing import Any

import thence
from thence.local.match_table import python_cell

PREFIXES = "@prefix ex: <http://example.org/> . @prefix fo: <http://example.com/> . "


def rdf(time: int, text: str) -> thence.Event:
    return thence.Event(time, PREFIXES + text)


def found(query: str, events: list[thence.Event]) -> list[dict[str, Any]]:
    """By match, which must be what pushing one by one gives."""
    read = thence.parse(query, language="sase+")
    rows = [{name: python_cell(cell) for name, cell in match.bindings.items()} for match in read.match(events)]  # type: ignore[union-attr]
    if "AGGREGATE" not in query:
        engine = read.engine()
        pushed = [answer for event in events for answer in engine.push(event)] + engine.close()
        assert [{name: python_cell(cell) for name, cell in match.bindings.items()} for match in pushed] == rows  # type: ignore[union-attr]
    return rows
