"""Columns of values: a tag and 64 bits per row, to and from terms, literals and ids of a dictionary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thence.columns import value_kinds
from thence.columns.arrays import Ids, Ints
from thence.columns.canonical_terms import NON_CANONICAL, SHORTEST, as_values, tagged_literal
from thence.columns.dictionary import UNBOUND, Terms
from thence.columns.row_order import gather
from thence.columns.value_kinds import INTEGER, NONE, OTHER
from thence.jit.pointers import write_columns
from thence.rdf.terms import Term
from thence.rdf.times import XSD_INTEGER
from thence.rdf.values import XSD_DOUBLE

# Columns of values: a tag and 64 bits per row, as in `canonical_terms.as_values`.


class Tagged(NamedTuple):
    """One value per row; NONE means unbound."""

    tags: NDArray[np.uint16]
    bits: NDArray[np.int64]

    @property
    def tag(self) -> int | None:
        """The tag of all rows, if it is known without a scan that they have one."""
        return single_tag(self.tags)

    def take(self, rows: slice | Ints) -> Tagged:
        tag = self.tag
        if tag is not None:
            return constant(tag, self.bits[rows])
        return Tagged(self.tags[rows], self.bits[rows])

    def spread(self, where: NDArray[Any]) -> Tagged:
        """The values with the numbers in `where`, these being the distinct values: nearly always all have one tag."""
        if len(self.tags) == 1:
            return constant(int(self.tags[0]), np.broadcast_to(self.bits, where.shape))
        if (self.tags == self.tags[0]).all():
            return constant(int(self.tags[0]), gather(self.bits, where)[0])
        return Tagged(self.tags[where], self.bits[where])


def constant(tag: int, bits: NDArray[np.int64]) -> Tagged:
    """One tag for all rows."""
    return Tagged(np.broadcast_to(np.uint16(tag), bits.shape), bits)


def single_tag(tags: NDArray[Any]) -> int | None:
    """The tag of all rows, if it is known without a scan that they have one: `constant` makes a view of one number.

    >>> single_tag(constant(3, np.arange(5)).tags), single_tag(np.array([3, 3], np.uint16))
    (3, None)
    """
    return int(tags[0]) if len(tags) and tags.strides == (0,) else None


def values_of_terms(ids: NDArray[Any], terms: Terms) -> Tagged:
    """Terms of a dictionary as values of that dictionary."""
    kinds, bits, _ = as_values(terms, ids.astype(np.int32))
    return Tagged(kinds, bits)


def holds_term_id(tag: Any) -> Any:
    """Whether the bits beside a tag (or each of an array of tags) are a term's id."""
    return (tag != value_kinds.NONE) & ((tag <= value_kinds.OTHER) | (tag == NON_CANONICAL))


# Terms as states hold them: a tag and 64 bits that identify the term exactly.
#
# A number or boolean in canonical form is its value, and so is a double in its shortest form (`10.5`, tag SHORTEST).
# Any other term is its id in the state's dictionary, and a number in yet another form (`01`, `1.50`) is NON_CANONICAL:
# an id too, whose value the predicates look up. So equal pairs are equal terms, and nothing is rounded or forgotten.

__all__ = ["NON_CANONICAL", "ValueColumn", "term_of", "value_of", "values_of"]


@dataclass(frozen=True, slots=True, eq=False)
class ValueColumn:
    """A column of terms; tag NONE means unbound."""

    tags: NDArray[Any]  # of 16 bits; of 64 where they come from the machine's memory
    bits: NDArray[np.int64]

    def take(self, rows: NDArray[np.int64]) -> ValueColumn:
        return ValueColumn(self.tags[rows], self.bits[rows])


def values_of(ids: NDArray[np.int32], source: Terms, state: Terms) -> ValueColumn:
    """A column of ids of a batch's dictionary as values; terms without a value of their own enter the state's
    dictionary."""
    distinct, where = np.unique(ids, return_inverse=True)
    bound = distinct[distinct != UNBOUND]
    if not len(bound):
        return ValueColumn(np.full(len(ids), NONE, np.uint16), np.zeros(len(ids), np.int64))
    tags, bits, named = as_values(source, bound)
    bits[named] = state.import_all(source, bound[named])
    skipped = len(distinct) - len(bound)  # UNBOUND comes first, if at all
    tags = np.concatenate([np.full(skipped, NONE, np.uint16), tags])
    bits = np.concatenate([np.zeros(skipped, np.int64), bits])
    return ValueColumn(tags[where], bits[where])


def value_of(term: Term, state: Terms) -> tuple[int, int]:
    """One term as a value."""
    terms = Terms()
    column = values_of(terms.add_all([term]), terms, state)
    return int(column.tags[0]), int(column.bits[0])


def term_of(tag: int, bits: int, state: Terms) -> Term | None:
    """The term of a value; None if unbound."""
    if tag == NONE:
        return None
    if tag == NON_CANONICAL or tag <= OTHER:
        return state[bits]
    return tagged_literal(tag, bits)


def write_values(
    table: NDArray[np.int64],
    values: Sequence[tuple[int, ValueColumn]],
    others: Sequence[tuple[int, NDArray[Any]]] = (),
    constants: Sequence[tuple[int, int]] = (),
) -> None:
    """Writes columns of values into a table of rows, each as tag and bits from its position on, with other columns and
    constants."""
    columns, alike = list(others), list(constants)
    for place, each in values:
        columns.append((place + 1, each.bits))
        tag = single_tag(each.tags)
        if tag is None:
            columns.append((place, each.tags))
        else:
            alike.append((place, tag))
    write_columns(table, columns, alike)


Bits = NDArray[np.int64]

_DOUBLE = f"^^<{XSD_DOUBLE}>".encode()
_INTEGER = f"^^<{XSD_INTEGER}>".encode()


def term_ids(column: ValueColumn, terms: Terms) -> Ids:
    """A column of values as ids; numbers enter the dictionary as their terms."""
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
    """The ids of distinct numbers. A column may have as many as rows, so for doubles no literal is built, and no text
    is read to find its value."""
    if tag != SHORTEST:
        return terms.add_texts(_texts(tag, bits.tolist()))
    ids = terms.add_texts([b'"%r"%b' % (each, _DOUBLE) for each in bits.view(np.float64).tolist()])
    tags, values = terms.exact
    tags[ids], values[ids] = SHORTEST, bits
    return ids


def _texts(tag: int, values: Sequence[int]) -> list[bytes]:
    """The terms of tagged numbers or booleans. Most are integers, whose texts are built quickly."""
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


# Which shard a row belongs to, by its values of the key: the same for the same terms, on any machine.


def shards_of(columns: Sequence[ValueColumn], count: int, terms: Terms, shards: int) -> NDArray[np.int64]:
    """The shard of each of `count` rows, by the columns of the key; without any, the first."""
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
