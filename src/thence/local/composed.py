"""SASE+ in one process: the queries of a text, each fed by the streams it reads and by what others give (UNION, FROM,
IN STREAM), as one runner."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import merge
from itertools import count
from typing import TYPE_CHECKING

from thence.algebra.components import ComposedQuery, Return
from thence.kernel.projection import Row
from thence.local.made import made_event
from thence.local.sequences import SequenceRunner
from thence.local.tables import Collected
from thence.match.context import Context
from thence.plan.components import plan
from thence.program.sequence import SequenceProgram
from thence.rdf.columns import encode
from thence.rdf.events import Event
from thence.rdf.times import Domain

if TYPE_CHECKING:
    from thence.kernel.rows import Arrived
    from thence.rdf.column_batch import Batch


def runner_of(
    query: ComposedQuery, *, optimise: bool = True, max_runs: int = 2**31 - 2, running: bool = False
) -> SequenceRunner | ComposedRunner:
    """What runs a query: for one block that is the block's own."""
    blocks = [
        [SequenceRunner(plan(block, optimise=optimise), max_runs=max_runs, running=running) for block in union.blocks]
        for union in query.queries
    ]
    return blocks[0][0] if query.is_one_block else ComposedRunner(query, blocks)


@dataclass(slots=True)
class ComposedRunner:
    """Several blocks as one. An event is known by one number in all of them, and rows of inner queries are events of
    the streams that they are for, at the time at which they became certain."""

    query: ComposedQuery
    runners: Sequence[Sequence[SequenceRunner]]
    partial: bool = False
    expired: list[tuple[Row, str]] = field(default_factory=list)
    context: Context = field(default_factory=Context)
    _domain: Domain = Domain.TICKS
    _made: int = 0

    @property
    def program(self) -> SequenceProgram:
        """That of the answer's first block."""
        return self.runners[-1][0].program

    @property
    def programs(self) -> tuple[SequenceProgram, ...]:
        return tuple(runner.program for runner in self._all())

    @property
    def waits_for_time(self) -> bool:
        """As of one block: what an inner one gives may complete a row of another."""
        return any(runner.waits_for_time for runner in self._all())

    def anew(self) -> ComposedRunner:
        return ComposedRunner(self.query, [[runner.anew() for runner in union] for union in self.runners])

    @property
    def columns(self) -> tuple[str, ...]:
        return self.query.columns

    @property
    def held(self) -> list[Arrived]:
        return [each for runner in self._all() for each in runner.held]

    def _all(self) -> Iterator[SequenceRunner]:
        return (runner for union in self.runners for runner in union)

    def feed(self, batches: Mapping[str, Sequence[Batch]], watermark: int) -> Iterator[Row]:
        """As a runner of one block is fed."""
        streams = {name: list(listed) for name, listed in batches.items()}
        for listed in streams.values():
            for batch in listed[:1]:
                self._domain = Domain(int(batch.domains[0])) if len(batch) else self._domain
        blocks = count(1)
        for union in self.runners[:-1]:
            made: dict[str, list[Event]] = {}
            for runner, block in zip(union, blocks, strict=False):
                form = runner.program.query.form
                assert isinstance(form, Return) and form.stream is not None
                rows = self._fed(runner, streams, watermark)
                made.setdefault(form.stream, []).extend(self._event(form, row, block) for row in rows)
            for name, events in made.items():
                if events:
                    events.sort(key=lambda event: event.end)
                    streams.setdefault(name, []).append(encode(events, stream=name, first=self._made))
                    self._made += len(events)
        answers = [self._fed(runner, streams, watermark) for runner in self.runners[-1]]
        yield from merge(*answers, key=lambda row: (row.certain, row.end, row.start, self.ids(row)))

    def _fed(self, runner: SequenceRunner, streams: Mapping[str, list[Batch]], watermark: int) -> list[Row]:
        names = [stream.name for stream in runner.program.streams]
        runner.state.next_ref = max(each.state.next_ref for each in self._all())
        return list(runner.feed({name: streams.get(name, []) for name in names}, watermark))

    def _event(self, form: Return, row: Row, block: int) -> Event:
        return made_event(form, row, self.ids(row), self._domain, self.query.namespace, block=block)

    def ids(self, row: Row) -> list[str]:
        located = (self.event(ref) for ref in row.refs)
        return [batch.id(index) for _, batch, index in located]

    def event(self, ref: int) -> tuple[str, Batch, int]:
        """The stream, batch and number of an event."""
        for runner in self._all():
            for each in runner.held:
                if each.first_ref <= ref < each.first_ref + len(each.batch):
                    return each.stream, each.batch, ref - each.first_ref
        raise KeyError(ref)

    def refused(self) -> Iterator[tuple[str, Batch, int, str]]:
        """Each event once, whoever refuses it. It is known by its place in its batch, which all are fed: another may
        have been given the same id. Batches with refused events are held until these are told: none is another's."""
        told = set[tuple[int, int]]()
        for runner in self._all():
            for stream, batch, number, reason in runner.refused():
                if (id(batch), number) not in told:
                    told.add((id(batch), number))
                    yield stream, batch, number, reason

    def collect(self, stretches: Iterable[tuple[Mapping[str, Sequence[Batch]], int]], into: Collected) -> None:
        into.add_rows(row for batches, watermark in stretches for row in self.feed(batches, watermark))
