"""`thence run` on Spark: finite files in one job. What grows is in `spark_watch`."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame, Observation, SparkSession

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
from thence.query.options import background_of, duration, most_runs
from thence.rdf.times import MAX_TIME
from thence.spark.composed import dataflow_rows
from thence.spark.pipeline import Settings
from thence.spark.session import Launch, NoJavaError
from thence.spark.spool import in_order, spooled

if TYPE_CHECKING:
    from thence.match.background import Background
    from thence.program.dataflow import Dataflow
    from thence.spark.reading import PartReader


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


@dataclass(slots=True)
class Prepared:
    """What a run does, as far as no event and no Spark is needed."""

    run: Run
    dataflow: Dataflow
    domain: TimeDomain  # as far as it is known
    settings: Settings
    background: Background
    read: list[Observation] = field(default_factory=list)  # of finite input

    def rows(self, frames: Mapping[str, DataFrame], readers: Mapping[str, PartReader] | None = None) -> DataFrame:
        """All answers. Of finite input, `read` observes the events."""

        def observed() -> Observation | None:
            if any(frame.isStreaming for frame in frames.values()):
                return None  # its progress has them by their names
            self.read.append(Observation())
            return self.read[-1]

        return dataflow_rows(
            self.dataflow, frames, self.domain, self.background, self.settings, read=observed, readers=readers
        )


def prepared(run: Run) -> Prepared:
    query = run.query
    dataflow = query.supported(background=run.background, timed_out=run.timed_out, optimise=run.optimise)
    allowed = duration(run.lateness, option="lateness")
    domain = TimeDomain.of(query.algebra.time_kind, {"lateness": allowed})
    settings = Settings(
        shards=run.shards,
        lateness=min(allowed.length, MAX_TIME),
        max_runs=most_runs(run.max_runs),
        problems=True,
        timed_out=run.timed_out,
        terms="struct",
        namespace=dataflow.namespace,
    )
    return Prepared(run, dataflow, domain, settings, background_of(run.background, dataflow))


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
    doing = prepared(run)
    domains = settle(doing.domain, files, doing.settings.namespace)
    counts, noted = Counts(), Problems(run.problems)
    begun, started = time.monotonic(), list[SparkSession]()
    with ExitStack() as opened:
        shown = lambda: _how_far(started, counts, begun)  # noqa: E731
        opened.enter_context(progress(shown, output=run.output, format=run.format))
        spark = session(launch)
        started.append(spark)
        opened.enter_context(told_as_ours())
        layout = Layout(run.query, doing.domain.known)
        given = finite_input(spark, files, doing.settings.namespace, domains)
        rows = doing.rows(given.frames, given.readers)
        folder = opened.enter_context(tempfile.TemporaryDirectory(prefix="thence-"))
        made = spooled(rows, folder, by=layout.order)
        counts.events = sum(read.get["events"] for read in doing.read)
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
