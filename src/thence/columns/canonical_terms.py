"""Terms that a tag and 64 bits represent exactly, and tagged values as Python values and literals."""

from __future__ import annotations

import struct
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from thence.columns import value_kinds
from thence.columns.dictionary import UNKNOWN, Terms
from thence.columns.value_kinds import BOOLEAN, DATETIME, DECIMAL, DOUBLE, DURATION, FLOAT, INTEGER, KIND_MASK, OTHER
from thence.jit.compiled import inner, lazy_entry
from thence.rdf.dates import XSD_DAY_TIME_DURATION, Duration, date_time_at
from thence.rdf.numbers import EXACT, Float, shortest_text
from thence.rdf.terms import Literal
from thence.rdf.values import XSD_DOUBLE, Value, literal, parse

# Converts tagged 64-bit values (`value_kinds`) to Python values and literals.

SHORTEST = value_kinds.DOUBLE | 1 << value_kinds.SCALE_SHIFT
"""The tag of a double in the form of typed events: `10.5`, not the canonical `1.05E1`. It is the same value and another
term.
"""

NON_CANONICAL = 13
"""The tag of a number whose text is not canonical (`01`): the bits are the term's id. It is higher than every kind of
`value_kinds`.
"""


def untag(tag: int, bits: int) -> Value:
    """The value of a tag and 64 bits: a number, a boolean, a time in UTC or a duration.

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
    if kind == DATETIME:
        return date_time_at(_seconds(bits), 0)
    if kind == DURATION:
        return Duration(0, _seconds(bits), XSD_DAY_TIME_DURATION)
    (double,) = struct.unpack("d", struct.pack("q", bits))
    assert kind in (value_kinds.DOUBLE, value_kinds.FLOAT)
    return Float(double) if kind == value_kinds.FLOAT else float(double)


def _seconds(microseconds: int) -> Decimal:
    return EXACT.scaleb(Decimal(microseconds), -6)


def tagged_literal(tag: int, bits: int) -> Literal:
    """The literal of a tagged value: canonical, except for SHORTEST doubles.

    >>> print(tagged_literal(SHORTEST, 0))
    "0.0"^^<http://www.w3.org/2001/XMLSchema#double>
    """
    if tag == SHORTEST:  # each row of an answer may have several
        (double,) = struct.unpack("d", struct.pack("q", bits))
        return Literal(repr(double), XSD_DOUBLE)
    return literal(untag(tag, bits))


# Terms that tag and 64 bits represent exactly: literals in canonical form, and doubles in their shortest form.

_SUFFIXES = {
    INTEGER: b'"^^<http://www.w3.org/2001/XMLSchema#integer>',
    DECIMAL: b'"^^<http://www.w3.org/2001/XMLSchema#decimal>',
}
_DOUBLE_SUFFIX = f'"^^<{XSD_DOUBLE}>'
_INTEGER_SUFFIX = len(_SUFFIXES[INTEGER])
_DECIMAL_SUFFIX = len(_SUFFIXES[DECIMAL])


def as_values(terms: Terms, ids: NDArray[np.int32]) -> tuple[NDArray[np.uint16], NDArray[np.int64], NDArray[np.bool_]]:
    """Terms as tags and 64 bits that identify them: equal pairs are equal terms, and the reverse; and whether the bits
    are the term's id. A number is stored as its value if its text is canonical or, for a double, the shortest.

    >>> from thence.rdf.terms import Literal
    >>> terms = Terms()
    >>> ids = terms.add_all(Literal(text, XSD_DOUBLE) for text in ("10.5", "1.05E1", "10.50"))
    >>> as_values(terms, ids)[0].tolist() == [SHORTEST, DOUBLE, NON_CANONICAL]
    True
    """
    tags = terms.tags[ids]
    if (tags < OTHER).all():  # IRIs, blank nodes and texts, the most frequent terms
        return tags, ids.astype(np.int64), np.ones(len(ids), np.bool_)
    known_tags, known_bits = terms.exact
    tags = known_tags[ids]
    is_new = tags == UNKNOWN
    if is_new.any():
        new = np.unique(ids[is_new])
        known_tags[new], known_bits[new] = _looked_at(terms, new)
        tags = known_tags[ids]
    return tags, known_bits[ids], (tags <= OTHER) | (tags == NON_CANONICAL)


def _looked_at(terms: Terms, ids: NDArray[np.int32]) -> tuple[NDArray[np.uint16], NDArray[np.int64]]:
    """The tags and bits of some terms, read from their texts."""
    tags, bits = terms.tags[ids], terms.bits[ids]
    kinds = tags & KIND_MASK
    is_value = are_canonical(terms, ids)
    # a number with too many digits for the fast path has no value in the dictionary
    for row in np.flatnonzero(~is_value & ((kinds == DOUBLE) | (kinds == OTHER))).tolist():
        number = _shortest(terms.text_of(int(ids[row])))
        if number is not None:
            tags[row], bits[row], is_value[row] = SHORTEST, np.float64(number).view(np.int64), True
    named = np.where(kinds <= OTHER, kinds, NON_CANONICAL)
    return np.where(is_value, tags, named).astype(np.uint16), np.where(is_value, bits, ids)


def _shortest(text: str) -> float | None:
    """The value of a term that is a double in the form of typed events; None for other terms."""
    if not text.endswith(_DOUBLE_SUFFIX):
        return None
    lexical = text[1 : -len(_DOUBLE_SUFFIX)]
    number = parse(lexical, XSD_DOUBLE)
    return number if isinstance(number, float) and shortest_text(number) == lexical else None


def are_canonical(terms: Terms, ids: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Whether each of some terms is a number or boolean in its canonical form."""
    kinds = terms.tags[ids] & KIND_MASK
    canonical = np.zeros(len(ids), np.bool_)
    # floats and booleans are rare in streams, and the shortest digits of a float need more than a few lines
    one_by_one = (kinds == DOUBLE) | (kinds == FLOAT) | (kinds == BOOLEAN) | (kinds == DURATION)
    _mark_exact(terms.text, terms.ends, ids, kinds, canonical)
    for row in np.flatnonzero(one_by_one).tolist():
        index = int(ids[row])
        canonical[row] = terms.text_of(index) == str(tagged_literal(int(terms.tags[index]), int(terms.bits[index])))
    return canonical


def _bytes(text, ends, ids, kinds, canonical):
    return int((ends[ids] - np.where(ids > 0, ends[ids - 1], 0)).sum())


@lazy_entry(_bytes)
def _mark_exact(text, ends, ids, kinds, canonical):
    for row in range(len(ids)):
        start = ends[ids[row] - 1] if ids[row] > 0 else 0
        stop = ends[ids[row]]
        if kinds[row] == INTEGER:
            # types derived from xsd:integer are other terms: their names differ in length or ending
            canonical[row] = _has_name(text, stop, 105, 110, 116) and _digits_are_canonical(
                text, start + 1, stop - _INTEGER_SUFFIX, False
            )
        elif kinds[row] == DECIMAL:
            canonical[row] = _digits_are_canonical(text, start + 1, stop - _DECIMAL_SUFFIX, True)


@inner
def _has_name(text, stop, first, second, third):
    """Whether the datatype is `#integer`, of which the first seven letters are compared."""
    return text[stop - 9] == 35 and text[stop - 8] == first and text[stop - 7] == second and text[stop - 6] == third


@inner
def _digits_are_canonical(text, i, stop, fraction):
    negative = i < stop and text[i] == 45
    if negative:
        i += 1
    if i == stop or not 48 <= text[i] <= 57:
        return False
    if text[i] == 48 and i + 1 < stop and text[i + 1] != 46:
        return False
    point = False
    only_zero = True
    for k in range(i, stop):
        if text[k] == 46:
            if point or not fraction or k + 1 == stop:
                return False
            point = True
        elif text[k] != 48:
            only_zero = False
    return not (negative and only_zero) and not (point and text[stop - 1] == 48)
