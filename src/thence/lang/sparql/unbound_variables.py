"""Warnings about variables that an expression names, and that nothing binds where it stands."""

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
from thence.algebra.variables import in_scope, mentioned, parts
from thence.hints import closest
from thence.lang.placed_draft import PlacedDraft


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
    """Variables of FILTERs that their groups do not bind: a group sees nothing of what stands beside it. `given` are
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
