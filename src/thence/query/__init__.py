"""The public names: parse a query, match it, push events into it.

Tests: tests/query.
"""

from thence.local.engine import Engine
from thence.query.languages import Language
from thence.query.query import Query, parse
from thence.rdf.events import Event
from thence.runtime.results import Counts, Match, Problem

__all__ = [
    "Counts",
    "Engine",
    "Event",
    "Language",
    "Match",
    "Problem",
    "Query",
    "parse",
]
