"""Comparison and arithmetic on tagged 64-bit values (`thence.columns.value_kinds`), compiled: exact, or SLOW.

SLOW means that the values, or the result, do not fit: the plain functions on terms then decide. Promotion is SPARQL's
(17.3): integer → decimal → float → double.
"""

from __future__ import annotations

import numpy as np

from thence.columns.value_kinds import (
    BLANK,
    BOOLEAN,
    DATETIME,
    DECIMAL,
    DOUBLE,
    DURATION,
    FLOAT,
    INTEGER,
    IRI_,
    KIND_MASK,
    NONE,
    SCALE_SHIFT,
    STRING,
    double_bits,
)
from thence.jit.compiled import ieee, inner, lazy_entry, part

SLOW = 0xFFFF  # a tag that no value has

LESS, EQUAL, GREATER, UNORDERED, DIFFERENT, UNDECIDED = -1, 0, 1, 2, 3, 4
"""UNORDERED: with NaN. DIFFERENT: two terms that are not equal and have no order. UNDECIDED: ask the plain
functions."""

ADD, SUBTRACT, MULTIPLY, DIVIDE, QUOTIENT, REMAINDER = 0, 1, 2, 3, 4, 5

NEGATE, ABSOLUTE, CEILING, FLOOR, ROUND = 0, 1, 2, 3, 4
"""Functions of one number."""

_POWERS = np.array([10**k for k in range(19)], np.int64)
_MAX = np.int64(2**63 - 1)


@part
def _is_number(kind):
    return INTEGER <= kind <= DOUBLE


@inner
def as_double(kind, scale, bits):
    """(exact or correctly rounded?, the number as a double)."""
    if kind == INTEGER:
        return True, np.float64(bits)
    if kind == DECIMAL:
        # beyond 2^53 the integer itself would be rounded, and the quotient a second time
        return -(2**53) <= bits <= 2**53, np.float64(bits) / np.float64(_POWERS[scale])
    return True, np.int64(bits).view(np.float64)


@inner
def as_single(kind, scale, bits):
    """(exact or correctly rounded?, the number as a 32-bit float)."""
    if kind == INTEGER:
        return True, np.float32(bits)
    if kind == DECIMAL:
        fits = -(2**24) <= bits <= 2**24 and scale <= 10
        return fits, np.float32(bits) / np.float32(_POWERS[scale])
    return True, np.float32(np.int64(bits).view(np.float64))


@inner
def _order(left, right):
    if left < right:
        return LESS
    if left > right:
        return GREATER
    return EQUAL if left == right else UNORDERED


@inner
def _order_decimals(left, left_scale, right, right_scale):
    """The order of two decimals: by whole part, then by the 18 digits after the point, so that 64 bits suffice."""
    whole_left, whole_right = left // _POWERS[left_scale], right // _POWERS[right_scale]
    if whole_left != whole_right:
        return _order(whole_left, whole_right)
    part_left = (left - whole_left * _POWERS[left_scale]) * _POWERS[18 - left_scale]
    part_right = (right - whole_right * _POWERS[right_scale]) * _POWERS[18 - right_scale]
    return _order(part_left, part_right)


@inner
def order(left_tag, left_bits, right_tag, right_bits):
    """The order of two values."""
    left, right = left_tag & KIND_MASK, right_tag & KIND_MASK
    if _is_number(left) and _is_number(right):
        left_scale, right_scale = left_tag >> SCALE_SHIFT, right_tag >> SCALE_SHIFT
        widest = max(left, right)
        if widest == DOUBLE:
            left_exact, a = as_double(left, left_scale, left_bits)
            right_exact, b = as_double(right, right_scale, right_bits)
            return _order(a, b) if left_exact and right_exact else UNDECIDED
        if widest == FLOAT:
            left_exact, c = as_single(left, left_scale, left_bits)
            right_exact, d = as_single(right, right_scale, right_bits)
            return _order(c, d) if left_exact and right_exact else UNDECIDED
        return _order_decimals(left_bits, left_scale, right_bits, right_scale)
    if left == right and (left == BOOLEAN or left == DATETIME or left == DURATION):
        return _order(left_bits, right_bits)
    left_named, right_named = left == IRI_ or left == BLANK, right == IRI_ or right == BLANK
    if left_named or right_named or (left == STRING and right == STRING):
        return EQUAL if left == right and left_bits == right_bits else DIFFERENT
    return UNDECIDED


@lazy_entry(lambda *arguments: 20 * len(arguments[-1]))
def order_all(left_tags, left_bits, right_tags, right_bits, orders):
    for i in range(len(orders)):
        # of the types that the machine calls it with: for others it would be compiled once more
        orders[i] = order(np.int64(left_tags[i]), left_bits[i], np.int64(right_tags[i]), right_bits[i])


@inner
def _decimal(number, scale, kind):
    """A tagged integer or decimal in lowest form, so that equal values have equal bits."""
    while scale > 0 and number % 10 == 0:
        number //= 10
        scale -= 1
    return np.uint16(kind | (scale << SCALE_SHIFT)), number


@inner
def _times(left, right):
    """(fits?, product)."""
    if left == 0 or right == 0:
        return True, np.int64(0)
    if left == -_MAX - 1 or right == -_MAX - 1 or abs(left) > _MAX // abs(right):
        return False, np.int64(0)
    return True, left * right


@inner
def _plus(left, right):
    if (right > 0 and left > _MAX - right) or (right < 0 and left < -_MAX - right):
        return False, np.int64(0)
    return True, left + right


@inner
def _exact(operation, a, a_scale, b, b_scale, kind):
    """Integers and decimals; SLOW beyond 64 bits or 18 digits after the point."""
    if operation == MULTIPLY:
        fits, number = _times(a, b)
        if not fits:
            return np.uint16(SLOW), np.int64(0)
        tag, number = _decimal(number, a_scale + b_scale, kind)
        return (np.uint16(SLOW) if (tag >> SCALE_SHIFT) > 18 else tag), number
    if operation == DIVIDE:
        return _quotient(a, a_scale, b, b_scale)
    if operation == REMAINDER and b == 0:
        return np.uint16(NONE), np.int64(0)
    scale = max(a_scale, b_scale)
    fits_a, a = _times(a, _POWERS[scale - a_scale])
    fits_b, b = _times(b, _POWERS[scale - b_scale])
    if operation == REMAINDER:
        if not (fits_a and fits_b) or a == -_MAX - 1 or b == -_MAX - 1:
            return np.uint16(SLOW), np.int64(0)
        number = abs(a) % abs(b)
        return _decimal(-number if a < 0 else number, scale, kind)
    fits, number = _plus(a, -b if operation == SUBTRACT else b)
    if not (fits_a and fits_b and fits):
        return np.uint16(SLOW), np.int64(0)
    return _decimal(number, scale, kind)


@inner
def _quotient(a, a_scale, b, b_scale):
    """A decimal, where the division comes out even; division by zero is an error."""
    if b == 0:
        return np.uint16(NONE), np.int64(0)
    if a == -_MAX - 1 or b == -_MAX - 1:
        return np.uint16(SLOW), np.int64(0)
    scale = np.int64(a_scale) - np.int64(b_scale)
    while a % b != 0:
        fits, a = _times(a, np.int64(10))
        scale += 1
        if not fits or scale > 18:
            return np.uint16(SLOW), np.int64(0)
    number = a // b
    while scale < 0:
        fits, number = _times(number, np.int64(10))
        scale += 1
        if not fits:
            return np.uint16(SLOW), np.int64(0)
    return _decimal(number, scale, DECIMAL)


@ieee
def _rounded(operation, a, b):
    """Floats, 32 or 64 bits, as IEEE 754 has it."""
    if operation == ADD:
        return a + b
    if operation == SUBTRACT:
        return a - b
    if operation == MULTIPLY:
        return a * b
    if operation == REMAINDER:
        return np.fmod(a, b)
    return a / b


@inner
def arithmetic(operation, left_tag, left_bits, right_tag, right_bits):
    """(tag, bits) of `left operation right`; NONE for an error, SLOW where the plain functions must decide."""
    left, right = left_tag & KIND_MASK, right_tag & KIND_MASK
    if left == NONE or right == NONE:
        return np.uint16(NONE), np.int64(0)
    if not (_is_number(left) and _is_number(right)):
        return _duration(operation, left, left_bits, right, right_bits)
    left_scale, right_scale = np.int64(left_tag >> SCALE_SHIFT), np.int64(right_tag >> SCALE_SHIFT)
    widest = max(left, right)
    if widest == DOUBLE or operation == QUOTIENT:
        left_exact, a = as_double(left, left_scale, left_bits)
        right_exact, b = as_double(right, right_scale, right_bits)
        if not (left_exact and right_exact):
            return np.uint16(SLOW), np.int64(0)
        if b == 0 and (operation == QUOTIENT or operation == REMAINDER):
            return np.uint16(NONE), np.int64(0)
        return np.uint16(DOUBLE), double_bits(_rounded(operation, a, b))
    if widest == FLOAT:
        left_exact, c = as_single(left, left_scale, left_bits)
        right_exact, d = as_single(right, right_scale, right_bits)
        if not (left_exact and right_exact):
            return np.uint16(SLOW), np.int64(0)
        if d == 0 and operation == REMAINDER:
            return np.uint16(NONE), np.int64(0)
        return np.uint16(FLOAT), double_bits(np.float64(_rounded(operation, c, d)))
    return _exact(operation, left_bits, left_scale, right_bits, right_scale, widest)


@inner
def _duration(operation, left, a, right, b):
    """What gives a duration, or the ratio of two: all in microseconds."""
    if left == right and (left == DATETIME or left == DURATION):
        if operation == SUBTRACT:
            fits, number = _minus(a, b)
            return np.uint16(DURATION if fits else SLOW), number
        if left == DURATION and operation == ADD:
            fits, number = _plus(a, b)
            return np.uint16(DURATION if fits else SLOW), number
        if left == DURATION and operation == QUOTIENT:
            if b == 0:
                return np.uint16(NONE), np.int64(0)
            exact = -(2**53) <= a <= 2**53 and -(2**53) <= b <= 2**53
            return np.uint16(DOUBLE if exact else SLOW), double_bits(np.float64(a) / np.float64(b))
    elif left == DURATION and right == INTEGER:
        if operation == MULTIPLY:
            fits, number = _times(a, b)
            return np.uint16(DURATION if fits else SLOW), number
        if (operation == QUOTIENT or operation == DIVIDE) and b != 0 and a != -_MAX - 1 and a % b == 0:
            return np.uint16(DURATION), a // b
    elif left == INTEGER and right == DURATION and operation == MULTIPLY:
        fits, number = _times(a, b)
        return np.uint16(DURATION if fits else SLOW), number
    return np.uint16(SLOW), np.int64(0)


@inner
def _minus(left, right):
    if right == -_MAX - 1:
        return False, np.int64(0)
    return _plus(left, -right)


@inner
def moved(operation, left_tag, left_bits, right_tag, right_bits):
    """(tag, bits) of a time and a duration added or subtracted, in UTC: for whoever asks for the value alone, since the
    literal has the zone of the one that is given."""
    left, right = left_tag & KIND_MASK, right_tag & KIND_MASK
    if operation == ADD and ((left == DATETIME and right == DURATION) or (left == DURATION and right == DATETIME)):
        fits, number = _plus(left_bits, right_bits)
        return np.uint16(DATETIME if fits else SLOW), number
    if operation == SUBTRACT and left == DATETIME and right == DURATION:
        fits, number = _minus(left_bits, right_bits)
        return np.uint16(DATETIME if fits else SLOW), number
    return np.uint16(SLOW), np.int64(0)


@inner
def unary(function, tag, bits):
    """(tag, bits) of a function of one number, or of a duration negated; NONE for an error, SLOW where the plain
    functions must decide."""
    kind, scale = tag & KIND_MASK, np.int64(tag >> SCALE_SHIFT)
    if kind == INTEGER or kind == DECIMAL:
        return _unary_exact(function, kind, scale, bits)
    if kind == DOUBLE or kind == FLOAT:
        return np.uint16(kind), double_bits(_unary_rounded(function, np.int64(bits).view(np.float64)))
    if kind == DURATION and function == NEGATE and bits != -_MAX - 1:
        return np.uint16(DURATION), -bits
    return np.uint16(NONE if kind == NONE else SLOW), np.int64(0)


@inner
def _unary_exact(function, kind, scale, number):
    if number == -_MAX - 1:
        return np.uint16(SLOW), np.int64(0)
    if function == NEGATE or (function == ABSOLUTE and number < 0):
        number = -number
    if function <= ABSOLUTE or scale == 0:
        return np.uint16(kind | (scale << SCALE_SHIFT)), number
    unit = _POWERS[scale]
    if function == CEILING:
        return np.uint16(kind), -(-number // unit)
    whole = number // unit
    if function == ROUND and number - whole * unit >= unit // 2:
        whole += 1
    return np.uint16(kind), whole


@inner
def _unary_rounded(function, number):
    """A function of one float or double; a zero result keeps the sign."""
    if function == NEGATE:
        return -number
    if function == ABSOLUTE:
        return abs(number)
    if function == CEILING:
        return np.ceil(number)
    whole = np.floor(number)
    if function == ROUND and number - whole >= 0.5:
        whole += 1.0
    return np.copysign(whole, number)


@lazy_entry(lambda *arguments: 20 * len(arguments[-1]))
def arithmetic_all(operation, left_tags, left_bits, right_tags, right_bits, tags, bits):
    for i in range(len(tags)):
        tags[i], bits[i] = arithmetic(operation, left_tags[i], left_bits[i], right_tags[i], right_bits[i])
