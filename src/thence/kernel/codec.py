"""A state as bytes, and back: arrays behind a head that says what they are, for which query, in which version.

No pickle: a state may come from anywhere. What was saved by another version, for another query, is not whole, or could
lead compiled code astray, is refused with a reason.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thence.algebra.components import Totals
from thence.algebra.expressions import Variable
from thence.algebra.sequences import SequenceQuery
from thence.algebra.show import show
from thence.errors import InputError
from thence.kernel.arrays import Reader, read, written
from thence.kernel.contiguity import Contiguity
from thence.kernel.memory import ITERATED, KEEP_EXPIRED, Contents, contents, filled
from thence.kernel.rows import Matched
from thence.kernel.sequence import SequenceState, forget
from thence.kernel.soundness import check_contents, check_matched, check_partitions, check_terms, sure
from thence.kernel.totals import Totalled, measures_of, restored, saved
from thence.program.sequence import SequenceProgram
from thence.program.values import Values
from thence.rdf.dictionary import Terms
from thence.rdf.texts import Texts

VERSION = 4
"""Of the format, and of what the arrays mean: raised by every change of either."""

_MAGIC = b"thence-state\n"
_DIGEST = 32


@lru_cache(maxsize=16)
def fingerprint(program: SequenceProgram) -> str:
    """What a state belongs to: the query, the automaton that it was compiled to, and what the arrays of a state are,
    which depends on how it was compiled."""
    told = show(program.query) if isinstance(program.query, SequenceQuery) else repr(program.query)
    digest = hashlib.sha256(told.encode())
    digest.update(program.image.tobytes())
    tables = [(table.stream, table.variables) for table in program.tables]
    sources = [(source.table, source.variables) for source in program.sources]
    arrays = (tables, sources, program.inputs, program.feeds, program.negated, program.slots, program.iterated)
    digest.update(repr((arrays, program.routes, program.constants)).encode())
    return digest.hexdigest()


def save(program: SequenceProgram, state: SequenceState) -> bytes:
    """A state as bytes, without what is no longer needed."""
    forget(program, state)
    head = {
        "version": VERSION,
        "query": fingerprint(program),
        "latest": state.latest,
        "next_ref": state.next_ref,
        "kept": [state.terms_kept, *(contiguity.kept for contiguity in state.contiguities)],
        "keeps_expired": bool(state.memory[KEEP_EXPIRED]),
        "totals": saved(state.totals) if isinstance(program.query.form, Totals) else None,
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
    if head.get("query") != fingerprint(program):
        raise InputError(
            "The saved state belongs to another query. Run this one from the beginning, in a place of its own."
        )
    next_ref = _number(head.get("next_ref"), least=0)
    latest = head.get("latest")
    kept = head.get("kept")
    sure(isinstance(kept, list) and len(kept) == 1 + len(program.contiguous), "its head has not the numbers it should")
    assert isinstance(kept, list)
    terms_kept, *partitions_kept = (_number(each, least=0) for each in kept)
    terms = _terms(program, Texts(reader.next(), reader.next()))
    found = Contents(reader.next(), reader.next(), reader.next())
    check_contents(program, found, len(terms), next_ref)
    memory = filled(program.image, program.automaton, found)
    memory[KEEP_EXPIRED] = head.get("keeps_expired") is True
    contiguities = [
        _contiguity(by, reader, known, len(terms))
        for by, known in zip(program.contiguous, partitions_kept, strict=True)
    ]
    state = SequenceState(
        terms=terms,
        memory=memory,
        contiguities=contiguities,
        negated={feed: _matched(reader, program.inputs[program.feeds[feed]].variables) for feed in program.negated},
        recent=[_matched(reader, source.variables) for source in program.sources],
        latest=None if latest is None else _number(latest),
        next_ref=next_ref,
        terms_kept=terms_kept,
    )
    if isinstance(program.query.form, Totals):
        state.totals = _totals(head.get("totals"), program, found.nodes)
    for feed, rows in state.negated.items():
        check_matched(rows, len(program.inputs[program.feeds[feed]].sources), len(terms), next_ref)
    for rows in state.recent:
        check_matched(rows, 1, len(terms), next_ref)
    return state


def _contiguity(by: tuple[Variable, ...], reader: Reader, kept: int, terms: int) -> Contiguity:
    keys, times = reader.next().copy(), reader.next().copy()
    check_partitions(keys, times, len(by), terms)
    return Contiguity(by, keys, times, kept=kept)


def _totals(found: object, program: SequenceProgram, nodes: NDArray[np.int64]) -> Totalled:
    form = program.query.form
    assert isinstance(form, Totals)
    try:
        totals = restored(found, len(measures_of(form)))
    except (ValueError, TypeError, KeyError, IndexError, OverflowError):
        raise InputError("The saved state is damaged: its totals are none. Run the query again.") from None
    if program.automaton.merges:
        own = nodes[:, ITERATED + 2 * program.automaton.iterated - 1]
        sure(totals.weighed == len(nodes) and (own == np.arange(len(nodes))).all(), "an event has no weight")
    return totals


def _number(found: object, *, least: int = -(2**63)) -> int:
    """A number that fits into 64 bits."""
    sure(type(found) is int and least <= found < 2**63, "its head has something else than a number")
    assert isinstance(found, int)
    return found


def _terms(program: SequenceProgram, texts: Texts) -> Terms:
    """The dictionary: every term once, and first the constants of the program, whose predicates name them."""
    check_terms(texts)
    terms = Terms()
    constants = terms.add_all(program.constants)
    ids = terms.add_joined(texts)
    sure((ids == np.arange(len(ids))).all() and len(ids) >= len(constants), "its terms are not in their order")
    return terms


def _arrays(state: SequenceState) -> Iterator[NDArray[Any]]:
    yield state.terms.joined.text
    yield state.terms.joined.ends
    yield from contents(state.memory)
    for contiguity in state.contiguities:
        yield from contiguity.known()
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
