"""Opens plain and gzipped files; limits how far a gzipped one expands."""

from __future__ import annotations

import io
import os
import zlib
from typing import BinaryIO, cast

from thence.errors import InputError, LimitError, ThenceError
from thence.rdf.limits import Limits

_BLOCK = 1 << 16
_LIMITS = Limits()
_MAGIC = b"\x1f\x8b"  # with which every gzipped file begins

READ_FAILURES = (ThenceError, OSError, EOFError, zlib.error)
"""The errors that a stream may raise while it is read; the data before is good."""


def open_input(path: str | os.PathLike[str], *, limits: Limits = _LIMITS) -> BinaryIO:
    """A file's bytes; those of a file that ends in `.gz` are unpacked as they are read."""
    name = os.fspath(path)
    try:
        file = open(name, "rb")  # noqa: SIM115 - the caller closes it
        if os.path.isdir(name):
            raise IsADirectoryError
    except FileNotFoundError:
        raise InputError(f"{name}: no such file") from None
    except IsADirectoryError:
        raise InputError(f"{name} is a folder, not a file") from None
    except OSError as error:
        raise InputError(f"{name} can't be read: {error.strerror}") from None
    if not name.lower().endswith(".gz"):
        return file
    head = file.read(len(_MAGIC))
    if not _MAGIC.startswith(head):
        file.close()
        raise InputError(f"{name} is not a gzip file, or a damaged one. Try: a name without .gz, if it is not packed")
    # not buffered: if it fails in the end, a buffer would keep what came before to itself
    return cast(BinaryIO, _Gunzip(file, name, limits, head))


class _Gunzip(io.RawIOBase):
    """The content of a gzipped file, of one or several members."""

    def __init__(self, file: BinaryIO, name: str, limits: Limits, head: bytes) -> None:
        self._file = file
        self._name = name
        self._limits = limits
        self._member = zlib.decompressobj(wbits=31)
        self._packed = head  # read, not yet unpacked
        self._taken, self._given = len(head), 0
        self._at_start = True  # of a member

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()
        super().close()

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while True:
            if not self._packed:
                self._packed = self._file.read(_BLOCK)
                self._taken += len(self._packed)
                if not self._packed:
                    if not self._at_start:
                        raise InputError(f"{self._name} ends in the middle of its gzipped data")
                    return 0
            piece = self._unpack(len(buffer))
            if piece:
                buffer[: len(piece)] = piece
                self._count(len(piece))
                return len(piece)

    def _unpack(self, most: int) -> bytes:
        if self._at_start and self._given and not self._packed.strip(b"\0"):
            self._packed = b""  # zeros behind the last member are padding
            return b""
        try:
            piece = self._member.decompress(self._packed, most)
        except zlib.error as error:
            raise InputError(f"{self._name} is not a gzip file, or a damaged one: {error}") from None
        self._at_start = False
        self._packed = self._member.unconsumed_tail
        if self._member.eof:
            self._packed = self._member.unused_data
            self._member = zlib.decompressobj(wbits=31)
            self._at_start = True
        return piece

    def _count(self, length: int) -> None:
        self._given += length
        # a small file may be as repetitive as it likes
        if self._given > self._limits.event_bytes and self._given > self._taken * self._limits.gunzip_ratio:
            ratio = self._limits.gunzip_ratio
            raise LimitError(f"{self._name} unpacks to more than {ratio} times its size, the most that is allowed")
