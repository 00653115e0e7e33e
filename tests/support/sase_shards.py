"""SASE+ run by the workers of Spark without Spark: rows in comparable form."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from oracle.sase import Row
from support.sase_runs import plain
from thence.engines.automaton.program import SequenceProgram
from thence.rdf.terms import XSD_STRING, Literal

Comparable = tuple[int, int, int, tuple[str, ...], tuple[object, ...]]


def comparable(row: Row) -> Comparable:
    return row.start, row.end, row.certain, sum(row.ids, ()), tuple(_plain(cell) for _, cell in row.cells)


def comparable_rows(program: SequenceProgram, found: Iterable[Mapping[str, Any]]) -> Iterable[Comparable]:
    columns = program.query.columns  # type: ignore[union-attr]
    for row in found:
        assert row["problem"] is None
        cells = tuple(_comparable_cell(row[name]) for name in columns)
        yield row["start"], row["end"], row["certain"], tuple(row["events"]), cells


def _plain(cell: Any) -> object:
    if isinstance(cell, tuple):
        is_composite = cell and all(isinstance(each, tuple) and isinstance(each[0], str) for each in cell)
        return tuple(_plain(each[1]) for each in cell) if is_composite else tuple(map(_plain, cell))
    return plain(cell)


def _comparable_cell(cell: Any) -> object:
    match cell:
        case None:
            return None
        case list():
            return tuple(map(_comparable_cell, cell))
        case {"type": _, "value": text, "datatype": datatype}:
            return plain(Literal(text, datatype or XSD_STRING).python)
        case dict():
            return tuple(map(_comparable_cell, cell.values()))
    raise TypeError(cell)
