"""A file of EP-SPARQL as it was read, before it is known to mean something: its statements, and where things stand."""

from __future__ import annotations

from dataclasses import dataclass

from thence.algebra.ep_sparql import Statement
from thence.algebra.expressions import Expression
from thence.lang.placed_draft import PlacedDraft


@dataclass(frozen=True, slots=True)
class DraftColumn:
    """A column of SELECT: the two sides of AS, either of which may be the name (EP-14), or one side without AS."""

    left: Expression
    right: Expression | None
    at: int


@dataclass(frozen=True, slots=True)
class DraftStatement:
    """A statement, and where it begins."""

    statement: Statement
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft(PlacedDraft):
    statements: tuple[DraftStatement, ...]
    cautions: tuple[str, ...]  # warnings that were already clear when the text was read
