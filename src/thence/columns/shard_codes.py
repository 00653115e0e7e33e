"""The shard of a row, by its values of the key: the same for the same terms, on any machine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from thence.columns.dictionary import Terms
from thence.columns.value_columns import ValueColumn, holds_term_id, values_of
from thence.rdf.terms import Term


def shards_of(columns: Sequence[ValueColumn], count: int, terms: Terms, shards: int) -> NDArray[np.int64]:
    """The shard of each of `count` rows, by the columns of the key; without columns, the first shard."""
    code = np.zeros(count, np.uint64)
    for values in columns:
        bits = values.bits.astype(np.uint64)
        named = holds_term_id(values.tags)
        if named.any():
            bits[named] = terms.hashes[values.bits[named]]
        code = (code ^ bits ^ (values.tags.astype(np.uint64) << np.uint64(48))) * np.uint64(0x9E3779B97F4A7C15)
        code ^= code >> np.uint64(29)
    return (code % np.uint64(shards)).astype(np.int64)


def shard_of_term(term: Term, shards: int) -> int:
    """The shard of a row whose key is a term."""
    terms = Terms()
    column = values_of(terms.add_all([term]), terms, terms)
    return int(shards_of([column], 1, terms, shards)[0])
