"""SASE+: composed queries as the engine and as the definitions answer them."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import assume

import thence
from oracle.sase_composed_cases import Text
from oracle.sase_query import Event


def in_time(text: Text) -> Iterable[tuple[int, str, Event]]:
    found = [(event.time, name, event) for name, events in text.given.items() for event in events]
    return sorted(found, key=lambda each: each[0])


_RULED_OUT = ("cannot be", "is for numbers", " takes a ", "adds numbers", "No stream has the attribute", "never true")


def is_ruled_out(reason: str) -> bool:
    """Whether a query is refused by the types of what other queries make, which the definitions do not know."""
    return any(words in reason for words in _RULED_OUT)


def possible(text: str) -> thence.Query:
    """The query. A text that types rule out is no case."""
    try:
        query = thence.parse(text, language="sase+")
        query.match(dict.fromkeys(query.streams, ()))
    except thence.QueryError as error:
        assume(not is_ruled_out(str(error)))
        raise
    return query
