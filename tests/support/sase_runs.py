"""SASE+: cases as the engine and as the definitions answer them, in comparable form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from decimal import Decimal
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from oracle.sase import Row as OracleRow
from oracle.sase import rows
from oracle.sase import totals as totalled
from oracle.sase_cases import Case
from oracle.sase_query import DAWN, Query
from oracle.sase_query import Event as OracleEvent
from oracle.sase_text import text
from support.flows import flow_of, program_of, restart
from thence.algebra.sase import ComponentQuery
from thence.columns.batches import EventBatch, encode
from thence.engines.automaton.memory import NEVER
from thence.engines.automaton.plan.sase import plan
from thence.engines.automaton.program import SequenceProgram
from thence.interface.solutions import Row
from thence.lang.sase.parser import parse
from thence.local.flow import LocalFlow
from thence.rdf.events import Event
from thence.rdf.terms import IRI, Literal

Comparable = tuple[int, int, int, tuple[tuple[str, ...], ...], tuple[tuple[str, object], ...]]
"""A row as both sides tell it: start, end, when it was certain, events of each component, cells."""


def agree(case: Case, cuts: list[int], order: tuple[str, ...] = ()) -> None:
    """Optimised, unoptimised, and interrupted, the engine gives the rows of the definitions."""
    expected = rows(case.query, case.events)
    optimised, plainly = (in_order(program, order) for program in programs_of(case.query))
    batch = encoded(case.events)

    runner = flow_of(optimised)
    found = [comparable_row(row, runner) for row in runner.run({"events": [batch]})]
    assert Counter(found) == Counter(comparable(row, unit(case.query)) for row in expected)
    places = [(certain, end, start, sum(ids, ())) for start, end, certain, ids, _ in found]
    assert places == sorted(places)

    unoptimised = flow_of(plainly)
    assert Counter(comparable_row(row, unoptimised) for row in unoptimised.run({"events": [batch]})) == Counter(found)

    interrupted = flow_of(program_of(runner))
    bounds = [cut * unit(case.query) for cut in sorted(cuts)]
    assert Counter(comparable_row(row, interrupted) for row in in_pieces(interrupted, batch, bounds)) == Counter(found)


def unit(query: Query) -> int:
    """What the engine has for one unit of the definitions' time: minutes are microseconds there."""
    return 60_000_000 if query.dated else 1


@lru_cache(maxsize=1)
def programs_of(query: Query) -> tuple[SequenceProgram, SequenceProgram]:
    """Optimised and not, once for all streams of a query."""
    block = read(query)
    return plan(block), plan(block, optimise=False)


def in_order(program: SequenceProgram, names: tuple[str, ...]) -> SequenceProgram:
    """The program with the option `order`, for each of its streams."""
    if not names:
        return program
    predicates = tuple(IRI(program.namespace + name) for name in names)
    return program.ordered(tuple((stream.name, predicates) for stream in program.streams))


def read(query: Query) -> ComponentQuery:
    (block,) = parse(text(query)).queries[-1].blocks
    return block


def encoded(events: Sequence[OracleEvent]) -> EventBatch:
    return encode([typed(event) for event in events], stream="events")


def typed(event: OracleEvent) -> Event:
    start, end = ((DAWN + timedelta(minutes=time) if event.dated else time) for time in (event.start, event.time))
    return Event(start, {"type": event.type, **dict(event.attributes)}, end, id=event.id)


def in_pieces(runner: LocalFlow, batch: EventBatch, cuts: Sequence[int]) -> Iterator[Row]:
    """Fed in pieces by time, the state saved and loaded between."""
    bounds = [*cuts, NEVER]
    low = -1
    for bound in bounds:
        chosen = [n for n in range(len(batch)) if low <= batch.ends[n] < bound]
        yield from runner.feed({"events": [batch.take(_ints(chosen))]} if chosen else {}, int(bound))
        restart(runner)
        low = bound


def _ints(numbers: list[int]) -> NDArray[np.int64]:
    return np.array(numbers, np.int64)


def comparable(row: OracleRow, unit: int = 1) -> Comparable:
    times = row.start * unit, row.end * unit, row.certain * unit
    return *times, row.ids, tuple((name, plain(cell)) for name, cell in sorted(row.cells))


def comparable_row(row: Row, runner: LocalFlow) -> Comparable:
    components = program_of(runner).components
    assert components is not None
    ids = runner.ids(row)
    by_component = tuple(
        tuple(name for name, place in zip(ids, row.places, strict=True) if place == number)
        for number in range(len(components.positive))
    )
    names = [item.name for item in program_of(runner).query.form.items]  # type: ignore[union-attr]
    cells = tuple((name, of_engine(row.bindings.get(name))) for name in sorted(names))
    return row.start, row.end, row.certain, by_component, cells


def plain(cell: object) -> object:
    """Numbers by value, and composites as tuples of names and values."""
    if isinstance(cell, tuple):
        return tuple(plain(each) for each in cell)
    if isinstance(cell, bool):
        return f"is {cell}"  # Python has True for 1
    if not isinstance(cell, int | float | Decimal):
        return cell
    return round(float(cell), 9) if cell == cell else "not a number"  # which equals itself nowhere


def of_engine(cell: object) -> object:
    match cell:
        case None:
            return None
        case tuple():
            return tuple(of_engine(each) for each in cell)
        case Mapping():
            return tuple((name, of_engine(each)) for name, each in cell.items())
        case Literal():
            return plain(cell.python)
    raise TypeError(cell)


def agree_in_total(case: Case, cuts: list[int], order: tuple[str, ...] = ()) -> None:
    expected = Counter(
        (start * unit(case.query), end * unit(case.query), tuple((name, plain(cell)) for name, cell in row))
        for start, end, row in totalled(case.query, case.events)
    )
    optimised, plainly = (in_order(program, order) for program in programs_of(case.query))
    batch = encoded(case.events)
    assert totals(flow_of(plainly), batch, []) == expected
    assert totals(flow_of(optimised), batch, [cut * unit(case.query) for cut in cuts]) == expected


def totals(runner: LocalFlow, batch: EventBatch, cuts: Sequence[int]) -> Counter[object]:
    found: Counter[object] = Counter()
    low = -1
    for bound in [*sorted(cuts), int(NEVER)]:
        chosen = [n for n in range(len(batch)) if low <= batch.ends[n] < bound]
        for row in runner.feed({"events": [batch.take(_ints(chosen))]} if chosen else {}, int(bound)):
            names = program_of(runner).query.columns  # type: ignore[union-attr]
            found[row.start, row.end, tuple((name, of_engine(row.bindings.get(name))) for name in names)] += 1
        restart(runner)
        low = bound
    return found
