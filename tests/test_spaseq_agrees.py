"""SPAseQ: the engine gives the rows that the definitions give, on random queries and streams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

import pyoxigraph
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle import terms as oracle_terms
from oracle.expressions import Number
from oracle.spaseq import evaluate
from oracle.spaseq_rows import Cell, rows
from oracle.spaseq_text import NAMESPACE
from strategies.spaseq import Case, cases, tell, text, turtle
from thence.kernel.memory import NEVER
from thence.kernel.projection import Row
from thence.lang.spaseq import parse
from thence.local.sequences import SequenceRunner
from thence.match.background import NO_BACKGROUND, Background
from thence.plan.sequences import plan
from thence.rdf.columns import EventBatch, encode
from thence.rdf.events import Event
from thence.rdf.store import load_background
from thence.rdf.terms import IRI, BlankNode, Literal, Term
from thence.rdf.values import is_number, value

pytestmark = pytest.mark.numba

Told = tuple[int, int, int, tuple[str, ...], tuple[tuple[str, object], ...]]
"""A row as both sides tell it: start, end, when it was certain, events, cells."""


@given(cases())
def test_rows_are_those_of_the_definitions(case: Case) -> None:
    matches = evaluate(case.query, case.events, case.background)
    tell(case.query, matches)
    assert told_by_the_engine(case) == told_by_the_oracle(case)


@given(cases())
def test_rows_are_the_same_without_optimisation(case: Case) -> None:
    assert told_by_the_engine(case, optimise=False) == told_by_the_oracle(case)


@given(cases(), st.lists(st.integers(0, 12), max_size=4))
def test_where_the_stream_is_cut_changes_nothing(case: Case, cuts: list[int]) -> None:
    assert told_by_the_engine(case, cuts=cuts) == told_by_the_oracle(case)


@given(cases())
def test_rows_come_in_order_of_certainty_then_end_start_and_ids(case: Case) -> None:
    runner = runner_of(case)
    found = [(row.certain, row.end, row.start, tuple(runner.ids(row))) for row in runner.run(batches_of(case))]
    expected = rows(case.query, evaluate(case.query, case.events, case.background))
    assert found == [(row.certain, row.end, row.start, row.events) for row in expected]


def told_by_the_oracle(case: Case) -> Counter[Told]:
    found = rows(case.query, evaluate(case.query, case.events, case.background))
    return Counter(
        (
            row.start,
            row.end,
            row.certain,
            row.events,
            tuple(sorted((k, _told_cell(v)) for k, v in row.cells if v is not None)),
        )
        for row in found
    )


def _told_cell(cell: Cell) -> object:
    match cell:
        case tuple():
            return tuple(_told_cell(term) for term in cell)
        case Number(number, integer):
            return _told_number(number, "integer" if integer else "decimal")
        case bool():
            return cell
        case oracle_terms.Iri(name):
            return NAMESPACE + name
        case oracle_terms.Blank(label, event):
            return ("blank", label, event)
        case oracle_terms.Literal(lexical, datatype):
            is_a_number = datatype in ("integer", "decimal")
            return _told_number(Fraction(lexical), datatype) if is_a_number else ("string", lexical)
    raise AssertionError(cell)


def _told_number(number: Fraction, datatype: str) -> tuple[str, int]:
    """To thirty digits: a quotient that never ends is cut off by the engine, and not by the oracle."""
    return datatype, round(number * 10**30)


def told_by_the_engine(case: Case, *, optimise: bool = True, cuts: list[int] = []) -> Counter[Told]:  # noqa: B006
    runner = runner_of(case, optimise=optimise)
    return Counter(told_row(row, runner) for row in _run(runner, batches_of(case), sorted(cuts)))


def runner_of(case: Case, *, optimise: bool = True) -> SequenceRunner:
    return SequenceRunner(plan(parse(text(case.query)), optimise=optimise), background(case))


def batches_of(case: Case) -> dict[str, list[EventBatch]]:
    found = {}
    for stream in case.query.streams:
        events = [Event(e.time, turtle(e.graph), id=e.id) for e in case.events if e.stream == stream]
        found[stream] = [encode(events, stream=stream)]
    return found


def _run(runner: SequenceRunner, streams: dict[str, list[EventBatch]], cuts: list[int]) -> Iterator[Row]:
    """All at once, or in pieces: events before the first cut, between the first and the second, and so on."""
    if not cuts:
        yield from runner.run(streams)
        return
    bounds = [-(2**60), *cuts, 2**60]
    for low, high in pairwise(bounds):
        piece = {
            name: [batch.take(((batch.ends >= low) & (batch.ends < high)).nonzero()[0])]
            for name, (batch,) in streams.items()
        }
        yield from runner.feed(piece, high)
    yield from runner.feed({}, int(NEVER))


def told_row(row: Row, runner: SequenceRunner) -> Told:
    cells = {name: _told_term(cell, runner) for name, cell in row.bindings.items()}
    return (row.start, row.end, row.certain, tuple(runner.ids(row)), tuple(sorted(cells.items())))


def _told_term(cell: Term | tuple[Term, ...], runner: SequenceRunner) -> object:
    match cell:
        case tuple():
            return tuple(_told_term(term, runner) for term in cell)
        case IRI(iri):
            return iri
        case BlankNode(label):
            stream, position, own = label.split("_")
            held = next(each.batch for each in runner.held if each.stream == stream)
            (index,) = (held.positions == int(position)).nonzero()[0]
            return ("blank", own, held.terms[int(held.ids[index])].value)
        case Literal():
            found = value(cell)
            if is_number(found):
                return _told_number(Fraction(found), "integer" if isinstance(found, int) else "decimal")
            return found if isinstance(found, bool) else ("string", cell.value)
    raise AssertionError(cell)


def background(case: Case) -> Background:
    if not case.background:
        return NO_BACKGROUND
    stores = {}
    for name, graph in case.background.items():
        stores[None if name is None else IRI(NAMESPACE + name)] = store = pyoxigraph.Store()
        store.load(input=turtle(graph).encode(), format=pyoxigraph.RdfFormat.TURTLE)
    return Background(load_background(stores))


def test_count_counts_iterations_and_not_the_events_of_a_conjunction() -> None:
    query = "SELECT (COUNT(A) AS ?n) FROM STREAM S <x:s> { SEQ ((A & A)+) DEFINE GPM A ON S { ?s <x:p> 1 } }"
    runner = SequenceRunner(plan(parse(query)))
    events = [Event(time, "<x:a> <x:p> 1 .") for time in (0, 1)]
    counts = [row.bindings["n"] for row in runner.run({"S": [encode(events)]})]
    assert [count.python for count in counts if isinstance(count, Literal)] == [1, 2, 1]
