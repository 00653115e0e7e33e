"""A file of EP-SPARQL as it was read, before it is known to mean something: its statements, and where things stand."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from thence.algebra.ep_sparql import Statement
from thence.algebra.expressions import And, Expression, Variable
from thence.errors import QueryError
from thence.lang.text import Text
from thence.rdf.times import Domain


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


@dataclass(frozen=True, slots=True)
class TimeDemand:
    """A comparison that only one kind of time can make true, in words, and where it stands."""

    domain: Domain
    words: str
    at: int


@dataclass(frozen=True, slots=True)
class Draft:
    text: Text
    statements: tuple[DraftStatement, ...]
    demands: tuple[TimeDemand, ...]
    cautions: tuple[str, ...]  # warnings that were already clear when the text was read
    named: Mapping[Variable, list[int]]  # where each variable stands, in order
    filters_at: Mapping[int, tuple[Expression, int]]  # each FILTER's expression and place, by its identity

    def error(self, reason: str, at: int, *, hint: str = "") -> QueryError:
        return self.text.error(reason, at, hint=hint)

    def after(self, variable: Variable, at: int) -> int:
        """Where the variable stands first from that place on; that place itself, if it does not."""
        places = self.named.get(variable, [])
        found = bisect_left(places, at)
        return places[found] if found < len(places) else at

    def line(self, at: int) -> str:
        """Line and column, for a text that speaks of a second place."""
        place = self.text.place(at)
        return f"{place.line}:{place.column}"

    def filters(self, condition: Expression) -> Iterator[tuple[Expression, int]]:
        """The FILTERs whose conjunction a group's condition is, in the order of the text, and where each stands."""
        waiting = [condition]
        while waiting:
            part = waiting.pop()
            if id(part) in self.filters_at:
                yield self.filters_at[id(part)]
            elif isinstance(part, And):
                waiting += [part.right, part.left]
