"""`thence run --watch` and `--checkpoint`: growing input, micro-batch by micro-batch, with a journal of the output."""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from thence.cli.progress import progress, starting
from thence.cli.result_formats import writer
from thence.cli.run import Problems, Run, counts_sentence, open_for_writing, report_counts
from thence.cli.spark_files import growing_input
from thence.cli.spark_run import Prepared, RowLayout, counted, our_error, prepared, raised_as_ours, session
from thence.errors import InputError
from thence.runtime.results import Counts
from thence.runtime.saved_state import VERSION
from thence.spark.driver.pipeline import COUNTS, READ, STATE, STREAMING_SHARDS
from thence.spark.driver.spool import in_order, spooled
from thence.spark.session.session import Launch

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.query import StreamingQuery


# A journal of the output, kept beside Spark's checkpoint: a run that is killed and restarted writes the rows of each
# micro-batch once.
#
# Before a micro-batch's rows are written, the journal notes its number and how long the files are; after they are on
# the disk, that it is done. Spark repeats a micro-batch that it does not know to be done: if we know that it is,
# nothing is written; else the files are cut to what they were before it.

NAME = "thence-output.json"


@dataclass(slots=True)
class Journal:
    """The journal of a checkpoint. `paths` are the files that the run writes; this excludes stdout, which cannot be
    truncated. `kept_for` is the key that the checkpoint belongs to."""

    folder: Path
    paths: Sequence[Path]
    kept_for: dict[str, Any]
    _known: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path, paths: Sequence[Path], kept_for: dict[str, Any]) -> Journal:
        """The journal of a checkpoint, checked; the files of a new one are emptied."""
        found = cls(folder, [Path(os.path.abspath(path)) for path in paths], kept_for)
        found._known = _read(folder / NAME)
        if found._known:
            found._check()
        return found

    @property
    def is_new(self) -> bool:
        return not self._known

    def begin(self, batch: int) -> bool:
        """Whether the rows of a micro-batch must be written. If so, cuts off a partial write and records the batch."""
        last = self._known.get("batch", -1)
        if batch == last and self._known["done"]:
            return False
        if batch == last:
            for path, size in self._known["sizes"].items():
                os.truncate(path, size)
        elif batch < last:
            raise InputError(
                f"The checkpoint {self.folder} was changed: Spark is at micro-batch {batch}, the output at {last}. "
                "Start over with an empty checkpoint."
            )
        self._note(batch, done=False)
        return True

    def done(self, batch: int) -> None:
        """All rows of a micro-batch are on the disk."""
        self._note(batch, done=True)

    def _note(self, batch: int, *, done: bool) -> None:
        sizes = {str(path): os.path.getsize(path) if path.exists() else 0 for path in self.paths}
        self._known = {"batch": batch, "done": done, "sizes": sizes, "kept_for": self.kept_for}
        _write(self.folder / NAME, self._known)

    def _check(self) -> None:
        self._check_kept_for(self._known.get("kept_for", {}))
        before, now = sorted(self._known["sizes"]), sorted(map(str, self.paths))
        if before != now:
            names = ", ".join(before) or "stdout"
            raise InputError(
                f"The checkpoint {self.folder} belongs to output to {names}. Continue with that output, or start over "
                "with an empty checkpoint."
            )
        for path, size in self._known["sizes"].items():
            if (os.path.getsize(path) if os.path.exists(path) else 0) < size:
                raise InputError(
                    f"{path} is shorter than the checkpoint {self.folder} recorded. Put it back, or start over with an "
                    "empty checkpoint."
                )

    def _check_kept_for(self, known: dict[str, Any]) -> None:
        over = "or start over with an empty checkpoint."
        if known.get("query") != self.kept_for["query"]:
            raise InputError(
                f"The checkpoint {self.folder} belongs to another query, or to this one with other options. Give each "
                "query a checkpoint of its own."
            )
        before, now = known.get("version"), self.kept_for.get("version")
        if None not in (before, now) and before != now:
            raise InputError(
                f"The checkpoint {self.folder} was written by version {before} of the state's format, and this is "
                f"version {now}. Continue with the release that wrote it, {over}"
            )
        for option in ("shards", "format"):
            before, now = known.get(option), self.kept_for.get(option)
            if None not in (before, now) and before != now:
                raise InputError(
                    f"The checkpoint {self.folder} was written with --{option} {before}, and now it is {now}. "
                    f"Go on with --{option} {before}, {over}"
                )
        before, now = known.get("events"), self.kept_for.get("events")
        if None not in (before, now) and before != now:
            way = "with" if before else "without"
            raise InputError(f"The checkpoint {self.folder} was written {way} --events. Go on {way} it, {over}")


def _read(path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        raise InputError(f"{path} can't be read. Start over with an empty checkpoint.") from None
    return found


def _write(path: Path, known: dict[str, Any]) -> None:
    """So that either the old or the new one is there, whatever happens."""
    beside = path.with_suffix(".new")
    with open(beside, "w", encoding="utf-8") as file:
        json.dump(known, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)


# `thence run --watch` and `--checkpoint`: what grows, micro-batch by micro-batch.

_EVERY = "1 second"
"""How often folders are listed."""
_LOOK = 0.2
_MIB = 2**20


def run_as_it_grows(run: Run, launch: Launch) -> None:
    """Until Ctrl-C with `--watch`, else until all that is there now is read."""
    if run.format == "json":
        raise InputError("json needs a last row, and a stream never ends. Try: --format jsonl")
    doing = prepared(run)
    with ExitStack() as kept:
        folder = kept.enter_context(tempfile.TemporaryDirectory(prefix="thence-"))
        checkpoint = _made(run.checkpoint) if run.checkpoint else Path(folder, "checkpoint")
        paths = [path for path in (run.output, run.problems) if path is not None]
        journal = Journal.of(checkpoint, paths, _kept_for(doing)) if run.checkpoint else None
        run.say_where()
        begun, outlets = time.monotonic(), list[MicroBatchWriter]()
        shown = lambda: outlets[0].how_far() if outlets else starting(begun)  # noqa: E731
        kept.enter_context(progress(shown, output=run.output, format=run.format, lines=not run.watch))
        spark = session(launch)
        kept.enter_context(raised_as_ours())
        given = growing_input(spark, run.streams, doing.dataflow.namespace, doing.settings, doing.domain)
        rows = doing.rows(given.frames)
        outlet = MicroBatchWriter(run, RowLayout(run.query, doing.domain.known), folder, journal)
        outlet.open()
        stream = rows.writeStream.foreachBatch(outlet.take).option("checkpointLocation", str(checkpoint))
        timed = stream.trigger(processingTime=_EVERY) if run.watch else stream.trigger(availableNow=True)
        outlets.append(outlet)
        with _interrupts_us_alone():
            outlet.follow(timed.start())
    report_counts(outlet.counts, outlet.noted)


def _kept_for(doing: Prepared) -> dict[str, Any]:
    """The key of a checkpoint: the query as it is run, the options that its states depend on, and its output if that is
    one file that is appended to."""
    run = doing.run
    shards = run.options.shards or STREAMING_SHARDS
    states = {"version": VERSION, "query": doing.dataflow.fingerprints(), "shards": shards}
    return states if run.output is None else states | {"format": run.format, "events": run.events}


@dataclass(slots=True)
class MicroBatchWriter:
    """Writes what micro-batches give, each in its order and once."""

    run: Run
    layout: RowLayout
    folder: str
    journal: Journal | None
    counts: Counts = field(default_factory=Counts)
    noted: Problems = field(init=False)
    _writing: threading.Lock = field(default_factory=threading.Lock)
    _ended: bool = False
    _headed: bool = False  # stdout
    _query: StreamingQuery | None = None
    _heard: tuple[int, int] = (-1, 0)  # the last micro-batch that was reported, and its events
    _state: int = 0  # bytes
    _began: float = field(default_factory=time.monotonic)
    _failed: BaseException | None = None

    def __post_init__(self) -> None:
        self.noted = Problems(self.run.problems, "a")

    def open(self) -> None:
        """See that the files can be written. Of a checkpoint that was begun, they have what came before."""
        mode = "w" if self.journal is None or self.journal.is_new else "a"
        for path in (self.run.output, self.run.problems):
            if path is not None:
                open_for_writing(path, mode).close()

    def take(self, rows: DataFrame, batch: int) -> None:
        """The rows of a micro-batch; Spark calls it, from a thread of its own."""
        with self._writing:
            if self._ended:  # if this were no error, Spark would take the rows for written
                raise InterruptedError("the run has ended")
            try:
                self._take(rows, batch)
            except BaseException as error:  # Java would report it as its own
                self._failed = error
                raise

    def _take(self, rows: DataFrame, batch: int) -> None:
        self._hear()
        made = spooled(rows, self.folder, by=self.layout.order)
        if self.journal is not None and not self.journal.begin(batch):
            return
        answers = self.layout.answers(in_order(made, by=self.layout.order))
        with self._out() as out:
            written = writer(self.run.format, out, self.run.query, events=self.run.events)
            if out.tell() == 0 if self.run.output else not self._headed:
                written.begin()
            self._headed = True
            for match in self.noted.matches_of(counted(answers, self.counts)):
                written.write(match)
            written.end()
            out.flush()
            if self.run.output:
                os.fsync(out.fileno())
        self.noted.close()
        if self.journal is not None:
            self.journal.done(batch)

    @contextmanager
    def _out(self) -> Iterator[Any]:
        if self.run.output is None:
            yield sys.stdout
            return
        with open_for_writing(self.run.output, "a") as file:
            yield file

    def follow(self, query: StreamingQuery) -> None:
        """Wait for the end, or for Ctrl-C, which is the end of `--watch`."""
        self._query = query
        interrupted = False
        try:
            while query.isActive:
                time.sleep(_LOOK)
                self._hear()
        except KeyboardInterrupt:
            if not self.run.watch:
                raise
            interrupted = True
        finally:
            with self._writing:  # a micro-batch that is being written is written whole
                self._ended = True
            query.stop()
        self._hear()
        if self._failed is not None:
            raise self._failed
        error = query.exception()
        if error is not None and not interrupted:
            raise our_error(str(error)) from error

    def _hear(self) -> None:
        """How many events the last micro-batch had, as Spark reports once it is done."""
        found = self._query.lastProgress if self._query is not None else None
        if found is None:
            return
        events = sum(each["events"] for each in _observed(found, READ))
        last, known = self._heard
        if found.batchId != last:
            known = 0
        self.counts.events += max(0, events - known)
        self._heard = found.batchId, max(events, known)
        self._state = sum(each["bytes"] for each in _observed(found, STATE)) or self._state  # idle, nothing is reported

    def how_far(self) -> str:
        seconds = max(time.monotonic() - self._began, 0.1)
        rate = self.counts.events / seconds
        return f"{counts_sentence(self.counts)}, {rate:,.0f} events/s, state {self._state / _MIB:,.1f} MiB"


def _observed(progress: Any, metric: str) -> list[Any]:
    """A metric of a micro-batch's progress, of each query."""
    return [each for name, each in progress.observedMetrics.items() if name.startswith(f"{COUNTS}.{metric}")]


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder} can't be a checkpoint: {error.strerror}") from None
    return Path(os.path.abspath(folder))


@contextmanager
def _interrupts_us_alone() -> Iterator[None]:
    """Inside, Ctrl-C does not make Spark break off what it does, as it otherwise would: we end it."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
