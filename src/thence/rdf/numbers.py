"""XML Schema's numbers and their arithmetic (XPath F&O, section 6), exact where the type is exact.

xsd:integer is `int`, xsd:decimal `Decimal`, xsd:float `Float`, xsd:double `float`. A Decimal is only ever computed with
in the context `EXACT`, which raises instead of rounding: Python's own context would round silently to 28 digits.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from decimal import (
    MAX_EMAX,
    MAX_PREC,
    MIN_EMIN,
    ROUND_CEILING,
    ROUND_FLOOR,
    Context,
    Decimal,
    DivisionByZero,
    Inexact,
    InvalidOperation,
    Overflow,
    Underflow,
)
from math import isinf, isnan
from typing import TypeAlias

EXACT = Context(
    prec=MAX_PREC,
    Emax=MAX_EMAX,
    Emin=MIN_EMIN,
    traps=[Inexact, InvalidOperation, DivisionByZero, Overflow, Underflow],
)

MAX_DIGITS = 4000
"""A number with more characters has no value: longer conversions would take quadratic time."""

DIVISION_DIGITS = 34
"""The digits after the point, and the significant digits, of a quotient without a finite decimal expansion."""

_LARGEST_SINGLE = float.fromhex("0x1.fffffep+127")
_SINGLE_OVERFLOW = float.fromhex("0x1.ffffffp+127")  # half way between the largest float and 2^128


class Float(float):
    """An xsd:float, as the double that equals it.

    >>> Float(0.1) == 0.1, Float(0.5) == 0.5
    (False, True)
    """

    __slots__ = ()

    def __new__(cls, number: float) -> Float:
        return super().__new__(cls, _single(number))


Number: TypeAlias = int | Decimal | Float | float


def _single(number: float) -> float:
    try:
        (rounded,) = struct.unpack("f", struct.pack("f", number))
    except OverflowError:
        return math.copysign(math.inf, number)
    return float(rounded)


def _neighbour(single: float, *, above: bool) -> float:
    """The next float above or below a finite one."""
    if single == 0:
        return math.copysign(2.0**-149, 1 if above else -1)
    (bits,) = struct.unpack("i", struct.pack("f", single))
    away = above == (single > 0)
    (next_,) = struct.unpack("f", struct.pack("i", bits + (1 if away else -1)))
    return float(next_)


def nearest_single(exact: Decimal) -> Float:
    """The float nearest to a decimal, ties to even. A conversion by way of a double would round twice."""
    double = float(exact)
    if math.isinf(double) or math.isnan(double) or Decimal(double) == exact:
        return Float(double)
    if abs(double) >= _SINGLE_OVERFLOW:
        below = abs(double) == _SINGLE_OVERFLOW and exact.copy_abs() < Decimal(_SINGLE_OVERFLOW)
        return Float(math.copysign(_LARGEST_SINGLE if below else math.inf, double))
    single = _single(double)
    if single == double or abs(single) == _LARGEST_SINGLE:
        return Float(single)
    other = _neighbour(single, above=double > single)
    if abs(double - single) != abs(other - double):  # not a tie as a double: rounding twice changed nothing
        return Float(single)
    low, high = min(single, other), max(single, other)
    return Float(high if exact > Decimal(double) else low)


def to_double(number: Number) -> float:
    """The nearest double; infinity beyond the largest one."""
    try:
        return float(number)
    except OverflowError:  # of an int
        return math.inf if number > 0 else -math.inf


def to_single(number: Number) -> Float:
    """The nearest float; infinity beyond the largest one."""
    if isinstance(number, int):
        return nearest_single(Decimal(number))
    return nearest_single(number) if isinstance(number, Decimal) else Float(number)


def to_decimal(number: Number) -> Decimal:
    """The decimal equal to this number. ValueError for NaN and the infinities."""
    if isinstance(number, float) and not math.isfinite(number):
        raise ValueError(f"{canonical(number)} is not a decimal")
    return Decimal(number)


def to_integer(number: Number) -> int:
    """This number without its fraction. ValueError for NaN and the infinities."""
    if isinstance(number, float) and not math.isfinite(number):
        raise ValueError(f"{canonical(number)} is not an integer")
    return int(number)


def promote(left: Number, right: Number) -> tuple[Number, Number]:
    """Both numbers in the wider of their types: integer, decimal, float, double (XPath 2.0, B.1)."""
    if type(left) is type(right):
        return left, right
    if type(left) is float or type(right) is float:
        return to_double(left), to_double(right)
    if isinstance(left, Float) or isinstance(right, Float):
        return to_single(left), to_single(right)
    return Decimal(left), Decimal(right)


def add(left: Number, right: Number) -> Number:
    """op:numeric-add.

    >>> add(1, Decimal("0.10")), add(Float(1.5), 2)
    (Decimal('1.10'), 3.5)
    """
    return _combine(left, right, EXACT.add, lambda a, b: a + b)


def subtract(left: Number, right: Number) -> Number:
    """op:numeric-subtract."""
    return _combine(left, right, EXACT.subtract, lambda a, b: a - b)


def multiply(left: Number, right: Number) -> Number:
    """op:numeric-multiply."""
    return _combine(left, right, EXACT.multiply, lambda a, b: a * b)


def _combine(
    left: Number,
    right: Number,
    exact: Callable[[Decimal, Decimal], Decimal],
    plain: Callable[..., int | float],
) -> Number:
    a, b = promote(left, right)
    if isinstance(a, Decimal) and isinstance(b, Decimal):
        return exact(a, b)
    result = plain(a, b)
    return Float(result) if isinstance(a, Float) else result


def divide(left: Number, right: Number) -> Number:
    """op:numeric-divide; two integers give a decimal. ZeroDivisionError unless one of them is a float or double.

    >>> divide(7, 2), divide(1, 3), divide(1.0, 0)
    (Decimal('3.5'), Decimal('0.3333333333333333333333333333333333'), inf)
    """
    a, b = promote(left, right)
    if isinstance(a, float) and isinstance(b, float):
        quotient = _divide_doubles(a, b)
        return Float(quotient) if isinstance(a, Float) else quotient
    return _divide_exactly(Decimal(a), Decimal(b))


def _divide_doubles(a: float, b: float) -> float:
    if b != 0:
        return a / b
    if a == 0 or math.isnan(a):
        return math.nan
    return math.copysign(math.inf, math.copysign(1, a) * math.copysign(1, b))


def _divide_exactly(a: Decimal, b: Decimal) -> Decimal:
    if b == 0:
        raise ZeroDivisionError("division by zero")
    (an, ad), (bn, bd) = a.as_integer_ratio(), b.as_integer_ratio()
    numerator, denominator = an * bd, ad * bn
    divisor = math.gcd(numerator, denominator)
    numerator, denominator = numerator // divisor, denominator // divisor
    if denominator < 0:
        numerator, denominator = -numerator, -denominator
    digits = _finite_digits(denominator)
    if digits is None:
        # three bits are less than a digit, so this is an upper bound: small quotients get enough significant digits
        digits = DIVISION_DIGITS + max(0, (denominator.bit_length() - numerator.bit_length()) // 3)
    return Decimal(_divide_half_even(numerator * 10**digits, denominator)).scaleb(-digits, EXACT)


def _finite_digits(denominator: int) -> int | None:
    """The digits after the point of the reduced fraction; None if they do not end."""
    twos = (denominator & -denominator).bit_length() - 1
    rest, fives = denominator >> twos, 0
    while rest % 5 == 0:
        rest, fives = rest // 5, fives + 1
    return max(twos, fives) if rest == 1 else None


def _divide_half_even(numerator: int, denominator: int) -> int:
    quotient, remainder = divmod(numerator, denominator)
    twice = 2 * remainder
    return quotient + (twice > denominator or (twice == denominator and quotient % 2 == 1))


def remainder(left: Number, right: Number) -> Number:
    """The remainder of a division whose quotient is truncated, so it has the dividend's sign. It is exact in every
    type; for floats and doubles it is IEEE 754's fmod. ZeroDivisionError if the divisor is 0.

    >>> remainder(-7, 3), remainder(Decimal("7.50"), 2), remainder(5.5, -2), remainder(math.inf, 2)
    (-1, Decimal('1.50'), 1.5, nan)
    """
    a, b = promote(left, right)
    if b == 0:
        raise ZeroDivisionError("remainder by zero")
    if isinstance(a, Decimal) and isinstance(b, Decimal):
        return EXACT.remainder(a, b)
    if isinstance(a, float) and isinstance(b, float):
        found = math.fmod(a, b) if math.isfinite(a) else math.nan
        return Float(found) if isinstance(a, Float) else found
    whole = abs(int(a)) % abs(int(b))
    return -whole if a < 0 else whole


def negate(number: Number) -> Number:
    """op:numeric-unary-minus."""
    if isinstance(number, Decimal):
        return number if number == 0 else number.copy_negate()
    return Float(-number) if isinstance(number, Float) else -number


def absolute(number: Number) -> Number:
    """fn:abs."""
    if isinstance(number, Decimal):
        return number.copy_abs()
    return Float(abs(number)) if isinstance(number, Float) else abs(number)


def ceiling(number: Number) -> Number:
    """fn:ceiling: of the same type; -0.5 gives -0.0 where the type has one."""
    return _to_integral(number, lambda exact: exact.to_integral_value(ROUND_CEILING))


def floor(number: Number) -> Number:
    """fn:floor, of the same type."""
    return _to_integral(number, lambda exact: exact.to_integral_value(ROUND_FLOOR))


def round_half_up(number: Number) -> Number:
    """fn:round: halves go up, so that -2.5 gives -2.

    >>> round_half_up(Decimal("2.5")), round_half_up(-2.5), round_half_up(-0.4)
    (Decimal('3'), -2.0, -0.0)
    """
    return _to_integral(number, lambda exact: EXACT.add(exact, Decimal("0.5")).to_integral_value(ROUND_FLOOR))


def _to_integral(number: Number, rounding: Callable[[Decimal], Decimal]) -> Number:
    if isinstance(number, int):
        return number
    if isinstance(number, Decimal):
        return rounding(number)
    if not math.isfinite(number) or number.is_integer():
        return number
    result = math.copysign(float(rounding(Decimal(number))), number)
    return Float(result) if isinstance(number, Float) else result


def canonical(number: Number) -> str:
    """The canonical lexical form (XSD 1.1). OverflowError where it would be longer than MAX_DIGITS.

    >>> [canonical(n) for n in (-7, Decimal("2.50"), Decimal("2.0"), 1e6, Float(0.1), -0.0, float("inf"))]
    ['-7', '2.5', '2', '1.0E6', '1.0E-1', '-0.0E0', 'INF']
    """
    if isinstance(number, float):
        return _canonical_double(number)
    if isinstance(number, int):
        # a digit has 3.33 bits: this many bits are too many digits, and Python would refuse to write more
        text = str(number) if number.bit_length() <= MAX_DIGITS * 3.33 else None
    else:
        text = _plain(number)
    if text is None or len(text) > MAX_DIGITS:
        raise OverflowError(f"a number has more than {MAX_DIGITS} digits")
    return text


def _plain(number: Decimal) -> str:
    """The digits without an exponent and without trailing zeros."""
    text = format(number, "f")
    text = text.rstrip("0").removesuffix(".") if "." in text else text
    return "0" if text in ("-0", "") else text


def _canonical_double(number: float) -> str:
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "INF" if number > 0 else "-INF"
    if number == 0:
        return "-0.0E0" if math.copysign(1, number) < 0 else "0.0E0"
    sign, digits, exponent = Decimal(shortest(number)).as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits))
    mantissa = f"{text[0]}.{text[1:].rstrip('0') or '0'}"
    return f"{'-' if sign else ''}{mantissa}E{exponent + len(text) - 1}"


def shortest(number: float) -> str:
    """The shortest digits that read back as this float or double."""
    if not isinstance(number, Float):
        return repr(number)
    tries = (f"{float(number):.{digits}g}" for digits in range(1, 9))
    return next((text for text in tries if nearest_single(Decimal(text)) == number), f"{float(number):.9g}")


def cast_to_string(number: Number) -> str:
    """The text of XPath's cast to xs:string (F&O, 17.1.1): doubles of common size without an exponent.

    >>> [cast_to_string(n) for n in (1.0, 1e6, 0.000001, 1e-7, -0.0, Decimal("1.50"))]
    ['1', '1.0E6', '0.000001', '1.0E-7', '-0', '1.5']
    """
    if isinstance(number, float):
        if number == 0:
            return "-0" if math.copysign(1, number) < 0 else "0"
        if 1e-6 <= abs(number) < 1e6:
            return _plain(Decimal(shortest(number)))
    return canonical(number)


def shortest_text(number: float) -> str:
    """A double as Python writes it, which reads better than XML Schema's canonical form.

    >>> shortest_text(10.5), shortest_text(-0.0), shortest_text(1e22), shortest_text(float("-inf"))
    ('10.5', '-0.0', '1e+22', '-INF')
    """
    if isnan(number):
        return "NaN"
    if isinf(number):
        return "INF" if number > 0 else "-INF"
    return repr(float(number))
