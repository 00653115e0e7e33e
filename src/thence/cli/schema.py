"""`thence schema FILE`: what a file holds, as queries see it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from thence.cli.arguments import column_names, takes_tables
from thence.errors import InputError

if TYPE_CHECKING:
    from thence.io.file_schema import FileSchema
    from thence.rdf.terms import Term

_LONGEST = 40  # characters of an example
_MOST_TYPES = 5


@click.command()
@click.argument("files", metavar="FILE …", nargs=-1, required=True)
@takes_tables
def schema(
    files: tuple[str, ...],
    columns: tuple[str, ...],
    types: tuple[str, ...],
    time_unit: str | None,
    time_format: str | None,
    time_zone: str | None,
) -> None:
    """Show the columns of event files: types, nulls, examples, and what times and types are taken from."""
    from thence.columns.time_reading import TimeReading
    from thence.io.file_schema import file_schema
    from thence.io.table_layout import TableLayout, check_columns

    called = column_names(columns)
    check_columns(called)
    if len(types) > 1:
        raise InputError("--type is one for all rows. Try: --type STOCK")
    times = TimeReading(time_unit, time_format, time_zone)
    layout = TableLayout(columns=called, type=next(iter(types), None), named_types=(), times=times)
    for number, path in enumerate(files):
        if number:
            click.echo("")
        _show(file_schema(path, layout))


def _show(found: FileSchema) -> None:
    from rich.console import Console

    from thence.cli.text_tables import escape_controls, table

    for line in _facts(found):
        click.echo(escape_controls(line))
    rows = [_row(found, name) for name in found.columns]
    if rows:
        title = "column" if any(not name.startswith("<") for name in found.columns) else "predicate"
        console = Console(width=None if sys.stdout.isatty() else 120)
        console.print(table("", (title, "type", "without" if found.declared is None else "nulls", "examples"), rows))


def _facts(found: FileSchema) -> list[str]:
    from thence.runtime.results import counted_noun

    kinds = [f"{name} ({count:,})" for name, count in found.types.most_common(_MOST_TYPES)]
    more = len(found.types) - len(kinds)
    lines = [
        f"{found.path}: {counted_noun(found.events, 'event', 'events')}",
        f"time: {_taken(found, 'time')}{found.times}{_advice(found)}",
        f"type: {_taken(found, 'type')}{', '.join(kinds) or 'none'}{f' and {more:,} more' if more else ''}",
    ]
    if found.intervals:
        lines.append(f"end: {_taken(found, 'end')}{found.intervals:,} intervals")
    if found.declared is not None:
        named = found.parts.get("id")
        lines.append("id: STREAM:LINE, as no column is called id" if named is None else f"id: column {named}")
        if "subject" in found.parts:
            lines.append(f"subject: column {found.parts['subject']}")
    for count, noun, first in (
        (found.bad, "bad event", found.first_bad),
        (found.bad_cells, "bad cell", found.first_bad_cell),
    ):
        if first is not None:
            lines.append(f"{counted_noun(count, noun, noun + 's')}, the first: line {first.line}, {first.reason}")
    return lines


def _advice(found: FileSchema) -> str:
    """The option that a run of a query needs."""
    return f". No column is called time. Try: --column time={found.parts.get('time', '…')}" if found.lacks_time else ""


def _taken(found: FileSchema, name: str) -> str:
    return f"column {found.parts[name]}, " if name in found.parts else ""


def _row(found: FileSchema, name: str) -> tuple[str, str, str, str]:
    seen = found.columns[name]
    declared = None if found.declared is None else found.declared.get(name)
    kind = ", ".join(seen.types) or "null" if declared is None else _arrow_name(declared)
    examples = ", ".join(_example(term) for term in seen.examples)
    missing = found.events - seen.given
    return name, kind, f"{max(0, missing):,}", examples


def _arrow_name(kind: Any) -> str:
    names = {"string": "text", "large_string": "text", "int64": "integer", "bool": "boolean"}
    return names.get(str(kind), str(kind).replace("decimal128", "decimal"))


def _example(term: Term) -> str:
    text = term.value
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
