"""The public names: parse a query, match it, push events into it."""

from thence.local.engine import Engine
from thence.local.results import Counts, Match, Problem
from thence.query.languages import Language
from thence.query.query import Query, parse
from thence.rdf.events import Event

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
