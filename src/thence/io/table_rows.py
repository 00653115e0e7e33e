"""Rows of tables as Python has them, and JSON objects, as events."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from thence.errors import InputError
from thence.io.table_layout import TableLayout
from thence.rdf.events import Event, checked_type, interval, predicate_term, row_triples, within_limits
from thence.rdf.limits import Limits

_LIMITS = Limits()


def row_event(
    row: Mapping[str, Any], layout: TableLayout, *, default_id: str | None, namespace: str, limits: Limits = _LIMITS
) -> Event:
    """The typed event that a row is. InputError if it is none.

    >>> layout = TableLayout(columns={"time": "ts"}, type="STOCK")
    >>> event = row_event({"ts": 7, "price": 3}, layout, default_id="r1", namespace="http://example.org/")
    >>> event.start, [triple.object.value for triple in event.triples]
    (7, ['http://example.org/STOCK', '7', '3'])
    """
    start, end, domain = interval(*event_times(row, layout))
    called = {ours: layout.columns.get(ours, ours) for ours in ("type", "time", "subject", "id")}
    said = layout.type is None and called["type"] in row
    kind = checked_type(row[called["type"]]) if said else layout.type_of_rows()
    hidden = {"time", "subject"} | ({"type"} if said else set())
    attributes = {
        name: value
        for name, value in row.items()
        if (name not in hidden or called[name] != name) and not _is_left_out(name, value, layout)
    }
    subject = row.get(called["subject"])
    triples = within_limits(row, namespace, limits, lambda: row_triples(kind, subject, attributes, namespace))
    name = event_id(row.get(called["id"])) or default_id
    return Event.from_columns(start, end, domain, name, triples, dict(row), namespace)


def _is_left_out(name: str, value: object, layout: TableLayout) -> bool:
    """Whether a value is none that an attribute has, as a list, and the query does not name it."""
    nested = isinstance(value, list | dict | tuple)
    return nested and layout.named_types is not None and predicate_term(name, layout.namespace) not in layout.predicates


def event_times(row: Mapping[str, Any], layout: TableLayout) -> tuple[Any, Any]:
    """The start and the end of a row's event."""
    time, end = (layout.columns.get(ours, ours) for ours in ("time", "end"))
    if time not in row:
        raise InputError(f'no time: "{time}" is missing')
    last = row.get(end)
    return layout.times.instant(row[time]), None if last is None else layout.times.instant(last)


def event_id(value: object) -> str | None:
    """An id as JSON has it: text, or a number."""
    match value:
        case None | str():
            return value or None
        case int() if not isinstance(value, bool):
            return str(value)
        case _:
            raise InputError(f'"id" is {json.dumps(value, default=str):.80}, but an id is text')
