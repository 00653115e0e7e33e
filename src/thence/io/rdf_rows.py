"""Rows with a graph each, as an RDF document or an array of triples → `EventBatch`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from thence.columns.arrays import Ints
from thence.columns.arrow_values import is_text, is_valid
from thence.columns.batches import EventBatch, label_of, name_blank_nodes
from thence.columns.dictionary import UNBOUND, Terms
from thence.columns.hashing import without_duplicates
from thence.columns.time_columns import Intervals, intervals, read_times
from thence.columns.time_reading import IN_TEXT, TimeReading
from thence.errors import RdfError, ThenceError
from thence.io.jsonl import jsonld_as_nquads, load_object
from thence.io.nquads_lines import scan_quads
from thence.io.row_ids import numbered_ids, owner_labels, row_ids, with_ids
from thence.rdf.documents import Format, as_nquads
from thence.rdf.events import BadEvent
from thence.rdf.limits import Limits
from thence.rdf.terms import Literal

# Arrays of triples, one a row, as N-Triples: structs of `s`, `p` and `o`, each the text of a term.

_IRI = r"<[^<>\s]*>"
_LABEL = r"_:[^<>\"\s]+"
_LITERAL = r'"(?:[^"\\\n\r]|\\[^\n\r])*"(?:@[A-Za-z0-9-]+|\^\^<[^<>\s]*>)?'
_POSITIONS = {
    "s": ("subject", f"^(?:{_IRI}|{_LABEL})$", "<http://…> or _:label"),
    "p": ("predicate", f"^{_IRI}$", "<http://…>"),
    "o": ("object", f"^(?:{_IRI}|{_LABEL}|{_LITERAL})$", '<http://…>, _:label or "text"'),
}
"""The name of each field of a triple, the syntax that it accepts, and an example. A text of that syntax is one term
wherever it is written: it cannot end a line or begin a comment."""


def triples_as_documents(array: Any, faults: dict[int, str]) -> Any:
    """The documents of some rows, as an Arrow array of bytes; `faults` gets the reason for each bad row."""
    for row in np.flatnonzero(array.is_null().to_numpy(zero_copy_only=False)).tolist():
        faults.setdefault(row, 'no graph: "graph" is empty')
    rows = pc.list_parent_indices(array).to_numpy(zero_copy_only=False)
    triples = array.flatten()
    fields = dict(zip((field.name for field in triples.type), triples.flatten(), strict=True))
    parts = []
    for name, (called, pattern, cure) in _POSITIONS.items():
        part = fields[name].cast(pa.binary())
        fits = pc.fill_null(pc.match_substring_regex(part, pattern), False).to_numpy(zero_copy_only=False)
        wrong = np.flatnonzero(~fits)
        _, firsts = np.unique(rows[wrong], return_index=True)  # one reason a row does
        for index in wrong[firsts].tolist():
            text = part[index].as_py()
            shown = "null" if text is None else f'"{text[:320].decode("utf-8", "replace"):.80}"'
            faults.setdefault(int(rows[index]), f"{shown} is not a valid {called}. Try: {cure}, as in N-Triples")
        parts.append(part)
    lines = pc.binary_join_element_wise(*parts, pa.scalar(b".\n"), pa.scalar(b" "))
    counts = np.bincount(rows, minlength=len(array))
    ends = np.concatenate([[0], np.cumsum(pc.fill_null(pc.binary_length(lines), 0).to_numpy(zero_copy_only=False))])
    bounds = ends[np.concatenate([[0], np.cumsum(counts)])].astype(np.int32)
    joined = b"".join(line for line in lines.to_pylist() if line is not None)
    return pa.BinaryArray.from_buffers(pa.binary(), len(array), [None, pa.py_buffer(bounds), pa.py_buffer(joined)])


# Parses RDF documents, one a row: N-Quads in one pass over all rows, other formats converted to it.

_ROOM = 64 << 20
"""Bytes after which what was made into lines is enough for once: a prefix can stand for megabytes, in each row."""

FORMATS = {format.value.lower(): format for format in Format}
"""The formats by the names that a column `format` has for them."""


@dataclass(slots=True, eq=False)
class DocumentTriples:
    """The triples of some rows' documents, in the rows' order; and the reason for each bad row, whatever triples it
    has."""

    count: int  # of the rows
    terms: Terms
    rows: Ints  # of each triple
    subjects: NDArray[np.int32]
    predicates: NDArray[np.int32]
    objects: NDArray[np.int32]
    faults: dict[int, str] = field(default_factory=dict)
    unread: set[int] = field(default_factory=set)  # rows with a line that is not a quad
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


def _joined(texts: Any) -> tuple[bytes, Ints]:
    """Documents without nulls in between as one, and where each begins and the last one ends."""
    _, offsets, data = texts.buffers()
    kind = np.int64 if pa.types.is_large_binary(texts.type) else np.int32
    bounds = np.frombuffer(offsets, kind, count=texts.offset + len(texts) + 1)[texts.offset :].astype(np.int64)
    whole = data[int(bounds[0]) : int(bounds[-1])].to_pybytes() if data is not None else b""
    return whole, bounds - bounds[0]


def _together(graphs: DocumentTriples, others: Sequence[int], converted: DocumentTriples) -> DocumentTriples:
    """The triples of all rows, with those of `others` replaced by the converted ones."""
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


_CHUNK = 4 << 20
"""Bytes of documents that are read at a time, near the caches."""
_MOST = 65_536  # and so many rows

Faults = dict[int, str]
"""By row why it is not an event: the first reason found."""


@dataclass(frozen=True, slots=True, eq=False)
class RdfRows:
    """Some rows, of which `columns` has the parts by our names for them."""

    stream: str
    namespace: str
    limits: Limits
    columns: Mapping[str, Any]
    reading: TimeReading = IN_TEXT
    hashed: bool = False
    """Whether ids are digests of what rows hold."""
    first: int | None = None
    """The number of the first row in its table, by which rows without an id are called; None: by what they hold."""

    def read(self) -> Iterator[EventBatch | BadEvent]:
        """The events of the rows, and the bad ones."""
        bad = _bad_events(self.columns.get("bad"), self.stream)
        faults: Faults = {}
        documents = self._documents(faults)
        formats = self._formats(faults)
        times = self._times(faults)
        named = self._named(documents, faults)
        first = 0
        while first < len(documents):
            last = _chunk_end(documents, first, self.limits)
            graphs = read_documents(
                documents[first:last],
                None if formats is None else formats[first:last],
                namespace=self.namespace,
                limits=self.limits,
                skip=[row - first for row in {*faults, *bad} if first <= row < last],
            )
            for row, reason in graphs.faults.items():
                faults.setdefault(first + row, reason)
            last = first + graphs.count
            good = np.ones(graphs.count, np.bool_)
            good[[row - first for row in {*faults, *bad} if first <= row < last]] = False
            if good.any():
                rows = first + np.flatnonzero(good)
                yield _batch(graphs, good, named, rows, times.take(rows), self.first or 0)
            first = last
        for row in sorted({*faults, *bad}):
            line = 0 if self.first is None else self.first + row + 1
            yield bad.get(row) or BadEvent(self.stream, line, faults[row], self._text(row, documents))

    def _documents(self, faults: Faults) -> Any:
        """As an Arrow array of bytes."""
        if "graph" in self.columns:
            return triples_as_documents(_plain(self.columns["graph"]), faults)
        texts = _plain(self.columns["value"]).cast(pa.binary())
        for row in np.flatnonzero(~is_valid(texts)).tolist():
            faults.setdefault(row, 'no graph: "value" is empty')
        return texts

    def _times(self, faults: Faults) -> Intervals:
        start = read_times(self._readable("time", faults), self.reading)
        end = read_times(self._readable("end", faults), self.reading) if "end" in self.columns else None
        times, wrong = intervals(start, end)
        for row, reason in wrong.items():
            faults.setdefault(row, reason)
        return times

    def _named(self, documents: Any, faults: Faults) -> _Named:
        given = self._readable("id", faults) if "id" in self.columns else None
        parts = {name: array for name, array in self.columns.items() if name in ("time", "end", "format")}
        contents = {**parts, "document": documents}
        if self.first is not None:
            return _Named(self.stream, numbered_ids(self.stream, given, self.first, len(documents)), None, self.first)
        ids = with_ids(self.stream, given, contents)
        return _Named(self.stream, ids, None if self.hashed or given is None else {**contents, "id": given})

    def _formats(self, faults: Faults) -> list[Format | None] | None:
        if "format" not in self.columns:
            return None
        names = self._readable("format", faults).to_pylist()
        found = {name: FORMATS.get(name.lower()) for name in set(names) if name is not None}
        for row, name in enumerate(names):
            if name is not None and found[name] is None:
                faults.setdefault(row, f'"{name:.80}" is not a format. Try: {", ".join(FORMATS)}')
        return [None if name is None else found[name] for name in names]

    def _readable(self, name: str, faults: Faults) -> Any:
        """A column, in which texts that are not UTF-8 are null, and faults."""
        array = _plain(self.columns[name])
        if not is_text(array.type):
            return array
        try:
            array.validate(full=True)
        except pa.ArrowInvalid:
            texts = [None if text is None else _decoded(text) for text in array.cast(pa.binary()).to_pylist()]
            wrong = np.array([text is None for text in texts], np.bool_) & is_valid(array)
            for row in np.flatnonzero(wrong).tolist():
                faults.setdefault(row, f'column "{name}" is not UTF-8')
            return pa.array(texts, pa.string())
        return array

    def _text(self, row: int, documents: Any) -> str:
        """A row as one would write it down."""
        cells = {name: _shown(_plain(array), row) for name, array in self.columns.items() if name != "bad"}
        if "graph" in cells:
            cells["graph"] = _shown(documents, row)
        return json.dumps({name: cell for name, cell in cells.items() if cell is not None}, ensure_ascii=False)


@dataclass(frozen=True, eq=False)
class _Named:
    """The rows of a record batch by their ids, an Arrow array of texts."""

    stream: str
    ids: Any
    contents: Mapping[str, Any] | None  # None: ids are digests of it
    first: int | None = None

    def owners(self, rows: Ints) -> list[str]:
        """The prefixes of the labels of some rows' blank nodes."""
        if self.first is not None:
            beginning = label_of(self.stream)
            return [f"{beginning}_{self.first + row}" for row in rows.tolist()]
        return owner_labels(self.stream, self._digests.take(pa.array(rows)).to_pylist())

    @cached_property
    def _digests(self) -> Any:
        return self.ids if self.contents is None else row_ids(self.stream, self.contents)


def _chunk_end(documents: Any, first: int, limits: Limits) -> int:
    """Up to which row documents are not too large together."""
    some = documents[first : first + _MOST]
    sizes = pc.fill_null(pc.binary_length(some), 0).to_numpy(zero_copy_only=False).astype(np.int64)
    sizes[sizes > limits.event_bytes] = 0  # they will not be read
    return first + max(1, int(np.searchsorted(np.cumsum(sizes), _CHUNK, side="right")))


def _batch(
    graphs: DocumentTriples, good: NDArray[np.bool_], named: _Named, rows: Ints, times: Intervals, first: int
) -> EventBatch:
    """The events of the rows that are good."""
    count = len(times.starts)
    kept = good[graphs.rows]
    events = (np.cumsum(good) - 1)[graphs.rows[kept]]
    columns = [column[kept] for column in (graphs.subjects, graphs.predicates, graphs.objects)]
    offsets = _offsets(events, count)
    keep = without_duplicates(offsets, *columns)
    if not keep.all():
        columns = [column[keep] for column in columns]
        offsets = _offsets(events[keep], count)
    name_blank_nodes(graphs.terms, offsets, columns[0], columns[2], lambda events: named.owners(rows[events]))
    return EventBatch(
        terms=graphs.terms,
        offsets=offsets,
        subjects=columns[0],
        predicates=columns[1],
        objects=columns[2],
        starts=times.starts,
        ends=times.ends,
        domains=times.domains,
        ids=_entered(named.ids.take(pa.array(rows)), graphs.terms),
        positions=first + rows,
    )


def _bad_events(array: Any | None, stream: str) -> dict[int, BadEvent]:
    """The events that were bad before this stage, by row."""
    if array is None or array.null_count == len(array):
        return {}
    rows = np.flatnonzero(is_valid(array))
    lines = array.field("line").take(pa.array(rows)).to_pylist()
    reasons, texts = (array.field(name).cast(pa.binary()).take(pa.array(rows)).to_pylist() for name in _TEXT_FIELDS)
    return {
        row: BadEvent(stream, line or 0, _as_text(reason), _as_text(text))
        for row, line, reason, text in zip(rows.tolist(), lines, reasons, texts, strict=True)
    }


_TEXT_FIELDS = ("reason", "text")


def _entered(ids: Any, terms: Terms) -> NDArray[np.int32]:
    """Ids as terms."""
    letters = ids.buffers()[2].to_pybytes()  # of all of them at once, which is quicker than a look at each
    if any(letter in letters for letter in (b'"', b"\\", b"\n", b"\r")):
        return terms.add_all(Literal(id) for id in ids.to_pylist())
    quoted = pc.binary_join_element_wise('"', ids, '"', "").cast(pa.binary())
    return terms.add_texts(quoted.to_pylist())


def _offsets(events: Ints, count: int) -> Ints:
    offsets = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(events, minlength=count), out=offsets[1:])
    return offsets


def _plain(array: Any) -> Any:
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def _decoded(text: bytes) -> str | None:
    try:
        return text.decode()
    except UnicodeDecodeError:
        return None


def _as_text(text: bytes | None) -> str:
    return (text or b"")[: 4 * BadEvent.LONGEST].decode("utf-8", "replace")


def _shown(array: Any, row: int) -> object:
    """A cell as JSON has it, and of a long one the beginning."""
    cell, kind = array[row : row + 1], array.type
    if pa.types.is_integer(kind) or pa.types.is_null(kind):
        return cell[0].as_py()
    if is_text(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        text = cell.cast(pa.binary())[0].as_py()
        return None if text is None else _as_text(text)[: BadEvent.LONGEST]
    return None if pa.types.is_nested(kind) else cell.cast(pa.string())[0].as_py()
