"""Graph patterns at one evaluation: equations (1), (2), (3) and (8) of RSEP-QL's paper, and SPARQL 1.1's algebra.

Ω is a bag: a list, in which every solution stands as often as it counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TypeAlias, assert_never

from oracle.ep_sparql_paths import pairs
from oracle.ep_sparql_query import Either, Inverse, Path, Repeat, Slot, Steps
from oracle.graphs import EMPTY, compatible, only, without
from oracle.graphs import Mapping as Mu
from oracle.rsep_ql_expressions import Rank, Scope, holds, order, rank, term, value
from oracle.rsep_ql_query import (
    Bind,
    Column,
    Element,
    EventDefinition,
    Expression,
    Filter,
    Group,
    InGraph,
    InWindow,
    Match,
    Minus,
    Optional,
    Pattern,
    Select,
    SubSelect,
    Triples,
    Union,
    Values,
    shown,
)
from oracle.terms import Blank, Graph, Iri, Literal, Term, Var

Given: TypeAlias = dict[str, Term]
"""What EXISTS substitutes."""


@dataclass(frozen=True)
class Solution:
    """μ, and the ids of the events of each MATCH that it comes from, by the MATCH's number (RS-56)."""

    mapping: Mu = EMPTY
    events: tuple[tuple[int, tuple[str, ...]], ...] = ()

    @property
    def listed(self) -> tuple[str, ...]:
        """In the textual order of the MATCHes, then in pattern order."""
        return tuple(event for _, ids in sorted(self.events) for event in ids)


Bag: TypeAlias = list[Solution]


@dataclass(frozen=True)
class Snapshot:
    """The dataset at one time: SDS_ι(t) for every ι of ids(SDS), and what each MATCH evaluates to (RS-47)."""

    now: Literal
    default: Graph = frozenset()
    named: Mapping[str, Graph] = field(default_factory=dict)
    windows: Mapping[str, Graph] = field(default_factory=dict)
    matches: Mapping[int, Bag] = field(default_factory=dict)
    events: tuple[EventDefinition, ...] = ()


def join(left: Bag, right: Bag) -> Bag:
    """Ω₁ ⋈ Ω₂ (2)."""
    return [
        Solution(a.mapping | b.mapping, a.events + b.events)
        for a, b in product(left, right)
        if compatible(a.mapping, b.mapping)
    ]


class Evaluation:
    """⟦·⟧ over one active graph of a snapshot. `given` is what an enclosing EXISTS substitutes."""

    def __init__(self, snapshot: Snapshot, active: Graph, given: Given | None = None) -> None:
        self.snapshot = snapshot
        self.active = active
        self.given: Given = given or {}

    def over(self, active: Graph) -> Evaluation:
        return Evaluation(self.snapshot, active, self.given)

    # Groups

    def group(self, group: Group) -> Bag:
        """⟦P⟧; the group's filters are judged on the finished group."""
        return self.filtered(group.filters, self.unfiltered(group))

    def unfiltered(self, group: Group) -> Bag:
        """⟦P⟧ without the filters that stand directly in the group."""
        found = [Solution()]
        for element in group.elements:
            found = self.element(found, element)
        return found

    def filtered(self, filters: Iterable[Expression], solutions: Bag) -> Bag:
        return [each for each in solutions if all(holds(expression, self.scope(each)) for expression in filters)]

    def element(self, so_far: Bag, element: Element) -> Bag:
        """The solutions so far with one more element. OPTIONAL, MINUS and BIND act on all that precedes."""
        match element:
            case Filter():
                return so_far
            case Optional(group):
                return self.left_join(so_far, self.unfiltered(group), group.filters)
            case Minus(group):
                return minus(so_far, self.group(group))
            case Bind(expression, name):
                return [self.extended(solution, name, expression) for solution in so_far]
            case _:
                return join(so_far, self.joined(element))

    def joined(self, element: Triples | Group | Union | Values | InGraph | SubSelect | InWindow | Match) -> Bag:
        """⟦P⟧ of what joins with what precedes it."""
        match element:
            case Triples(patterns):
                return self.triples(patterns)
            case Group():
                return self.group(element)
            case Union(arms):
                return [solution for arm in arms for solution in self.group(arm)]
            case Values():
                return self.values(element)
            case InGraph(graph, group):
                return self.in_graph(graph, group)
            case SubSelect(select):
                return self.sub_select(select)
            case InWindow(name, group):
                return self.over(self.snapshot.windows[name]).group(group)  # (3)
            case Match(_, number):
                return self.match(number)
            case _:
                assert_never(element)

    def left_join(self, mandatory: Bag, optional: Bag, filters: Iterable[Expression]) -> Bag:
        found: Bag = []
        for solution in mandatory:
            found += self.filtered(filters, join([solution], optional)) or [solution]
        return found

    def extended(self, solution: Solution, name: str, expression: Expression) -> Solution:
        """BIND. An error leaves it unbound."""
        found = term(value(expression, self.scope(solution)))
        return solution if found is None else replace(solution, mapping=solution.mapping | {(name, found)})

    def values(self, values: Values) -> Bag:
        rows = [
            frozenset((name, found) for name, found in zip(values.names, row, strict=True) if found is not None)
            for row in values.rows
        ]
        return [Solution(row) for row in rows if self.agrees(row)]

    def agrees(self, mapping: Mu) -> bool:
        """With what EXISTS substitutes."""
        return all(self.given.get(name, found) == found for name, found in mapping)

    def in_graph(self, graph: Iri | Var, group: Group) -> Bag:
        """GRAPH ?g ranges over the FROM NAMED graphs, never over windows (RS-32)."""
        if isinstance(graph, Iri):
            return self.over(self.snapshot.named.get(graph.name, frozenset())).group(group)
        found: Bag = []
        for iri, triples in self.snapshot.named.items():
            this: Mu = frozenset({(graph.name, Iri(iri))})
            if self.agrees(this):
                found += join(self.over(triples).group(group), [Solution(this)])
        return found

    def match(self, number: int) -> Bag:
        """(8): what the MATCH evaluated to, once for all its places (RS-27, RS-47)."""
        return [solution for solution in self.snapshot.matches[number] if self.agrees(solution.mapping)]

    # Triple patterns

    def triples(self, patterns: Iterable[Pattern]) -> Bag:
        """(1): ⟦P⟧ of a BGP; a label of a blank node is a variable that only its BGP sees."""
        found: list[Mu] = [EMPTY]
        for pattern in patterns:
            found = joined(found, self.pattern(self.substituted(pattern)))
        return [Solution(frozenset((n, v) for n, v in mapping if not n.startswith("_:"))) for mapping in found]

    def substituted(self, pattern: Pattern) -> Pattern:
        """With labels of blank nodes as variables, and with what EXISTS substitutes."""

        def slot(slot: Slot) -> Slot:
            match slot:
                case Blank(label):
                    return Var("_:" + label)
                case Var(name):
                    return self.given.get(name, slot)
                case _:
                    return slot

        predicate = pattern.predicate
        if isinstance(predicate, Var) and predicate.name in self.given:
            found = self.given[predicate.name]
            predicate = found if isinstance(found, Iri) else NO_PREDICATE
        return Pattern(slot(pattern.subject), predicate, slot(pattern.object))

    def pattern(self, pattern: Pattern, depth: int = 0) -> list[Mu]:
        """A triple pattern, or a path as SPARQL 1.1 translates it (18.2.2.4)."""
        s, o = pattern.subject, pattern.object
        match pattern.predicate:
            case Var() | Iri() as p:
                return instances((s, p, o), self.active)
            case Inverse(path):
                return self.pattern(Pattern(o, path, s), depth)
            case Steps(left, right):
                between = Var(f"/{depth}")
                first = self.pattern(Pattern(s, left, between), depth + 1)
                second = self.pattern(Pattern(between, right, o), depth + 1)
                return [without(mapping, frozenset({between.name})) for mapping in joined(first, second)]
            case Either(left, right):
                arms = [self.pattern(Pattern(s, path, o), depth) for path in (left, right)]
                return [mapping for arm in arms for mapping in arm]
            case Repeat() as path:
                found = pairs(path, self.active)
                if path.sign != "+":
                    found |= {(slot, slot) for slot in (s, o) if not isinstance(slot, Var)}
                return instances((s, o), found)
            case _:
                assert_never(pattern.predicate)

    # EXISTS

    def scope(self, solution: Solution) -> Scope:
        return Scope(self.given | dict(solution.mapping), self.snapshot.now, self.exists)

    def exists(self, group: Group, mapping: Mapping[str, Term]) -> bool:
        return bool(Evaluation(self.snapshot, self.active, self.given | dict(mapping)).group(group))

    # SELECT

    def sub_select(self, select: Select) -> Bag:
        """Its rows. What it does not show is its own."""
        names = shown(select, self.snapshot.events)
        inner = {name: found for name, found in self.given.items() if name in names}
        return Evaluation(self.snapshot, self.active, inner).select(select)

    def select(self, select: Select) -> Bag:
        """The rows of a SELECT, in their order (RS-49). SPARQL leaves ties open; here they go by the columns' terms.

        Rows of DISTINCT and of aggregates list no events (RS-56).
        """
        members = self.group(select.where)
        scoped = self.grouped(select, members) if select.aggregated else [(each, self.scope(each)) for each in members]
        kept = [(each, scope) for each, scope in scoped if all(holds(having, scope) for having in select.having)]
        rows = [self.row(select, each, scope) for each, scope in kept]
        rows.sort(key=lambda row: row.ties)
        for number, each in reversed(list(enumerate(select.order_by))):
            rows.sort(key=lambda row: row.keys[number], reverse=each.descending)
        found = [row.solution for row in rows]
        if select.distinct:
            found = list(dict.fromkeys(Solution(each.mapping) for each in found))
        return found[select.offset :][: select.limit]

    def grouped(self, select: Select, members: Bag) -> list[tuple[Solution, Scope]]:
        """One row for each group. Without GROUP BY there is one group, even of no members (RS-23)."""
        groups: dict[tuple[Term | None, ...], list[Scope]] = {} if select.group_by else {(): []}
        for member in map(self.scope, members):
            key = tuple(term(value(each.expression, member)) for each in select.group_by)
            groups.setdefault(key, []).append(member)
        names = [
            key.name or (key.expression.name if isinstance(key.expression, Var) else "") for key in select.group_by
        ]
        found = []
        for key, gained in groups.items():
            mapping = {name: part for name, part in zip(names, key, strict=True) if name and part is not None}
            scope = Scope(self.given | mapping, self.snapshot.now, self.exists, tuple(gained))
            found.append((Solution(frozenset(mapping.items())), scope))
        return found

    def row(self, select: Select, solution: Solution, scope: Scope) -> Row:
        """Its columns, and what ORDER BY judges it by."""
        columns = select.columns if select.columns is not None else map(Column, shown(select, self.snapshot.events))
        seen, names = dict(scope.mapping), []
        for column in columns:
            names.append(column.name)
            if column.expression is not None:
                found = term(value(column.expression, replace(scope, mapping=dict(seen))))
                if found is not None:
                    seen[column.name] = found
        scope = replace(scope, mapping=seen)
        keys = tuple(order(term(value(each.expression, scope))) for each in select.order_by)
        mapping = only(frozenset(seen.items()), frozenset(names))
        return Row(replace(solution, mapping=mapping), keys, tuple(rank(seen.get(name)) for name in names))


@dataclass(frozen=True)
class Row:
    """A projected solution, the ranks that ORDER BY compares, and those of its columns."""

    solution: Solution
    keys: tuple[Rank, ...]
    ties: tuple[Rank, ...]


NO_PREDICATE = Iri("no:predicate")
"""What a substituted predicate is that is not an IRI: no triple has it."""


def minus(left: Bag, right: Bag) -> Bag:
    def removes(a: Mu, b: Mu) -> bool:
        shared = {name for name, _ in a} & {name for name, _ in b}
        return bool(shared) and compatible(a, b)

    return [a for a in left if not any(removes(a.mapping, b.mapping) for b in right)]


def joined(left: list[Mu], right: list[Mu]) -> list[Mu]:
    return [a | b for a, b in product(left, right) if compatible(a, b)]


def instances(slots: tuple[Slot | Path, ...], found: Iterable[tuple[Term, ...]]) -> list[Mu]:
    """For each of them, the μ with μ(slots) = terms, if there is one."""
    every = (_instance(slots, terms) for terms in sorted(found, key=repr))
    return [mapping for mapping in every if mapping is not None]


def _instance(slots: tuple[Slot | Path, ...], terms: tuple[Term, ...]) -> Mu | None:
    pairs = {(slot.name, found) for slot, found in zip(slots, terms, strict=True) if isinstance(slot, Var)}
    constants = all(slot == found for slot, found in zip(slots, terms, strict=True) if not isinstance(slot, Var))
    is_function = len({name for name, _ in pairs}) == len(pairs)
    return frozenset(pairs) if constants and is_function else None
