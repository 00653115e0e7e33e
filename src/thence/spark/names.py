"""The ids of events that a shard's runs hold."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from thence.rdf.texts import Texts, joined

Ints = NDArray[np.int64]

_FEW = 65_536
"""Names that are kept without asking who needs them."""


@dataclass(slots=True)
class Names:
    """Ids by ref, refs ascending.

    >>> names = Names()
    >>> names.add(5, Texts.of(["a", "b"]))
    >>> names.of(np.array([6, 5])).to_list()
    ['b', 'a']
    """

    refs: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    texts: Texts = field(default_factory=lambda: joined([]))
    kept: int = 0  # when they were last gone through
    added: list[tuple[Ints, Texts]] = field(default_factory=list)
    dense: int = field(init=False)  # the place from which on each ref is the one before it and 1

    def __post_init__(self) -> None:
        self.dense = len(self.refs)

    def add(self, first: int, texts: Texts) -> None:
        if len(texts):
            self.added.append((np.arange(first, first + len(texts)), texts))

    def of(self, refs: Ints) -> Texts:
        self._gather()
        return self.texts.take(self._places(refs))

    def _places(self, refs: Ints) -> Ints:
        if self.dense == len(self.refs):
            return np.searchsorted(self.refs, refs)
        first = self.refs[self.dense]
        places: Ints = refs - first + self.dense
        earlier = np.flatnonzero(refs < first)
        places[earlier] = np.searchsorted(self.refs[: self.dense], refs[earlier])
        return places

    def _gather(self) -> None:
        if not self.added:
            return
        refs = np.concatenate([refs for refs, _ in self.added])
        goes_on = self.dense < len(self.refs) and self.refs[-1] + 1 == refs[0]
        if not goes_on:
            self.dense = len(self.refs)
        self.refs = np.concatenate([self.refs, refs])
        if refs[-1] - refs[0] + 1 != len(refs):
            self.dense = len(self.refs)
        self.texts = joined([self.texts, *(texts for _, texts in self.added)])
        self.added = []

    @property
    def are_many(self) -> bool:
        """Whether it is worth looking for those that nobody needs any more."""
        return len(self.refs) + sum(len(refs) for refs, _ in self.added) >= max(_FEW, 2 * self.kept)

    def keep(self, held: Ints) -> None:
        """Forget all others."""
        self._gather()
        wanted = np.flatnonzero(np.isin(self.refs, held))
        self.refs, self.texts = self.refs[wanted], self.texts.take(wanted)
        self.kept = self.dense = len(self.refs)
