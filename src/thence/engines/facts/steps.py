"""The step and the instant (TEF-17 to TEF-27): one current event at a time."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from thence.algebra.tef_sparql import Plain, Replace, SelectStatement, Since, TefFile, Until
from thence.engines.facts.event_instances import (
    AbsentEvents,
    CurrentEvent,
    CurrentFact,
    CurrentMatch,
    CurrentTriple,
    Emitted,
    EmittedEvent,
    EmittedFact,
    EmittedRow,
    EventInstance,
    Stored,
    wholes,
)
from thence.engines.facts.event_nodes import EventNode, stores_of
from thence.engines.facts.fact_nodes import ALWAYS, FactBase, FactMatch, FactNode, assigned
from thence.engines.facts.fact_queries import Changes, DueFrames, Timers
from thence.engines.facts.fact_store import FOREVER, Fact, FactStore
from thence.engines.facts.frames import Cell, CellTriple, Frame, frame_rank, only, over, term, time_cell, triple_of
from thence.engines.facts.kind_checks import Kinds
from thence.engines.facts.statements import (
    CompiledArm,
    CompiledStatement,
    Completed,
    Concerned,
    Dispatch,
    Effects,
    FactSelect,
    each_once,
    in_order,
    mapping_rank,
)
from thence.engines.facts.views import Continuity, UnnamedView, Views
from thence.errors import LimitError
from thence.rdf.times import format_time


class WaitingTriple(NamedTuple):
    """An event triple, in the order in which it is taken: time, rank by the option `order` (0 without it), stream,
    event, place in the event (TEF-19, TEF-20)."""

    end: int
    rank: int
    stream: int
    ref: int
    place: int
    start: int
    triple: CellTriple


_NOTHING_DUE: DueFrames = MappingProxyType({})


@dataclass(slots=True)
class Machine:
    """A running file: its statements over one store of facts."""

    file: TefFile
    kinds: Kinds
    facts: FactBase
    statements: tuple[CompiledStatement, ...]
    dispatch: Dispatch
    views: Views
    selects: tuple[FactSelect, ...]
    unnamed: tuple[UnnamedView, ...]
    timers: Timers
    absent: tuple[tuple[EventNode, AbsentEvents], ...]  # right of `F WITHOUT E`
    has_starts: bool  # whether some pattern has ONSTART
    has_continuities: bool
    emits_facts: bool  # and constructed events: a file without SELECT (TEF-74)
    max_steps: int
    owns: Callable[[CellTriple], bool] = lambda _: True  # whether a fact belongs to this shard
    once: dict[int, set[tuple[Cell | None, ...]]] = field(default_factory=dict)  # by statement: ONCE PER
    seen: dict[int, set[tuple[Cell | None, ...]]] = field(default_factory=dict)  # of this instant: DISTINCT
    keys: int = 0  # events that were taken
    is_begun: bool = False
    timer: int | None = None  # when the next time-driven step is
    idle_steps: int = 0  # time-driven steps since the last event
    queue: deque[CurrentEvent] = field(default_factory=deque)
    emitted: list[Emitted] = field(default_factory=list)
    steps: int = 0  # of this instant
    queued: int = 0  # those of them that statements caused
    latest: int = 1  # the statement that made something last
    stopped: list[Fact] = field(default_factory=list)  # of this instant: facts that ended, or never held
    cuts: list[tuple[Stored, Frame]] = field(default_factory=list)  # of this instant: events right of `F WITHOUT E`

    @property
    def store(self) -> FactStore:
        return self.facts.store

    def stores(self) -> Iterator[Stored]:
        """Everything that event patterns store, in one order."""
        for each in self.statements:
            for arm in each.arms:
                yield from stores_of(arm.node)
        for node, known in self.absent:
            yield from stores_of(node)
            yield known.stored

    def continuities(self) -> Iterator[Continuity]:
        """The `Continuity` of each unnamed view that may start again, in a fixed order."""
        queries = [*(view.query for view in self.unnamed), *(query for each in self.selects for query in each.queries)]
        return (query.continuity for query in queries if query.continuity is not None)

    def recall(self) -> None:
        """After a restart: derive from the facts which unnamed views hold and when time drives a step."""
        self.views.recall(self.facts)
        for view in self.unnamed:
            view.recall(self.facts)
        self.timers.recall(self.facts)

    def take(self) -> list[Emitted]:
        """The output since the last call."""
        emitted, self.emitted = self.emitted, []
        return emitted

    # An instant (TEF-22)

    def instant(self, now: int, triples: Sequence[WaitingTriple], *, is_event: bool) -> None:
        """Run all steps of a time: its event triples in order. `is_event`: there was an event, even if no statement
        reads it."""
        self.facts.begin(now)
        self.steps = self.queued = 0
        self.store.begun, self.stopped, self.cuts = [], [], []
        if self.seen:  # rows of one end are of one instant
            self.seen = {}
        for view in self.unnamed:
            view.begin()
        if is_event:
            self.idle_steps = 0
        is_first = not self.is_begun
        if is_first:
            self._begin(now)
        is_due = self.timer is not None and self.timer <= now
        due = self.timers.due(now) if is_due else _NOTHING_DUE
        if is_due:
            self._time_step(due, now)
        for _, _, _, ref, _, start, triple in triples:
            self.keys += 1
            self._step(CurrentTriple(self.keys, triple, start, now, (ref,)), now)
            if self.queue:
                self._drain(now)
        if self.has_starts:
            self._starts(now)
        if self.timers.queries or self.selects:
            changes = Changes(self.store.begun, self.stopped, self.cuts, due, is_first)
            self._select_facts(changes, now)
            self.timer = self.timers.next(changes, self.facts)

    def _time_step(self, due: DueFrames, now: int) -> None:
        self.idle_steps += 1
        if self.idle_steps > self.max_steps:
            raise LimitError(
                f"There were more than {self.max_steps:,} time-driven steps without an event; statement {self.latest} "
                "is among those that feed each other. Try: a condition on now() that ends, or a larger max_steps"
            )
        self._step(None, now, due)
        self._drain(now)

    def _drain(self, now: int) -> None:
        """All queued steps, first in first out."""
        while self.queue:
            self._step_more(self.queue.popleft(), now)

    def _step_more(self, current: CurrentEvent, now: int) -> None:
        """A step that statements caused, and no input event (TEF-27)."""
        self.queued += 1
        if self.queued > self.max_steps:
            raise LimitError(
                f"There were more than {self.max_steps:,} steps at {format_time(now, self.facts.domain)}; statement "
                f"{self.latest} is among those that feed each other. Try: a condition that ends, or a larger max_steps"
            )
        self._step(current, now)

    def _begin(self, now: int) -> None:
        """ON INIT, before the first event (TEF-44, TEF-45)."""
        self.is_begun = True
        facts = self.facts
        facts.first = now
        for statement in self.statements:
            frames = [
                match.frame for node in statement.initial for match in node.find(statement.layout.empty, ALWAYS, facts)
            ]
            for frame in sorted(frames, key=frame_rank):
                if self._is_first(statement, self._once_key(statement, frame)):
                    assert statement.head is not None
                    for triple in statement.head.of(frame, facts.moment):
                        if self.owns(triple):
                            self.store.start(triple, now, statement.number)
        self.views.settle(facts, Changes(self.store.started, self.store.stopped, is_first=True))
        for continuity in self.continuities():
            continuity.note([continuity.query.empty], facts)
        for view in self.unnamed:
            if view.has_starts:
                view.note_begun([view.query.query.empty], facts, self.steps)
            view.recall(facts)
        self.timers.recall(facts)
        self.store.forget_changes()

    # A step (TEF-21)

    def _step(self, current: CurrentEvent | None, now: int, due: DueFrames = _NOTHING_DUE) -> None:
        """A step with a current event, or a time-driven one."""
        store = self.facts.store
        made: list[Completed] = []
        ended: list[Fact] = []
        cuts: list[tuple[Stored, Frame]] = []
        if current is not None:
            concerned = self.dispatch.of(current)
            effects = self._effects(concerned, current)
            if concerned.absent:
                cuts = self._note_absent(concerned, current)
            if effects is not None:
                ended, made = self._apply(effects, now), effects.made
        if not (store.started or store.stopped or cuts or due):
            self._construct(made, now)
            return
        changes = Changes(store.started, store.stopped, cuts, due)
        ended += self.views.settle(self.facts, changes)
        if made:
            self._construct(made, now)
        self._end_facts(ended, now)
        if self.unnamed or self.has_continuities:
            self._turn_unnamed(changes, now)
        if self.timers.queries or self.selects:
            self.stopped += store.stopped
            self.cuts += cuts
        store.forget_changes()

    def _note_absent(self, concerned: Concerned, current: CurrentEvent) -> list[tuple[Stored, Frame]]:
        """Store the events right of `F WITHOUT E`; what is bound in each."""
        absent = []
        for node, known in concerned.absent:
            for instance in node.delta(current, self.facts):
                known.stored.add(instance)
                absent.append((known.stored, instance.frame))
        return absent

    def _effects(self, concerned: Concerned, current: CurrentEvent) -> Effects | None:
        """The effects of the instances that the current event completes; None if there are none."""
        effects = None
        for own, arms in concerned.statements:
            for each in self._completed(own, arms, current):
                if effects is None:
                    effects = Effects({}, [], [])
                self._note(each, effects)
        return effects

    def _completed(
        self, own: CompiledStatement, arms: tuple[CompiledArm, ...], current: CurrentEvent
    ) -> list[Completed]:
        """The frames that complete a statement's arms, in order, each once."""
        completed: list[Completed] = []
        ends: list[Completed] = []
        within = own.statement.within
        for arm in arms:
            for instance in arm.node.delta(current, self.facts):
                if within is not None and instance.end - instance.start > within.length:
                    continue
                if arm.replaced is not None:
                    completed += self._replacements(own, arm, arm.replaced, instance)
                    continue
                for whole in wholes(instance, self.facts) if instance.waits else (instance,):
                    made = Completed(own, arm, whole, whole.frame, ())
                    (ends if isinstance(arm.arm, Until) else completed).append(made)
        if len(completed) > 1:
            completed = each_once(completed)
            completed.sort(key=lambda each: (each.instance.start, each.instance.keys, mapping_rank(each)))
        if len(ends) > 1:  # facts that end together are ordered by what ended them, and by their triples
            ends.sort(key=lambda each: (each.instance.start, each.instance.keys))
        if own.once is not None:
            completed = self._kept(own, completed)
        return completed + ends if ends else completed

    def _kept(self, own: CompiledStatement, completed: list[Completed]) -> list[Completed]:
        """The instances that ONCE PER keeps: the first for its values, and of REPLACE the others of this step, which
        end facts and start none (TEF-42, TEF-73)."""
        kept = []
        new: set[tuple[Cell | None, ...]] = set()
        for one in completed:
            key = self._once_key(own, one.frame)
            if self._is_first(own, key):
                new.add(key)
                kept.append(one)
            elif isinstance(one.arm.arm, Replace) and key in new:
                kept.append(one._replace(starts=False))
        return kept

    def _once_key(self, own: CompiledStatement, frame: Frame) -> tuple[Cell | None, ...]:
        """The values that ONCE PER compares; None: an error."""
        return tuple(value(frame, self.facts.moment) for value in own.once or ())

    def _is_first(self, own: CompiledStatement, key: tuple[Cell | None, ...]) -> bool:
        """Whether a row is the first for its values; an error drops the row (TEF-59, TEF-73)."""
        if own.once is None:
            return True
        known = self.once.setdefault(own.number, set())
        if None in key or key in known:
            return False
        known.add(key)
        return True

    def _replacements(
        self, own: CompiledStatement, arm: CompiledArm, replaced: FactNode, instance: EventInstance
    ) -> Iterator[Completed]:
        """An instance with each of the facts that it replaces (TEF-42)."""
        facts = self.facts
        seen = instance.frame if arm.seen is None else only(instance.frame, arm.seen)
        for match in replaced.find(seen, FOREVER, facts):
            if not match.holds_at(facts.now):
                continue
            joined = match.frame if arm.seen is None else over(match.frame, instance.frame)
            if not instance.waits:
                frames: Iterable[Frame] = (joined,)
            else:
                frames = (whole.frame for whole in wholes(instance._replace(frame=joined), facts))
            for each in frames:
                frame = self._after_steps(arm, each)
                if frame is not None:
                    yield Completed(own, arm, instance, frame, match.facts)

    def _after_steps(self, arm: CompiledArm, joined: Frame) -> Frame | None:
        """The frame with the expressions behind REPLACE evaluated; None if a condition fails."""
        frame: Frame | None = joined
        for step in arm.steps:
            assert frame is not None
            if step.slot >= 0:
                frame = assigned(frame, step.slot, step.value(frame, self.facts.moment))
            elif not step.truth(frame, self.facts.moment):
                frame = None
            if frame is None:
                break
        return frame

    def _note(self, completed: Completed, effects: Effects) -> None:
        if completed.statement.head is not None:
            self.latest = completed.statement.number
        match completed.arm.arm:
            case Since():
                effects.starts.append(completed)
            case Replace():
                if completed.starts:
                    effects.starts.append(completed)
                for fact in completed.replaced:
                    effects.ends.setdefault(fact.number, (completed, fact))
            case Until():
                assert completed.statement.head is not None
                for triple in completed.statement.head.of(completed.frame, self.facts.moment):
                    read = [fact for fact in completed.instance.read if fact.triple == triple]
                    for fact in read or self.store.open.get(triple, []):
                        if fact.end is None:
                            effects.ends.setdefault(fact.number, (completed, fact))
            case Plain() if isinstance(completed.statement.statement, SelectStatement):
                instance = completed.instance
                self._select(completed.statement, instance.start, instance.end, completed.frame, instance.refs)
            case Plain():
                effects.made.append(completed)

    def _apply(self, effects: Effects, now: int) -> list[Fact]:
        """End facts and start facts, ends first; those that ended."""
        ended = []
        store, moment = self.facts.store, self.facts.moment
        ends = list(effects.ends.values())
        if len(ends) > 1:
            ends = in_order(ends)
        for _, fact in ends:
            if store.end(fact, now):
                ended.append(fact)
        for completed in effects.starts:
            assert completed.statement.head is not None
            for triple in completed.statement.head.of(completed.frame, moment):
                store.start(triple, now, completed.statement.number)
        return ended

    def _construct(self, made: list[Completed], now: int) -> None:
        """Constructed events, each triple a step of its own (TEF-51, TEF-52)."""
        for completed in sorted(made, key=lambda one: (one.statement.number, one.instance.start, one.instance.keys)):
            assert completed.statement.head is not None
            instance = completed.instance
            triples = tuple(dict.fromkeys(completed.statement.head.of(completed.frame, self.facts.moment)))
            if triples:
                shown = tuple(map(triple_of, triples))
                self.emitted.append(EmittedEvent(completed.statement.number, instance.start, now, shown, instance.refs))
            for triple in triples:
                self.keys += 1
                self.queue.append(CurrentTriple(self.keys, triple, instance.start, now, instance.refs))

    def _end_facts(self, ended: Iterable[Fact], now: int) -> None:
        """Emit facts that ended, and queue an ONEND for each that a statement may read."""
        for fact in ended:
            if self.emits_facts:
                self.emitted.append(EmittedFact(now, fact.start, now, triple_of(fact.triple), fact.number))
            if any(self.dispatch.of_fact(fact.triple[1], starts=False)):
                self.keys += 1
                self.queue.append(CurrentFact(self.keys, fact, False, now))

    def _turn_unnamed(self, changes: Changes, now: int) -> None:
        """Unnamed views begin and end after all facts of a step (TEF-22)."""
        self.steps += 1
        for continuity in self.continuities():
            continuity.note(continuity.query.touched(changes), self.facts)
        concerned = [(view, frames) for view in self.unnamed if (frames := view.query.query.touched(changes))]
        for view, frames in concerned:
            if view.has_starts:
                view.note_begun(frames, self.facts, self.steps)
        for view, frames in concerned:
            for match in view.ended(frames, self.facts) if view.has_ends else ():
                self.keys += 1
                self.queue.append(CurrentMatch(self.keys, view.number, match, False, now))

    # ONSTART and SELECT over facts

    def _starts(self, now: int) -> None:
        """ONSTART for what began at a time and still holds, in order of creation, each judged at its turn (TEF-22), and
        once (TEF-26); facts that begin meanwhile have their turn too."""
        facts: list[tuple[int, Fact]] = []  # a heap, by number
        done: set[object] = set()
        noted = 0
        while True:
            begun = self.store.begun
            for fact in begun[noted:]:
                heapq.heappush(facts, (fact.number, fact))
            noted = len(begun)
            while facts and not self._is_awaited(facts[0][1], done):
                heapq.heappop(facts)
            turns = [
                turn
                for view in self.unnamed
                for identity, turn in view.begun.items()
                if (view.number, identity) not in done
            ]
            first = min(turns, key=lambda turn: turn.order, default=None)
            self.keys += 1
            if facts and (first is None or (facts[0][0], 0) < first.order):
                _, fact = heapq.heappop(facts)
                done.add(fact.triple)
                current: CurrentEvent = CurrentFact(self.keys, fact, True, now)
            elif first is not None:
                done.add((first.view, (first.match.frame, first.match.start)))
                current = CurrentMatch(self.keys, first.view, first.match, True, now)
            else:
                break
            self._step_more(current, now)
            self._drain(now)

    def _is_awaited(self, fact: Fact, done: set[object]) -> bool:
        """Whether a fact that began still holds, and a statement reads it."""
        return fact.end is None and fact.triple not in done and any(self.dispatch.of_fact(fact.triple[1], starts=True))

    def _select_facts(self, changes: Changes, now: int) -> None:
        """Rows of SELECTs over facts that began at a time and still hold: one for each arm and each mapping of all its
        variables (TEF-50, TEF-72)."""
        for select in self.selects:
            matches: dict[object, tuple[FactMatch, int]] = {}
            for place, query in enumerate(select.queries):
                for frame in query.query.gained(changes):
                    for match in query.open(frame, self.facts):
                        if match.start == now:
                            matches[match.frame, match.hidden, place, match.arms] = match, place
            ordered = list(matches.values())
            if len(ordered) > 1:
                ordered.sort(key=lambda row: (frame_rank(row[0].frame, row[0].hidden), row[1], row[0].arms))
            for match, _ in ordered:
                if self._is_first(select.statement, self._once_key(select.statement, match.frame)):
                    self._select(select.statement, now, now, match.frame, ())

    def _select(self, own: CompiledStatement, start: int, end: int, frame: Frame, refs: tuple[int, ...]) -> None:
        statement = own.statement
        assert isinstance(statement, SelectStatement)
        cells = [frame[slot] for slot in own.columns]
        if statement.distinct:
            domain = self.facts.domain
            key = (time_cell(start, domain), time_cell(end, domain), *cells)
            known = self.seen.setdefault(own.number, set())
            if key in known:
                return
            known.add(key)
        row = {name: term(each) for name, each in zip(statement.variables, cells, strict=True) if each is not None}
        self.emitted.append(EmittedRow(own.query, self.facts.now, start, end, row, refs))

    def finish(self) -> None:
        """The end of input: facts that still hold (TEF-74)."""
        for fact in sorted(self.store.holding(), key=lambda each: (each.start, each.number)):
            shown = triple_of(fact.triple)
            self.emitted.append(EmittedFact(self.facts.now, fact.start, None, shown, fact.number))
