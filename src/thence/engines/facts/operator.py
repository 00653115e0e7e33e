"""Facts as an operator: files of TEF-SPARQL are its programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Variable
from thence.columns.array_codec import ArrayReader
from thence.columns.arrays import Ints
from thence.columns.dictionary import Terms
from thence.columns.value_columns import values_of_ids
from thence.engines.facts import snapshot
from thence.engines.facts.current_event import EmittedEvent, EmittedFact, EmittedRow
from thence.engines.facts.frames import triple_of
from thence.engines.facts.program import FactsProgram
from thence.engines.facts.state import FactsState, initial_state, run, take
from thence.errors import InputError
from thence.interface.extracted import Extracted
from thence.interface.operator import NEVER, Environment, HeldFact
from thence.interface.output import OPEN_END, is_numbered
from thence.interface.solutions import Deferred, EventLists, Solutions, fact_text
from thence.rdf.terms import Literal
from thence.rdf.times import format_time


@dataclass(frozen=True, slots=True)
class FactsOperator:
    """Takes event triples one at a time; facts start and end with them."""

    def initial(self, program: FactsProgram, environment: Environment) -> FactsState:
        return initial_state(program, environment)

    def prune(self, program: FactsProgram, state: FactsState) -> None:
        """Terms are kept as they are; the dictionary serves one extraction."""
        state.terms = Terms()

    def step(
        self, program: FactsProgram, state: FactsState, extracted: Extracted, watermark: int, environment: Environment
    ) -> Iterator[Solutions]:
        take(program, state, extracted, environment)
        run(state, watermark)
        if watermark == NEVER and state.machine.is_begun:
            state.machine.finish()
        found = state.machine.take()
        if program.file.selects:
            rows = [each for each in found if isinstance(each, EmittedRow)]
            if rows:
                yield _rows(program, rows, state.terms)
            return
        others = [each for each in found if isinstance(each, EmittedEvent | EmittedFact)]
        if others:
            yield _facts_and_events(program, others, state.terms)

    def facts(self, program: FactsProgram, state: FactsState, time: int | None) -> list[HeldFact]:
        """The facts that hold at a time, by start."""
        store, now = state.machine.store, state.machine.facts.now
        at = now if time is None else time
        if at < now and state.kept_for is not None:
            asked = format_time(at, state.machine.facts.domain)
            raise InputError(f"The facts of {asked} are not kept. Try: query.engine(history=True)")
        every = [*store.holding(), *store.ended]
        holding = [fact for fact in every if fact.start <= at and (fact.end is None or at < fact.end)]
        holding.sort(key=lambda fact: (fact.start, fact.number))
        return [HeldFact(fact.start, fact.end, triple_of(fact.triple)) for fact in holding]

    def held(self, program: FactsProgram, state: FactsState) -> Ints:
        refs = {each.ref for each in state.waiting}
        refs |= {ref for stored in state.machine.stores() for each in stored.all() for ref in each.refs}
        return np.array(sorted(refs), np.int64)

    def snapshot(self, program: FactsProgram, state: FactsState) -> tuple[dict[str, Any], list[NDArray[Any]]]:
        return snapshot.snapshot(state)

    def restore(
        self,
        program: FactsProgram,
        head: dict[str, Any],
        arrays: ArrayReader,
        next_ref: int,
        environment: Environment,
    ) -> FactsState:
        return snapshot.restore(program, head, next_ref, environment)


def _lists(found: Sequence[EmittedRow | EmittedEvent | EmittedFact]) -> EventLists:
    """The input events of each (TEF-75), each once."""
    refs = [() if isinstance(each, EmittedFact) else tuple(dict.fromkeys(each.refs)) for each in found]
    offsets = np.cumsum([0, *map(len, refs)]).astype(np.int64)
    flat = np.array([ref for each in refs for ref in each], np.int64)
    places = np.array([place for each in refs for place in range(len(each))], np.int64)
    return EventLists(offsets, flat, places)


def _rows(program: FactsProgram, rows: list[EmittedRow], terms: Terms) -> Solutions:
    names = program.output.columns
    columns = tuple(
        values_of_ids(terms.add_all(row.bound.get(Variable(name)) for row in rows), terms) for name in names
    )
    lists = _lists(rows)
    return Solutions(
        certain=np.array([row.certain for row in rows], np.int64),
        start=np.array([row.start for row in rows], np.int64),
        end=np.array([row.end for row in rows], np.int64),
        names=names,
        terms=terms,
        events=Deferred(lambda: lists),
        columns=columns,
        identity=lambda: columns,
        queries=np.array([row.query for row in rows], np.int64) if is_numbered(program.output) else None,
    )


def _facts_and_events(program: FactsProgram, found: list[EmittedEvent | EmittedFact], terms: Terms) -> Solutions:
    """The output of a file without SELECT (TEF-74): events, and facts as they end."""
    lists = _lists(found)
    ends = [OPEN_END if each.end is None else each.end for each in found]
    shown = [tuple(each.triples) if isinstance(each, EmittedEvent) else (each.triple,) for each in found]
    columns = (values_of_ids(terms.add_all(Literal(fact_text(each)) for each in shown), terms),)
    return Solutions(
        certain=np.array([each.end if isinstance(each, EmittedEvent) else each.certain for each in found], np.int64),
        start=np.array([each.start for each in found], np.int64),
        end=np.array(ends, np.int64),
        names=program.output.columns,
        terms=terms,
        events=Deferred(lambda: lists),
        columns=columns if program.output.columns else None,
        triples=lambda number: shown[number],
        identity=lambda: columns,
    )
