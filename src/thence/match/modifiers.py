"""Makes SELECT's rows from WHERE's solutions: groups, aggregates, HAVING, order and slices (18.2.4, 18.2.5, 18.5.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, replace
from itertools import islice
from typing import Any, TypeAlias

from thence.algebra.expressions import Aggregate, AggregateFunction, Exists, Expression, Variable
from thence.algebra.patterns import GroupKey, Modifiers, OrderKey, Projection, Values
from thence.algebra.variables import has_aggregate
from thence.match.context import Context, Solution
from thence.match.expression_evaluator import attempt, passes
from thence.match.mappings import Partners, merge
from thence.rdf.terms import IRI, Literal, Term
from thence.rdf.values import TRUE, order_key, tie_key
from thence.relation.accumulators import sparql_accumulator

# Grouping and aggregates (11, 18.5.1).

Key: TypeAlias = tuple[Term | None, ...]
"""The values of the GROUP BY expressions; None: an error, or unbound."""


def group(keys: Sequence[GroupKey], solutions: Iterable[Solution], context: Context) -> dict[Key, list[Solution]]:
    """Group(exprlist, Ω): the solutions by the values of the keys, in the order in which the groups appear."""
    groups: dict[Key, list[Solution]] = {}
    for solution in solutions:
        key = tuple(attempt(item.expression, solution, context) for item in keys)
        groups.setdefault(key, []).append(solution)
    return groups


def aggregate(function: Aggregate, members: Iterable[Solution], context: Context) -> Term | None:
    """Aggregation(exprlist, func, scalarvals, Ω) for one group. None: an error."""
    return sparql_accumulator(function).add_all(member_value(function, member, context) for member in members)


def member_value(function: Aggregate, member: Solution, context: Context) -> Term | None:
    """The value of a group's member for an aggregate, or None; COUNT(*) counts the member itself, here as a text."""
    if function.operand is not None:
        return attempt(function.operand, member, context)
    if not function.distinct:
        return TRUE
    return Literal(" ".join(sorted(f"?{name.name} {term}" for name, term in member.items())))


# Aggregates inside expressions (18.2.4.1): each becomes a variable agg_i, which the group then binds


class AggregateVariables:
    """The aggregates met in a query's expressions, each with the variable that stands for it."""

    def __init__(self, named: Iterable[Variable]) -> None:
        self.variables: dict[Aggregate, Variable] = {}
        self._named = frozenset(named)  # the group's own variables: keys, and columns computed from it

    def lift(self, expression: Expression) -> Expression:
        """The expression with variables in place of its aggregates, and SAMPLE(?v) for a ?v of its members."""
        match expression:
            case Aggregate():
                return self._variable(expression)
            case Variable():
                own = expression in self._named
                return expression if own else self._variable(Aggregate(AggregateFunction.SAMPLE, expression))
            case IRI() | Literal() | Exists():
                return expression
            case _:
                changes = {
                    field.name: self._lift_field(getattr(expression, field.name)) for field in fields(expression)
                }
                return replace(expression, **changes)

    def _lift_field(self, found: Any) -> Any:
        if isinstance(found, tuple):
            return tuple(self.lift(item) for item in found)
        return self.lift(found) if isinstance(found, Expression) else found

    def _variable(self, found: Aggregate) -> Variable:
        # no query can write a name with a space in it
        return self.variables.setdefault(found, Variable(f"aggregate {len(self.variables)}"))

    def solution(self, members: Sequence[Solution], context: Context) -> Solution:
        """The values of all aggregates for one group."""
        found = {variable: aggregate(item, members, context) for item, variable in self.variables.items()}
        return {variable: term for variable, term in found.items() if term is not None}


Grouping: TypeAlias = Callable[[Sequence[GroupKey] | None, AggregateVariables, Context], Iterator[Solution]]
"""Groups the solutions of WHERE and computes their aggregates."""


def modified(
    solutions: Iterable[Solution],
    modifiers: Modifiers,
    columns: Sequence[Projection],
    context: Context,
    grouping: Grouping | None = None,
) -> Iterator[Solution]:
    """The solution sequence before projection: each step of 18.2.4 and 18.2.5 in the order of the standard.
    `grouping` groups what it knows itself, in place of the solutions."""
    having, order = modifiers.having, modifiers.order
    if modifiers.group is not None or any(map(has_aggregate, _expressions(columns, modifiers))):
        named = {column.variable for column in columns if column.expression is not None}
        aggregated = AggregateVariables({*_names(modifiers.group or ()), *named})
        columns = [_lifted(column, aggregated) for column in columns]
        having = tuple(aggregated.lift(condition) for condition in having)
        order = tuple(replace(key, expression=aggregated.lift(key.expression)) for key in order)
        if grouping is not None:
            solutions = grouping(modifiers.group, aggregated, context)
        else:
            solutions = _grouped(solutions, modifiers.group, aggregated, context)
    for condition in having:
        solutions = _filtered(solutions, condition, context)
    if modifiers.values is not None:
        solutions = _joined(solutions, modifiers.values)
    computed = [(column.variable, column.expression) for column in columns if column.expression is not None]
    extended = extend(solutions, computed, context) if computed else iter(solutions)
    return iter(ordered(extended, order, [c.variable for c in columns], context)) if order else extended


def aggregates_of(modifiers: Modifiers, columns: Sequence[Projection]) -> list[Aggregate] | None:
    """The aggregates of a SELECT, SAMPLEs that stand for plain variables included; None: it does not group."""
    if modifiers.group is None and not any(map(has_aggregate, _expressions(columns, modifiers))):
        return None
    named = {column.variable for column in columns if column.expression is not None}
    aggregated = AggregateVariables({*_names(modifiers.group or ()), *named})
    for column in columns:
        _lifted(column, aggregated)
    for expression in (*modifiers.having, *(key.expression for key in modifiers.order)):
        aggregated.lift(expression)
    return list(aggregated.variables)


def sliced(rows: Iterable[Solution], modifiers: Modifiers) -> Iterator[Solution]:
    """Slice(L, start, length): OFFSET and LIMIT."""
    start = modifiers.offset or 0
    stop = None if modifiers.limit is None else start + modifiers.limit
    return islice(rows, start, stop)


def project(rows: Iterable[Solution], variables: Sequence[Variable]) -> Iterator[Solution]:
    """Project(L, vars)."""
    for row in rows:
        yield {variable: row[variable] for variable in variables if variable in row}


def extend(
    solutions: Iterable[Solution], expressions: Sequence[tuple[Variable, Expression]], context: Context
) -> Iterator[Solution]:
    """Extend(μ, var, expr), one after the other: an error leaves the variable unbound (18.5)."""
    for solution in solutions:
        found = dict(solution)
        with context.labels:
            for variable, expression in expressions:
                term = attempt(expression, found, context)
                if term is not None:
                    found[variable] = term
        yield found


def ordered(
    rows: Iterable[Solution], order: Sequence[OrderKey], variables: Sequence[Variable], context: Context
) -> list[Solution]:
    """OrderBy(L, conditions). Rows that the conditions leave equal are ordered by their terms, so that a LIMIT
    cuts the same rows off whatever order they came in."""
    found = sorted(rows, key=lambda row: [tie_key(row.get(variable)) for variable in variables])
    for condition in reversed(order):
        keys = [order_key(attempt(condition.expression, row, context)) for row in found]
        places = sorted(range(len(found)), key=keys.__getitem__, reverse=condition.descending)
        found = [found[place] for place in places]
    return found


def _expressions(columns: Sequence[Projection], modifiers: Modifiers) -> Iterator[Expression]:
    yield from (column.expression for column in columns if column.expression is not None)
    yield from modifiers.having
    yield from (condition.expression for condition in modifiers.order)


def _names(keys: Sequence[GroupKey]) -> Iterator[Variable]:
    """The variables that keys of GROUP BY bind."""
    for key in keys:
        if key.variable is not None:
            yield key.variable
        elif isinstance(key.expression, Variable):
            yield key.expression


def _lifted(column: Projection, aggregated: AggregateVariables) -> Projection:
    """`SELECT ?v` of a variable that is not a key selects SAMPLE(?v)."""
    if column.expression is not None:
        return Projection(column.variable, aggregated.lift(column.expression))
    lifted = aggregated.lift(column.variable)
    return column if lifted == column.variable else Projection(column.variable, lifted)


def _grouped(
    solutions: Iterable[Solution], keys: Sequence[GroupKey] | None, aggregated: AggregateVariables, context: Context
) -> Iterator[Solution]:
    """AggregateJoin: one solution a group, binding the keys that have a name and the aggregates. Without GROUP BY all
    solutions, be there none, are one group."""
    if keys is None:
        yield aggregated.solution(list(solutions), context)
        return
    names = [key.variable or key.expression for key in keys]
    for values, members in group(keys, solutions, context).items():
        named = zip(names, values, strict=True)
        found = {name: term for name, term in named if isinstance(name, Variable) and term is not None}
        yield found | aggregated.solution(members, context)


def _filtered(solutions: Iterable[Solution], condition: Expression, context: Context) -> Iterator[Solution]:
    return (solution for solution in solutions if passes(condition, solution, context))


def _joined(solutions: Iterable[Solution], values: Values) -> Iterator[Solution]:
    partners = Partners(inline(values))
    return (merge(solution, partner) for solution in solutions for partner in partners.of(solution))


def inline(values: Values) -> Iterator[Solution]:
    """The solutions of VALUES (18.2.2.6): UNDEF binds nothing."""
    for row in values.rows:
        named = zip(values.variables, row, strict=True)
        yield {variable: term for variable, term in named if term is not None}
