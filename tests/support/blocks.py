"""Streams that come in given blocks, as archives and pipes do, so that a test can put a block's end anywhere."""

from __future__ import annotations

import io
from collections.abc import Iterable
from typing import BinaryIO, cast


class _Blocks(io.RawIOBase):
    def __init__(self, blocks: Iterable[bytes], failure: Exception | None) -> None:
        self._blocks = (block for block in blocks if block)
        self._failure = failure

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        block = next(self._blocks, b"")
        if not block and self._failure:
            raise self._failure
        return block


def in_blocks(*blocks: bytes, failure: Exception | None = None) -> BinaryIO:
    """A stream of which each read returns the next block, whatever size is asked for; at its end it may fail."""
    return cast(BinaryIO, _Blocks(blocks, failure))


def cut(data: bytes, size: int) -> list[bytes]:
    """Data in blocks of a size."""
    return [data[begin : begin + size] for begin in range(0, len(data), size)]
