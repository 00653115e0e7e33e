"""SPAseQ: cases as the engine and as the definitions answer them, in comparable form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise

import pyoxigraph

from oracle import terms as oracle_terms
from oracle.expressions import Number
from oracle.floating import canonical
from oracle.spaseq import evaluate
from oracle.spaseq_rows import Cell, rows
from oracle.spaseq_rows import Row as OracleRow
from oracle.spaseq_text import NAMESPACE
from strategies.spaseq import Case, text, turtle
from support.flows import flow_of, restart
from thence.columns.batches import EventBatch, encode
from thence.engines.automaton.memory import NEVER
from thence.engines.automaton.plan.spaseq import plan
from thence.interface.solutions import Row
from thence.io.background_data import load_background
from thence.lang.spaseq.parser import parse
from thence.local.flow import LocalFlow
from thence.match.background import NO_BACKGROUND, Background
from thence.rdf.events import Event
from thence.rdf.terms import IRI, XSD, BlankNode, Literal, Term
from thence.rdf.values import is_number, value

Comparable = tuple[int, int, int, tuple[str, ...], tuple[tuple[str, object], ...]]
"""A row as both sides tell it: start, end, when it was certain, events, cells."""


def oracle_answers(case: Case) -> Counter[Comparable]:
    return _comparable_rows(rows(case.query, evaluate(case.query, case.events, case.background)))


def engine_answers(case: Case, *, cuts: Sequence[int] = ()) -> Counter[Comparable]:
    """At once, or in pieces."""
    runner, streams = flow_of(plan(parse(text(case.query))), background(case)), batches_of(case)
    found = _in_pieces(runner, streams, sorted(cuts)) if cuts else runner.run(streams)
    return Counter(comparable_row(row, runner) for row in found)


def _comparable_rows(expected: Iterable[OracleRow]) -> Counter[Comparable]:
    return Counter(
        (
            row.start,
            row.end,
            row.certain,
            row.events,
            tuple(sorted((k, _comparable_cell(v)) for k, v in row.cells if v is not None)),
        )
        for row in expected
    )


def _comparable_cell(cell: Cell) -> object:
    match cell:
        case tuple():
            return tuple(_comparable_cell(term) for term in cell)
        case Number(float() as number, _, datatype):
            return datatype, canonical(number, datatype)
        case Number(Fraction() as number, integer):
            return _comparable_number(number, "integer" if integer else "decimal")
        case bool():
            return cell
        case oracle_terms.Iri(name):
            return NAMESPACE + name
        case oracle_terms.Blank(label, event):
            return ("blank", label, event)
        case oracle_terms.Literal(lexical, datatype):
            is_a_number = datatype in ("integer", "decimal")
            return _comparable_number(Fraction(lexical), datatype) if is_a_number else (datatype, lexical)
    raise AssertionError(cell)


def _comparable_number(number: Fraction, datatype: str) -> tuple[str, int]:
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


def comparable_row(row: Row, runner: LocalFlow) -> Comparable:
    cells = {name: _comparable_term(cell, runner) for name, cell in row.bindings.items()}
    return (row.start, row.end, row.certain, tuple(runner.ids(row)), tuple(sorted(cells.items())))


def _comparable_term(cell: Term | tuple[Term, ...], runner: LocalFlow) -> object:
    match cell:
        case tuple():
            return tuple(_comparable_term(term, runner) for term in cell)
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
            if isinstance(found, float):
                return cell.datatype.removeprefix(XSD), cell.value
            if is_number(found):
                return _comparable_number(Fraction(found), "integer" if isinstance(found, int) else "decimal")
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
