"""RDF documents, one a row, many at once: lines of N-Quads in one pass over all rows, anything else row by row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from thence.errors import RdfError, ThenceError
from thence.rdf.dictionary import UNBOUND, Terms
from thence.rdf.events import distinct
from thence.rdf.formats import Format
from thence.rdf.jsonl import load_object
from thence.rdf.jsonld import jsonld_quads
from thence.rdf.limits import Limits
from thence.rdf.lines import scan_quads
from thence.rdf.read import parse
from thence.rdf.terms import Quad, Triple

Rows = NDArray[np.int64]

FORMATS = {format.value.lower(): format for format in Format}
"""The formats by the names that a column `format` has for them."""

_MORE_THAN_ONE = "more than one graph: an event has one"


@dataclass(slots=True, eq=False)
class Graphs:
    """The triples of some rows' documents, in the rows' order; and by row why some have none."""

    terms: Terms
    rows: Rows  # of each triple
    subjects: NDArray[np.int32]
    predicates: NDArray[np.int32]
    objects: NDArray[np.int32]
    faults: dict[int, str] = field(default_factory=dict)


def read_documents(
    texts: Any, formats: Sequence[Format | None] | None, *, namespace: str, limits: Limits, skip: Iterable[int] = ()
) -> Graphs:
    """The triples of an Arrow array of documents, as bytes. Without a format a document is N-Quads, or else Turtle.
    Rows to `skip` are not looked at, and a null is no fault here."""
    size = pc.fill_null(pc.binary_length(texts), 0).to_numpy(zero_copy_only=False)
    large = np.flatnonzero(size > limits.event_bytes).tolist()
    faults = dict.fromkeys(large, limits.describe_event())
    passed = np.zeros(len(texts), np.bool_)
    passed[[*skip, *large]] = True
    of_lines = ~passed & _may_be_lines(texts, formats)
    graphs = _lines(pc.if_else(pa.array(of_lines), texts, None), formats, faults, limits)
    unread = {row for row, reason in faults.items() if not reason}
    unread.update(np.flatnonzero(~passed & ~of_lines & (size > 0)).tolist())
    _read_slowly(graphs, sorted(unread), texts, formats, namespace, limits)
    return graphs


def _may_be_lines(texts: Any, formats: Sequence[Format | None] | None) -> NDArray[np.bool_]:
    """Whether documents may be N-Quads by their format and their first character."""
    possible: NDArray[np.bool_] = pc.fill_null(
        pc.match_substring_regex(texts, r"^(?:[ \t\r\n]*)(?:[<_#]|$)"), False
    ).to_numpy(zero_copy_only=False)
    if formats is None:
        return possible
    named = np.array([format in (Format.N_TRIPLES, Format.N_QUADS) for format in formats], np.bool_)
    return named | (possible & np.array([format is None for format in formats], np.bool_))


def _lines(texts: Any, formats: Sequence[Format | None] | None, faults: dict[int, str], limits: Limits) -> Graphs:
    """All documents that are not null in one pass: each line is of the row in which it begins. A row with a line that
    is not of its format has a fault without a reason."""
    ended = pc.binary_join_element_wise(texts, pa.scalar(b"\n", texts.type), pa.scalar(b"", texts.type))
    data, bounds = _joined(ended)
    quads = scan_quads(data)
    rows = np.searchsorted(bounds[1:], quads.spans[quads.lines], side="right")
    wrong = np.unique(rows[quads.subjects == UNBOUND])
    faults.update(dict.fromkeys(wrong.tolist(), ""))
    named = np.flatnonzero(quads.graphs != UNBOUND)
    if formats is not None:
        of_triples = (row for row in np.unique(rows[named]).tolist() if formats[row] is Format.N_TRIPLES)
        faults.update(dict.fromkeys(of_triples, ""))
    same_row = rows[named[1:]] == rows[named[:-1]]
    differ = quads.graphs[named[1:]] != quads.graphs[named[:-1]]
    for row in np.unique(rows[named[1:]][same_row & differ]).tolist():
        faults.setdefault(row, _MORE_THAN_ONE)
    counts = np.bincount(rows, minlength=len(texts))
    for row in np.flatnonzero(counts > limits.event_triples).tolist():
        faults.setdefault(row, limits.describe_event())
    return Graphs(quads.terms, rows, quads.subjects, quads.predicates, quads.objects, faults)


def _joined(texts: Any) -> tuple[bytes, Rows]:
    """Documents without nulls in between as one, and where each begins and the last one ends."""
    _, offsets, data = texts.buffers()
    kind = np.int64 if pa.types.is_large_binary(texts.type) else np.int32
    bounds = np.frombuffer(offsets, kind, count=texts.offset + len(texts) + 1)[texts.offset :].astype(np.int64)
    whole = data[int(bounds[0]) : int(bounds[-1])].to_pybytes() if data is not None else b""
    return whole, bounds - bounds[0]


def _read_slowly(
    graphs: Graphs,
    rows: Sequence[int],
    texts: Any,
    formats: Sequence[Format | None] | None,
    namespace: str,
    limits: Limits,
) -> None:
    """Add what some rows hold to what the others do, in place; rows with faults hold nothing."""
    if not rows and not graphs.faults:
        return
    found: list[Triple] = []
    of_row: list[int] = []
    for row in rows:
        try:
            triples = _triples(texts[row].as_py(), formats[row] if formats else None, namespace, limits)
        except ThenceError as error:
            graphs.faults[row] = _reason(error)
        else:
            graphs.faults.pop(row, None)
            of_row += [row] * len(triples)
            found += triples
    good = ~np.isin(graphs.rows, [*rows, *graphs.faults])
    added = graphs.terms.add_all(term for triple in found for term in triple).reshape(-1, 3)
    all_rows = np.concatenate([graphs.rows[good], np.array(of_row, np.int64)])
    order = np.argsort(all_rows, kind="stable")
    graphs.rows = all_rows[order]
    columns = (graphs.subjects, graphs.predicates, graphs.objects)
    graphs.subjects, graphs.predicates, graphs.objects = (
        np.concatenate([column[good], more])[order] for column, more in zip(columns, added.T, strict=True)
    )


def _triples(text: bytes, format: Format | None, namespace: str, limits: Limits) -> tuple[Triple, ...]:
    match format:
        case None:
            return _turtle_or_lines(text, limits)
        case Format.JSON_LD:
            return _one_graph(jsonld_quads(load_object(text, limits), namespace=namespace, limits=limits), limits)
        case _:
            return _one_graph(parse(text, format, limits=limits), limits)


def _turtle_or_lines(text: bytes, limits: Limits) -> tuple[Triple, ...]:
    """A document of which no format was told; if it is of neither, it was meant to be the one in which more of it can
    be read."""
    try:
        return _one_graph(parse(text, Format.TURTLE, limits=limits), limits)
    except RdfError as as_turtle:
        try:
            return _one_graph(parse(text, Format.N_QUADS, limits=limits), limits)
        except RdfError as as_lines:
            raise (as_lines if _place(as_lines) > _place(as_turtle) else as_turtle) from None


def _place(error: RdfError) -> tuple[int, int]:
    return error.line or 0, error.column or 0


def _one_graph(quads: Iterator[Quad], limits: Limits) -> tuple[Triple, ...]:
    names = set()

    def triples() -> Iterator[Triple]:
        for quad in quads:
            if quad.graph is not None:
                names.add(quad.graph)
            if len(names) > 1:
                raise RdfError(_MORE_THAN_ONE)
            yield Triple(*quad[:3])

    return distinct(triples(), limits)


def _reason(error: ThenceError) -> str:
    if isinstance(error, RdfError) and error.place:
        return f"line {error.place.line}, column {error.place.column}: {error.reason}"
    return str(error)
