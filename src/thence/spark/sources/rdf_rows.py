"""Rows with a graph each, as an RDF document or as an array of triples → `EventBatch`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from thence.columns.arrow_values import is_text, is_valid
from thence.columns.dictionary import Terms
from thence.columns.distinct_triples import without_duplicates
from thence.columns.event_batch import EventBatch, name_blank_nodes
from thence.columns.time_columns import Intervals, intervals, read_times
from thence.rdf.events import BadEvent
from thence.rdf.formats import Format
from thence.rdf.limits import Limits
from thence.rdf.terms import Literal
from thence.spark.sources.rdf_documents import FORMATS, DocumentTriples, Rows, read_documents
from thence.spark.sources.row_ids import owner_labels, row_ids, with_ids
from thence.spark.sources.triple_arrays import triples_as_documents

_CHUNK = 4 << 20
"""Bytes of documents that are read at a time, near the caches."""
_MOST = 65_536  # and so many rows

Faults = dict[int, str]
"""By row why it is no event: the first reason found."""


@dataclass(frozen=True, slots=True, eq=False)
class RdfRows:
    """Some rows, of which `columns` has the parts by our names for them."""

    stream: str
    namespace: str
    limits: Limits
    columns: Mapping[str, Any]
    hashed: bool = False
    """Whether ids are digests of what rows hold."""

    def read(self) -> Iterator[EventBatch | BadEvent]:
        """Their events, and those that are none."""
        bad = _told(self.columns.get("bad"), self.stream)
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
                yield _batch(graphs, good, named, rows, times.take(rows))
            first = last
        for row in sorted({*faults, *bad}):
            yield bad.get(row) or BadEvent(self.stream, 0, faults[row], self._text(row, documents))

    def _documents(self, faults: Faults) -> Any:
        """As an Arrow array of bytes."""
        if "graph" in self.columns:
            return triples_as_documents(_plain(self.columns["graph"]), faults)
        texts = _plain(self.columns["value"]).cast(pa.binary())
        for row in np.flatnonzero(~is_valid(texts)).tolist():
            faults.setdefault(row, 'no graph: "value" is empty')
        return texts

    def _times(self, faults: Faults) -> Intervals:
        start = read_times(self._readable("time", faults), integers_in_text=True)
        end = read_times(self._readable("end", faults), integers_in_text=True) if "end" in self.columns else None
        times, wrong = intervals(start, end)
        for row, reason in wrong.items():
            faults.setdefault(row, reason)
        return times

    def _named(self, documents: Any, faults: Faults) -> _Named:
        given = self._readable("id", faults) if "id" in self.columns else None
        parts = {name: array for name, array in self.columns.items() if name in ("time", "end", "format")}
        contents = {**parts, "document": documents}
        ids = with_ids(self.stream, given, contents)
        return _Named(self.stream, ids, None if self.hashed or given is None else {**contents, "id": given})

    def _formats(self, faults: Faults) -> list[Format | None] | None:
        if "format" not in self.columns:
            return None
        names = self._readable("format", faults).to_pylist()
        found = {name: FORMATS.get(name.lower()) for name in set(names) if name is not None}
        for row, name in enumerate(names):
            if name is not None and found[name] is None:
                faults.setdefault(row, f'"{name:.80}" is no format. Try: {", ".join(FORMATS)}')
        return [None if name is None else found[name] for name in names]

    def _readable(self, name: str, faults: Faults) -> Any:
        """A column, in which texts that are no UTF-8 are null, and faults."""
        array = _plain(self.columns[name])
        if not is_text(array.type):
            return array
        try:
            array.validate(full=True)
        except pa.ArrowInvalid:
            texts = [None if text is None else _decoded(text) for text in array.cast(pa.binary()).to_pylist()]
            wrong = np.array([text is None for text in texts], np.bool_) & is_valid(array)
            for row in np.flatnonzero(wrong).tolist():
                faults.setdefault(row, f'column "{name}" is no UTF-8')
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

    def owners(self, rows: Rows) -> list[str]:
        """What the labels of some rows' blank nodes begin with."""
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


def _batch(graphs: DocumentTriples, good: NDArray[np.bool_], named: _Named, rows: Rows, times: Intervals) -> EventBatch:
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
        positions=rows,
    )


def _told(array: Any | None, stream: str) -> dict[int, BadEvent]:
    """By row what was bad before it came here."""
    if array is None or array.null_count == len(array):
        return {}
    rows = np.flatnonzero(is_valid(array))
    lines = array.field("line").take(pa.array(rows)).to_pylist()
    reasons, texts = (array.field(name).cast(pa.binary()).take(pa.array(rows)).to_pylist() for name in _TOLD_IN_TEXT)
    return {
        row: BadEvent(stream, line or 0, _as_text(reason), _as_text(text))
        for row, line, reason, text in zip(rows.tolist(), lines, reasons, texts, strict=True)
    }


_TOLD_IN_TEXT = ("reason", "text")


def _entered(ids: Any, terms: Terms) -> NDArray[np.int32]:
    """Ids as terms."""
    letters = ids.buffers()[2].to_pybytes()  # of all of them at once, which is quicker than a look at each
    if any(letter in letters for letter in (b'"', b"\\", b"\n", b"\r")):
        return terms.add_all(Literal(id) for id in ids.to_pylist())
    quoted = pc.binary_join_element_wise('"', ids, '"', "").cast(pa.binary())
    return terms.add_texts(quoted.to_pylist())


def _offsets(events: Rows, count: int) -> Rows:
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
