"""Random patterns and expressions of TEF-SPARQL, of few terms, so that joins happen.

Events p, q have things as objects, e has numbers; c and d are constructed (things, numbers). Facts f, g are of things,
h of numbers; views v, w likewise. s is static. Of the variables, x, y, z are things, n, m, k… numbers, t… times.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from oracle.tef_sparql_query import (
    TYPE,
    And,
    Arithmetic,
    Before,
    Bound,
    Coalesce,
    Compare,
    Condition,
    Conjunction,
    Duration,
    During,
    Expression,
    Forever,
    Not,
    Now,
    OnEnd,
    OnStart,
    Or,
    Pattern,
    Seq,
    Slot,
    Timed,
    TriplePattern,
    Union,
    With,
    Without,
    bound,
)
from oracle.terms import Iri, Var, decimal, integer

P, Q, E, C, D, F, G, H, V, W, S = (Iri(name) for name in "pqecdfghvws")
OF_NUMBERS = frozenset({E, D, H, W})
THINGS = tuple(Iri(name) for name in ("a", "b"))
NUMBERS = tuple(integer(value) for value in (1, 2, 3))
CLASSES = tuple(Iri(name) for name in ("A", "B"))
X, Y, Z, N, M = (Var(name) for name in "xyznm")
THING_NAMES = ("x", "y", "z")
NUMBER_NAMES = ("n", "m")
FRESH = Var("_")
LAST_TIME = 8


@dataclass(frozen=True)
class Options:
    """What cases may have. `depth` bounds the operators over one triple pattern."""

    facts: bool = True
    views: bool = True
    events: bool = True
    edges: bool = True
    timers: bool = True
    negation: bool = True
    unions: bool = True
    background: bool = True
    times: bool = True
    conditions: bool = True
    once: bool = True
    streams: bool = True
    intervals: bool = True
    blank_nodes: bool = True
    scopes: int = 12  # per cent: WITHOUT in WITHOUT, and UNION, with names that are bound further to the left
    bounded: int = 0  # per cent: programs that ask when facts began
    nested: int = 0  # per cent: programs of such a pattern alone
    replacing: int = 8  # per cent: programs of facts that replace each other, when one begins or ends too
    depth: int = 2
    most_events: int = 8


class PatternMaker:
    """Draws patterns. `number(least, most)` draws an integer; all else is drawn by it, and 0 is the simplest choice.

    `facts` and `events` are the predicates that patterns may have; `static`: may they have s? `left` are the names that
    are bound to the left of what is drawn.
    """

    def __init__(self, number: Callable[[int, int], int], options: Options) -> None:
        self.number = number
        self.options = options
        self.made = 0
        self.events: tuple[Iri, ...] = (P, Q, E)
        self.facts: tuple[Iri, ...] = ()
        self.static = False
        self.left: frozenset[str] = frozenset()

    @contextmanager
    def right_of(self, pattern: Pattern) -> Iterator[None]:
        """What is drawn inside stands to the right of a pattern (TEF-58)."""
        before, self.left = self.left, self.left | bound(pattern, self.left)
        yield
        self.left = before

    @contextmanager
    def alone(self) -> Iterator[None]:
        """What is drawn inside sees no names from outside."""
        before, self.left = self.left, frozenset()
        yield
        self.left = before

    def names(self, pattern: Pattern) -> list[str]:
        """The names that an expression behind a pattern may use: its own, or those further to the left too."""
        further = self.left if self.left and self.chance(40) else frozenset()
        return sorted(bound(pattern, self.left) | further)

    def pick(self, choices: Sequence[Any]) -> Any:
        return choices[self.number(0, len(choices) - 1)]

    def chance(self, percent: int) -> bool:
        return self.number(0, 99) >= 100 - percent

    def fresh(self, letter: str = "k") -> str:
        self.made += 1
        return f"{letter}{self.made}"

    # Triples

    def thing(self) -> Slot:
        if self.chance(10):
            return FRESH
        found: Slot = self.pick(THINGS) if self.chance(8) else self.pick((Y, Y, X, Z))
        return found

    def value(self, predicate: Iri) -> Slot:
        """An object of a predicate."""
        if predicate not in OF_NUMBERS:
            return self.thing()
        if self.chance(10):
            return FRESH
        found: Slot = self.pick(NUMBERS) if self.chance(8) else self.pick((N, N, M))
        return found

    def triple(self, predicates: Sequence[Iri], need: tuple[Var, ...]) -> TriplePattern:
        """One that binds what is needed: nothing, a subject, or a subject and an object."""
        wanted = [each for each in predicates if len(need) < 2 or (each in OF_NUMBERS) == is_number(need[1])]
        predicate = self.pick(wanted)
        subject: Slot = need[0] if need else self.pick((X, X, X, Y, FRESH, THINGS[0]))
        return TriplePattern(subject, predicate, need[1] if len(need) > 1 else self.value(predicate))

    def timed(self, pattern: Pattern, *, ends: bool) -> Pattern:
        """With times, some of them constants."""
        start = Var(self.fresh("t")) if self.chance(90) else self.number(0, LAST_TIME)
        if ends:
            end = Var(self.fresh("t")) if self.chance(90) else self.number(0, LAST_TIME)
            return Timed(pattern, start, end)
        return Timed(pattern, start, self.pick((FRESH, FRESH, FRESH, Var(self.fresh("t")), Forever.OPEN)))

    # Event patterns

    def event(self, depth: int, need: tuple[Var, ...] = ()) -> Pattern:
        """An event pattern that binds what is needed."""
        if depth == 0 or self.chance(15):
            return self.event_leaf(need)
        if self.chance(self.options.scopes):
            return self.scoped(need)
        choices: list[Callable[[int, tuple[Var, ...]], Pattern]] = [self.sequence] * 5
        if self.facts:
            choices += [self.while_fact] * 5
        if self.options.negation:
            choices += [self.without_event] * 2
        if self.options.unions:
            choices += [self.event_union]
        if self.options.conditions:
            choices += [self.tested_event] * 2
        if self.static:
            choices += [self.static_event]
        if self.options.times:
            choices += [self.timed_event]
        found: Pattern = self.pick(choices)(depth - 1, need)
        return found

    def event_leaf(self, need: tuple[Var, ...]) -> Pattern:
        facts = [each for each in self.facts if len(need) < 2 or (each in OF_NUMBERS) == is_number(need[1])]
        if facts and self.options.edges and self.chance(25):
            return self.edge(facts, need)
        found: Pattern = self.triple(self.events, need)
        if not need and self.chance(3):
            found = TriplePattern(X, Var("u"), FRESH)
        return self.timed(found, ends=True) if self.options.times and self.chance(12) else found

    def edge(self, facts: Sequence[Iri], need: tuple[Var, ...]) -> Pattern:
        inner: Pattern = self.triple(facts, need)
        is_end = self.chance(50)
        if not need and self.chance(5):
            inner = TriplePattern(X, Var("u"), self.pick((FRESH, Y)))
        elif self.chance(20):
            with self.alone():
                inner = self.fact_over(inner, need)
            if self.options.times and self.chance(20):
                inner = self.timed(inner, ends=is_end)
        elif self.options.times and self.chance(30):
            inner = self.timed(inner, ends=is_end)
        return OnEnd(inner) if is_end else OnStart(inner)

    def sequence(self, depth: int, need: tuple[Var, ...]) -> Pattern:
        node = self.pick((Seq, Seq, Before, Conjunction))
        first, second = (need, ()) if not self.chance(30) else ((), need)
        left = self.event(depth, first)
        with self.right_of(left):
            right = self.event(depth, second)
        found: Pattern = node(left, right)
        return found

    def while_fact(self, depth: int, need: tuple[Var, ...]) -> Pattern:
        node = self.pick((During, During, With, Without) if self.options.negation else (During, During, With))
        if node is not Without and len(need) == 2 and self.chance(40):
            facts = [each for each in self.facts if (each in OF_NUMBERS) == is_number(need[1])]
            if facts:  # the fact binds the object
                inner = self.triple(facts, need)
                timed = self.timed(inner, ends=False) if self.options.times and self.chance(20) else inner
                return self.maybe_tested(node(self.event(depth, need[:1]), timed))
        event = self.event(depth, need)
        with self.right_of(event):
            fact = self.fact(min(depth, self.pick((0, 0, 1))))
            if self.chance(4):
                fact = TriplePattern(X, Var("u"), FRESH)
        return self.maybe_tested(node(event, fact))

    def maybe_tested(self, pattern: Pattern) -> Pattern:
        tested = self.options.conditions and self.chance(20)
        return Condition(pattern, self.test(self.names(pattern), over_events=True)) if tested else pattern

    def without_event(self, depth: int, need: tuple[Var, ...]) -> Pattern:
        left = self.pick((self.sequence, self.sequence, self.event))(depth, need)
        with self.right_of(left):
            right = self.event(self.pick((0, 0, depth)))
            if self.options.conditions and self.chance(20):
                right = Condition(right, self.test(self.names(right), over_events=True))
        return Without(left, right)

    def event_union(self, depth: int, need: tuple[Var, ...]) -> Pattern:
        if need:
            return Union(self.event(depth, need), self.event(0, need))
        return Union(TriplePattern(X, P, Y), TriplePattern(self.pick((X, Y)), Q, self.pick((Y, Z, X))))

    def tested_event(self, depth: int, need: tuple[Var, ...]) -> Pattern:
        inner = self.event(depth, need)
        names = self.names(inner)
        if self.chance(25):
            return Condition(inner, self.binding(names, now=True))
        return Condition(inner, self.test(names, over_events=True))

    def static_event(self, depth: int, need: tuple[Var, ...]) -> Pattern:
        inner, static = self.event(depth, need), self.static_pattern()
        return Conjunction(static, inner) if self.chance(30) else Conjunction(inner, static)

    def static_pattern(self) -> Pattern:
        found: Pattern = self.static_triple()
        if self.options.unions and self.chance(10):
            found = Union(found, self.static_triple())
        if self.options.times and self.chance(8):
            found = self.timed(found, ends=False)
        return found

    def static_triple(self) -> TriplePattern:
        if self.chance(20):
            return TriplePattern(self.pick((X, Y)), TYPE, self.pick(CLASSES))
        return TriplePattern(self.pick((X, X, Y)), S, self.thing())

    def timed_event(self, depth: int, need: tuple[Var, ...]) -> Pattern:
        start, end = Var(self.fresh("t")), Var(self.fresh("t"))
        inner = Timed(self.event(depth, need), start, end)
        if self.chance(60):
            limit = integer(self.number(0, 4))
            return Condition(inner, Compare(self.pick(("<=", "<", ">", "=")), Duration(start, end), limit))
        return inner

    # Patterns in patterns: who sees which name (TEF-39, TEF-57, TEF-58, TEF-69)

    def scoped(self, need: tuple[Var, ...]) -> Pattern:
        """An event, then one whose parts are nested, and use names that the first binds."""
        first = self.event_leaf(need) if need else TriplePattern(X, E, N)
        with self.right_of(first):
            return self.pick((Seq, Seq, Before, Conjunction))(first, self.scoped_event(3))  # type: ignore[no-any-return]

    def scoped_event(self, depth: int) -> Pattern:
        """An event pattern, nested as deep as that."""
        choice = 0 if depth == 0 else self.pick((1, 1, 2, 2, 2, 3, 4, 0))
        if choice == 0:
            return self.scoped_test(self.triple(self.events, ()), over_events=True)
        left = self.scoped_event(0 if self.chance(60) else depth - 1)
        if choice == 4 and self.options.unions:
            return self.scoped_test(Union(left, self.scoped_event(depth - 1)), over_events=True)
        with self.right_of(left):
            if choice == 3 or not (self.facts or self.options.negation):
                return self.scoped_test(Seq(left, self.scoped_event(depth - 1)), over_events=True)
            if choice == 2 and self.facts:
                right, node = self.scoped_fact(depth - 1), self.pick((During, With, Without))
            else:
                left = Seq(left, self.scoped_test(self.triple(self.events, ()), over_events=True))
                right, node = self.scoped_event(depth - 1), Without
            if node is Without and not self.options.negation:
                node, right = Seq, self.triple(self.events, ())
        return self.scoped_test(node(left, right), over_events=True)

    def scoped_fact(self, depth: int) -> Pattern:
        """A fact pattern, nested as deep as that."""
        choice = 0 if depth == 0 else self.pick((1, 1, 2, 2, 3, 4, 0))
        if choice == 0:
            return self.scoped_test(self.triple(self.facts, ()), over_events=False)
        left = self.scoped_fact(0 if self.chance(60) else depth - 1)
        if choice == 1 and self.options.unions:
            return self.scoped_test(Union(left, self.scoped_fact(depth - 1)), over_events=False)
        with self.right_of(left):
            if choice == 3 or not self.options.negation:
                return self.scoped_test(Conjunction(left, self.scoped_fact(depth - 1)), over_events=False)
            right = self.scoped_event(depth - 1) if self.chance(50) else self.scoped_fact(depth - 1)
        found: Pattern = Without(left, right)
        if choice == 4 and self.options.times:
            found = self.timed(found, ends=False)
        return self.scoped_test(found, over_events=False)

    def scoped_test(self, inner: Pattern, *, over_events: bool) -> Pattern:
        """Perhaps with a test of something that is bound further to the left."""
        if not self.options.conditions or not self.chance(45):
            return inner
        own, further = sorted(bound(inner, self.left)), sorted(self.left)
        names = [*own, *further, *further]
        if self.chance(10):
            return Condition(inner, self.binding(names, now=False))
        return Condition(inner, self.test(names, over_events=over_events))

    # Fact patterns

    def fact(self, depth: int, need: tuple[Var, ...] = ()) -> Pattern:
        """A fact pattern that binds what is needed."""
        inner: Pattern = self.triple(self.facts, need)
        if depth == 0 or self.chance(20):
            return self.timed(inner, ends=False) if self.options.times and self.chance(10) else inner
        return self.fact_over(inner, need, depth - 1)

    def fact_over(self, inner: Pattern, need: tuple[Var, ...], depth: int = 0) -> Pattern:
        """An operator over a fact pattern."""
        choices: list[Callable[[Pattern, tuple[Var, ...], int], Pattern]] = [self.fact_and] * 4
        if self.options.negation:
            choices += [self.fact_without_fact] * 2 + [self.fact_without_event] * 2
        if self.options.unions:
            choices += [self.fact_union]
        if self.options.times:
            choices += [self.timed_fact]
        if self.options.conditions:
            choices += [self.tested_fact] * 2
        if self.options.timers:
            choices += [self.clipped] * 3
        if self.static:
            choices += [self.static_fact]
        found: Pattern = self.pick(choices)(inner, need, depth)
        return found

    def fact_and(self, inner: Pattern, need: tuple[Var, ...], depth: int) -> Pattern:
        if self.chance(30):
            return Conjunction(self.fact(depth), inner)
        with self.right_of(inner):
            return Conjunction(inner, self.tested(self.fact(depth)))

    def tested(self, inner: Pattern) -> Pattern:
        """A fact pattern, perhaps with a test."""
        if not self.options.conditions or not self.chance(15):
            return inner
        return Condition(inner, self.test(self.names(inner), over_events=False))

    def timed_fact(self, inner: Pattern, need: tuple[Var, ...], depth: int) -> Pattern:
        return self.timed(self.fact_over(inner, need, 0), ends=False)

    def fact_without_fact(self, inner: Pattern, need: tuple[Var, ...], depth: int) -> Pattern:
        with self.right_of(inner):
            return Without(inner, self.tested(self.fact(depth)))

    def fact_without_event(self, inner: Pattern, need: tuple[Var, ...], depth: int) -> Pattern:
        with self.right_of(inner):
            return Without(inner, self.triple(self.events, need[:1]) if self.chance(70) else self.event(depth))

    def fact_union(self, inner: Pattern, need: tuple[Var, ...], depth: int) -> Pattern:
        return Union(inner, self.fact(depth, need))

    def tested_fact(self, inner: Pattern, need: tuple[Var, ...], depth: int) -> Pattern:
        names = self.names(inner)
        if self.chance(20):
            return Condition(inner, self.binding(names, now=False))
        return Condition(inner, self.test(names, over_events=False))

    def clipped(self, inner: Pattern, need: tuple[Var, ...], depth: int) -> Pattern:
        """A comparison with now(): a timer."""
        numbers = [name for name in self.names(inner) if is_number(Var(name))]
        if numbers and self.chance(40):
            base = Var(self.pick(sorted(numbers)))
        else:
            base = Var(self.fresh("t"))
            inner = Timed(inner, base, FRESH)
        limit: Expression = Arithmetic("+", base, self.pick((*map(integer, (1, 2, 3, 0, 4)), decimal("1.5"))))
        operator = self.pick((">", ">=", "<", "<=", "=", "!=", ">", ">="))
        if self.chance(15):
            return Condition(inner, Compare(operator, limit, Now()))
        return Condition(inner, Compare(operator, Now(), limit))

    def static_fact(self, inner: Pattern, need: tuple[Var, ...], depth: int) -> Pattern:
        return Conjunction(inner, self.static_pattern())

    # Expressions

    def test(self, names: Sequence[str], *, over_events: bool) -> Expression:
        """A condition over names in scope."""
        numbers = [Var(name) for name in names if is_number(Var(name)) and not name.startswith("_")]
        things = [Var(name) for name in names if name in THING_NAMES]
        if over_events and self.chance(20):
            return Compare(self.pick(("<=", ">", "<", ">=", "!=")), Now(), integer(self.number(1, LAST_TIME)))
        found: Expression
        if numbers and (not things or self.chance(60)):
            left = self.pick(numbers)
            right = self.pick((*numbers, *NUMBERS))
            if self.chance(25):
                right = Arithmetic(self.pick(("+", "-", "*", "/")), right, self.pick((*NUMBERS, integer(0))))
            found = Compare(self.pick((">", "<", ">=", "<=", "!=", "=")), left, right)
        elif things:
            found = Compare(self.pick(("!=", "!=", "=")), self.pick(things), self.pick((*things, *THINGS)))
        else:
            return Compare("=", integer(1), integer(1))
        if self.chance(8):
            return Not(found)
        if self.chance(8):
            return self.pick((And, Or))(found, self.test(names, over_events=False))  # type: ignore[no-any-return]
        if numbers and self.chance(5):
            return self.pick((Bound(self.pick(numbers)), Not(Bound(self.pick(numbers)))))  # type: ignore[no-any-return]
        return found

    def binding(self, names: Sequence[str], *, now: bool) -> Expression:
        """`?k = …`, of a new name."""
        numbers: list[Expression] = [Var(name) for name in names if is_number(Var(name)) and not name.startswith("_")]
        if now and self.chance(30):
            numbers = [Now()]
        base = self.pick(numbers) if numbers else self.pick(NUMBERS)
        if numbers and self.chance(10):
            base = Coalesce((base, self.pick(NUMBERS)))
        if self.chance(10):  # an error, or a decimal
            return Compare("=", Var(self.fresh()), Arithmetic("/", base, self.pick((integer(2), integer(0)))))
        return Compare("=", Var(self.fresh()), Arithmetic(self.pick(("+", "*", "-")), base, self.pick(NUMBERS)))


def is_number(variable: Var) -> bool:
    return variable.name[0] in "nmkt"
