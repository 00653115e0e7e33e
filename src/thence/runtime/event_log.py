"""The events that a host knows by their refs: in one process whole batches, in a shard on Spark their ids alone."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

from thence.columns.arrays import Ints
from thence.columns.texts import Texts, concatenate_texts
from thence.interface.extracted import ArrivedBatch

if TYPE_CHECKING:
    from thence.columns.batches import Batch


_FEW_BATCHES = 16
_FEW_IDS = 65_536
"""So many ids are retained without checking whether they are still needed."""


class EventLog(Protocol):
    """Refs count up from 0. An event is retained until `retain` is called without its ref."""

    next_ref: int

    def ids(self, refs: Ints) -> Texts: ...

    @property
    def is_large(self) -> bool:
        """Whether unneeded events should be searched for now: when the log has doubled, so that many small steps cost
        no more than a few large ones."""
        ...

    def retain(self, refs: Ints) -> None:
        """Evict all events but these."""
        ...


@dataclass(slots=True)
class BatchLog:
    """Batches by ref, refs ascending."""

    next_ref: int = 0
    batches: list[ArrivedBatch] = field(default_factory=list)
    _look_at: int = _FEW_BATCHES

    def add(self, stream: str, batch: Batch) -> ArrivedBatch:
        arrived = ArrivedBatch(stream, batch, self.next_ref)
        self.next_ref += len(batch)
        self.batches.append(arrived)
        return arrived

    def find(self, ref: int) -> ArrivedBatch:
        """The batch that an event is in."""
        return self.batches[bisect_right(self.batches, ref, key=lambda arrived: arrived.first_ref) - 1]

    def id(self, ref: int) -> str:
        found = self.find(ref)
        return found.batch.id(ref - found.first_ref)

    def ids(self, refs: Ints) -> Texts:
        return Texts.of([self.id(ref) for ref in refs.tolist()])

    @property
    def is_large(self) -> bool:
        return len(self.batches) >= self._look_at

    def retain(self, refs: Ints) -> None:
        """Evict the batches without a needed event."""
        needed = np.unique(refs)
        bounds = np.array([(each.first_ref, each.first_ref + len(each.batch)) for each in self.batches]).reshape(-1, 2)
        first, last = np.searchsorted(needed, bounds[:, 0]), np.searchsorted(needed, bounds[:, 1])
        self.batches = [each for each, kept in zip(self.batches, (first < last).tolist(), strict=True) if kept]
        self._look_at = max(_FEW_BATCHES, 2 * len(self.batches))


@dataclass(slots=True)
class IdLog:
    """Ids by ref, refs ascending.

    >>> log = IdLog(next_ref=5)
    >>> log.add(Texts.of(["a", "b"]))
    >>> log.ids(np.array([6, 5])).to_list(), log.next_ref
    (['b', 'a'], 7)
    """

    next_ref: int = 0
    refs: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    texts: Texts = field(default_factory=lambda: concatenate_texts([]))
    retained: int = 0  # how many there were after the last `retain`
    _added: list[tuple[Ints, Texts]] = field(default_factory=list)
    _dense: int = field(init=False)  # from this position on, each ref is one more than the ref before it

    def __post_init__(self) -> None:
        self._dense = len(self.refs)

    def add(self, texts: Texts) -> None:
        if len(texts):
            self._added.append((np.arange(self.next_ref, self.next_ref + len(texts)), texts))
            self.next_ref += len(texts)

    def ids(self, refs: Ints) -> Texts:
        self._gather()
        return self.texts.take(self._positions(refs))

    def _positions(self, refs: Ints) -> Ints:
        if self._dense == len(self.refs):
            return np.searchsorted(self.refs, refs)
        first = self.refs[self._dense]
        positions: Ints = refs - first + self._dense
        earlier = np.flatnonzero(refs < first)
        positions[earlier] = np.searchsorted(self.refs[: self._dense], refs[earlier])
        return positions

    def _gather(self) -> None:
        if not self._added:
            return
        refs = np.concatenate([refs for refs, _ in self._added])
        continues = self._dense < len(self.refs) and self.refs[-1] + 1 == refs[0]
        if not continues:
            self._dense = len(self.refs)
        self.refs = np.concatenate([self.refs, refs])
        if refs[-1] - refs[0] + 1 != len(refs):
            self._dense = len(self.refs)
        self.texts = concatenate_texts([self.texts, *(texts for _, texts in self._added)])
        self._added = []

    @property
    def is_large(self) -> bool:
        return len(self.refs) + sum(len(refs) for refs, _ in self._added) >= max(_FEW_IDS, 2 * self.retained)

    def retain(self, refs: Ints) -> None:
        self._gather()
        kept = np.flatnonzero(np.isin(self.refs, refs))
        self.refs, self.texts = self.refs[kept], self.texts.take(kept)
        self.retained = self._dense = len(self.refs)


def ids_of(log: EventLog, refs: Sequence[int]) -> list[str]:
    """The ids of some events."""
    return log.ids(np.array(refs, np.int64)).to_list()
