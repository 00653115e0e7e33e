"""Distinguishes equal events. Tasks know nothing of each other's rows, so events of equal rows come with one id, if
they were given none, and their blank nodes with the same labels, which hold digests of the rows (`row_ids`). Equal rows
have the same matches, so that a shard that has one of them has all: there each gets an ordinal, which goes into the id
and into the labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from thence.columns.arrays import Ints
from thence.columns.batches import label_of
from thence.columns.texts import Texts, concatenate_texts
from thence.columns.value_columns import ValueColumn
from thence.columns.value_kinds import BLANK
from thence.interface.extracted import BindingTable
from thence.spark.sources.row_ids import id_prefix
from thence.spark.worker.chunks import Chunk

Truths = NDArray[np.bool_]

_DIGITS = 32
_IS_DIGIT = np.zeros(256, np.bool_)
_IS_DIGIT[np.frombuffer(b"0123456789abcdef", np.uint8)] = True


@dataclass(slots=True)
class Ordinals:
    """Counts equal events. They come in the order of time, and equal ones have one time, so that only the digests of
    the latest time are remembered."""

    time: int | None = None
    seen: Counter[str] = field(default_factory=Counter)

    def distinguished(self, chunks: Sequence[Chunk]) -> list[Chunk]:
        """The same events with ids and blank nodes of their own. Events must come in time order."""
        found = [_Digests.of(chunk) for chunk in chunks]
        counted = [each for each in found if each.matter]
        if not counted:
            return list(chunks)
        times = np.concatenate([each.chunk.ends for each in counted])
        ordinals = self.count(times, concatenate_texts([each.digests for each in counted]))
        of_each = iter(np.split(ordinals, np.cumsum([len(each.chunk) for each in counted[:-1]])))
        return [each.with_ordinals(next(of_each)) if each.matter else each.chunk for each in found]

    def count(self, times: Ints, digests: Texts) -> Ints:
        """The number of each event among its equals, from 1. Events with an empty digest have no equals."""
        order = np.argsort(times, kind="stable")
        known = self.seen if self.time == times[order[0]] else Counter[str]()
        found = np.ones(len(times), np.int64)
        for place, digest in self._repeated(times[order], order, digests, known):
            known[digest] += 1
            found[place] = known[digest]
        self._remember(times, digests, known)
        return found

    def _repeated(self, times: Ints, order: Ints, digests: Texts, known: Counter[str]) -> Iterator[tuple[int, str]]:
        """The events that perhaps have equals: nearly always none. Their `times` ascend."""
        same = times[1:] == times[:-1]
        tied = np.append(False, same) | np.append(same, False)
        if known:
            tied |= times == times[0]
        places = order[tied]
        if not len(places):
            return
        texts = digests.take(places).to_arrow().dictionary_encode()
        numbers = texts.indices.to_numpy()
        many = np.bincount(numbers) > 1
        if known:
            many |= np.array([digest in known for digest in texts.dictionary.to_pylist()])
        many &= pc.not_equal(texts.dictionary, "").to_numpy(zero_copy_only=False)
        for number in np.flatnonzero(many[numbers]).tolist():
            yield int(places[number]), texts[number].as_py()

    def _remember(self, times: Ints, digests: Texts, known: Counter[str]) -> None:
        """The digests of the latest time, and how many have each."""
        last = int(times.max())
        latest = digests.take(np.flatnonzero(times == last)).to_list()
        self.seen = Counter(
            {text: max(1, known[text]) for text in latest if text} | (known if last == self.time else {})
        )
        self.time = last


@dataclass(frozen=True, slots=True, eq=False)
class _Digests:
    """The digests of a chunk's rows."""

    chunk: Chunk
    digests: Texts  # of each event; empty where nothing depends on it
    made: Truths  # whether an event was given no id
    local: Truths  # whether a term is a blank node whose label has its event's digest

    @classmethod
    def of(cls, chunk: Chunk) -> _Digests:
        nodes = _blank_nodes(chunk)
        local, of_labels = _found(chunk.terms, nodes, _beginning(chunk), followed=True)
        if chunk.numbered:
            return cls(chunk, chunk.ids, np.ones(len(chunk), np.bool_), local)
        made, of_ids = _found(chunk.ids, np.arange(len(chunk)), id_prefix(chunk.stream), followed=False)
        digits = np.zeros((len(chunk), _DIGITS), np.uint8)
        digits[made] = of_ids
        known, places = made.copy(), np.cumsum(local) - 1
        for rows in chunk.tables if local.any() else ():
            for values in rows.columns.values():
                blank = _chosen(values, local)
                events = rows.refs[blank, 0]
                digits[events], known[events] = of_labels[places[values.bits[blank]]], True
        return cls(chunk, Texts(digits[known].reshape(-1), np.cumsum(_DIGITS * known)), made, local)

    @property
    def matter(self) -> bool:
        return len(self.digests.text) > 0

    def with_ordinals(self, ordinals: Ints) -> Chunk:
        """The same events, of which the second of equal ones is called `ID-2`, if it was given no id, and so on; and in
        the labels of its blank nodes, x2 follows the digest."""
        if (ordinals == 1).all():
            return self.chunk
        return self._relabelled(replace(self.chunk, ids=self._renamed(ordinals)), ordinals)

    def _renamed(self, ordinals: Ints) -> Texts:
        ids = self.chunk.ids.to_list()
        for event in np.flatnonzero(self.made & (ordinals > 1)).tolist():
            ids[event] += f"-{ordinals[event]}"
        return Texts.of(ids)

    def _relabelled(self, chunk: Chunk, ordinals: Ints) -> Chunk:
        if not self.local.any():
            return chunk
        known: dict[tuple[int, int], int] = {}
        tables = tuple(_with_places(rows, self.local, ordinals, known) for rows in chunk.tables)
        size, labels = len(_beginning(chunk)) + _DIGITS, chunk.terms.to_list()
        added = [f"{labels[term][:size]}x{ordinal}{labels[term][size:]}" for term, ordinal in known]
        return replace(chunk, tables=tables, terms=concatenate_texts([chunk.terms, Texts.of(added)]))


def _beginning(chunk: Chunk) -> str:
    """The prefix of a blank node's label, if its event's digest follows."""
    return f"_:{label_of(chunk.stream)}_"


def _blank_nodes(chunk: Chunk) -> Ints:
    """The places of a chunk's terms that are blank nodes."""
    found = np.zeros(len(chunk.terms), np.bool_)
    for rows in chunk.tables:
        for values in rows.columns.values():
            found[values.bits[values.tags == BLANK]] = True
    return np.flatnonzero(found)


def _found(texts: Texts, places: Ints, beginning: str, *, followed: bool) -> tuple[Truths, NDArray[np.uint8]]:
    """Which texts, of those at some places, are a beginning and a digest, either alone or followed by `_` and more; and
    the digits of these."""
    head, found = np.frombuffer(beginning.encode(), np.uint8), np.zeros(len(texts), np.bool_)
    starts, size = texts.starts[places], len(head) + _DIGITS
    lengths = texts.ends[places] - starts
    fits = lengths > size if followed else lengths == size
    places, starts = places[fits], starts[fits]
    cells = texts.text[starts[:, None] + np.arange(size + followed)]
    right = (cells[:, : len(head)] == head).all(axis=1) & _IS_DIGIT[cells[:, len(head) : size]].all(axis=1)
    if followed:
        right &= cells[:, size] == ord("_")
    found[places[right]] = True
    return found, cells[right, len(head) : size]


def _chosen(values: ValueColumn, terms: Truths) -> Ints:
    """The rows whose value is one of some blank nodes."""
    found = np.flatnonzero(values.tags == BLANK)
    return found[terms[values.bits[found]]]


def _with_places(rows: BindingTable, local: Truths, ordinals: Ints, known: dict[tuple[int, int], int]) -> BindingTable:
    """The same rows, whose blank nodes have the places of labels with ordinals, which `known` counts from behind all
    that there are."""
    columns = {}
    for variable, values in rows.columns.items():
        bits = values.bits
        chosen = _chosen(values, local)
        chosen = chosen[ordinals[rows.refs[chosen, 0]] > 1]
        if len(chosen):
            bits = bits.copy()
            pairs = zip(bits[chosen].tolist(), ordinals[rows.refs[chosen, 0]].tolist(), strict=True)
            bits[chosen] = [known.setdefault(pair, len(local) + len(known)) for pair in pairs]
        columns[variable] = ValueColumn(values.tags, bits)
    return replace(rows, columns=columns)
