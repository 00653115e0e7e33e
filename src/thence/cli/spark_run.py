"""`thence run` on Spark: finite files in one job. What grows is in `spark_watch`."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from itertools import chain, islice
from typing import TYPE_CHECKING

from pyspark.sql import Observation, SparkSession

from thence.algebra.components import ComposedQuery
from thence.algebra.sequences import SequenceQuery
from thence.cli.formats import writer
from thence.cli.java import check_java
from thence.cli.outlets import progress, several, starting, tell, told, written
from thence.cli.problems import Problems
from thence.cli.run import Run, write
from thence.cli.spark_errors import told_as_ours
from thence.cli.spark_files import Files, finite_input, settle
from thence.cli.spark_rows import Found, Layout
from thence.errors import InputError
from thence.local.domains import TimeDomain
from thence.local.results import Counts, Problem
from thence.match.background import NO_BACKGROUND
from thence.query.options import background_of, duration, most_runs
from thence.rdf.times import MAX_TIME
from thence.spark.composed import composed_rows
from thence.spark.pipeline import Settings, all_rows
from thence.spark.session import Launch, NoJavaError
from thence.spark.spool import in_order, spooled

if TYPE_CHECKING:
    from thence.match.background import Background
    from thence.program.sequence import SequenceProgram


def run_on_spark(run: Run, launch: Launch) -> None:
    """Run a query on this machine's cores. Whatever is wrong with the call is told before Spark is waited for."""
    if run.shards is not None and not 1 <= run.shards <= 4096:
        raise InputError(f"--shards can't be {run.shards}. Try: --shards 4")
    if run.ends:
        _run_to_the_end(run, launch)
    else:
        from thence.cli.spark_watch import run_as_it_grows

        run_as_it_grows(run, launch)
    launch.ended_well()


def session(launch: Launch) -> SparkSession:
    """Spark, or what is missing for it."""
    try:
        return launch.session()
    except NoJavaError as error:
        ok, found, cure = check_java()
        if ok:
            raise
        raise InputError(f"Spark needs Java: {found}. Try: {cure}; or --engine local") from error


def prepared(run: Run) -> tuple[SequenceProgram, Background, TimeDomain, Settings]:
    """What a run does, as far as no event and no Spark is needed."""
    program = run.query.program(optimise=run.optimise, partial=run.timed_out)
    return program, background_of(run.background, program), *settled(run)


def settled(run: Run) -> tuple[TimeDomain, Settings]:
    """Its kind of time, as far as that is known, and its options."""
    allowed = duration(run.lateness, option="lateness")
    domain = TimeDomain.of(run.query.algebra, {"lateness": allowed})
    return domain, Settings(
        shards=run.shards,
        lateness=min(allowed.length, MAX_TIME),
        max_runs=most_runs(run.max_runs),
        problems=True,
        partial=run.timed_out,
        terms="struct",
        namespace=run.query.algebra.namespace,
    )


def counted(answers: Iterable[Found | Problem], counts: Counts) -> Iterator[Found | Problem]:
    """The same answers, each counted as it passes. Events that are none were counted with the others."""
    for each in answers:
        if not isinstance(each, Problem):
            counts.matches += 1
        else:
            kind = each.problem
            setattr(counts, kind, getattr(counts, kind) + 1)
            counts.events -= kind == "bad"
        yield each


def _run_to_the_end(run: Run, launch: Launch) -> None:
    files = [Files.of(name, paths) for name, paths in run.streams.items()]
    is_one = isinstance(run.query.algebra, SequenceQuery) or run.query.algebra.is_one_block
    program, background, domain, settings = prepared(run) if is_one else (None, NO_BACKGROUND, *settled(run))
    domains = settle(domain, files, settings.namespace)
    counts, noted = Counts(), Problems(run.problems)
    begun, started = time.monotonic(), list[SparkSession]()
    with ExitStack() as opened:
        shown = lambda: _how_far(started, counts, begun)  # noqa: E731
        opened.enter_context(progress(shown, output=run.output, format=run.format))
        spark = session(launch)
        started.append(spark)
        opened.enter_context(told_as_ours())
        layout = Layout(run.query, domain.known)
        read = Observation("thence")
        given = finite_input(spark, files, settings.namespace, domains)
        if program is not None:
            rows = all_rows(program, given.frames, domain, background, settings, read=read, readers=given.readers)
        else:
            assert isinstance(run.query.algebra, ComposedQuery)
            rows = composed_rows(
                run.query.algebra,
                given.frames,
                domain,
                settings,
                read=read,
                readers=given.readers,
                optimise=run.optimise,
            )
        folder = opened.enter_context(tempfile.TemporaryDirectory(prefix="thence-"))
        made = spooled(rows, folder, by=layout.order)
        counts.events = read.get["events"]
        opened.callback(noted.close)
        found = noted.matches_of(counted(layout.answers(in_order(made, by=layout.order)), counts))
        first = list(islice(found, 1))
        out = opened.enter_context(written(run.output))
        write(chain(first, found), writer(run.format, out, run.query, events=run.events))
    tell(counts, noted)


def _how_far(started: Sequence[SparkSession], counts: Counts, begun: float) -> str:
    """Tasks until all is read, as Spark tells no more before they end; then events and matches."""
    seconds = time.monotonic() - begun
    if not started:
        return starting(begun)
    if counts.events:
        return f"{told(counts)}, {counts.events / seconds:,.0f} events/s"
    tracker = started[0].sparkContext.statusTracker()
    stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    done = [f"{stage.numCompletedTasks} of {several(stage.numTasks, 'task', 'tasks')}" for stage in stages if stage]
    return f"{seconds:.0f} s, {', '.join(done) or 'preparing'}"
