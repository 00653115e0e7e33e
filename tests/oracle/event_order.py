"""The option `order` (C-8 to C-11): the moment of an event is its time and the values of `order`, which compare as
SPARQL's ORDER BY compares terms: missing ones first, numbers by value before texts."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias

Ordinal: TypeAlias = tuple[int, Fraction | str]
"""A value of `order` as it compares with others."""

Moment: TypeAlias = tuple[int, tuple[Ordinal, ...]]
"""When an event is, among others: its time; within it, the values of `order`, none without the option."""

MISSING: Ordinal = (0, "")


def ordinal(value: object) -> Ordinal:
    match value:
        case None:
            return MISSING
        case int() | float() | Decimal():
            return 1, Fraction(value)
        case str():
            return 2, value
    raise TypeError(value)


def ordinals(values: Iterable[object]) -> tuple[Ordinal, ...]:
    """Without the missing ones at the end: an event without any value is like one whose values are all missing."""
    found = [*map(ordinal, values)]
    while found and found[-1] == MISSING:
        found.pop()
    return tuple(found)
