"""WINDOW and MATCH as text, and the place of FILTERs among them: MATCHes and STREAM blocks are numbered in the order of
the text, those in FILTERs too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import assert_never

from thence.algebra.chains import FEW
from thence.algebra.expressions import And, Expression
from thence.algebra.patterns import BasicEvent, EventExpression, EventSeq, First, Last, MatchPattern, WindowPattern
from thence.algebra.rsep_ql import block_number
from thence.algebra.show_expressions import expression_items
from thence.algebra.text_writer import BracedGroup, TextItem
from thence.algebra.traversal import nodes


def window_head(pattern: WindowPattern) -> list[TextItem]:
    """What stands before a window's group; a whole query may write it as a STREAM block."""
    return [f"WINDOW {pattern.name} "]


def match_items(pattern: MatchPattern) -> list[TextItem]:
    """`MATCH { … }`."""
    return ["MATCH { ", partial(event_items, pattern.events), " }"]


def event_items(events: EventExpression) -> list[TextItem]:
    """An event expression, with brackets only where RS-30 needs them."""
    match events:
        case BasicEvent(name):
            return [name]
        case First(inner):
            return ["FIRST ", *_operand(inner)]
        case Last(inner):
            return ["LAST ", *_operand(inner)]
        case EventSeq(left, right, policy):
            operator = " SEQ " if policy is None else f" SEQ {policy.value} "
            return [partial(event_items, left), operator, *_operand(right)]
        case _:
            assert_never(events)


def _operand(events: EventExpression) -> list[TextItem]:
    items = partial(event_items, events)
    return ["(", items, ")"] if isinstance(events, EventSeq) else [items]


def with_filters(elements: list[list[TextItem]], condition: Expression) -> list[list[TextItem]]:
    """A group's elements and its FILTER, which stands last; but each of several FILTERs stands before the elements
    whose MATCHes and STREAM blocks have higher numbers than its own."""
    filters = [(_numbers(nodes(each)), each) for each in _spine(condition)]
    if not any(numbers.are_there for numbers, _ in filters):
        return [*elements, _filter(condition)]
    lines: list[list[TextItem]] = []
    for element in elements:
        numbers = _numbers(_patterns(element))
        before = max((place for place, (own, _) in enumerate(filters, 1) if own.precede(numbers)), default=0)
        lines += [_filter(each) for _, each in filters[:before]]
        filters = filters[before:]
        lines.append(element)
    return lines + [_filter(each) for _, each in filters]


def _filter(condition: Expression) -> list[TextItem]:
    return ["FILTER (", partial(expression_items, condition), ")"]


def _spine(condition: Expression) -> list[Expression]:
    """The FILTERs whose conjunction, as the parser builds it, is the condition."""
    found: list[Expression] = []
    first = condition
    while isinstance(first, And) and len(found) < FEW - 1:
        found.append(first.right)
        first = first.left
    return [first, *reversed(found)]


@dataclass(frozen=True, slots=True)
class _Numbers:
    """The lowest numbers of the MATCHes and of the STREAM blocks in a part of a query."""

    match: int | None
    block: int | None

    @property
    def are_there(self) -> bool:
        return self.match is not None or self.block is not None

    def precede(self, others: _Numbers) -> bool:
        return _is_less(self.match, others.match) or _is_less(self.block, others.block)


def _is_less(one: int | None, other: int | None) -> bool:
    return one is not None and other is not None and one < other


def _numbers(found: Iterable[object]) -> _Numbers:
    matches: list[int] = []
    blocks: list[int | None] = []
    for node in found:
        match node:
            case MatchPattern(place=place):
                matches.append(place)
            case WindowPattern(name):
                blocks.append(block_number(name))
    return _Numbers(min(matches, default=None), min((each for each in blocks if each is not None), default=None))


def _patterns(items: Sequence[TextItem]) -> Iterator[object]:
    """The nodes that the items still have to write."""
    for item in items:
        if isinstance(item, BracedGroup):
            yield from nodes(item.pattern)
        elif isinstance(item, partial):
            yield from nodes(item.args)
