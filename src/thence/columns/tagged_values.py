"""Converts tagged 64-bit values (`value_kinds`) to Python values and literals."""

from __future__ import annotations

import struct
from decimal import Decimal

from thence.columns import value_kinds
from thence.rdf.numbers import EXACT, Float
from thence.rdf.terms import Literal
from thence.rdf.values import XSD_DOUBLE, Value, literal

SHORTEST = value_kinds.DOUBLE | 1 << value_kinds.SCALE_SHIFT
"""The tag of a double that is written as typed events have it: `10.5`, not the canonical `1.05E1`. It is the same value
and another term."""

NON_CANONICAL = 12
"""The tag of a number whose text says more than its value does: bits hold the term's id. No kind of `value_kinds` is as
high."""


def untag(tag: int, bits: int) -> Value:
    """The number or boolean that a tag and 64 bits hold.

    >>> untag(value_kinds.DECIMAL | 2 << value_kinds.SCALE_SHIFT, 1999)
    Decimal('19.99')
    """
    kind = tag & value_kinds.KIND_MASK
    if kind == value_kinds.INTEGER:
        return bits
    if kind == value_kinds.DECIMAL:
        return EXACT.scaleb(Decimal(bits), -(tag >> value_kinds.SCALE_SHIFT))
    if kind == value_kinds.BOOLEAN:
        return bits != 0
    (double,) = struct.unpack("d", struct.pack("q", bits))
    assert kind in (value_kinds.DOUBLE, value_kinds.FLOAT), "a date is always a term of the dictionary"
    return Float(double) if kind == value_kinds.FLOAT else float(double)


def tagged_literal(tag: int, bits: int) -> Literal:
    """The literal of a tagged number or boolean: the canonical one, but for the SHORTEST doubles.

    >>> print(tagged_literal(SHORTEST, 0))
    "0.0"^^<http://www.w3.org/2001/XMLSchema#double>
    """
    if tag == SHORTEST:  # of which there may be several in each row of an answer
        (double,) = struct.unpack("d", struct.pack("q", bits))
        return Literal(repr(double), XSD_DOUBLE)
    return literal(untag(tag, bits))
