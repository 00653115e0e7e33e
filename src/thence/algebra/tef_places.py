"""Where the parts of a TEF-SPARQL file stand in its text: for errors that are found only once the kinds of predicates
are known (TEF-16)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, assert_never

from thence.algebra.expressions import Variable
from thence.algebra.patterns import TriplePattern
from thence.algebra.tef_sparql import (
    Absent,
    Assignment,
    Conjunction,
    Either,
    OnEnd,
    OnInit,
    OnStart,
    Plain,
    Related,
    Replace,
    Since,
    TefPattern,
    TefStatement,
    Test,
    Times,
    Until,
)
from thence.errors import QueryError


class PlacedText(Protocol):
    """A text that makes errors with their places."""

    def error(self, reason: str, offset: int, *, hint: str = "") -> QueryError: ...


@dataclass(frozen=True, slots=True)
class StatementPlaces:
    """Offsets of a statement's parts: of the predicate of each triple, of each step behind a comma, of clauses."""

    at: int
    head: tuple[int, ...]  # of each triple of the head
    patterns: tuple[int, ...]  # of each pattern, in the order of `statement_patterns`
    once_per: int
    within: int

    def of(self, pattern: TefPattern, statement: TefStatement) -> int:
        """Where that very pattern of the statement stands; where the statement does, if it is none of it."""
        pairs = zip(statement_patterns(statement), self.patterns, strict=True)
        return next((at for each, at in pairs if each is pattern), self.at)


@dataclass(frozen=True, slots=True)
class TefPlaces:
    """A file's text, and where its statements and variables stand in it."""

    text: PlacedText
    statements: tuple[StatementPlaces, ...]
    named: Mapping[Variable, Sequence[int]]  # in order

    def first(self, variable: Variable, number: int) -> int:
        """Where the variable stands first in the statement of that number; where the statement does, if nowhere."""
        at = self.statements[number - 1].at
        found = self._in_statement(variable, number)
        return found[0] if found else at

    def last(self, variable: Variable, number: int) -> int:
        """Where the variable stands last in the statement of that number."""
        at = self.statements[number - 1].at
        found = self._in_statement(variable, number)
        return found[-1] if found else at

    def _in_statement(self, variable: Variable, number: int) -> Sequence[int]:
        places = self.named.get(variable, ())
        begin = bisect_left(places, self.statements[number - 1].at)
        more = number < len(self.statements)
        return places[begin : bisect_left(places, self.statements[number].at) if more else None]


def pattern_places(statement: TefStatement, noted: Mapping[int, int], at: int) -> tuple[int, ...]:
    """The offsets of all patterns. `noted` has some of them by identity; a pattern without one stands where its first
    part does. `at` is where the statement does."""
    found: list[int] = []
    for pattern in reversed(list(statement_patterns(statement))):
        found.append(noted.get(id(pattern), found[-1] if found else at))
    return tuple(reversed(found))


def statement_patterns(statement: TefStatement) -> Iterator[TefPattern]:
    """All patterns of a statement, each before its parts, in the order of the text; without recursion."""
    waiting: list[TefPattern] = []
    for arm in reversed(statement.arms):
        match arm:
            case Plain(pattern) | Since(pattern) | Until(pattern) | OnInit(pattern):
                waiting.append(pattern)
            case Replace():
                waiting += [arm.events, arm.facts]
            case _:
                assert_never(arm)
    while waiting:
        found = waiting.pop()
        yield found
        match found:
            case TriplePattern():
                pass
            case Times(inner) | Test(inner) | Assignment(inner) | OnStart(inner) | OnEnd(inner):
                waiting.append(inner)
            case Conjunction() | Either() | Related() | Absent():
                waiting += [found.right, found.left]
            case _:
                assert_never(found)
