"""Events from files as rows of a DataFrame: `time`, `end`, `id`, `value`, `position`, and `bad` for a bad event."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from thence.columns.batches import EventBatch
from thence.columns.dictionary import Terms
from thence.rdf.events import BadEvent
from thence.rdf.times import Domain
from thence.spark.sources.file_splits import FileSplit, read_split
from thence.spark.sources.row_ids import COLUMN, POSITION

if TYPE_CHECKING:
    from thence.rdf.limits import Limits

_BAD = pa.struct([("file", pa.string()), ("line", pa.int64()), ("reason", pa.string()), ("text", pa.string())])
_TOGETHER = 1000  # bad events that become one record batch
_A_TIME = {Domain.TICKS: "a tick", Domain.DATETIME: "a date"}
_TIMES = {Domain.TICKS: "ticks", Domain.DATETIME: "dates"}


def arrow_schema(domain: Domain) -> Any:
    """The columns of rows whose times are of a domain. A point in time has no `end`; a bad event has only `bad`:
    the file, the line, the reason and the text. `position` orders events of one time."""
    time = pa.int64() if domain is Domain.TICKS else pa.timestamp("us", "UTC")
    texts = [("id", pa.string()), ("value", pa.string())]
    return pa.schema([("time", time), ("end", time), *texts, (COLUMN, POSITION), ("bad", _BAD)])


def split_rows(part: FileSplit, domain: Domain, *, namespace: str, limits: Limits) -> Iterator[Any]:
    """The rows of a part of a file, as record batches."""
    bad: list[BadEvent] = []
    for found in read_split(part, namespace=namespace, limits=limits):
        if isinstance(found, BadEvent):
            bad.append(found)
        else:
            batch = found.as_events()
            fits = batch.domains == domain.value
            if not fits.all():
                bad += _of_another_time(batch.take(np.flatnonzero(~fits)), part.stream, domain)
                batch = batch.take(np.flatnonzero(fits))
            if len(batch):
                yield _events(batch, part.rank, domain)
        if len(bad) >= _TOGETHER:
            yield _bad(bad, part.path, domain)
            bad = []
    if bad:
        yield _bad(bad, part.path, domain)


def _events(batch: EventBatch, rank: str, domain: Domain) -> Any:
    schema = arrow_schema(domain)
    ends = pa.array(batch.ends, mask=batch.ends == batch.starts)
    return pa.RecordBatch.from_arrays(
        [
            pa.array(batch.starts).cast(schema.field("time").type),
            ends.cast(schema.field("end").type),
            _ids(batch),
            graph_texts(batch),
            _positions(batch, rank),
            pa.nulls(len(batch), _BAD),
        ],
        schema=schema,
    )


def _positions(batch: EventBatch, rank: str) -> Any:
    files = pa.repeat(pa.scalar(_encodable(rank), pa.string()), len(batch))
    return pa.StructArray.from_arrays([files, pa.array(batch.positions, pa.int64())], fields=list(POSITION))


def _bad(events: Sequence[BadEvent], file: str, domain: Domain) -> Any:
    schema = arrow_schema(domain)
    rows = [(_encodable(file), event.line, _encodable(event.reason), _encodable(event.text)) for event in events]
    columns = [pa.nulls(len(events), field.type) for field in schema if field.name != "bad"]
    return pa.RecordBatch.from_arrays([*columns, pa.array(rows, _BAD)], schema=schema)


def _of_another_time(batch: EventBatch, stream: str, domain: Domain) -> Iterator[BadEvent]:
    """Events that a column of such times can't hold."""
    for index, text in enumerate(graph_texts(batch).to_pylist()):
        other = _A_TIME[Domain(int(batch.domains[index]))]
        reason = f"its time is {other}, those of the DataFrame are {_TIMES[domain]}"
        yield BadEvent(stream, 0, reason, f"{batch.id(index)}\n{text}")


def graph_texts(batch: EventBatch) -> Any:
    """The graph of each event as N-Triples, canonical; as an Arrow array of texts."""
    parts = [_texts(batch.terms, column) for column in (batch.subjects, batch.predicates, batch.objects)]
    lines = pc.binary_join_element_wise(*parts, pa.scalar(b".\n", _TEXT), pa.scalar(b" ", _TEXT))
    _, bounds, data = lines.buffers()
    offsets = np.frombuffer(bounds, np.int64)[batch.offsets].astype(np.int32)
    return pa.StringArray.from_buffers(len(batch), pa.py_buffer(offsets), data or pa.py_buffer(b""))


_TEXT = pa.large_binary()


def _texts(terms: Terms, ids: NDArray[np.int32]) -> Any:
    """The canonical N-Triples texts of some terms, as an Arrow array."""
    bounds = np.zeros(len(terms) + 1, np.int64)
    bounds[1:] = terms.ends[: len(terms)]
    known = pa.LargeBinaryArray.from_buffers(_TEXT, len(terms), [None, pa.py_buffer(bounds), pa.py_buffer(terms.text)])
    return known.take(pa.array(ids))


def _ids(batch: EventBatch) -> Any:
    found = _texts(batch.terms, batch.ids)
    if pc.any(pc.match_substring(found, "\\")).as_py():
        return pa.array([batch.id(index) for index in range(len(batch))], pa.string())
    return pc.binary_slice(found, 1, -1).cast(pa.string())  # an IRI or a text, between two signs


def _encodable(text: str) -> str:
    """With what is not a character replaced: names of files may have it."""
    return text.encode("utf-8", "replace").decode()
