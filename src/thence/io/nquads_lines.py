"""Lines of N-Quads → quads as columns: plain lines are scanned by `nquads_scanner`, others are parsed by the RDF
library."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from thence.columns.dictionary import UNBOUND, Terms
from thence.errors import RdfError
from thence.io import nquads_scanner
from thence.rdf.documents import Format, parse
from thence.rdf.terms import Quad


@dataclass(slots=True, eq=False)
class QuadColumns:
    """Quads as columns, in the order of their lines. A line that could not be read has subject UNBOUND and its reason
    in `errors`."""

    terms: Terms
    subjects: NDArray[np.int32]
    predicates: NDArray[np.int32]
    objects: NDArray[np.int32]
    graphs: NDArray[np.int32]  # UNBOUND: the default graph
    lines: NDArray[np.int64]  # of this chunk, counted from 0
    spans: NDArray[np.int64]  # where each line of the chunk starts, and where the last one ends
    errors: dict[int, str]  # by line


SMALL = 16 << 10
"""Bytes up to which all lines go to the RDF library: to read a few, the scanner need not be compiled, or loaded."""

_NOTHING: Mapping[int, str] = MappingProxyType({})


def scan_quads(data: bytes, *, terms: Terms | None = None, refused: Mapping[int, str] = _NOTHING) -> QuadColumns:
    """All quads of some whole lines. Plain lines are scanned, odd ones go to the RDF library; `refused` ones are errors
    unread."""
    terms = Terms() if terms is None else terms
    spans, status, columns = _unscanned(data) if len(data) <= SMALL else _scanned(data, terms)
    status[list(refused)] = nquads_scanner.ODD
    errors = dict(refused)
    for line in np.flatnonzero(status == nquads_scanner.ODD).tolist():
        text = data[int(spans[line]) : int(spans[line + 1])]
        if line not in refused and _is_comment(text):
            status[line] = nquads_scanner.EMPTY
            continue
        quad = None if line in refused else _read_odd(text, line, errors)
        columns[:, line] = terms.add_all(quad) if quad else _unreadable(text, terms)
    kept = np.flatnonzero(status != nquads_scanner.EMPTY)
    subjects, predicates, objects, graphs = (column[kept] for column in columns)
    return QuadColumns(terms, subjects, predicates, objects, graphs, kept, spans, errors)


def _unscanned(data: bytes) -> tuple[NDArray[np.int64], NDArray[np.uint8], NDArray[np.int32]]:
    """As `_scanned`, with every line odd."""
    newlines = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n"))
    spans = np.concatenate([[0], newlines + 1])
    if spans[-1] < len(data):
        spans = np.append(spans, len(data))
    lines = len(spans) - 1
    return spans, np.full(lines, nquads_scanner.ODD, np.uint8), np.empty((4, lines), np.int32)


def _scanned(data: bytes, terms: Terms) -> tuple[NDArray[np.int64], NDArray[np.uint8], NDArray[np.int32]]:
    """The start of each line and the end of the last; whether each is plain, odd or empty; and the quads of plain
    ones."""
    most = data.count(b"\n") + 1
    spans = np.zeros(most + 1, np.int64)
    status = np.empty(most, np.uint8)
    columns = np.empty((4, most), np.int32)
    source = np.frombuffer(data, np.uint8)
    utf8 = _is_utf8(data)
    position, count = 0, 0
    while position < len(data):
        # a small table stays in the caches: most terms of a stream come again, so begin with one a line
        terms.reserve(most, len(data))
        position, count, terms.count = nquads_scanner.scan(
            source,
            position,
            count,
            terms.text,
            terms.ends,
            terms.hashes,
            terms.slots,
            terms.count,
            utf8,
            spans,
            status,
            columns,
        )
    return spans[: count + 1], status[:count], columns[:, :count]


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_comment(text: bytes) -> bool:
    stripped = text.strip()
    return not stripped or stripped.startswith(b"#")


def _read_odd(text: bytes, line: int, errors: dict[int, str]) -> Quad | None:
    try:
        quads = list(parse(text, Format.N_QUADS))
    except RdfError as error:
        errors[line] = error.reason
        return None
    if len(quads) != 1:
        errors[line] = f"{len(quads)} statements on one line"
        return None
    return quads[0]


def _unreadable(text: bytes, terms: Terms) -> NDArray[np.int32]:
    """No terms, but the graph that the line was most likely meant for: the label before its closing dot."""
    columns = np.full(4, UNBOUND, np.int32)
    found = _GRAPH_AT_END.search(text[-GRAPH_WITHIN:].rstrip(b"\n"))
    if found:
        columns[3] = terms.add_texts([found[1]])[0]
    return columns


GRAPH_WITHIN = 2300
"""So many bytes at a line's end are searched for its graph."""

_GRAPH_AT_END = re.compile(rb"(<[^<>\s\"\x80-\xff]{1,2000}>|_:[A-Za-z0-9_]{1,200})[ \t]*\.[ \t\r]*$")
