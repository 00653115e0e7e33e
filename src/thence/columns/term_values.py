"""Terms as states hold them: a tag and 64 bits that identify the term exactly.

A number or boolean in canonical form is its value, and so is a double in its shortest form (`10.5`, tag SHORTEST). Any
other term is its id in the state's dictionary, and a number in yet another form (`01`, `1.50`) is NON_CANONICAL: an id
too, whose value the predicates look up. So equal pairs are equal terms, and nothing is rounded or forgotten.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thence.columns.canonical_terms import as_values
from thence.columns.dictionary import UNBOUND, Terms
from thence.columns.tagged_values import NON_CANONICAL, tagged_literal
from thence.columns.value_columns import single_tag
from thence.columns.value_kinds import DATETIME, NONE, OTHER
from thence.jit.strided_columns import write_columns
from thence.rdf.terms import XSD, Literal, Term
from thence.rdf.times import Domain, format_time

__all__ = ["NON_CANONICAL", "ValueColumn", "term_of", "value_of", "values_of"]


@dataclass(frozen=True, slots=True, eq=False)
class ValueColumn:
    """A column of terms; tag NONE is unbound."""

    tags: NDArray[Any]  # of 16 bits; of 64 where they come from the machine's memory
    bits: NDArray[np.int64]

    def take(self, rows: NDArray[np.int64]) -> ValueColumn:
        return ValueColumn(self.tags[rows], self.bits[rows])


def values_of(ids: NDArray[np.int32], source: Terms, state: Terms) -> ValueColumn:
    """A column of ids of a batch's dictionary, as values; terms that have no value of their own enter the state's."""
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
    """The term that a value is; None if unbound."""
    if tag == NONE:
        return None
    if tag == NON_CANONICAL or tag <= OTHER:
        return state[bits]
    if tag == DATETIME:  # of a slot of SASE+, where times are compared by value
        return Literal(format_time(bits, Domain.DATETIME), XSD + "dateTime")
    return tagged_literal(tag, bits)


def write_values(
    table: NDArray[np.int64],
    values: Sequence[tuple[int, ValueColumn]],
    others: Sequence[tuple[int, NDArray[Any]]] = (),
    constants: Sequence[tuple[int, int]] = (),
) -> None:
    """Writes columns of values into a table of rows, each as tag and bits from its place on, with other columns and
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
