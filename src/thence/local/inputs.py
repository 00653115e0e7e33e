"""The inputs of a query's streams: checks their names and reads files, tables and objects into batches."""

from __future__ import annotations

import glob
import os
import re
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from thence.algebra.streams import Stream
from thence.columns.batches import EventBatch, encode
from thence.columns.value_types import Types, needs_data
from thence.errors import InputError, LimitError, ThenceError, closest, listed
from thence.interface.dataflow import Dataflow, check_types
from thence.io.event_files import is_csv, is_parquet, read_batches, table_types
from thence.io.gunzip import open_input
from thence.io.jsonl import ObjectReader
from thence.io.table_layout import TableLayout
from thence.rdf.events import BadEvent, Event
from thence.rdf.limits import Limits
from thence.rdf.terms import IRI
from thence.rdf.times import Domain

if TYPE_CHECKING:
    from thence.columns.batches import Batch

_TOGETHER = 4096
"""Events that become one batch."""


def stream_name(given: object, streams: Sequence[Stream]) -> str:
    """The query's name for a stream, given by name (with or without a colon) or by IRI.

    >>> stream_name(IRI("http://example.org/power"), [Stream("S1", IRI("http://example.org/power"))])
    'S1'
    >>> stream_name(":S1", [Stream("S1", IRI("http://example.org/power"))])
    'S1'
    """
    called = given.value if isinstance(given, IRI) else str(given)
    for stream in streams:
        named = called in (stream.name, f":{stream.name}") and not isinstance(given, IRI)
        if named or called == stream.iri.value:
            return stream.name
    names = [stream.name for stream in streams]
    near = closest(called, [*names, *(stream.iri.value for stream in streams)])
    cure = f"Did you mean {near}?" if near else f"Try: {listed(names)}"
    raise InputError(f'The query has no stream "{called}". {cure}')


def inputs_by_stream(given: object, streams: Sequence[Stream]) -> dict[str, object]:
    """The input of each stream; a query over one stream takes its input without a name too."""
    if not isinstance(given, Mapping):
        if len(streams) != 1:
            names = ", ".join(f'"{stream.name}": …' for stream in streams)
            raise InputError(f"The query reads {len(streams)} streams, so each needs its name. Try: {{{names}}}")
        return {streams[0].name: given}
    found: dict[str, object] = {}
    for called, value in given.items():
        name = stream_name(called, streams)
        if name in found:
            raise InputError(f"The stream {name} is given twice, by its name and by its IRI. Try: a list of both")
        found[name] = value
    for stream in streams:
        if stream.name not in found:
            raise InputError(f'No input is given for the stream {stream.name}. Try: "{stream.name}": PATH')
    return found


@dataclass(frozen=True, slots=True)
class StreamInput:
    """One input of a stream. `label` names it in the ids of events without an id, and separates its blank nodes from
    those of other inputs; `namespace` is the namespace of the bare names of typed events."""

    label: str
    value: object
    namespace: str
    layout: TableLayout = field(default_factory=TableLayout)

    @property
    def is_parquet(self) -> bool:
        return isinstance(self.value, str | os.PathLike) and is_parquet(self.value)

    @property
    def _is_csv(self) -> bool:
        return isinstance(self.value, str | os.PathLike) and is_csv(self.value)

    @property
    def is_read_once(self) -> bool:
        """Whether a second reading would find nothing, or never end: a generator, a pipe."""
        if isinstance(self.value, str | os.PathLike):
            try:
                mode = os.stat(self.value).st_mode
            except OSError:
                return False  # the reader reports it
            return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
        return isinstance(self.value, Iterator)

    @property
    def kind(self) -> str:
        """What it is, in an error."""
        return str(self.value) if isinstance(self.value, str | os.PathLike) else f"a {type(self.value).__name__}"

    def times(self) -> tuple[int, int] | None:
        """The first and last time of a Parquet file whose rows are in time order; else None."""
        from thence.io.event_tables import times_between  # heavy

        assert isinstance(self.value, str | os.PathLike)
        return times_between(self.value, self.layout)

    def time_kind(self) -> Domain | None:
        """The kind of time of a table, as far as the type of its column says: before any event (C-32)."""
        schema = self._schema()
        if schema is None:
            return None
        name = self.layout.columns.get("time", "time")
        return self.layout.times.domain(schema.field(name).type) if name in schema.names else None

    def _schema(self) -> Any | None:
        """The columns of a table that says their types."""
        if self.is_parquet:
            from thence.io.event_tables import parquet_schema  # heavy

            assert isinstance(self.value, str | os.PathLike)
            return parquet_schema(self.value)
        if self._is_csv:
            from thence.io.csv_files import csv_header  # heavy

            assert isinstance(self.value, str | os.PathLike)
            return csv_header(self.value)
        return self.value.schema if _is_arrow(self.value) else None  # type: ignore[attr-defined]

    def types(self) -> Types | None:
        """The types of a table's attributes; None if the input is not a table of typed events."""
        if isinstance(self.value, str | os.PathLike):
            return table_types(self.value, self.layout)
        if not _is_arrow(self.value):
            return None
        from thence.io.table_columns import attribute_types  # heavy

        return attribute_types(self.layout, f"stream {self.label}", self._schema())

    def check(self) -> None:
        """InputError if the columns of a table can't be events. A ThenceWarning if one is hidden."""
        schema = self._schema()
        if schema is not None:
            from thence.io.table_columns import event_columns  # heavy

            place = os.fspath(self.value) if isinstance(self.value, str | os.PathLike) else f"stream {self.label}"
            event_columns(self.layout, place, schema, rdf=not self._is_csv)
            self.layout.warn_of_hidden(place, schema.names)

    def read(self, wanted: Collection[IRI] | None = None) -> Iterator[tuple[Batch, Sequence[Event] | None] | BadEvent]:
        """The input's events in batches, each with the objects that it came from, if any; and its bad events. With
        `wanted`, triples with other predicates may be left out."""
        if isinstance(self.value, EventBatch):
            yield self.value, None
            return
        if isinstance(self.value, str | os.PathLike):
            options = {"namespace": self.namespace, "wanted": wanted, "layout": self.layout}
            found: Iterator[Batch | BadEvent] = read_batches(self.value, stream=self.label, **options)  # type: ignore[arg-type]
        elif _is_arrow(self.value):
            from thence.io.arrow_streams import ArrowStream, read_arrow  # heavy

            assert isinstance(self.value, ArrowStream)
            found = read_arrow(self.value, stream=self.label, namespace=self.namespace, layout=self.layout)
        else:
            assert isinstance(self.value, Iterable)
            yield from _batches(self.value, ObjectReader(self.label, Limits(), self.namespace, self.layout))
            return
        for each in found:
            yield each if isinstance(each, BadEvent) else (each, None)


def stream_inputs(name: str, value: object, *, namespace: str, layout: TableLayout | None = None) -> list[StreamInput]:
    """The inputs of a stream. Missing files are reported at once. `namespace` is the namespace of the names in typed
    events, `layout` says what the columns of tables are."""
    several = value if isinstance(value, list | tuple) and _has_sources(value) else [value]
    several = [each for one in several for each in _files(one)]
    found = []
    for number, each in enumerate(several):
        label = name if len(several) == 1 else f"{name}/{_called(each, number)}"
        found.append(StreamInput(label, _checked(name, each), namespace, layout or TableLayout(name)))
    if len({source.label for source in found}) < len(found):  # files of one name, from different folders
        found = [replace(source, label=f"{name}/{number}") for number, source in enumerate(found, start=1)]
    return found


_PATTERN = re.compile(r"[*?\[]")


def _files(value: object) -> list[object]:
    """A path as the files that it means: those of a folder or of a pattern, in the order of their names."""
    if not isinstance(value, str | os.PathLike):
        return [value]
    path = os.fspath(value)
    if os.path.isdir(path):
        names = [name for name in sorted(os.listdir(path)) if not name.startswith((".", "_"))]
        if not names:
            raise InputError(f"{path} is an empty folder. Try: a folder with event files")
        return [os.path.join(path, name) for name in names]
    if os.path.exists(path) or not _PATTERN.search(path):
        return [value]
    found = sorted(glob.glob(path, recursive=True))
    if not found:
        raise InputError(f"{path}: no file has such a name. Try: the name of a file, or of a folder")
    return list(found)


def _is_arrow(value: object) -> bool:
    return type(value).__name__ == "ArrowStream"  # whose module is heavy


def _has_sources(values: Sequence[object]) -> bool:
    kinds = (str, os.PathLike, EventBatch, list, tuple)
    return any(isinstance(each, kinds) or hasattr(each, "__arrow_c_stream__") for each in values)


def _called(value: object, number: int) -> str:
    return os.path.basename(os.fspath(value)) if isinstance(value, str | os.PathLike) else str(number + 1)


def _checked(name: str, value: object) -> object:
    match value:
        case str() | os.PathLike():
            open_input(value).close()
            return value
        case _ if hasattr(value, "__arrow_c_stream__"):
            from thence.io.arrow_streams import ArrowStream  # heavy

            return ArrowStream.of(value, f"stream {name}")
        case Event() | BadEvent():
            return [value]
        case EventBatch():
            return value
        case Mapping() | bytes():
            pass
        case Iterable():
            return value
    raise InputError(
        f"The stream {name} can't be read from {type(value).__name__}. Try: a path, a DataFrame of pandas, Polars or "
        "Arrow, or an iterable of dicts or of thence.Event"
    )


def _batches(
    values: Iterable[object], reader: ObjectReader
) -> Iterator[tuple[EventBatch, Sequence[Event] | None] | BadEvent]:
    waiting: list[Event] = []
    first = 0
    for number, value in enumerate(values, start=1):
        match value:
            case Event():
                try:
                    waiting.append(value.in_namespace(reader.namespace))
                except LimitError as error:
                    yield BadEvent(reader.stream, 0, str(error), repr(value.attributes))
            case BadEvent():
                yield value
            case EventBatch():
                yield value, None
            case Mapping():
                try:
                    waiting.append(reader.event(dict(value), f"{reader.stream}:{number}"))
                except ThenceError as error:
                    yield BadEvent(reader.stream, number, str(error), repr(value))
            case _:
                raise InputError(
                    f"{value!r:.80} in the stream {reader.stream} is not an event. Try: thence.Event(time, graph), or "
                    'a dict with "time"'
                )
        if len(waiting) == _TOGETHER:
            yield encode(waiting, stream=reader.stream, first=first), waiting
            first, waiting = first + len(waiting), []
    if waiting:
        yield encode(waiting, stream=reader.stream, first=first), waiting


# The types of inputs that are tables, as far as a query's answer depends on them.


def check_inputs(dataflow: Dataflow, inputs: Mapping[str, Sequence[StreamInput]]) -> None:
    """InputError if a table's columns can't be events, if a column of a UNION would have several types, or if something
    cannot be computed. Only tables have types before they are read; a CSV file is read to find them, so this is done
    only where types matter."""
    for listed_inputs in inputs.values():
        for each in listed_inputs:
            each.check()
    if needs_data(dataflow.typed_stages):
        check_types(dataflow, {name: [each.types() for each in listed] for name, listed in inputs.items()})


def input_types(inputs: Mapping[str, Sequence[StreamInput]]) -> dict[str, list[Types] | None]:
    """The types of the attributes of each stream, input by input; None where some input is not a table."""
    found = {name: [each.types() for each in listed] for name, listed in inputs.items()}
    return {
        name: None if any(each is None for each in listed) else [each for each in listed if each is not None]
        for name, listed in found.items()
    }
