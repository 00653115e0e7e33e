"""The variables that a UNION drops (TEF-69) under names of their own, so that nothing outside joins them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import count
from typing import Any, assert_never

from thence.algebra.expressions import Variable
from thence.algebra.patterns import TriplePattern
from thence.algebra.tef_sparql import (
    Absent,
    Arm,
    Assignment,
    Conjunction,
    Either,
    OnEnd,
    OnInit,
    OnStart,
    Plain,
    Related,
    Replace,
    Since,
    TefFile,
    TefPattern,
    Test,
    Times,
    Until,
)
from thence.algebra.tef_variables import bound


def with_private_names(file: TefFile) -> TefFile:
    """The file with these names: `?n 1`, which no text can write. Recursive: for what is within the limit of depth.

    >>> from thence.lang.tef_sparql.parser import parse
    >>> file = parse("SELECT ?a WHERE ?a p ?n, ((?a q ?n) UNION (?a r ?m))")
    >>> (arm,) = with_private_names(file).statements[0].arms
    >>> [str(side.object) for side in (arm.pattern.right.left, arm.pattern.right.right)]
    ['?n 1', '?m 1']
    """
    statements = []
    for statement in file.statements:
        numbers = count(1)
        statements.append(replace(statement, arms=tuple(_arm(arm, numbers) for arm in statement.arms)))
    return replace(file, statements=tuple(statements))


def _arm(arm: Arm, numbers: Iterator[int]) -> Arm:
    match arm:
        case Plain() | OnInit():
            return replace(arm, pattern=_pattern(arm.pattern, numbers))
        case Since() | Until():
            return replace(arm, events=_pattern(arm.events, numbers))
        case Replace():
            return replace(arm, facts=_pattern(arm.facts, numbers), events=_pattern(arm.events, numbers))
        case _:
            assert_never(arm)


def _pattern(pattern: TefPattern, numbers: Iterator[int]) -> TefPattern:
    match pattern:
        case TriplePattern():
            return pattern
        case Times() | Test() | Assignment():
            return replace(pattern, pattern=_pattern(pattern.pattern, numbers))
        case Conjunction() | Related() | Absent():
            return replace(pattern, left=_pattern(pattern.left, numbers), right=_pattern(pattern.right, numbers))
        case OnStart() | OnEnd():  # equal ones stay equal: what they drop meets nothing outside
            return replace(pattern, facts=_pattern(pattern.facts, count(1)))
        case Either():
            left, right = _pattern(pattern.left, numbers), _pattern(pattern.right, numbers)
            common, number = bound(left) & bound(right), next(numbers)
            return Either(_private(left, common, number), _private(right, common, number))
        case _:
            assert_never(pattern)


def _private(side: TefPattern, common: frozenset[Variable], number: int) -> TefPattern:
    made: TefPattern = _renamed(side, {each: Variable(f"{each.name} {number}") for each in bound(side) - common})
    return made


def _renamed(tree: Any, names: Mapping[Variable, Variable]) -> Any:
    if isinstance(tree, Variable):
        return names.get(tree, tree)
    if type(tree) is tuple:
        return tuple(_renamed(each, names) for each in tree)
    if (fields := getattr(tree, "__dataclass_fields__", None)) is not None:
        return type(tree)(**{name: _renamed(getattr(tree, name), names) for name in fields})
    return tree
