"""Events for the operator of `three_events`, and what it must emit."""

from __future__ import annotations

import thence
from thence.interface.operator import Feature
from thence.query.languages import Language
from thence.query.query import Query

LANGUAGE = Language(
    "three", "Three", ".three", "THREE", "three_events:parse", "three_events:compile_query",
    frozenset({Feature.TIMED_OUT}),
)  # fmt: skip

GRAPHS = [
    (1, ":a :is 1 ."),
    (2, ":b :is 1 ."),
    (3, ":a :is 2 ."),
    (4, "this is no Turtle"),
    (11, ":a :is 3 ."),
    (12, ":a :is 4 ."),
    (13, ":a :is 5 ."),
    (14, ":a :is 6 ."),
    (30, ":c :is 1 ."),
]
A = "http://example.org/a"
ROWS = [(1, 11, A, ("e1", "e3", "e11")), (12, 14, A, ("e12", "e13", "e14"))]
TIMED_OUT = [("e2", "a third event did not arrive before the window ended (12)")]


def query(text: str = "THREE") -> Query:
    return Query(LANGUAGE.parse(text, source="query", namespace=None), LANGUAGE)


def document(graph: str) -> str:
    return f"@prefix : <http://example.org/> . {graph}"


def events() -> list[thence.Event]:
    return [thence.Event(time, document(graph), id=f"e{time}") for time, graph in GRAPHS if graph.endswith(" .")]
