"""EP-SPARQL's groups by section 4.2 of the paper and EP-1 to EP-41: every list of solutions is written out in full.

A list has each solution once, because a solution carries what it is: the occurrence that fills each triple pattern, and
the arms and rows that it took (EP-4).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import product
from math import inf
from typing import TypeAlias, assert_never

from oracle.ep_sparql_data import Data, Occurrence, Source
from oracle.ep_sparql_expressions import Rank, Scope, Time, holds, order, rank, term, value
from oracle.ep_sparql_paths import Pair, repeated
from oracle.ep_sparql_query import (
    Bind,
    Chain,
    Column,
    Either,
    Element,
    Expression,
    Filter,
    Group,
    InGraph,
    Inverse,
    Minus,
    Operator,
    Optional,
    Path,
    Pattern,
    Repeat,
    Select,
    Slot,
    Steps,
    SubSelect,
    Triples,
    Values,
    shown,
)
from oracle.graphs import EMPTY, Mapping, compatible, only
from oracle.terms import Blank, Iri, Term, Triple, Var

Place: TypeAlias = tuple[int, ...]
"""Where something stands in the statement. Places are in the order of the text."""


@dataclass(frozen=True)
class Visit:
    """What fills a repeated path: a pair, and the event that it belongs to (EP-63)."""

    pair: Pair
    source: Source | None


@dataclass(frozen=True)
class Merged:
    """A row that passed DISTINCT or an aggregate (EP-6)."""

    key: tuple[Term | None, ...]
    mapping: Mapping
    start: Time
    end: Time


Mark: TypeAlias = tuple[Place, Occurrence | Visit | Merged | int]
"""A place, and what fills it: also the arm of a UNION that was taken, or the row of VALUES."""


@dataclass(frozen=True)
class Solution:
    """⟨μ, tα, tω⟩, and what fills its places, in the order of the text. The marks are its identity (EP-4)."""

    mapping: Mapping = EMPTY
    start: Time = inf
    end: Time = -inf
    marks: tuple[Mark, ...] = ()

    @property
    def timeless(self) -> bool:
        return self.end == -inf


UNIT = Solution()
"""The empty group's only solution: timeless (EP-35)."""

Given: TypeAlias = dict[str, Term]
"""What EXISTS substitutes."""

Solutions: TypeAlias = list[Solution]


def combination(left: Solution, right: Solution) -> Solution:
    """⟨μ, tα, tω⟩ ⋈ ⟨μ', t'α, t'ω⟩ (EP-17)."""
    return Solution(
        left.mapping | right.mapping,
        min(left.start, right.start),
        max(left.end, right.end),
        left.marks + right.marks,
    )


Condition: TypeAlias = Callable[[Solution, Solution], bool]
"""On the times of the left and the right solution, as they stand in the text."""


def always(left: Solution, right: Solution) -> bool:
    return True


def before(left: Solution, right: Solution) -> bool:
    """tω < t'α (EP-18)."""
    return left.end < right.start


def simultaneous(left: Solution, right: Solution) -> bool:
    """tα = t'α and tω = t'ω (EP-19)."""
    return left.start == right.start and left.end == right.end


def ended(left: Solution, right: Solution) -> bool:
    """t'ω ≤ tω: the right solution ends no later than the left one (EP-24, EP-26)."""
    return right.end <= left.end


def before_and_ended(left: Solution, right: Solution) -> bool:
    """OPTIONALSEQ, whose mandatory side is the right one. Where that is timeless, `≤` is not implied (EP-25)."""
    return before(left, right) and ended(right, left)


def join(left: Solutions, right: Solutions, condition: Condition = always) -> Solutions:
    """Join, SeqJoin and EqJoin."""
    return [combination(a, b) for a, b in product(left, right) if condition(a, b) and compatible(a.mapping, b.mapping)]


class Evaluation:
    """The evaluation of one statement on some data. `given` is what an enclosing EXISTS substitutes."""

    def __init__(self, data: Data, given: Given | None = None) -> None:
        self.data = data
        self.given: Given = given or {}

    # Groups

    def group(self, group: Group, place: Place = ()) -> Solutions:
        """A group's solutions; its filters are judged on the finished group (EP-29)."""
        return self.filtered(group.filters, self.unfiltered(group, place))

    def unfiltered(self, group: Group, place: Place) -> Solutions:
        """A group's solutions without the filters that stand directly in it."""
        found = [UNIT]
        for number, element in enumerate(group.elements):
            found = self.element(found, element, (*place, number))
        return found

    def filtered(self, filters: Iterable[Expression], solutions: Solutions) -> Solutions:
        """Filter(F, Ψ)."""
        return [solution for solution in solutions if self.passes(filters, solution)]

    def passes(self, filters: Iterable[Expression], solution: Solution) -> bool:
        return all(holds(expression, self.scope(solution)) for expression in filters)

    def element(self, so_far: Solutions, element: Element, place: Place) -> Solutions:
        """The solutions so far with one more element. OPTIONAL, MINUS and BIND act on all that precedes (EP-10)."""
        match element:
            case Filter():
                return so_far
            case Optional(group):
                return self.left_join(so_far, self.unfiltered(group, place), group.filters, ended)
            case Minus(group):
                return self.minus(so_far, self.group(group, place))
            case Bind(expression, name):
                return [self.extended(solution, name, expression) for solution in so_far]
            case Triples(patterns):
                return join(so_far, self.triples(patterns, place))
            case Group():
                return join(so_far, self.group(element, place))
            case Chain():
                return join(so_far, self.chain(element, place))
            case Values():
                return join(so_far, self.values(element, place))
            case InGraph(iri, group):
                return join(so_far, Evaluation(self.data.graph(iri), self.given).group(group, place))
            case SubSelect(select):
                return join(so_far, self.sub_select(select, place))
            case _:
                assert_never(element)

    def left_join(
        self, mandatory: Solutions, optional: Solutions, filters: Iterable[Expression], condition: Condition
    ) -> Solutions:
        """LeftJoin and EqLeftJoin: a mandatory solution stays bare if no combination passes the condition and F."""
        found = []
        for solution in mandatory:
            pairs = self.filtered(filters, join([solution], optional, condition))
            found += pairs or [solution]
        return found

    def right_join(self, optional: Solutions, mandatory: Solutions, filters: Iterable[Expression]) -> Solutions:
        """SeqRightJoin: the optional part is the left one (EP-20)."""
        found = []
        for solution in mandatory:
            pairs = self.filtered(filters, join(optional, [solution], before_and_ended))
            found += pairs or [solution]
        return found

    def minus(self, left: Solutions, right: Solutions) -> Solutions:
        """SPARQL's MINUS; it sees only what ends no later (EP-26)."""

        def removes(a: Solution, b: Solution) -> bool:
            shared = {name for name, _ in a.mapping} & {name for name, _ in b.mapping}
            return ended(a, b) and bool(shared) and compatible(a.mapping, b.mapping)

        return [a for a in left if not any(removes(a, b) for b in right)]

    def extended(self, solution: Solution, name: str, expression: Expression) -> Solution:
        """BIND. Time functions and EXISTS read the solution so far (EP-27, EP-29). An error leaves it unbound."""
        found = term(value(expression, self.scope(solution)))
        return solution if found is None else replace(solution, mapping=solution.mapping | {(name, found)})

    def values(self, values: Values, place: Place) -> Solutions:
        """VALUES is timeless (EP-35)."""
        rows = [
            {(name, found) for name, found in zip(values.names, row, strict=True) if found is not None}
            for row in values.rows
        ]
        return [
            Solution(frozenset(row), marks=((place, number),))
            for number, row in enumerate(rows)
            if all(self.given.get(name, found) == found for name, found in row)
        ]

    def chain(self, chain: Chain, place: Place) -> Solutions:
        """Operators from the left to the right (EP-7)."""
        operator, second = chain.rest[0]
        if operator is Operator.OPTIONALSEQ:  # the first group's own filters are F; a longer chain has none (EP-22)
            optional = self.unfiltered(chain.first, (*place, 0))
            found = self.right_join(optional, self.group(second, (*place, 1)), chain.first.filters)
        else:
            found = self.operation(operator, self.group(chain.first, (*place, 0)), second, (*place, 1))
        for number, (operator, right) in enumerate(chain.rest[1:], start=2):
            found = self.operation(operator, found, right, (*place, number))
        return found

    def operation(self, operator: Operator, left: Solutions, right: Group, place: Place) -> Solutions:
        match operator:
            case Operator.SEQ:
                return join(left, self.group(right, place), before)
            case Operator.EQUALS:
                return join(left, self.group(right, place), simultaneous)
            case Operator.OPTIONALSEQ:
                return self.right_join(left, self.group(right, place), ())
            case Operator.EQUALSOPTIONAL:
                return self.left_join(left, self.unfiltered(right, place), right.filters, simultaneous)
            case Operator.UNION:
                arms = (left, self.group(right, place))
                return [
                    replace(solution, marks=((place, number), *solution.marks))
                    for number, arm in enumerate(arms)
                    for solution in arm
                ]
            case _:
                assert_never(operator)

    # Triple patterns

    def triples(self, patterns: Iterable[Pattern], place: Place) -> Solutions:
        """BGP(P): the triples may come from different events (EP-1)."""
        found = [UNIT]
        for number, pattern in enumerate(patterns):
            found = join(found, self.pattern(self.substituted(pattern), (*place, number)))
        return [visible(solution) for solution in found]

    def substituted(self, pattern: Pattern) -> Pattern:
        """The pattern with labels of blank nodes as variables, and with what an EXISTS substitutes."""

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

    def pattern(self, pattern: Pattern, place: Place) -> Solutions:
        """A triple pattern, or a path as SPARQL 1.1 translates it (18.2.2.4)."""
        s, o = pattern.subject, pattern.object
        match pattern.predicate:
            case Var() | Iri() as p:
                return self.occurrences((s, p, o), place)
            case Inverse(path):
                return self.pattern(Pattern(o, path, s), place)
            case Steps(left, right):
                between = Var("/" + str(place))
                halves = [Pattern(s, left, between), Pattern(between, right, o)]
                first, second = (self.pattern(half, (*place, number)) for number, half in enumerate(halves))
                return [without_name(solution, between.name) for solution in join(first, second)]
            case Either(left, right):
                arms = [self.pattern(Pattern(s, path, o), (*place, arm)) for arm, path in enumerate((left, right))]
                return [solution for arm in arms for solution in arm]
            case Repeat() as path:
                return self.visits(s, path, o, place)
            case _:
                assert_never(pattern.predicate)

    def occurrences(self, slots: tuple[Slot, Slot | Path, Slot], place: Place) -> Solutions:
        return [
            Solution(mapping, occurrence.start, occurrence.end, ((place, occurrence),))
            for occurrence in self.data.occurrences
            if (mapping := instance(slots, occurrence.triple)) is not None
        ]

    def visits(self, s: Slot, path: Repeat, o: Slot, place: Place) -> Solutions:
        written = frozenset(slot for slot in (s, o) if not isinstance(slot, Var))
        found = []
        for pair, source in repeated(self.data, path, written):
            mapping = instance((s, o), pair)
            if mapping is not None:
                start, end = (inf, -inf) if source is None else (source.start, source.end)
                found.append(Solution(mapping, start, end, ((place, Visit(pair, source)),)))
        return found

    # EXISTS

    def scope(self, solution: Solution) -> Scope:
        return Scope(self.given | dict(solution.mapping), solution.start, solution.end, self.exists)

    def exists(self, group: Group, scope: Scope) -> bool:
        """Some solution of the substituted group ends no later than the solution under test (EP-26, EP-27)."""
        found = Evaluation(self.data, self.given | dict(scope.mapping)).group(group)
        return any(solution.end <= scope.end for solution in found)

    # SELECT

    def sub_select(self, select: Select, place: Place) -> Solutions:
        """Its rows, each with its own interval (EP-28). What it does not show is its own."""
        names = shown(select)
        inner = Evaluation(self.data, {name: found for name, found in self.given.items() if name in names})
        return inner.select(select, place)

    def select(self, select: Select, place: Place = ()) -> Solutions:
        """The rows of a SELECT. Rows of equal end are in their order (EP-62)."""
        members = self.group(select.where, place)
        rows = self.grouped(select, members, place) if select.aggregated else [(m, self.scope(m)) for m in members]
        made = [self.row(select, solution, scope) for solution, scope in rows if passes(select, scope)]
        found: Solutions = []
        for end in sorted({row.solution.end for row in made}):
            found += sliced(select, [row for row in made if row.solution.end == end], place)
        return found

    def grouped(self, select: Select, members: Solutions, place: Place) -> list[tuple[Solution, Scope]]:
        """At each t where a group gains a solution, one row over its solutions up to t: [min tα, t] (EP-58, EP-59)."""
        groups: dict[tuple[Term | None, ...], Solutions] = {}
        for member in members:
            key = tuple(term(value(each.expression, self.scope(member))) for each in select.group_by)
            groups.setdefault(key, []).append(member)
        found = []
        for key, gained in groups.items():
            names = [each.name or (each.expression.name if isinstance(each.expression, Var) else None)
                     for each in select.group_by]  # fmt: skip
            mapping = {name: part for name, part in zip(names, key, strict=True) if name and part is not None}
            for end in sorted({member.end for member in gained}):
                so_far = [member for member in gained if member.end <= end]
                start = min(member.start for member in so_far)
                scope = Scope(self.given | mapping, start, end, self.exists, tuple(map(self.scope, so_far)))
                merged = Merged(key, frozenset(mapping.items()), start, end)
                found.append((Solution(merged.mapping, start, end, ((place, merged),)), scope))
        return found

    def row(self, select: Select, solution: Solution, scope: Scope) -> Row:
        """Its columns, with the whole row's interval (EP-29), and what ORDER BY judges it by."""
        columns = select.columns or tuple(map(Column, shown(select)))
        seen = dict(scope.mapping)
        for column in columns:
            if column.expression is not None:
                found = term(value(column.expression, replace(scope, mapping=seen)))
                if found is not None:
                    seen[column.name] = found
        names = [column.name for column in columns]
        scope = replace(scope, mapping=seen)
        keys = tuple(order(term(value(each.expression, scope))) for each in select.order_by)
        mapping = frozenset((name, seen[name]) for name in names if name in seen)
        return Row(replace(solution, mapping=mapping), keys, tuple(rank(seen.get(name)) for name in names))


NO_PREDICATE = Iri("no:predicate")
"""What a substituted predicate is that is not an IRI: no triple has it."""


@dataclass(frozen=True)
class Row:
    """A projected solution, with the ranks that ORDER BY compares and those of its columns."""

    solution: Solution
    keys: tuple[Rank, ...]
    terms: tuple[Rank, ...]


def passes(select: Select, scope: Scope) -> bool:
    return all(holds(expression, scope) for expression in select.having)


def sliced(select: Select, rows: list[Row], place: Place) -> Solutions:
    """ORDER BY, DISTINCT, OFFSET and LIMIT among rows of one end; ties by start, then by terms (EP-5, EP-62)."""
    rows = sorted(rows, key=lambda row: (row.solution.start, row.terms))
    for number, each in reversed(list(enumerate(select.order_by))):
        rows.sort(key=lambda row: row.keys[number], reverse=each.descending)
    found = [row.solution for row in rows]
    if select.distinct:
        found = list(dict.fromkeys(merged(solution, place) for solution in found))
    return found[select.offset :][: select.limit]


def merged(solution: Solution, place: Place) -> Solution:
    row = Merged((), solution.mapping, solution.start, solution.end)
    return replace(solution, marks=((place, row),))


def instance(slots: tuple[Slot | Path, ...], terms: Triple | Pair) -> Mapping | None:
    """The μ with μ(slots) = terms."""
    pairs = {(slot.name, found) for slot, found in zip(slots, terms, strict=True) if isinstance(slot, Var)}
    constants = all(slot == found for slot, found in zip(slots, terms, strict=True) if not isinstance(slot, Var))
    is_function = len({name for name, _ in pairs}) == len(pairs)
    return frozenset(pairs) if constants and is_function else None


def visible(solution: Solution) -> Solution:
    """Without the labels of blank nodes, which only their BGP sees."""
    names = frozenset(name for name, _ in solution.mapping if not name.startswith("_:"))
    return replace(solution, mapping=only(solution.mapping, names))


def without_name(solution: Solution, hidden: str) -> Solution:
    return replace(solution, mapping=frozenset((name, found) for name, found in solution.mapping if name != hidden))
