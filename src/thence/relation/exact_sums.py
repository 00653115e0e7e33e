"""SUM and AVG of numbers (C-31): the exact sum of the members, in the widest type among them, rounded once at the end.
So it does not depend on the order of members.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from thence.rdf import numbers
from thence.rdf.numbers import EXACT, MAX_DIGITS, Float, Number
from thence.rdf.terms import Literal, Term
from thence.rdf.values import is_number, value

UNIT = 1074
"""Every double is an integer multiple of 2 to the minus this."""

_LONGEST = 8 * MAX_DIGITS
"""A sum that can be has fewer hexadecimal digits."""


@dataclass(slots=True)
class BinarySum:
    """The exact sum of doubles: `units` of 2^-1074, and how many members are NaN or infinite."""

    units: int = 0
    nan: int = 0
    positive: int = 0
    negative: int = 0

    def add(self, number: float) -> None:
        if math.isfinite(number):
            self.units += binary_units(number)
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

    def saved(self) -> list[Any]:
        return [hex(self.units), self.nan, self.positive, self.negative]

    @classmethod
    def restored(cls, found: Any) -> BinarySum:
        units, *counts = found
        if len(counts) != 3 or not all(type(each) is int and each >= 0 for each in counts):
            raise ValueError("a sum is malformed")
        return cls(_integer(units), *counts)

    @property
    def special(self) -> float | None:
        """NaN or an infinity, if a member is one."""
        if self.nan or (self.positive and self.negative):
            return math.nan
        if self.positive or self.negative:
            return math.inf if self.positive else -math.inf
        return None


@dataclass(slots=True)
class ExactSum:
    """A sum that takes numbers of all types, one by one.

    >>> total = ExactSum()
    >>> for each in (0.1, 0.2, 0.3):
    ...     total.add(each)
    >>> total.value(), total.average(3)
    (0.6, 0.2)
    """

    exact: int | Decimal = 0  # of integers and decimals
    binary: BinarySum = field(default_factory=BinarySum)  # of floats and doubles
    has_single: bool = False
    has_double: bool = False

    def add(self, number: Number) -> None:
        if isinstance(number, int | Decimal):
            self._add_exact(number)
            return
        self.binary.add(number)
        if isinstance(number, Float):
            self.has_single = True
        else:
            self.has_double = True

    def include(self, other: ExactSum) -> None:
        """Add all members of another."""
        self._add_exact(other.exact)
        self.binary.include(other.binary)
        self.has_single |= other.has_single
        self.has_double |= other.has_double

    def _add_exact(self, number: int | Decimal) -> None:
        total = numbers.add(self.exact, number)
        assert isinstance(total, int | Decimal)
        self.exact = total

    def saved(self) -> list[Any]:
        """The sum as JSON."""
        exact = self.exact
        scale = -1 if isinstance(exact, int) else decimal_places(exact)
        units = exact if isinstance(exact, int) else int(exact.scaleb(scale, EXACT))
        return [hex(units), scale, self.binary.saved(), self.has_single, self.has_double]

    @classmethod
    def restored(cls, found: Any) -> ExactSum:
        """The sum from JSON. ValueError or TypeError if it cannot be one."""
        units, scale, binary, *kinds = found
        if type(scale) is not int or not -1 <= scale <= MAX_DIGITS:
            raise ValueError("a sum is malformed")
        if len(kinds) != 2 or not all(type(each) is bool for each in kinds):
            raise ValueError("a sum is malformed")
        whole = _integer(units)
        exact = whole if scale < 0 else Decimal(whole).scaleb(-scale, EXACT)
        return cls(exact, BinarySum.restored(binary), *kinds)

    def value(self) -> Number:
        """SUM."""
        return self._rounded(1) if self.has_single or self.has_double else self.exact

    def average(self, count: int) -> Number:
        """AVG, if there are so many members: of integers and decimals a decimal, and of none 0."""
        if not count:
            return 0
        return self._rounded(count) if self.has_single or self.has_double else numbers.divide(self.exact, count)

    def double_average(self, count: int) -> float:
        """SASE+'s avg: a double, whatever the members are."""
        special = self.binary.special
        return nearest_double(*self._ratio(count)) if special is None else special

    def _rounded(self, count: int) -> float:
        found = self.binary.special
        if found is None:
            ratio = self._ratio(count)
            return nearest_double(*ratio) if self.has_double else nearest_single(*ratio)
        return found if self.has_double else Float(found)

    def _ratio(self, count: int) -> tuple[int, int]:
        """Numerator and denominator of the average."""
        if not self.exact:
            return self.binary.units, count << UNIT
        numerator, denominator = self.exact.as_integer_ratio()
        return self.binary.units * denominator + (numerator << UNIT), denominator * count << UNIT


def number_of(term: Term) -> Number | None:
    """The number a term is, or None."""
    found = value(term) if isinstance(term, Literal) else None
    return found if is_number(found) else None


def binary_units(number: float) -> int:
    """A finite double in units of 2^-1074."""
    numerator, denominator = number.as_integer_ratio()
    return numerator << (UNIT + 1 - denominator.bit_length())


def decimal_places(number: Decimal) -> int:
    """The number of digits after the point."""
    return max(0, -int(number.as_tuple().exponent))


def _integer(found: Any) -> int:
    if not isinstance(found, str) or len(found) > _LONGEST:
        raise ValueError("a sum is malformed")
    return int(found, 16)


def nearest_double(numerator: int, denominator: int) -> float:
    """The double nearest to a fraction, ties to even; beyond the largest one, infinity."""
    try:
        return numerator / denominator  # which Python rounds once
    except OverflowError:
        return math.inf if numerator > 0 else -math.inf


def nearest_single(numerator: int, denominator: int) -> Float:
    """The same for singles. A double on the way is rounded to odd, so that no tie is made or lost."""
    double = nearest_double(numerator, denominator)
    if math.isfinite(double) and not _is_odd(double):
        above, below = double.as_integer_ratio()
        rest = numerator * below - above * denominator
        if rest:
            double = math.nextafter(double, math.inf if rest > 0 else -math.inf)
    return Float(double)


def _is_odd(double: float) -> bool:
    """Whether the last of its 53 digits is 1."""
    return (double / math.ulp(double)) % 2 == 1
