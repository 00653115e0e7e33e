"""Between tagged 64-bit values (`tags`) and Python's (`values`)."""

from __future__ import annotations

import struct
from decimal import Decimal
from math import isinf, isnan

from thence.rdf import tags
from thence.rdf.numbers import EXACT, Float
from thence.rdf.terms import Literal
from thence.rdf.values import XSD_DOUBLE, Value, literal

SHORTEST = tags.DOUBLE | 1 << tags.SCALE_SHIFT
"""The tag of a double that is written as typed events have it: `10.5`, not the canonical `1.05E1`. It is the same value
and another term."""

NON_CANONICAL = 12
"""The tag of a number whose text says more than its value does: bits hold the term's id. No kind of `tags` is as
high."""


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
    """The literal of a tagged number or boolean: the canonical one, but for the SHORTEST doubles.

    >>> print(tagged_literal(SHORTEST, 0))
    "0.0"^^<http://www.w3.org/2001/XMLSchema#double>
    """
    if tag == SHORTEST:  # of which there may be several in each row of an answer
        (double,) = struct.unpack("d", struct.pack("q", bits))
        return Literal(repr(double), XSD_DOUBLE)
    return literal(untag(tag, bits))


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
