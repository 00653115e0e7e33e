"""`--stream -`: standard input as a file."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Mapping, Sequence

import click

from thence.errors import InputError

_BOM = b"\xef\xbb\xbf"
_HEAD = 1 << 16


def spooled_input(streams: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The paths of streams, with a file in place of `-`: a table is read twice, and by several processes. It is removed
    when the command ends."""
    found = {name: list(paths) for name, paths in streams.items()}
    if sum(paths.count("-") for paths in found.values()) > 1:
        raise InputError("Standard input is one stream. Try: files for the others")
    for paths in found.values():
        if "-" in paths:
            paths[paths.index("-")] = _spooled()
    return found


def _spooled() -> str:
    folder = click.get_current_context().with_resource(tempfile.TemporaryDirectory(prefix="thence-"))
    source = sys.stdin.buffer
    head = source.read(_HEAD)
    path = os.path.join(folder, f"stdin.{ending_of(head)}")
    with open(path, "wb") as file:
        file.write(head)
        shutil.copyfileobj(source, file, 1 << 20)
    return path


def ending_of(head: bytes) -> str:
    """The ending that a file would have which begins so.

    >>> ending_of(b'{"time": 1}'), ending_of(b"time,price"), ending_of(b"[{}]"), ending_of(b"<http://x/s> ")
    ('jsonl', 'csv', 'json', 'nq')
    """
    if head.startswith(b"\x1f\x8b"):
        return ending_of(zlib.decompressobj(wbits=31).decompress(head, _HEAD)) + ".gz"
    if head.startswith(b"PAR1"):
        return "parquet"
    text = head.removeprefix(_BOM).lstrip()
    if text.startswith(b"{"):
        return "jsonl"
    if text.startswith(b"["):
        return "json"
    if text.startswith((b"<", b"_:")):
        return "nq"
    return "trig" if text.lower().startswith((b"@prefix", b"@base", b"prefix ", b"base ")) else "csv"
