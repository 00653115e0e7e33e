"""Random EP-SPARQL cases: a file with events and background on which joins happen.

There are few terms and few times. `:p` has numbers as objects, `:q` has IRIs, `:r` has both. Rules derive `:s`
and `:t`. Most triples of a stream are instances of the file's own patterns.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import assume
from hypothesis import strategies as st

from oracle.ep_sparql import Derived, Row, derived, rows
from oracle.ep_sparql_data import GivenEvent
from oracle.ep_sparql_legal import groups_in, is_legal, triples_blocks
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
    File,
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
    Statement,
    Steps,
    SubSelect,
    TimeFunction,
    Triples,
    Values,
    in_scope,
    selects,
)
from oracle.ep_sparql_rdfs import DOMAIN, RANGE, SUB_CLASS, SUB_PROPERTY, TYPE, closed_background
from oracle.ep_sparql_strata import predicates
from oracle.terms import Blank, Iri, Literal, Term, Triple, Var, decimal, integer

P, Q, R, S, T = (Iri(name) for name in "pqrst")
THINGS = tuple(Iri(name) for name in "abc")
NUMBERS = tuple(integer(value) for value in (1, 2, 3))
CLASSES = (Iri("C"), Iri("D"))
THING_NAMES = ("x", "y", "z")
NUMBER_NAMES = ("n", "m")
LAST_TIME = 5
OPTIONAL_OPERATORS = (Operator.OPTIONALSEQ, Operator.EQUALSOPTIONAL)


@dataclass(frozen=True)
class Case:
    """A legal file and what it reads. `named` is what GRAPH reads."""

    file: File
    events: tuple[GivenEvent, ...]
    background: tuple[Triple, ...] = ()
    named: tuple[tuple[str, tuple[Triple, ...]], ...] | None = None
    reasoning: bool = False
    policy: str = "unrestricted"


def answer(case: Case, rounds: int = 12) -> list[Row]:
    """The rows of a case's SELECTs; it may raise `TooManyRounds`."""
    named = None if case.named is None else dict(case.named)
    return rows(
        case.file,
        case.events,
        case.background,
        named=named,
        reasoning=case.reasoning,
        policy=case.policy,
        rounds=rounds,
    )


def emitted(case: Case, rounds: int = 12) -> list[Derived]:
    """What the rules of a case emit; it may raise `TooManyRounds`."""
    named = None if case.named is None else dict(case.named)
    return derived(case.file, case.events, case.background, named=named, reasoning=case.reasoning, rounds=rounds)


@dataclass(frozen=True)
class Options:
    """What cases may have. `patterns` bounds the triple patterns of a statement, `depth` the nesting of groups."""

    rules: bool = True
    aggregates: bool = True
    sub_selects: bool = True
    modifiers: bool = True
    paths: bool = True
    reasoning: bool = True
    graph: bool = True
    background: bool = True
    time_functions: bool = True
    operators: tuple[Operator, ...] = tuple(Operator)
    patterns: int = 5
    depth: int = 2
    most_events: int = 7


CORE = Options(rules=False, aggregates=False, sub_selects=False, modifiers=False, paths=False, reasoning=False)
"""Groups, all operators, filters, time functions and background."""


class Maker:
    """Draws parts of a statement. `left` counts the triple patterns that it may still have outside EXISTS, `exists` the
    EXISTS."""

    def __init__(self, draw: st.DrawFn, options: Options, *, derives: bool) -> None:
        self.draw = draw
        self.options = options
        self.left = options.patterns
        self.made = 0
        self.labels = 0
        self.exists = 2
        self.reads = (P, Q, S, T, S, T, Q) if derives else (P, Q, P, Q, R)
        self.typed = False
        self.graphs = False

    def pick(self, choices: Sequence[Any]) -> Any:
        return self.draw(st.sampled_from(choices))

    def number(self, least: int, most: int) -> int:
        return self.draw(st.integers(least, most))

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
        return self.pick(NUMBERS) if self.chance(12) else Var(self.pick(("n", "n", "m")))

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
            first = Group((*first.elements, Filter(self.condition(seen, 0))))
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
        name, terms = self.pick((("x", THINGS), ("n", NUMBERS), ("y", THINGS)))
        found = tuple((self.pick((*terms, *terms, None)),) for _ in range(self.number(1, 2)))
        return Values((name,), found)

    # SELECT

    def sub_select(self) -> SubSelect:
        where = Group((self.triples(),))
        if self.left > 1 and self.chance(30):
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
        if names and self.chance(50):
            name = self.pick(names)
            keys, columns = (Key(Var(name)),), (Column(name),)
        elif self.options.time_functions and self.chance(15):
            name = self.fresh()
            keys, columns = (Key(self.pick((TimeFunction.START, TimeFunction.DURATION)), name),), (Column(name),)
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
        order, limit, offset = self.modifiers([column.name for column in columns])
        return Select(columns, where, self.chance(10), keys, having, order, limit, offset)

    def aggregate(self, names: Sequence[str], *, inner: bool) -> Aggregate:
        known = [name for name in names if name in NUMBER_NAMES] or list(names)
        if not known or self.chance(35):
            return Aggregate("COUNT", None)
        function = self.pick(("SUM", "MIN", "MAX", "COUNT") if inner else ("SUM", "MIN", "MAX", "COUNT", "AVG"))
        operand: Expression = Var(self.pick(names if self.chance(20) else known))
        if self.options.time_functions and self.chance(10):
            operand = self.pick((TimeFunction.END, TimeFunction.DURATION))
        return Aggregate(function, operand, self.chance(30))

    # Rules

    def rule(self) -> list[Construct]:
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

    def template(self, where: Group) -> Pattern:
        names = in_scope(where)
        things: list[Slot] = [Var(name) for name in names if name in THING_NAMES] or list(THINGS)
        known = [Var(name) for name in names if name not in THING_NAMES and name != "w"]
        quantities: list[Slot] = [*known, *known, *NUMBERS[:1]]
        predicate = self.pick((S, S, T, T, Q))
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


# Data


def own_patterns(file: File) -> list[Pattern]:
    """The triple patterns of a file, those of EXISTS included."""
    wheres = [
        Group((SubSelect(statement),)) if isinstance(statement, Select) else statement.where for statement in file
    ]
    return [pattern for where in wheres for block in triples_blocks(where) for pattern in block.patterns]


class Stream:
    """Draws triples, most of them instances of some patterns by one of two assignments of the variables."""

    def __init__(self, maker: Maker, patterns: Iterable[Pattern], *, blanks: bool) -> None:
        self.maker = maker
        self.patterns = [*patterns]
        self.blanks = blanks
        self.assignments = [self.assignment(), self.assignment()]

    def assignment(self) -> dict[str, Term]:
        things: dict[str, Term] = {name: self.maker.pick(THINGS) for name in THING_NAMES}
        return things | {name: self.maker.pick(NUMBERS) for name in NUMBER_NAMES}

    def triple(self) -> Triple:
        maker = self.maker
        if not self.patterns or maker.chance(10):
            return self.instance(Pattern(X, maker.pick((P, Q)), Y), {})
        return self.instance(maker.pick(self.patterns), maker.pick(self.assignments))

    def instance(self, pattern: Pattern, assignment: dict[str, Term]) -> Triple:
        maker = self.maker
        subject = self.term(pattern.subject, THINGS, assignment)
        if isinstance(subject, Literal):
            subject = maker.pick(THINGS)
        if self.blanks and maker.chance(3):
            subject = Blank("b")
        predicate = self.predicate(pattern)
        if predicate == TYPE and maker.chance(50):
            predicate = maker.pick((P, Q, R))
        if predicate == TYPE:
            return (subject, TYPE, maker.pick(CLASSES))
        return (subject, predicate, self.term(pattern.object, NUMBERS if predicate in (P, S) else THINGS, assignment))

    def term(self, slot: Slot, terms: Sequence[Term], assignment: dict[str, Term]) -> Term:
        """A constant as it is; a variable's assigned value, or any other."""
        found: Term = self.maker.pick(terms)
        if isinstance(slot, Iri | Literal):
            return slot
        return assignment.get(slot.name, found) if isinstance(slot, Var) else found

    def predicate(self, pattern: Pattern) -> Iri:
        maker, found = self.maker, pattern.predicate
        choices: list[Iri] = [P, Q, R]
        if isinstance(found, Iri):
            choices = [found]
        elif not isinstance(found, Var):
            choices = [step for step in predicates(found) if isinstance(step, Iri)]
        choice: Iri = maker.pick(choices)
        if choice in (S, T) and maker.chance(50):
            choice = maker.pick((P, Q, R))
        return choice

    def events(self, most: int, *, strict: bool = False) -> tuple[GivenEvent, ...]:
        """Events that follow the text of the file, so that sequences are found; and events at any time, of a small pool
        of triples, so that some come twice. Points, and intervals."""
        maker = self.maker
        found: list[tuple[int, int, tuple[Triple, ...]]] = []
        if maker.chance(85):
            found += self.planned(strict=strict)
        pool = [self.triple() for _ in range(maker.number(2, 6))] + [
            triple for _, _, event in found for triple in event
        ]
        for _ in range(maker.number(0, most) if maker.chance(30) else maker.pick((2, 3, 4, most))):
            end = maker.pick(range(LAST_TIME + 1))
            start = end if maker.chance(65) else maker.number(0, end)
            triples = tuple(maker.pick(pool) for _ in range(maker.pick((1, 1, 2, 3))))
            found.append((start, end, tuple(dict.fromkeys(triples))))
        found = maker.draw(st.permutations(found)) if maker.chance(20) else found
        return tuple((f"e{number}", *event) for number, event in enumerate(found[:most]))

    def planned(self, *, strict: bool) -> list[tuple[int, int, tuple[Triple, ...]]]:
        """Instances of the patterns in the order of the text, by one assignment, one event after the other. `strict`:
        none at the time of another."""
        maker = self.maker
        assignment = maker.pick(self.assignments)
        found: list[tuple[int, int, tuple[Triple, ...]]] = []
        time = 0
        often = (1, 1, 2) if strict else (1,)
        for pattern in [pattern for pattern in self.patterns for _ in range(maker.pick(often))][:5]:
            triple = self.instance(pattern, assignment)
            if found and not strict and maker.chance(25):
                start, end, triples = found[-1]
                found[-1] = (start, end, (*triples, triple) if triple not in triples else triples)
                continue
            start = min(LAST_TIME, time + (1 if strict else maker.pick((1, 1, 0))))
            time = min(LAST_TIME, start + (0 if strict else maker.pick((0, 0, 0, 1))))
            found.append((start, time, (triple,)))
        return found


SCHEMAS: tuple[Triple, ...] = (
    (R, SUB_PROPERTY, Q),
    (P, DOMAIN, CLASSES[0]),
    (CLASSES[0], SUB_CLASS, CLASSES[1]),
    (Q, RANGE, CLASSES[0]),
    (P, RANGE, CLASSES[1]),
    (Q, SUB_PROPERTY, S),
    (S, DOMAIN, CLASSES[0]),
)


@st.composite
def cases(draw: st.DrawFn, options: Options = Options()) -> Case:  # noqa: B008
    """Legal cases: SELECTs, rules, or both."""
    outline = Maker(draw, options, derives=False)
    ruled = options.rules and outline.chance(40)
    reasoning = options.reasoning and outline.chance(15)
    grounded = options.background and (reasoning or outline.chance(40))
    graphs = options.graph and not ruled and not reasoning and outline.chance(20)
    file: list[Statement] = []

    def maker() -> Maker:
        made = Maker(draw, options, derives=ruled)
        made.typed, made.graphs = reasoning, graphs
        return made

    if ruled:
        for _ in range(outline.pick((1, 1, 2))):
            file += maker().rule()
    if not ruled or outline.chance(65):
        for _ in range(outline.pick((1, 1, 1, 2))):
            statement = maker()
            where = statement.group(statement.pick((0, 1, options.depth)) if ruled else options.depth)
            if not in_scope(where):
                where = Group((*where.elements, statement.triples()))
            if graphs and statement.chance(70):
                where = Group((*where.elements, InGraph("g", Group((statement.triples(),)))))
            file.append(statement.select(where))
    blanks = not any_sliced(file)
    stream = Stream(maker(), own_patterns(tuple(file)), blanks=blanks)
    background = tuple(stream.triple() for _ in range(outline.number(1, 3))) if grounded else ()
    if reasoning:
        background += tuple(triple for triple in SCHEMAS if outline.chance(65))
    background = tuple(triple for triple in dict.fromkeys(background) if not isinstance(triple[0], Blank))
    named = (("g", tuple(stream.triple() for _ in range(outline.number(1, 4)))),) if graphs else None
    if graphs and background and outline.chance(30):
        named = None  # the unnamed background answers
    schema = closed_background(frozenset(background)) if reasoning else None
    assume(is_legal(tuple(file), background=bool(background), schema=schema))
    assume(blanks or not any(makes_blanks(statement) for statement in file))
    return Case(tuple(file), stream.events(options.most_events), background, named, reasoning)


def any_sliced(file: Iterable[Statement]) -> bool:
    """Is there a LIMIT or OFFSET? Blank nodes have no order among them that it could go by."""

    def inside(group: Group) -> bool:
        return any(
            (isinstance(element, SubSelect) and element.select.sliced) or any(map(inside, groups_in(element)))
            for element in group.elements
        )

    return any((isinstance(statement, Select) and statement.sliced) or inside(statement.where) for statement in file)


def makes_blanks(statement: Statement) -> bool:
    return isinstance(statement, Construct) and any(isinstance(triple.subject, Blank) for triple in statement.template)


@st.composite
def policy_cases(draw: st.DrawFn, options: Options = Options()) -> Case:  # noqa: B008
    """SELECTs over chains of SEQs and filters, under a policy (EP-67)."""
    maker = Maker(draw, Options(paths=False, patterns=5), derives=False)
    file: File = tuple(_policy_select(maker) for _ in range(maker.pick((1, 1, 1, 1, 2))))
    stream = Stream(maker, own_patterns(file), blanks=False)
    background = tuple({stream.triple() for _ in range(maker.number(1, 2))}) if maker.chance(20) else ()
    policy = maker.pick(("chronological", "recent"))
    assume(is_legal(file, background=bool(background), policy=policy))
    return Case(file, stream.events(options.most_events, strict=True), background, policy=policy)


def _policy_select(maker: Maker) -> Select:
    maker.left = maker.options.patterns
    where = _policy_chain(maker, nested=True)
    names = in_scope(where)
    columns = None
    if names and maker.chance(40):
        columns = tuple(Column(name) for name in names if maker.chance(60)) or (Column(names[0]),)
    return Select(columns, where)


def _policy_chain(maker: Maker, *, nested: bool) -> Group:
    def operand() -> Group:
        if nested and maker.left > 2 and maker.chance(20):
            return _policy_chain(maker, nested=False)
        triples = Triples((maker.pattern(),)) if maker.chance(80) else maker.triples()
        names = in_scope(Group((triples,)))
        filters = (Filter(maker.condition(names or ["x"], 0)),) if maker.chance(20) else ()
        return Group((triples, *filters))

    chain = Chain(operand(), tuple((Operator.SEQ, operand()) for _ in range(maker.pick((1, 1, 2)) if nested else 1)))
    names = in_scope(Group((chain,)))
    filters = (Filter(maker.condition(names or ["x"], 0)),) if maker.chance(40) else ()
    return Group((chain, *filters))


def is_emitting(file: File) -> bool:
    """Without SELECT, its CONSTRUCTs are its output (EP-82)."""
    return not selects(file)
