"""Checks which variables SELECT may name (SPARQL 1.1, 18.2.4.4 and the notes of 19.8)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from thence.algebra.expressions import Expression, Variable
from thence.algebra.patterns import Modifiers, Pattern, Projection
from thence.algebra.variables import has_aggregate, in_scope, parts
from thence.lang.text import Text


@dataclass(frozen=True, slots=True)
class PlacedColumn:
    """A column of SELECT, and where it is written."""

    projection: Projection
    at: int


def check_projection(
    text: Text, columns: tuple[PlacedColumn, ...] | None, where: Pattern, modifiers: Modifiers, at: int
) -> None:
    """Refuse names that are given a value twice, and in a query with groups what has no single value in a group."""
    scope = {*in_scope(where), *(modifiers.values.variables if modifiers.values else ())}
    _check_keys(text, modifiers, scope, at)
    grouped = _is_grouped(columns or (), modifiers)
    if columns is None:
        if grouped:
            raise text.error("SELECT * can't be combined with groups.", at, hint="naming the columns")
        return
    known = _keys(modifiers) if grouped else None
    assigned = {column.projection.variable for column in columns if column.projection.expression is not None}
    named: set[Variable] = set()
    for column in columns:
        variable, expression = column.projection.variable, column.projection.expression
        if known is not None:
            _check_grouped(text, column, known)
            known.add(variable)
        if expression is not None and variable in scope:
            reason = f"SELECT gives {variable} a value, but WHERE has used {variable} already."
            raise text.error(reason, column.at, hint="a new name")
        if variable in named and variable in assigned:
            raise text.error(f"SELECT gives {variable} a value twice.", column.at, hint="a new name")
        named.add(variable)


def _is_grouped(columns: Iterable[PlacedColumn], modifiers: Modifiers) -> bool:
    expressions = [
        *(column.projection.expression for column in columns if column.projection.expression is not None),
        *modifiers.having,
        *(key.expression for key in modifiers.order),
    ]
    return modifiers.group is not None or any(has_aggregate(expression) for expression in expressions)


def _keys(modifiers: Modifiers) -> set[Variable]:
    """The variables that have one value in a group."""
    keys = modifiers.group or ()
    named = {key.variable for key in keys if key.variable is not None}
    return named | {key.expression for key in keys if key.variable is None and isinstance(key.expression, Variable)}


def _check_keys(text: Text, modifiers: Modifiers, scope: set[Variable], at: int) -> None:
    new = [key.variable for key in modifiers.group or () if key.variable is not None]
    for index, variable in enumerate(new):
        if variable in scope or variable in new[:index]:
            raise text.error(
                f"GROUP BY gives {variable} a value, but {variable} has one already.", at, hint="a new name"
            )


def _check_grouped(text: Text, column: PlacedColumn, known: set[Variable]) -> None:
    expression = column.projection.expression
    for variable in _outside_aggregates(column.projection.variable if expression is None else expression):
        if variable not in known:
            reason = f"{variable} is not a key of GROUP BY, so a group has many values of it."
            raise text.error(reason, column.at, hint=f"GROUP BY {variable}, or an aggregate such as SAMPLE({variable})")


def _outside_aggregates(expression: Expression) -> list[Variable]:
    found = (part for part in parts(expression, into_aggregates=False) if isinstance(part, Variable))
    return sorted(found, key=lambda variable: variable.name)
