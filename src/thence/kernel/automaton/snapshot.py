"""The automaton's state as a head and arrays, and back. What could lead compiled code astray is refused: a saved state
may come from anywhere."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Variable
from thence.algebra.sase import MatchAggregates
from thence.columns.array_codec import ArrayReader
from thence.columns.dictionary import Terms
from thence.columns.term_values import ValueColumn
from thence.columns.texts import Texts
from thence.errors import InputError
from thence.kernel.array_checks import check_terms, require
from thence.kernel.automaton.contiguity import Contiguity
from thence.kernel.automaton.match_aggregates import AggregateState, measures_of, restored_aggregates, saved_aggregates
from thence.kernel.automaton.memory import ITERATED, Contents, memory_contents, restored_memory
from thence.kernel.automaton.state_checks import check_contents, check_matched, check_partitions
from thence.kernel.automaton.step import SequenceState, forget
from thence.program.automaton.program import SequenceProgram
from thence.program.extracted import BindingTable


def snapshot(program: SequenceProgram, state: SequenceState) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    """A state as a head and arrays, without what no later event can need."""
    forget(program, state)
    head = {
        "latest": state.latest,
        "kept": [state.terms_kept, *(contiguity.kept for contiguity in state.contiguities)],
        "totals": saved_aggregates(state.totals) if isinstance(program.query.form, MatchAggregates) else None,
    }
    return head, list(_arrays(state))


def restore(program: SequenceProgram, head: dict[str, Any], reader: ArrayReader, next_ref: int) -> SequenceState:
    """The state of a snapshot for this program. InputError if it cannot be one."""
    latest = head.get("latest")
    kept = head.get("kept")
    require(
        isinstance(kept, list) and len(kept) == 1 + len(program.contiguous), "its head has not the numbers it should"
    )
    assert isinstance(kept, list)
    terms_kept, *partitions_kept = (_number(each, least=0) for each in kept)
    terms = _terms(program, Texts(reader.next(), reader.next()))
    found = Contents(reader.next(), reader.next(), reader.next())
    check_contents(program, found, len(terms), next_ref)
    memory = restored_memory(program.image, program.automaton, found)
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
    if isinstance(program.query.form, MatchAggregates):
        state.totals = _totals(head.get("totals"), program, found.nodes)
    for feed, rows in state.negated.items():
        check_matched(rows, len(program.inputs[program.feeds[feed]].sources), len(terms), next_ref)
    for rows in state.recent:
        check_matched(rows, 1, len(terms), next_ref)
    return state


def _contiguity(by: tuple[Variable, ...], reader: ArrayReader, kept: int, terms: int) -> Contiguity:
    keys, times = reader.next().copy(), reader.next().copy()
    check_partitions(keys, times, len(by), terms)
    return Contiguity(by, keys, times, kept=kept)


def _totals(found: object, program: SequenceProgram, nodes: NDArray[np.int64]) -> AggregateState:
    form = program.query.form
    assert isinstance(form, MatchAggregates)
    try:
        totals = restored_aggregates(found, len(measures_of(form)))
    except (ValueError, TypeError, KeyError, IndexError, OverflowError):
        raise InputError("The saved state is damaged: its totals are none. Run the query again.") from None
    if program.automaton.merges:
        own = nodes[:, ITERATED + 2 * program.automaton.iterated - 1]
        require(totals.weighed == len(nodes) and (own == np.arange(len(nodes))).all(), "an event has no weight")
    return totals


def _number(found: object, *, least: int = -(2**63)) -> int:
    """A number that fits into 64 bits."""
    require(type(found) is int and least <= found < 2**63, "its head has something else than a number")
    assert isinstance(found, int)
    return found


def _terms(program: SequenceProgram, texts: Texts) -> Terms:
    """The dictionary: every term once, and first the constants of the program, whose predicates name them."""
    check_terms(texts)
    terms = Terms()
    constants = terms.add_all(program.constants)
    ids = terms.add_joined(texts)
    require((ids == np.arange(len(ids))).all() and len(ids) >= len(constants), "its terms are not in their order")
    return terms


def _arrays(state: SequenceState) -> Iterator[NDArray[Any]]:
    yield state.terms.joined.text
    yield state.terms.joined.ends
    yield from memory_contents(state.memory)
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


def _matched(reader: ArrayReader, variables: tuple[Variable, ...]) -> BindingTable:
    end, start, refs, fresh = (reader.next().copy() for _ in range(4))
    columns = {variable: ValueColumn(reader.next().copy(), reader.next().copy()) for variable in variables}
    return BindingTable(start if start.size else end, end, refs, columns, fresh)
