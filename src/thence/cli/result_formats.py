"""Output formats of matches: table, JSON lines, CSV, TSV, SPARQL results; RDF for constructed events.

A writer takes the matches one by one; only the table waits for the last.
"""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from thence.errors import InputError

if TYPE_CHECKING:
    from thence.interface.solutions import AnswerValue
    from thence.query.query import Query
    from thence.rdf.events import Event
    from thence.rdf.terms import Term
    from thence.rdf.times import Domain
    from thence.runtime.results import Problem

FORMATS = ("table", "jsonl", "csv", "tsv", "json", "trig", "ttl")
ROWS = frozenset({"table", "jsonl", "csv", "tsv", "json"})
EVENTS = frozenset({"table", "jsonl", "trig", "ttl"})


def format_for(given: str | None, output: Path | None) -> str:
    """The format that is given, else that of the output's ending, else a table.

    >>> format_for(None, Path("found.csv")), format_for("jsonl", Path("found.csv")), format_for(None, Path("found"))
    ('csv', 'jsonl', 'table')
    """
    if given is not None or output is None or not output.suffix:
        return given or "table"
    ending = output.suffix.lower().removeprefix(".")
    if ending == "txt":
        return "table"
    if ending not in FORMATS or ending == "table":
        endings = ", ".join(f".{each}" for each in FORMATS if each != "table")
        raise InputError(
            f"--output {output}: the ending does not name a format. Try: {endings} or .txt; or --format "
            f"{', '.join(FORMATS[:-1])} or {FORMATS[-1]}"
        )
    return ending


class Answer(Protocol):
    """An answer to write: a `Match`, or a row from Spark."""

    @property
    def times(self) -> tuple[int, int]: ...
    @property
    def bindings(self) -> Mapping[str, AnswerValue]: ...
    @property
    def event_ids(self) -> tuple[str, ...]: ...
    @property
    def domain(self) -> Domain: ...
    @property
    def constructed(self) -> Event | None: ...
    @property
    def query(self) -> int | None: ...


class Writer(ABC):
    """Writes matches to a file; `begin` before the first, `end` after the last. `numbered`: they have a field `query`,
    the number of their statement (EP-82)."""

    def __init__(self, file: TextIO, columns: Sequence[str], *, events: bool, numbered: bool = False) -> None:
        from thence.runtime.results import column_names  # heavy

        self.file = file
        self.columns = tuple(columns)
        self.headings = column_names(self.columns)
        self.events = events
        self.numbered = numbered

    @property
    def names(self) -> list[str]:
        """The names of all columns, `start` and `end` first."""
        ours = ["start", "end", *(["query"] if self.numbered else [])]
        return [*ours, *self.headings, *(["events"] if self.events else [])]

    def begin(self) -> None:  # noqa: B027  (most formats have nothing there)
        """The text before all matches."""

    @abstractmethod
    def write(self, match: Answer) -> None:
        """One match."""

    def end(self) -> None:  # noqa: B027
        """The text after all matches."""


def check_format(format: str, query: Query, *, events: bool) -> None:
    """InputError if the format can't hold what the query gives."""
    if query.constructs and format not in EVENTS:
        raise InputError(f"CONSTRUCT makes events, which {format} can't hold. Try: --format jsonl, trig, ttl or table")
    if query.constructs and events:
        raise InputError("--events adds a column to the rows of SELECT; this query is a CONSTRUCT.")
    if not query.constructs and format not in ROWS:
        raise InputError(f"SELECT gives rows, which {format} can't hold. Try: --format jsonl, csv, tsv, json or table")


def is_plain(query: Query) -> bool:
    """Whether it emits plain values, not RDF terms."""
    return query.dataflow().is_plain


def writer(format: str, file: TextIO, query: Query, *, events: bool = False) -> Writer:
    """The writer of a format."""
    if format == "table":
        return TableWriter(file, query, events=events)
    if format == "jsonl" and query.dataflow().emits_facts:
        return FactLines(file, query.columns, events=events)
    kind = _writer_of(format, plain=is_plain(query), constructs=query.constructs)
    return kind(file, query.columns, events=events, numbered=query.dataflow().numbers_queries)


def _writer_of(format: str, *, plain: bool, constructs: bool) -> type[Writer]:
    match format:
        case "jsonl" if constructs:
            return EventLines
        case "jsonl":
            return PlainLines if plain else JsonLines
        case "csv":
            return PlainCsvWriter if plain else CsvWriter
        case "tsv":
            return PlainTsvWriter if plain else TsvWriter
        case "json":
            return ResultsJson
        case "trig":
            return TrigWriter
        case "ttl":
            return TurtleWriter
        case _:
            raise InputError(f'There is no format "{format}". Try: {", ".join(FORMATS)}')


def json_cell(cell: AnswerValue | None) -> object:
    """A cell as SPARQL 1.1 Query Results JSON has it; several terms as an array.

    >>> from thence.rdf.terms import Literal
    >>> json_cell(Literal("7", "http://www.w3.org/2001/XMLSchema#integer"))
    {'type': 'literal', 'value': '7', 'datatype': 'http://www.w3.org/2001/XMLSchema#integer'}
    """
    match cell:
        case None:
            return None
        case tuple():
            return [json_cell(each) for each in cell]
        case Mapping():
            return {name: json_cell(each) for name, each in cell.items()}
    return _json_term(cell)


def _json_term(term: Term) -> dict[str, str]:
    from thence.rdf.terms import IRI, XSD_STRING, BlankNode, Literal

    match term:
        case IRI():
            return {"type": "uri", "value": term.value}
        case BlankNode():
            return {"type": "bnode", "value": term.value}
        case Literal(language=str(language)):
            return {"type": "literal", "value": term.value, "xml:lang": language}
        case Literal():
            plain = {"type": "literal", "value": term.value}
            return plain if term.datatype == XSD_STRING else {**plain, "datatype": term.datatype}


def json_time(time: int, match: Answer | Event) -> int | str | None:
    """An integer for ticks, else ISO 8601; None for an end that is open."""
    from thence.interface.output import OPEN_END
    from thence.rdf.times import Domain, format_time

    if time == OPEN_END:
        return None
    return time if match.domain is Domain.TICKS else format_time(time, match.domain)


def _number(match: Answer) -> dict[str, int]:
    """The number of a match's statement, if it has one, as a part of a JSON object."""
    return {} if match.query is None else {"query": match.query}


def _line(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) + "\n"


class JsonLines(Writer):
    """One object a match."""

    def write(self, match: Answer) -> None:
        start, end = (json_time(time, match) for time in match.times)
        bindings = {name: json_cell(match.bindings[name]) for name in self.columns if name in match.bindings}
        row: dict[str, object] = {"start": start, "end": end, **_number(match), "bindings": bindings}
        if self.events:
            row["events"] = list(match.event_ids)
        self.file.write(_line(row))


class FactLines(Writer):
    """One object a fact; its end is null while it holds."""

    def write(self, match: Answer) -> None:
        start, end = (json_time(time, match) for time in match.times)
        self.file.write(_line({"start": start, "end": end, "fact": getattr(match.bindings["fact"], "value", None)}))


class PlainLines(Writer):
    """One object a match, with plain values: SASE+ knows no terms."""

    def write(self, match: Answer) -> None:
        from thence.cli.text_tables import json_text

        start, end = (json.dumps(json_time(time, match)) for time in match.times)
        bound = {name: match.bindings[name] for name in self.columns if name in match.bindings}
        ids = f', "events": {json.dumps(match.event_ids, ensure_ascii=False)}' if self.events else ""
        query = f', "query": {match.query}' if self.numbered else ""
        self.file.write(f'{{"start": {start}, "end": {end}{query}, "bindings": {json_text(bound)}{ids}}}\n')


class EventLines(Writer):
    """Constructed events, one a line, as an event file has them."""

    def write(self, match: Answer) -> None:
        event = match.constructed
        assert event is not None
        time, end = json_time(event.start, event), json_time(event.end, event)
        graph = _turtle(event).rstrip()
        self.file.write(_line({"time": time, "end": end, **_number(match), "id": event.id, "graph": graph}))


def _times(match: Answer) -> list[str]:
    """Start and end, and the number of its statement, if it has one."""
    times = ["" if time is None else str(time) for time in (json_time(time, match) for time in match.times)]
    return times if match.query is None else [*times, str(match.query)]


class CsvWriter(Writer):
    """SPARQL 1.1 Query Results CSV: values without their types. A line ends in a line feed."""

    def begin(self) -> None:
        self._write_row(self.names)

    def write(self, match: Answer) -> None:
        times = _times(match)
        cells = [self._cell(match.bindings.get(name)) for name in self.columns]
        ids = [json.dumps(match.event_ids, ensure_ascii=False)] if self.events else []
        self._write_row([*times, *cells, *ids])

    def _cell(self, cell: AnswerValue | None) -> str:
        return _plain(cell)

    def _write_row(self, cells: Sequence[str]) -> None:
        self.file.write(",".join(map(_quoted, cells)) + "\n")


class PlainCsvWriter(CsvWriter):
    """Sequences and composites as plain JSON, in which numbers are numbers."""

    def _cell(self, cell: AnswerValue | None) -> str:
        from thence.cli.text_tables import json_text

        return json_text(cell) if isinstance(cell, tuple | Mapping) else _plain(cell)


def _quoted(text: str) -> str:
    """RFC 4180. Python's own writer leaves a lone carriage return bare, and its own reader then ends the row there.

    >>> print(_quoted("plain"), _quoted('a "b", c'))
    plain "a ""b"", c"
    """
    return '"' + text.replace('"', '""') + '"' if any(sign in text for sign in ',"\r\n') else text


def _plain(cell: AnswerValue | None) -> str:
    from thence.rdf.terms import BlankNode

    if cell is None:
        return ""
    if isinstance(cell, tuple | Mapping):
        return json.dumps(_texts(cell, lambda term: term.value), ensure_ascii=False)
    return str(cell) if isinstance(cell, BlankNode) else cell.value


class TsvWriter(Writer):
    """Terms as SPARQL 1.1 Query Results TSV writes them, with their types."""

    def begin(self) -> None:
        self.file.write("\t".join(self.names) + "\n")

    def write(self, match: Answer) -> None:
        times = _times(match)
        cells = [self._cell(match.bindings.get(name)) for name in self.columns]
        ids = [_escaped(json.dumps(match.event_ids, ensure_ascii=False))] if self.events else []
        self.file.write("\t".join([*times, *cells, *ids]) + "\n")

    def _cell(self, cell: AnswerValue | None) -> str:
        return _tsv(cell)


class PlainTsvWriter(TsvWriter):
    """Sequences and composites as plain JSON, in which numbers are numbers."""

    def _cell(self, cell: AnswerValue | None) -> str:
        from thence.cli.text_tables import json_text

        return _escaped(json_text(cell)) if isinstance(cell, tuple | Mapping) else _tsv(cell)


def _tsv(cell: AnswerValue | None) -> str:
    from thence.cli.text_tables import short

    if isinstance(cell, tuple | Mapping):
        return _escaped(json.dumps(_texts(cell, str), ensure_ascii=False))
    return _escaped(short(cell, {}))


def _texts(cell: AnswerValue | None, text: Callable[[Any], str]) -> object:
    """Several terms, or a composite, with each term as its text."""
    match cell:
        case None:
            return None
        case tuple():
            return [_texts(each, text) for each in cell]
        case Mapping():
            return {name: _texts(each, text) for name, each in cell.items()}
    return text(cell)


def _escaped(text: str) -> str:
    return text.replace("\t", "\\t")  # line breaks are escaped already


class ResultsJson(Writer):
    """SPARQL 1.1 Query Results JSON, with start, end and query as variables. COLLECT and events are arrays."""

    def begin(self) -> None:
        self.shown = dict(zip(self.columns, self.headings, strict=True))
        self.file.write(f'{{"head": {json.dumps({"vars": self.names}, ensure_ascii=False)}, "results": {{"bindings": [')
        self.separator = "\n"

    def write(self, match: Answer) -> None:
        from thence.interface.output import OPEN_END
        from thence.rdf.terms import XSD, Literal
        from thence.rdf.times import time_literal

        named = zip(("start", "end"), match.times, strict=True)
        row: dict[str, object] = {
            name: json_cell(time_literal(time, match.domain)) for name, time in named if time != OPEN_END
        }
        if match.query is not None:
            row["query"] = json_cell(Literal(str(match.query), XSD + "integer"))
        for variable, name in self.shown.items():
            if variable in match.bindings:
                row[name] = json_cell(match.bindings[variable])
        if self.events:
            row["events"] = [json_cell(Literal(id)) for id in match.event_ids]
        self.file.write(self.separator + json.dumps(row, ensure_ascii=False))
        self.separator = ",\n"

    def end(self) -> None:
        self.file.write("\n]}}\n")


class TrigWriter(Writer):
    """Constructed events as named graphs, each followed by its time; by start and end, if it lasts."""

    def write(self, match: Answer) -> None:
        from thence.rdf.documents import Format, serialize
        from thence.rdf.terms import IRI, PROV, Quad, Triple
        from thence.rdf.times import time_literal

        event = match.constructed
        assert event is not None
        assert event.id is not None
        name = IRI(event.id)
        times = {"generatedAtTime": event.end}
        if event.start != event.end:
            times = {"startedAtTime": event.start, "endedAtTime": event.end}
        timed = [Triple(name, IRI(PROV + kind), time_literal(at, event.domain)) for kind, at in times.items()]
        quads = [Quad(*triple, name) for triple in event.triples]
        self.file.write(serialize([*quads, *timed], Format.TRIG).decode())


class TurtleWriter(Writer):
    """The triples of constructed events, without their times."""

    def write(self, match: Answer) -> None:
        assert match.constructed is not None
        self.file.write(_turtle(match.constructed))


def _turtle(event: Event) -> str:
    from thence.rdf.documents import Format, serialize

    return serialize(event.triples, Format.TURTLE).decode()


class TableWriter(Writer):
    """A table for people, with prefixed names."""

    def __init__(self, file: TextIO, query: Query, *, events: bool) -> None:
        dataflow = query.dataflow()
        super().__init__(file, query.columns, events=events, numbered=dataflow.numbers_queries)
        self.prefixes = query.prefixes
        self.constructs = query.constructs
        self.intervals = dataflow.makes_intervals
        self.plain = is_plain(query)
        self.rows: list[list[str]] = []

    def write(self, match: Answer) -> None:
        from thence.cli.text_tables import graph
        from thence.rdf.times import format_time

        number = [str(match.query)] if self.numbered else []
        if match.constructed is not None:
            event = match.constructed
            between = (event.start, event.end) if self.intervals else (event.end,)
            times = [format_time(time, event.domain) for time in between]
            self.rows.append([*times, *number, graph(event.triples, self.prefixes)])
            return
        times = [*_times(match)[:2], *number]
        cells = [self._cell(match.bindings.get(name)) for name in self.columns]
        self.rows.append([*times, *cells, *(["\n".join(match.event_ids)] if self.events else [])])

    def _cell(self, cell: AnswerValue | None) -> str:
        from thence.cli.text_tables import plain_text, short
        from thence.rdf.terms import Literal

        match cell:
            case tuple():
                composites = any(isinstance(each, Mapping) for each in cell)
                return ("\n" if composites else ", ").join(self._cell(each) for each in cell)
            case Mapping():
                return " ".join(f"{name}={self._cell(each)}" for name, each in cell.items())
            case Literal() if self.plain:
                return plain_text(cell).replace("\n", "\\n")
        return short(cell, self.prefixes)

    def end(self) -> None:
        from rich.console import Console

        from thence.cli.text_tables import blocks, fits, table, without_common_date

        if not self.rows:
            return
        columns, titles = self._headings(), 2 if self.intervals or not self.constructs else 1
        # nobody's terminal: as wide as it must be, within reason
        width = None if self.file.isatty() or "COLUMNS" in os.environ else 160
        console = Console(file=self.file, width=width)
        if fits(columns, self.rows, console.width):
            console.print(table("", columns, self.rows))
            return
        date, shorter = without_common_date(self.rows, titles)
        if date and fits(columns, shorter, console.width):
            console.print(table(date, columns, shorter))
            return
        for block in blocks(columns, self.rows, titles=titles):
            console.print(block, overflow="fold", highlight=False)

    def _headings(self) -> list[str]:
        number = ["query"] if self.numbered else []
        if self.constructs:
            return [*(["start", "end"] if self.intervals else ["time"]), *number, "graph"]
        shown = [name if self.plain else f"?{name}" for name in self.headings]
        return ["start", "end", *number, *shown, *(["events"] if self.events else [])]


def problem_line(problem: Problem) -> str:
    """A problem as a line of JSON: the event by its id, with its graph, or the text that could not be read."""
    event = problem.text if problem.event is None else problem.event.id
    fields: dict[str, object] = {
        "problem": problem.problem,
        "reason": problem.reason,
        "event": event,
        "stream": problem.stream,
    }
    if problem.problem == "timed_out":
        fields["events"] = [event.id for event in problem.events]
        fields["bindings"] = {name: json_cell(cell) for name, cell in problem.bindings.items()}
    elif problem.event is not None:
        fields["graph"] = _beginning(problem.event)
    return _line(fields if problem.line is None else {**fields, "line": problem.line})


def _beginning(event: Event) -> str:
    """An event's graph as N-Triples, as much of it as is kept of an event that can't be read."""
    from thence.rdf.events import BadEvent

    graph = ""
    for triple in event.triples:
        if len(graph) > BadEvent.LONGEST:
            break
        graph += " ".join(map(str, triple)) + " .\n"
    return graph if len(graph) <= BadEvent.LONGEST else graph[: BadEvent.LONGEST] + "…"
