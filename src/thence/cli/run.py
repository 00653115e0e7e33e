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

from thence.cli.arguments import (
    background_paths,
    order_option,
    read_query,
    stream_paths,
    table_columns,
    table_types,
    takes_a_query,
    takes_meaning,
    takes_tables,
)
from thence.cli.engine_choice import ENGINES, are_small, choose_engine
from thence.cli.option_names import in_options
from thence.cli.progress import progress
from thence.cli.result_formats import FORMATS, problem_line
from thence.cli.standard_input import spooled_input
from thence.cli.text_tables import escape_controls
from thence.errors import AllBadError, InputError, LimitError

if TYPE_CHECKING:
    from thence.cli.result_formats import Answer, Writer
    from thence.local.finite_run import Matching
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
    """The counts, and the first problem if there is one, on stderr; a warning where there are many (BAD-8)."""
    from thence.runtime.input_tally import is_many

    click.echo(counts_sentence(counts), err=True)
    read, wrong = counts.events + counts.bad, counts.bad + counts.late
    if is_many(wrong, read):
        click.echo(f"thence: warning: {wrong:,} of {read:,} events are bad or late", err=True)
    if first := problems.told():
        click.echo(first, err=True)


def counts_sentence(counts: Counts) -> str:
    """The counts in a sentence."""
    return str(counts)


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

    def matches_of(self, found: Iterable[Answered | Problem]) -> Iterator[Answered]:
        """The matches; each problem is noted as it comes."""
        from thence.runtime.results import Problem

        for each in found:
            if isinstance(each, Problem):
                self._note(each)
            else:
                yield each

    def close(self) -> None:
        """Close the file; without problems, it exists and is empty."""
        if self.path is not None:
            self._opened(self.path).close()
            self._file = None

    def told(self) -> str | None:
        """The first problem on one line, and how to see all; None without problems."""
        if self.first is None:
            return None
        reason = self.first.reason if len(self.first.reason) <= _LONGEST else self.first.reason[:_LONGEST] + "…"
        all_of_them = "" if self.path else ". To see them all: --problems PATH"
        return f"the first of them: {escape_controls(f'{_place(self.first)}: {in_options(reason)}')}{all_of_them}"

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
    """The arguments of a call of `thence run`."""

    query: Query
    streams: dict[str, list[str]]
    options: Options
    format: str = "table"
    output: Path | None = None
    events: bool = False
    problems: Path | None = None
    watch: bool = False
    checkpoint: Path | None = None
    funnel: bool = False
    chosen: str = ""
    """Why it runs where it does, if `--engine auto` chose."""

    def say_where(self) -> None:
        """Once the call is known to be right: an error of the call stands alone."""
        if self.chosen:
            click.echo(self.chosen, err=True)

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
    help="Event files of a stream, a folder, a pattern, or - for standard input; may be repeated.",
)
@click.option(
    "--background",
    multiple=True,
    metavar="[IRI=]PATH",
    help="A file of background data, and the name of its graph; may be repeated.",
)
@takes_meaning
@takes_tables
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default="auto",
    show_default=True,
    help="local is one process, spark uses all cores of this machine; auto is local for less than 64 MiB of files.",
)
@click.option("--format", type=click.Choice(FORMATS), help="By default that of the ending of --output, else table.")
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
@click.option(
    "--funnel",
    is_flag=True,
    help="Show how far partial matches came, condition by condition (SASE+, SPAseQ); of the first 100,000 events.",
)
@click.option("--shards", type=int, metavar="N", help="The number of shards on Spark: each runs a part of the keys.")
@click.option("--optimise/--no-optimise", default=True, help="Whether to optimise; the answers are the same.")
def run(
    query: Path | str,
    language: str | None,
    namespace: str | None,
    streams: tuple[str, ...],
    background: tuple[str, ...],
    engine: str,
    format: str | None,
    output: Path | None,
    events: bool,
    problems: Path | None,
    watch: bool,
    checkpoint: Path | None,
    order: tuple[str, ...],
    funnel: bool,
    columns: tuple[str, ...],
    types: tuple[str, ...],
    **chosen: Any,
) -> None:
    """Run a query over event files and print its matches."""
    ends = not watch and checkpoint is None
    given = (("--watch", watch), ("--checkpoint", checkpoint), ("--shards", chosen.get("shards")))
    choice = choose_engine(engine, streams, next((option for option, each in given if each), ""))
    with launched(quick=ends and are_small(streams)) if choice.spark else nullcontext() as launch:
        from thence.cli.result_formats import check_format, format_for

        format = format_for(format, output)
        read = read_query(query, language, namespace)
        check_format(format, read, events=events)
        chosen |= {"columns": table_columns(columns, read), "types": table_types(types, read)}
        call = Run(
            query=read,
            streams=spooled_input(stream_paths(streams, read)),
            options=command_options(background=background_paths(background), order=order_option(order, read), **chosen),
            format=format,
            output=output,
            events=events,
            problems=problems,
            watch=watch,
            checkpoint=checkpoint,
            funnel=funnel,
            chosen=choice.line,
        )
        check_funnel(call)
        if launch is None:
            run_here(call)
        else:
            from thence.cli.spark_run import run_on_spark  # Spark is heavy

            run_on_spark(call, launch)


def launched(*, quick: bool) -> Launch:
    """Spark on its way."""
    from thence.spark.installed import check_installed

    check_installed("This run")
    from thence.spark.session.session import Launch

    return Launch(debug=bool(click.get_current_context().find_root().params.get("debug")), quick=quick)


def run_here(run: Run) -> None:
    """Run a query in this process."""
    from thence.cli.result_formats import writer

    for option, given in (("--watch", run.watch), ("--checkpoint", run.checkpoint), ("--shards", run.options.shards)):
        if given:
            raise InputError(f"{option} is for Spark, not for one process. Try: --engine spark")
    matching = run.query.matching(run.streams, run.options)
    run.say_where()
    counts, begun = matching.counts, time.monotonic()
    noted = Problems(run.problems)
    found = noted.matches_of(matching)
    try:
        with ExitStack() as opened:
            opened.enter_context(compile_notice())
            opened.enter_context(progress(lambda: how_far(matching, begun), output=run.output, format=run.format))
            opened.callback(noted.close)
            first = list(islice(found, 1))  # by then all is read: what is wrong with a file leaves no half output
            out = opened.enter_context(output_file(run.output))
            write(chain(first, found), writer(run.format, out, run.query, events=run.events))
    except LimitError:  # it failed while running: the counts are printed in any case
        report_counts(counts, noted)
        raise
    except AllBadError:  # which has the first reason
        click.echo(counts_sentence(counts), err=True)
        raise
    report_counts(counts, noted)
    report_funnel(run, counts, lambda: matching)


_AT_ONCE = 10
"""Seconds that a funnel takes which nobody asked for."""


def check_funnel(run: Run) -> None:
    """InputError for --funnel where there is none."""
    if run.funnel and not run.query.language.funnel:
        raise InputError(f"--funnel is for SASE+ and SPAseQ, not for {run.query.language.title}. Try: thence explain")
    if run.funnel and not run.ends:
        raise InputError("--funnel is for input that ends. Try: no --watch and no --checkpoint")


def report_funnel(run: Run, counts: Counts, matching: Callable[[], Matching]) -> None:
    """How far partial matches came, on stderr: all of it on request, a sentence where there is no match."""
    if run.funnel:
        for line in str(matching().funnel()).splitlines():
            click.echo(escape_controls(line), err=True)
    elif not counts.matches and counts.events and run.query.language.funnel:
        click.echo(escape_controls(f"0 matches; {matching().funnel(seconds=_AT_ONCE).sentence}"), err=True)


def how_far(matching: Matching, begun: float) -> str:
    """The progress of a run in this process."""
    from thence.runtime.results import counted_noun

    counts, flow, seconds = matching.counts, matching.answers.flow, time.monotonic() - begun
    if not flow.taken:
        return f"{seconds:.0f} s, reading: {counts.events + counts.bad:,} events"
    events = max(counts.events, flow.taken)  # what extraction refuses is no longer counted
    taken = f"{flow.taken:,} of {counted_noun(events, 'event', 'events')}"
    return f"{seconds:.0f} s, {taken}, {counted_noun(counts.matches, 'match', 'matches')}, {flow.held()}"


def write(matches: Iterable[Answer], writer: Writer) -> None:
    """All matches."""
    writer.begin()
    for match in matches:
        writer.write(match)
    writer.end()
