"""Files that are made while they are read, so that a test does not hold what the reader must not hold."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import BinaryIO

MiB = 1 << 20


def made(*parts: bytes | Iterable[bytes]) -> BinaryIO:
    """A stream of these parts, one after the other."""
    return io.BufferedReader(_Made(parts), MiB)


class _Made(io.RawIOBase):
    def __init__(self, parts: Iterable[bytes | Iterable[bytes]]) -> None:
        self._blocks = (block for part in parts for block in ([part] if isinstance(part, bytes) else part))
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._rest:
            block = next(self._blocks, None)
            if block is None:
                return 0
            self._rest = block
        piece, self._rest = self._rest[: len(buffer)], self._rest[len(buffer) :]
        buffer[: len(piece)] = piece
        return len(piece)
