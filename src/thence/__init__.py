"""Complex event processing over RDF graph streams and plain DataFrames.

Docstrings cite the rules of `docs/semantics`: C-31 is a rule of common.md, SP- of spaseq.md, SA- of sase.md, EP- of
ep-sparql.md, RS- of rsep-ql.md, TEF- of tef-sparql.md, BAD- of bad-input.md. Numbers alone are those of the standard or
paper that the module names: (18.5) is a section of SPARQL 1.1, (2.2.4) one of the SASE+ paper, (10) an equation of
RSEP-QL.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from thence.errors import InputError, LimitError, QueryError, RdfError, ThenceError

if TYPE_CHECKING:
    from thence.builder import attribute, count, many, one, pattern
    from thence.query import Engine, Event, Match, Problem, Query, parse

__version__ = "0.1.0.dev0"

__all__ = [
    "Engine",
    "Event",
    "InputError",
    "LimitError",
    "Match",
    "Problem",
    "Query",
    "QueryError",
    "RdfError",
    "ThenceError",
    "__version__",
    "attribute",
    "count",
    "many",
    "one",
    "parse",
    "pattern",
]

_LATER = dict.fromkeys(("Engine", "Event", "Match", "Problem", "Query", "parse"), "thence.query")
_LATER |= dict.fromkeys(("attribute", "count", "many", "one", "pattern"), "thence.builder")


def __getattr__(name: str) -> Any:
    """Import the public names that need heavy libraries on first use."""
    if name not in _LATER:
        raise AttributeError(f"module 'thence' has no attribute {name!r}")
    found = globals()[name] = getattr(import_module(_LATER[name]), name)
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
