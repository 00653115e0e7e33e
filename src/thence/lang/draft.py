"""A query as read, before it is checked: where its variables and FILTERs are, and the names of its streams."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from thence.algebra.expressions import And, Expression, Variable
from thence.algebra.streams import Stream
from thence.errors import QueryError
from thence.lang.text import Text
from thence.rdf.terms import IRI
from thence.rdf.times import Domain

# The names of a query's streams, by which callers supply them.

_LAST = re.compile(r"[^#/:]+\Z")


def named_streams(iris: Iterable[IRI], namespace: str) -> tuple[Stream, ...]:
    """Each stream once, called by the last part of its IRI; by the whole IRI, if two share that part.

    >>> [stream.name for stream in named_streams([IRI("x:a#S"), IRI("x:b#S"), IRI("x:b#T")], "x:")]
    ['x:a#S', 'x:b#S', 'T']
    """
    found = tuple(dict.fromkeys(iris))
    short = {iri: _local(iri.value, namespace) for iri in found}
    times = Counter(short.values())
    return tuple(Stream(short[iri] if times[short[iri]] == 1 else iri.value, iri) for iri in found)


def _local(iri: str, namespace: str) -> str:
    rest = iri.removeprefix(namespace)
    if rest != iri and rest.replace("_", "").isalnum():
        return rest  # `:S`, whatever the namespace ends with
    last = _LAST.search(iri)
    return last[0] if last else iri


# A query as it was read, before it is known to mean something: where its variables and FILTERs are, and which kind
# of time its words demand.

_TIMES = {Domain.TICKS: "ticks", Domain.DATETIME: "dates"}


@dataclass(frozen=True, slots=True)
class TimeDemand:
    """Words that only one kind of time goes with, and where they are."""

    domain: Domain
    words: str
    at: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedDraft:
    text: Text
    demands: Sequence[TimeDemand]
    named: Mapping[Variable, list[int]]  # where each variable is, in order
    filters_at: Mapping[int, tuple[Expression, int]]  # each FILTER's expression and place, by its identity

    def error(self, reason: str, at: int, *, hint: str = "") -> QueryError:
        return self.text.error(reason, at, hint=hint)

    def after(self, variable: Variable, at: int) -> int:
        """The first place of the variable from that place on; that place itself if the variable does not follow."""
        places = self.named.get(variable, [])
        found = bisect_left(places, at)
        return places[found] if found < len(places) else at

    def line(self, at: int) -> str:
        """Line and column, for a text that speaks of a second place."""
        place = self.text.place(at)
        return f"{place.line}:{place.column}"

    def filters(self, condition: Expression) -> Iterator[tuple[Expression, int]]:
        """The FILTERs whose conjunction a group's condition is, in the order of the text, and where each is."""
        waiting = [condition]
        while waiting:
            part = waiting.pop()
            if id(part) in self.filters_at:
                yield self.filters_at[id(part)]
            elif isinstance(part, And):
                waiting += [part.right, part.left]

    def time_kind(self) -> tuple[Domain, str] | None:
        """The kind of time that the text demands. It is an error if it demands both."""
        if not self.demands:
            return None
        first = self.demands[0]
        other = next((demand for demand in self.demands if demand.domain is not first.domain), None)
        if other is not None:
            reason = (
                f"{other.words} needs times that are {_TIMES[other.domain]}, and {first.words} at {self.line(first.at)}"
                f" needs {_TIMES[first.domain]}."
            )
            cure = "numbers in both" if first.domain is Domain.TICKS else "durations or dates in both"
            raise self.error(reason, other.at, hint=cure)
        return first.domain, first.words
