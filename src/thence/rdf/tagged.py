"""Between tagged 64-bit values (`tags`) and Python's (`values`)."""

from __future__ import annotations

import struct
from decimal import Decimal

from thence.rdf import tags
from thence.rdf.numbers import EXACT, Float
from thence.rdf.terms import Literal
from thence.rdf.values import Value, literal


def untag(tag: int, bits: int) -> Value:
    """The number or boolean that a tag and 64 bits hold.

    >>> untag(tags.DECIMAL | 2 << tags.SCALE_SHIFT, 1999)
    Decimal('19.99')
    """
    kind = tag & tags.KIND_MASK
    if kind == tags.INTEGER:
        return bits
    if kind == tags.DECIMAL:
        return EXACT.scaleb(Decimal(bits), -(tag >> tags.SCALE_SHIFT))
    if kind == tags.BOOLEAN:
        return bits != 0
    (double,) = struct.unpack("d", struct.pack("q", bits))
    assert kind in (tags.DOUBLE, tags.FLOAT), "a date is always a term of the dictionary"
    return Float(double) if kind == tags.FLOAT else float(double)


def tagged_literal(tag: int, bits: int) -> Literal:
    """The canonical literal of a tagged number or boolean."""
    return literal(untag(tag, bits))
