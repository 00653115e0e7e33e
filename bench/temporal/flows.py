"""A dataflow of EP-SPARQL, fed by hand: rows, time, and the state along the stream."""

from __future__ import annotations

import gc
import time
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.table import Table

import thence
from stocks.contenders import CONSOLE, Time, resident
from thence.columns.batches import Batch, encode
from thence.interface.operator import NEVER, Environment
from thence.local.flow import LocalFlow
from thence.match.background import NO_BACKGROUND, Background
from thence.query.languages import CompileOptions
from thence.rdf.events import Event

ROOT = Path(__file__).parent.parent.parent
EX = "http://example.org/"
TOGETHER = 4096
"""Events that are fed at a time."""


def query_of(text: str) -> thence.Query:
    return thence.parse(text, language="ep-sparql")


def within(text: str, window: int) -> str:
    return text.replace("WINDOW", str(window))


@dataclass(slots=True)
class Fed:
    """A run so far: its events and rows, the solutions that are stored, and what the state takes."""

    events: int = 0
    rows: int = 0
    stored: int = 0
    kilobytes: float = 0.0

    def __len__(self) -> int:
        return self.rows


def flow_of(text: str, background: Background = NO_BACKGROUND, *, reasoning: str | None = None) -> LocalFlow:
    return LocalFlow(query_of(text).dataflow(CompileOptions(reasoning=reasoning)), Environment(background))


def stepped(flow: LocalFlow, batches: Iterable[Batch]) -> Iterator[Fed]:
    """The flow over batches in the order of time, reported after each of them and at the end."""
    (name,) = (stream.name for stream in flow.dataflow.streams)
    so_far = Fed()
    for batch in batches:
        so_far.rows += sum(1 for _ in flow.feed({name: [batch]}, int(batch.ends[-1]) + 1))
        so_far.events += len(batch)
        so_far.stored = stored(flow)
        yield so_far
    so_far.rows += sum(1 for _ in flow.feed({}, NEVER))
    yield so_far


def stored(flow: LocalFlow) -> int:
    """The solutions that wait in all nodes of the networks."""
    return sum(len(table) for host in flow.hosts for table in host.state.tables())


def state_bytes(flow: LocalFlow) -> int:
    """The size of the snapshot's columns."""
    return sum(array.nbytes for host in flow.hosts for array in host.snapshot()[1])


def whole(flow: LocalFlow, batches: Iterable[Batch]) -> Fed:
    *_, last = stepped(flow, batches)
    return last


def cut(events: Sequence[Event], together: int = TOGETHER) -> list[Batch]:
    """Batches that are encoded one by one: events must not have blank nodes, whose labels would recur."""
    return [encode(events[first : first + together]) for first in range(0, len(events), together)]


def better(best: Time, flow: LocalFlow, batches: Sequence[Batch]) -> tuple[Time, Fed]:
    """One more run, and the better time; what is stored is the most of the run, the state's size that before its end,
    which is not timed."""
    gc.collect()
    most = Fed()
    cpu, wall = time.process_time(), time.perf_counter()
    apart_cpu = apart_wall = 0.0
    for so_far in stepped(flow, batches):
        most = Fed(so_far.events, so_far.rows, max(most.stored, so_far.stored), most.kilobytes)
        if so_far.events == sum(map(len, batches)) and not most.kilobytes:
            before_cpu, before_wall = time.process_time(), time.perf_counter()
            most.kilobytes = state_bytes(flow) / 1e3
            apart_cpu, apart_wall = time.process_time() - before_cpu, time.perf_counter() - before_wall
    taken = time.process_time() - cpu - apart_cpu, time.perf_counter() - wall - apart_wall
    return Time(min(best.cpu, taken[0]), min(best.wall, taken[1]), most.rows), most


def show_state(title: str, text: str, total: int, batches: Iterable[Batch]) -> None:
    """What is stored along a stream ten times as long as the first mark: it must not grow."""
    flow = flow_of(text)
    table = Table(title=title, title_justify="left")
    for heading in ("events", "stored, at most", "terms", "state KB", "resident MB"):
        table.add_column(heading, justify="right")
    marks = [total * tenth // 10 for tenth in (1, 2, 5, 10)]
    most = 0
    for so_far in stepped(flow, batches):
        most = max(most, so_far.stored)
        if marks and so_far.events >= marks[0]:
            marks.pop(0)
            (host,) = flow.hosts
            sizes = f"{len(host.state.terms):,}", f"{state_bytes(flow) / 1e3:,.0f}", f"{resident():,.0f}"
            table.add_row(f"{so_far.events:,}", f"{most:,}", *sizes)
            most = 0
    CONSOLE.print(table)


def options(description: str | None, quick: Mapping[str, object], *arguments: tuple[str, object, str]) -> Namespace:
    """The options of a benchmark: name, default and help of each; with `--quick`, small sizes whatever else is
    asked."""
    parser = ArgumentParser(description=description, formatter_class=RawDescriptionHelpFormatter)
    for name, default, help in (*arguments, ("repeat", 3, "runs of each contender")):
        several = "+" if isinstance(default, list) else None
        parser.add_argument(f"--{name}", type=int, nargs=several, default=default, help=f"{help} (default: {default})")
    parser.add_argument("--quick", action="store_true", help="small sizes, whatever else is asked")
    found = parser.parse_args()
    if found.quick:
        vars(found).update(quick, repeat=1)
    return found
