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

from thence.cli.java import check_java
from thence.cli.problems import Problems
from thence.cli.result_formats import writer
from thence.cli.run import Run, write
from thence.cli.run_output import counted_noun, counts_sentence, output_file, progress, report_counts, starting
from thence.cli.spark_errors import raised_as_ours
from thence.cli.spark_files import StreamFiles, finite_input, settle_time_domain
from thence.cli.spark_rows import RowLayout, SparkMatch
from thence.errors import InputError
from thence.query.languages import CompileOptions
from thence.query.options import background_of, duration, most_rounds, most_runs, most_steps, report_policy, report_span
from thence.rdf.times import MAX_TIME
from thence.runtime.results import Counts, Problem
from thence.runtime.time_domain import TimeDomain
from thence.spark.driver.dataflow_rows import dataflow_rows
from thence.spark.driver.pipeline import Settings
from thence.spark.driver.spool import in_order, spooled
from thence.spark.session.session import Launch, NoJavaError

if TYPE_CHECKING:
    from thence.match.background import Background
    from thence.program.dataflow import Dataflow
    from thence.spark.sources.split_reader import SplitReader


def run_on_spark(run: Run, launch: Launch) -> None:
    """Run a query on this machine's cores. Errors of the call are raised before Spark starts."""
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

    def rows(self, frames: Mapping[str, DataFrame], readers: Mapping[str, SplitReader] | None = None) -> DataFrame:
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
    options = CompileOptions(run.optimise, run.timed_out, run.reasoning, run.policy, report_policy(run.report))
    dataflow = query.supported(options, background=run.background)
    allowed = duration(run.lateness, option="lateness")
    domain = TimeDomain.of(query.time_kind(), {"lateness": allowed, **report_span(options.report)})
    settings = Settings(
        shards=run.shards,
        lateness=min(allowed.length, MAX_TIME),
        max_runs=most_runs(run.max_runs),
        max_rounds=most_rounds(run.max_rounds),
        max_steps=most_steps(run.max_steps),
        problems=True,
        timed_out=run.timed_out,
        terms="struct",
        namespace=dataflow.namespace,
    )
    return Prepared(run, dataflow, domain, settings, background_of(run.background, dataflow))


def counted(answers: Iterable[SparkMatch | Problem], counts: Counts) -> Iterator[SparkMatch | Problem]:
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
    files = [StreamFiles.of(name, paths) for name, paths in run.streams.items()]
    doing = prepared(run)
    domains = settle_time_domain(doing.domain, files, doing.settings.namespace)
    counts, noted = Counts(), Problems(run.problems)
    begun, started = time.monotonic(), list[SparkSession]()
    with ExitStack() as opened:
        shown = lambda: _how_far(started, counts, begun)  # noqa: E731
        opened.enter_context(progress(shown, output=run.output, format=run.format))
        spark = session(launch)
        started.append(spark)
        opened.enter_context(raised_as_ours())
        layout = RowLayout(run.query, doing.domain.known)
        given = finite_input(spark, files, doing.settings.namespace, domains)
        rows = doing.rows(given.frames, given.readers)
        folder = opened.enter_context(tempfile.TemporaryDirectory(prefix="thence-"))
        made = spooled(rows, folder, by=layout.order)
        counts.events = sum(read.get["events"] for read in doing.read)
        opened.callback(noted.close)
        found = noted.matches_of(counted(layout.answers(in_order(made, by=layout.order)), counts))
        first = list(islice(found, 1))
        out = opened.enter_context(output_file(run.output))
        write(chain(first, found), writer(run.format, out, run.query, events=run.events))
    report_counts(counts, noted)


def _how_far(started: Sequence[SparkSession], counts: Counts, begun: float) -> str:
    """Tasks until all is read, as Spark reports no more before they end; then events and matches."""
    seconds = time.monotonic() - begun
    if not started:
        return starting(begun)
    if counts.events:
        return f"{counts_sentence(counts)}, {counts.events / seconds:,.0f} events/s"
    tracker = started[0].sparkContext.statusTracker()
    stages = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    done = [
        f"{stage.numCompletedTasks} of {counted_noun(stage.numTasks, 'task', 'tasks')}" for stage in stages if stage
    ]
    return f"{seconds:.0f} s, {', '.join(done) or 'preparing'}"
