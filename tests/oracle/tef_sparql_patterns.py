"""Event and fact patterns by Tables 4.1 and 4.2, with the rules TEF-28 to TEF-39 and TEF-53 to TEF-65.

Every part of a pattern is judged on the facts before the step that completes it (TEF-23). So each turn keeps these
facts, and a pattern is looked for among all turns, again and again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias, assert_never

from oracle.tef_sparql_expressions import holds, is_clip, stretches, term, value
from oracle.tef_sparql_kinds import Kinds, kind_of
from oracle.tef_sparql_query import (
    Before,
    Compare,
    Condition,
    Conjunction,
    During,
    Expression,
    Forever,
    Kind,
    OnEnd,
    OnInit,
    OnStart,
    Pattern,
    Replace,
    Seq,
    Since,
    Slot,
    Timed,
    TriplePattern,
    Union,
    Until,
    When,
    With,
    Without,
    bound,
    new_name,
)
from oracle.terms import Term, Triple, Var, integer

Bindings: TypeAlias = Mapping[str, Term]
Scope: TypeAlias = frozenset[str]

FactKey: TypeAlias = tuple[Triple, int]
"""A fact is a pair of a triple and a start (TEF-40)."""


@dataclass(frozen=True)
class Fact:
    """A made fact, or one of a view. `end=None` is open."""

    triple: Triple
    start: int
    end: int | None

    @property
    def key(self) -> FactKey:
        return (self.triple, self.start)


@dataclass(frozen=True)
class Edge:
    """An ONSTART or an ONEND: of a fact, or of an unnamed view over a composite pattern (TEF-50)."""

    of: type[OnStart] | type[OnEnd]
    fact: Fact | None = None
    view: Pattern | None = None
    mapping: frozenset[tuple[str, Term]] = frozenset()


@dataclass(frozen=True)
class Moment:
    """What a part is judged on: the facts, the time, and how many turns there were. `current`: as a view is, at each
    instant while it holds, so that the ends of its facts are not known yet."""

    facts: tuple[Fact, ...]
    now: int
    turns: int
    current: bool = False


@dataclass(frozen=True)
class Turn:
    """A current event (TEF-21), its interval, and the facts before its step. `input` is the id of an input event."""

    what: Triple | Edge
    start: int
    end: int
    before: Moment
    input: str | None


@dataclass(frozen=True)
class Match:
    """An instance of an event pattern. `turns` are its events in pattern order, `arms` the UNIONs' arms it took, `read`
    the facts that it read under DURING and WITH. Of static triples alone it has no times."""

    mapping: Bindings
    start: int | None
    end: int | None
    turns: tuple[int, ...] = ()
    arms: tuple[int, ...] = ()
    read: frozenset[FactKey] = frozenset()


@dataclass(frozen=True)
class Held:
    """An instance of a fact pattern. `start=None`: static, older than everything. `late`: the ends that ONEND binds."""

    mapping: Bindings
    start: int | None
    end: int | None
    used: frozenset[FactKey] = frozenset()
    arms: tuple[int, ...] = ()
    late: tuple[tuple[str, int], ...] = ()


class Patterns:
    """Finds the instances of patterns. `first` is the end of the first event (TEF-45)."""

    def __init__(self, kinds: Kinds, background: Iterable[Triple], first: int) -> None:
        self.kinds = kinds
        self.static = tuple(dict.fromkeys(t for t in background if kinds.get(t[1]) is Kind.STATIC))
        self.first = first
        self.turns: list[Turn] = []
        self.due: set[int] = set()

    # Event patterns (Table 4.2)

    def events(self, pattern: Pattern, env: Bindings, scope: Scope, upto: int) -> Iterator[Match]:
        """All instances among the first `upto` turns. `env` is what is bound to the left, `scope` the names in scope
        there (TEF-58)."""
        match pattern:
            case TriplePattern(_, predicate, _):
                if not isinstance(predicate, Var) and self.kinds.get(predicate) is Kind.STATIC:
                    yield from (Match(m, None, None) for m in instances(pattern, self.static, env))
                    return
                for number, turn in enumerate(self.turns[:upto]):
                    if not isinstance(turn.what, Edge):
                        for m in instances(pattern, [turn.what], env):
                            yield Match(m, turn.start, turn.end, (number,))
            case OnStart(fact) | OnEnd(fact):
                for number, turn in enumerate(self.turns[:upto]):
                    if isinstance(turn.what, Edge) and turn.what.of is type(pattern):
                        for m in self.edge(fact, turn.what, env):
                            yield Match(m, turn.start, turn.end, (number,))
            case Timed(inner, start, end):
                for match in self.events(inner, env, scope, upto):
                    if match.start is None:
                        times = timed(match.mapping, start, self.first, end, None)
                    else:
                        times = timed(match.mapping, start, match.start, end, match.end)
                    if times is not None:
                        yield replace(match, mapping=times)
            case Condition(inner, expression):
                names = scope | bound(inner, scope)
                for match in self.events(inner, env, scope, upto):
                    mapping = condition(expression, match.mapping, names, match.end)
                    if mapping is not None:
                        yield replace(match, mapping=mapping)
            case Union(left, right):
                for number, arm in enumerate((left, right)):
                    for match in self.events(arm, env, scope, upto):
                        is_static = match.start is None  # no event is in the arm: it is not part of a match (TEF-71)
                        yield match if is_static else replace(match, arms=(number, *match.arms))
            case Conjunction(left, right):
                for a, b in self.pairs(left, right, env, scope, upto):
                    starts = [each.start for each in (a, b) if each.start is not None]
                    ends = [each.end for each in (a, b) if each.end is not None]
                    yield joined(a, b, min(starts, default=None), max(ends, default=None))
            case Seq(left, right):
                for a, b in self.pairs(left, right, env, scope, upto):
                    if a.end <= b.start:  # type: ignore[operator]
                        yield joined(a, b, a.start, b.end)
            case Before(left, right):
                for a, b in self.pairs(left, right, env, scope, upto):
                    if a.end <= b.end:  # type: ignore[operator]
                        yield joined(a, b, min(a.start, b.start), b.end)  # type: ignore[type-var]
            case During(left, right) | With(left, right):
                for e in self.events(left, env, scope, upto):
                    inside = scope | bound(left, scope)
                    for f in self.held(right, e.mapping, inside, self.judged(e)):
                        if during(e, f) if isinstance(pattern, During) else with_(e, f):
                            yield replace(e, mapping=f.mapping, read=e.read | f.used)
            case Without(left, right):
                inside = scope | bound(left, scope)
                for e in self.events(left, env, scope, upto):
                    if not self.prevented(e, right, inside, upto):
                        yield e
            case Since() | Until() | Replace() | OnInit():
                raise ValueError("an arm inside an event pattern (TEF-13)")
            case _:
                assert_never(pattern)

    def pairs(
        self, left: Pattern, right: Pattern, env: Bindings, scope: Scope, upto: int
    ) -> Iterator[tuple[Match, Match]]:
        """Sides that agree and share no event (TEF-35)."""
        for a in self.events(left, env, scope, upto):
            for b in self.events(right, a.mapping, scope | bound(left, scope), upto):
                if not set(a.turns) & set(b.turns):
                    yield a, b

    def judged(self, match: Match) -> Moment:
        """The facts before the step that completes it (TEF-23)."""
        return self.turns[max(match.turns)].before

    def prevented(self, e: Match, right: Pattern, scope: Scope, upto: int) -> bool:
        """Is there what WITHOUT forbids? TEF-32, TEF-36, and static triples, which hold always."""
        assert e.start is not None and e.end is not None
        if kind_of(right, self.kinds) is Kind.EVENT:
            return any(
                e.start <= other.end < e.end and not set(other.turns) <= set(e.turns)  # type: ignore[operator]
                for other in self.events(right, e.mapping, scope, upto)
            )
        return any(
            (f.start is None or f.start <= e.end) and (f.end is None or e.start < f.end)
            for f in self.held(right, e.mapping, scope, self.judged(e))
        )

    def edge(self, pattern: Pattern, edge: Edge, env: Bindings) -> Iterator[Bindings]:
        """The F of ONSTART or ONEND, as it starts or ends."""
        if is_simple(pattern):
            if edge.fact is not None:
                moment = Moment((edge.fact,), 0, 0)
                yield from (held.mapping for held in self.held(pattern, env, frozenset(), moment))
        elif edge.view == pattern and all(env.get(name, found) == found for name, found in edge.mapping):
            yield {**env, **dict(edge.mapping)}

    # Fact patterns (Table 4.1)

    def held(self, pattern: Pattern, env: Bindings, scope: Scope, moment: Moment) -> Iterator[Held]:
        """All instances at a moment, ended ones included (TEF-29)."""
        match pattern:
            case TriplePattern(_, predicate, _):
                if not isinstance(predicate, Var) and self.kinds.get(predicate) is Kind.STATIC:
                    yield from (Held(m, None, None) for m in instances(pattern, self.static, env))
                    return
                for fact in moment.facts:
                    for m in instances(pattern, [fact.triple], env):
                        yield Held(m, fact.start, fact.end, frozenset({fact.key}))
            case Timed(inner, start, end):
                for held in self.held(inner, env, scope, moment):
                    yield from self.held_timed(held, start, end, moment)
            case Condition(inner, expression):
                names = scope | bound(inner, scope)
                for held in self.held(inner, env, scope, moment):
                    if is_clip(expression) and new_name(expression, names) is None:
                        yield from self.clipped(held, expression, moment)
                        continue
                    mapping = condition(expression, held.mapping, names, None)
                    if mapping is not None:
                        yield replace(held, mapping=mapping)
            case Union(left, right):
                for number, arm in enumerate((left, right)):
                    for held in self.held(arm, env, scope, moment):
                        yield replace(held, arms=(number, *held.arms))
            case Conjunction(left, right):
                for a in self.held(left, env, scope, moment):
                    for b in self.held(right, a.mapping, scope | bound(left, scope), moment):
                        both = replace(b, start=later(a.start, b.start), end=sooner(a.end, b.end))
                        if is_interval(both.start, both.end):
                            yield replace(both, used=a.used | b.used, arms=a.arms + b.arms, late=a.late + b.late)
            case Without(left, right):
                for held in self.held(left, env, scope, moment):
                    yield from self.rest(held, right, scope | bound(left, scope), moment)
            case Seq() | Before() | During() | With() | OnStart() | OnEnd():
                raise ValueError("an event pattern inside a fact pattern (TEF-11)")
            case Since() | Until() | Replace() | OnInit():
                raise ValueError("an arm inside a fact pattern (TEF-13)")
            case _:
                assert_never(pattern)

    def held_timed(self, held: Held, start: When, end: When, moment: Moment) -> Iterator[Held]:
        """`[start, end]`. A view reads it while the end is open (TEF-54); at its ONEND the end is known (TEF-53)."""
        first = self.first if held.start is None else held.start
        last = None if moment.current else held.end
        mapping = timed(held.mapping, start, first, end, last)
        if mapping is not None:
            known = ((end.name, held.end),) if isinstance(end, Var) and last is None and held.end is not None else ()
            yield replace(held, mapping=mapping, late=held.late + known)

    def clipped(self, held: Held, expression: Expression, moment: Moment) -> Iterator[Held]:
        """TEF-63, as far as it is known now; and when time has to be looked at again (TEF-64)."""
        for since, before in stretches(expression, held.mapping):
            start, end = held.start, sooner(held.end, before)
            if since is not None:
                start = later(since, self.first if start is None else start)
            if held.end is None and moment.current:
                self.due |= {time for time in (since, before) if time is not None and time > moment.now}
            if is_interval(start, end) and (start is None or start <= moment.now):
                yield replace(held, start=start, end=None if end is None or end > moment.now else end)

    def rest(self, held: Held, right: Pattern, scope: Scope, moment: Moment) -> Iterator[Held]:
        """What WITHOUT leaves of a fact's interval (TEF-37, TEF-38)."""
        assert held.start is not None
        pieces: list[tuple[int, int | None]] = [(held.start, held.end)]
        if kind_of(right, self.kinds) is Kind.EVENT:
            ends = {match.end for match in self.events(right, held.mapping, scope, moment.turns)}
            for cut in sorted(end for end in ends if end is not None):
                pieces = [part for piece in pieces for part in split(piece, cut)]
        else:
            for other in self.held(right, held.mapping, scope, moment):
                pieces = [part for piece in pieces for part in subtracted(piece, other)]
        for start, end in pieces:
            yield replace(held, start=start, end=end)


# Triples, times, conditions


def instances(pattern: TriplePattern, triples: Iterable[Triple], env: Bindings) -> Iterator[Bindings]:
    """The mappings that extend `env` and make a triple of the pattern."""
    for triple in triples:
        found: dict[str, Term] = dict(env)
        slots: tuple[Slot, ...] = (pattern.subject, pattern.predicate, pattern.object)
        if all(_fits(slot, each, found) for slot, each in zip(slots, triple, strict=True)):
            yield found


def _fits(slot: Slot, found: Term, mapping: dict[str, Term]) -> bool:
    if isinstance(slot, Var):
        return mapping.setdefault(slot.name, found) == found
    return slot == found


def timed(mapping: Bindings, start: When, first: int, end: When, last: int | None) -> Bindings | None:
    """The mapping with the times; None if a time does not agree (TEF-54)."""
    found = dict(mapping)
    for when, time in ((start, first), (end, last)):
        match when:
            case Var():
                if time is not None and not _fits(when, integer(time), found):
                    return None
            case Forever():
                if time is not None:
                    return None
            case int():
                if time != when:
                    return None
            case _:
                assert_never(when)
    return found


def condition(expression: Expression, mapping: Bindings, scope: Scope, now: int | None) -> Bindings | None:
    """The mapping, with a new variable if `?n = …` binds one; None if a test fails or there is an error (TEF-57)."""
    name = new_name(expression, scope)
    if name is None:
        return mapping if holds(expression, mapping, now) else None
    assert isinstance(expression, Compare)
    found = term(value(expression.right, mapping, now))
    return None if found is None else {**mapping, name: found}


def is_simple(pattern: Pattern) -> bool:
    """A triple pattern, with times or without; what else stands under ONSTART or ONEND is an unnamed view (TEF-50)."""
    return isinstance(pattern.pattern if isinstance(pattern, Timed) else pattern, TriplePattern)


# Intervals


def joined(a: Match, b: Match, start: int | None, end: int | None) -> Match:
    """Two sides as one. The right side was found with the mapping of the left."""
    return Match(b.mapping, start, end, a.turns + b.turns, a.arms + b.arms, a.read | b.read)


def during(e: Match, f: Held) -> bool:
    """TEF-30: τs(F) ≤ τs(E) and τe(E) < τe(F)."""
    assert e.start is not None and e.end is not None
    return (f.start is None or f.start <= e.start) and (f.end is None or e.end < f.end)


def with_(e: Match, f: Held) -> bool:
    """TEF-31: τs(F) ≤ τs(E) < τe(F)."""
    assert e.start is not None
    return (f.start is None or f.start <= e.start) and (f.end is None or e.start < f.end)


def later(a: int | None, b: int | None) -> int | None:
    """Of two starts; None is older than everything."""
    return max((each for each in (a, b) if each is not None), default=None)


def sooner(a: int | None, b: int | None) -> int | None:
    """Of two ends; None is open, later than everything (TEF-28)."""
    return min((each for each in (a, b) if each is not None), default=None)


def is_interval(start: int | None, end: int | None) -> bool:
    """τs < τe."""
    return start is None or end is None or start < end


Piece: TypeAlias = tuple[int, int | None]


def split(piece: Piece, cut: int) -> list[Piece]:
    """
    >>> split((10, 40), 30), split((10, None), 10)
    ([(10, 30), (30, 40)], [(10, None)])
    """
    start, end = piece
    return [(start, cut), (cut, end)] if start < cut and (end is None or cut < end) else [piece]


def subtracted(piece: Piece, other: Held) -> list[Piece]:
    """The piece without the time of the other.

    >>> subtracted((10, 40), Held({}, 20, 25)), subtracted((10, None), Held({}, None, None))
    ([(10, 20), (25, 40)], [])
    """
    start, end = piece
    before = (start, sooner(end, other.start)) if other.start is not None else (start, start)
    parts = [before]
    if other.end is not None:
        parts.append((max(start, other.end), end))
    return [part for part in parts if is_interval(*part)]


def merged(pieces: Iterable[Piece]) -> list[Piece]:
    """Pieces that overlap as one; pieces that only touch stay two (TEF-48).

    >>> merged([(1, 4), (3, 7), (7, 9)])
    [(1, 7), (7, 9)]
    """
    found: list[Piece] = []
    for start, end in sorted(set(pieces), key=lambda piece: (piece[0], piece[1] is None, piece[1] or 0)):
        last = found[-1] if found else None
        if last is not None and (last[1] is None or start < last[1]):
            found[-1] = (last[0], None if last[1] is None or end is None else max(last[1], end))
        else:
            found.append((start, end))
    return found
