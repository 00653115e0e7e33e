"""Variables made unambiguous: each `?_` gets a name of its own (TEF-56), and so do the variables that a UNION drops,
so that nothing outside joins them (TEF-69)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from itertools import count
from typing import Any, TypeVar

from oracle.tef_sparql_query import (
    Before,
    Conjunction,
    Construct,
    During,
    Pattern,
    Program,
    Replace,
    Select,
    Seq,
    Statement,
    Union,
    With,
    Without,
    bound,
)
from oracle.terms import Var

Tree = TypeVar("Tree")


def unambiguous(program: Program) -> Program:
    """The program with these names. They have a `~`, which no variable of a program has."""
    numbers = count(1)

    def of(statement: Statement) -> Statement:
        if not isinstance(statement, Construct | Select):
            return statement
        return replace(statement, where=_private(_fresh(statement.where, numbers), frozenset(), numbers))

    return replace(program, statements=tuple(map(of, program.statements)))


def written_name(name: str) -> str:
    """The name that a variable has in the text; `?_` keeps its own.

    >>> written_name("n~3"), written_name("n"), written_name("_~1~2")
    ('n', 'n', '_~1~2')
    """
    return name if name.startswith("_~") else name.partition("~")[0]


def _fresh(tree: Tree, numbers: Iterator[int]) -> Tree:
    if tree == Var("_"):
        return Var(f"_~{next(numbers)}")  # type: ignore[return-value]
    return _mapped(tree, lambda part: _fresh(part, numbers))


def _private(pattern: Pattern, scope: frozenset[str], numbers: Iterator[int]) -> Pattern:
    match pattern:
        case Union(left, right):
            left, right = _private(left, scope, numbers), _private(right, scope, numbers)
            common = bound(left, scope) & bound(right, scope)
            number = next(numbers)
            own = [{name: f"{name}~{number}" for name in bound(arm, scope) - common} for arm in (left, right)]
            return Union(_renamed(left, own[0]), _renamed(right, own[1]))
        case Conjunction() | Seq() | Before() | During() | With() | Without():
            left = _private(pattern.left, scope, numbers)
            return replace(pattern, left=left, right=_private(pattern.right, scope | bound(left, scope), numbers))
        case Replace(fact, event):
            fact = _private(fact, scope, numbers)
            return Replace(fact, _private(event, scope | bound(fact, scope), numbers))
        case _:
            inner = {"pattern", "fact", "event"}
            parts = {field.name: getattr(pattern, field.name) for field in fields(pattern) if field.name in inner}
            changed: dict[str, Any] = {name: _private(part, scope, numbers) for name, part in parts.items()}
            return replace(pattern, **changed)


def _renamed(tree: Tree, names: Mapping[str, str]) -> Tree:
    if isinstance(tree, Var):
        return Var(names.get(tree.name, tree.name))  # type: ignore[return-value]
    return _mapped(tree, lambda part: _renamed(part, names))


def _mapped(tree: Tree, change: Callable[[Any], Any]) -> Tree:
    """The tree with each of its direct parts changed."""
    if isinstance(tree, tuple):
        return tuple(map(change, tree))  # type: ignore[return-value]
    if is_dataclass(tree) and not isinstance(tree, type):
        return replace(tree, **{field.name: change(getattr(tree, field.name)) for field in fields(tree)})
    return tree


__all__ = ["unambiguous", "written_name"]
