"""Columns of values: a tag and 64 bits a row, as in `canonical_terms.as_values`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thence.columns import value_kinds
from thence.columns.canonical_terms import as_values
from thence.columns.dictionary import Terms
from thence.columns.gather import gather
from thence.columns.tagged_values import NON_CANONICAL

Rows = NDArray[np.int64]


class Tagged(NamedTuple):
    """A value a row; tag NONE is none."""

    tags: NDArray[np.uint16]
    bits: NDArray[np.int64]

    @property
    def tag(self) -> int | None:
        """The tag of all rows, where it is known without looking that they have one."""
        return single_tag(self.tags)

    def take(self, rows: slice | Rows) -> Tagged:
        tag = self.tag
        if tag is not None:
            return constant(tag, self.bits[rows])
        return Tagged(self.tags[rows], self.bits[rows])

    def spread(self, where: NDArray[Any]) -> Tagged:
        """A row for each number in `where`, these being the distinct values: nearly always all of one tag."""
        if len(self.tags) == 1:
            return constant(int(self.tags[0]), np.broadcast_to(self.bits, where.shape))
        if (self.tags == self.tags[0]).all():
            return constant(int(self.tags[0]), gather(self.bits, where)[0])
        return Tagged(self.tags[where], self.bits[where])


def constant(tag: int, bits: NDArray[np.int64]) -> Tagged:
    """One tag for all rows."""
    return Tagged(np.broadcast_to(np.uint16(tag), bits.shape), bits)


def single_tag(tags: NDArray[Any]) -> int | None:
    """The tag of all rows, where it is known without looking that they have one: `constant` makes a view of one number.

    >>> single_tag(constant(3, np.arange(5)).tags), single_tag(np.array([3, 3], np.uint16))
    (3, None)
    """
    return int(tags[0]) if len(tags) and tags.strides == (0,) else None


def values_of_terms(ids: NDArray[Any], terms: Terms) -> Tagged:
    """Terms of a dictionary as values in the sense of that dictionary."""
    kinds, bits, _ = as_values(terms, ids.astype(np.int32))
    return Tagged(kinds, bits)


def holds_term_id(tag: Any) -> Any:
    """Whether the bits beside a tag, or beside each of an array of tags, are a term's id."""
    return (tag != value_kinds.NONE) & ((tag <= value_kinds.OTHER) | (tag == NON_CANONICAL))
