"""The step, and the instant (TEF-17 to TEF-27): one event in hand at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from thence.algebra.tef_sparql import (
    ConstructStatement,
    OncePer,
    OnInit,
    Plain,
    Replace,
    SelectStatement,
    Since,
    TefFile,
    TefPattern,
    Times,
    Until,
)
from thence.algebra.tef_variables import bound as bound_variables
from thence.algebra.tef_variables import is_fresh
from thence.errors import LimitError
from thence.kernel.facts.emitted import Emitted, EmittedEvent, EmittedFact, EmittedRow
from thence.kernel.facts.event_instances import EventInstance, Stored, settled
from thence.kernel.facts.event_nodes import EventNode, stores_of
from thence.kernel.facts.fact_patterns import ALWAYS, FactEvaluation, FactInstance, Origin, untimed
from thence.kernel.facts.fact_store import Fact, FactStore
from thence.kernel.facts.hands import FactHand, Hand, InstanceHand, TripleHand
from thence.kernel.facts.statements import EventStatement, FactSelect
from thence.kernel.facts.views import Views, head_triples
from thence.match.context import Solution
from thence.match.expression_evaluator import attempt, passes
from thence.program.facts.kinds import Kinds
from thence.rdf.comparison import order_key, tie_key
from thence.rdf.terms import Term, Triple
from thence.rdf.times import time_literal


@dataclass(slots=True)
class Machine:
    """A running file: its statements over one store of facts."""

    file: TefFile
    kinds: Kinds
    facts: FactEvaluation
    events: tuple[EventStatement, ...]
    views: Views
    selects: tuple[FactSelect, ...]
    start_patterns: tuple[TefPattern, ...]  # composite ones of ONSTART
    end_patterns: tuple[TefPattern, ...]  # composite ones of ONEND
    timed_patterns: tuple[TefPattern, ...]  # of views that compare with now()
    absent_events: dict[TefPattern, tuple[EventNode, Stored]]  # right of `F WITHOUT E`
    max_steps: int = 10_000
    once: dict[int, set[tuple[Term | None, ...]]] = field(default_factory=dict)  # by statement: ONCE PER
    seen: dict[int, set[tuple[Term | None, ...]]] = field(default_factory=dict)  # by statement: DISTINCT
    keys: int = 0  # events that were taken
    is_begun: bool = False
    timer: int | None = None  # when the next time-driven step is
    idle_steps: int = 0  # time-driven steps since the last event
    queue: deque[Hand] = field(default_factory=deque)
    emitted: list[Emitted] = field(default_factory=list)
    ended_now: list[tuple[int, Fact]] = field(default_factory=list)
    has_starts: bool = True  # whether some pattern has ONSTART
    starts_of: frozenset[Term] | None = None  # the predicates that ONSTART asks for; None: any
    ends_of: frozenset[Term] | None = None  # the predicates that ONEND asks for; None: any
    begun: dict[object, tuple[tuple[object, ...], TefPattern, FactInstance]] = field(default_factory=dict)
    """Unnamed views of ONSTART that began at this instant, each with its place in the order of creation."""
    steps: int = 0  # of this instant
    queued: int = 0  # those of them that statements caused
    latest: int = 1  # the statement that made something last
    held: dict[TefPattern, dict[object, FactInstance]] = field(default_factory=dict)  # unnamed views of ONEND
    since: dict[TefPattern, dict[Origin, int]] = field(default_factory=dict)
    """Unnamed views with a WITHOUT: since when each match holds without a break (TEF-49, TEF-50)."""

    @property
    def store(self) -> FactStore:
        return self.facts.store

    def stores(self) -> Iterator[Stored]:
        """Everything that event patterns store, in one order."""
        for each in self.events:
            for arm in each.arms:
                yield from stores_of(arm.node)
        for node, stored in self.absent_events.values():
            yield from stores_of(node)
            yield stored

    def recall(self) -> None:
        """After a restart: which unnamed views hold follows from the facts."""
        for pattern in self.end_patterns:
            self.held[pattern] = {_identity(each): each for each in self._open_instances(pattern, self.facts.now)}

    def take(self) -> list[Emitted]:
        """What was emitted since the last call."""
        found, self.emitted = self.emitted, []
        return found

    # An instant (TEF-22)

    def instant(self, now: int, triples: Sequence[tuple[Triple, int, int]]) -> None:
        """All that happens at a time: event triples in order, each with its start and its event's ref."""
        self.steps = self.queued = 0
        self.begun = {}
        self.facts.begin(now)
        if triples:
            self.idle_steps = 0
        if not self.is_begun:
            self._begin(now)
        if self.timer is not None and self.timer <= now:
            self.idle_steps += 1
            if self.idle_steps > self.max_steps:
                raise LimitError(
                    f"There were more than {self.max_steps:,} time-driven steps without an event; statement "
                    f"{self.latest} is among those that feed each other. "
                    "Try: a condition on now() that ends, or a larger max_steps"
                )
            self._step(None, now)
            self._drain(now)
        for triple, start, ref in triples:
            self.keys += 1
            self._step(TripleHand(self.keys, triple, start, now, (ref,)), now)
            self._drain(now)
        self._starts(now)
        self._select_facts(now)
        self.timer = self._next_timer(now)

    def _drain(self, now: int) -> None:
        """All queued steps, first in first out."""
        while self.queue:
            self._step_more(self.queue.popleft(), now)

    def _step_more(self, hand: Hand, now: int) -> None:
        """A step that statements caused, and no input event (TEF-27)."""
        self.queued += 1
        if self.queued > self.max_steps:
            raise LimitError(
                f"There were more than {self.max_steps:,} steps at {time_literal(now, self.facts.domain).value}; "
                f"statement {self.latest} is among those that feed each other. "
                "Try: a condition that ends, or a larger max_steps"
            )
        self._step(hand, now)

    def _begin(self, now: int) -> None:
        """ON INIT, before the first event (TEF-44, TEF-45)."""
        self.is_begun = True
        self.facts.first = now
        for number, statement in enumerate(self.file.statements, 1):
            if isinstance(statement, ConstructStatement):
                inits = [arm.pattern for arm in statement.arms if isinstance(arm, OnInit)]
                found = [each.bound for pattern in inits for each in self.facts.facts(pattern, {})]
                once = statement.once_per
                for bound in sorted(found, key=_shown):
                    if once is None or self._is_first(number, once, bound):
                        for triple in head_triples(statement.head, bound, self.facts.context):
                            self.store.start(triple, now, number)
        self.views.settle(self.facts, now)
        self._note_begun(now)

    # A step (TEF-21)

    def _step(self, hand: Hand | None, now: int) -> None:
        ends: dict[int, tuple[int, EventInstance, Fact]] = {}
        starts: list[tuple[int, EventInstance, Solution]] = []
        made: list[tuple[int, EventInstance, Solution]] = []
        if hand is not None:
            for own in self.events:
                for arm, instance, bound, replaced in self._instances(own, hand, now):
                    self._note(own, arm, instance, bound, replaced, ends, starts, made)
            for node, stored in self.absent_events.values():
                for instance in node.delta(hand, self.facts):
                    stored.add(instance)
        self.ended_now = []
        for statement, _, fact in sorted(ends.values(), key=_end_order):
            if self.store.end(fact, now):
                self.ended_now.append((statement, fact))
        for statement, _, bound in starts:
            found = self.file.statements[statement - 1]
            assert isinstance(found, ConstructStatement)
            for triple in head_triples(found.head, bound, self.facts.context):
                self.store.start(triple, now, statement)
        ended_views, _ = self.views.settle(self.facts, now)
        self._construct(made, now)
        for _, fact in self.ended_now:
            self._end_fact(fact, now)
        for fact in ended_views:
            self._end_fact(fact, now)
        self._note_begun(now)
        for pattern in self.end_patterns:
            earlier = self.held.get(pattern, {})
            self.held[pattern] = {_identity(each): each for each in self._open_instances(pattern, now)}
            gone = [each for identity, each in earlier.items() if identity not in self.held[pattern]]
            for each in sorted(gone, key=lambda found: (found.start, _shown(found.bound))):
                if each.start < now:
                    self.keys += 1
                    self.queue.append(InstanceHand(self.keys, pattern, self._ended(pattern, each, now), False, now))

    def _note_begun(self, now: int) -> None:
        """Unnamed views begin after all facts of a step (TEF-22)."""
        self.steps += 1
        for pattern, earlier in self.since.items():
            found = (each.origin for each in self.facts.facts(untimed(pattern), {}) if each.holds_at(now))
            self.since[pattern] = {origin: earlier.get(origin, now) for origin in found}
        still: dict[object, tuple[tuple[object, ...], TefPattern, FactInstance]] = {}
        for place, pattern in enumerate(self.start_patterns):
            for each in self._open_instances(pattern, now):
                if each.start == now:
                    identity = (pattern, _identity(each))
                    order = (self.store.created, 1, self.steps, place, tuple(_shown(each.bound)))
                    known = self.begun.get(identity)
                    still.setdefault(identity, (order if known is None else known[0], pattern, each))
        self.begun = still

    def _ended(self, pattern: TefPattern, instance: FactInstance, now: int) -> FactInstance:
        """The match as it is now that it has ended: its times are bound."""
        may_restart = pattern in self.since
        for each in self.facts.facts(untimed(pattern) if may_restart else pattern, {}):
            same = all(each.bound.get(name, term) == term for name, term in instance.bound.items())
            if same and each.end == now and (may_restart or each.start == instance.start):
                if may_restart and isinstance(pattern, Times):
                    bound = self.facts.timed(each.bound, pattern, instance.start, now)
                    return each._replace(bound=instance.bound if bound is None else bound)
                return each
        return instance._replace(end=now)

    def _end_fact(self, fact: Fact, now: int) -> None:
        self.emitted.append(EmittedFact(now, fact.start, now, fact.triple, fact.number))
        if self.ends_of is None or fact.triple.predicate in self.ends_of:
            self.keys += 1
            self.queue.append(FactHand(self.keys, fact, False, now))

    def _open_instances(self, pattern: TefPattern, now: int) -> list[FactInstance]:
        known = self.since.get(pattern)
        if known is None:
            return [each for each in self.facts.facts(pattern, {}) if each.holds_at(now)]
        found = []
        for each in self.facts.facts(untimed(pattern), {}):
            if each.holds_at(now):
                start, bound = known[each.origin], each.bound
                timed = self.facts.timed(bound, pattern, start, None) if isinstance(pattern, Times) else bound
                if timed is not None:
                    found.append(each._replace(bound=timed, start=start))
        return found

    def _instances(
        self, each: EventStatement, hand: Hand, now: int
    ) -> Iterator[tuple[Plain | Since | Until | Replace, EventInstance, Solution, tuple[Fact, ...]]]:
        """What a statement's arms are completed with, in order, each once."""
        found = []
        seen: set[object] = set()
        for place, (arm, node) in enumerate(each.arms):
            for instance in node.delta(hand, self.facts):
                within = each.statement.within
                if within is not None and instance.end - instance.start > within.length:
                    continue
                for bound, replaced in self._arm_bindings(arm, instance):
                    identity = (place, instance.keys, frozenset(bound.items()), instance.hidden, instance.arms)
                    if isinstance(arm, Replace | Until) or identity not in seen:
                        seen.add(identity)
                        found.append((arm, instance, bound, replaced))
        if len(found) > 1:
            found.sort(key=lambda item: (item[1].start, item[1].keys, _shown(item[2])))
        once = each.statement.once_per
        for item in found:
            if once is None or self._is_first(each.number, once, item[2]):
                yield item

    def _is_first(self, number: int, once: OncePer, bound: Solution) -> bool:
        """Whether a row is the first for its values; an error drops the row (TEF-59, TEF-73)."""
        key = (
            *(bound.get(name) for name in once.variables),
            *(attempt(expression, bound, self.facts.context) for expression in once.expressions),
        )
        known = self.once.setdefault(number, set())
        if None in key or key in known:
            return False
        known.add(key)
        return True

    def _arm_bindings(
        self, arm: Plain | Since | Until | Replace, instance: EventInstance
    ) -> Iterator[tuple[Solution, tuple[Fact, ...]]]:
        """The bindings of an instance; those of REPLACE with each of the facts that it replaces (TEF-42)."""
        if not isinstance(arm, Replace):
            alone = settled(instance, self.facts, is_whole=True)
            if alone is not None:
                yield alone.bound, ()
            return
        own = bound_variables(arm.facts)  # F sees no other variable of ON, which stands to its right (TEF-39)
        common = {name: term for name, term in instance.bound.items() if name in own}
        for found in list(self.facts.facts(arm.facts, common, ended=False)):
            if not found.holds_at(self.facts.now):
                continue
            joined = instance._replace(bound={**instance.bound, **found.bound})
            whole = settled(joined, self.facts, is_whole=True)
            if whole is None:
                continue
            bound: Solution | None = whole.bound
            for variable, expression in arm.steps:
                assert bound is not None
                if variable is not None and variable not in bound:
                    bound = self.facts.assigned(bound, variable, expression)
                else:
                    bound = bound if passes(expression, bound, self.facts.context) else None
                if bound is None:
                    break
            if bound is not None:
                yield bound, found.facts

    def _note(
        self,
        each: EventStatement,
        arm: Plain | Since | Until | Replace,
        instance: EventInstance,
        bound: Solution,
        replaced: tuple[Fact, ...],
        ends: dict[int, tuple[int, EventInstance, Fact]],
        starts: list[tuple[int, EventInstance, Solution]],
        made: list[tuple[int, EventInstance, Solution]],
    ) -> None:
        """What an instance asks for; nothing is done before all are known."""
        statement = each.statement
        if isinstance(statement, ConstructStatement):
            self.latest = each.number
        match arm:
            case Since():
                starts.append((each.number, instance, bound))
            case Replace():
                starts.append((each.number, instance, bound))
                for fact in replaced:
                    ends.setdefault(fact.number, (each.number, instance, fact))
            case Until():
                assert isinstance(statement, ConstructStatement)
                for triple in head_triples(statement.head, bound, self.facts.context):
                    read = [fact for fact in instance.read if fact.triple == triple]
                    for fact in read or self.store.open.get(triple, []):
                        if fact.end is None:
                            ends.setdefault(fact.number, (each.number, instance, fact))
            case Plain() if isinstance(statement, SelectStatement):
                self._select(each.number, statement, instance.start, instance.end, bound, instance.refs)
            case Plain():
                made.append((each.number, instance, bound))

    def _construct(self, made: Iterable[tuple[int, EventInstance, Solution]], now: int) -> None:
        """Constructed events, each triple a step of its own (TEF-51, TEF-52)."""
        for number, instance, bound in sorted(made, key=lambda item: (item[0], item[1].start, item[1].keys)):
            statement = self.file.statements[number - 1]
            assert isinstance(statement, ConstructStatement)
            triples = tuple(dict.fromkeys(head_triples(statement.head, bound, self.facts.context)))
            if triples:
                self.emitted.append(EmittedEvent(number, instance.start, now, triples, instance.refs))
            for triple in triples:
                self.keys += 1
                self.queue.append(TripleHand(self.keys, triple, instance.start, now, instance.refs))

    # ONSTART and SELECT over facts

    def _starts(self, now: int) -> None:
        """ONSTART for the facts that began at a time and still hold, in order of creation, each judged at its turn
        (TEF-22); facts that begin meanwhile have their turn too."""
        if not self.has_starts:
            return
        done: set[object] = set()
        while (turn := self._next_turn(now, done)) is not None:
            identity, hand = turn
            done.add(identity)
            self.keys += 1
            self._step_more(hand._replace(key=self.keys), now)
            self._drain(now)

    def _next_turn(self, now: int, done: set[object]) -> tuple[object, FactHand | InstanceHand] | None:
        found: list[tuple[tuple[object, ...], object, FactHand | InstanceHand]] = [
            ((fact.number, 0), fact.number, FactHand(0, fact, True, now))
            for fact in self.store.holding()
            if fact.start == now
            and fact.number not in done
            and (self.starts_of is None or fact.triple.predicate in self.starts_of)
        ]
        for identity, (order, pattern, each) in self.begun.items():
            turn_of = (identity, order)  # one that ended and began again at this instant has another turn
            if turn_of not in done:
                found.append((order, turn_of, InstanceHand(0, pattern, each, True, now)))
        if not found:
            return None
        _, first, turn = min(found, key=lambda each: each[0])
        return first, turn

    def _select_facts(self, now: int) -> None:
        """Rows of SELECTs over facts that began at a time and still hold (TEF-72)."""
        for each in self.selects:
            found: dict[object, tuple[tuple[object, ...], Solution]] = {}
            for place, pattern in enumerate(each.patterns):
                for one in self._open_instances(pattern, now):
                    if (self.facts.first if one.start == ALWAYS else one.start) == now:  # static triples: TEF-45
                        bound = {name: term for name, term in one.bound.items() if name in each.common}
                        arms = (place, *one.arms)
                        found.setdefault((arms, frozenset(bound.items())), ((_shown(bound), arms), bound))
            once = each.statement.once_per
            for _, bound in sorted(found.values(), key=lambda row: row[0]):
                if once is None or self._is_first(each.number, once, bound):
                    self._select(each.number, each.statement, now, now, bound, ())

    def _select(
        self, number: int, statement: SelectStatement, start: int, end: int, bound: Solution, refs: tuple[int, ...]
    ) -> None:
        row = {name: bound[name] for name in statement.variables if name in bound}
        if statement.distinct:
            interval = (time_literal(start, self.facts.domain), time_literal(end, self.facts.domain))
            key = (*interval, *(row.get(name) for name in statement.variables))
            known = self.seen.setdefault(number, set())
            if key in known:
                return
            known.add(key)
        query = sum(isinstance(each, SelectStatement) for each in self.file.statements[:number])
        self.emitted.append(EmittedRow(query, self.facts.now, start, end, row, refs))

    # Time-driven steps (TEF-64)

    def _next_timer(self, now: int) -> int | None:
        self.facts.due = set()
        for pattern in self.timed_patterns:
            for _ in self.facts.facts(pattern, {}, ended=False):
                pass
        return min(self.facts.due, default=None)

    def finish(self) -> None:
        """The end of input: facts that still hold (TEF-74)."""
        for fact in sorted(self.store.holding(), key=lambda each: (each.start, each.number)):
            self.emitted.append(EmittedFact(self.facts.now, fact.start, None, fact.triple, fact.number))


def _end_order(item: tuple[int, EventInstance, Fact]) -> tuple[int, int, tuple[int, ...], str]:
    statement, instance, fact = item
    return statement, instance.start, instance.keys, str(fact.triple)


def _identity(instance: FactInstance) -> object:
    """A mapping and a start (TEF-50); the ends of open facts are not bound."""
    return frozenset(instance.bound.items()), instance.start


def _shown(bound: Solution) -> list[tuple[object, ...]]:
    """By which mappings are ordered: the variables' names, then their terms; what was written `?_` comes last."""
    return sorted((is_fresh(name), name.name, order_key(term), tie_key(term)) for name, term in bound.items())
