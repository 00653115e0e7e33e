"""SPAseQ queries of every operator.

A variable's first letter says what it is of: `s`, `t` nodes; `v`, `w`, `g` numbers; `z` strings. The bare letter is
shared by GPMs; with a GPM's name after it, it is that GPM's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from hypothesis import assume
from hypothesis import strategies as st

from oracle.expressions import And, Arithmetic, Bound, Coalesce, Compare, Expression, Not, Or
from oracle.spaseq_legal import is_legal, scopes
from oracle.spaseq_query import (
    Aggregate,
    Column,
    Conjunction,
    Disjunction,
    Gpm,
    GraphBlock,
    Group,
    Part,
    Query,
    Selection,
    Unary,
    Use,
    Within,
    arms,
    uses,
)
from oracle.terms import Iri, Term, TriplePattern, Var, decimal, double, integer, string

NODES = (Iri("n1"), Iri("n2"))
NUMBERS = (integer(1), integer(2), integer(3), decimal("1.5"))
DOUBLES = (
    *(double(text) for text in ("1.0E16", "1.0E-1", "-1.0E16", "1.0E0", "2.0E-1")),
    decimal("0.1"),
    integer(1),
)
STRINGS = (string("a"), string("b"))
NUMERIC = "vwg"
GRAPHS = ("kb", "web")

_COMPARISONS = ("<=", ">=", "<=", ">=", "!=", "<", ">", "=")
_AGGREGATES = ("FIRST", "LAST", "COLLECT", "SUM", "AVG", "MIN", "MAX", "SUM", "AVG")  # the first three of anything
_MOST_GPMS = 5  # no new groups beyond: their combinations multiply

T = TypeVar("T")


@dataclass(frozen=True)
class Options:
    """What queries may have. Without a window there is no negation at the end."""

    windows: tuple[str, ...] = ("none", "sliding", "tumbling")
    selections: tuple[Selection, ...] = tuple(Selection)
    unaries: tuple[Unary, ...] = tuple(Unary)
    groups: bool = True
    filters: bool = True
    partition: bool = True
    graphs: bool = True
    often_graphs: bool = False  # most GPMs with a GRAPH block, some with two
    foreign_filters: bool = False  # filters over nothing but other GPMs' variables, and several of them
    projection: bool = True
    blank_nodes: bool = False
    doubles: bool = False  # whose sums depend on what is rounded when (C-31)
    most_parts: int = 4
    most_events: int = 8


def choose(draw: st.DrawFn, values: Sequence[T]) -> T:
    """As `sampled_from`, which takes twice as long to make as to draw from."""
    return values[draw(st.integers(0, len(values) - 1))]


def pick(draw: st.DrawFn, weighted: dict[T, int]) -> T:
    """One of the keys, the first being the simplest."""
    return choose(draw, [value for value, weight in weighted.items() for _ in range(weight)])


def chance(draw: st.DrawFn, percent: int) -> bool:
    return draw(st.integers(1, 100)) > 100 - percent


@st.composite
def queries(draw: st.DrawFn, options: Options = Options()) -> Query:  # noqa: B008  (frozen)
    """A legal query."""
    names = ("S1", "S2", "S3")[: pick(draw, {1: 4, 2: 3, 3: 1})]
    parts = draw(_parts(options))
    partition = ("s",) if options.partition and chance(draw, 25) else ()
    used = list(dict.fromkeys(name for part in parts for name in uses(part.group)))[:: choose(draw, (1, -1))]
    gpms = tuple(draw(_gpms(name, names, options, partitioned=bool(partition))) for name in used)
    # what partitions matters to contiguity alone
    weights = {each: 4 if partition and each is Selection.STRICT else 1 for each in options.selections}
    selections = tuple(pick(draw, weights) for _ in parts[1:])
    query = _negations_apart(Query(names, gpms, parts, selections, partition=partition))
    query = replace(query, within=draw(_withins(query, options)))
    query = replace(query, gpms=tuple(draw(_filtered(query, gpm, options)) for gpm in query.gpms))
    if options.projection and chance(draw, 70):
        query = draw(_projected(query))
    assume(is_legal(query))
    return query


@st.composite
def _parts(draw: st.DrawFn, options: Options) -> tuple[Part, ...]:
    weights = {1: 2, 2: 5, 3: 5, 4: 2}
    count = pick(draw, {n: weight for n, weight in weights.items() if n <= options.most_parts})
    parts: list[Part] = []
    defined: list[str] = []
    for _ in range(count):
        group = draw(_group_of(defined, options, depth=2))
        weights_of = {Unary.ONCE: 5, Unary.PLUS: 4, Unary.OPTIONAL: 2, Unary.NOT: 4}
        begun = any(part.unary in (Unary.ONCE, Unary.PLUS) for part in parts)  # or an arm begins with the negation
        allowed = {
            unary: weight
            for unary, weight in weights_of.items()
            if unary is Unary.ONCE or (unary in options.unaries and (begun or unary is not Unary.NOT))
        }
        parts.append(Part(group, pick(draw, allowed)))
    if options.windows == ("none",):
        parts = _without_last_negations(parts)
    return tuple(parts)


def _without_last_negations(parts: Sequence[Part]) -> list[Part]:
    """No arm ends in a negation where there is no window."""
    last = max(index for index, part in enumerate(parts) if part.unary is not Unary.NOT)
    kept = list(parts[: last + 1])
    if any(part.unary is Unary.NOT for part in kept):
        kept[-1] = Part(kept[-1].group, Unary.ONCE) if kept[-1].unary is Unary.OPTIONAL else kept[-1]
    return kept


@st.composite
def _group_of(draw: st.DrawFn, defined: list[str], options: Options, depth: int) -> Group:
    roomy = options.groups and depth > 0 and len(defined) < _MOST_GPMS
    kind = pick(draw, {"": 7, "&": 2, "|": 2}) if roomy else ""
    if kind:
        left, right = draw(_group_of(defined, options, depth - 1)), draw(_group_of(defined, options, depth - 1))
        return Conjunction(left, right) if kind == "&" else Disjunction(left, right)
    if defined and chance(draw, 12):
        return Use(choose(draw, defined))
    defined.append("ABCDEFGHIJKLMNOP"[len(defined)])
    return Use(defined[-1])


@st.composite
def _gpms(draw: st.DrawFn, name: str, streams: tuple[str, ...], options: Options, *, partitioned: bool) -> Gpm:
    own = name.lower()
    subjects: dict[Var | Term, int] = {Var("s"): 5}
    subject = pick(draw, subjects if partitioned else subjects | {Var("s" + own): 4, Var("t"): 1, NODES[0]: 1})
    count = pick(draw, {1: 3, 2: 2})
    triples: list[TriplePattern] = [(subject, *draw(_predicate_and_object(own))) for _ in range(count)]
    nodes = [slot for triple in triples for slot in triple if isinstance(slot, Var) and slot.name[0] in "st"]
    percent = 60 if options.often_graphs else 8
    blocks = [draw(_graph_blocks(own, nodes))] if options.graphs and nodes and chance(draw, percent) else []
    if blocks and options.often_graphs and chance(draw, 25):
        blocks.append(draw(_graph_blocks(own, nodes)))
    return Gpm(name, choose(draw, streams), tuple(triples), graphs=tuple(blocks))


@st.composite
def _graph_blocks(draw: st.DrawFn, own: str, nodes: list[Var]) -> GraphBlock:
    known: dict[Var | Term, int] = {Var("g" + own): 2, Var("v"): 1, integer(1): 1}
    triple = (choose(draw, nodes), Iri("k"), pick(draw, known))
    return GraphBlock(choose(draw, GRAPHS), (triple,))


@st.composite
def _predicate_and_object(draw: st.DrawFn, own: str) -> tuple[Iri, Var | Term]:
    kind = pick(draw, {"p": 5, "q": 3, "r": 2, "z": 1})
    choices: dict[Var | Term, int]
    match kind:
        case "p":
            choices = {Var("v" + own): 6, Var("v"): 2, choose(draw, NUMBERS): 1}
        case "q":
            choices = {Var("w" + own): 6, Var("w"): 1, Var("v" + own): 1}
        case "r":
            choices = {Var("t"): 3, Var("t" + own): 4, Var("s"): 1, NODES[1]: 1}
        case _:
            choices = {Var("z" + own): 3, Var("z"): 1, STRINGS[0]: 1}
    return Iri(kind), pick(draw, choices)


def _negations_apart(query: Query) -> Query:
    """What a negated GPM would share with no part but one too far behind it becomes its own."""
    negated = {name for part in query.parts if part.unary is Unary.NOT for name in uses(part.group)}
    elsewhere = {name for part in query.parts if part.unary is not Unary.NOT for name in uses(part.group)}
    return replace(
        query,
        gpms=tuple(
            _renamed(gpm, _far(query, gpm.name)) if gpm.name in negated - elsewhere else gpm for gpm in query.gpms
        ),
    )


def _far(query: Query, name: str) -> frozenset[str]:
    """The variables that some arm binds after the part that follows this negation, and nowhere nearer."""
    far: set[str] = set()
    for arm in arms(query):
        for index, step in enumerate(arm):
            if step.negated and name in uses(step.part.group):
                before = [each.part for each in arm[:index] if not each.negated]
                after = [each.part for each in arm[index + 1 :] if not each.negated]
                far |= query.bound_by(after[1:]) - query.bound_by(before + after[:1])
    return frozenset(far)


def _renamed(gpm: Gpm, far: frozenset[str]) -> Gpm:
    def own(triple: TriplePattern) -> TriplePattern:
        s, p, o = (
            Var(f"{slot.name[0]}{gpm.name.lower()}0") if isinstance(slot, Var) and slot.name in far else slot
            for slot in triple
        )
        return s, p, o

    blocks = tuple(replace(block, triples=tuple(map(own, block.triples))) for block in gpm.graphs)
    return replace(gpm, triples=tuple(map(own, gpm.triples)), graphs=blocks)


@st.composite
def _withins(draw: st.DrawFn, query: Query, options: Options) -> Within | None:
    needed = any(arm[-1].negated for arm in arms(query))
    kind = choose(draw, [each for each in options.windows if not needed or each != "none"])
    match kind:
        case "none":
            return None
        case "sliding":
            return Within(draw(st.integers(1, 8)))
        case _:
            return Within(draw(st.integers(2, 9)), tumbling=True, start=pick(draw, {0: 4, 1: 1, 3: 1}))


# Filters and SELECT


@st.composite
def _filtered(draw: st.DrawFn, query: Query, gpm: Gpm, options: Options) -> Gpm:
    """With filters over what is in sight at every place where the GPM stands."""
    sight = _in_sight(query, gpm.name)
    numbers = [name for name in sorted(sight) if name[0] in NUMERIC]
    if not options.filters or not numbers:
        return gpm
    count = pick(draw, {0: 1, 1: 4, 2: 2} if options.foreign_filters else {0: 5, 1: 4, 2: 1})
    foreign = [name for name in numbers if name not in gpm.variables()]
    conditions = []
    for _ in range(count):
        named = foreign if options.foreign_filters and foreign and chance(draw, 85) else numbers
        conditions.append(draw(_conditions(gpm, named, sorted(sight))))
    return replace(gpm, filters=tuple(conditions))


def _in_sight(query: Query, gpm: str) -> frozenset[str]:
    seen: dict[tuple[int, int], frozenset[str]] = {}
    for arm in arms(query):
        for index, step in enumerate(arm):
            for place, (name, scope) in enumerate(scopes(query, arm, index)):
                if name == gpm:
                    seen[step.number, place] = seen.get((step.number, place), frozenset()) | scope
    return frozenset.intersection(*seen.values())


@st.composite
def _conditions(draw: st.DrawFn, gpm: Gpm, numbers: list[str], names: list[str]) -> Expression:
    own = [name for name in numbers if name in gpm.variables()]
    left = Var(choose(draw, own or numbers))
    plain = Compare(choose(draw, _COMPARISONS), left, draw(_operands(numbers)))
    match pick(draw, {"plain": 7, "and": 1, "or": 1, "bound": 1, "unbound": 1, "coalesce": 1, "not": 1}):
        case "and":
            return And(plain, Compare("<=", draw(_operands(numbers)), integer(3)))
        case "or":
            return Or(plain, Compare("=", draw(_operands(numbers)), integer(2)))
        case "bound":
            return Or(Not(Bound(Var(choose(draw, names)))), plain)
        case "unbound":
            return And(Bound(Var(choose(draw, names))), plain)
        case "coalesce":
            return Compare(plain.operator, Coalesce((Var(choose(draw, numbers)), integer(2))), plain.right)
        case "not":
            return Not(plain)
        case _:
            return plain


@st.composite
def _operands(draw: st.DrawFn, numbers: list[str]) -> Expression:
    variable = Var(choose(draw, numbers))
    match pick(draw, {"variable": 4, "constant": 3, "sum": 2, "product": 1}):
        case "variable":
            return variable
        case "constant":
            return choose(draw, NUMBERS)
        case "sum":
            return Arithmetic(choose(draw, "+-"), variable, choose(draw, NUMBERS))
        case _:
            return Arithmetic("*", variable, choose(draw, NUMBERS))


@st.composite
def _projected(draw: st.DrawFn, query: Query) -> Query:
    """With a list of variables, expressions and aggregates, and at times DISTINCT."""
    bound = sorted(query.bound_by(part for part in query.parts if part.unary is not Unary.NOT))
    columns = list(map(Column, draw(st.lists(st.sampled_from(bound), max_size=3, unique=True)))) if bound else []
    numbers = [name for name in bound if name[0] in NUMERIC]
    if numbers and chance(draw, 20):
        columns.append(Column("sum_of", Arithmetic("+", Var(choose(draw, numbers)), integer(1))))
    for number, part in enumerate(query.parts):
        columns += draw(_aggregates(query, number, part)) if part.unary is Unary.PLUS else []
    return replace(query, select=tuple(columns) or None, distinct=chance(draw, 20))


@st.composite
def _aggregates(draw: st.DrawFn, query: Query, number: int, part: Part) -> list[Column]:
    columns: list[Column] = []
    once = [name for name in uses(part.group) if sum(name in uses(each.group) for each in query.parts) == 1]
    if once and chance(draw, 50):
        columns.append(Column(f"count_{number}", Aggregate("COUNT", choose(draw, once))))
    for local in sorted(query.locals_of(number)):
        if chance(draw, 60):
            function = choose(draw, _AGGREGATES if local[0] in NUMERIC else _AGGREGATES[:3])
            columns.append(Column(f"{function.lower()}_{local}", Aggregate(function, local)))
    return columns
