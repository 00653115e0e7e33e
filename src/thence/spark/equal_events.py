"""Equal events told apart. Tasks know nothing of each other's rows, so events of equal rows come with one id, if they
were given none, and their blank nodes with the same labels, which hold digests of the rows (`ids`). Equal rows have the
same matches, so that a shard that has one of them has all: there each gets an ordinal, which goes into the id and into
the labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from thence.kernel.rows import Matched
from thence.program.values import Values
from thence.rdf.columns import label_of
from thence.rdf.tags import BLANK
from thence.rdf.texts import Texts, joined
from thence.spark.chunks import Chunk
from thence.spark.ids import beginning_of

Ints = NDArray[np.int64]
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

    def told_apart(self, chunks: Sequence[Chunk]) -> list[Chunk]:
        """The same events, none before any given earlier, with ids and blank nodes of their own."""
        digests = [_digests(chunk) for chunk in chunks]
        counted = [number for number, found in enumerate(digests) if found is not None and len(found)]
        if not counted:
            return list(chunks)
        times = np.concatenate([chunks[number].times for number in counted])
        ordinals = self.count(times, joined([found for found in digests if found is not None and len(found)]))
        told, first = list(chunks), 0
        for number in counted:
            last = first + len(chunks[number])
            told[number] = _with_ordinals(chunks[number], ordinals[first:last])
            first = last
        return told

    def count(self, times: Ints, digests: Texts) -> Ints:
        """Which of its equals each of some events is, from 1. What has an empty digest has none."""
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
        listed = texts.dictionary.to_pylist()
        many = np.bincount(numbers) > 1
        if known:
            many |= np.array([digest in known for digest in listed])
        many &= np.array([digest != "" for digest in listed])
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


def _digests(chunk: Chunk) -> Texts | None:
    """Of each event the digest of its row, empty where it does not matter; None where it does of none."""
    if chunk.numbered:
        return chunk.ids
    named, of_ids = _found(chunk.ids, beginning_of(chunk.stream), b"")
    local, of_labels = _found(chunk.terms, _beginning(chunk), b"_")
    if not named.any() and not local.any():
        return None
    digits = np.zeros((len(chunk), _DIGITS), np.uint8)
    digits[named] = of_ids
    for rows in chunk.tables:
        for values in rows.columns.values():
            blank = _chosen(values, local)
            events = rows.refs[blank, 0]
            digits[events] = of_labels[np.cumsum(local)[values.bits[blank]] - 1]
            named[events] = True
    return Texts(digits[named].reshape(-1), np.cumsum(_DIGITS * named))


def _beginning(chunk: Chunk) -> str:
    """What a blank node's label begins with, if its event's digest follows."""
    return f"_:{label_of(chunk.stream)}_"


def _found(texts: Texts, beginning: str, ending: bytes) -> tuple[Truths, NDArray[np.uint8]]:
    """Which texts are a beginning and a digest, with nothing behind it, or with an ending of one byte and more; and the
    digits of these."""
    head, starts = np.frombuffer(beginning.encode(), np.uint8), texts.starts
    size = len(head) + _DIGITS
    lengths = texts.ends - starts
    fits = lengths > size if ending else lengths == size
    places = starts[fits]
    begins = (texts.text[places[:, None] + np.arange(len(head))] == head).all(axis=1)
    digits = texts.text[places[:, None] + np.arange(len(head), size)]
    right = begins & _IS_DIGIT[digits].all(axis=1)
    if ending:
        right &= texts.text[places + size] == ending[0]
    fits[fits] = right
    return fits, digits[right]


def _chosen(values: Values, terms: Truths) -> Ints:
    """The rows whose value is one of some blank nodes."""
    found = np.flatnonzero(values.tags == BLANK)
    return found[terms[values.bits[found]]]


def _with_ordinals(chunk: Chunk, ordinals: Ints) -> Chunk:
    """The same events, of which the second of equal ones is called `ID-2`, if it was given no id, and so on; and in the
    labels of its blank nodes, x2 follows the digest."""
    if (ordinals == 1).all():
        return chunk
    return _relabelled(replace(chunk, ids=_renamed(chunk, ordinals)), ordinals)


def _renamed(chunk: Chunk, ordinals: Ints) -> Texts:
    made = np.ones(len(chunk), np.bool_) if chunk.numbered else _found(chunk.ids, beginning_of(chunk.stream), b"")[0]
    ids = chunk.ids.to_list()
    for event in np.flatnonzero(made & (ordinals > 1)).tolist():
        ids[event] += f"-{ordinals[event]}"
    return Texts.of(ids)


def _relabelled(chunk: Chunk, ordinals: Ints) -> Chunk:
    local, _ = _found(chunk.terms, _beginning(chunk), b"_")
    if not local.any():
        return chunk
    known: dict[tuple[int, int], int] = {}
    tables = tuple(_with_places(rows, local, ordinals, known, len(chunk.terms)) for rows in chunk.tables)
    size, labels = len(_beginning(chunk)) + _DIGITS, chunk.terms.to_list()
    added = [f"{labels[term][:size]}x{ordinal}{labels[term][size:]}" for term, ordinal in known]
    return replace(chunk, tables=tables, terms=joined([chunk.terms, Texts.of(added)]))


def _with_places(
    rows: Matched, local: Truths, ordinals: Ints, known: dict[tuple[int, int], int], first: int
) -> Matched:
    """The same rows, whose blank nodes have the places of labels with ordinals, which `known` numbers from `first`."""
    columns = {}
    for variable, values in rows.columns.items():
        bits = values.bits
        chosen = _chosen(values, local)
        chosen = chosen[ordinals[rows.refs[chosen, 0]] > 1]
        if len(chosen):
            bits = bits.copy()
            pairs = zip(bits[chosen].tolist(), ordinals[rows.refs[chosen, 0]].tolist(), strict=True)
            bits[chosen] = [known.setdefault(pair, first + len(known)) for pair in pairs]
        columns[variable] = Values(values.tags, bits)
    return Matched(rows.time, rows.refs, columns, rows.fresh)
