"""SPAseQ: the engine gives the rows that the definitions give, on random queries and streams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

import pyoxigraph
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from flows import flow_of, program_of, restart
from oracle import terms as oracle_terms
from oracle.expressions import Number
from oracle.spaseq import evaluate
from oracle.spaseq_rows import Cell, rows
from oracle.spaseq_rows import Row as OracleRow
from oracle.spaseq_text import NAMESPACE
from strategies.spaseq import Case, cases, tell, text, turtle
from thence.columns.event_batch import EventBatch, encode
from thence.io.background_data import load_background
from thence.kernel.automaton.memory import NEVER
from thence.lang.spaseq.parser import parse
from thence.local.flow import LocalFlow
from thence.match.background import NO_BACKGROUND, Background
from thence.plan.automaton.spaseq import plan
from thence.program.solutions import Row
from thence.rdf.events import Event
from thence.rdf.terms import IRI, BlankNode, Literal, Term
from thence.rdf.values import is_number, value

pytestmark = pytest.mark.numba

Told = tuple[int, int, int, tuple[str, ...], tuple[tuple[str, object], ...]]
"""A row as both sides tell it: start, end, when it was certain, events, cells."""


@settings(max_examples=5 * settings.default.max_examples)  # of all random cases the ones that matter most
@given(cases(), st.lists(st.integers(0, 12), min_size=1, max_size=4))
def test_rows_are_those_of_the_definitions_optimised_or_not_at_once_or_cut(case: Case, cuts: list[int]) -> None:
    matches = evaluate(case.query, case.events, case.background)
    tell(case.query, matches)
    expected = rows(case.query, matches)
    query, streams, known = parse(text(case.query)), batches_of(case), background(case)

    runner = flow_of(plan(query), known)
    found = [told_row(row, runner) for row in runner.run(streams)]
    assert Counter(found) == _told_rows(expected)
    in_order = [(row.certain, row.end, row.start, row.events) for row in expected]
    assert [(certain, end, start, events) for start, end, certain, events, _ in found] == in_order

    unoptimised = flow_of(plan(query, optimise=False), known)
    assert Counter(told_row(row, unoptimised) for row in unoptimised.run(streams)) == Counter(found)

    interrupted = flow_of(program_of(runner), known)
    assert Counter(told_row(row, interrupted) for row in _in_pieces(interrupted, streams, sorted(cuts))) == Counter(
        found
    )


def told_by_the_oracle(case: Case) -> Counter[Told]:
    return _told_rows(rows(case.query, evaluate(case.query, case.events, case.background)))


def told_by_the_engine(case: Case, *, cuts: Sequence[int] = ()) -> Counter[Told]:
    """At once, or in pieces."""
    runner, streams = flow_of(plan(parse(text(case.query))), background(case)), batches_of(case)
    found = _in_pieces(runner, streams, sorted(cuts)) if cuts else runner.run(streams)
    return Counter(told_row(row, runner) for row in found)


def _told_rows(expected: Iterable[OracleRow]) -> Counter[Told]:
    return Counter(
        (
            row.start,
            row.end,
            row.certain,
            row.events,
            tuple(sorted((k, _told_cell(v)) for k, v in row.cells if v is not None)),
        )
        for row in expected
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


def batches_of(case: Case) -> dict[str, list[EventBatch]]:
    found = {}
    for stream in case.query.streams:
        events = [Event(e.start, turtle(e.graph), e.time, id=e.id) for e in case.events if e.stream == stream]
        found[stream] = [encode(events, stream=stream)]
    return found


def _in_pieces(runner: LocalFlow, streams: dict[str, list[EventBatch]], cuts: list[int]) -> Iterator[Row]:
    """Events before the first cut, between the first and the second, and so on; between them only bytes are left."""
    for low, high in pairwise([-(2**60), *cuts, 2**60]):
        piece = {
            name: [batch.take(((batch.ends >= low) & (batch.ends < high)).nonzero()[0])]
            for name, (batch,) in streams.items()
        }
        yield from runner.feed(piece, high)
        restart(runner)
    yield from runner.feed({}, int(NEVER))


def told_row(row: Row, runner: LocalFlow) -> Told:
    cells = {name: _told_term(cell, runner) for name, cell in row.bindings.items()}
    return (row.start, row.end, row.certain, tuple(runner.ids(row)), tuple(sorted(cells.items())))


def _told_term(cell: Term | tuple[Term, ...], runner: LocalFlow) -> object:
    match cell:
        case tuple():
            return tuple(_told_term(term, runner) for term in cell)
        case IRI(iri):
            return iri
        case BlankNode(label):
            stream, position, own = label.split("_")
            held = [each.batch for each in runner.log.batches if each.stream == stream]
            at_place = ((batch, (batch.positions == int(position)).nonzero()[0]) for batch in held)
            (event,) = [batch.id(int(found[0])) for batch, found in at_place if len(found)]
            return ("blank", own, event)
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
    runner = flow_of(plan(parse(query)))
    events = [Event(time, "<x:a> <x:p> 1 .") for time in (0, 1)]
    counts = [row.bindings["n"] for row in runner.run({"S": [encode(events)]})]
    assert [count.python for count in counts if isinstance(count, Literal)] == [1, 2, 1]


def test_a_filter_does_not_see_what_another_iteration_bound_in_another_arm() -> None:
    query = """SELECT * FROM STREAM S <x:s> { SEQ (((A | B) & C)+) DEFINE GPM A ON S { ?s <x:q> ?a }
        DEFINE GPM B ON S { ?s <x:q> ?b } DEFINE GPM C ON S { ?s <x:q> ?c FILTER(?c <= ?a) } }"""
    runner = flow_of(plan(parse(query)))
    events = [Event(time, "<x:n> <x:q> 1 .") for time in (0, 1)]
    found = [(row.start, row.end, "b" in row.bindings) for row in runner.run({"S": [encode(events)]})]
    assert found == [(0, 0, False), (0, 1, False), (1, 1, False)]
