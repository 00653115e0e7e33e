"""A state as bytes, and back: arrays behind a head that says what they are, for which query, in which version.

No pickle: a state may come from anywhere. What was saved by another version, for another query, or is not whole, is
refused with a reason.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from numpy.typing import NDArray

from thence.algebra.expressions import Variable
from thence.algebra.show import show
from thence.errors import InputError
from thence.kernel.arrays import Reader, read, written
from thence.kernel.contiguity import Contiguity
from thence.kernel.rows import Matched
from thence.kernel.sequence import SequenceState
from thence.program.sequence import SequenceProgram
from thence.program.values import Values
from thence.rdf.dictionary import Terms
from thence.rdf.texts import Texts

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
    head = {
        "version": VERSION,
        "query": fingerprint(program),
        "latest": state.latest,
        "next_ref": state.next_ref,
    }
    return sealed(written(head, _arrays(state)))


def sealed(content: bytes) -> bytes:
    """Bytes with a mark that shows whether they are whole."""
    return _MAGIC + hashlib.sha256(content).digest() + content


def unsealed(saved: bytes) -> bytes:
    """What was sealed. InputError if it is not whole."""
    start = len(_MAGIC) + _DIGEST
    content = saved[start:]
    if not saved.startswith(_MAGIC) or hashlib.sha256(content).digest() != saved[len(_MAGIC) : start]:
        raise InputError("The saved state is not whole, or none at all. Run the query again from the beginning.")
    return content


def load(program: SequenceProgram, saved: bytes) -> SequenceState:
    """The state that was saved for this program."""
    head, reader = read(unsealed(saved))
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
    terms.add_joined(Texts(reader.next(), reader.next()))
    memory = reader.next().copy()
    keys, times = reader.next().copy(), reader.next().copy()
    return SequenceState(
        terms=terms,
        memory=memory,
        contiguity=Contiguity(program.query.partition, keys, times, kept=len(times)),
        negated={feed: _matched(reader, program.inputs[program.feeds[feed]].variables) for feed in program.negated},
        recent=[_matched(reader, source.variables) for source in program.sources],
        latest=head["latest"],
        next_ref=head["next_ref"],
        terms_kept=len(terms),
    )


def _arrays(state: SequenceState) -> Iterator[NDArray[Any]]:
    yield state.terms.joined.text
    yield state.terms.joined.ends
    yield state.memory
    yield from state.contiguity.known()
    for rows in (*state.negated.values(), *state.recent):
        yield rows.time
        yield rows.refs
        yield rows.fresh
        for values in rows.columns.values():
            yield values.tags
            yield values.bits


def _matched(reader: Reader, variables: tuple[Variable, ...]) -> Matched:
    time, refs, fresh = (reader.next().copy() for _ in range(3))
    columns = {variable: Values(reader.next().copy(), reader.next().copy()) for variable in variables}
    return Matched(time, refs, columns, fresh)
