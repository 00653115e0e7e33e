"""The term dictionary that the batches of a table share: repeated terms are entered once, and imported once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from thence.columns.arrays import Ints
from thence.columns.canonical_terms import as_values
from thence.columns.dictionary import UNBOUND, Terms
from thence.columns.row_order import gather
from thence.rdf.terms import Term

_MANY = 200_000
"""The number of terms after which the next batch starts a new dictionary, and likewise bytes of text: a column of
distinct values must not make a dictionary grow without end.
"""
_LARGE = 64 << 20


@dataclass(slots=True, eq=False)
class SharedTerms:
    """A dictionary, with caches of ids that were computed before."""

    terms: Terms = field(default_factory=Terms)
    _known: dict[str, tuple[Any, Ints]] = field(default_factory=dict)  # by column: its Arrow dictionary, its ids here
    _constants: dict[Term, tuple[int, int]] = field(default_factory=dict)
    _state: Terms | None = None
    _imported: Ints = field(default_factory=lambda: np.empty(0, np.int64))  # by id here, the id there

    def ids(self, column: str, values: Any, make: Callable[[Any], Term]) -> Ints:
        """The ids of a column's distinct values, an Arrow array. Values of the previous batch are looked up first."""
        known = self._known.get(column)
        if known is not None and known[0].equals(values):
            return known[1]
        terms = [None if value is None else make(value) for value in values.to_pylist()]
        ids = self.terms.add_all(terms).astype(np.int64)
        self._known[column] = (values, ids)
        return ids

    def value(self, term: Term) -> tuple[int, int]:
        """A query's constant as tag and bits of this dictionary."""
        if term not in self._constants:
            tags, bits, _ = as_values(self.terms, self.terms.add_all([term]))
            self._constants[term] = int(tags[0]), int(bits[0])
        return self._constants[term]

    def import_into(self, state: Terms, ids: Ints) -> Ints:
        """The ids in another dictionary of some terms of this one, entered where new."""
        if self._state is not state:
            self._state, self._imported = state, np.empty(0, np.int64)
        if len(self._imported) < len(self.terms):
            more = np.full(len(self.terms) - len(self._imported), UNBOUND, np.int64)
            self._imported = np.concatenate([self._imported, more])
        found, is_lacking = gather(self._imported, ids)
        if is_lacking:
            new = np.flatnonzero(np.bincount(ids[found == UNBOUND])).astype(np.int32)
            self._imported[new] = state.import_all(self.terms, new)
            found, _ = gather(self._imported, ids)
        return found

    @property
    def is_full(self) -> bool:
        return len(self.terms) > _MANY or self.terms.used > _LARGE


@dataclass(slots=True, eq=False)
class Dictionaries:
    """The dictionaries of a table, one after the other."""

    _current: SharedTerms = field(default_factory=SharedTerms)

    def current(self) -> SharedTerms:
        """The dictionary for all columns of the next batch."""
        if self._current.is_full:
            self._current = SharedTerms()
        return self._current
