"""The automaton's state as a head and arrays, and back. What could lead compiled code astray is refused: a saved state
may come from anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thence.algebra.components import Totals
from thence.algebra.expressions import Variable
from thence.errors import InputError
from thence.kernel.arrays import Reader
from thence.kernel.contiguity import Contiguity
from thence.kernel.memory import ITERATED, Contents, contents, filled
from thence.kernel.rows import Matched
from thence.kernel.sequence import SequenceState, forget
from thence.kernel.soundness import check_contents, check_matched, check_partitions, check_terms, sure
from thence.kernel.totals import Totalled, measures_of, restored, saved
from thence.program.sequence import SequenceProgram
from thence.program.values import Values
from thence.rdf.dictionary import Terms
from thence.rdf.texts import Texts


def snapshot(program: SequenceProgram, state: SequenceState) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    """A state as a head and arrays, without what no later event can need."""
    forget(program, state)
    head = {
        "latest": state.latest,
        "kept": [state.terms_kept, *(contiguity.kept for contiguity in state.contiguities)],
        "totals": saved(state.totals) if isinstance(program.query.form, Totals) else None,
    }
    return head, list(_arrays(state))


def restore(program: SequenceProgram, head: dict[str, Any], reader: Reader, next_ref: int) -> SequenceState:
    """The state of a snapshot for this program. InputError if it cannot be one."""
    latest = head.get("latest")
    kept = head.get("kept")
    sure(isinstance(kept, list) and len(kept) == 1 + len(program.contiguous), "its head has not the numbers it should")
    assert isinstance(kept, list)
    terms_kept, *partitions_kept = (_number(each, least=0) for each in kept)
    terms = _terms(program, Texts(reader.next(), reader.next()))
    found = Contents(reader.next(), reader.next(), reader.next())
    check_contents(program, found, len(terms), next_ref)
    memory = filled(program.image, program.automaton, found)
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
        yield rows.end
        yield rows.end[:0] if rows.start is rows.end else rows.start
        yield rows.refs
        yield rows.fresh
        for values in rows.columns.values():
            yield values.tags
            yield values.bits


def _matched(reader: Reader, variables: tuple[Variable, ...]) -> Matched:
    end, start, refs, fresh = (reader.next().copy() for _ in range(4))
    columns = {variable: Values(reader.next().copy(), reader.next().copy()) for variable in variables}
    return Matched(start if start.size else end, end, refs, columns, fresh)
