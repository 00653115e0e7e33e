"""Variables that stand in only some arms of a UNION, and outside it (TEF-69): found by where each of them stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias, assert_never

from oracle.tef_sparql_query import (
    Before,
    Condition,
    Conjunction,
    During,
    OnEnd,
    OnInit,
    OnStart,
    Pattern,
    Replace,
    Seq,
    Since,
    Timed,
    TriplePattern,
    Union,
    Until,
    With,
    Without,
    bound,
    new_name,
    used,
)
from oracle.terms import Var

Path: TypeAlias = tuple[str | int, ...]
"""The way to a part of a pattern; an arm of a UNION is a number, what stands right of WITHOUT is `absent`."""

Scope: TypeAlias = frozenset[str]


class Place(NamedTuple):
    """Where a variable stands; `tested`: in an expression that does not bind it."""

    name: str
    path: Path
    tested: bool


class Absence(NamedTuple):
    """What stands right of WITHOUT, and the variables that it sees (TEF-39)."""

    path: Path
    scope: Scope


@dataclass(frozen=True)
class Arms:
    """A UNION; one that is an arm of another is a part of it. `scope` is what is bound to its left."""

    path: Path
    arms: tuple[Pattern, ...]
    scope: Scope


def split_names(where: Pattern) -> set[str]:
    """The variables that TEF-69 rejects."""
    parts = list(_parts(where, (), frozenset()))
    places = [part for part in parts if isinstance(part, Place) and part.name != "_"]
    absents = dict(part for part in parts if isinstance(part, Absence))
    found = set()
    for union in (part for part in parts if isinstance(part, Arms)):
        for name in {place.name for place in places}:
            own = [place for place in places if place.name == name]
            if _is_in_some(union, name, own) and any(_is_outside(union, each, absents) for each in own):
                found.add(name)
    return found


def _is_in_some(union: Arms, name: str, places: list[Place]) -> bool:
    """Does it stand in some arms, or is it bound there, and not so in others?"""
    stands = []
    for number in range(len(union.arms)):
        inside = [each for each in places if _begins(each.path, (*union.path, number))]
        inside = [each for each in inside if "absent" not in each.path[len(union.path) :]]  # existential (TEF-39)
        only_tested = name in union.scope and all(each.tested for each in inside)  # TEF-58
        stands.append(bool(inside) and not only_tested)
    binds = [name in bound(arm, union.scope) for arm in union.arms]
    return len(set(stands)) > 1 or len(set(binds)) > 1


def _is_outside(union: Arms, place: Place, absents: dict[Path, Scope]) -> bool:
    """Does it stand where it could be the same variable?"""
    if _begins(place.path, union.path):
        return False
    common = next(n for n, (a, b) in enumerate(zip(place.path, union.path, strict=False)) if a != b)
    if isinstance(place.path[common], int):  # another arm of a UNION around it
        return False
    if "absent" in place.path[common:]:  # existential
        return False
    around = [union.path[: n + 1] for n in range(common, len(union.path)) if union.path[n] == "absent"]
    return all(place.name in absents[each] for each in around)


def _begins(path: Path, prefix: Path) -> bool:
    return path[: len(prefix)] == prefix


def _parts(pattern: Pattern, path: Path, scope: Scope) -> Iterator[Place | Arms | Absence]:
    """The places of variables, the UNIONs, and what each right side of WITHOUT sees."""
    match pattern:
        case TriplePattern(subject, predicate, target):
            yield from (
                Place(each.name, (*path, "slot"), False)
                for each in (subject, predicate, target)
                if isinstance(each, Var)
            )
        case Timed(inner, start, end):
            yield from _parts(inner, (*path, "in"), scope)
            yield from (Place(each.name, (*path, "times"), False) for each in (start, end) if isinstance(each, Var))
        case Condition(inner, expression):
            yield from _parts(inner, (*path, "in"), scope)
            new = new_name(expression, scope | bound(inner, scope))
            yield from (Place(name, (*path, "test"), name != new) for name in used(expression))
        case Union():
            arms = tuple(_arms(pattern))
            yield Arms(path, arms, scope)
            for number, arm in enumerate(arms):
                yield from _parts(arm, (*path, number), scope)
        case Without(left, right):
            inside = scope | bound(left, scope)
            yield from _parts(left, (*path, "left"), scope)
            yield Absence((*path, "absent"), inside)
            yield from _parts(right, (*path, "absent"), inside)
        case Conjunction() | Seq() | Before() | During() | With():
            yield from _parts(pattern.left, (*path, "left"), scope)
            yield from _parts(pattern.right, (*path, "right"), scope | bound(pattern.left, scope))
        case Replace(fact, event):
            yield from _parts(fact, (*path, "left"), scope)
            yield from _parts(event, (*path, "right"), scope | bound(fact, scope))
        case OnStart(inner) | OnEnd(inner):
            yield from _parts(inner, (*path, "in"), frozenset())
        case Since(inner) | Until(inner) | OnInit(inner):
            yield from _parts(inner, (*path, "in"), scope)
        case _:
            assert_never(pattern)


def _arms(union: Union) -> Iterator[Pattern]:
    for side in (union.left, union.right):
        if isinstance(side, Union):
            yield from _arms(side)
        else:
            yield side
