"""Random TEF-SPARQL programs: statements that feed each other, over drawn patterns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from oracle.tef_sparql_drawn_patterns import (
    FRESH,
    LAST_TIME,
    OF_NUMBERS,
    THINGS,
    C,
    D,
    E,
    F,
    G,
    H,
    M,
    N,
    P,
    PatternMaker,
    Q,
    S,
    V,
    W,
    X,
    Y,
    Z,
    is_number,
)
from oracle.tef_sparql_query import (
    And,
    Arithmetic,
    Before,
    Compare,
    Condition,
    Conjunction,
    Construct,
    Declare,
    Duration,
    During,
    Expression,
    HeadTriple,
    Kind,
    Now,
    Once,
    OnEnd,
    OnInit,
    OnStart,
    Pattern,
    Program,
    Replace,
    Select,
    Seq,
    Since,
    Statement,
    Timed,
    TriplePattern,
    Union,
    Until,
    With,
    bound,
    used,
)
from oracle.terms import Iri, Var, decimal, integer


class Maker(PatternMaker):
    """Draws a program."""

    def made_fact(self, predicate: Iri) -> Construct:
        """SINCE, UNTIL, REPLACE and ON INIT."""
        arms = self.number_arms(predicate) if predicate in OF_NUMBERS else self.thing_arms(predicate)
        where: Pattern = arms[0]
        for arm in arms[1:]:
            where = Union(where, arm)
        head = HeadTriple(X, predicate, N if predicate in OF_NUMBERS else Y)
        kind = Kind.FACT if self.chance(60) else None
        within = self.number(0, 4) if self.chance(8) else None
        once = None
        if not any(isinstance(arm, Until) for arm in arms):
            replaces = any(isinstance(arm, Replace) for arm in arms)
            if self.options.once and self.chance(40 if replaces else 8):
                own = N.name if predicate in OF_NUMBERS else Y.name
                once = self.pick((Once(("x",)), Once((own,)), Once(("x", own)), Once(("x",), (Now(),))))
        return Construct(kind, (head,), where, once, within)

    def depth(self) -> int:
        return min(self.options.depth, int(self.pick((0, 0, 1, 1, 2))))

    def thing_arms(self, predicate: Iri) -> list[Pattern]:
        arms: list[Pattern] = [Since(self.event(self.depth(), (X, Y)))]
        triple = TriplePattern(X, predicate, Z)
        if self.chance(12):  # no UNTIL, so that ONCE PER may stand
            on = self.event(self.pick((0, 0, 1)), (X, Y))
            return [*arms, Replace(self.pick((triple, TriplePattern(X, predicate, FRESH))), on)]
        if self.options.edges and self.chance(8):  # what begins again has had its turn
            again = TriplePattern(X, predicate, Y)
            return [*arms, Replace(self.pick((triple, again, again)), OnStart(again))]
        while self.chance(70) and len(arms) < 4:
            choice = self.number(0, 9)
            if choice <= 2:
                arms.append(Until(self.event(self.depth(), (X, Y))))
            elif choice <= 4:
                arms.append(Until(During(self.event(0, (X,)), TriplePattern(X, predicate, Y))))
            elif choice <= 7:
                old = self.replaced(triple)
                with self.right_of(old):
                    on = self.event(self.depth(), (X, Y))
                if self.chance(50):
                    on = Condition(on, Compare("!=", Y, Z))
                arms.append(Replace(old, on))
            elif choice == 8 and self.static:
                arms.append(OnInit(TriplePattern(X, S, Y)))
            else:
                arms.append(Since(self.event(0, (X, Y))))
        return arms

    def replaced(self, triple: TriplePattern) -> Pattern:
        """What REPLACE matches: a triple, and sometimes more."""
        choices: list[Callable[[Pattern, tuple[Var, ...], int], Pattern]] = []
        if self.options.negation:
            choices += [self.fact_without_fact, self.fact_without_event]
        if self.options.timers:
            choices += [self.clipped]
        if self.options.conditions:
            choices += [self.tested_fact]
        if self.static:
            choices += [self.static_fact]
        found: Pattern = triple
        if choices and self.chance(15):
            found = self.pick(choices)(triple, (X,), 0)
        return found

    def number_arms(self, predicate: Iri) -> list[Pattern]:
        zero, triple = integer(0), TriplePattern(X, predicate, M)
        arms: list[Pattern] = []
        if self.static and self.chance(60):
            arms.append(OnInit(Condition(TriplePattern(X, S, FRESH), Compare("=", N, zero))))
        elif self.chance(40):
            arms.append(Since(self.event(self.depth(), (X, N))))
        else:
            arms.append(Since(Condition(self.event(0, (X,)), Compare("=", N, zero))))
        while self.chance(75) and len(arms) < 4:
            choice = self.number(0, 9)
            more: Expression = Compare("=", N, Arithmetic(self.pick(("+", "+", "-")), M, integer(1)))
            old = self.replaced(triple)
            if choice <= 7:
                with self.right_of(old):
                    on = self.event(0 if choice in (4, 5) else self.depth(), (X, N) if choice > 5 else (X,))
                if choice <= 3:
                    arms.append(Replace(old, Condition(on, more)))
                elif choice <= 5:
                    arms.append(Condition(Replace(old, on), more))
                else:
                    arms.append(Replace(old, on))
            else:
                arms.append(Until(During(self.event(0, (X,)), TriplePattern(X, predicate, N))))
        return arms

    def view(self, predicate: Iri) -> Construct:
        need = (X, N) if predicate in OF_NUMBERS else (X, Y)
        others, self.facts = self.facts, tuple(each for each in self.facts if each != predicate)
        where = self.view_where(predicate, need)
        self.facts = others
        return Construct(Kind.FACT, (HeadTriple(X, predicate, need[1]),), where)

    def view_where(self, predicate: Iri, need: tuple[Var, ...]) -> Pattern:
        same = [each for each in self.facts if (each in OF_NUMBERS) == is_number(need[1])]
        if not same:  # of what there is
            other: Iri = self.pick(self.facts)
            base = TriplePattern(X, other, M if other in OF_NUMBERS else Z)
            if is_number(need[1]):
                return Condition(base, Compare("=", need[1], integer(1)))
            return Conjunction(base, TriplePattern(Y, base.predicate, FRESH))
        if predicate == V and self.chance(30):  # recursion
            step = TriplePattern(Z, self.pick(same), Y)
            return Union(self.fact(0, need), Conjunction(TriplePattern(X, V, Z), step))
        return self.fact(max(1, self.depth()), need)

    def constructed(self, predicate: Iri) -> Construct:
        need = (X, N) if predicate in OF_NUMBERS else (X, Y)
        where = self.event(max(1, self.depth()), need)
        head = [HeadTriple(X, predicate, need[1])]
        if self.chance(15):
            head.append(HeadTriple(X, predicate, integer(1) if predicate in OF_NUMBERS else self.pick((X, *THINGS))))
        elif predicate in OF_NUMBERS and self.chance(20):
            more = self.pick(
                (Arithmetic("+", N, integer(1)), Arithmetic("+", N, Now()), Arithmetic("/", N, integer(0)))
            )
            head = [HeadTriple(X, predicate, more), *(head if self.chance(30) else [])]
        within = self.number(0, 5) if self.chance(10) else None
        once = self.once(sorted(bound(where)))
        return Construct(Kind.EVENT if self.chance(80) else None, tuple(head), where, once, within)

    def once(self, names: Sequence[str]) -> Once | None:
        plain = [name for name in names if name != "_"]
        if not plain or not self.options.once or not self.chance(15):
            return None
        chosen = tuple(dict.fromkeys(self.pick(plain) for _ in range(self.pick((1, 1, 2)))))
        numbers = [Var(name) for name in plain if is_number(Var(name))]
        expressions: tuple[Expression, ...] = (Now(),) if self.chance(25) else ()
        if numbers and self.chance(10):
            expressions = (Arithmetic("*", self.pick(numbers), integer(0)),)
        return Once(chosen, expressions)

    def select(self) -> Select:
        over_facts = bool(self.facts) and self.chance(40)
        if over_facts:
            where = self.fact(self.depth(), (X,))
            if self.options.unions and self.chance(20):  # arms with variables of their own
                where = Union(where, self.fact(self.depth(), (X,)))
        else:
            where = self.event(max(self.depth(), self.pick((1, 0, 2))), self.pick(((X,), (X, Y), ())))
        names = sorted(name for name in bound(where) if name != "_")
        if not names:
            where = Seq(where, TriplePattern(X, P, Y)) if not over_facts else where
            names = ["x"]
        shown = tuple(name for name in names if self.chance(70)) or (names[0],)
        within = self.number(0, 6) if not over_facts and self.chance(10) else None
        return Select(shown, where, self.chance(8), self.once(shown), within)

    def nested(self) -> Program:
        """Facts that events c and d start, and one SELECT whose parts are nested."""
        self.facts, self.events = (F, G, H), (P, Q, E)
        found: list[Statement] = []
        for predicate, event, target in ((F, C, Y), (G, C, Y), (H, D, N)):
            where: Pattern = Since(TriplePattern(X, event, target))
            if self.chance(40):
                where = Union(where, Until(TriplePattern(X, Q, target if predicate != H else FRESH)))
            found.append(Construct(Kind.FACT, (HeadTriple(X, predicate, target),), where))
        first = TriplePattern(X, *self.pick(((E, N), (E, N), (P, Y))))
        with self.right_of(first):
            where = self.pick((Seq, Seq, Before, Conjunction))(first, self.scoped_event(3))
        names = sorted(name for name in bound(where) if name != "_")
        return Program((*found, Select(tuple(names), where)))

    def bounded(self) -> Program:
        """Facts that are ended and selected by when they began."""
        self.facts, self.events = (F, H), (P, Q, E)
        found: list[Statement] = []
        for predicate, event, target in ((F, C, Y), (H, D, N)):
            ends = self.bounded_event(TriplePattern(X, predicate, target))
            where = Union(Since(TriplePattern(self.pick((X, X, Y)), event, target)), Until(ends))
            if predicate is F and self.chance(50):
                where = where.left  # type: ignore[assignment]
            if set(used(where.left if isinstance(where, Union) else where)) >= {"x"}:
                found.append(Construct(Kind.FACT, (HeadTriple(X, predicate, target),), where))
        self.facts = tuple(each.head[0].predicate for each in found if isinstance(each, Construct))  # type: ignore[misc]
        if not self.facts:
            return Program(())
        if self.chance(40):
            view = Conjunction(TriplePattern(X, self.facts[0], FRESH), TriplePattern(X, self.facts[-1], Y))
            found.append(Construct(Kind.FACT, (HeadTriple(X, V, Y),), view))
            self.facts = (*self.facts, V)
        where = self.bounded_event(self.triple(self.facts, ()))
        names = sorted(name for name in bound(where) if name != "_")
        return Program((*found, Select(tuple(names), where)))

    def bounded_event(self, fact: TriplePattern) -> Pattern:
        """An event with a fact that began at some time before it."""
        start, end = Var(self.fresh("t")), Var(self.fresh("t"))
        event = Timed(TriplePattern(X, self.pick((E, P)), FRESH), *self.pick(((FRESH, end), (end, FRESH))))
        node, timed = self.pick((During, During, With)), Timed(fact, start, FRESH)
        test = self.start_test(start, end)
        if self.chance(30):
            return node(event, Condition(timed, test))  # type: ignore[no-any-return]
        return Condition(node(event, timed), test)

    def start_test(self, start: Var, end: Var) -> Expression:
        """A test of a start, beside another time."""
        operator = self.pick((">", ">=", "<", "<=", "="))
        length = self.pick((*map(integer, (1, 2, 3, 0, -1)), decimal("1.5")))
        left, right = self.pick(
            (
                (Duration(start, end), length),
                (Arithmetic("-", end, start), length),
                (Arithmetic("-", start, end), length),
                (start, Arithmetic("-", end, length)),
                (start, self.pick((end, integer(self.number(0, LAST_TIME)), X))),
                (Arithmetic("-", start, length), end),
            )
        )
        found: Expression = Compare(operator, *((right, left) if self.chance(40) else (left, right)))
        return And(found, self.start_test(start, end)) if self.chance(15) else found

    def replacing(self) -> Program:
        """Facts that are replaced, also when facts begin and end, often ONCE PER; and SELECTs over them."""
        self.facts, self.events = (F, G), (P, Q)
        found: list[Statement] = [self.replaced_fact(each) for each in (F, G)]
        if self.options.views and self.chance(40):
            where = self.fact_over(TriplePattern(X, self.pick((F, G)), Y), (X, Y))
            found.append(Construct(Kind.FACT, (HeadTriple(X, V, Y),), where))
            self.facts = (F, G, V)
        if self.chance(30):
            made = Construct(Kind.EVENT, (HeadTriple(X, C, Y),), self.turn((X, Y)))
            found.append(replace(made, once=self.once_per("xy") if self.chance(30) else None))
            self.events = (P, Q, C)
        if self.chance(85):
            found += [self.turns_or_facts() for _ in range(self.pick((1, 2)))]
        return Program(tuple(found))

    def replaced_fact(self, predicate: Iri) -> Construct:
        """SINCE, then REPLACE once or more, and UNTIL where ONCE PER does not stand."""
        where: Pattern = Since(self.triple(self.events, (X, Y)))
        for _ in range(self.pick((1, 1, 2))):
            where = Union(where, self.replacement(predicate))
        once = self.once_per("xy") if self.options.once and self.chance(60) else None
        if once is None and self.chance(40):
            where = Union(where, Until(self.turn((X, Y)) if self.chance(30) else self.triple(self.events, (X, Y))))
        head = [HeadTriple(X, predicate, Y)]
        if self.chance(15):  # one instance starts two facts
            head.append(HeadTriple(*self.pick(((X, predicate, X), (Y, predicate, X)))))
        return Construct(Kind.FACT, tuple(head), where, once)

    def replacement(self, predicate: Iri) -> Pattern:
        triple = TriplePattern(X, predicate, Z)
        old: Pattern = self.pick((triple, triple, TriplePattern(X, predicate, FRESH), TriplePattern(X, predicate, Y)))
        if self.chance(25):
            other = TriplePattern(X, self.pick((F, G)), self.pick((Z, FRESH)))
            old = self.pick((Conjunction, Union))(old, other)
        elif self.chance(15):
            old = self.replaced(triple)
        with self.right_of(old):
            on: Pattern = self.triple(self.events, (X, Y))
            if self.chance(60):
                on = self.turn((X, Y))
            elif self.chance(30):
                on = During(self.triple(self.events, (X,)), TriplePattern(X, self.pick((F, G)), Y))
        if "z" in bound(old) and self.chance(40):
            on = Condition(on, Compare(self.pick(("!=", "!=", "=")), Y, Z))
        return Replace(old, on)

    def turn(self, need: tuple[Var, ...]) -> Pattern:
        """ONSTART or ONEND, half of them of composites."""
        if not self.options.edges:
            return self.triple(self.events, need)
        inner: Pattern = TriplePattern(need[0], self.pick(self.facts), need[1])
        if self.chance(50):
            with self.alone():
                inner = self.fact_over(inner, need)
        node = self.pick((OnStart, OnEnd))
        if self.options.times and self.chance(20):
            inner = self.timed(inner, ends=node is OnEnd)
        return node(inner)  # type: ignore[no-any-return]

    def turns_or_facts(self) -> Select:
        """A SELECT over events that are turns, or over a UNION of facts whose arms have variables of their own."""
        where: Pattern
        if self.chance(40):
            where = self.turn((X, Y))
        else:
            where = self.triple(self.facts, (X,)) if self.chance(50) else self.fact(1, (X,))
            for _ in range(self.pick((1, 1, 2))):
                own = TriplePattern(X, self.pick(self.facts), self.pick((Y, Z, FRESH)))
                where = Union(where, self.timed(own, ends=False) if self.chance(20) else own)
            if self.chance(15):
                where = Conjunction(where, TriplePattern(X, self.pick(self.facts), Var("i")))
        names = sorted(name for name in bound(where) if name != "_")
        shown = tuple(name for name in names if self.chance(70)) or ("x",)
        return Select(shown, where, self.chance(10), self.once_per(shown) if self.chance(25) else None)

    def once_per(self, names: Sequence[str]) -> Once:
        """ONCE PER some of them; mostly so that later steps start facts too."""
        chosen = tuple(name for name in names if self.chance(60)) or (names[0],)
        return Once(chosen, (Now(),) if self.chance(60) else ())

    def program(self) -> Program:
        """Statements that feed each other."""
        options = self.options
        if options.facts and self.chance(options.replacing):
            return self.replacing()
        if self.chance(options.bounded):
            return self.bounded()
        if self.chance(options.nested):
            return self.nested()
        self.static = options.background and self.chance(35)
        made = [each for each in (F, G, H) if options.facts and self.chance(55)]
        if options.facts and not made and self.chance(80):
            made = [self.pick((F, H))]
        views = [each for each in (V, W) if options.views and made and self.chance(35)]
        events = [each for each in (C, D) if options.events and self.chance(25)]
        self.facts, self.events = (*made, *views), (P, P, Q, Q, E, *events)
        found: list[Statement] = []
        if self.chance(10):
            found.append(Declare(Kind.EVENT, (P, Q)))
        found += [self.made_fact(each) for each in made]
        found += [self.view(each) for each in views]
        found += [self.constructed(each) for each in events]
        if not found or self.chance(75):
            found += [self.select() for _ in range(self.pick((1, 1, 1, 2)))]
        streams = ("S", "T") if options.streams and self.chance(15) else ()
        return Program(tuple(found), streams)
