"""`thence run` on Spark: finite files in one job, rows decoded into matches and problems, errors as elsewhere."""

from __future__ import annotations

import re
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import chain, groupby, islice
from typing import TYPE_CHECKING, Any
from warnings import catch_warnings, simplefilter, warn

import click
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Observation, SparkSession

from thence import errors
from thence.cli.installation import check_java
from thence.cli.progress import progress, starting
from thence.cli.result_formats import writer
from thence.cli.run import (
    Problems,
    Run,
    counts_sentence,
    output_file,
    report_counts,
    report_funnel,
    write,
)
from thence.cli.spark_files import StreamFiles, finite_input, settle_time_domain
from thence.columns.id_order import id_key
from thence.errors import AllBadError, InputError, ThenceError, ThenceWarning
from thence.local.expected_names import missing_names
from thence.local.inputs import input_types
from thence.query.dataframes import spark_settings
from thence.query.schema_checks import check_input
from thence.rdf.documents import Format, parse
from thence.rdf.events import Event
from thence.rdf.terms import IRI, BlankNode, Literal, Term, Triple
from thence.rdf.times import Domain
from thence.runtime.input_tally import InputTally
from thence.runtime.results import Counts, Problem, counted_noun
from thence.runtime.watermark import TimeDomain
from thence.spark.driver.pipeline import Settings, dataflow_rows, events_metric
from thence.spark.driver.spool import in_order, spooled
from thence.spark.session.session import Launch, NoJavaError

if TYPE_CHECKING:
    from thence.interface.dataflow import Dataflow
    from thence.interface.solutions import AnswerValue
    from thence.local.finite_run import Matching
    from thence.query.query import Query
    from thence.spark.sources.split_reader import SplitReader


# Errors on Spark, reported as elsewhere: our own come back from workers inside Java's.

_OURS = re.compile(r"\bthence\.errors\.(\w+): ([^\n]+)")
_LONGEST = 400


@contextmanager
def raised_as_ours() -> Iterator[None]:
    """Inside, an error of Spark that one of ours has caused is that one; another is a sentence."""
    try:
        yield
    except (PySparkException, Py4JError) as error:
        raise our_error(str(error)) from error


def our_error(text: str) -> ThenceError:
    """The error that a stack trace of Spark has inside.

    >>> our_error("Job aborted: File x.py, line 7\\nthence.errors.LimitError: Too many runs.\\n\\n at java.lang")
    LimitError('Too many runs.')
    """
    found = _OURS.search(text)
    kind = getattr(errors, found[1], None) if found else None
    if found is None or not isinstance(kind, type) or not issubclass(kind, ThenceError):
        first = next((line.strip() for line in text.splitlines() if line.strip()), "it does not say why")
        return ThenceError(f"Spark failed: {first[:_LONGEST]}. The whole message: thence --debug run …")
    return kind(found[2].strip())


# Decodes rows that Spark returns into matches and problems.


@dataclass(frozen=True, slots=True)
class SparkMatch:
    """A match that was found elsewhere: its events are known by their ids."""

    times: tuple[int, int]
    bindings: Mapping[str, AnswerValue]
    event_ids: tuple[str, ...]
    domain: Domain
    constructed: Event | None = None
    query: int | None = None


@dataclass(frozen=True, slots=True)
class RowLayout:
    """The columns of a row of `dataflow_rows`: two times, `query` if numbered, cells, match_id, events, four columns of
    a problem, and the columns that rows are ordered by."""

    query: Query
    domain: Domain

    @property
    def cells(self) -> slice:
        """The columns before match_id that are a row's own."""
        first = 3 if self.query.dataflow().numbers_queries else 2
        return slice(first, first + (2 if self.query.constructs else len(self.query.columns)))

    @property
    def order(self) -> tuple[int, int, int]:
        """The columns that rows are ordered by."""
        last = self.cells.stop
        return last + 6, last + 7, last + 8

    def answers(self, rows: Iterable[tuple[Any, ...]]) -> Iterator[SparkMatch | Problem]:
        """Rows in the order of times, as matches in the order of `match`; problems, which have no time, come first."""
        times = self.order
        for (certain, *_), group in groupby(rows, key=lambda row: tuple(row[number] for number in times)):
            if certain is None:
                yield from map(self._problem, group)
                continue
            alike = [self._match(row) for row in group]
            yield from sorted(alike, key=_place) if len(alike) > 1 else alike

    def _problem(self, row: tuple[Any, ...]) -> Problem:
        last = self.cells.stop
        problem, reason, event, stream = row[last + 2 : last + 6]
        return Problem(problem, reason, stream, text=event)

    def _match(self, row: tuple[Any, ...]) -> SparkMatch:
        place = self.cells
        times, own, ids = (row[0], row[1]), row[place], tuple(row[place.stop + 1])
        query = row[2] if place.start > 2 else None
        if self.query.constructs:
            return SparkMatch(times, {}, ids, self.domain, self._event(*times, *own), query)
        cells = zip(self.query.columns, own, strict=True)
        bindings = {name: _cell(cell) for name, cell in cells if cell is not None}
        return SparkMatch(times, bindings, ids, self.domain, query=query)

    def _event(self, time: int, end: int, name: str, value: str) -> Event:
        triples = [Triple(*quad[:3]) for quad in parse(value.encode(), Format.N_TRIPLES)]
        return Event.from_columns(time, end, self.domain, name, tuple(triples))


def _place(found: SparkMatch) -> tuple[object, ...]:
    """The order of matches with equal times: by ids, then by statement, then by bindings, as `match` has it."""
    return (
        [*map(id_key, found.event_ids)],
        found.query or 0,
        repr(sorted(found.bindings.items(), key=lambda item: item[0])),
    )


def _cell(cell: Any) -> AnswerValue:
    return tuple(map(_inner, cell)) if isinstance(cell, list) else _inner(cell)


def _inner(cell: Any) -> Any:
    """A term, a composite of terms, or None, which may occur in a sequence.

    >>> _inner({"type": None, "value": {"type": "literal", "value": "b", "datatype": None, "language": "en"}})
    {'type': None, 'value': Literal(value='b', datatype='http://www.w3.org/1999/02/22-rdf-syntax-ns#langString', \
language='en')}
    """
    if cell is None:
        return None
    if isinstance(cell.get("type"), str):
        return _term(cell)
    return {name: None if each is None else _term(each) for name, each in cell.items()}


def _term(cell: Mapping[str, str]) -> Term:
    """
    >>> _term({"type": "literal", "value": "chat", "datatype": None, "language": "fr"})
    Literal(value='chat', datatype='http://www.w3.org/1999/02/22-rdf-syntax-ns#langString', language='fr')
    """
    match cell["type"]:
        case "uri":
            return IRI(cell["value"])
        case "bnode":
            return BlankNode(cell["value"])
        case _:
            language = cell["language"]
            return Literal(cell["value"], language=language) if language else Literal(cell["value"], cell["datatype"])


# `thence run` on Spark: finite files in one job. What grows is in `spark_watch`.


def run_on_spark(run: Run, launch: Launch) -> None:
    """Run a query on this machine's cores. Errors of the call are raised before Spark starts."""
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
    """The part of a run that needs no event and no Spark."""

    run: Run
    dataflow: Dataflow
    domain: TimeDomain  # as far as it is known
    settings: Settings
    read: list[Observation] = field(default_factory=list)  # of finite input

    def rows(self, frames: Mapping[str, DataFrame], readers: Mapping[str, SplitReader] | None = None) -> DataFrame:
        """All answers. Of finite input, `read` observes the events."""

        def observed() -> Observation | None:
            if any(frame.isStreaming for frame in frames.values()):
                return None  # its progress has them by their names
            self.read.append(Observation())
            return self.read[-1]

        return dataflow_rows(self.dataflow, frames, self.domain, self.settings, read=observed, readers=readers)


def prepared(run: Run) -> Prepared:
    dataflow = run.query.supported(run.options)
    watermark, domain = run.options.timing(dataflow.streams, run.query.time_kind())
    return Prepared(run, dataflow, domain, spark_settings(dataflow, run.options, watermark))


def judged(answers: Iterable[SparkMatch | Problem], tally: InputTally) -> Iterator[SparkMatch | Problem]:
    """The same answers, of which problems come first; an AllBadError in place of the others (BAD-8)."""
    is_checked = False
    for each in answers:
        if isinstance(each, Problem):
            tally.note(each)
        elif not is_checked:
            tally.check(list(tally.read))
            is_checked = True
        yield each
    tally.check(list(tally.read))


def counted(answers: Iterable[SparkMatch | Problem], counts: Counts) -> Iterator[SparkMatch | Problem]:
    """The same answers, each counted as it passes. Bad events were counted with the others."""
    for each in answers:
        if not isinstance(each, Problem):
            counts.matches += 1
        else:
            counts.add(each.problem)
            counts.events -= each.problem == "bad"
        yield each


def _run_to_the_end(run: Run, launch: Launch) -> None:
    doing = prepared(run)
    files = [StreamFiles.of(name, paths, doing.settings.layout(name)) for name, paths in run.streams.items()]
    inputs = {each.stream: each.inputs(doing.dataflow.namespace_of(each.stream)) for each in files}
    expected = check_input(run.query, input_types(inputs), doing.settings.background)
    domains = settle_time_domain(doing.domain, files, doing.dataflow.namespace)
    run.say_where()
    counts, noted, tally = Counts(), Problems(run.problems), InputTally()
    begun, started = time.monotonic(), list[SparkSession]()
    with ExitStack() as opened:
        shown = lambda: _how_far(started, counts, begun)  # noqa: E731
        opened.enter_context(progress(shown, output=run.output, format=run.format))
        spark = session(launch)
        started.append(spark)
        opened.enter_context(raised_as_ours())
        layout = RowLayout(run.query, doing.domain.known)
        given = finite_input(spark, files, doing.dataflow.namespace, domains)
        rows = doing.rows(given.frames, given.readers)
        folder = opened.enter_context(tempfile.TemporaryDirectory(prefix="thence-"))
        made = spooled(rows, folder, by=layout.order)
        counts.events = sum(read.get["events"] for read in doing.read)
        for place, stream in enumerate(doing.dataflow.streams):
            tally.read[stream.name] = sum(read.get[events_metric(place)] for read in doing.read)
        opened.callback(noted.close)
        answers = judged(layout.answers(in_order(made, by=layout.order)), tally)
        found = noted.matches_of(counted(answers, counts))
        try:
            first = list(islice(found, 1))
        except AllBadError:  # the counts are printed in any case
            click.echo(counts_sentence(counts), err=True)
            raise
        out = opened.enter_context(output_file(run.output))
        write(chain(first, found), writer(run.format, out, run.query, events=run.events))
    for text in missing_names(expected, inputs):
        warn(text, ThenceWarning, stacklevel=2)
    report_counts(counts, noted)
    report_funnel(run, counts, lambda: _in_one_process(run, files))


def _in_one_process(run: Run, files: Sequence[StreamFiles]) -> Matching:
    """The same run without Spark; its warnings have been given."""
    with catch_warnings():
        simplefilter("ignore", ThenceWarning)
        return run.query.matching({each.stream: list(each.labels) for each in files}, run.options)


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
