"""The ids of events that a shard's runs hold, and ids told apart where events are equal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
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


@dataclass(slots=True)
class Ordinals:
    """Tells equal events apart: the second of those with one id is called `id-2`. Events come in the order of time, and
    equal ones have one time, so that only the ids of the latest time are remembered."""

    time: int | None = None
    seen: Counter[str] = field(default_factory=Counter)

    def told_apart(self, times: Ints, ids: Texts) -> Texts:
        """The ids of some events, none before any given earlier."""
        if not len(times):
            return ids
        order = np.argsort(times, kind="stable")
        known = self.seen if self.time == times[order[0]] else Counter[str]()
        found = None
        for place, text in self._repeated(times[order], order, ids, known):
            known[text] += 1
            if known[text] > 1:
                found = found or ids.to_list()
                found[place] = f"{text}-{known[text]}"
        self._remember(times, ids, known)
        return ids if found is None else Texts.of(found)

    def _repeated(self, times: Ints, order: Ints, ids: Texts, known: Counter[str]) -> Iterator[tuple[int, str]]:
        """The events that are perhaps not the only ones with their id: nearly always none. Their `times` ascend."""
        same = times[1:] == times[:-1]
        tied = np.append(False, same) | np.append(same, False)
        if known:
            tied |= times == times[0]
        places = order[tied]
        if not len(places):
            return
        texts = ids.take(places).to_arrow().dictionary_encode()
        numbers = texts.indices.to_numpy()
        many = np.bincount(numbers) > 1
        if known:
            many |= np.array([text in known for text in texts.dictionary.to_pylist()])
        for number in np.flatnonzero(many[numbers]).tolist():
            yield int(places[number]), texts[number].as_py()

    def _remember(self, times: Ints, ids: Texts, known: Counter[str]) -> None:
        """The ids of the latest time, and how many have each."""
        last = int(times.max())
        latest = ids.take(np.flatnonzero(times == last)).to_list()
        self.seen = Counter({text: max(1, known[text]) for text in latest} | (known if last == self.time else {}))
        self.time = last
