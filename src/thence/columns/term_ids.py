"""Columns of values as ids of a dictionary, and back."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from thence.columns.dictionary import UNBOUND, Terms
from thence.columns.tagged_values import SHORTEST, tagged_literal
from thence.columns.term_values import ValueColumn
from thence.columns.value_columns import holds_term_id, values_of_terms
from thence.columns.value_kinds import INTEGER, NONE
from thence.rdf.times import XSD_INTEGER
from thence.rdf.values import XSD_DOUBLE

Ids = NDArray[np.int32]
Bits = NDArray[np.int64]

_DOUBLE = f"^^<{XSD_DOUBLE}>".encode()
_INTEGER = f"^^<{XSD_INTEGER}>".encode()


def term_ids(column: ValueColumn, terms: Terms) -> Ids:
    """A column of values as ids; numbers enter the dictionary as the terms they are."""
    tags = np.asarray(column.tags)
    ids = np.where(holds_term_id(tags), column.bits, UNBOUND).astype(np.int32)
    rows = np.flatnonzero((tags != NONE) & ~holds_term_id(tags))
    if len(rows):
        for tag in np.unique(tags[rows]).tolist():
            same = rows[tags[rows] == tag]
            distinct, where = np.unique(column.bits[same], return_inverse=True)
            ids[same] = _entered(tag, distinct, terms)[where]
    return ids


def _entered(tag: int, bits: Bits, terms: Terms) -> Ids:
    """The ids of distinct numbers. A column may have as many as rows: of doubles no literal is built, nor their text
    read to say which value it is."""
    if tag != SHORTEST:
        return terms.add_texts(_texts(tag, bits.tolist()))
    ids = terms.add_texts([b'"%r"%b' % (each, _DOUBLE) for each in bits.view(np.float64).tolist()])
    tags, values = terms.exact
    tags[ids], values[ids] = SHORTEST, bits
    return ids


def _texts(tag: int, values: Sequence[int]) -> list[bytes]:
    """The terms of tagged numbers or booleans. Integers are most of them, and their texts are soon made."""
    if tag == INTEGER:
        return [b'"%d"%b' % (bits, _INTEGER) for bits in values]
    return [str(tagged_literal(tag, bits)).encode() for bits in values]


def values_of_ids(ids: Ids, terms: Terms) -> ValueColumn:
    """A column of ids as values; UNBOUND is unbound."""
    bound = ids != UNBOUND
    tags, bits = np.zeros(len(ids), np.uint16), np.zeros(len(ids), np.int64)
    if bound.any():
        found = values_of_terms(ids[bound], terms)
        tags[bound], bits[bound] = found.tags, found.bits
    return ValueColumn(tags, bits)
