"""`thence run`: a query over files, its matches on stdout."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from thence.cli.formats import FORMATS
from thence.cli.queries import read_query, takes_a_query
from thence.errors import InputError, LimitError

if TYPE_CHECKING:
    from thence.cli.formats import Writer
    from thence.cli.problems import Problems
    from thence.local.results import Counts, Match


@click.command()
@takes_a_query
@click.option(
    "--stream",
    "streams",
    multiple=True,
    metavar="[NAME=]PATH",
    required=True,
    help="A stream's events; may be repeated.",
)
@click.option(
    "--background",
    multiple=True,
    metavar="[IRI=]PATH",
    help="Background data, and the graph that it is; may be repeated.",
)
@click.option(
    "--engine",
    type=click.Choice(("local", "spark")),
    default="local",
    show_default=True,
    help="Where it runs: local is one process. Spark will be the default; it is not built yet.",
)
@click.option("--format", type=click.Choice(FORMATS), default="table", show_default=True)
@click.option(
    "--output", type=click.Path(path_type=Path), metavar="PATH", help="Write the matches there, not to stdout."
)
@click.option("--events", is_flag=True, help="Add the ids of each match's events.")
@click.option(
    "--problems", type=click.Path(path_type=Path), metavar="PATH", help="Write bad and late events there, as jsonl."
)
@click.option("--timed-out", is_flag=True, help="Count partial matches whose window ended, too, and note them there.")
@click.option("--max-runs", type=int, metavar="N", help="Fail with more partial matches than this at once.")
@click.option(
    "--lateness",
    default="0",
    metavar="DURATION",
    help="How late events may come: 10s, 5 TICKS. Files are finite: nothing in them is late.",
)
@click.option("--optimise/--no-optimise", default=True, help="Without it, the same answers, slower.")
def run(
    query: Path,
    language: str | None,
    namespace: str | None,
    streams: tuple[str, ...],
    background: tuple[str, ...],
    engine: str,
    format: str,
    output: Path | None,
    events: bool,
    problems: Path | None,
    timed_out: bool,
    max_runs: int | None,
    lateness: str,
    optimise: bool,
) -> None:
    """Run a query over event files and print its matches."""
    if engine == "spark":
        raise InputError("Spark is not built yet. Try: --engine local")
    from thence.cli.compiling import compilation_told
    from thence.cli.formats import check_format, writer
    from thence.cli.problems import Problems
    from thence.cli.streams import given_background, given_streams

    read = read_query(query, language, namespace)
    check_format(format, read, events=events)
    matching = read.match(
        given_streams(streams, read),
        background=given_background(background),
        lateness=lateness,
        max_runs=max_runs,
        problems=True,
        timed_out=timed_out,
        optimise=optimise,
    )
    noted = Problems(problems)
    found = noted.matches_of(matching)
    try:
        with ExitStack() as opened:
            opened.enter_context(compilation_told())
            opened.enter_context(_progress(matching.counts, shown=output is not None or format == "table"))
            opened.callback(noted.close)
            first = list(islice(found, 1))  # by then all is read: what is wrong with a file leaves no half output
            out = opened.enter_context(_written(output))
            _write(chain(first, found), writer(format, out, read, events=events))
    except LimitError:  # it failed while running: how far it came is told in any case
        _tell(matching.counts, noted)
        raise
    _tell(matching.counts, noted)


def _write(matches: Iterable[Match], writer: Writer) -> None:
    writer.begin()
    for match in matches:
        writer.write(match)
    writer.end()


def _tell(counts: Counts, problems: Problems) -> None:
    click.echo(told(counts), err=True)
    if first := problems.told():
        click.echo(first, err=True)


def told(counts: Counts) -> str:
    """The counts in a sentence.

    >>> from thence.local.results import Counts
    >>> told(Counts(events=12, matches=1, bad=2))
    '12 events, 1 match, 2 bad, 0 late'
    """
    events, matches = _several(counts.events, "event", "events"), _several(counts.matches, "match", "matches")
    timed_out = f", {counts.timed_out:,} timed out" if counts.timed_out else ""
    return f"{events}, {matches}, {counts.bad:,} bad, {counts.late:,} late{timed_out}"


def _several(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


@contextmanager
def _written(path: Path | None) -> Iterator[TextIO]:
    """A file to write to; None is stdout."""
    if path is None:
        yield sys.stdout
        return
    try:
        file = open(path, "w", encoding="utf-8", newline="")  # noqa: SIM115 - closed below, once it is open
    except OSError as error:
        raise InputError(f"{path} can't be written: {error.strerror}") from None
    with file:
        yield file


@contextmanager
def _progress(counts: Counts, *, shown: bool) -> Iterator[None]:
    """While it runs, how far it has come: on stderr, if a person looks at it and nothing else is written there."""
    if not sys.stderr.isatty() or not (shown or not sys.stdout.isatty()):
        yield
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    with Live(get_renderable=lambda: Text(told(counts)), console=Console(stderr=True), transient=True):
        yield
