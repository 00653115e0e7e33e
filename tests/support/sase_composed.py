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


def possible(text: str) -> thence.Query:
    """The query. A text whose types rule it out is no case: what another query makes is known to be of a type, which
    the definitions do not tell."""
    try:
        query = thence.parse(text, language="sase+")
        query.match(dict.fromkeys(query.streams, ()))
    except thence.QueryError as error:
        reasons = (
            "cannot be",
            "is for numbers",
            " takes a ",
            "adds numbers",
            "No stream has the attribute",
            "never true",
        )
        assume(not any(words in str(error) for words in reasons))
        raise
    return query
