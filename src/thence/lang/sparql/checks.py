"""Checks of what a query selects, and of variables that nothing binds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import assert_never

from thence.algebra.expressions import Exists, Expression, Variable
from thence.algebra.patterns import (
    Bgp,
    Construct,
    Extend,
    Filter,
    Graph,
    GroupKey,
    Join,
    LeftJoin,
    MatchPattern,
    Minus,
    Modifiers,
    Pattern,
    Projection,
    Select,
    SubSelect,
    TemporalJoin,
    Union,
    Values,
    WindowPattern,
)
from thence.algebra.traversal import nodes
from thence.algebra.variables import has_aggregate, in_scope, mentioned, parts
from thence.errors import closest
from thence.lang.draft import PlacedDraft
from thence.lang.text import Text

# Checks which variables SELECT may name (SPARQL 1.1, 18.2.4.4 and the notes of 19.8).


@dataclass(frozen=True, slots=True)
class PlacedColumn:
    """A column of SELECT, and where it is written."""

    projection: Projection
    at: int


def check_projection(
    text: Text, columns: tuple[PlacedColumn, ...] | None, where: Pattern, modifiers: Modifiers, at: int
) -> None:
    """Reject names that get two values and, in a query with groups, expressions without a single value per group."""
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


# Warnings about variables that an expression names, and that nothing binds where it is.


def unbound_in_form(draft: PlacedDraft, form: Select | Construct, at: int) -> Iterator[str]:
    """Variables that SELECT or a template names, and nothing binds."""
    values = form.modifiers.values
    bound = {*in_scope(form.where), *(values.variables if values else ())}
    bound.update(key.variable for key in form.modifiers.group or () if key.variable is not None)
    named: dict[Variable, str] = {}
    match form:
        case Select():
            for column in form.columns or ():
                used = {column.variable} if column.expression is None else mentioned(column.expression)
                named |= dict.fromkeys(sorted(used - bound, key=str), "SELECT names {}, which nothing binds.")
                if column.expression is not None:
                    bound.add(column.variable)
        case Construct():
            slots = (slot for triple in form.template for slot in (triple.subject, triple.predicate, triple.object))
            reason = "The template names {}, which nothing binds: its triple is left out."
            named |= {slot: reason for slot in slots if isinstance(slot, Variable) and slot not in bound}
        case _:
            assert_never(form)
    places = {variable: draft.after(variable, at) for variable in named}
    for variable in sorted(named, key=places.__getitem__):
        reason = named[variable].format(variable)
        yield str(draft.error(reason, places[variable], hint=_meant(variable, bound)))


def _meant(variable: Variable, bound: Iterable[Variable]) -> str:
    found = closest(variable.name, (each.name for each in bound))
    return f"?{found}" if found else ""


@dataclass(frozen=True, slots=True)
class _Seen:
    """A pattern, and the variables that an EXISTS around it brings in."""

    pattern: Pattern
    around: frozenset[Variable]


def unbound_in_filters(draft: PlacedDraft, pattern: Pattern, given: frozenset[Variable]) -> Iterator[str]:
    """Variables of FILTERs that their groups do not bind: a group sees nothing of what is beside it. `given` are
    those that something in the query binds."""
    waiting = [_Seen(pattern, frozenset())]
    while waiting:
        seen = waiting.pop()
        condition, inside = _condition(seen.pattern)
        bound = inside | seen.around
        if condition is not None:
            for expression, at in draft.filters(condition):
                yield from _unseen(draft, expression, at, bound, given)
                exists = (part for part in parts(expression) if isinstance(part, Exists))
                waiting += [_Seen(part.pattern, bound) for part in exists]
        waiting += [_Seen(part, seen.around) for part in reversed(below(seen.pattern))]


def _condition(pattern: Pattern) -> tuple[Expression | None, frozenset[Variable]]:
    """A pattern's condition, and the variables that it can see."""
    match pattern:
        case Filter():
            return pattern.condition, frozenset(in_scope(pattern.pattern))
        case LeftJoin() | TemporalJoin():
            return pattern.condition, frozenset(in_scope(pattern))
        case _:
            return None, frozenset()


def below(pattern: Pattern) -> tuple[Pattern, ...]:
    """The patterns directly below this one, in the order of the text."""
    match pattern:
        case Join() | LeftJoin() | Union() | Minus() | TemporalJoin():
            return (pattern.left, pattern.right)
        case Filter() | Graph() | Extend() | WindowPattern():
            return (pattern.pattern,)
        case SubSelect():
            return (pattern.select.where,)
        case Bgp() | Values() | MatchPattern():
            return ()
        case _:
            assert_never(pattern)


def _unseen(
    draft: PlacedDraft, expression: Expression, at: int, bound: frozenset[Variable], given: frozenset[Variable]
) -> Iterator[str]:
    for variable in sorted(mentioned(expression) - bound, key=str):
        place = draft.after(variable, at)
        if variable in given:
            reason = f"FILTER names {variable}, which its own group does not bind: there it has no value."
            hint = "FILTER in the group that holds both"
        else:
            reason, hint = f"FILTER names {variable}, which nothing binds.", _meant(variable, bound)
        yield str(draft.error(reason, place, hint=hint))


def given_variables(*parts_of_query: object) -> frozenset[Variable]:
    """The variables that something in these parts of a query gives a value to."""
    found: set[Variable | None] = set()
    for node in nodes(parts_of_query):
        match node:
            case Bgp():
                found.update(in_scope(node))
            case Values():
                found.update(node.variables)
            case Extend() | Projection() | GroupKey():
                found.add(node.variable)
            case Graph(Variable() as name):
                found.add(name)
    return frozenset(variable for variable in found if variable is not None)
