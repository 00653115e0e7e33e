"""xsd:float and xsd:double for the oracles: values are Python's floats, and a float is the double that equals it."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from fractions import Fraction


def rounded(exact: Fraction | float, datatype: str) -> float:
    """The nearest float or double, ties to even; beyond the range an infinity.

    >>> rounded(Fraction(1, 10), "double"), rounded(Fraction(1, 10), "float"), rounded(Fraction(10) ** 40, "float")
    (0.1, 0.10000000149011612, inf)
    """
    if isinstance(exact, float) and not math.isfinite(exact):
        return exact
    if exact == 0:
        return 0.0 if isinstance(exact, Fraction) else exact
    digits, lowest, highest = (24, -149, 128) if datatype == "float" else (53, -1074, 1024)
    size = abs(Fraction(exact))
    exponent = size.numerator.bit_length() - size.denominator.bit_length() - digits  # too small by 1 at most
    while size / Fraction(2) ** exponent >= 2**digits:
        exponent += 1
    exponent = max(exponent, lowest)
    whole = round(size / Fraction(2) ** exponent)  # ties to even
    found = math.inf if whole * Fraction(2) ** exponent >= Fraction(2) ** highest else math.ldexp(whole, exponent)
    return found if exact > 0 else -found


def canonical(value: float, datatype: str) -> str:
    """The canonical form (XML Schema 1.0, part 2, 3.2.4.2 and 3.2.5.2) with the fewest digits that give the value.

    >>> canonical(0.1, "double"), canonical(1e16, "double"), canonical(-0.0, "double"), canonical(math.inf, "float")
    ('1.0E-1', '1.0E16', '-0.0E0', 'INF')
    >>> canonical(rounded(Fraction(1, 10), "float"), "float")
    '1.0E-1'
    """
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "INF" if value > 0 else "-INF"
    if value == 0:
        return "-0.0E0" if math.copysign(1, value) < 0 else "0.0E0"
    texts = (f"{value:.{digits}E}" for digits in range(1, 18))
    text = next(each for each in texts if rounded(Fraction(each), datatype) == value)
    mantissa, exponent = text.split("E")
    return f"{mantissa}E{int(exponent)}"


def calculated(operator: str, a: float, b: float, datatype: str) -> float:
    """IEEE 754."""
    match operator:
        case "+":
            found = a + b
        case "-":
            found = a - b
        case "*":
            found = a * b
        case _ if b != 0:
            found = a / b
        case _ if a == 0 or math.isnan(a):
            found = math.nan
        case _:
            found = math.copysign(math.inf, a) * math.copysign(1, b)
    return found if datatype == "double" else _single(found)


def _single(value: float) -> float:
    """One operation of singles in doubles is rounded as one in singles."""
    try:
        (found,) = struct.unpack("f", struct.pack("f", value))
    except OverflowError:
        return math.copysign(math.inf, value)
    return float(found)


def total(values: Sequence[Fraction | float], datatype: str, count: int = 1) -> float:
    """The exact sum, by a count, rounded once (C-31).

    >>> total([1e16, 1.0, -1e16, 1.0], "double"), total([Fraction(1, 10), 1e16, -1e16], "double", 3)
    (2.0, 0.03333333333333333)
    """
    endless = {each for each in values if isinstance(each, float) and not math.isfinite(each)}
    if endless:
        return endless.pop() if len(endless) == 1 else math.nan
    return rounded(sum(map(Fraction, values), Fraction(0)) / count, datatype)
