"""Decodes rows that Spark returns into matches and problems."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from thence.rdf.document_parser import parse
from thence.rdf.events import Event
from thence.rdf.formats import Format
from thence.rdf.terms import IRI, BlankNode, Literal, Term, Triple
from thence.rdf.times import Domain
from thence.runtime.results import Problem

if TYPE_CHECKING:
    from thence.program.solutions import Cell
    from thence.query.query import Query


@dataclass(frozen=True, slots=True)
class SparkMatch:
    """A match that was found elsewhere: its events are known by their ids."""

    times: tuple[int, int]
    bindings: Mapping[str, Cell]
    event_ids: tuple[str, ...]
    domain: Domain
    constructed: Event | None = None
    query: int | None = None


@dataclass(frozen=True, slots=True)
class RowLayout:
    """Where what stands in a row of `dataflow_rows`: two times, `query` if numbered, cells, match_id, events, four
    columns of a problem, and what rows are ordered by."""

    query: Query
    domain: Domain

    @property
    def cells(self) -> slice:
        """The columns before match_id that are a row's own."""
        first = 3 if self.query.dataflow().numbers_queries else 2
        return slice(first, first + (2 if self.query.constructs else len(self.query.columns)))

    @property
    def order(self) -> tuple[int, int, int]:
        """The columns that rows are ordered by."""
        last = self.cells.stop
        return last + 6, last + 7, last + 8

    def answers(self, rows: Iterable[tuple[Any, ...]]) -> Iterator[SparkMatch | Problem]:
        """Rows in the order of times, as matches in the order of `match`; problems, which have no time, come first."""
        times = self.order
        for (certain, *_), group in groupby(rows, key=lambda row: tuple(row[number] for number in times)):
            if certain is None:
                yield from map(self._problem, group)
                continue
            alike = [self._match(row) for row in group]
            yield from sorted(alike, key=_place) if len(alike) > 1 else alike

    def _problem(self, row: tuple[Any, ...]) -> Problem:
        last = self.cells.stop
        problem, reason, event, stream = row[last + 2 : last + 6]
        return Problem(problem, reason, stream, text=event)

    def _match(self, row: tuple[Any, ...]) -> SparkMatch:
        place = self.cells
        times, own, ids = (row[0], row[1]), row[place], tuple(row[place.stop + 1])
        query = row[2] if place.start > 2 else None
        if self.query.constructs:
            return SparkMatch(times, {}, ids, self.domain, self._event(*times, *own), query)
        cells = zip(self.query.columns, own, strict=True)
        bindings = {name: _cell(cell) for name, cell in cells if cell is not None}
        return SparkMatch(times, bindings, ids, self.domain, query=query)

    def _event(self, time: int, end: int, name: str, value: str) -> Event:
        triples = [Triple(*quad[:3]) for quad in parse(value.encode(), Format.N_TRIPLES)]
        return Event.from_columns(time, end, self.domain, name, tuple(triples))


def _place(found: SparkMatch) -> tuple[tuple[str, ...], int, str]:
    """What stands where among matches of the same times: by ids, then by statement, then by what they bind, as `match`
    has it."""
    return found.event_ids, found.query or 0, repr(sorted(found.bindings.items(), key=lambda item: item[0]))


def _cell(cell: Any) -> Cell:
    return tuple(map(_inner, cell)) if isinstance(cell, list) else _inner(cell)


def _inner(cell: Any) -> Any:
    """A term, a composite of terms, or nothing, which may stand among several.

    >>> _inner({"type": None, "value": {"type": "literal", "value": "b", "datatype": None, "language": "en"}})
    {'type': None, 'value': Literal(value='b', datatype='http://www.w3.org/1999/02/22-rdf-syntax-ns#langString', \
language='en')}
    """
    if cell is None:
        return None
    if isinstance(cell.get("type"), str):
        return _term(cell)
    return {name: None if each is None else _term(each) for name, each in cell.items()}


def _term(told: Mapping[str, str]) -> Term:
    """
    >>> _term({"type": "literal", "value": "chat", "datatype": None, "language": "fr"})
    Literal(value='chat', datatype='http://www.w3.org/1999/02/22-rdf-syntax-ns#langString', language='fr')
    """
    match told["type"]:
        case "uri":
            return IRI(told["value"])
        case "bnode":
            return BlankNode(told["value"])
        case _:
            language = told["language"]
            return Literal(told["value"], language=language) if language else Literal(told["value"], told["datatype"])
