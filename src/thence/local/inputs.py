"""The inputs of a query's streams: checks their names and reads files and objects into batches."""

from __future__ import annotations

import os
import stat
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from thence.algebra.streams import Stream
from thence.columns.batches import EventBatch, encode
from thence.columns.value_types import Types, attribute_types, common_attributes, needs_data
from thence.errors import InputError, LimitError, closest, listed
from thence.interface.dataflow import Dataflow, check_unions
from thence.io.event_files import column_types, is_parquet, read_batches
from thence.io.gunzip import open_input
from thence.rdf.events import BadEvent, Event
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

    @property
    def is_parquet(self) -> bool:
        return isinstance(self.value, str | os.PathLike) and is_parquet(self.value)

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
        return times_between(self.value)

    def time_kind(self) -> Domain | None:
        """The kind of time of a Parquet file, as far as the type of its column says: before any event (C-32)."""
        if not self.is_parquet:
            return None
        import pyarrow as pa  # heavy

        kind = (self.columns() or {}).get("time")
        if kind is None or pa.types.is_integer(kind):
            return None if kind is None else Domain.TICKS
        return Domain.DATETIME if pa.types.is_timestamp(kind) else None

    def columns(self) -> dict[str, Any] | None:
        """The Arrow types of a table's columns; None if the input is not a table."""
        return column_types(self.value) if isinstance(self.value, str | os.PathLike) else None

    def read(self, wanted: Collection[IRI] | None = None) -> Iterator[tuple[Batch, Sequence[Event] | None] | BadEvent]:
        """The input's events in batches, each with the objects that it came from, if any; and its bad events. With
        `wanted`, triples with other predicates may be left out."""
        if isinstance(self.value, str | os.PathLike):
            for found in read_batches(self.value, stream=self.label, namespace=self.namespace, wanted=wanted):
                yield found if isinstance(found, BadEvent) else (found, None)
        elif isinstance(self.value, EventBatch):
            yield self.value, None
        else:
            assert isinstance(self.value, Iterable)
            yield from _batches(self.value, self.label, self.namespace)


def stream_inputs(name: str, value: object, *, namespace: str) -> list[StreamInput]:
    """The inputs of a stream. Missing files are reported at once. `namespace` is the namespace of the names in typed
    events."""
    several = value if isinstance(value, list | tuple) and _has_sources(value) else [value]
    found = []
    for number, each in enumerate(several):
        label = name if len(several) == 1 else f"{name}/{_called(each, number)}"
        found.append(StreamInput(label, _checked(name, each), namespace))
    if len({source.label for source in found}) < len(found):  # files of one name, from different folders
        found = [replace(source, label=f"{name}/{number}") for number, source in enumerate(found, start=1)]
    return found


def _has_sources(values: Sequence[object]) -> bool:
    return any(isinstance(each, str | os.PathLike | EventBatch | list | tuple) for each in values)


def _called(value: object, number: int) -> str:
    return os.path.basename(os.fspath(value)) if isinstance(value, str | os.PathLike) else str(number + 1)


def _checked(name: str, value: object) -> object:
    match value:
        case str() | os.PathLike():
            open_input(value).close()
            return value
        case Event() | BadEvent():
            return [value]
        case EventBatch():
            return value
        case Mapping() | bytes():
            pass
        case Iterable():
            return value
    raise InputError(
        f"The stream {name} can't be read from {type(value).__name__}. Try: a path, or an iterable of thence.Event"
    )


def _batches(
    values: Iterable[object], label: str, namespace: str
) -> Iterator[tuple[EventBatch, Sequence[Event] | None] | BadEvent]:
    waiting: list[Event] = []
    first = 0
    for value in values:
        match value:
            case Event():
                try:
                    waiting.append(value.in_namespace(namespace))
                except LimitError as error:
                    yield BadEvent(label, 0, str(error), repr(value.attributes))
            case BadEvent():
                yield value
            case EventBatch():
                yield value, None
            case _:
                raise InputError(f"{value!r:.80} in the stream {label} is not an event. Try: thence.Event(time, graph)")
        if len(waiting) == _TOGETHER:
            yield encode(waiting, stream=label, first=first), waiting
            first, waiting = first + len(waiting), []
    if waiting:
        yield encode(waiting, stream=label, first=first), waiting


# The types of inputs that are tables, as far as a query's answer depends on them.


def check_inputs(dataflow: Dataflow, inputs: Mapping[str, Sequence[StreamInput]]) -> None:
    """InputError if a column of a UNION would have several types. Only tables have types before they are read; a CSV
    file is read to find them, so this is done only where types matter."""
    if needs_data(dataflow.typed_stages):
        check_unions(dataflow, {name: common_attributes(map(_types_of, listed)) for name, listed in inputs.items()})


def _types_of(given: StreamInput) -> Types | None:
    columns = given.columns()
    return None if columns is None else attribute_types(columns)
