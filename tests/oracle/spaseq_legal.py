"""Which SPAseQ queries mean nothing, and are refused before any data is read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias, assert_never

from oracle.expressions import variables
from oracle.spaseq_query import (
    Aggregate,
    Arm,
    Conjunction,
    Disjunction,
    Gpm,
    Group,
    Part,
    Query,
    Step,
    Unary,
    Use,
    arms,
    uses,
)

Scope: TypeAlias = tuple[str, frozenset[str]]
"""A GPM's name at one place of SEQ, and the variables that its filters may name there."""


class Meaningless(ValueError):
    """The query is an error."""


def check(query: Query) -> None:
    """Raise `Meaningless` if the query is an error."""
    _names(query)
    _negations(query)
    _filters(query)
    _partition(query)
    _select(query)


def is_legal(query: Query) -> bool:
    try:
        check(query)
    except Meaningless:
        return False
    return True


def _names(query: Query) -> None:
    defined = {gpm.name for gpm in query.gpms}
    _refuse(len(defined) < len(query.gpms), "a GPM is defined twice")
    _refuse(any(name not in defined for part in query.parts for name in uses(part.group)), "an unknown GPM")
    _refuse(any(gpm.stream not in query.streams for gpm in query.gpms), "an unknown stream")
    _refuse(query.within is not None and query.within.width <= 0, "a window without width")


def _negations(query: Query) -> None:
    for arm in arms(query):
        _refuse(arm[0].negated, "an arm begins with a negation")
        _refuse(arm[-1].negated and query.within is None, "a negation at the end without WITHIN")
        for index, step in enumerate(arm):
            if step.negated:
                _refuse(bool(_shared_later(query, arm, index)), "a negation shares a variable only with parts after C")


def _shared_later(query: Query, arm: Arm, index: int) -> frozenset[str]:
    """What the negation shares with parts after its C, and with neither σ nor C."""
    near = query.bound_by([*_before(arm, index), *_after(arm, index)[:1]])
    far = query.bound_by(_after(arm, index)[1:])
    return (query.bound_by([arm[index].part]) & far) - near


def _before(arm: Arm, index: int) -> list[Part]:
    return [step.part for step in arm[:index] if not step.negated]


def _after(arm: Arm, index: int) -> list[Part]:
    return [step.part for step in arm[index + 1 :] if not step.negated]


def _filters(query: Query) -> None:
    """A name must be in sight in some arm; where it is not, it is unbound."""
    in_sight: dict[tuple[int, int], frozenset[str]] = {}
    for arm in arms(query):
        for index, step in enumerate(arm):
            for place, (_, scope) in enumerate(scopes(query, arm, index)):
                in_sight[step.number, place] = in_sight.get((step.number, place), frozenset()) | scope
    for number, part in enumerate(query.parts):
        for place, name in enumerate(uses(part.group)):
            for expression in query.gpm(name).filters:
                unknown = variables(expression) - in_sight[number, place]
                _refuse(bool(unknown), f"a filter of {name} names what is not in sight")


def scopes(query: Query, arm: Arm, index: int) -> Iterator[Scope]:
    """Own variables, those of the `&` group and of earlier parts; for a negation also those of its C."""
    step: Step = arm[index]
    around = _before(arm, index) + (_after(arm, index)[:1] if step.negated else [])
    for name, companions in _companions(query, step.part.group):
        yield name, companions | query.bound_by(around)


def _companions(query: Query, group: Group) -> list[Scope]:
    match group:
        case Use(name):
            return [(name, frozenset(query.gpm(name).variables()))]
        case Conjunction(left, right):
            return [
                (name, seen | query.bound_by([Part(other)]))
                for side, other in ((left, right), (right, left))
                for name, seen in _companions(query, side)
            ]
        case Disjunction(left, right):
            return _companions(query, left) + _companions(query, right)
        case _:
            assert_never(group)


def _partition(query: Query) -> None:
    for gpm in _positive(query):
        unbound = set(query.partition) - gpm.event_variables()
        _refuse(bool(unbound), f"{gpm.name} does not bind what the query is partitioned by")


def _positive(query: Query) -> list[Gpm]:
    names = {name for part in query.parts if part.unary is not Unary.NOT for name in uses(part.group)}
    return [gpm for gpm in query.gpms if gpm.name in names]


def _select(query: Query) -> None:
    bound = {variable for gpm in _positive(query) for variable in gpm.variables()}
    for column in query.select or ():
        match column.expression:
            case None:
                _refuse(column.name not in bound, "a selected variable is bound by nothing")
                continue
            case Aggregate("COUNT", name):
                parts = [part for part in query.parts if name in uses(part.group)]
                _refuse([part.unary for part in parts] != [Unary.PLUS], "COUNT of what is not in exactly one closure")
            case Aggregate(_, variable):
                local = any(variable in query.locals_of(number) for number in range(len(query.parts)))
                _refuse(not local, "an aggregate of what is not a closure's local")
            case expression:
                _refuse(bool(variables(expression) - bound), "a selected expression names what nothing binds")
        _refuse(column.name in bound, "AS names a variable that is bound already")


def _refuse(wrong: bool, reason: str) -> None:
    if wrong:
        raise Meaningless(reason)
