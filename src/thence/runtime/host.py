"""A host runs one stage: it holds the operator's state and does everything around it.

In one process there is one host for each stage, fed with batches; on Spark each shard of a stage has one, fed with
chunks of extracted events.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thence.columns.array_codec import ArrayReader
from thence.columns.arrays import Ints
from thence.columns.dictionary import Terms
from thence.columns.id_order import id_key
from thence.columns.texts import Texts
from thence.errors import InputError
from thence.extraction.extract import extract
from thence.interface.dataflow import Stage
from thence.interface.extracted import ArrivedBatch, Extracted
from thence.interface.operator import Environment, Expired, ExpiresRuns, HeldFact, HoldsFacts
from thence.interface.output import Distinct, Rows
from thence.interface.saved_arrays import require
from thence.interface.solutions import Row, Solutions
from thence.rdf.events import Event
from thence.rdf.times import Domain, format_time
from thence.runtime.event_log import EventLog
from thence.runtime.match_ids import DerivedNames, derived_event, match_ids
from thence.runtime.ordering import Ordered, Seen, in_order, shown_text
from thence.runtime.tie_counts import TieCounts


@dataclass(frozen=True, slots=True)
class TimedOut:
    """A partial match that timed out, with the reason; `ids` are those of its events."""

    row: Row
    ids: tuple[str, ...]
    reason: str
    stream: str


@dataclass(slots=True)
class Host:
    """A running stage. `number` is its position in the dataflow, from 1."""

    stage: Stage
    log: EventLog
    environment: Environment = field(default_factory=Environment)
    number: int = 1
    state: Any = field(init=False)
    seen: Seen | None = field(init=False, default=None)
    rejected: dict[int, str] = field(init=False, default_factory=dict)  # by ref: events that extraction refused
    ties: TieCounts = field(init=False)

    def __post_init__(self) -> None:
        output = self.stage.program.output
        self.ties = TieCounts(self.stage.program)
        self.state = self.stage.operator.initial(self.stage.program, self.environment)
        if isinstance(output, Rows) and output.distinct is not None:
            self.seen = Seen(output.distinct)

    # A step

    def prepare(self) -> Terms:
        """The dictionary that the values of the next events must use. Call it before their extraction and `emit`."""
        self.stage.operator.prune(self.stage.program, self.state)
        return self.state.terms  # type: ignore[no-any-return]

    def extract(self, arrived: Sequence[ArrivedBatch]) -> Extracted:
        """The tables that the program requests from some events."""
        environment = self.environment
        found = extract(
            self.stage.program, arrived, self.prepare(), environment.background, environment.context, self.rejected
        )
        if not environment.running:
            self.ties.add(arrived, found)
        if self.rejected and len(found.times):  # not a bad event's time (RS-18, TEF-45)
            refs = np.concatenate([each.first_ref + np.arange(len(each.batch)) for each in arrived])
            good = ~np.isin(refs, list(self.rejected))
            order = None if found.order is None else found.order.take(np.flatnonzero(good))
            found = replace(found, times=found.times[good], order=order)
        return found

    def emit(
        self,
        extracted: Extracted,
        watermark: int,
        *,
        latest: int | None = None,
        heard: int | None = None,
        domain: Domain | None = None,
        advanced: int | None = None,
        ordered: bool = True,
    ) -> Iterator[Ordered]:
        """The rows that become certain. `latest` is the time of the latest event of all inputs, if the caller knows of
        others; `heard` is that of the stage's own streams, `domain` the kind of time. `advanced` is the time given to
        `advance`, if it was called (RS-21). Without `ordered`, rows may come in the order in which the operator emits
        them."""
        stage = self.stage
        if latest is not None:
            extracted = replace(extracted, latest=latest)
        if heard is not None:
            extracted = replace(extracted, heard=heard)
        if domain is not None:
            extracted = replace(extracted, domain=domain)
        if advanced is not None:
            extracted = replace(extracted, advanced=advanced)
        found = stage.operator.step(stage.program, self.state, extracted, watermark, self.environment)
        if not ordered and self.seen is None and not stage.makes_events:
            yield from ((solutions, None) for solutions in found if len(solutions))
            return
        listed = in_order(found, self.log, by_certainty=not stage.program.waits_for_time)
        if self.seen is None:
            yield from listed
            return
        yield from ((solutions, None) for solutions in self.seen.first_of(listed))
        if not stage.program.waits_for_time or self.seen.scope is not Distinct.INTERVAL:
            self.seen.prune(watermark)  # otherwise a row may become certain long after it ends

    def ids(self, solutions: Solutions) -> tuple[Texts, Texts]:
        """The match ids of some solutions, and the ids of all their events."""
        events = self.log.ids(solutions.events.get().refs)
        return match_ids(solutions, events, stage=self.number), events

    def derive(self, found: Iterator[Ordered], domain: Domain) -> Iterator[tuple[Solutions, int, str, Event]]:
        """The events that rows in order make: the row's solutions and number, its match id, and the event."""
        names = DerivedNames()
        for solutions, order in found:
            ids = self.ids(solutions)[0].to_list()
            for number in range(len(solutions)) if order is None else order.tolist():
                certain = int(solutions.certain[number])
                name = names.next(certain, ids[number])
                triples = solutions.triples
                event = derived_event(
                    self.stage,
                    solutions.bindings(number) if triples is None else {},
                    name,
                    certain,
                    domain,
                    self.environment.context,
                    start=int(solutions.start[number]),
                    triples=() if triples is None else triples(number),
                )
                if event is not None:
                    yield solutions, number, ids[number], event

    def expire(self, watermark: int, domain: Domain) -> list[TimedOut]:
        """The partial matches that timed out before the watermark, in order, if they are reported."""
        operator = self.stage.operator
        if not self.environment.keeps_expired or not isinstance(operator, ExpiresRuns):
            return []
        found = operator.expire(self.stage.program, self.state, watermark)
        return [] if found is None else sorted(self._timed_out(found, domain), key=_place)

    def _timed_out(self, found: Expired, domain: Domain) -> Iterator[TimedOut]:
        for row, missing, stream in zip(found.solutions.rows(), found.waited_for, found.streams, strict=True):
            ids = tuple(self.log.ids(np.array(row.refs, np.int64)).to_list())
            reason = f"{missing} did not arrive before the window ended ({format_time(row.certain, domain)})"
            yield TimedOut(row, ids, reason, stream)

    def facts(self, time: int | None) -> list[HeldFact]:
        """The facts that hold at a time, now if it is None."""
        operator = self.stage.operator
        if not isinstance(operator, HoldsFacts):
            raise InputError("facts() is for queries that make facts. Try: TEF-SPARQL, CONSTRUCT FACT")
        return operator.facts(self.stage.program, self.state, time)

    @property
    def size(self) -> int:
        """How many partial matches, or whatever the operator holds. Roughly, if another thread asks."""
        return self.stage.operator.size(self.state)

    def held(self) -> Ints:
        """The refs of the events that must be retained."""
        held = self.stage.operator.held(self.stage.program, self.state)
        return np.concatenate([held, np.array(list(self.rejected), np.int64)])

    # Between two steps

    def snapshot(self) -> tuple[dict[str, Any], list[NDArray[Any]]]:
        head, arrays = self.stage.operator.snapshot(self.stage.program, self.state)
        seen = None if self.seen is None else sorted(self.seen.rows.items())
        return {"operator": head, "next_ref": self.log.next_ref, "seen": seen}, arrays

    def restore(self, head: dict[str, Any], arrays: ArrayReader) -> None:
        """Continue from a snapshot. InputError if it cannot be one."""
        inner, next_ref, seen = head.get("operator"), head.get("next_ref"), head.get("seen")
        require(isinstance(inner, dict), "its head is malformed")
        require(type(next_ref) is int and 0 <= next_ref < 2**63, "its head lacks the number of events")
        assert isinstance(inner, dict) and isinstance(next_ref, int)
        self.log.next_ref = next_ref
        self.state = self.stage.operator.restore(self.stage.program, inner, arrays, next_ref, self.environment)
        require((seen is None) == (self.seen is None), "its emitted rows belong to another query")
        if self.seen is not None:
            require(isinstance(seen, list) and all(map(_is_seen, seen)), "its emitted rows are malformed")
            self.seen.rows = dict(seen or ())


def _is_seen(found: object) -> bool:
    return isinstance(found, list) and len(found) == 2 and isinstance(found[0], str) and type(found[1]) is int


def _place(found: TimedOut) -> tuple[object, ...]:
    row = found.row
    return row.certain, row.end, row.start, [*map(id_key, found.ids)], shown_text(row.bindings), found.reason
