"""SUM of numbers (SPARQL 1.1, 18.5.1.3): the exact sum of the members, each promoted to the widest type among them,
rounded once. So it does not depend on the order of members.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal

from thence.rdf import numbers
from thence.rdf.numbers import Float, Number

UNIT = 1074
"""Every double is an integer multiple of 2 to the minus this."""

_SINGLE_DIGITS, _SINGLE_UNIT = 24, 149


@dataclass(slots=True)
class BinarySum:
    """The exact sum of doubles: `units` of 2^-1074, and how many members are NaN or infinite."""

    units: int = 0
    nan: int = 0
    positive: int = 0
    negative: int = 0

    def add(self, number: float) -> None:
        if math.isfinite(number):
            numerator, denominator = number.as_integer_ratio()
            self.units += numerator << (UNIT + 1 - denominator.bit_length())
        elif math.isnan(number):
            self.nan += 1
        elif number > 0:
            self.positive += 1
        else:
            self.negative += 1

    def include(self, other: BinarySum) -> None:
        self.units += other.units
        self.nan += other.nan
        self.positive += other.positive
        self.negative += other.negative

    def double(self) -> float:
        """The sum, rounded to the nearest double.

        >>> BinarySum(units=2**1074 + 1).double(), BinarySum(units=3, positive=1, negative=1).double()
        (1.0, nan)
        """
        return self._special if self._is_special else nearest_double(self.units)

    def single(self) -> Float:
        """The sum, rounded to the nearest single."""
        return Float(self._special) if self._is_special else _nearest_single(self.units)

    @property
    def _is_special(self) -> bool:
        return bool(self.nan or self.positive or self.negative)

    @property
    def _special(self) -> float:
        if self.nan or (self.positive and self.negative):
            return math.nan
        return math.inf if self.positive else -math.inf


def nearest_double(units: int) -> float:
    """The double nearest to so many 2^-1074, ties to even; beyond the largest one, infinity."""
    try:
        return units / (1 << UNIT)  # of integers, which Python rounds once
    except OverflowError:
        return math.inf if units > 0 else -math.inf


def _nearest_single(units: int) -> Float:
    """The same for singles; through a double, it would be rounded twice."""
    dropped = max(abs(units).bit_length() - _SINGLE_DIGITS, UNIT - _SINGLE_UNIT)
    digits, rest = divmod(units, 1 << dropped)
    half = 1 << (dropped - 1)
    if rest > half or (rest == half and digits & 1):
        digits += 1
    return Float(math.ldexp(digits, dropped - UNIT))


@dataclass(slots=True)
class ExactSum:
    """A sum that takes numbers of all types, one by one.

    >>> total = ExactSum()
    >>> for each in (0.1, 0.2, 0.3):
    ...     total.add(each)
    >>> total.value()
    0.6
    """

    exact: int | Decimal = 0  # of integers and decimals
    singles: BinarySum = field(default_factory=BinarySum)  # of all but doubles, each as a single
    doubles: BinarySum = field(default_factory=BinarySum)  # of all, each as a double
    has_single: bool = False
    has_double: bool = False

    def add(self, number: Number) -> None:
        if isinstance(number, int | Decimal):
            total = numbers.add(self.exact, number)
            assert isinstance(total, int | Decimal)
            self.exact = total
        elif isinstance(number, Float):
            self.has_single = True
        else:
            self.has_double = True
        self.doubles.add(numbers.to_double(number))
        if isinstance(number, Float) or not isinstance(number, float):
            self.singles.add(numbers.to_single(number))

    def include(self, other: ExactSum) -> None:
        """Add all members of another."""
        total = numbers.add(self.exact, other.exact)
        assert isinstance(total, int | Decimal)
        self.exact = total
        self.singles.include(other.singles)
        self.doubles.include(other.doubles)
        self.has_single |= other.has_single
        self.has_double |= other.has_double

    def value(self) -> Number:
        if self.has_double:
            return self.doubles.double()
        return self.singles.single() if self.has_single else self.exact


def sum_of(members: Iterable[Number]) -> Number:
    """The sum of some numbers.

    >>> sum_of([1e308, 1e308, -1e308]), sum_of([0.1, 1, Decimal("0.1")]), sum_of([2, Decimal("0.5")]), sum_of([])
    (1e+308, 1.2, Decimal('2.5'), 0)
    """
    found = ExactSum()
    for each in members:
        found.add(each)
    return found.value()
