"""`Texts`: many texts as two arrays, their bytes and their ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """
    >>> Texts.of(["a", "bcd"]).take(np.array([1, 1, 0])).to_list()
    ['bcd', 'bcd', 'a']
    """

    text: NDArray[np.uint8]
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, texts: Sequence[str]) -> Texts:
        listed = [text.encode() for text in texts]
        ends = np.cumsum([len(each) for each in listed], dtype=np.int64)
        return cls(np.frombuffer(bytearray().join(listed), np.uint8), ends)

    @classmethod
    def of_arrow(cls, array: Any) -> Texts:
        """An Arrow array of texts, none of them null."""
        import pyarrow as pa

        array = array.cast(pa.large_string())
        offsets = np.frombuffer(array.buffers()[1], np.int64)[array.offset : array.offset + len(array) + 1]
        content = array.buffers()[2]
        text = np.frombuffer(content, np.uint8) if content is not None else np.empty(0, np.uint8)
        return cls(text[offsets[0] : offsets[-1]], offsets[1:] - offsets[0])

    def __len__(self) -> int:
        return len(self.ends)

    @property
    def starts(self) -> NDArray[np.int64]:
        return np.concatenate([np.zeros(1, np.int64), self.ends[:-1]]) if len(self.ends) else self.ends

    def take(self, rows: NDArray[np.int64]) -> Texts:
        length = self._length()
        if length:  # texts of one length, as hashes are: rows of a table
            return Texts(self.text.reshape(-1, length)[rows].reshape(-1), length * np.arange(1, len(rows) + 1))
        starts = self.starts[rows]
        lengths = self.ends[rows] - starts
        ends = np.cumsum(lengths)
        places = np.repeat(starts - (ends - lengths), lengths) + np.arange(int(ends[-1]) if len(ends) else 0)
        return Texts(self.text[places], ends)

    def _length(self) -> int:
        """The common length of all texts; 0 if they differ."""
        first = int(self.ends[0]) if len(self.ends) else 0
        return first if first and (np.diff(self.ends) == first).all() else 0

    def slice(self, first: int, last: int) -> Texts:
        """Texts `first` to `last`, as a view of their bytes."""
        begin = int(self.ends[first - 1]) if first else 0
        stop = int(self.ends[last - 1]) if last > first else begin
        return Texts(self.text[begin:stop], self.ends[first:last] - begin)

    def to_list(self) -> list[str]:
        content, starts = self.text.tobytes(), self.starts.tolist()
        return [content[i:j].decode() for i, j in zip(starts, self.ends.tolist(), strict=True)]

    def to_arrow(self) -> pa.Array:
        import pyarrow as pa

        offsets = np.concatenate([np.zeros(1, np.int64), self.ends])
        buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(np.ascontiguousarray(self.text))]
        assert offsets[-1] < 2**31, "an Arrow array of texts has at most two billion bytes"
        return pa.Array.from_buffers(pa.string(), len(self.ends), buffers)


def concatenate_texts(parts: Sequence[Texts]) -> Texts:
    """Several lists of texts as one."""
    if len(parts) == 1:
        return parts[0]
    if not parts:
        return Texts(np.empty(0, np.uint8), np.empty(0, np.int64))
    sizes = np.cumsum([0, *(int(part.ends[-1]) if len(part) else 0 for part in parts)])
    ends = [part.ends + size for part, size in zip(parts, sizes[:-1].tolist(), strict=True)]
    return Texts(np.concatenate([part.text for part in parts]), np.concatenate(ends))
