"""`thence demo`: the events of a small file that ships with the package, and a query's answers over them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from thence.algebra.expressions import Variable
    from thence.algebra.patterns import Pattern
    from thence.rdf.columns import EventBatch

EXAMPLES = Path(__file__).parent.parent / "examples"
NAMES = ("power",)
PREFIXES = {"": "http://example.org/grid#", "e": "http://example.org/grid/event/"}


@click.command()
@click.argument("name", type=click.Choice(NAMES), default=NAMES[0])
def demo(name: str) -> None:
    """Show the events of a small file, and a query's answers over them."""
    from rich.console import Console

    from thence.algebra.patterns import Select
    from thence.cli.compiling import compilation_told
    from thence.cli.tables import table
    from thence.lang.sparql import parse_query

    events, query = EXAMPLES / f"{name}.trig", EXAMPLES / f"{name}.rq"
    text = query.read_text(encoding="utf-8")
    select = parse_query(text, source=query.name)
    assert isinstance(select, Select), "the examples are SELECT queries"
    assert select.columns is not None, "the examples name their columns"
    columns = [column.variable for column in select.columns]
    with compilation_told():
        batches = list(read(events))
        answers = list(answer_rows(select.where, columns, batches))
    console = Console()
    console.print(table(f"Events of {events.name}", ("time", "event", "graph"), event_rows(batches)))
    console.print(f"\n{text}", markup=False, highlight=False)
    console.print(table(f"Answers of {query.name}", ("time", "event", *(str(v) for v in columns)), answers))


def read(path: Path) -> Iterator[EventBatch]:
    """The batches of a file; what could not be read is told on stderr."""
    from thence.rdf.events import BadEvent
    from thence.rdf.files import read_batches

    for found in read_batches(path):
        if isinstance(found, BadEvent):
            click.echo(f"{found.stream}:{found.line}: {found.reason}", err=True)
        else:
            yield found


def event_rows(batches: Sequence[EventBatch]) -> Iterator[tuple[str, ...]]:
    from thence.cli.tables import graph

    for batch in batches:
        for index in range(len(batch)):
            yield *time_and_name(batch, index), graph(batch.triples(index), PREFIXES)


def answer_rows(
    where: Pattern, columns: Sequence[Variable], batches: Sequence[EventBatch]
) -> Iterator[tuple[str, ...]]:
    """One row for each solution of the pattern in an event, as the events come."""
    from thence.cli.tables import short
    from thence.match import solutions
    from thence.rdf.dictionary import UNBOUND

    for batch in batches:
        found = solutions(where, batch)
        assert found.events is not None, "a pattern over events knows which event each row is of"
        for row, index in enumerate(found.events.tolist()):
            ids = [int(found.columns[variable][row]) for variable in columns]
            terms = [None if number == UNBOUND else batch.terms[number] for number in ids]
            yield *time_and_name(batch, index), *(short(term, PREFIXES) for term in terms)


def time_and_name(batch: EventBatch, index: int) -> tuple[str, str]:
    from thence.cli.tables import short
    from thence.rdf.times import Domain, format_time

    time = format_time(int(batch.ends[index]), Domain(int(batch.domains[index])))
    return time, short(batch.terms[int(batch.ids[index])], PREFIXES)
