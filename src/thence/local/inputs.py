"""The inputs of a query's streams: checks their names, and reads files and objects into batches."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from thence.algebra.streams import Stream
from thence.columns.event_batch import EventBatch, encode
from thence.errors import InputError, LimitError
from thence.hints import closest, listed
from thence.io.event_files import column_types, is_parquet, read_batches
from thence.io.gunzip import open_input
from thence.rdf.events import BadEvent, Event
from thence.rdf.terms import IRI

if TYPE_CHECKING:
    from thence.columns.column_batch import Batch

_TOGETHER = 4096
"""Events that become one batch."""


def stream_name(given: object, streams: Sequence[Stream]) -> str:
    """The query's name for a stream that is called by its name, with a colon before it or without, or by its IRI.

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
    """What was given for each of the query's streams; a query over one stream takes it without a name too."""
    if not isinstance(given, Mapping):
        if len(streams) != 1:
            names = ", ".join(f'"{stream.name}": …' for stream in streams)
            raise InputError(f"The query reads {len(streams)} streams, so each is given by its name. Try: {{{names}}}")
        return {streams[0].name: given}
    found: dict[str, object] = {}
    for called, value in given.items():
        name = stream_name(called, streams)
        if name in found:
            raise InputError(f"The stream {name} is given twice, by its name and by its IRI. Try: a list of both")
        found[name] = value
    for stream in streams:
        if stream.name not in found:
            raise InputError(f'Nothing is given for the stream {stream.name}. Try: "{stream.name}": PATH')
    return found


@dataclass(frozen=True, slots=True)
class StreamInput:
    """One of the things that a stream's events come from. `label` names it in the ids of events that have none, and
    keeps its blank nodes apart from those of the others; `namespace` is that of the bare names of typed events."""

    label: str
    value: object
    namespace: str

    @property
    def is_parquet(self) -> bool:
        return isinstance(self.value, str | os.PathLike) and is_parquet(self.value)

    def times(self) -> tuple[int, int] | None:
        """The first and the last time of a Parquet file whose rows are in the order of time; else None."""
        from thence.io.parquet import times_between  # heavy

        assert isinstance(self.value, str | os.PathLike)
        return times_between(self.value)

    def columns(self) -> dict[str, Any] | None:
        """Arrow's types of a table's columns; None, if it is no table."""
        return column_types(self.value) if isinstance(self.value, str | os.PathLike) else None

    def read(self, wanted: Collection[IRI] | None = None) -> Iterator[tuple[Batch, Sequence[Event] | None] | BadEvent]:
        """Its events in batches, each with the objects that it was made of, if it was; and what was none. With
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
    """What a stream is made of. Files are looked for at once. `namespace` is that of the names in typed events."""
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
                raise InputError(f"{value!r:.80} in the stream {label} is no event. Try: thence.Event(time, graph)")
        if len(waiting) == _TOGETHER:
            yield encode(waiting, stream=label, first=first), waiting
            first, waiting = first + len(waiting), []
    if waiting:
        yield encode(waiting, stream=label, first=first), waiting
