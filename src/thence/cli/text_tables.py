"""Terms, events and answers as text tables (rich) with prefixed names, and RETURN's values as plain JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from thence.rdf.terms import IRI, XSD, BlankNode, Literal, Term, Triple

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from thence.interface.solutions import AnswerValue


# What RETURN of SASE+ gives, as plain JSON: numbers are numbers, and not literals with a datatype.

_NUMBERS = frozenset(XSD + name for name in ("integer", "decimal", "double", "float"))
_NUMBER = re.compile(r"([+-]?)(?=\.?[0-9])0*+([0-9]*+)\.?([0-9]*+)((?:[eE][+-]?[0-9]++)?)")


def json_text(cell: AnswerValue | Mapping[str, AnswerValue] | None) -> str:
    """A cell as JSON. Written by hand, since a decimal of thirty digits must not pass through a float.

    >>> price = Literal("10.50", XSD + "decimal")
    >>> print(json_text(({"symbol": Literal("ACME"), "price": price}, None)))
    [{"symbol": "ACME", "price": 10.50}, null]
    """
    match cell:
        case None:
            return "null"
        case tuple():
            return f"[{', '.join(map(json_text, cell))}]"
        case Mapping():
            pairs = (f"{_quoted(name)}: {json_text(each)}" for name, each in cell.items())
            return f"{{{', '.join(pairs)}}}"
    return _atom(cell)


def plain_text(term: Term) -> str:
    """A term as text, without its type.

    >>> plain_text(Literal("7", XSD + "integer")), plain_text(Literal("ACME"))
    ('7', 'ACME')
    """
    return str(term) if isinstance(term, BlankNode) else term.value


def _atom(term: Term) -> str:
    match term:
        case Literal(datatype=datatype, value=value) if datatype in _NUMBERS:
            return _number(value) or _quoted(value)  # JSON has no NaN, and no infinity
        case Literal(datatype=datatype, value=value) if datatype == XSD + "boolean":
            return "true" if value in ("true", "1") else "false"
    return _quoted(plain_text(term))


def _number(value: str) -> str | None:
    """A number's text as JSON has it: no plus sign, no zeros in front, digits on both sides of a point.

    >>> [_number(text) for text in ("007", "-.5", "+3.", "1E2", "INF")]
    ['7', '-0.5', '3', '1E2', None]
    """
    found = _NUMBER.fullmatch(value.strip())
    if found is None:
        return None
    sign, whole, fraction, exponent = found.groups()
    return f"{sign.strip('+')}{whole or '0'}{fraction and '.' + fraction}{exponent}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


PLAIN = frozenset(XSD + name for name in ("integer", "decimal", "double", "boolean"))
"""Datatypes whose literals Turtle writes without quotes."""

_SPELT_OUT = {code: f"\\u{code:04x}" for code in (*range(32), *range(127, 160)) if chr(code) != "\n"} | {9: "\\t"}


def short(term: Term | None, prefixes: Mapping[str, str]) -> str:
    """A term as Turtle would write it, an unbound variable as nothing.

    >>> grid = {"": "http://example.org/grid#"}
    >>> short(IRI("http://example.org/grid#house1"), grid), short(Literal("420", XSD + "integer"), grid)
    (':house1', '420')
    >>> short(Literal("restarted", language="en"), grid), short(None, grid)
    ('"restarted"@en', '')
    """
    match term:
        case None:
            return ""
        case IRI(value=iri):
            fitting = [name for name, start in prefixes.items() if iri.startswith(start)]
            longest = max(fitting, key=lambda name: len(prefixes[name]), default=None)
            return str(term) if longest is None else f"{longest}:{iri.removeprefix(prefixes[longest])}"
        case Literal(datatype=datatype, value=value) if datatype in PLAIN:
            return value
        case BlankNode() | Literal():
            return str(term)


def graph(triples: Iterable[Triple], prefixes: Mapping[str, str]) -> str:
    """The triples of an event as Turtle would write them, one line a subject.

    >>> car, house, full = (IRI(f"http://example.org/{name}") for name in ("car", "house", "full"))
    >>> triples = [Triple(car, IRI("http://example.org/in"), house), Triple(car, full, Literal("0.6", XSD + "decimal"))]
    >>> print(graph(triples, {"": "http://example.org/"}))
    :car :in :house ; :full 0.6
    """

    def line(subject: Term, group: Iterable[Triple]) -> str:
        pairs = (f"{short(triple.predicate, prefixes)} {short(triple.object, prefixes)}" for triple in group)
        return f"{short(subject, prefixes)} {' ; '.join(pairs)}"

    return "\n".join(line(subject, group) for subject, group in groupby(triples, key=lambda triple: triple.subject))


def escape_controls(text: str) -> str:
    """A text on one line, without what would steer the terminal.

    >>> print(escape_controls("a" + chr(27) + "b" + chr(10) + "c"))
    a\\u001bb c
    """
    return " ".join(text.translate(_SPELT_OUT).split("\n"))


def fits(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> bool:
    """Whether a table is readable in this width: at most a fifth of its content is folded.

    >>> fits(["start", "?house"], [["12", "http://example.org/house1"]], 40), fits(["a"] * 9, [["12345678"] * 9], 40)
    (True, False)
    """
    from rich.cells import cell_len

    lines = [[line for cell in column for line in cell.split("\n")] for column in zip(columns, *rows, strict=True)]
    longest = [max(cell_len(line.translate(_SPELT_OUT)) for line in column) for column in lines]
    return sum(longest) + 3 * len(columns) + 1 <= width * 1.2


def without_common_date(rows: Sequence[Sequence[str]], times: int) -> tuple[str, list[Sequence[str]]]:
    """The date of the first cells of all rows, which are times, and the rows without it; no date if they have several.

    >>> without_common_date([["2024-05-06T07:00:00Z", "x"], ["2024-05-06T07:25:00Z", "y"]], 1)
    ('2024-05-06', [['07:00:00Z', 'x'], ['07:25:00Z', 'y']])
    """
    dates = {cell.partition("T")[0] for row in rows for cell in row[:times]}
    if len(dates) != 1 or not all("T" in cell for row in rows for cell in row[:times]):
        return "", list(rows)
    return dates.pop(), [[*(cell.partition("T")[2] for cell in row[:times]), *row[times:]] for row in rows]


def blocks(columns: Sequence[str], rows: Iterable[Sequence[str]], *, titles: int) -> Iterator[Text]:
    """The rows one below the other, where a table would be too wide: a line for each of their cells, under the first
    ones, which are a row's title."""
    from rich.text import Text

    wide = max((len(column) for column in columns[titles:]), default=0)
    for row in rows:
        made = Text(" - ".join(row[:titles]), style="bold")
        for column, cell in zip(columns[titles:], row[titles:], strict=True):
            lines = cell.translate(_SPELT_OUT).split("\n")
            made.append(f"\n  {column:{wide}}  {lines[0]}", style="not bold")
            for line in lines[1:]:
                made.append(f"\n  {'':{wide}}  {line}", style="not bold")
        yield made


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str | Text]]) -> Table:
    """A table of plain text: markup in the data is shown as it is, and control characters of the terminal are
    escaped."""
    from rich.table import Table
    from rich.text import Text

    drawn = Table(title=title or None, title_justify="left")
    for column in columns:
        drawn.add_column(column, overflow="fold")  # a long IRI is broken, never cut
    for row in rows:
        drawn.add_row(*(cell if isinstance(cell, Text) else Text(cell.translate(_SPELT_OUT)) for cell in row))
    return drawn
