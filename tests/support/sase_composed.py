"""SASE+: composed queries as the engine and as the definitions answer them."""

from __future__ import annotations

from collections.abc import Iterable

from oracle.sase_composed_cases import Text
from oracle.sase_query import Event


def in_time(text: Text) -> Iterable[tuple[int, str, Event]]:
    found = [(event.time, name, event) for name, events in text.given.items() for event in events]
    return sorted(found, key=lambda each: each[0])
