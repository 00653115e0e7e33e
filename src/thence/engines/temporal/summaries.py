"""SELECT with groups, aggregates, ORDER BY, OFFSET and LIMIT: the rows of an instant, once it is closed (EP-58 to
EP-62)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any

import numpy as np

from thence.algebra.expressions import Aggregate, AggregateFunction, Expression, Variable
from thence.algebra.patterns import Pattern, Projection
from thence.algebra.variables import mentioned
from thence.columns.arrays import Ids, Ints
from thence.columns.dictionary import UNBOUND
from thence.engines.temporal.conditions import TIMES, Origin, PatternSolver, Scope
from thence.engines.temporal.program import END_TIME, Node, Summarise, group_life, key_name, no_rows
from thence.interface.saved_arrays import require, saved_term
from thence.match.context import Context, Solution
from thence.match.expression_evaluator import attempt, passes
from thence.match.group_columns import can_group
from thence.match.modifiers import AggregateVariables, Key, extend, member_value
from thence.rdf.terms import Literal
from thence.rdf.times import parse_time
from thence.rdf.values import order_key, total_key
from thence.relation.accumulators import Accumulator, sparql_accumulator
from thence.relation.group_accumulators import GroupAccumulator, group_numbers
from thence.relation.interval_table import NO_END, NO_START, UNBOUNDED, IntervalTable, concatenated
from thence.relation.solution_store import SolutionStore

_MANY = 16
"""Solutions of an instant that are aggregated all at once; fewer, one by one, take less time."""

_FEW_GROUPS = 64
"""So few stay, though they gain nothing more."""


@dataclass(slots=True)
class Group:
    """The aggregates of a group so far, and the earliest start of its members."""

    aggregates: list[Accumulator]
    start: int = NO_START

    def values(self, variables: Sequence[Variable]) -> Solution:
        """The values of the aggregates, by the variables that stand for them."""
        found = zip(variables, (each.value() for each in self.aggregates), strict=True)
        return {name: term for name, term in found if term is not None}


@dataclass(frozen=True, slots=True)
class _Entry:
    """A row before it is projected; `row` is that of the input, without groups, and `refs` are its events."""

    start: int
    solution: Solution
    row: int = -1
    refs: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class LiftedSelect:
    """A SELECT with groups, whose expressions have variables for their aggregates (18.2.4.1)."""

    aggregates: tuple[Aggregate, ...]
    variables: tuple[Variable, ...]
    columns: tuple[tuple[Variable, Expression], ...]
    having: tuple[Expression, ...]
    order: tuple[Expression, ...]

    @classmethod
    def of(cls, node: Summarise) -> LiftedSelect:
        select, modifiers = node.select, node.select.modifiers
        named = {name for key in modifiers.group or () if (name := key_name(key)) is not None}
        computed = {each.variable for each in select.columns or () if each.expression is not None}
        lifted = AggregateVariables({*named, *computed, *TIMES})
        columns = tuple(_lifted(each, lifted) for each in select.columns or ()) if node.aggregates else ()
        having = tuple(lifted.lift(condition) for condition in modifiers.having) if node.aggregates else ()
        order = tuple(lifted.lift(key.expression) for key in modifiers.order) if node.aggregates else ()
        return cls(tuple(lifted.variables), tuple(lifted.variables.values()), columns, having, order)


@dataclass(slots=True)
class SummaryState:
    """Solutions of open instants wait; where there are groups, all others are in their aggregates. A group leaves once
    it can gain nothing more: it lives for `life` after its start."""

    node: Summarise
    below: Node
    waiting: IntervalTable
    lifted: LiftedSelect
    life: int = UNBOUNDED
    groups: dict[Key, Group] = field(default_factory=dict)
    kept: int = 0  # how many groups there were, when some left

    @classmethod
    def of(cls, node: Summarise, nodes: Sequence[Node]) -> SummaryState:
        below = nodes[node.input]
        return cls(node, below, no_rows(below), LiftedSelect.of(node), group_life(nodes, node).longest)

    def step(self, deltas: Sequence[IntervalTable], closed: int, scope: Scope, solver: PatternSolver) -> IntervalTable:
        waiting = concatenated([self.waiting, deltas[0]])
        leaving = waiting.end < closed
        self.waiting = waiting.take(~leaving)
        rows = waiting.take(leaving)
        rows = rows.take(np.argsort(rows.end, kind="stable"))
        times, firsts = np.unique(rows.end, return_index=True)
        parts = [no_rows(self.node)]
        for time, (low, high) in zip(times.tolist(), pairwise([*firsts.tolist(), len(rows)]), strict=True):
            parts.append(self._instant(rows.take(slice(low, high)), time, scope, solver))
            if not self.life:
                self.groups.clear()
        return concatenated(parts)

    # Saved between two steps

    def saved_groups(self) -> list[Any]:
        return [
            [[None if term is None else str(term) for term in key], group.start, [a.saved() for a in group.aggregates]]
            for key, group in self.groups.items()
        ]

    def restore_groups(self, found: object) -> None:
        """The groups of a snapshot. InputError if it cannot be one."""
        require(isinstance(found, list), "the groups are malformed")
        assert isinstance(found, list)
        for each in found:
            require(isinstance(each, list) and len(each) == 3, "a group is malformed")
            texts, start, aggregates = each
            require(
                isinstance(texts, list) and type(start) is int and isinstance(aggregates, list), "a group is malformed"
            )
            require(-(2**63) <= start < 2**63, "the start of a group is out of range")
            group = self._new_group()
            require(len(aggregates) == len(group.aggregates), "the aggregates of a group belong to another query")
            group.start = start
            try:
                for own, saved in zip(group.aggregates, aggregates, strict=True):
                    own.restore(saved)
            except (ValueError, TypeError, KeyError, IndexError, AttributeError, OverflowError):
                require(False, "an aggregate is malformed")
            self.groups[tuple(None if text is None else saved_term(text) for text in texts)] = group

    def _new_group(self) -> Group:
        return Group(list(map(sparql_accumulator, self.lifted.aggregates)))

    def _instant(self, rows: IntervalTable, time: int, scope: Scope, solver: PatternSolver) -> IntervalTable:
        context = _context(self.node, scope, solver)
        select = self.node.select
        if self.node.aggregates:
            entries = self._grouped(rows, time, context, scope)
        else:
            solutions = self._solutions(rows, scope)
            starts = rows.start.tolist()
            columns = [(c.variable, c.expression) for c in select.columns or () if c.expression is not None]
            extended = extend(solutions, columns, context)
            entries = [
                _Entry(start, solution, row, tuple(rows.refs[:, row].tolist()))
                for row, (start, solution) in enumerate(zip(starts, extended, strict=True))
            ]
        entries = self._ordered(entries, context)
        if select.distinct:
            entries = self._distinct(entries)
        first = select.modifiers.offset or 0
        last = None if select.modifiers.limit is None else first + select.modifiers.limit
        return self._table(entries[first:last], rows, time, scope)

    def _grouped(self, rows: IntervalTable, time: int, context: Context, scope: Scope) -> list[_Entry]:
        """A row for each group that gains solutions at this time, over all of its solutions so far (EP-58)."""
        gaining = self._gain(rows, context, scope)
        keys = self.node.select.modifiers.group or ()
        entries = []
        for key in gaining:
            group = self.groups[key]
            solution = {
                name: term
                for each, term in zip(keys, key, strict=True)
                if (name := key_name(each)) is not None and term is not None
            }
            solution |= group.values(self.lifted.variables)
            if time != NO_END:
                numbers = np.array([group.start]), np.array([time])
                solution |= {name: scope.time(name, int(of(*numbers)[0])) for name, of in TIMES.items()}
            if all(passes(condition, solution, context) for condition in self.lifted.having):
                (solution,) = extend([solution], self.lifted.columns, context)
                ordered = {
                    _order(place): attempt(each, solution, context) for place, each in enumerate(self.lifted.order)
                }
                solution |= {name: term for name, term in ordered.items() if term is not None}
                entries.append(_Entry(group.start, solution))
        return entries

    def _gain(self, rows: IntervalTable, context: Context, scope: Scope) -> list[Key]:
        """Add the solutions of an instant to their groups: the keys of those that gain."""
        keys = self.node.select.modifiers.group or ()
        if len(rows) >= _MANY and can_group(keys, self.lifted.aggregates):
            return self._gain_columns(rows, scope)
        gaining: dict[Key, None] = {}
        order = self._by_start(rows, scope)
        for solution, start in zip(self._solutions(rows.take(order), scope), rows.start[order].tolist(), strict=True):
            key = tuple(attempt(each.expression, solution, context) for each in keys)
            group = self._group(key)
            for function, each in zip(self.lifted.aggregates, group.aggregates, strict=True):
                each.add(member_value(function, solution, context))
            group.start = min(group.start, start)
            gaining[key] = None
        return list(gaining)

    def _gain_columns(self, rows: IntervalTable, scope: Scope) -> list[Key]:
        """The same, all solutions at once."""
        terms = scope.terms
        if any(each.function is AggregateFunction.SAMPLE for each in self.lifted.aggregates):  # it takes the first
            rows = rows.take(self._by_start(rows, scope))

        def ids(expression: Expression) -> Ids:
            return scope.ids(expression, self.below.variables, rows, {}, Origin(-1, len(rows.ids)))

        keys = [ids(each.expression) for each in self.node.select.modifiers.group or ()]
        numbers, firsts = group_numbers(keys, len(rows))
        group_keys: list[Key] = [
            tuple(None if ids[first] == UNBOUND else terms[int(ids[first])] for ids in keys)
            for first in firsts.tolist()
        ]
        groups = [self._group(key) for key in group_keys]
        for place, each in enumerate(self.lifted.aggregates):
            column = np.zeros(len(rows), np.int32) if each.operand is None else ids(each.operand)
            gained = GroupAccumulator.of(each, subtracts=False, groups=len(groups))
            gained.update(numbers, column, np.ones(len(rows), np.int64), terms)
            gained.add_to([group.aggregates[place] for group in groups], terms)
        starts = np.full(len(groups), NO_START, np.int64)
        np.minimum.at(starts, numbers, rows.start)
        for group, start in zip(groups, starts.tolist(), strict=True):
            group.start = min(group.start, start)
        return group_keys

    def _group(self, key: Key) -> Group:
        if key not in self.groups:
            self.groups[key] = self._new_group()
        return self.groups[key]

    def _by_start(self, rows: IntervalTable, scope: Scope) -> Ints:
        """Members of one time by start, then by terms: which one SAMPLE takes must not depend on how they arrive."""
        distinct, places = np.unique(rows.ids, return_inverse=True)
        keys = [total_key(None if each == UNBOUND else scope.terms[each]) for each in distinct.tolist()]
        ranks = np.empty(len(distinct), np.int64)
        ranks[sorted(range(len(distinct)), key=keys.__getitem__)] = np.arange(len(distinct))
        order: Ints = np.lexsort((*ranks[places.reshape(rows.ids.shape)][::-1], rows.start))
        return order

    def _solutions(self, rows: IntervalTable, scope: Scope) -> list[Solution]:
        """Rows as mappings, with the time functions that the SELECT uses."""
        named = [
            (name, rows.ids[place].tolist())
            for place, name in enumerate(self.below.variables)
            if not name.name.startswith("_:")
        ]
        asked = _times_asked(self.node)
        named += [(name, scope.times(name, rows.start, rows.end).tolist()) for name in TIMES if name in asked]
        terms = scope.terms
        return [{name: terms[ids[row]] for name, ids in named if ids[row] != UNBOUND} for row in range(len(rows))]

    def _ordered(self, entries: list[_Entry], context: Context) -> list[_Entry]:
        """ORDER BY among rows of one time; ties go by start, then by terms (EP-62)."""
        names = self.node.variables
        entries = sorted(
            entries,
            key=lambda entry: (entry.start, [total_key(entry.solution.get(name)) for name in names], entry.refs),
        )
        for place, condition in reversed(list(enumerate(self.node.select.modifiers.order))):
            asked: Expression = _order(place) if self.node.aggregates else condition.expression
            keys = [order_key(attempt(asked, entry.solution, context)) for entry in entries]
            places = sorted(range(len(entries)), key=keys.__getitem__, reverse=condition.descending)
            entries = [entries[each] for each in places]
        return entries

    def _distinct(self, entries: list[_Entry]) -> list[_Entry]:
        """Equal values and interval once (EP-5)."""
        first: dict[object, _Entry] = {}
        for entry in entries:
            first.setdefault((entry.start, *map(entry.solution.get, self.node.variables)), entry)
        return list(first.values())

    def _table(self, entries: list[_Entry], rows: IntervalTable, time: int, scope: Scope) -> IntervalTable:
        ids = np.empty((len(self.node.variables), len(entries)), np.int32)
        for place, name in enumerate(self.node.variables):
            ids[place] = scope.terms.add_all(entry.solution.get(name) for entry in entries)
        start = np.array([entry.start for entry in entries], np.int64)
        taken = np.array([entry.row for entry in entries], np.int64)
        refs = rows.refs[:, taken] if self.node.places else np.empty((0, len(entries)), np.int64)
        return IntervalTable(start, np.full(len(entries), time, np.int64), ids, refs)

    def evict(self, closed: int) -> None:
        """Drop groups that started too long ago. Groups of timeless solutions have a late start."""
        if self.life < UNBOUNDED and len(self.groups) > 2 * self.kept + _FEW_GROUPS:
            least = closed - self.life
            self.groups = {key: group for key, group in self.groups.items() if group.start >= least}
            self.kept = len(self.groups)

    @property
    def stores(self) -> Iterator[SolutionStore]:
        yield from ()


def _context(node: Summarise, scope: Scope, solver: PatternSolver) -> Context:
    """A context whose EXISTS sees only solutions that end no later than the one under test (EP-27)."""
    patterns: Mapping[Pattern, int] = {exists.pattern: number for exists, number in node.exists}

    def exists(pattern: Pattern, solution: Solution, context: Context) -> bool:
        ends = solution.get(END_TIME)
        until = parse_time(ends).time if isinstance(ends, Literal) else NO_END
        own = {name: scope.terms.add(term) for name, term in solution.items() if name not in TIMES}
        return solver.has_solution(patterns[pattern], {**scope.outer, **own}, until)

    outer = {name: scope.terms[number] for name, number in scope.outer.items()}
    return replace(scope.context, exists=exists, outer=outer)


def _times_asked(node: Summarise) -> frozenset[Variable]:
    select, modifiers = node.select, node.select.modifiers
    expressions = [each.expression for each in select.columns or () if each.expression is not None]
    expressions += [*modifiers.having, *(key.expression for key in modifiers.order)]
    expressions += [key.expression for key in modifiers.group or ()]
    asked = frozenset().union(*map(mentioned, expressions))
    return asked | {END_TIME} if node.exists else asked


def _lifted(column: Projection, aggregated: AggregateVariables) -> tuple[Variable, Expression]:
    return column.variable, aggregated.lift(column.expression or column.variable)


def _order(place: int) -> Variable:
    """Stands for the value of a key of ORDER BY: no query can write such a name."""
    return Variable(f"ORDER BY {place}")
