"""SELECT with groups, ORDER BY, OFFSET and LIMIT: the rows of an instant, once it is closed (EP-58 – EP-62)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from thence.algebra.expressions import Exists, Expression, Variable
from thence.algebra.patterns import GroupKey, Pattern, Projection
from thence.algebra.variables import mentioned
from thence.columns.dictionary import UNBOUND
from thence.kernel.temporal.conditions import TIMES, Scope
from thence.kernel.temporal.exists import PatternSolver
from thence.kernel.temporal.interval_table import NO_END, NO_START, IntervalTable, Ints, concatenated, no_rows
from thence.kernel.temporal.solution_store import SolutionStore
from thence.match.aggregates import AggregateVariables, Key
from thence.match.context import Context, Solution
from thence.match.expression_evaluator import attempt, passes
from thence.match.modifiers import extend
from thence.program.temporal.network import END_TIME, Node, Summarise
from thence.rdf.comparison import order_key, tie_key
from thence.rdf.terms import Literal
from thence.rdf.times import parse_time


@dataclass(slots=True)
class Group:
    """The members of a group so far, and the earliest start."""

    members: list[Solution] = field(default_factory=list)
    start: int = NO_START


@dataclass(frozen=True, slots=True)
class _Entry:
    """A row before it is projected; `row` is that of the input, without groups, and `refs` are its events."""

    start: int
    solution: Solution
    row: int = -1
    refs: tuple[int, ...] = ()


@dataclass(slots=True)
class SummaryState:
    """Solutions of open instants wait; `members` are all others, where there are groups."""

    node: Summarise
    below: Node
    waiting: IntervalTable
    members: IntervalTable
    groups: dict[Key, Group] = field(default_factory=dict)

    @classmethod
    def of(cls, node: Summarise, below: Node) -> SummaryState:
        return cls(node, below, no_rows(below), no_rows(below))

    def step(self, deltas: Sequence[IntervalTable], closed: int, scope: Scope, solver: PatternSolver) -> IntervalTable:
        waiting = concatenated([self.waiting, deltas[0]])
        leaving = waiting.end < closed
        self.waiting = waiting.take(~leaving)
        found = waiting.take(leaving)
        parts = [no_rows(self.node)]
        for time in np.unique(found.end).tolist():
            parts.append(self._instant(found.take(found.end == time), time, scope, solver))
        return concatenated(parts)

    def regroup(self, scope: Scope, solver: PatternSolver) -> None:
        """Rebuild the groups from their members, after a restore."""
        if self.node.aggregates:
            members, self.members = self.members, no_rows(self.below)
            for time in np.unique(members.end).tolist():
                self._gain(members.take(members.end == time), _context(self.node, scope, solver), scope)

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
        select, modifiers = self.node.select, self.node.select.modifiers
        gaining = self._gain(rows, context, scope)
        keys = modifiers.group or ()
        named = {name for key in keys if (name := _name(key)) is not None}
        computed = {each.variable for each in select.columns or () if each.expression is not None}
        aggregated = AggregateVariables({*named, *computed, *TIMES})
        columns = [_lifted(each, aggregated) for each in select.columns or ()]
        having = [aggregated.lift(condition) for condition in modifiers.having]
        order = [aggregated.lift(key.expression) for key in modifiers.order]
        entries = []
        for key in gaining:
            group = self.groups[key]
            solution = {
                name: term
                for each, term in zip(keys, key, strict=True)
                if (name := _name(each)) is not None and term is not None
            }
            solution |= aggregated.solution(group.members, context)
            if time != NO_END:
                numbers = np.array([group.start]), np.array([time])
                solution |= {name: scope.time(name, int(of(*numbers)[0])) for name, of in TIMES.items()}
            if all(passes(condition, solution, context) for condition in having):
                (solution,) = extend([solution], columns, context)
                ordered = {_order(place): attempt(each, solution, context) for place, each in enumerate(order)}
                solution |= {name: term for name, term in ordered.items() if term is not None}
                entries.append(_Entry(group.start, solution))
        return entries

    def _gain(self, rows: IntervalTable, context: Context, scope: Scope) -> list[Key]:
        """Add the solutions of an instant to their groups: the keys of those that gain."""
        keys = self.node.select.modifiers.group or ()
        gaining: dict[Key, None] = {}
        order = self._by_start(rows, scope)
        for solution, start in zip(self._solutions(rows.take(order), scope), rows.start[order].tolist(), strict=True):
            key = tuple(attempt(each.expression, solution, context) for each in keys)
            group = self.groups.setdefault(key, Group())
            group.members.append(solution)
            group.start = min(group.start, start)
            gaining[key] = None
        self.members = concatenated([self.members, rows])
        return list(gaining)

    def _by_start(self, rows: IntervalTable, scope: Scope) -> Ints:
        """Members of one time by start, then by terms: which one SAMPLE takes must not depend on how they arrive."""
        texts = [[tie_key(None if i < 0 else scope.terms[i]) for i in column] for column in rows.ids.T.tolist()]
        starts = rows.start.tolist()
        return np.array(sorted(range(len(rows)), key=lambda row: (starts[row], texts[row])), np.int64)

    def _solutions(self, rows: IntervalTable, scope: Scope) -> list[Solution]:
        """Rows as mappings, with the time functions that the SELECT asks for."""
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
            entries, key=lambda entry: (entry.start, [tie_key(entry.solution.get(name)) for name in names], entry.refs)
        )
        for place, condition in reversed(list(enumerate(self.node.select.modifiers.order))):
            asked: Expression = _order(place) if self.node.aggregates else condition.expression
            keys = [order_key(attempt(asked, entry.solution, context)) for entry in entries]
            places = sorted(range(len(entries)), key=keys.__getitem__, reverse=condition.descending)
            entries = [entries[each] for each in places]
        return entries

    def _distinct(self, entries: list[_Entry]) -> list[_Entry]:
        """Equal values and interval once (EP-5)."""
        found: dict[object, _Entry] = {}
        for entry in entries:
            found.setdefault((entry.start, *map(entry.solution.get, self.node.variables)), entry)
        return list(found.values())

    def _table(self, entries: list[_Entry], rows: IntervalTable, time: int, scope: Scope) -> IntervalTable:
        ids = np.empty((len(self.node.variables), len(entries)), np.int32)
        for place, name in enumerate(self.node.variables):
            ids[place] = scope.terms.add_all(entry.solution.get(name) for entry in entries)
        start = np.array([entry.start for entry in entries], np.int64)
        taken = np.array([entry.row for entry in entries], np.int64)
        refs = rows.refs[:, taken] if self.node.places else np.empty((0, len(entries)), np.int64)
        return IntervalTable(start, np.full(len(entries), time, np.int64), ids, refs)

    def evict(self, closed: int) -> None:
        """Groups keep all members."""

    @property
    def stores(self) -> Iterator[SolutionStore]:
        yield from ()


def _context(node: Summarise, scope: Scope, solver: PatternSolver) -> Context:
    """A context in which EXISTS sees what ends no later than the solution that asks (EP-27)."""
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


def _name(key: GroupKey) -> Variable | None:
    """The variable that a key of GROUP BY binds."""
    if key.variable is not None:
        return key.variable
    return key.expression if isinstance(key.expression, Variable) else None


def _lifted(column: Projection, aggregated: AggregateVariables) -> tuple[Variable, Expression]:
    return column.variable, aggregated.lift(column.expression or column.variable)


def _order(place: int) -> Variable:
    """Stands for the value of a key of ORDER BY: no query can write such a name."""
    return Variable(f"ORDER BY {place}")


__all__ = ["Exists", "Group", "SummaryState"]
