"""A file of several EP-SPARQL statements, its events and its matches."""

from __future__ import annotations

import thence
from thence.runtime.results import Match

PREFIX = "PREFIX : <http://example.org/>\n"


TURTLE = "@prefix : <http://example.org/> . "


SELECTS = """
SELECT ?house ?watts WHERE { ?house :watts ?watts }
SELECT ?house ?query ?more WHERE {
  { ?house :watts ?query } SEQ { ?house :watts ?more } FILTER(?more > ?query)
}
"""


RULES = """
CONSTRUCT { ?house :z ?watts } WHERE { ?house :watts ?watts }
CONSTRUCT { :grid :a :busy } WHERE { :h1 :watts 400 }
CONSTRUCT { ?house :rose ?more } WHERE {
  { ?house :watts ?less } SEQ { ?house :watts ?more } FILTER(?more > ?less)
}
"""


GRAPHS = [(1, ":h1 :watts 400"), (3, ":h1 :watts 700"), (3, ":h2 :watts 100")]


EVENTS = [thence.Event(time, f"{TURTLE}{graph} .", id=f"e{n}") for n, (time, graph) in enumerate(GRAPHS)]


def parsed(text: str) -> thence.Query:
    return thence.parse(PREFIX + text, language="ep-sparql")


def matches(text: str) -> list[Match]:
    return [each for each in parsed(text).match(EVENTS) if isinstance(each, Match)]
