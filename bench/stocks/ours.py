"""Ours: a query over ticks, from a file to a table of matches or to `Match` objects, and the kernel alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

import thence
from thence.columns.batches import ColumnBatch, RowPositions
from thence.engines.automaton.memory import FREE, NEVER, RUN_CAPACITY
from thence.engines.automaton.operator import AutomatonOperator
from thence.engines.automaton.plan.spaseq import plan
from thence.engines.automaton.program import SequenceProgram
from thence.interface.dataflow import Stage
from thence.interface.extracted import ArrivedBatch
from thence.io.event_files import read_batches
from thence.io.event_tables import EventTable
from thence.io.table_columns import event_columns
from thence.io.table_layout import TableLayout
from thence.rdf.events import DEFAULT_NAMESPACE
from thence.rdf.limits import Limits
from thence.runtime.event_log import BatchLog
from thence.runtime.host import Host


def program_of(text: str) -> SequenceProgram:
    return plan(thence.parse(text).algebra)


def read(path: Path) -> Iterator[ColumnBatch]:
    for batch in read_batches(path, stream="S"):
        assert isinstance(batch, ColumnBatch), batch
        yield batch


def as_batches(records: Iterable[pa.RecordBatch]) -> Iterator[ColumnBatch]:
    """Ticks that never were in a file, as a file's would come."""
    table: EventTable | None = None
    first = 0
    for record in records:
        if table is None:
            columns = event_columns(TableLayout("S"), "ticks", record.schema)
            table = EventTable("ticks", "S", DEFAULT_NAMESPACE, Limits(), columns)
        for batch in table.of_record(record, RowPositions(first, record.num_rows)):
            assert isinstance(batch, ColumnBatch), batch
            yield batch
        first += record.num_rows


@dataclass(slots=True)
class Stepped:
    """What the kernel has found so far, and how many partial matches it holds."""

    events: int = 0
    matches: int = 0
    live: int = 0

    def __len__(self) -> int:
        return self.matches


def stepped(program: SequenceProgram, batches: Iterable[ColumnBatch]) -> Iterator[Stepped]:
    """The kernel over batches in the order of time, told after each of them."""
    log, so_far = BatchLog(), Stepped()
    host = Host(Stage(program, AutomatonOperator()), log)
    for batch in batches:
        so_far.matches += _count(host, [log.add("S", batch)], int(batch.ends[-1]) + 1)
        so_far.events += len(batch)
        so_far.live = int(host.state.memory[RUN_CAPACITY] - host.state.memory[FREE])
        log.batches = []
        yield so_far
    so_far.matches += _count(host, [], int(NEVER))


def kernel(program: SequenceProgram, batches: Iterable[ColumnBatch]) -> Stepped:
    """The kernel over all of some batches."""
    *_, last = stepped(program, batches)
    return last


def _count(host: Host, arrived: list[ArrivedBatch], watermark: int) -> int:
    return sum(len(found) for found, _ in host.emit(host.extract(arrived), watermark, ordered=False))


def table(text: str, path: Path) -> pa.Table:
    """From the query's text and a file to a table of matches."""
    return thence.parse(text).match({"S": path}).table()


def objects(text: str, path: Path) -> list[object]:
    """All matches, as the public interface gives them."""
    return list(thence.parse(text).match({"S": path}))


def rows(text: str, path: Path) -> Iterator[tuple[str, int, int, float, float, float]]:
    """The V pattern's matches as the public interface gives them: company, start, end, p1, p2, p3."""
    for match in thence.parse(text).match({"S": path}):
        bound = match.bindings
        prices = (float(bound[name].value) for name in ("p1", "p2", "p3"))
        yield (bound["company"].value, match.start, match.end, *prices)
