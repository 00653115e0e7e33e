"""Event patterns: ⟨E⟩ at one evaluation (Definition 7, equations (4) to (11); RS-26 to RS-43)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias, assert_never

from thence.algebra.expressions import Variable
from thence.algebra.patterns import BasicEvent, EventExpression, EventSeq, First, Last, SeqPolicy

Bound: TypeAlias = Mapping[Variable, int]
"""A solution mapping, by the ids of terms."""


class EventMapping(NamedTuple):
    """(μ, t1, t2), with the events that it is made of, in pattern order."""

    bound: Bound
    start: int
    end: int
    refs: tuple[int, ...]

    @property
    def order(self) -> tuple[int, int]:
        """The sort key of ≺: the end, then the start (RS-33)."""
        return self.end, self.start


NO_LIMIT = 2**63
"""Later than every time: W* without an upper bound."""


def compatible(left: Bound, right: Bound) -> bool:
    return all(right.get(variable, found) == found for variable, found in left.items())


class Mappings:
    """The mappings of one EVENT that are visible at an evaluation, found by what is bound already."""

    def __init__(self, listed: Iterable[EventMapping]) -> None:
        self._listed = list(listed)
        domains = [each.bound.keys() for each in self._listed]
        self._certain = frozenset(domains[0]).intersection(*domains[1:]) if domains else frozenset[Variable]()
        self._indexes: dict[tuple[Variable, ...], dict[tuple[int, ...], list[EventMapping]]] = {}

    def of(self, bound: Bound, before: int) -> list[EventMapping]:
        """The mappings that are compatible with `bound`, joined with it (RS-38), and that end before a time."""
        names = tuple(name for name in bound if name in self._certain)
        mappings: Sequence[EventMapping] = self._listed
        if names:
            if names not in self._indexes:
                index = self._indexes[names] = {}
                for each in self._listed:
                    index.setdefault(tuple(each.bound[name] for name in names), []).append(each)
            mappings = self._indexes[names].get(tuple(bound[name] for name in names), ())
        if len(names) == len(bound):  # the index has looked at all of them
            return [each for each in mappings if each.end < before]
        return [
            each if bound.keys() <= each.bound.keys() else each._replace(bound={**each.bound, **bound})
            for each in mappings
            if each.end < before and compatible(each.bound, bound)
        ]


@dataclass(slots=True)
class EventMatcher:
    """Evaluates event patterns over the visible mappings of each EVENT. `variables` are those of each EVENT's text."""

    mappings: Mapping[str, Mappings]
    variables: Mapping[str, frozenset[Variable]]
    _scopes: dict[EventExpression, frozenset[Variable]] = field(default_factory=dict)
    _known: dict[object, list[EventMapping]] = field(default_factory=dict)

    def match(self, events: EventExpression) -> list[EventMapping]:
        """⟨E⟩ in the identity window (8)."""
        return self._evaluate(events, {}, NO_LIMIT)

    def scope(self, events: EventExpression) -> frozenset[Variable]:
        """The variables in scope in E, by the text."""
        if events not in self._scopes:
            match events:
                case BasicEvent():
                    variables = self.variables[events.name]
                case First() | Last():
                    variables = self.scope(events.events)
                case EventSeq():
                    variables = self.scope(events.left) | self.scope(events.right)
                case _:
                    assert_never(events)
            self._scopes[events] = variables
        return self._scopes[events]

    def _evaluate(self, events: EventExpression, bound: Bound, before: int) -> list[EventMapping]:
        """⟨μ(E)⟩ in W*: `bound` is μ, and all events end before a time (RS-34, RS-35)."""
        scope = self.scope(events)
        inside = {variable: found for variable, found in bound.items() if variable in scope}
        key = (events, before, frozenset(inside.items()))
        if key not in self._known:
            self._known[key] = self._evaluated(events, inside, before)
        return self._known[key]

    def _evaluated(self, events: EventExpression, bound: Bound, before: int) -> list[EventMapping]:
        match events:
            case BasicEvent():
                return self.mappings[events.name].of(bound, before)
            case First():
                return _extreme(self._evaluate(events.events, bound, before), min)
            case Last():
                return _extreme(self._evaluate(events.events, bound, before), max)
            case EventSeq(policy=None):
                return self._seq(events, bound, before)
            case EventSeq(policy=SeqPolicy.NAIVE):
                return self._naive(events, bound, before)
            case EventSeq():
                return self._selected(events, bound, before)
            case _:
                assert_never(events)

    def _seq(self, seq: EventSeq, bound: Bound, before: int) -> list[EventMapping]:
        """(7)."""
        return _joined(
            (partner, second)
            for second in self._evaluate(seq.right, bound, before)
            for partner in self._partners(seq, second, bound, before)
        )

    def _partners(self, seq: EventSeq, second: EventMapping, bound: Bound, before: int) -> list[EventMapping]:
        """⟨μ2(E1)⟩ in W*."""
        return self._evaluate(seq.left, {**bound, **second.bound}, min(before, second.start))

    def _naive(self, seq: EventSeq, bound: Bound, before: int) -> list[EventMapping]:
        """(9): LAST of E2, then LAST of what is compatible in E1, whichever is later (RS-43)."""
        pairs = []
        for second in _extreme(self._evaluate(seq.right, bound, before), max):
            firsts = _extreme(self._evaluate(seq.left, {**bound, **second.bound}, before), max)
            pairs += [(first, second) for first in firsts if first.order < second.order]
        return _joined(pairs)

    def _selected(self, seq: EventSeq, bound: Bound, before: int) -> list[EventMapping]:
        """SEQ CHRONOLOGICAL (10) and SEQ RECENT (11): of rivals, those that agree on the shared variables, the first or
        the last (RS-40 – RS-42). EP-SPARQL's policies, which select alike, are in `engines/temporal/policies.py`."""
        choose = _FIRST_OR_LAST[seq.policy]
        shared = sorted(self.scope(seq.left) & self.scope(seq.right), key=lambda each: each.name)
        candidates = [
            (second, partners)
            for second in self._evaluate(seq.right, bound, before)
            if (partners := self._partners(seq, second, bound, before))
        ]
        best: dict[tuple[int | None, ...], tuple[int, int]] = {}
        for second, _ in candidates:
            rivals = tuple(map(second.bound.get, shared))
            best[rivals] = choose((best.get(rivals, second.order), second.order))
        return _joined(
            (partner, second)
            for second, partners in candidates
            if second.order == best[tuple(map(second.bound.get, shared))]
            for partner in _extreme(partners, choose)
        )


Order = tuple[int, int]

_FIRST_OR_LAST: dict[SeqPolicy | None, Callable[[Iterable[Order]], Order]] = {
    SeqPolicy.CHRONOLOGICAL: min,  # (10)
    SeqPolicy.RECENT: max,  # (11)
}
"""Of rivals, the one that each policy selects."""


def _extreme(mappings: list[EventMapping], choose: Callable[[Iterable[Order]], Order]) -> list[EventMapping]:
    """FIRST (5) or LAST (6): all that none precedes, or that precede none (RS-37)."""
    if not mappings:
        return mappings
    best = choose(each.order for each in mappings)
    return [each for each in mappings if each.order == best]


def _joined(pairs: Iterable[tuple[EventMapping, EventMapping]]) -> list[EventMapping]:
    """(μ1 ∪ μ2, t1, t4) of each pair; equal mappings of the same events are one (RS-27)."""
    mappings: dict[object, EventMapping] = {}
    for first, second in pairs:
        bound = {**first.bound, **second.bound}
        refs = first.refs + second.refs
        mappings[refs, frozenset(bound.items())] = EventMapping(bound, first.start, second.end, refs)
    return list(mappings.values())
