"""Parses RDF documents, one a row: N-Quads in one pass over all rows, other formats converted to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from thence.columns.dictionary import UNBOUND, Terms
from thence.errors import RdfError, ThenceError
from thence.io.jsonl import load_object
from thence.io.jsonld import jsonld_as_nquads
from thence.io.nquads_lines import scan_quads
from thence.rdf.document_parser import as_nquads
from thence.rdf.formats import Format
from thence.rdf.limits import Limits

Rows = NDArray[np.int64]

_ROOM = 64 << 20
"""Bytes after which what was made into lines is enough for once: a prefix can stand for megabytes, in each row."""

FORMATS = {format.value.lower(): format for format in Format}
"""The formats by the names that a column `format` has for them."""


@dataclass(slots=True, eq=False)
class DocumentTriples:
    """The triples of some rows' documents, in the rows' order; and by row why some are none, whatever triples they
    have."""

    count: int  # of the rows
    terms: Terms
    rows: Rows  # of each triple
    subjects: NDArray[np.int32]
    predicates: NDArray[np.int32]
    objects: NDArray[np.int32]
    faults: dict[int, str] = field(default_factory=dict)
    unread: set[int] = field(default_factory=set)  # rows with a line that is no quad
    named: set[int] = field(default_factory=set)  # rows with a quad that names a graph


def read_documents(
    texts: Any, formats: Sequence[Format | None] | None, *, namespace: str, limits: Limits, skip: Iterable[int] = ()
) -> DocumentTriples:
    """The triples of an Arrow array of documents, as bytes. Without a format a document is N-Quads, or else Turtle.
    Rows to `skip` are not read, and a null is no fault here. These are the first rows only, if those are very
    large once they are written out."""
    size = pc.fill_null(pc.binary_length(texts), 0).to_numpy(zero_copy_only=False)
    large = np.flatnonzero(size > limits.event_bytes).tolist()
    passed = np.zeros(len(texts), np.bool_)
    passed[[*skip, *large]] = True
    of_lines = ~passed & _may_be_lines(texts, formats)
    graphs = _lines(pc.if_else(pa.array(of_lines), texts, None), Terms(), limits)
    graphs.faults.update(dict.fromkeys(large, limits.describe_event()))
    others = {*np.flatnonzero(~passed & ~of_lines & (size > 0)).tolist(), *graphs.unread}
    if formats is not None:
        others.update(row for row in graphs.named if formats[row] is Format.N_TRIPLES)
    return graphs if not others else _with_others(graphs, sorted(others), texts, formats, namespace, limits)


def _with_others(
    graphs: DocumentTriples,
    others: Sequence[int],
    texts: Any,
    formats: Sequence[Format | None] | None,
    namespace: str,
    limits: Limits,
) -> DocumentTriples:
    """With the rows that were not read at once, up to where they are very large."""
    converted: list[bytes | None] = [None] * len(texts)
    room = _ROOM
    for row in others:
        if room < 0:
            graphs.count = row
            break
        graphs.faults.pop(row, None)
        try:
            lines = _as_lines(texts[row].as_py(), formats[row] if formats else None, namespace, limits)
        except ThenceError as error:
            graphs.faults[row] = _reason(error)
        else:
            room -= len(lines)
            converted[row] = lines
    return _together(graphs, others, _lines(pa.array(converted, pa.binary()), graphs.terms, limits))


def _may_be_lines(texts: Any, formats: Sequence[Format | None] | None) -> NDArray[np.bool_]:
    """Whether documents may be N-Quads by their format and their first character."""
    possible: NDArray[np.bool_] = pc.fill_null(
        pc.match_substring_regex(texts, r"^(?:[ \t\r\n]*)(?:[<_#]|$)"), False
    ).to_numpy(zero_copy_only=False)
    if formats is None:
        return possible
    named = np.array([format in (Format.N_TRIPLES, Format.N_QUADS) for format in formats], np.bool_)
    return named | (possible & np.array([format is None for format in formats], np.bool_))


def _lines(texts: Any, terms: Terms, limits: Limits) -> DocumentTriples:
    """All documents that are not null in one pass: each line is of the row in which it begins."""
    ended = pc.binary_join_element_wise(texts, pa.scalar(b"\n", texts.type), pa.scalar(b"", texts.type))
    data, bounds = _joined(ended)
    quads = scan_quads(data, terms=terms)
    rows = np.searchsorted(bounds[1:], quads.spans[quads.lines], side="right")
    graphs = DocumentTriples(len(texts), quads.terms, rows, quads.subjects, quads.predicates, quads.objects)
    for line, reason in sorted(quads.errors.items()):
        row = int(np.searchsorted(bounds[1:], quads.spans[line], side="right"))
        graphs.faults.setdefault(row, reason)
        graphs.unread.add(row)
    named = np.flatnonzero(quads.graphs != UNBOUND)
    graphs.named.update(np.unique(rows[named]).tolist())
    same_row = rows[named[1:]] == rows[named[:-1]]
    differ = quads.graphs[named[1:]] != quads.graphs[named[:-1]]
    for row in np.unique(rows[named[1:]][same_row & differ]).tolist():
        graphs.faults.setdefault(row, "more than one graph: an event has one")
    counts = np.bincount(rows, minlength=len(texts))
    for row in np.flatnonzero(counts > limits.event_triples).tolist():
        graphs.faults.setdefault(row, limits.describe_event())
    return graphs


def _joined(texts: Any) -> tuple[bytes, Rows]:
    """Documents without nulls in between as one, and where each begins and the last one ends."""
    _, offsets, data = texts.buffers()
    kind = np.int64 if pa.types.is_large_binary(texts.type) else np.int32
    bounds = np.frombuffer(offsets, kind, count=texts.offset + len(texts) + 1)[texts.offset :].astype(np.int64)
    whole = data[int(bounds[0]) : int(bounds[-1])].to_pybytes() if data is not None else b""
    return whole, bounds - bounds[0]


def _together(graphs: DocumentTriples, others: Sequence[int], converted: DocumentTriples) -> DocumentTriples:
    """What was read at once and, instead of what was found in these `others`, what they were converted to."""
    faults = {row: why for row, why in (graphs.faults | converted.faults).items() if row < graphs.count}
    kept = ~np.isin(graphs.rows, others) & (graphs.rows < graphs.count)
    rows = np.concatenate([graphs.rows[kept], converted.rows])
    order = np.argsort(rows, kind="stable")
    old = (graphs.subjects, graphs.predicates, graphs.objects)
    new = (converted.subjects, converted.predicates, converted.objects)
    subjects, predicates, objects = (
        np.concatenate([one[kept], other])[order] for one, other in zip(old, new, strict=True)
    )
    return DocumentTriples(graphs.count, graphs.terms, rows[order], subjects, predicates, objects, faults)


def _as_lines(text: bytes, format: Format | None, namespace: str, limits: Limits) -> bytes:
    match format:
        case None:
            return _turtle_or_lines(text, limits)
        case Format.JSON_LD:
            return jsonld_as_nquads(load_object(text, limits), namespace=namespace, limits=limits)
        case _:
            return as_nquads(text, format, limits=limits)


def _turtle_or_lines(text: bytes, limits: Limits) -> bytes:
    """A document without a format; if it is of neither, it was meant to be the one in which more of it can
    be read."""
    try:
        return as_nquads(text, Format.TURTLE, limits=limits)
    except RdfError as as_turtle:
        try:
            return as_nquads(text, Format.N_QUADS, limits=limits)
        except RdfError as as_lines:
            raise (as_lines if _place(as_lines) > _place(as_turtle) else as_turtle) from None


def _place(error: RdfError) -> tuple[int, int]:
    return error.line or 0, error.column or 0


def _reason(error: ThenceError) -> str:
    if isinstance(error, RdfError) and error.place:
        return f"line {error.place.line}, column {error.place.column}: {error.reason}"
    return str(error)
