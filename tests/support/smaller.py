"""The smallest case that still fails: greedily, since cases made of seeds do not shrink by themselves."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, get_args

from support.agreement import Answers, Case
from thence.algebra.expressions import Expression
from thence.algebra.patterns import Pattern
from thence.rdf.events import Event
from thence.rdf.terms import IRI, BlankNode, Literal

_SORTS = (get_args(Pattern), get_args(Expression))
"""What may stand for what: a pattern for a pattern, an expression for an expression."""


def agree(case: Case, one: Callable[[Case], Answers], other: Callable[[Case], Answers]) -> None:
    """Two ways to the answers of a case give the same; if not, show the smallest case in which they differ."""
    if one(case) != other(case):
        small = smallest(case, lambda smaller: one(smaller) != other(smaller))
        left, right = one(small), other(small)
        raise AssertionError(f"{small!r}\nonly the one: {left - right}\nonly the other: {right - left}")


def vectorised(case: Case) -> Answers:
    return case.answers(vectorise=True)


def plain(case: Case) -> Answers:
    return case.answers(vectorise=False)


def smallest(case: Case, fails: Callable[[Case], bool]) -> Case:
    """A case of which no part can be left out without that it ceases to fail."""
    while True:
        found = next((smaller for smaller in _smaller_cases(case) if fails(smaller)), None)
        if found is None:
            return case
        case = found


def _smaller_cases(case: Case) -> Iterator[Case]:
    for pattern in _smaller(case.pattern):
        yield dataclasses.replace(case, pattern=pattern)
    for i, event in enumerate(case.events):
        yield dataclasses.replace(case, events=case.events[:i] + case.events[i + 1 :])
        for triples in _without_one(event.triples):
            fewer = Event(event.start, triples, id=event.id)
            yield dataclasses.replace(case, events=(*case.events[:i], fewer, *case.events[i + 1 :]))
    for quads in _without_one(case.quads):
        yield dataclasses.replace(case, quads=quads)


def _without_one(items: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    return (items[:i] + items[i + 1 :] for i in range(len(items)))


def _smaller(node: Any) -> Iterator[Any]:
    """The node with a part left out, or one of its parts in its place."""
    if isinstance(node, tuple):
        yield from _without_one(node)
        for i, item in enumerate(node):
            yield from ((*node[:i], smaller, *node[i + 1 :]) for smaller in _smaller(item))
    elif dataclasses.is_dataclass(node) and not isinstance(node, IRI | BlankNode | Literal):
        for field in dataclasses.fields(node):
            part = getattr(node, field.name)
            yield from (each for each in (part if isinstance(part, tuple) else (part,)) if _same_sort(node, each))
            if field.name == "condition" and part is not None:
                yield from _replaced(node, field.name, [None])
            if not (isinstance(part, tuple) and field.name in ("variables", "arguments")):
                yield from _replaced(node, field.name, _smaller(part))
            else:
                yield from _replaced(node, field.name, _each_smaller(part))


def _replaced(node: Any, name: str, parts: Any) -> Iterator[Any]:
    return (dataclasses.replace(node, **{name: part}) for part in parts)


def _each_smaller(items: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """As many as before: a function keeps its arguments."""
    for i, item in enumerate(items):
        yield from ((*items[:i], smaller, *items[i + 1 :]) for smaller in _smaller(item))


def _same_sort(node: object, part: object) -> bool:
    return any(isinstance(node, sort) and isinstance(part, sort) for sort in _SORTS)
