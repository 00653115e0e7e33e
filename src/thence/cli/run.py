"""`thence run`: a query over files, its matches on stdout."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from thence.cli.query_argument import read_query, takes_a_query, takes_meaning
from thence.cli.result_formats import FORMATS
from thence.cli.run_output import counts_sentence, output_file, progress, report_counts
from thence.cli.stream_options import are_small, background_paths, stream_paths
from thence.errors import InputError, LimitError

if TYPE_CHECKING:
    from thence.cli.result_formats import Answer, Writer
    from thence.query.query import Query
    from thence.spark.session.session import Launch


@dataclass(frozen=True, slots=True)
class Run:
    """What a call of `thence run` asks for."""

    query: Query
    streams: dict[str, list[str]]
    background: Any = None
    reasoning: str | None = None
    policy: str | None = None
    report: Any = None
    format: str = "table"
    output: Path | None = None
    events: bool = False
    problems: Path | None = None
    timed_out: bool = False
    max_runs: int | None = None
    max_rounds: int | None = None
    max_steps: int | None = None
    lateness: str = "0"
    optimise: bool = True
    watch: bool = False
    checkpoint: Path | None = None
    shards: int | None = None

    @property
    def ends(self) -> bool:
        """Whether it reads finite streams to their end, and not what of growing ones is there now."""
        return not self.watch and self.checkpoint is None


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
@takes_meaning
@click.option(
    "--engine",
    type=click.Choice(("spark", "local")),
    default="spark",
    show_default=True,
    help="Where it runs: spark uses all cores of this machine, local is one process.",
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
@click.option("--max-rounds", type=int, metavar="N", help="Fail with more rounds of rules than this at one time.")
@click.option("--max-steps", type=int, metavar="N", help="Fail with more steps of TEF-SPARQL than this at one time.")
@click.option(
    "--lateness",
    default="0",
    metavar="DURATION",
    help="How late events may come: 10s, 5 TICKS. Files are finite: nothing in them is late.",
)
@click.option("--watch", is_flag=True, help="Keep reading: files that come into the streams' folders, until Ctrl-C.")
@click.option(
    "--checkpoint",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Keep there how far it has come, and go on from there: takes what is new.",
)
@click.option("--shards", type=int, metavar="N", help="Parts of the keys that run beside each other on Spark.")
@click.option("--optimise/--no-optimise", default=True, help="Without it, the same answers, slower.")
def run(
    query: Path,
    language: str | None,
    namespace: str | None,
    streams: tuple[str, ...],
    background: tuple[str, ...],
    reasoning: str | None,
    policy: str | None,
    report: str | None,
    engine: str,
    format: str,
    output: Path | None,
    events: bool,
    problems: Path | None,
    timed_out: bool,
    max_runs: int | None,
    max_rounds: int | None,
    max_steps: int | None,
    lateness: str,
    watch: bool,
    checkpoint: Path | None,
    shards: int | None,
    optimise: bool,
) -> None:
    """Run a query over event files and print its matches."""
    ends = not watch and checkpoint is None
    with launched(quick=ends and are_small(streams)) if engine == "spark" else nullcontext() as launch:
        from thence.cli.result_formats import check_format

        read = read_query(query, language, namespace)
        check_format(format, read, events=events)
        chosen = Run(
            query=read,
            streams=stream_paths(streams, read),
            background=background_paths(background),
            reasoning=reasoning,
            policy=policy,
            report=report,
            format=format,
            output=output,
            events=events,
            problems=problems,
            timed_out=timed_out,
            max_runs=max_runs,
            max_rounds=max_rounds,
            max_steps=max_steps,
            lateness=lateness,
            optimise=optimise,
            watch=watch,
            checkpoint=checkpoint,
            shards=shards,
        )
        if launch is None:
            run_here(chosen)
        else:
            from thence.cli.spark_run import run_on_spark  # Spark is heavy

            run_on_spark(chosen, launch)


def launched(*, quick: bool) -> Launch:
    """Spark on its way."""
    from thence.spark.session.session import Launch

    return Launch(debug=bool(click.get_current_context().find_root().params.get("debug")), quick=quick)


def run_here(run: Run) -> None:
    """Run a query in this process."""
    from thence.cli.compile_notice import compile_notice
    from thence.cli.problems import Problems
    from thence.cli.result_formats import writer

    for option, given in (("--watch", run.watch), ("--checkpoint", run.checkpoint), ("--shards", run.shards)):
        if given:
            raise InputError(f"{option} is for Spark, not for one process. Try: --engine spark")
    matching = run.query.match(
        run.streams,
        background=run.background,
        reasoning=run.reasoning,
        policy=run.policy,
        report=run.report,
        lateness=run.lateness,
        max_runs=run.max_runs,
        max_rounds=run.max_rounds,
        max_steps=run.max_steps,
        problems=True,
        timed_out=run.timed_out,
        optimise=run.optimise,
    )
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
