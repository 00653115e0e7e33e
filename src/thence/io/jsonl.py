"""Event files with one JSON object a line: a graph in Turtle, a JSON-LD object, or a typed event."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from math import isinf
from typing import Any, BinaryIO

from thence.errors import InputError, ThenceError
from thence.io.gunzip import READ_FAILURES
from thence.io.jsonld import event_id, jsonld_event
from thence.rdf.events import BadEvent, Event
from thence.rdf.limits import Limits, size
from thence.rdf.parser_guard import BOM, JsonNesting
from thence.rdf.typed_events import DEFAULT_NAMESPACE

_BLOCK = 1 << 18
_LIMITS = Limits()
_SHOWN = 4 * BadEvent.LONGEST  # bytes that hold as many characters
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_MOST_DIGITS = 3000  # Python itself refuses to read and write much longer integers
_RDF_KEYS = ("time", "end", "id", "graph")
_NUMBER = "query"
"""Beside them, where a query with several CONSTRUCTs wrote the file: which of them made the event. It is no part of the
event."""


def read_jsonl(
    stream: BinaryIO,
    *,
    stream_name: str = "stream",
    limits: Limits = _LIMITS,
    namespace: str = DEFAULT_NAMESPACE,
    first_line: int = 1,
) -> Iterator[Event | BadEvent]:
    """The events of a file, in order, and what could not be read between them; constant memory. `first_line` is the
    number of its first line, if it is a part of a file.

    >>> import io
    >>> lines = b'{"time": 1, "type": "Reading", "watts": 7}\\n{"time": 2, "typ": "Reading"}\\n'
    >>> for event in read_jsonl(io.BytesIO(lines), stream_name="power"):
    ...     print(event.id if isinstance(event, Event) else event.reason)
    power:1
    no "graph", no "type", and no JSON-LD
    """
    reader = _LineReader(stream_name, limits, namespace)
    for line in _lines(stream, limits, first_line):
        if line.fault:
            yield BadEvent(stream_name, line.number, line.fault, _shown(line.text))
        elif line.text.strip():
            try:
                yield reader.event(line)
            except ThenceError as error:
                yield BadEvent(stream_name, line.number, str(error), _shown(line.text))


@dataclass(frozen=True, slots=True)
class _Line:
    number: int  # counted from 1
    text: bytes
    fault: str | None = None  # why it could not be read; then `text` is its head


def _lines(stream: BinaryIO, limits: Limits, number: int) -> Iterator[_Line]:
    """All lines; of one that is too long only the head is kept. A stream that fails ends in a line with the reason."""
    line = b""  # as far as it was read
    enough = max(limits.event_bytes, _SHOWN)
    try:
        while block := stream.read(_BLOCK):
            first, *others = block.split(b"\n")
            if len(line) <= enough:
                line += first
            for text in others:
                yield _line(number, line, limits)
                number, line = number + 1, text
    except READ_FAILURES as error:
        yield _Line(number, line, str(error) or type(error).__name__)
        return
    if line:
        yield _line(number, line, limits)


def _line(number: int, text: bytes, limits: Limits) -> _Line:
    if len(text) > limits.event_bytes:
        return _Line(number, text[:_SHOWN], f"a line longer than {size(limits.event_bytes)}")
    return _Line(number, text.removeprefix(BOM) if number == 1 else text)


class _LineReader:
    def __init__(self, stream: str, limits: Limits, namespace: str) -> None:
        self._stream = stream
        self._limits = limits
        self._namespace = namespace

    def event(self, line: _Line) -> Event:
        value = load_object(line.text, self._limits)
        default_id = f"{self._stream}:{line.number}"
        if any(key.startswith("@") for key in value):
            return self._jsonld(value, default_id)
        if "type" in value:
            return self._typed(value, default_id)
        if "graph" in value:
            return self._rdf(value, default_id)
        if any(":" in key for key in value):
            return self._jsonld(value, default_id)
        raise InputError('no "graph", no "type", and no JSON-LD')

    def _jsonld(self, value: dict[str, Any], default_id: str) -> Event:
        return jsonld_event(value, default_id=default_id, namespace=self._namespace, limits=self._limits)

    def _rdf(self, value: dict[str, Any], default_id: str) -> Event:
        unknown = [key for key in value if key not in (*_RDF_KEYS, _NUMBER)]
        if unknown:
            raise InputError(f'"{unknown[0]:.80}" is none of {", ".join(_RDF_KEYS)}')
        if not isinstance(value["graph"], str):
            raise InputError('"graph" must be Turtle, in a string')
        return self._make(value, value["graph"], default_id)

    def _typed(self, value: dict[str, Any], default_id: str) -> Event:
        return self._make(value, {key: each for key, each in value.items() if key not in _RDF_KEYS[:3]}, default_id)

    def _make(self, value: dict[str, Any], graph: str | dict[str, Any], default_id: str) -> Event:
        if "time" not in value:
            raise InputError('no time: "time" is missing')
        name = event_id(value.get("id")) or default_id
        return Event(value["time"], graph, value.get("end"), name, namespace=self._namespace, limits=self._limits)


def load_object(text: bytes, limits: Limits) -> dict[str, Any]:
    """A JSON object, with its decimals exact; anything else is an error that says why."""
    if text.count(b"[") + text.count(b"{") > limits.nesting:
        JsonNesting(limits).feed(text)
    try:
        value = _DECODER.decode(text.decode())
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False, default=str).encode()
    except UnicodeDecodeError as error:
        raise InputError(f"byte {error.start + 1} of the line is no UTF-8") from None
    except UnicodeEncodeError:
        raise InputError("a lone surrogate, which is no character") from None
    except json.JSONDecodeError as error:
        raise InputError(f"no JSON: {error.msg}, column {error.colno}") from None
    if not isinstance(value, dict):
        raise InputError("an event is a JSON object")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        (twice, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise InputError(f'"{twice:.80}" stands twice in one object')
    return made


def _number(text: str) -> Decimal | float:
    """Exact, as far as it is written out; with an exponent a double, as in Turtle."""
    if "e" not in text and "E" not in text:
        return Decimal(text)
    number = float(text)
    if isinf(number):
        raise InputError(f"{text:.80} is out of range")
    return number


def _integer(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        raise InputError(f"an integer of more than {_MOST_DIGITS:,} digits")
    return int(text)


def _constant(name: str) -> None:
    raise InputError(f"{name} is no JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=_number, parse_int=_integer, parse_constant=_constant
)


def _shown(text: bytes) -> str:
    return text[:_SHOWN].decode("utf-8", "replace")
