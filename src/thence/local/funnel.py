"""A funnel: how many events of finite streams begin a match of each step of a query, which says how far partial matches
come and what stops them. Counted over the input once more, and only on request."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import TYPE_CHECKING

import numpy as np

from thence.columns.arrays import Ints
from thence.errors import InputError, LimitError
from thence.interface.dataflow import Dataflow
from thence.interface.operator import Environment
from thence.interface.solutions import Row, Solutions
from thence.local.flow import LocalFlow, merge_streams, sort_stream

if TYPE_CHECKING:
    from thence.columns.batches import Batch
    from thence.runtime.watermark import TimeDomain

MOST_EVENTS = 100_000
"""The most events of each stream that a funnel counts."""

MOST_RUNS = 50_000
"""The most partial matches at once; a step with more is not counted, nor are those behind it."""

MOST_SECONDS = 60
"""Nor is a step counted for which this time does not suffice."""


@dataclass(frozen=True, slots=True)
class CompiledStep:
    """A step of a query: what the events that begin its matches have done, and its dataflow. `begins`: it is the first
    step of its block."""

    text: str
    dataflow: Dataflow
    begins: bool


@dataclass(frozen=True, slots=True)
class FunnelRow:
    """A step, and the number of events that begin a match of it; None if counting them would take too long.

    >>> print(FunnelRow("met a b", 1640), FunnelRow("passed b.x > 1", 0), sep="; ")
    1,640 met a b; none passed b.x > 1
    """

    step: str
    count: int | None
    begins: bool = False

    def __str__(self) -> str:
        if self.count is None:
            return f"it would take too long to count how many {self.step}"
        if not self.begins:
            return f"{self.count:,} {self.step}" if self.count else f"none {self.step}"
        if not self.count:
            return f"no event {self.step}"
        return f"{self.count:,} {'event' if self.count == 1 else 'events'} {self.step}"


@dataclass(frozen=True, slots=True)
class Funnel:
    """The steps of a query, in order, each with its count. `partial`: the input has more events than were counted.

    >>> rows = FunnelRow("could begin a", 812, begins=True), FunnelRow("met a b", 640), FunnelRow("passed b.x > 1", 0)
    >>> print(Funnel(rows).sentence)
    812 events could begin a, 640 of these met a b, none passed b.x > 1
    """

    rows: tuple[FunnelRow, ...]
    partial: bool = False

    @property
    def sentence(self) -> str:
        """Up to the first step that no event gets past, of each block."""
        sentences: list[list[str]] = []
        stopped = False
        for row in self.rows:
            if row.begins:
                sentences.append([str(row)])
                stopped = not row.count
            elif not stopped:
                of_these = len(sentences[-1]) == 1 and row.count
                sentences[-1].append(str(row).replace(" ", " of these ", 1) if of_these else str(row))
                stopped = not row.count
        return "; ".join(", ".join(each) for each in sentences) + self._scope

    def __str__(self) -> str:
        counts = ["?" if row.count is None else f"{row.count:,}" for row in self.rows]
        width = max(map(len, counts), default=0)
        lines = [f"{count:>{width}}  {row.step}" for count, row in zip(counts, self.rows, strict=True)]
        return "\n".join([*lines, *([self._scope.strip(" ()")] if self.partial else [])])

    __repr__ = __str__

    @property
    def _scope(self) -> str:
        return f" (of the first {MOST_EVENTS:,} events of each stream)" if self.partial else ""


def count_funnel(
    steps: Iterable[CompiledStep],
    streams: Mapping[str, Iterator[Batch]],
    domain: Callable[[], TimeDomain],
    environment: Environment,
    *,
    seconds: float = MOST_SECONDS,
) -> Funnel:
    """The funnel of the events of some streams, as far as MOST_EVENTS, MOST_RUNS and the time allow."""
    until = monotonic() + seconds
    held: dict[str, list[Batch]] = {}
    partial = False
    for name, batches in streams.items():
        held[name], cut = _some(batches)
        partial = partial or cut
    environment = replace(environment, max_runs=min(environment.max_runs, MOST_RUNS), keeps_expired=False)
    rows: list[FunnelRow] = []
    for step in steps:
        if rows and not step.begins and not rows[-1].count:  # nothing gets past a step that nothing got to
            rows.append(FunnelRow(step.text, rows[-1].count))
            continue
        found = _FirstEvents()
        flow = LocalFlow(step.dataflow, environment, replace(domain()))
        needed = {stream.name: held[stream.name] for stream in step.dataflow.streams}
        try:
            flow.collect(_until(until, needed), found)
        except (LimitError, TimeoutError):
            rows.append(FunnelRow(step.text, None, step.begins))
        else:
            rows.append(FunnelRow(step.text, len(found), step.begins))
    return Funnel(tuple(rows), partial)


def _until(end: float, streams: Mapping[str, Sequence[Batch]]) -> Iterator[tuple[dict[str, list[Batch]], int]]:
    """Finite streams in the order of time; a TimeoutError once it is past a time."""
    for found in merge_streams({name: sort_stream(held) for name, held in streams.items()}):
        if monotonic() > end:
            raise TimeoutError
        yield found


def check_readable(name: str, value: object) -> None:
    """InputError for input that can be read only once."""
    if isinstance(value, Iterator):
        raise InputError(f"funnel() reads the stream {name} once more, and an iterator has an end. Try: a list of it")


def _some(batches: Iterator[Batch]) -> tuple[list[Batch], bool]:
    """The first events of a stream, and whether there are more."""
    found: list[Batch] = []
    room = MOST_EVENTS
    for batch in batches:
        if len(batch) > room:
            return [*found, batch.take(np.arange(room))], True
        found.append(batch)
        room -= len(batch)
    return found, False


@dataclass(slots=True)
class _FirstEvents:
    """The first events of matches, each once."""

    refs: set[int] = field(default_factory=set)

    def __len__(self) -> int:
        return len(self.refs)

    def add(self, solutions: Solutions, order: Ints | None) -> None:
        lists = solutions.events.get()
        self.refs.update(lists.refs[lists.offsets[:-1]].tolist())

    def add_rows(self, rows: Iterable[Row]) -> None:
        self.refs.update(row.refs[0] for row in rows)
