"""The step, and the instant (TEF-17 to TEF-27): one event in hand at a time."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from thence.algebra.expressions import Variable
from thence.algebra.tef_sparql import (
    Absent,
    ConstructStatement,
    Kind,
    OncePer,
    OnEnd,
    OnInit,
    OnStart,
    Plain,
    Replace,
    SelectStatement,
    Since,
    TefFile,
    TefPattern,
    TefStatement,
    Test,
    Until,
)
from thence.algebra.tef_variables import bound as bound_variables
from thence.algebra.traversal import nodes
from thence.errors import LimitError
from thence.kernel.facts.event_network import (
    EventInstance,
    EventNode,
    FactHand,
    Hand,
    InstanceHand,
    PairNode,
    Stored,
    TripleHand,
    WithoutEventsNode,
    event_node,
    is_met,
    is_simple,
    settled,
)
from thence.kernel.facts.fact_patterns import FactEvaluation, FactInstance, true_when
from thence.kernel.facts.fact_store import Fact, FactStore
from thence.kernel.facts.views import View, Views, head_triples
from thence.match.context import Solution
from thence.match.expression_evaluator import attempt, passes
from thence.program.facts.kinds import Kinds, now_comparison
from thence.program.facts.strata import view_strata
from thence.rdf.comparison import order_key, tie_key
from thence.rdf.terms import Term, Triple
from thence.rdf.times import time_literal


class ArmNode(NamedTuple):
    """An arm over events: its node."""

    arm: Plain | Since | Until | Replace
    node: EventNode


@dataclass(slots=True)
class EventStatement:
    """A statement, as far as events complete its arms."""

    number: int  # from 1, of all statements
    statement: TefStatement
    arms: tuple[ArmNode, ...]


@dataclass(slots=True)
class FactSelect:
    """A SELECT over facts: the arms' patterns (TEF-72), and the variables that all of them bind (TEF-69)."""

    number: int
    statement: SelectStatement
    patterns: tuple[TefPattern, ...]
    common: frozenset[Variable]


class EmittedRow(NamedTuple):
    """A row of a SELECT: `query` numbers the SELECTs from 1."""

    query: int
    certain: int
    start: int
    end: int
    bound: Solution
    refs: tuple[int, ...]


class EmittedEvent(NamedTuple):
    """A constructed event."""

    statement: int
    start: int
    end: int
    triples: tuple[Triple, ...]
    refs: tuple[int, ...]


class EmittedFact(NamedTuple):
    """A fact that ended."""

    certain: int
    start: int
    end: int | None
    triple: Triple
    number: int


Emitted: TypeAlias = EmittedRow | EmittedEvent | EmittedFact


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
    timers: tuple[Test, ...]
    absent_events: dict[TefPattern, tuple[EventNode, Stored]]  # right of `F WITHOUT E`
    max_steps: int = 10_000
    owns: Callable[[Triple], bool] = lambda _: True  # whether a fact belongs to this shard
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
    begun: dict[object, tuple[tuple[object, ...], TefPattern, FactInstance]] = field(default_factory=dict)
    """Unnamed views of ONSTART that began at this instant, each with its place in the order of creation."""
    steps: int = 0  # of this instant
    held: dict[TefPattern, dict[object, FactInstance]] = field(default_factory=dict)  # unnamed views of ONEND

    @property
    def store(self) -> FactStore:
        return self.facts.store

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
        steps = self.steps = 0
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
                    f"There were more than {self.max_steps:,} time-driven steps without an event. "
                    "Try: a condition on now() that ends, or a larger max_steps"
                )
            self._step(None, now)
            steps = self._drain(now, steps)
        for triple, start, ref in triples:
            self.keys += 1
            self._step(TripleHand(self.keys, triple, start, now, (ref,)), now)
            steps = self._drain(now, steps)
        steps = self._starts(now, steps)
        self._select_facts(now)
        self.timer = self._next_timer(now)

    def _drain(self, now: int, steps: int) -> int:
        """All queued steps, first in first out."""
        while self.queue:
            steps += 1
            if steps > self.max_steps:
                raise LimitError(
                    f"There were more than {self.max_steps:,} steps at {now}; statement {self._busiest()} is among "
                    "those that feed each other. Try: a condition that ends, or a larger max_steps"
                )
            self._step(self.queue.popleft(), now)
        return steps

    def _busiest(self) -> int:
        hand = self.queue[0] if self.queue else None
        return hand.fact.statement if isinstance(hand, FactHand) else self.events[0].number if self.events else 1

    def _begin(self, now: int) -> None:
        """ON INIT, before the first event (TEF-44, TEF-45)."""
        self.is_begun = True
        self.facts.first = now
        for number, statement in enumerate(self.file.statements, 1):
            if isinstance(statement, ConstructStatement):
                for arm in statement.arms:
                    if isinstance(arm, OnInit):
                        for found in sorted(self.facts.facts(arm.pattern, {}), key=lambda each: _shown(each.bound)):
                            once = statement.once_per
                            if once is not None and not self._is_first(number, once, found.bound):
                                continue
                            for triple in head_triples(statement.head, found.bound, self.facts.context):
                                if self.owns(triple):
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
        for each in self.facts.facts(pattern, {}):
            same = all(each.bound.get(name) == term for name, term in instance.bound.items())
            if same and each.start == instance.start and each.end == now:
                return each
        return instance._replace(end=now)

    def _end_fact(self, fact: Fact, now: int) -> None:
        self.emitted.append(EmittedFact(now, fact.start, now, fact.triple, fact.number))
        self.keys += 1
        self.queue.append(FactHand(self.keys, fact, False, now))

    def _open_instances(self, pattern: TefPattern, now: int) -> list[FactInstance]:
        return [each for each in self.facts.facts(pattern, {}) if each.holds_at(now)]

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
            if not instance.pending and not instance.blocked:
                yield instance.bound, ()
            return
        for found in list(self.facts.facts(arm.facts, instance.bound, ended=False)):
            whole = settled(instance._replace(bound=found.bound), self.facts)
            if whole is None or whole.pending or whole.blocked:
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

    def _starts(self, now: int, steps: int) -> int:
        """ONSTART for the facts that began at a time and still hold, in order of creation, each judged at its turn
        (TEF-22); facts that begin meanwhile have their turn too."""
        if not self.has_starts:
            return steps
        done: set[object] = set()
        while (turn := self._next_turn(now, done)) is not None:
            identity, hand = turn
            done.add(identity)
            self.keys += 1
            self._step(hand._replace(key=self.keys), now)
            steps = self._drain(now, steps)
        return steps

    def _next_turn(self, now: int, done: set[object]) -> tuple[object, FactHand | InstanceHand] | None:
        found: list[tuple[tuple[object, ...], object, FactHand | InstanceHand]] = [
            ((fact.number, 0), fact.number, FactHand(0, fact, True, now))
            for fact in self.store.holding()
            if fact.start == now and fact.number not in done
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
            for pattern in each.patterns:
                found = [one for one in self._open_instances(pattern, now) if one.start == now]
                seen = set()
                for instance in sorted(found, key=lambda one: _shown(one.bound)):
                    bound = {name: term for name, term in instance.bound.items() if name in each.common}
                    identity = frozenset(bound.items())
                    if identity in seen:
                        continue
                    seen.add(identity)
                    once = each.statement.once_per
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
        query = self.file.selects.index(statement) + 1
        self.emitted.append(EmittedRow(query, self.facts.now, start, end, row, refs))

    # Time-driven steps (TEF-64)

    def _next_timer(self, now: int) -> int | None:
        found = []
        for test in self.timers:
            clock = now_comparison(test.condition)
            assert clock is not None
            for instance in self.facts.facts(test.pattern, {}, ended=False):
                limit = self.facts.instant(clock[1], instance.bound)
                if limit is not None:
                    for low, high in true_when(clock[0], limit):
                        found += [time for time in (low, high) if time is not None and time > now]
        return min(found) if found else None

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
    """By which mappings are ordered: the variables' names, then their terms."""
    return [
        (name.name, order_key(term), tie_key(term))
        for name, term in sorted(bound.items(), key=lambda item: item[0].name)
    ]


# From the algebra


def machine(file: TefFile, kinds: Kinds, facts: FactEvaluation) -> Machine:
    """A file ready to run, before any event."""
    events, views, selects = [], [], []
    for number, statement in enumerate(file.statements, 1):
        arms = tuple(
            ArmNode(arm, event_node(_pattern(arm), kinds, _left_of(arm)))
            for arm in statement.arms
            if not isinstance(arm, OnInit) and not _is_fact_arm(arm, kinds.statements[number - 1])
        )
        if arms:
            events.append(EventStatement(number, statement, arms))
        own = kinds.statements[number - 1]
        patterns = tuple(arm.pattern for arm in statement.arms if isinstance(arm, Plain) and _is_fact_arm(arm, own))
        if patterns and isinstance(statement, SelectStatement):
            common = frozenset.intersection(*map(bound_variables, patterns))
            selects.append(FactSelect(number, statement, patterns, common))
        elif patterns and isinstance(statement, ConstructStatement):
            views.append(View(number, statement, patterns))
    turns = [node for node in nodes(file.statements) if isinstance(node, OnStart | OnEnd)]
    composite = [each for each in turns if not is_simple(each.facts)]
    timers = [
        node
        for node in nodes(file.statements)
        if isinstance(node, Test)
        and now_comparison(node.condition) is not None
        and kinds.of_pattern(node.pattern) is not Kind.EVENT
    ]
    made = Machine(
        file=file,
        kinds=kinds,
        facts=facts,
        events=tuple(events),
        views=Views(view_strata(tuple(views), kinds)),
        selects=tuple(selects),
        start_patterns=tuple(dict.fromkeys(each.facts for each in composite if isinstance(each, OnStart))),
        end_patterns=tuple(dict.fromkeys(each.facts for each in composite if isinstance(each, OnEnd))),
        timers=tuple(timers),
        absent_events=_absent_events(file, kinds),
        has_starts=any(isinstance(each, OnStart) for each in turns),
    )
    facts.event_times = lambda pattern, bound: _event_times(made, pattern, bound)
    return made


def _left_of(arm: object) -> frozenset[Variable]:
    """What is bound to the left of an arm's event pattern: the variables of REPLACE's F (TEF-58)."""
    return bound_variables(arm.facts) if isinstance(arm, Replace) else frozenset()


def _pattern(arm: Plain | Since | Until | Replace) -> TefPattern:
    return arm.pattern if isinstance(arm, Plain) else arm.events


def _is_fact_arm(arm: object, kind: Kind) -> bool:
    return isinstance(arm, Plain) and kind is not Kind.EVENT


def _absent_events(file: TefFile, kinds: Kinds) -> dict[TefPattern, tuple[EventNode, Stored]]:
    found = {}
    for node in nodes(file.statements):
        over_facts = isinstance(node, Absent) and kinds.of_pattern(node.left, Kind.FACT) is not Kind.EVENT
        if isinstance(node, Absent) and over_facts and kinds.of_pattern(node.right) is Kind.EVENT:
            found[node.right] = (event_node(node.right, kinds), Stored(()))
    return found


def _event_times(machine: Machine, pattern: TefPattern, bound: Solution) -> list[int]:
    _, stored = machine.absent_events[pattern]
    return [each.end for each in stored.all() if is_met(each, bound, machine.facts)]


def all_stores(machine: Machine) -> Iterator[Stored]:
    """Everything that event patterns store, in one order."""
    waiting: list[EventNode] = [arm.node for each in machine.events for arm in each.arms]
    waiting += [node for node, _ in machine.absent_events.values()]
    while waiting:
        node = waiting.pop()
        if isinstance(node, PairNode):
            yield from (node.lefts, node.rights)
        if isinstance(node, WithoutEventsNode):
            yield node.seen
        waiting.extend(node.nodes())
    yield from (stored for _, stored in machine.absent_events.values())
