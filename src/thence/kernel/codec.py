"""A state as bytes, and back: arrays behind a head that says what they are, for which query, in which version.

No pickle: a state may come from anywhere. What was saved by another version, for another query, or is not whole, is
refused with a reason.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thence.algebra.show import show
from thence.errors import InputError
from thence.kernel.contiguity import Contiguity
from thence.kernel.rows import Matched
from thence.kernel.sequence import SequenceState
from thence.program.sequence import SequenceProgram
from thence.program.values import Values
from thence.rdf.dictionary import Terms

VERSION = 1
"""Of the format, and of what the arrays mean: raised by every change of either."""

_MAGIC = b"thence-state\n"
_DIGEST = 32


def fingerprint(program: SequenceProgram) -> str:
    """What a state belongs to: the query, and the automaton that it was compiled to."""
    digest = hashlib.sha256(show(program.query).encode())
    digest.update(program.image.tobytes())
    return digest.hexdigest()


def save(program: SequenceProgram, state: SequenceState) -> bytes:
    """A state as bytes."""
    arrays = list(_arrays(state))
    head = {
        "version": VERSION,
        "query": fingerprint(program),
        "arrays": [[str(array.dtype), list(array.shape)] for array in arrays],
        "latest": state.latest,
        "next_ref": state.next_ref,
    }
    described = json.dumps(head).encode()
    body = b"".join(np.ascontiguousarray(array).tobytes() for array in arrays)
    content = len(described).to_bytes(8, "little") + described + body
    return _MAGIC + hashlib.sha256(content).digest() + content


def load(program: SequenceProgram, saved: bytes) -> SequenceState:
    """The state that was saved for this program."""
    head, reader = _opened(saved)
    if head.get("version") != VERSION:
        raise InputError(
            f"The saved state is of version {head.get('version')}, and this is version {VERSION}. "
            "Run the query again from the beginning, or with the release that saved it."
        )
    if head["query"] != fingerprint(program):
        raise InputError(
            "The saved state belongs to another query. Run this one from the beginning, in a place of its own."
        )
    terms = Terms()
    texts, ends = reader.next(), reader.next()
    pieces = np.split(texts, ends[:-1]) if len(ends) else []
    terms.add_texts([piece.tobytes() for piece in pieces])
    memory = reader.next()
    keys, times = reader.next(), reader.next()
    return SequenceState(
        terms=terms,
        memory=memory,
        contiguity=Contiguity(program.query.partition, keys, times, kept=len(times)),
        negated={feed: reader.matched(program.inputs[program.feeds[feed]].variables) for feed in program.negated},
        recent=[reader.matched(source.variables) for source in program.sources],
        latest=head["latest"],
        next_ref=head["next_ref"],
        terms_kept=len(terms),
    )


def _arrays(state: SequenceState) -> Iterator[NDArray[Any]]:
    terms = state.terms
    yield terms.text[: terms.used]
    yield terms.ends[: len(terms)]
    yield state.memory
    yield from state.contiguity.known()
    for rows in (*state.negated.values(), *state.recent):
        yield rows.time
        yield rows.refs
        yield rows.fresh
        for values in rows.columns.values():
            yield values.tags
            yield values.bits


def _opened(saved: bytes) -> tuple[dict[str, Any], _Reader]:
    start = len(_MAGIC) + _DIGEST
    content = saved[start:]
    whole = saved.startswith(_MAGIC) and hashlib.sha256(content).digest() == saved[len(_MAGIC) : start]
    if not whole:
        raise InputError("The saved state is not whole, or none at all. Run the query again from the beginning.")
    length = int.from_bytes(content[:8], "little")
    head: dict[str, Any] = json.loads(content[8 : 8 + length])
    return head, _Reader(content[8 + length :], head["arrays"])


@dataclass(slots=True)
class _Reader:
    """Gives out the arrays of a saved state, one after the other."""

    body: bytes
    described: list[tuple[str, list[int]]]
    position: int = 0
    number: int = field(default=0)

    def next(self) -> NDArray[Any]:
        kind, shape = self.described[self.number]
        dtype = np.dtype(kind)
        size = int(np.prod(shape))
        array = np.frombuffer(self.body, dtype, size, self.position).reshape(shape).copy()
        self.position += size * dtype.itemsize
        self.number += 1
        return array

    def matched(self, variables: tuple[Any, ...]) -> Matched:
        time, refs, fresh = self.next(), self.next(), self.next()
        columns = {variable: Values(self.next(), self.next()) for variable in variables}
        return Matched(time, refs, columns, fresh)
