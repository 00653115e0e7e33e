"""Fact patterns: when they hold, and with which bindings (Table 4.1; TEF-37 to TEF-39, TEF-53 to TEF-65)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor, isfinite
from typing import NamedTuple, TypeAlias, assert_never

from thence.algebra.expressions import Comparison, Expression, Variable
from thence.algebra.patterns import TriplePattern
from thence.algebra.tef_sparql import (
    Absent,
    Assignment,
    Conjunction,
    Either,
    Kind,
    OnEnd,
    OnStart,
    Open,
    Related,
    TefPattern,
    Test,
    Times,
    When,
)
from thence.algebra.tef_variables import bound as bound_variables
from thence.errors import InputError
from thence.kernel.facts.fact_store import Fact, FactStore, unified
from thence.match.context import Context, Solution
from thence.match.expression_evaluator import attempt, passes
from thence.program.facts.kinds import Kinds, now_comparison
from thence.rdf.dataset import IndexedGraph
from thence.rdf.terms import IRI, Literal, Term
from thence.rdf.times import MAX_TIME, MIN_TIME, Domain, parse_time, time_literal

ALWAYS = MIN_TIME
"""Since when static triples hold: they are older than everything (TEF-9)."""


Origin: TypeAlias = tuple[frozenset[tuple[Variable, Term]], frozenset[tuple[Variable, Term]], tuple[int, ...], int]
"""Of a match: its mapping, what UNION has dropped, the arms, and the start."""


def untimed(pattern: TefPattern) -> TefPattern:
    """Without `[?s, ?e]` around it."""
    return pattern.pattern if isinstance(pattern, Times) else pattern


class FactInstance(NamedTuple):
    """A match of a fact pattern: it holds from `start` on, until `end`, None being open. `facts` are those it is made
    of, `hidden` is what UNION has dropped, `arms` which arms they are of."""

    bound: Solution
    start: int
    end: int | None
    facts: tuple[Fact, ...]
    hidden: frozenset[tuple[Variable, Term]] = frozenset()
    arms: tuple[int, ...] = ()

    def holds_at(self, time: int) -> bool:
        return self.start <= time and (self.end is None or time < self.end)

    @property
    def origin(self) -> Origin:
        """What it is, whatever interrupts it (TEF-49)."""
        return frozenset(self.bound.items()), self.hidden, self.arms, self.start

    @property
    def order(self) -> tuple[int, tuple[int, ...]]:
        return self.start, tuple(fact.number for fact in self.facts)


EventTimes = Callable[[TefPattern, Solution], list[int]]
"""When an event pattern, right of WITHOUT, has matched so far: the ends."""


@dataclass(slots=True)
class FactEvaluation:
    """Evaluates fact patterns over a store and the background. `now` is the time of the step, `first` the end of the
    first event."""

    store: FactStore
    static: IndexedGraph
    kinds: Kinds
    context: Context
    event_times: EventTimes
    now: int = 0
    first: int = 0
    domain: Domain = Domain.TICKS
    due: set[int] = field(default_factory=set)
    """When comparisons with now() will be true or false next, of the patterns that were asked (TEF-64)."""

    def begin(self, now: int) -> None:
        """A step at a time begins."""
        self.now = now
        self.context = replace(self.context, now=time_literal(now, self.domain))

    def facts(self, pattern: TefPattern, bound: Solution, *, ended: bool = True) -> Iterator[FactInstance]:
        """All matches that are compatible with what is bound; without `ended`, those of facts that hold."""
        match pattern:
            case TriplePattern():
                yield from self._triple(pattern, bound, ended)
            case Times():
                for found in self.facts(pattern.pattern, bound, ended=ended):
                    timed = self.timed(found.bound, pattern, found.start, found.end)
                    if timed is not None:
                        yield found._replace(bound=timed)
            case Conjunction():
                yield from self._conjunction(pattern, bound, ended)
            case Either():
                common = bound_variables(pattern)
                for arm, side in enumerate((pattern.left, pattern.right)):
                    private = bound_variables(side) - common  # they join nothing outside (TEF-69)
                    outside = {name: term for name, term in bound.items() if name not in private}
                    for found in self.facts(side, outside, ended=ended):
                        kept = {name: term for name, term in found.bound.items() if name in common}
                        dropped = found.hidden.union(item for item in found.bound.items() if item[0] in private)
                        yield found._replace(bound={**bound, **kept}, hidden=dropped, arms=(arm, *found.arms))
            case Test():
                yield from self._test(pattern, bound, ended)
            case Assignment():
                for found in self.facts(pattern.pattern, bound, ended=ended):
                    assigned = self.assigned(found.bound, pattern.variable, pattern.expression)
                    if assigned is not None:
                        yield found._replace(bound=assigned)
            case Absent():
                yield from self._absent(pattern, bound, ended)
            case Related() | OnStart() | OnEnd():
                raise AssertionError("an event is no fact")
            case _:
                assert_never(pattern)

    def _triple(self, pattern: TriplePattern, bound: Solution, ended: bool) -> Iterator[FactInstance]:
        if isinstance(pattern.predicate, IRI) and self.kinds.of(pattern.predicate) is Kind.STATIC:
            yield from (FactInstance(found, ALWAYS, None, ()) for found in self.static_matches(pattern, bound))
            return
        for fact in self.store.matching(pattern, bound, ended=ended):
            found = unified(pattern, fact.triple, bound)
            if found is not None:
                yield FactInstance(found, fact.start, fact.end, (fact,))

    def static_matches(self, pattern: TriplePattern, bound: Solution) -> Iterator[Solution]:
        """What static triples bind."""
        slots = [
            bound.get(slot) if isinstance(slot, Variable) else slot
            for slot in (pattern.subject, pattern.predicate, pattern.object)
        ]
        for triple in self.static.match(*slots):
            found = unified(pattern, triple, bound)
            if found is not None:
                yield found

    def _conjunction(self, pattern: Conjunction, bound: Solution, ended: bool) -> Iterator[FactInstance]:
        for left in self.facts(pattern.left, bound, ended=ended):
            for right in self.facts(pattern.right, left.bound, ended=ended):
                start, end = max(left.start, right.start), _earlier(left.end, right.end)
                if end is None or start < end:
                    hidden, arms = left.hidden | right.hidden, left.arms + right.arms
                    yield FactInstance(right.bound, start, end, left.facts + right.facts, hidden, arms)

    def _test(self, pattern: Test, bound: Solution, ended: bool) -> Iterator[FactInstance]:
        clock = now_comparison(pattern.condition)
        for found in self.facts(pattern.pattern, bound, ended=ended):
            if clock is None:
                if passes(pattern.condition, found.bound, self.context):
                    yield found
                continue
            limit = self._limit(clock[1], found.bound)
            if limit is None:  # at all times, or never
                if passes(pattern.condition, found.bound, self.context):
                    yield found
                continue
            for low, high in true_when(clock[0], limit):
                if found.end is None or found.end > self.now:
                    self.due |= {time for time in (low, high) if time is not None and time > self.now}
                start, end = max(found.start, low), _earlier(found.end, high)
                if start <= self.now and (end is None or start < end):  # as far as it is known now
                    yield found._replace(start=start, end=None if end is None or end > self.now else end)

    def _absent(self, pattern: Absent, bound: Solution, ended: bool) -> Iterator[FactInstance]:
        """F1 WITHOUT F2 holds in the gaps (TEF-37); F WITHOUT E restarts at each E (TEF-38)."""
        for found in self.facts(pattern.left, bound, ended=ended):
            if self.kinds.of_pattern(pattern.right) is Kind.EVENT:
                cuts = sorted({time for time in self.event_times(pattern.right, found.bound) if time > found.start})
                bounds = [found.start, *(time for time in cuts if found.end is None or time < found.end)]
                ends: list[int | None] = [*bounds[1:], found.end]
                yield from (found._replace(start=low, end=high) for low, high in zip(bounds, ends, strict=True))
                continue
            others = [(each.start, each.end) for each in self.facts(pattern.right, found.bound)]
            for start, end in gaps(found.start, found.end, others):
                yield found._replace(start=start, end=end)

    # Times and expressions

    def timed(self, bound: Solution, times: Times, start: int, end: int | None) -> Solution | None:
        """`[start, end]`: what it binds, or None if it does not fit (TEF-53, TEF-54)."""
        found = self._at(bound, times.start, self.first if start == ALWAYS else start)
        return None if found is None else self._at(found, times.end, end)

    def _at(self, bound: Solution, when: When, time: int | None) -> Solution | None:
        match when:
            case Variable():
                if time is None:
                    return bound  # unbound, which is compatible with everything
                literal = time_literal(time, self.domain)
                known = bound.get(when)
                if known is None:
                    return {**bound, when: literal}
                return bound if known == literal else None
            case Open():
                return bound if time is None else None
            case _:
                return bound if when.time == time else None

    def at(self, time: int) -> Context:
        """The context of expressions at a time."""
        return self.context if time == self.now else replace(self.context, now=time_literal(time, self.domain))

    def assigned(
        self, bound: Solution, variable: Variable, expression: Expression, context: Context | None = None
    ) -> Solution | None:
        """With a variable bound to a value; None: an error drops the instance (TEF-59)."""
        value = attempt(expression, bound, context or self.context)
        if value is None:
            return None
        known = bound.get(variable)
        if known is None:
            return {**bound, variable: value}
        return bound if known == value else None

    def _limit(self, expression: Expression, bound: Solution) -> Fraction | None:
        """The time that an expression is, perhaps between two ticks; None: an error, or no time that could come."""
        value: Term | None = attempt(expression, bound, self.context)
        if not isinstance(value, Literal):
            return None
        found: object = value.python
        if self.domain is not Domain.TICKS:
            try:
                time = parse_time(value)
            except InputError:
                return None
            found = time.time if time.domain is self.domain else None
        is_number = type(found) in (int, Decimal) or (isinstance(found, float) and isfinite(found))
        if not is_number or not MIN_TIME < found < MAX_TIME:  # type: ignore[operator]
            return None
        return Fraction(found)  # type: ignore[call-overload, no-any-return]


def _earlier(left: int | None, right: int | None) -> int | None:
    if left is None or right is None:
        return right if left is None else left
    return min(left, right)


def gaps(start: int, end: int | None, others: list[tuple[int, int | None]]) -> Iterator[tuple[int, int | None]]:
    """The parts of an interval in which none of some others holds.

    >>> list(gaps(10, 40, [(20, 25)]))
    [(10, 20), (25, 40)]
    """
    low = start
    for first, last in sorted(others, key=lambda each: each[0]):
        if end is not None and first >= end:
            break
        if first > low:
            yield low, first
        if last is None:
            return
        low = max(low, last)
    if end is None or low < end:
        yield low, end


def true_when(comparison: Comparison, limit: Fraction) -> list[tuple[int, int | None]]:
    """The intervals in which `now() op limit` is true.

    >>> true_when(Comparison.GREATER, Fraction(7, 2)), true_when(Comparison.EQUAL, Fraction(7, 2))
    ([(4, None)], [])
    """
    below, above = ceil(limit), floor(limit) + 1  # the first instant not below it, and the first above it
    match comparison:
        case Comparison.GREATER:
            return [(above, None)]
        case Comparison.GREATER_OR_EQUAL:
            return [(below, None)]
        case Comparison.LESS:
            return [(ALWAYS, below)]
        case Comparison.LESS_OR_EQUAL:
            return [(ALWAYS, above)]
        case Comparison.EQUAL:
            return [(below, above)] if below < above else []
        case Comparison.NOT_EQUAL:
            return [(ALWAYS, below), (above, None)] if below < above else [(ALWAYS, None)]
        case _:
            raise AssertionError("the language has no such comparison")
