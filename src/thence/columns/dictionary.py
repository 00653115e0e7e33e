"""`Terms`: a dictionary of terms by id, and the typed value of each, as columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from thence.columns import hashing
from thence.columns.texts import Texts
from thence.columns.value_kinds import classify
from thence.rdf.terms import IRI, XSD_STRING, BlankNode, Literal, Term

UNBOUND = -1
"""The id that stands for no term."""

UNKNOWN = 0xFFFF
"""The tag of a term whose text has not been read; higher than every kind and scale."""


class Terms:
    """Terms by id, counted from 0. A term is its canonical N-Triples text (`str(term)`), so equal ids are equal terms,
    and the reverse.

    >>> terms = Terms()
    >>> terms.add(Literal("a")), terms.add(IRI("http://example.org/")), terms.add(Literal("a"))
    (0, 1, 0)
    >>> terms[1]
    IRI(value='http://example.org/')
    """

    __slots__ = (
        "_bits",
        "_cache",
        "_classified",
        "_exact",
        "_found",
        "_tags",
        "count",
        "ends",
        "hashes",
        "slots",
        "text",
    )

    def __init__(self) -> None:
        self.count = 0
        self.text: NDArray[np.uint8] = np.empty(1024, np.uint8)
        self.ends: NDArray[np.int64] = np.empty(64, np.int64)
        self.hashes: NDArray[np.uint64] = np.empty(64, np.uint64)
        self.slots: NDArray[np.int64] = np.full(256, hashing.FREE, np.int64)
        self._tags: NDArray[np.uint16] = np.empty(0, np.uint16)
        self._bits: NDArray[np.int64] = np.empty(0, np.int64)
        self._classified = 0
        self._exact: tuple[NDArray[np.uint16], NDArray[np.int64]] = np.empty(0, np.uint16), np.empty(0, np.int64)
        self._cache: dict[int, Term] = {}
        self._found: dict[Term, int] = {}

    def __len__(self) -> int:
        return self.count

    def reserve(self, entries: int, size: int) -> None:
        """Make room for `entries` more terms with `size` bytes of text in all."""
        needed = self.count + entries
        if needed > len(self.ends):
            capacity = max(needed, 2 * len(self.ends))
            self.ends = _grown(self.ends, self.count, capacity)
            self.hashes = _grown(self.hashes, self.count, capacity)
        if 2 * needed > len(self.slots):
            length = len(self.slots)
            while 2 * needed > length:
                length *= 2
            self.slots = np.full(length, hashing.FREE, np.int64)
            hashing.rehash(self.hashes, self.count, self.slots)
        used = self.used
        if used + size > len(self.text):
            self.text = _grown(self.text, used, max(used + size, 2 * len(self.text)))

    @property
    def used(self) -> int:
        return int(self.ends[self.count - 1]) if self.count else 0

    def add(self, term: Term) -> int:
        """The id of a term, entered if it is new."""
        return int(self.add_texts([str(term).encode()])[0])

    def add_texts(self, texts: Sequence[bytes]) -> NDArray[np.int32]:
        """The ids of terms given as canonical N-Triples, entered where new."""
        return self._enter(*_joined(texts))

    def add_joined(self, texts: Texts) -> NDArray[np.int32]:
        """The ids of terms given as arrays of canonical N-Triples, entered where new."""
        bounds = np.concatenate([np.zeros(1, np.int64), texts.ends])
        return self._enter(np.array(texts.text), bounds)  # a copy, since the compiled function takes writable arrays

    def _enter(self, source: NDArray[np.uint8], bounds: NDArray[np.int64]) -> NDArray[np.int32]:
        self.reserve(len(bounds) - 1, len(source))
        ids = np.empty(len(bounds) - 1, np.int32)
        self.count = hashing.add_all(self.text, self.ends, self.hashes, self.slots, self.count, source, bounds, ids)
        return ids

    @property
    def joined(self) -> Texts:
        """All terms as canonical N-Triples, in the order of their ids."""
        return Texts(self.text[: self.used], self.ends[: self.count])

    def add_all(self, terms: Iterable[Term | None]) -> NDArray[np.int32]:
        """The ids of terms, entered where new; None gives UNBOUND."""
        listed = list(terms)
        ids = np.full(len(listed), UNBOUND, np.int32)
        bound = [i for i, term in enumerate(listed) if term is not None]
        ids[bound] = self.add_texts([str(listed[i]).encode() for i in bound])
        return ids

    def find_all(self, terms: Iterable[Term]) -> NDArray[np.int32]:
        """The ids of terms; UNBOUND for those that the dictionary lacks."""
        return self.find_texts([str(term).encode() for term in terms])

    def find_texts(self, texts: Sequence[bytes]) -> NDArray[np.int32]:
        """The ids of terms given as canonical N-Triples; UNBOUND for those that the dictionary lacks."""
        source, bounds = _joined(texts)
        ids = np.empty(len(texts), np.int64)
        hashing.find_all(self.text, self.ends, self.slots, source, bounds, ids)
        return np.maximum(ids, UNBOUND).astype(np.int32)

    def find(self, term: Term) -> int:
        """The id of a term; UNBOUND if the dictionary lacks it. Found ids are cached: patterns ask for few terms,
        often."""
        known = self._found.get(term)
        if known is None:
            known = int(self.find_all([term])[0])
            if known != UNBOUND:
                self._found[term] = known
        return known

    def import_all(self, other: Terms, ids: NDArray[np.int32]) -> NDArray[np.int32]:
        """The ids in this dictionary of some terms of another one, entered where new."""
        size = int((other.ends[ids] - np.where(ids > 0, other.ends[ids - 1], 0)).sum()) if len(ids) else 0
        self.reserve(len(ids), size)
        found = np.empty(len(ids), np.int32)
        self.count = hashing.import_all(
            self.text, self.ends, self.hashes, self.slots, self.count, other.text, other.ends, other.hashes, ids, found
        )
        return found

    def look_up(
        self, other: Terms, ids: NDArray[np.int32], known: NDArray[np.int32], *, unknown: int, missing: int
    ) -> NDArray[np.int32]:
        """The ids in this dictionary of some terms of another one; `missing` for those that it lacks. `known` caches
        them by the other's id, with `unknown` where nothing is cached, so each term is looked up once."""
        ids = np.array(ids)  # a copy, since the compiled function takes writable arrays
        hashing.look_up(
            self.text, self.ends, self.slots, other.text, other.ends, other.hashes, ids, known, unknown, missing
        )
        return known[ids]

    def texts(self, ids: NDArray[np.int32]) -> list[bytes]:
        """The canonical N-Triples texts of some terms."""
        stops = self.ends[ids]
        starts = np.where(ids > 0, self.ends[ids - 1], 0)
        text = self.text
        return [text[i:j].tobytes() for i, j in zip(starts.tolist(), stops.tolist(), strict=True)]

    def text_of(self, index: int) -> str:
        """The canonical N-Triples text of a term."""
        begin = int(self.ends[index - 1]) if index else 0
        return self.text[begin : int(self.ends[index])].tobytes().decode()

    def __getitem__(self, index: int) -> Term:
        term = self._cache.get(index)
        if term is None:
            term = self._cache[index] = from_text(self.text_of(index))
        return term

    @property
    def tags(self) -> NDArray[np.uint16]:
        """The kind of value of each term, and a decimal's scale (`thence.columns.value_kinds`)."""
        self._classify()
        return self._tags[: self.count]

    @property
    def bits(self) -> NDArray[np.int64]:
        """The value of each term in 64 bits, according to its tag; its id if it has no value."""
        self._classify()
        return self._bits[: self.count]

    @property
    def exact(self) -> tuple[NDArray[np.uint16], NDArray[np.int64]]:
        """The tag and bits that identify each term, if `canonical_terms.as_values` has computed them, else tag UNKNOWN,
        so that no text is read twice."""
        tags, bits = self._exact
        if self.count > len(tags):
            capacity = max(self.count, 2 * len(tags))
            larger = _grown(tags, len(tags), capacity)
            larger[len(tags) :] = UNKNOWN
            self._exact = tags, bits = larger, _grown(bits, len(bits), capacity)
        return tags, bits

    def _classify(self) -> None:
        if self._classified == self.count:
            return
        if self.count > len(self._tags):
            capacity = max(self.count, 2 * len(self._tags))
            self._tags = _grown(self._tags, self._classified, capacity)
            self._bits = _grown(self._bits, self._classified, capacity)
        classify(self.text, self.ends, self._classified, self.count, self._tags, self._bits)
        self._classified = self.count


def from_text(text: str) -> Term:
    """The term of a canonical N-Triples text: the inverse of `str`.

    >>> from_text('"a\\\\nb"@en')
    Literal(value='a\\nb', datatype='http://www.w3.org/1999/02/22-rdf-syntax-ns#langString', language='en')
    """
    if text.startswith("<"):
        return IRI(text[1:-1])
    if text.startswith("_:"):
        return BlankNode(text[2:])
    close = text.rindex('"')
    lexical = _unescape(text[1:close])
    rest = text[close + 1 :]
    if rest.startswith("@"):
        return Literal(lexical, language=rest[1:])
    return Literal(lexical, rest[3:-1] if rest else XSD_STRING)


_UNESCAPED = {"\\": "\\", '"': '"', "n": "\n", "r": "\r"}


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    parts = []
    escaped = False
    for character in text:
        if escaped:
            parts.append(_UNESCAPED[character])
            escaped = False
        elif character == "\\":
            escaped = True
        else:
            parts.append(character)
    return "".join(parts)


def _joined(texts: Sequence[bytes]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    bounds = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=bounds[1:])
    # a bytearray: the functions are compiled for writable arrays, which are another type
    return np.frombuffer(bytearray().join(texts), np.uint8), bounds


def _grown(array: NDArray[np.generic], used: int, capacity: int) -> NDArray:  # type: ignore[type-arg]
    larger = np.empty(capacity, array.dtype)
    larger[:used] = array[:used]
    return larger
