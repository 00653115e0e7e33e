"""Event files with one JSON object per line: a graph in Turtle, a JSON-LD object, or a typed event."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import isinf
from typing import Any, BinaryIO, ClassVar, cast

from thence.errors import InputError, LimitError, ThenceError
from thence.io.gunzip import READ_FAILURES
from thence.io.table_layout import TableLayout
from thence.io.table_rows import event_id, event_times, row_event
from thence.rdf.documents import BOM, Format, JsonNesting, as_nquads, parse
from thence.rdf.events import DEFAULT_NAMESPACE, BadEvent, Event, distinct, interval
from thence.rdf.limits import Limits, size
from thence.rdf.terms import IRI, PROV, Quad, Term, Triple
from thence.rdf.times import Instant, parse_time

# A JSON-LD object as an event: its time is the `prov:` time of its graph or of itself, or stands beside as `time`.

_ROOT = "urn:x-thence:root"  # a property that is added, to learn which node the object itself is
_ENVELOPE: tuple[str, ...] = ("time", "end", "id")
_TIMES = {IRI(PROV + name): name for name in ("generatedAtTime", "startedAtTime", "endedAtTime")}

# The library copies an object once for each that it is in, a context for each object that has one of its own, and a
# prefix for each name that uses it. These limits are far above what events are, and below what hurts.
_LISTS = ("@list", "@set")
_MOST_COPIES = 2_500_000
_MOST_DEFINITIONS = 10_000_000
_MOST_CHARACTERS = 512 << 20


def jsonld_event(value: dict[str, Any], *, default_id: str, namespace: str, limits: Limits) -> Event:
    """The event that a JSON-LD object is; `value` is used up. Relative IRIs are names in the namespace."""
    defined = _defined(value.get("@context"))
    envelope = {key: value.pop(key) for key in _ENVELOPE if key in value and key not in defined}
    if "time" not in envelope and "end" in envelope:
        value["end"] = envelope.pop("end")
    has_root = any(key != "@context" and key != "@graph" and defined.get(key) != "@graph" for key in value)
    if has_root:
        value[_ROOT] = True
    check_cost(value, limits)
    quads = list(_bounded(json.dumps(value, default=float), namespace, limits))
    root = next((quad.subject for quad in quads if quad.predicate == IRI(_ROOT)), None)
    if has_root and root is None:
        raise InputError("it has no triples: none of its keys is an IRI or defined in its context")
    content = [quad for quad in quads if quad.predicate != IRI(_ROOT)]
    return _event(content, root, envelope, default_id, limits)


def jsonld_as_nquads(value: dict[str, Any], *, namespace: str, limits: Limits) -> bytes:
    """A JSON-LD object as N-Quads, no larger than an event may be. Relative IRIs are names in the namespace."""
    check_cost(value, limits)
    return as_nquads(json.dumps(value, default=float).encode(), Format.JSON_LD, base=namespace, limits=limits)


def _event(quads: list[Quad], root: Term | None, envelope: Mapping[str, Any], default_id: str, limits: Limits) -> Event:
    names = {quad.graph for quad in quads if quad.graph is not None}
    if len(names) > 1:
        raise InputError("more than one graph: an event has one")
    graph = next(iter(names), None)
    if "time" in envelope:
        start, end, domain = interval(parse_time(envelope["time"]), envelope.get("end"))
    else:
        subjects = {graph, root} - {None} or _timed(quads)
        times = _times(quads, subjects)
        start, end, domain = interval(*_span(times))
        quads = [quad for quad in quads if quad.subject not in subjects or quad.predicate not in _TIMES]
    name = next((term.value for term in (graph, root) if isinstance(term, IRI)), default_id)
    triples = distinct((Triple(*quad[:3]) for quad in quads), limits)
    return Event.from_columns(start, end, domain, event_id(envelope.get("id")) or name, triples)


def _timed(quads: list[Quad]) -> set[Term | None]:
    """The subjects that have a time, if neither the graph nor the object has a name."""
    subjects: set[Term | None] = {quad.subject for quad in quads if quad.predicate in _TIMES}
    if len(subjects) > 1:
        raise InputError("several times, none of them of the graph or of the object itself")
    return subjects


def _times(quads: list[Quad], subjects: set[Term | None]) -> dict[str, Instant]:
    times: dict[str, Instant] = {}
    for quad in quads:
        name = _TIMES.get(quad.predicate) if isinstance(quad.predicate, IRI) else None
        if name and quad.subject in subjects:
            time = parse_time(quad.object)
            if times.setdefault(name, time) != time:
                raise InputError(f"two different values of prov:{name}")
    return times


def _span(times: Mapping[str, Instant]) -> tuple[Instant, Instant | None]:
    if "startedAtTime" in times or "endedAtTime" in times:
        if len(times.keys() & {"startedAtTime", "endedAtTime"}) < 2:
            raise InputError("an interval needs both prov:startedAtTime and prov:endedAtTime")
        return times["startedAtTime"], times["endedAtTime"]
    if not times:
        raise InputError('no time: neither prov:generatedAtTime of its graph or of itself, nor "time" beside')
    return times["generatedAtTime"], None


def _bounded(document: str, namespace: str, limits: Limits) -> Iterator[Quad]:
    """The document's quads, no more than an event may hold."""
    for count, quad in enumerate(parse(document, Format.JSON_LD, base=namespace, source="event", limits=limits)):
        if count > limits.event_triples + len(_TIMES) + 1:
            raise LimitError(limits.describe_event())
        yield quad


def _defined(context: object) -> dict[str, object]:
    """The terms that the object's own context defines."""
    contexts = context if isinstance(context, list) else [context]
    return {term: meaning for each in contexts if isinstance(each, dict) for term, meaning in each.items()}


@dataclass(slots=True)
class _Cost:
    values: int = 0
    copies: int = 0
    objects: int = 0
    names: int = 0
    contexts: int = 0
    definitions: int = 0
    characters: int = 0


def check_cost(value: object, limits: Limits) -> None:
    """Refuse what would take the library too long or too much memory to expand, however short it is."""
    cost = _Cost()
    waiting: list[tuple[object, str, int, bool]] = [(value, "@graph", 1, False)]
    while waiting:
        node, place, depth, in_context = waiting.pop()
        cost.copies += depth
        if not isinstance(node, list) and not in_context:
            cost.values += place in _LISTS or not place.startswith("@")
        match node:
            case dict():
                cost.objects += 1
                cost.names += len(node)
                cost.definitions += len(node) if in_context else 0
                for key, child in node.items():
                    cost.contexts += key == "@context"
                    cost.characters += len(key) if in_context else 0
                    waiting.append((child, key, depth + 1, in_context or key == "@context"))
            case list():
                waiting.extend((child, place, depth, in_context) for child in node)
            case str():
                cost.names += 1
                cost.characters += len(node) if in_context else 0
    if cost.values > limits.event_triples + len(_TIMES) + 1:
        raise LimitError(limits.describe_event())
    if cost.copies > _MOST_COPIES:
        raise LimitError("JSON-LD that is too large for its depth")
    if cost.contexts > 1 and cost.objects * cost.definitions > _MOST_DEFINITIONS:
        raise LimitError("JSON-LD with contexts too large for its number of objects")
    if cost.names * cost.characters > _MOST_CHARACTERS:
        raise LimitError("JSON-LD with contexts too long for the number of names that use them")


_BLOCK = 1 << 18
_LIMITS = Limits()
_SHOWN = 4 * BadEvent.LONGEST  # bytes that hold as many characters
_SURROGATE = re.compile(rb"\\u[dD][89a-fA-F]")
_MOST_DIGITS = 3000  # Python itself refuses to read and write much longer integers
_LAYOUT = TableLayout()
RDF_KEYS = ("time", "end", "id", "graph")
_NUMBER = "query"
"""Beside them, where a query with several CONSTRUCTs wrote the file: which of them made it. It is not part of the
event."""


def read_jsonl(
    stream: BinaryIO,
    *,
    stream_name: str = "stream",
    limits: Limits = _LIMITS,
    namespace: str = DEFAULT_NAMESPACE,
    first_line: int = 1,
    layout: TableLayout = _LAYOUT,
) -> Iterator[Event | BadEvent]:
    """The events of a file, in order, and what could not be read between them; constant memory. `first_line` is the
    number of its first line, if it is a part of a file; `layout` says what the keys of typed events are.

    >>> import io
    >>> lines = b'{"time": 1, "type": "Reading", "watts": 7}\\n{"time": 2, "typ": "Reading"}\\n'
    >>> for event in read_jsonl(io.BytesIO(lines), stream_name="power"):
    ...     print(event.id if isinstance(event, Event) else event.reason)
    power:1
    expected "graph", "type" or JSON-LD
    """
    reader = ObjectReader(stream_name, limits, namespace, layout)
    for line in _lines(stream, limits, first_line):
        found = reader.read(line)
        if found is not None:
            yield found


def read_json(
    stream: BinaryIO,
    *,
    stream_name: str = "stream",
    limits: Limits = _LIMITS,
    namespace: str = DEFAULT_NAMESPACE,
    layout: TableLayout = _LAYOUT,
) -> Iterator[Event | BadEvent]:
    """The events of a `.json` file: one array of objects, or JSON lines. The objects of an array are numbered; all of
    it is in memory."""
    try:
        head = stream.read(_BLOCK)
    except READ_FAILURES as error:
        yield BadEvent(stream_name, 1, str(error) or type(error).__name__, "")
        return
    if not head.removeprefix(BOM).lstrip().startswith(b"["):
        rest = cast(BinaryIO, _Again(head, stream))
        yield from read_jsonl(rest, stream_name=stream_name, limits=limits, namespace=namespace, layout=layout)
        return
    reader = ObjectReader(stream_name, limits, namespace, layout)
    try:
        data = head + b"".join(iter(lambda: stream.read(_BLOCK), b""))
        for number, (line, text) in enumerate(_elements(data.removeprefix(BOM), limits), start=1):
            try:
                yield reader.event(load_object(text.encode(), limits), f"{stream_name}:{number}")
            except ThenceError as error:
                yield BadEvent(stream_name, line, str(error), text)
    except json.JSONDecodeError as error:
        yield BadEvent(stream_name, error.lineno, f"not JSON: {error.msg}, column {error.colno}", "")
    except UnicodeDecodeError as error:
        yield BadEvent(stream_name, 1, f"byte {error.start + 1} of the file is not UTF-8", "")
    except READ_FAILURES as error:
        yield BadEvent(stream_name, 1, str(error) or type(error).__name__, "")


@dataclass(slots=True)
class _Again:
    """A stream of which some bytes were read already."""

    head: bytes
    stream: BinaryIO

    def read(self, count: int) -> bytes:
        found, self.head = self.head, b""
        return found or self.stream.read(count)


_SPACE = re.compile(r"[ \t\r\n]*")
_PLAIN = json.JSONDecoder()


def _elements(data: bytes, limits: Limits) -> Iterator[tuple[int, str]]:
    """The elements of an array, each with the line on which it begins."""
    JsonNesting(limits).feed(data)
    text = data.decode()
    place = _after_space(text, _after_space(text, 0) + 1)  # behind the bracket
    line, counted = 1, 0
    while text[place : place + 1] != "]":
        _, end = _PLAIN.raw_decode(text, place)
        line, counted = line + text.count("\n", counted, place), place
        yield line, text[place:end]
        place = _after_space(text, end)
        if text[place : place + 1] == ",":
            place = _after_space(text, place + 1)
        elif text[place : place + 1] != "]":
            raise json.JSONDecodeError("expected ',' or ']'", text, place)
    if _after_space(text, place + 1) < len(text):
        raise json.JSONDecodeError("more behind the array", text, place + 1)


def _after_space(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return place if found is None else found.end()


@dataclass(frozen=True, slots=True)
class NumberedLine:
    """A line of a file, counted from 1. `fault` says why it could not be read; then `text` is its head."""

    SHOWN: ClassVar[int] = _SHOWN

    number: int
    text: bytes
    fault: str | None = None

    @classmethod
    def of(cls, number: int, text: bytes, limits: Limits) -> NumberedLine:
        if len(text) > limits.event_bytes:
            return cls(number, text[:_SHOWN], f"a line longer than {size(limits.event_bytes)}")
        return cls(number, text.removeprefix(BOM) if number == 1 else text)


def _lines(stream: BinaryIO, limits: Limits, number: int) -> Iterator[NumberedLine]:
    """All lines; of one that is too long only the head is kept. A stream that fails ends in a line with the reason."""
    line = b""  # as far as it was read
    enough = max(limits.event_bytes, _SHOWN)
    try:
        while block := stream.read(_BLOCK):
            first, *others = block.split(b"\n")
            if len(line) <= enough:
                line += first
            for text in others:
                yield NumberedLine.of(number, line, limits)
                number, line = number + 1, text
    except READ_FAILURES as error:
        yield NumberedLine(number, line, str(error) or type(error).__name__)
        return
    if line:
        yield NumberedLine.of(number, line, limits)


@dataclass(frozen=True, slots=True)
class ObjectReader:
    """Makes events of single JSON objects, and of rows as Python has them."""

    stream: str
    limits: Limits
    namespace: str
    layout: TableLayout = _LAYOUT

    def read(self, line: NumberedLine) -> Event | BadEvent | None:
        """The event of a line, or why it has none; None for a blank one."""
        if line.fault:
            return BadEvent(self.stream, line.number, line.fault, _shown(line.text))
        if not line.text.strip():
            return None
        try:
            return self.event(load_object(line.text, self.limits), f"{self.stream}:{line.number}")
        except ThenceError as error:
            return BadEvent(self.stream, line.number, str(error), _shown(line.text))

    def event(self, value: dict[str, Any], default_id: str | None) -> Event:
        """The event that an object is. ThenceError if it is none."""
        if any(key.startswith("@") for key in value):
            return self._jsonld(value, default_id or "")
        if self.layout.type is not None or self._called("type") in value:
            return self._typed(value, default_id)
        if self._called("graph") in value:
            return self._rdf(value, default_id)
        if any(":" in key for key in value):
            return self._jsonld(value, default_id or "")
        named = self.layout.named_types
        if named or (named is not None and any(key not in RDF_KEYS for key in value)):
            return self._typed(value, default_id)
        raise InputError('expected "graph", "type" or JSON-LD')

    def _called(self, name: str) -> str:
        return self.layout.columns.get(name, name)

    def _jsonld(self, value: dict[str, Any], default_id: str) -> Event:
        return jsonld_event(value, default_id=default_id, namespace=self.namespace, limits=self.limits)

    def _rdf(self, value: dict[str, Any], default_id: str | None) -> Event:
        keys = [self._called(key) for key in RDF_KEYS]
        unknown = [key for key in value if key not in (*keys, _NUMBER)]
        if unknown:
            raise InputError(f'"{unknown[0]:.80}" is not one of {", ".join(keys)}')
        graph = value[keys[3]]
        if not isinstance(graph, str):
            raise InputError('"graph" must be Turtle, in a string')
        time, end = event_times(value, self.layout)
        name = event_id(value.get(keys[2])) or default_id
        found = Event(0, graph, id=name, namespace=self.namespace, limits=self.limits)
        return Event.from_columns(*interval(time, end), name, found.triples)

    def _typed(self, value: dict[str, Any], default_id: str | None) -> Event:
        return row_event(value, self.layout, default_id=default_id, namespace=self.namespace, limits=self.limits)


def load_object(text: bytes, limits: Limits) -> dict[str, Any]:
    """A JSON object, with its decimals exact; anything else is an error that says why."""
    if text.count(b"[") + text.count(b"{") > limits.nesting:
        JsonNesting(limits).feed(text)
    try:
        value = _DECODER.decode(text.decode())
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False, default=str).encode()
    except UnicodeDecodeError as error:
        raise InputError(f"byte {error.start + 1} of the line is not UTF-8") from None
    except UnicodeEncodeError:
        raise InputError("a lone surrogate, which is not a character") from None
    except json.JSONDecodeError as error:
        raise InputError(f"not JSON: {error.msg}, column {error.colno}") from None
    if not isinstance(value, dict):
        raise InputError("an event is a JSON object")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        (twice, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise InputError(f'"{twice:.80}" occurs twice in one object')
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
    raise InputError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_float=_number, parse_int=_integer, parse_constant=_constant
)


def _shown(text: bytes) -> str:
    return text[:_SHOWN].decode("utf-8", "replace")
