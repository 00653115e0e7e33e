"""Random statements of EP-SPARQL, of few terms, so that joins happen.

`:p` has numbers as objects, `:q` has IRIs, `:r` has both. Rules derive `:s` and `:t`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from oracle.ep_sparql_query import (
    Aggregate,
    And,
    Arithmetic,
    Bind,
    Bound,
    Chain,
    Coalesce,
    Column,
    Compare,
    Construct,
    Either,
    Element,
    Exists,
    Expression,
    Filter,
    Group,
    If,
    InGraph,
    Inverse,
    Key,
    Minus,
    Not,
    Operator,
    Optional,
    Or,
    Order,
    Path,
    Pattern,
    Repeat,
    Select,
    Slot,
    Steps,
    SubSelect,
    TimeFunction,
    Triples,
    Values,
    in_scope,
)
from oracle.ep_sparql_rdfs import TYPE
from oracle.terms import Blank, Iri, Literal, Var, decimal, double, integer, single

Item = TypeVar("Item")

P, Q, R, S, T = (Iri(name) for name in "pqrst")
THINGS = tuple(Iri(name) for name in "abc")
NUMBERS = tuple(integer(value) for value in (1, 2, 3))
DOUBLES = (double("1.0E-1"), double("1.0E16"), double("2.0E-1"), double("1.0E-3"), integer(1), decimal("0.1"))
SINGLES = (single("1.0E-1"), single("1.0E10"), integer(16777217), decimal("0.1"), integer(2))
MIXED = (*NUMBERS, double("1.0E-1"), single("1.0E-1"), decimal("0.1"), double("-1.0E16"), double("1.0E0"))
CLASSES = (Iri("C"), Iri("D"))
THING_NAMES = ("x", "y", "z")
NUMBER_NAMES = ("n", "m")
LAST_TIME = 5
OPTIONAL_OPERATORS = (Operator.OPTIONALSEQ, Operator.EQUALSOPTIONAL)


@dataclass(frozen=True)
class Options:
    """What cases may have. `patterns` bounds the triple patterns of a statement, `depth` the nesting of groups."""

    rules: bool = True
    ruled: int = 40  # of a hundred files, those with rules
    selecting: int = 65  # of a hundred files with rules, those with SELECTs
    aggregates: bool = True
    sub_selects: bool = True
    modifiers: bool = True
    paths: bool = True
    reasoning: bool = True
    reasoned: int = 15  # of a hundred cases, with reasoning
    graph: bool = True
    graph_of_rules: bool = False  # GRAPH in files with rules, too
    by_time: int = 0  # of a hundred SELECTs with groups, those whose groups are of a time
    recursive: int = 0  # of a hundred rules, those that derive what they read as absent left of SEQ
    background: bool = True
    time_functions: bool = True
    doubles: bool = True
    operators: tuple[Operator, ...] = tuple(Operator)
    patterns: int = 5
    depth: int = 2
    most_events: int = 7


CORE = Options(rules=False, aggregates=False, sub_selects=False, modifiers=False, paths=False, reasoning=False)
"""Groups, all operators, filters, time functions and background."""


class Maker:
    """Draws parts of a statement. `number(least, most)` draws an integer; all else is drawn by it, and 0 is the
    simplest choice. `left` counts the triple patterns that it may still have outside EXISTS, `exists` the EXISTS."""

    def __init__(self, number: Callable[[int, int], int], options: Options, *, derives: bool) -> None:
        self.number = number
        self.options = options
        self.left = options.patterns
        self.made = 0
        self.numbers: tuple[Literal, ...] = NUMBERS
        if options.doubles and self.chance(25):
            self.numbers = self.pick((DOUBLES, MIXED, SINGLES))
        self.labels = 0
        self.exists = 2
        self.reads = (P, Q, S, T, S, T, Q) if derives else (P, Q, P, Q, R)
        self.typed = False
        self.graphs = False

    def pick(self, choices: Sequence[Any]) -> Any:
        return choices[self.number(0, len(choices) - 1)]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        left = list(items)
        return [left.pop(self.number(0, len(left) - 1)) for _ in items]

    def chance(self, percent: int) -> bool:
        return self.number(0, 99) >= 100 - percent

    def fresh(self) -> str:
        self.made += 1
        return f"k{self.made}"

    # Patterns

    def thing(self) -> Slot:
        if self.chance(5):
            self.labels += 1
            return Blank(f"l{self.labels}")
        return self.pick(THINGS) if self.chance(12) else Var(self.pick(("x", "x", "y", "y", "z")))

    def quantity(self) -> Slot:
        return self.pick(self.numbers) if self.chance(12) else Var(self.pick(("n", "n", "m")))

    def pattern(self) -> Pattern:
        self.left -= 1
        subject = self.thing()
        if self.typed and self.chance(40):
            return Pattern(subject, TYPE, self.pick((*CLASSES, Var("z"))))
        if self.options.paths and self.chance(12):
            path = self.path()
            return Pattern(subject, path, self.thing())
        if self.chance(4):
            return Pattern(subject, Var("w"), self.thing())
        predicate = self.pick(self.reads)
        return Pattern(subject, predicate, self.object_of(predicate))

    def object_of(self, predicate: Iri) -> Slot:
        numeric = predicate in (P, S) or (predicate in (R, T) and self.chance(50))
        return self.quantity() if numeric else self.thing()

    def path(self) -> Path:
        step = self.pick((Q, Q, R, S) if S in self.reads else (Q, Q, R))
        other = self.pick((Q, R, P))
        simple = self.pick((step, Inverse(step), Steps(step, other), Either(step, other), Steps(step, Inverse(other))))
        repeated = Repeat(simple, self.pick(("+", "*", "?")))
        found: Path = self.pick((simple, repeated, repeated, Steps(repeated, other), Either(step, repeated)))
        return found

    def triples(self) -> Triples:
        count = 2 if self.left > 1 and self.chance(30) else 1
        return Triples(tuple(self.pattern() for _ in range(count)))

    # Expressions

    def numeric(self, names: Sequence[str], depth: int = 1) -> Expression:
        known = [name for name in names if name in NUMBER_NAMES or name.startswith("k")]
        choice = self.number(0, 9)
        if choice <= 4 and known:
            return Var(self.pick(known))
        if choice <= 6:
            return integer(self.pick((1, 2, 3, 0, 5)))
        if choice == 7 and self.options.time_functions:
            return TimeFunction(self.pick(tuple(TimeFunction)))
        if depth and choice == 8:
            sides = (self.numeric(names, 0), self.numeric(names, 0))
            return Arithmetic(self.pick(("+", "-", "*")), *sides)
        if choice == 9 and names:
            return Coalesce((Var(self.pick(names)), self.numeric(names, 0)))
        return integer(self.number(1, 3))

    def condition(self, names: Sequence[str], depth: int = 1) -> Expression:
        choice = self.pick((0, 0, 0, 4, 4, 5, 6, 7, 8, 9, 9, 9, 10, 11))
        if choice == 0:
            return Compare(self.pick(("<", "<=", ">", "!=", "=")), self.numeric(names), self.numeric(names))
        if choice == 4 and self.options.time_functions:
            function = self.pick(tuple(TimeFunction))
            return Compare(self.pick(("<=", ">=", "<", "=")), function, integer(self.number(0, LAST_TIME)))
        if choice == 5 and names:
            return Compare(self.pick(("!=", "=")), Var(self.pick(names)), self.pick((*THINGS, *map(Var, names))))
        if choice == 6 and names:
            return Not(Bound(Var(self.pick(names))))
        if choice == 7 and names:
            return Bound(Var(self.pick(names)))
        if depth and choice == 8:
            sides = (self.condition(names, 0), self.condition(names, 0))
            return And(*sides) if self.chance(50) else Or(*sides)
        if depth and choice == 9 and self.exists:
            self.exists -= 1
            found = Exists(self.exists_group(names))
            return Not(found) if self.chance(50) else found
        if depth and choice == 10:
            return If(self.condition(names, 0), self.condition(names, 0), self.condition(names, 0))
        left = Arithmetic(self.pick(("*", "/")), self.numeric(names), self.pick((decimal("1.5"), integer(2))))
        return Compare(self.pick(("<", ">")), left, self.numeric(names))

    def exists_group(self, names: Sequence[str]) -> Group:
        """No MINUS, BIND, VALUES or sub-select, of which SPARQL leaves open how EXISTS substitutes in them."""
        left = self.left
        first = Group((self.triples(),))
        if self.chance(40):
            operator = self.pick([each for each in self.options.operators if each not in OPTIONAL_OPERATORS])
            first = Group((Chain(first, ((operator, Group((self.triples(),))),)),))
        if self.chance(15):
            first = Group((*first.elements, Optional(Group((self.triples(),)))))
        if self.chance(40):
            seen = [*dict.fromkeys([*in_scope(first), *names])]
            first = Group((*first.elements, Filter(self.condition(seen, self.pick((0, 0, 1))))))
        self.left = left
        return first

    # Groups

    def group(self, depth: int) -> Group:
        elements: list[Element] = []
        if self.chance(92):
            elements.append(self.core(depth))
        for _ in range(self.pick((0, 0, 1, 1, 2) if depth else (0, 0, 0, 1))):
            elements.append(self.extra(elements, depth))
        names = in_scope(Group(tuple(elements)))
        if self.chance(25):
            place = self.number(0, len(elements))
            elements.insert(place, Filter(self.condition(names or ["x"])))
        return Group(tuple(elements))

    def core(self, depth: int) -> Element:
        if depth == 0 or self.left < 2 or self.chance(15):
            return self.triples() if self.left > 0 else self.values()
        return self.chain(depth)

    def chain(self, depth: int) -> Chain:
        often = (Operator.SEQ, Operator.SEQ, Operator.OPTIONALSEQ, Operator.EQUALSOPTIONAL)
        operators = [each for each in (*Operator, *often) if each in self.options.operators]
        count = self.pick((1, 1, 1, 2))
        first = self.operand(depth)
        return Chain(first, tuple((self.pick(operators), self.operand(depth)) for _ in range(count)))

    def operand(self, depth: int) -> Group:
        if self.left <= 0:
            return Group((self.values(),)) if self.chance(70) else Group(())
        if depth > 1 and self.left > 1 and self.chance(40):
            return self.group(depth - 1)
        if self.options.sub_selects and self.chance(8):
            return Group((self.sub_select(),))
        triples = self.triples()
        names = in_scope(Group((triples,)))
        filters = (Filter(self.condition(names or ["x"])),) if self.chance(22) else ()
        return Group((triples, *filters))

    def extra(self, before: list[Element], depth: int) -> Element:
        names = in_scope(Group(tuple(before)))
        choice = self.pick((1, 1, 2, 3, 4, 5, 5, 6, 7, 8, 8, 9))
        if choice <= 1 or (choice <= 6 and self.left <= 0):
            return self.bind(names)
        if choice == 2:
            return self.values()
        if choice <= 4:
            return Optional(self.group(max(0, depth - 1)))
        if choice == 5:
            return Minus(self.group(max(0, depth - 1)))
        if choice == 6:
            return Group((self.triples(),))
        if choice == 7 and self.options.sub_selects and self.left > 0:
            return self.sub_select()
        if choice == 8 and self.options.graph and self.graphs and self.left > 0:
            return InGraph("g", Group((self.triples(),)))
        return self.triples() if self.left > 0 else self.bind(names)

    def bind(self, names: Sequence[str]) -> Bind:
        free = [name for name in NUMBER_NAMES if name not in names]
        name = self.pick(free) if free and self.chance(40) else self.fresh()
        if self.chance(15):
            return Bind(self.condition(names or ["x"], 1), self.fresh())
        return Bind(self.numeric(names), name)

    def values(self) -> Values:
        name, terms = self.pick((("x", THINGS), ("n", self.numbers), ("y", THINGS)))
        found = tuple((self.pick((*terms, *terms, None)),) for _ in range(self.number(1, 2)))
        if self.chance(25):
            numbers = (*self.numbers, *self.numbers, None)
            return Values((name, "m"), tuple((*row, self.pick(numbers)) for row in found))
        return Values((name,), found)

    # SELECT

    def sub_select(self) -> SubSelect:
        where = Group((self.triples(),))
        if self.left > 1 and self.chance(30):
            where = self.group(1)
            if not in_scope(where):
                where = Group((*where.elements, self.triples()))
        elif self.left > 1 and self.chance(30):
            where = Group(
                (Chain(where, ((self.pick([Operator.UNION, *self.options.operators[:1]]), Group((self.triples(),))),)),)
            )
        if self.options.aggregates and self.chance(50):
            return SubSelect(self.aggregated(where, inner=True))
        return SubSelect(self.plain(where))

    def select(self, where: Group) -> Select:
        if self.options.aggregates and self.chance(25):
            return self.aggregated(where, inner=False)
        return self.plain(where)

    def plain(self, where: Group) -> Select:
        names = in_scope(where)
        columns: tuple[Column, ...] | None = None
        if names and self.chance(60):
            kept = [name for name in names if self.chance(60)] or names[:1]
            columns = tuple(map(Column, kept))
            if self.chance(30):
                columns += (Column(self.fresh(), self.numeric(names)),)
            elif self.chance(15):
                columns += (Column(self.fresh(), self.condition(names)),)
        order, limit, offset = self.modifiers(names)
        return Select(columns, where, self.chance(25), order_by=order, limit=limit, offset=offset)

    def modifiers(self, names: Sequence[str]) -> tuple[tuple[Order, ...], int | None, int]:
        if not self.options.modifiers or not self.chance(25):
            return (), None, 0
        order: tuple[Order, ...] = ()
        order = (Order(Var(self.pick(names)), self.chance(50)),) if names and self.chance(60) else ()
        if self.options.time_functions and self.chance(15):
            order += (Order(self.pick(tuple(TimeFunction)), self.chance(50)),)
        return order, self.pick((1, 2, 2, None)), self.pick((0, 0, 1))

    def aggregated(self, where: Group, *, inner: bool) -> Select:
        """AVG stands outside only: what is rounded joins with nothing."""
        names = in_scope(where)
        keys: tuple[Key, ...] = ()
        columns: tuple[Column, ...] = ()
        if self.options.by_time and self.chance(self.options.by_time):
            name = self.fresh()
            keys, columns = (Key(self.pick((TimeFunction.START, TimeFunction.END)), name),), (Column(name),)
            keys += (Key(Var(self.pick(names))),) if names and self.chance(25) else ()
            if self.chance(60):
                within = Filter(Compare("<=", TimeFunction.DURATION, integer(self.number(0, 3))))
                where = Group((*where.elements, within))
        elif names and self.chance(50):
            first, *others = dict.fromkeys((self.pick(names), self.pick(names)))
            chosen = [first, *(others if self.chance(25) else ())]
            keys, columns = tuple(Key(Var(name)) for name in chosen), tuple(map(Column, chosen))
        elif self.options.time_functions and self.chance(15):
            name = self.fresh()
            keys, columns = (Key(self.pick(tuple(TimeFunction)), name),), (Column(name),)
        free = [name for name in NUMBER_NAMES if name not in names]
        for _ in range(self.pick((1, 1, 2))):
            shown = {column.name for column in columns}
            usable = [name for name in free if name not in shown]
            name = self.pick(usable) if inner and usable and self.chance(50) else self.fresh()
            columns += (Column(name, self.aggregate(names, inner=inner)),)
        if self.options.time_functions and self.chance(10):
            columns += (Column(self.fresh(), self.pick(tuple(TimeFunction))),)
        having: tuple[Expression, ...] = ()
        if self.chance(20):
            limits = self.aggregate(names, inner=inner), integer(self.number(0, 3))
            having = (Compare(self.pick((">", "<=", "!=")), *limits),)
        elif self.exists and self.chance(8):
            self.exists -= 1
            having = (Exists(self.exists_group([column.name for column in columns])),)
        order, limit, offset = self.modifiers([column.name for column in columns])
        return Select(columns, where, self.chance(10), keys, having, order, limit, offset)

    def aggregate(self, names: Sequence[str], *, inner: bool) -> Aggregate:
        known = [name for name in names if name in NUMBER_NAMES] or list(names)
        if not known or self.chance(20):
            return Aggregate("COUNT", None)
        function = self.pick(("SUM", "MIN", "MAX", "SUM", "COUNT", *(() if inner else ("AVG", "AVG"))))
        operand: Expression = Var(self.pick(names if self.chance(20) else known))
        if self.options.time_functions and self.chance(10):
            operand = self.pick((TimeFunction.END, TimeFunction.DURATION))
        return Aggregate(function, operand, self.chance(30))

    # Rules

    def rule(self) -> list[Construct]:
        if self.options.recursive and self.chance(self.options.recursive):
            return self.recursive_rules()
        choice = self.number(0, 9)
        if choice == 0:
            return [TRANSITIVE]
        if choice == 1:
            return list(RUNNING_COUNT)
        if choice == 2:
            return [LATEST]
        self.reads = (P, Q, P, Q, R, S, T)
        where = self.group(self.pick((0, 0, 1)))
        if self.options.aggregates and self.chance(15):
            where = Group((SubSelect(self.aggregated(where, inner=True)),))
        return [Construct(tuple(self.template(where) for _ in range(self.pick((1, 1, 2)))), where)]

    def recursive_rules(self) -> list[Construct]:
        """`{ ?x :p ?y MINUS { ?x :t ?z } } SEQ { ?x :q ?w }` → `?x :t ?y`, and the like; mostly with a rule that
        derives `?x :t ?y` of the left side alone: what is derived at an instant counts for absence at that instant,
        which SEQ reads later (EP-52, EP-53)."""
        derived = self.pick((T, T, Q))
        own, other = self.shuffled(((Q, Y), (R, Var("w"))))
        given = Pattern(X, *own)
        absent = Group((Triples((Pattern(self.pick((X, X, X, Y)), derived, self.pick((Z, Z, Y))),)),))
        choice = self.pick((0, 0, 1, 1, 2, 3))
        left = Group(
            (Triples((given,)), (Minus(absent), Optional(absent), Filter(Not(Exists(absent))))[min(choice, 2)])
        )
        if choice == 3 and self.options.aggregates:
            count = Select((Column("x"), Column("k", Aggregate("COUNT", None))), absent, group_by=(Key(X),))
            left = Group((Triples((given,)), SubSelect(count)))
        operator = self.pick((Operator.SEQ, Operator.SEQ, Operator.SEQ, Operator.OPTIONALSEQ))
        right = Group((Triples((Pattern(X, *self.pick((other, other, own))),)),))
        if self.chance(15):
            right = Group((self.triples(),))
        where = Group((Chain(left, ((operator, right),)),))
        rules = [Construct((self.template(where, derived),), where)]
        if self.chance(65):
            rules.append(Construct((Pattern(X, derived, own[1]),), Group((Triples((given,)),))))
        return self.shuffled(rules)

    def template(self, where: Group, derived: Iri | None = None) -> Pattern:
        names = in_scope(where)
        things: list[Slot] = [Var(name) for name in names if name in THING_NAMES] or list(THINGS)
        known = [Var(name) for name in names if name not in THING_NAMES and name != "w"]
        quantities: list[Slot] = [*known, *known, *self.numbers[:1]]
        predicate = derived or self.pick((S, S, T, T, Q))
        subject = Blank("new") if self.chance(10) and predicate != Q else self.pick(things)
        numeric = predicate == S or (predicate == T and self.chance(50))
        return Pattern(subject, predicate, self.pick(quantities) if numeric else self.pick(things))


def _where(*patterns: tuple[Slot, Iri, Slot]) -> Group:
    return Group((Triples(tuple(Pattern(*pattern) for pattern in patterns)),))


X, Y, Z, N, M, K = (Var(name) for name in "xyznmk")

TRANSITIVE = Construct((Pattern(X, Q, Z),), _where((X, Q, Y), (Y, Q, Z)))
"""The transitive closure at one time, by recursion."""

RUNNING_COUNT = (
    Construct((Pattern(X, S, integer(1)),), _where((X, P, N))),
    Construct(
        (Pattern(X, S, K),),
        Group(
            (
                Chain(_where((X, S, M)), ((Operator.SEQ, _where((X, P, N))),)),
                Bind(Arithmetic("+", M, integer(1)), "k"),
            )
        ),
    ),
)
"""A count across times, by recursion through SEQ."""

LATEST = Construct(
    (Pattern(X, T, N),),
    Group(
        (
            Chain(
                Group((Chain(_where((X, P, M)), ((Operator.SEQ, _where((X, P, N))),)),)),
                (
                    (
                        Operator.EQUALSOPTIONAL,
                        Group(
                            (
                                Chain(
                                    _where((X, P, M)),
                                    ((Operator.SEQ, _where((X, P, Y))), (Operator.SEQ, _where((X, P, N)))),
                                ),
                            )
                        ),
                    ),
                ),
            ),
            Filter(Not(Bound(Y))),
        )
    ),
)
"""Prices with none between them: absence by EQUALSOPTIONAL, as in the paper's query (3)."""
