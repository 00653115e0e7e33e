"""RSEP-QL: events, queries and rows in the notation of the paper."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import thence
from thence.runtime.results import Match

PREFIX = "PREFIX : <http://example.org/>\n"


def event(time: Any, triples: str, name: str | None = None) -> thence.Event:
    start, end = time if isinstance(time, tuple) else (time, time)
    return thence.Event(start, f"{PREFIX}{triples} .", end=end, id=name)


def comparable(found: Iterable[object]) -> Iterator[str]:
    matches = [each for each in found if isinstance(each, Match)]
    assert all(each.start == each.end for each in matches)  # RS-48
    shown = sorted((each.end, " ".join(f"{name}={short(term)}" for name, term in values(each))) for each in matches)
    return (f"{time} {text}".strip() for time, text in shown)


def values(match: Match) -> list[tuple[str, Any]]:
    return sorted(match.bindings.items())


def short(term: Any) -> str:
    return str(term.value).rpartition("/")[2]


COUNT = "SELECT (COUNT(*) AS ?n) FROM NAMED :S WIN {} AS :w {} WHERE {{ WINDOW :w {{ ?s :n ?o }} }}"


def count(window: str, clause: str = "", **options: Any) -> thence.Engine:
    return thence.parse(PREFIX + COUNT.format(window, clause)).engine(**options)


def happened(time: int) -> thence.Event:
    return event(time, f":s :n {time}")


def counted(found: Iterable[object]) -> list[str]:
    return [text.replace("n=", "") for text in comparable(found)]
