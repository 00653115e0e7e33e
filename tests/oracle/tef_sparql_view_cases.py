"""Random TEF-SPARQL cases about views: facts that start and end among four to six things, often several at one time,
and patterns over them with recursion, WITHOUT and now(), as views, under ONSTART and ONEND, and in SELECT.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeAlias

from hypothesis import assume
from hypothesis import strategies as st

from oracle.tef_sparql import GivenEvent
from oracle.tef_sparql_cases import Case
from oracle.tef_sparql_drawn_patterns import FRESH, F, G, H, M, N, Options, S, V, W, X, Y, Z, is_number
from oracle.tef_sparql_legal import is_legal
from oracle.tef_sparql_query import (
    Arithmetic,
    Compare,
    Condition,
    Conjunction,
    Construct,
    HeadTriple,
    Kind,
    Now,
    OnEnd,
    OnStart,
    Pattern,
    Program,
    Select,
    Since,
    Statement,
    Timed,
    TriplePattern,
    Union,
    Until,
    Without,
    bound,
)
from oracle.tef_sparql_statements import Maker
from oracle.terms import Iri, Term, Triple, Var, integer

MADE = (F, G, H)
C = Iri("c")
EVENTS = (Iri("p"), Iri("q"))
OPTIONS = Options(intervals=False, blank_nodes=False)
T = Var("t")
FF, GG = TriplePattern(X, F, Y), TriplePattern(X, G, Y)
HN, HM = TriplePattern(X, H, N), TriplePattern(Y, H, M)
ENDED = Timed(FF, FRESH, N)
LATER: Pattern = Condition(Timed(Without(FF, TriplePattern(Y, G, Z)), T, FRESH), Compare(">", Now(), T))
CORNERS: tuple[Pattern, ...] = (
    # the end of an open fact is unbound (TEF-54): as a side of a UNION, joined, and right of WITHOUT
    Union(ENDED, Conjunction(FF, HN)),
    Conjunction(ENDED, HN),
    Conjunction(Without(ENDED, TriplePattern(Y, H, N)), HN),
    # what WITHOUT names and its left does not bind is its own (TEF-39), though it stands further to the right
    Conjunction(Without(FF, TriplePattern(Y, G, Z)), TriplePattern(X, G, Z)),
    Conjunction(Without(GG, TriplePattern(FRESH, F, Z)), TriplePattern(Z, F, X)),
    Without(FF, Union(TriplePattern(X, G, Z), TriplePattern(X, F, M))),
    Without(FF, Without(TriplePattern(Y, F, Z), TriplePattern(Z, G, X))),
    # variables of one side of a UNION join nothing (TEF-69)
    Conjunction(Union(FF, TriplePattern(X, G, Z)), TriplePattern(Y, G, Z)),
    Conjunction(Union(TriplePattern(X, F, Z), TriplePattern(X, G, M)), FF),
    # an expression sees what is bound to its left (TEF-58)
    Conjunction(Condition(HN, Compare("<=", N, M)), HM),
    Conjunction(Condition(HN, Compare("=", M, Arithmetic("+", N, integer(1)))), HM),
    Conjunction(TriplePattern(X, Var("u"), Y), FF),
    LATER,
    Condition(LATER, Compare("<", Now(), Arithmetic("+", T, integer(3)))),
    Without(FF, TriplePattern(FRESH, G, FRESH)),
)
LAST = 10
LIMIT = 300
"""Steps at one time, or facts, that a case may have."""


MadeTriple: TypeAlias = tuple[Iri, Iri, Term]


def started(predicate: Iri) -> Iri:
    """The event that starts a fact of a predicate."""
    return Iri(f"s{predicate.name}")


def ended(predicate: Iri) -> Iri:
    return Iri(f"u{predicate.name}")


@dataclass
class ViewMaker:
    """Draws a case by `maker`; `most` bounds its events."""

    maker: Maker
    most: int = 18

    def made(self, predicate: Iri) -> Construct:
        """SINCE one event, UNTIL another."""
        target = N if predicate == H else Y
        since, until = TriplePattern(X, started(predicate), target), TriplePattern(X, ended(predicate), target)
        return Construct(Kind.FACT, (HeadTriple(X, predicate, target),), Union(Since(since), Until(until)))

    def reachable(self, edge: Iri) -> Pattern:
        """Recursion to the left, to the right, or on both sides."""
        first: Pattern = TriplePattern(X, edge, Y)
        if self.maker.chance(15):
            first = self.maker.fact_over(first, (X, Y))
        one, other = self.maker.pick(((V, edge), (edge, V), (V, V)))
        step: Pattern = Conjunction(TriplePattern(X, one, Z), TriplePattern(Z, other, Y))
        if self.maker.chance(20):
            step = Condition(step, Compare("!=", X, Y))
        return Union(first, step)

    def views(self, facts: tuple[Iri, ...]) -> list[Construct]:
        maker = self.maker
        found = []
        if maker.chance(50):
            found.append(Construct(Kind.FACT, (HeadTriple(X, V, Y),), self.reachable(maker.pick((F, F, G)))))
        elif maker.chance(60):
            found.append(Construct(Kind.FACT, (HeadTriple(X, V, Y),), self.pattern((F, G, H), (X, Y))))
        derived = (*facts, V) if found else facts
        if maker.chance(70):
            need = maker.pick(((X, N), (X, Y)))
            name = W if is_number(need[1]) else Iri("r")
            where = self.pattern(derived, need)
            found.append(Construct(Kind.FACT, (HeadTriple(X, name, need[1]),), where))
            if maker.chance(25):  # two statements of one predicate
                more = self.pattern(derived, need)
                found.append(Construct(Kind.FACT, (HeadTriple(X, name, need[1]),), more))
        return found

    def pattern(self, facts: tuple[Iri, ...], need: tuple[Var, ...]) -> Pattern:
        """A composite fact pattern: mostly WITHOUT, a comparison with now(), or both."""
        maker = self.maker
        maker.facts = facts
        corners = [each for each in CORNERS if {name.name for name in need} <= bound(each)]
        with maker.alone():
            found: Pattern = maker.pick(corners) if maker.chance(20) else maker.triple(facts, need)
            if found in CORNERS and maker.chance(60):
                return found
            choices = (maker.fact_over, maker.clipped, self.without_clipped, maker.fact_without_fact)
            for _ in range(maker.pick((1, 1, 2, 3))):
                found = maker.pick(choices)(found, need, maker.pick((0, 0, 1)))
        return found

    def without_clipped(self, inner: Pattern, need: tuple[Var, ...], depth: int) -> Pattern:
        """WITHOUT a fact that a comparison with now() clips."""
        with self.maker.right_of(inner):
            right = self.maker.triple(self.maker.facts, (X,))
            return Without(inner, self.maker.clipped(right, need, depth))

    def consumers(self, facts: tuple[Iri, ...]) -> list[Statement]:
        maker = self.maker
        found: list[Statement] = []
        if maker.chance(60):
            node = maker.pick((OnStart, OnEnd))
            turn = node(self.pattern(facts, (X,)))
            found.append(Construct(Kind.EVENT, (HeadTriple(X, C, integer(1)),), turn))
            shown = TriplePattern(X, C, FRESH)
            found.append(Select(("x",), shown))
            if maker.chance(30):  # what a turn makes, changes facts
                found.append(Construct(Kind.FACT, (HeadTriple(X, Iri("i"), integer(1)),), Since(shown)))
        if not found or maker.chance(60):
            where = self.pattern(facts, (X,))
            if maker.chance(25):  # arms with variables of their own (TEF-72)
                where = Union(where, self.pattern(facts, (X,)))
            names = tuple(sorted(name for name in bound(where) if name != "_")) or ("x",)
            found.append(Select(names, where))
        return found

    def case(self) -> Case | None:
        return self.graph() if self.maker.chance(30) else self.mixed()

    def graph(self) -> Case | None:
        """What can be reached in a graph, cycles included, while edges start and end."""
        maker = self.maker
        maker.facts = (F,)
        reachable = Construct(Kind.FACT, (HeadTriple(X, V, Y),), self.reachable(F))
        statements: list[Statement] = [self.made(F), reachable]
        turns: Pattern = maker.pick((OnStart, OnEnd))(TriplePattern(X, V, Y))
        back = Conjunction(TriplePattern(X, V, Y), TriplePattern(Y, V, X))
        statements += maker.pick(
            (
                [],
                [Construct(Kind.EVENT, (HeadTriple(X, C, Y),), turns)],
                [Construct(Kind.FACT, (HeadTriple(X, W, Y),), Without(TriplePattern(X, V, Y), TriplePattern(Y, V, X)))],
                [Construct(Kind.EVENT, (HeadTriple(X, C, Y),), maker.pick((OnStart, OnEnd))(back))],
            )
        )
        program = Program(tuple(statements))
        things = tuple(Iri(name) for name in "abcdef"[: maker.pick((4, 5, 6))])
        pool = [(maker.pick(things), F, maker.pick(things)) for _ in range(maker.number(4, 12))]
        return Case(program, tuple(self.events(pool))) if is_legal(program, ()) else None

    def mixed(self) -> Case | None:
        maker = self.maker
        maker.static = maker.chance(15)
        maker.facts, maker.events = MADE, EVENTS
        views = self.views(MADE)
        facts = tuple(dict.fromkeys((*MADE, *(view.head[0].predicate for view in views))))
        consumers = self.consumers(facts) if not maker.chance(20) else []
        program = Program((*(self.made(each) for each in MADE), *views, *consumers))
        things = tuple(Iri(name) for name in "abcdef"[: maker.pick((3, 4, 5, 6))])
        background: tuple[Triple, ...] = ()
        if maker.static:
            background = tuple({(maker.pick(things), S, maker.pick(things)): None for _ in range(3)})
        if not is_legal(program, background):
            return None
        pool = [self.fact(things) for _ in range(maker.number(3, 9))]
        return Case(program, tuple(self.events(pool)), background)

    def events(self, pool: Sequence[MadeTriple]) -> list[GivenEvent]:
        """Few triples, so that facts start, end and start again, also at one time."""
        maker = self.maker
        held: list[MadeTriple] = []
        time, found = 0, []
        for number in range(maker.number(4, self.most)):
            time = min(LAST, time + maker.pick((0, 1, 0, 1, 2)))
            subject, predicate, target = maker.pick(pool)
            if maker.chance(15):  # it starts and ends at one time (TEF-43, TEF-49)
                names = (started(predicate), ended(predicate))
                found += (GivenEvent(f"{n.name}{number}", time, time, ((subject, n, target),)) for n in names)
                continue
            if maker.chance(10):
                name = maker.pick(EVENTS)
            elif held and maker.chance(35):
                subject, predicate, target = held.pop(maker.number(0, len(held) - 1))
                name = ended(predicate)
            else:
                held.append((subject, predicate, target))
                name = started(predicate)
            found.append(GivenEvent(f"e{number}", time, time, ((subject, name, target),)))
        return found

    def fact(self, things: tuple[Iri, ...]) -> MadeTriple:
        predicate: Iri = self.maker.pick((F, F, F, G, G, H))
        target: Term = integer(self.maker.number(1, 3)) if predicate == H else self.maker.pick(things)
        return self.maker.pick(things), predicate, target


@st.composite
def view_cases(draw: st.DrawFn) -> Case:
    """Legal cases."""
    found = ViewMaker(Maker(lambda least, most: draw(st.integers(least, most)), OPTIONS)).case()
    assume(found is not None)
    assert found is not None
    return found


def random_view_case(random: Random, *, most: int = 18) -> Case | None:
    """A case, more varied than Hypothesis's; None if its program is not legal."""
    return ViewMaker(Maker(random.randint, OPTIONS), most).case()
