"""`thence run`: a query over files, its matches on stdout, progress and counts on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO, TypeVar, cast

import click

from thence.cli.arguments import are_small, background_paths, read_query, stream_paths, takes_a_query, takes_meaning
from thence.cli.result_formats import FORMATS, problem_line
from thence.cli.text_tables import escape_controls
from thence.errors import InputError, LimitError

if TYPE_CHECKING:
    from thence.cli.result_formats import Answer, Writer
    from thence.query.options import Options
    from thence.query.query import Query
    from thence.runtime.results import Counts, Problem
    from thence.spark.session.session import Launch


# A notice that code is being compiled: without it the first run would seem to hang.

NOTICE = "Compiling: up to 20 seconds, once; later runs find it done."


@contextmanager
def compile_notice() -> Iterator[None]:
    """Inside, the first function that Numba compiles, and does not find in its cache, puts a notice on stderr."""
    from numba.core import event

    class Teller(event.Listener):
        told = False

        def on_start(self, event: object) -> None:
            if not self.told:
                self.told = True
                click.echo(NOTICE, err=True)

        def on_end(self, event: object) -> None:
            pass

    with event.install_listener("numba:compile", Teller()):
        yield


# The output of a run: results, counts, progress.


def report_counts(counts: Counts, problems: Problems) -> None:
    """The counts, and the first problem if there is one, on stderr."""
    click.echo(counts_sentence(counts), err=True)
    if first := problems.told():
        click.echo(first, err=True)


def counts_sentence(counts: Counts) -> str:
    """The counts in a sentence.

    >>> from thence.runtime.results import Counts
    >>> counts_sentence(Counts(events=12, matches=1, bad=2))
    '12 events, 1 match, 2 bad, 0 late'
    """
    events, matches = counted_noun(counts.events, "event", "events"), counted_noun(counts.matches, "match", "matches")
    timed_out = f", {counts.timed_out:,} timed out" if counts.timed_out else ""
    cells = f", {counted_noun(counts.bad_cells, 'bad cell', 'bad cells')}" if counts.bad_cells else ""
    return f"{events}, {matches}, {counts.bad:,} bad, {counts.late:,} late{timed_out}{cells}"


def counted_noun(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


@contextmanager
def output_file(path: Path | None) -> Iterator[TextIO]:
    """A file to write to; None is stdout."""
    if path is None:
        yield sys.stdout
        return
    with open_for_writing(path, "w") as file:
        yield file


def open_for_writing(path: Path, mode: str) -> TextIO:
    """A text file, open for writing; an InputError if it can't be."""
    try:
        return cast(TextIO, open(path, mode, encoding="utf-8", newline=""))
    except OSError as error:
        raise InputError(f"{path} can't be written: {error.strerror}") from None


def starting(begun: float) -> str:
    """How far it has come while there is no Spark yet."""
    return f"{time.monotonic() - begun:.0f} s, starting Spark"


@contextmanager
def progress(line: Callable[[], str], *, output: Path | None, format: str) -> Iterator[None]:
    """While it runs, how far it has come: on stderr, if it is a terminal and nothing else is written there."""
    shown = output is not None or format == "table" or not sys.stdout.isatty()
    if not sys.stderr.isatty() or not shown:
        yield
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    with Live(get_renderable=lambda: Text(line()), console=Console(stderr=True), transient=True):
        yield


# Bad and late events: written as jsonl on request; the first one is always reported.

Answered = TypeVar("Answered")

_LONGEST = 300  # characters that are shown of one


@dataclass(slots=True)
class Problems:
    """Takes the problems out of what a query gives. `path` is where they are written; None: nowhere. `mode` "a" is to
    add them to what is there."""

    path: Path | None
    mode: str = "w"
    first: Problem | None = None
    _file: TextIO | None = field(default=None, repr=False)

    def matches_of(self, found: Iterator[Answered | Problem]) -> Iterator[Answered]:
        """The matches; each problem is noted as it comes."""
        from thence.runtime.results import Problem

        for each in found:
            if isinstance(each, Problem):
                self._note(each)
            else:
                yield each

    def close(self) -> None:
        """Where there were none, the file is there and empty."""
        if self.path is not None:
            self._opened(self.path).close()
            self._file = None

    def told(self) -> str | None:
        """The first problem in a line, and how to see them all; None if there was none."""
        if self.first is None:
            return None
        reason = self.first.reason if len(self.first.reason) <= _LONGEST else self.first.reason[:_LONGEST] + "…"
        all_of_them = "" if self.path else ". To see them all: --problems PATH"
        return f"the first of them: {escape_controls(f'{_place(self.first)}: {reason}')}{all_of_them}"

    def _note(self, problem: Problem) -> None:
        self.first = self.first or problem
        if self.path is not None:
            self._opened(self.path).write(problem_line(problem))

    def _opened(self, path: Path) -> TextIO:
        if self._file is None:
            self._file = open_for_writing(path, self.mode)
        return self._file


def _place(problem: Problem) -> str:
    """Where a problem is: the line of its stream's file, or the event's id."""
    if problem.line is not None:
        return f"{problem.stream}, line {problem.line}"
    event = problem.event
    return problem.stream if event is None or event.id is None else f"{problem.stream}, {event.id}"


@dataclass(frozen=True, slots=True)
class Run:
    """What a call of `thence run` asks for."""

    query: Query
    streams: dict[str, list[str]]
    options: Options
    format: str = "table"
    output: Path | None = None
    events: bool = False
    problems: Path | None = None
    watch: bool = False
    checkpoint: Path | None = None

    @property
    def ends(self) -> bool:
        """Whether it reads finite streams to their end, and not what of growing ones is there now."""
        return not self.watch and self.checkpoint is None


def command_options(**chosen: Any) -> Options:
    """The options of a call of the command, which reads problems and whole terms."""
    from thence.query.options import Options

    return Options(problems=True, terms="struct", **chosen)


@click.command()
@takes_a_query
@click.option(
    "--stream",
    "streams",
    multiple=True,
    metavar="[NAME=]PATH",
    required=True,
    help="Event files of a stream; may be repeated.",
)
@click.option(
    "--background",
    multiple=True,
    metavar="[IRI=]PATH",
    help="A file of background data, and the name of its graph; may be repeated.",
)
@takes_meaning
@click.option(
    "--engine",
    type=click.Choice(("spark", "local")),
    default="spark",
    show_default=True,
    help="spark uses all cores of this machine; local is one process.",
)
@click.option("--format", type=click.Choice(FORMATS), default="table", show_default=True)
@click.option(
    "--output", type=click.Path(path_type=Path), metavar="PATH", help="Write the matches to this file, not to stdout."
)
@click.option("--events", is_flag=True, help="Add the ids of each match's events.")
@click.option(
    "--problems",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Write bad and late events to this file, as jsonl.",
)
@click.option(
    "--timed-out",
    is_flag=True,
    help="Count partial matches whose window ended, and write them to the file of --problems.",
)
@click.option("--max-runs", type=int, metavar="N", help="Fail with more partial matches than this at once.")
@click.option("--max-rounds", type=int, metavar="N", help="Fail with more rounds of rules than this at one time.")
@click.option(
    "--max-steps",
    type=int,
    metavar="N",
    help="Fail with more steps of TEF-SPARQL than this at one time; warn of more evaluations that repeat rows.",
)
@click.option(
    "--lateness",
    default="0",
    metavar="DURATION",
    help="The most that an event may be late: 10s, 5 TICKS. Events of finite files are never late.",
)
@click.option("--watch", is_flag=True, help="Keep reading files that arrive in the streams' folders, until Ctrl-C.")
@click.option(
    "--checkpoint",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Save the progress in this folder, and continue from it with new input.",
)
@click.option("--shards", type=int, metavar="N", help="The number of shards on Spark: each runs a part of the keys.")
@click.option("--optimise/--no-optimise", default=True, help="Whether to optimise; the answers are the same.")
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
    watch: bool,
    checkpoint: Path | None,
    **chosen: Any,
) -> None:
    """Run a query over event files and print its matches."""
    ends = not watch and checkpoint is None
    with launched(quick=ends and are_small(streams)) if engine == "spark" else nullcontext() as launch:
        from thence.cli.result_formats import check_format

        read = read_query(query, language, namespace)
        check_format(format, read, events=events)
        call = Run(
            query=read,
            streams=stream_paths(streams, read),
            options=command_options(background=background_paths(background), **chosen),
            format=format,
            output=output,
            events=events,
            problems=problems,
            watch=watch,
            checkpoint=checkpoint,
        )
        if launch is None:
            run_here(call)
        else:
            from thence.cli.spark_run import run_on_spark  # Spark is heavy

            run_on_spark(call, launch)


def launched(*, quick: bool) -> Launch:
    """Spark on its way."""
    from thence.spark.session.session import Launch

    return Launch(debug=bool(click.get_current_context().find_root().params.get("debug")), quick=quick)


def run_here(run: Run) -> None:
    """Run a query in this process."""
    from thence.cli.result_formats import writer

    for option, given in (("--watch", run.watch), ("--checkpoint", run.checkpoint), ("--shards", run.options.shards)):
        if given:
            raise InputError(f"{option} is for Spark, not for one process. Try: --engine spark")
    matching = run.query.matching(run.streams, run.options)
    counts = matching.counts
    noted = Problems(run.problems)
    found = noted.matches_of(matching)
    try:
        with ExitStack() as opened:
            opened.enter_context(compile_notice())
            opened.enter_context(progress(lambda: counts_sentence(counts), output=run.output, format=run.format))
            opened.callback(noted.close)
            first = list(islice(found, 1))  # by then all is read: what is wrong with a file leaves no half output
            out = opened.enter_context(output_file(run.output))
            write(chain(first, found), writer(run.format, out, run.query, events=run.events))
    except LimitError:  # it failed while running: the counts are printed in any case
        report_counts(counts, noted)
        raise
    report_counts(counts, noted)


def write(matches: Iterable[Answer], writer: Writer) -> None:
    """All matches."""
    writer.begin()
    for match in matches:
        writer.write(match)
    writer.end()
