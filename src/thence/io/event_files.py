"""Event files: `.nq`, `.trig` and `.jsonl`, plain and gzipped, and tables, as batches of columns or one event at a
time."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO

from thence.columns.batches import EventBatch, encode
from thence.errors import InputError
from thence.io.gunzip import open_input
from thence.io.jsonl import read_json
from thence.io.nquads import events_of, read_nquads
from thence.io.table_layout import TableLayout
from thence.io.trig import trig_chunks
from thence.rdf.events import DEFAULT_NAMESPACE, BadEvent, Event
from thence.rdf.limits import Limits

if TYPE_CHECKING:
    from thence.columns.batches import Batch
    from thence.columns.value_types import Types
    from thence.rdf.terms import IRI

_TOGETHER = 4096
"""Events of a `.jsonl` file that become one batch."""
_LAYOUT = TableLayout()


def read_batches(
    path: str | os.PathLike[str],
    *,
    stream: str | None = None,
    limits: Limits | None = None,
    namespace: str = DEFAULT_NAMESPACE,
    wanted: Collection[IRI] | None = None,
    layout: TableLayout = _LAYOUT,
) -> Iterator[Batch | BadEvent]:
    """The events of a file in batches, in the file's order, with what could not be read between them. Memory stays
    constant, however large the file. `stream` names the stream in ids and problems; by default it is the file's name.
    `namespace` is that of the names in typed events, `layout` says what the columns of tables are. With `wanted`, their
    triples may be left out, but for those with one of these predicates.
    """
    limits = limits or Limits()
    name = os.path.basename(os.fspath(path))
    stream = stream or name
    if is_parquet(path):
        from thence.io.event_tables import read_parquet  # heavy

        open_input(path).close()  # a missing file is reported at once
        yield from read_parquet(path, stream=stream, limits=limits, namespace=namespace, wanted=wanted, layout=layout)
        return
    if is_csv(path):
        from thence.io.csv_files import read_csv  # heavy

        yield from read_csv(path, stream=stream, limits=limits, namespace=namespace, layout=layout)
        return
    with open_input(path, limits=limits) as source:
        match name.lower().removesuffix(".gz").rpartition(".")[2]:
            case "nq":
                yield from read_nquads(source, stream=stream, limits=limits)
            case "trig":
                yield from _trig(source, stream, limits)
            case "jsonl" | "ndjson":
                from thence.io.json_columns import read_json_batches  # heavy

                yield from read_json_batches(source, stream=stream, limits=limits, namespace=namespace, layout=layout)
            case "json":
                found = read_json(source, stream_name=stream, limits=limits, namespace=namespace, layout=layout)
                yield from batches(found, stream=stream)
            case _:
                raise InputError(
                    f"{os.fspath(path)}: the ending is not that of an event file. Try: .nq, .trig, .jsonl, .ndjson, "
                    ".json or .csv, or these with .gz, or .parquet"
                )


def table_schema(path: str | os.PathLike[str]) -> Any | None:
    """The columns of a table with their Arrow types; None if the file is not a table. In CSV they depend on all values,
    so the whole file is read."""
    if is_parquet(path):
        from thence.io.event_tables import parquet_schema  # heavy

        return parquet_schema(path)
    if is_csv(path):
        from thence.io.csv_files import csv_schema  # heavy

        return csv_schema(path)
    return None


def table_types(path: str | os.PathLike[str], layout: TableLayout) -> Types | None:
    """The types of the attributes of a table; None if the file is not one, or one of RDF."""
    schema = table_schema(path)
    if schema is None:
        return None
    from thence.io.table_columns import attribute_types  # heavy

    return attribute_types(layout, os.fspath(path), schema, rdf=not is_csv(path))


def is_csv(path: str | os.PathLike[str]) -> bool:
    return os.fspath(path).lower().removesuffix(".gz").endswith(".csv")


def is_parquet(path: str | os.PathLike[str]) -> bool:
    return os.fspath(path).lower().endswith(".parquet")


def read_events(
    path: str | os.PathLike[str], *, stream: str | None = None, limits: Limits | None = None
) -> Iterator[Event | BadEvent]:
    """The events of a file, one at a time, with what could not be read between them."""
    for found in read_batches(path, stream=stream, limits=limits):
        if isinstance(found, BadEvent):
            yield found
        else:
            yield from found


def batches(
    events: Iterable[Event | BadEvent], *, stream: str = "stream", first: int = 0
) -> Iterator[EventBatch | BadEvent]:
    """Events as columns, some thousand at a time; what was bad passes through. Positions are counted from `first`."""
    remaining = iter(events)
    while some := list(islice(remaining, _TOGETHER)):
        good = [event for event in some if isinstance(event, Event)]
        if good:
            yield encode(good, stream=stream, first=first)
        first += len(good)
        yield from (event for event in some if isinstance(event, BadEvent))


def _trig(source: BinaryIO, stream: str, limits: Limits) -> Iterator[EventBatch | BadEvent]:
    pieces = trig_chunks(source, stream_name=stream, limits=limits)
    return events_of(pieces, stream=stream, limits=limits)
