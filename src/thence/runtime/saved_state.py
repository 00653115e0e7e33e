"""Saved states: one sealed envelope around what a host and its operator keep between two steps.

A state is arrays behind a head that names the version, the query and the number of shards. A digest shows whether it is
whole; what compiled code will walk over is checked by its operator, since a digest can be forged.
"""

from __future__ import annotations

import hashlib
from typing import Any

from numpy.typing import NDArray

from thence.columns.array_codec import ArrayReader, pack_arrays, unpack_arrays
from thence.errors import InputError

VERSION = 8
"""Of the format and of what its arrays mean, operators' included: raised by every change of either."""

_MAGIC = b"thence-state\n"
_DIGEST = 32


def save(head: dict[str, Any], arrays: list[NDArray[Any]], *, fingerprint: str, shards: int) -> bytes:
    """A state of a query with so many shards as bytes."""
    return sealed(pack_arrays({"version": VERSION, "query": fingerprint, "shards": shards, **head}, arrays))


def restore(saved: bytes, *, fingerprint: str, shards: int) -> tuple[dict[str, Any], ArrayReader]:
    """What was saved. InputError if it is damaged, or was saved by another version, query or number of shards."""
    head, arrays = unpack_arrays(unsealed(saved))
    if head.get("version") != VERSION:
        raise InputError(
            f"The checkpoint was written by version {head.get('version')} of the state's format, and this is version "
            f"{VERSION}. Continue with the release that wrote it, or start again with an empty checkpoint."
        )
    if head.get("query") != fingerprint:
        raise InputError("The checkpoint belongs to another query. Give each query a checkpoint of its own.")
    if head.get("shards") != shards:
        raise InputError(
            f"The checkpoint was written with {head.get('shards')} shards, and now there are {shards}. "
            f"Continue with shards={head.get('shards')}, or start again with an empty checkpoint."
        )
    return head, arrays


def sealed(content: bytes) -> bytes:
    """Bytes behind a digest that shows whether they are whole."""
    return _MAGIC + hashlib.sha256(content).digest() + content


def unsealed(saved: bytes) -> bytes:
    """What was sealed. InputError if it is not whole."""
    start = len(_MAGIC) + _DIGEST
    content = saved[start:]
    if not saved.startswith(_MAGIC) or hashlib.sha256(content).digest() != saved[len(_MAGIC) : start]:
        raise InputError("The saved state is not whole, or not a state. Run the query again from the beginning.")
    return content
