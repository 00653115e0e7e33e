"""How a TEF-SPARQL program runs: instants, and the steps of each, with their instances (TEF-17 to TEF-27)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from oracle.event_order import Ordinal
from oracle.tef_sparql_expressions import term, value
from oracle.tef_sparql_instances import Change, Instance, mapping_rank, once_each
from oracle.tef_sparql_instances import triple_rank as triple_rank
from oracle.tef_sparql_kinds import arms, construct_kind, is_made, kind_of, kinds
from oracle.tef_sparql_names import unambiguous
from oracle.tef_sparql_patterns import (
    Bindings,
    Edge,
    Fact,
    FactKey,
    Held,
    Match,
    Moment,
    Patterns,
    Piece,
    Turn,
    instances,
    is_simple,
    split,
)
from oracle.tef_sparql_query import (
    Construct,
    Kind,
    OnEnd,
    OnInit,
    OnStart,
    Pattern,
    Program,
    Replace,
    Select,
    Since,
    Timed,
    TriplePattern,
    Until,
    bound,
    edges,
)
from oracle.tef_sparql_views import current, derived_facts, head_triples, strata
from oracle.terms import Blank, Graph, Iri, Term, Triple, Var, integer


class GivenEvent(NamedTuple):
    """An input event. `stream` is one of the program's FROM STREAMs, if it has any."""

    id: str
    start: int
    end: int
    triples: tuple[Triple, ...]
    stream: str | None = None
    order: tuple[Ordinal, ...] = ()  # the values of the option `order`


Row: TypeAlias = tuple[int, int, int, tuple[tuple[str, Term], ...], frozenset[str] | None]
"""The number of the SELECT from 1, start, end, bindings by name, and the ids of the input events of the match. These
are None where a match has other events than input events, or facts alone: the rules don't say which are theirs
(TEF-75)."""

Constructed: TypeAlias = tuple[int, int, int, Graph, frozenset[str] | None]
"""The number of the CONSTRUCT from 1, start, end, triples, and input events as in `Row` (TEF-51, TEF-52)."""

FactRow: TypeAlias = tuple[int, int | None, Triple]
"""Start, end (None: open), triple (TEF-74)."""


class TooManySteps(ValueError):
    """More steps at one time, more time-driven steps without an event (TEF-27), or more facts, than the limit."""


# The run


@dataclass
class MadeFact:
    """A fact from SINCE, REPLACE or ON INIT. `serial`: the order of creation."""

    triple: Triple
    start: int
    serial: int
    end: int | None = None

    @property
    def fact(self) -> Fact:
        return Fact(self.triple, self.start, self.end)


@dataclass(frozen=True)
class Queued:
    """A step that waits: a triple of a constructed event, or an ONEND."""

    what: Triple | Edge
    start: int


Origin: TypeAlias = tuple[Pattern, frozenset[tuple[str, Term]], int, tuple[int, ...]]
"""What an unnamed view is derived from: its pattern, mapping, start and arms, whatever interrupts it."""

ViewKey: TypeAlias = tuple[Pattern, frozenset[tuple[str, Term]], int]
"""A fact of an unnamed view: its pattern, mapping and start (TEF-50)."""


@dataclass
class Views:
    """The views as they stand: the facts of named ones, and the instances of unnamed ones."""

    facts: tuple[Fact, ...] = ()
    unnamed: dict[Pattern, list[Held]] = field(default_factory=dict)

    def open_keys(self) -> set[FactKey]:
        return {fact.key for fact in self.facts if fact.end is None}

    def open_unnamed(self, patterns: Iterable[Pattern]) -> set[ViewKey]:
        return {key for key, held in self.keyed(patterns) if held.end is None}

    def keyed(self, patterns: Iterable[Pattern]) -> Iterator[tuple[ViewKey, Held]]:
        for pattern in patterns:
            several = self.unnamed.get(pattern, ())
            for held in several:
                assert held.start is not None
                yield (pattern, variables_of(pattern, held.mapping), held.start), held


def variables_of(pattern: Pattern, mapping: Bindings) -> frozenset[tuple[str, Term]]:
    """The mapping over the variables of a pattern, without those that a UNION drops."""
    names = bound(pattern)
    return frozenset((name, found) for name, found in mapping.items() if name in names)


class Run:
    """A run of a program over events and background."""

    def __init__(
        self, program: Program, events: Iterable[GivenEvent], background: Iterable[Triple], limit: int
    ) -> None:
        program, static = unambiguous(program), tuple(background)
        self.kinds = kinds(program, static)
        self.streams = program.streams
        self.events = self.in_order(events)
        self.limit = limit
        self.statements = [each for each in program.statements if isinstance(each, Construct | Select)]
        self.program = program
        self.patterns = Patterns(self.kinds, static, min((event.end for event in self.events), default=0))
        self.strata = strata(program, self.kinds)
        composite = [edge.fact for edge in edges(program) if not is_simple(edge.fact)]
        self.composite: list[Pattern] = list(dict.fromkeys(composite))
        self.places = {  # the numbers of SELECTs among SELECTs, of CONSTRUCTs among CONSTRUCTs
            number: sum(type(other) is type(each) for other in self.statements[: number + 1])
            for number, each in enumerate(self.statements)
        }
        selected = [each.where for each in program.selects if self.is_fact(each) and not is_simple(each.where)]
        self.selected: list[Pattern] = list(dict.fromkeys(selected))
        self.now = self.patterns.first
        self.serial = 0
        self.steps = 0
        self.made: list[MadeFact] = []
        self.views = Views()
        self.breaks: set[tuple[Triple, int]] = set()
        self.interruptions: dict[Origin, set[int]] = {}
        self.parts: set[tuple[Origin, int]] = set()
        self.serials: dict[FactKey | ViewKey, int] = {}
        self.queue: list[Queued] = []
        self.seen: dict[int, set[tuple[object, ...]]] = {number: set() for number in range(len(self.statements))}
        self.rows: list[Row] = []
        self.constructed: list[Constructed] = []

    def in_order(self, events: Iterable[GivenEvent]) -> list[GivenEvent]:
        """TEF-19, without bad events (TEF-10)."""
        good = [e for e in events if not any(self.kinds.get(p) is Kind.FACT for _, p, _ in e.triples)]
        place = {stream: number for number, stream in enumerate(self.streams)}
        return sorted(good, key=lambda event: (event.end, event.order, place.get(event.stream or "", 0)))

    def is_fact(self, statement: Select | Construct) -> bool:
        if isinstance(statement, Construct):
            return construct_kind(statement, self.kinds) is Kind.FACT
        return kind_of(statement.where, self.kinds) is not Kind.EVENT

    @property
    def facts(self) -> tuple[Fact, ...]:
        return (*(made.fact for made in self.made), *self.views.facts)

    def moment(self) -> Moment:
        return Moment(self.facts, self.now, len(self.patterns.turns))

    # Instants (TEF-22)

    def run(self, until: int | None) -> Run:
        waiting, alone = list(self.events), 0
        while waiting or self.patterns.due:
            times = [*self.patterns.due, *(event.end for event in waiting[:1])]
            if until is not None and min(times) >= until:
                break
            if len(waiting) == len(self.events):
                self.initialise()
            self.now, self.steps = min(times), 0
            if self.now in self.patterns.due:
                alone += 1
                self.time_driven()
            while waiting and waiting[0].end == self.now:
                self.take(waiting.pop(0))
                alone = 0
            self.on_starts()
            self.select_facts()
            if alone > self.limit:
                raise TooManySteps
        return self

    def initialise(self) -> None:
        """ON INIT, over the background, before the first event (TEF-44, TEF-45)."""
        for number, statement in enumerate(self.statements):
            if isinstance(statement, Construct) and self.is_fact(statement):
                found = []
                for place, arm in enumerate(arms(statement.where)):
                    if isinstance(arm, OnInit):
                        for held in self.patterns.held(arm.fact, {}, frozenset(), self.moment()):
                            found.append(Instance(arm, self.now, (), held.mapping, (place, *held.arms)))
                for instance in self.first_ones(number, once_each(found)):
                    self.begin(head_triples(statement.head, instance.mapping, self.now))
        self.recompute()

    def time_driven(self) -> None:
        """TEF-64."""
        self.count()
        self.queue += self.recompute()
        self.drain()

    def take(self, event: GivenEvent) -> None:
        """The triples of an event one at a time; static ones are ignored (TEF-10, TEF-18)."""
        for triple in event.triples:
            if self.kinds.get(triple[1], Kind.EVENT) is Kind.EVENT:
                self.step(local(triple, event.id), event.start, event.id)
                self.drain()

    def drain(self) -> None:
        while self.queue:
            queued = self.queue.pop(0)
            self.step(queued.what, queued.start, None)

    def on_starts(self) -> None:
        """ONSTART for the facts that began now and still hold, in order of creation, each judged at its turn."""
        done: set[Edge] = set()  # once for each (triple, start), whatever is created again (TEF-26)
        while begun := [(serial, edge) for serial, edge in self.begun() if edge not in done]:
            _, edge = min(begun, key=lambda each: each[0])
            done.add(edge)
            if self.matters(edge):
                self.step(edge, self.now, None)
                self.drain()

    def begun(self) -> Iterator[tuple[int, Edge]]:
        for made in self.made:
            if made.start == self.now and made.end is None:
                yield made.serial, Edge(OnStart, made.fact)
        for fact in self.views.facts:
            if fact.start == self.now and fact.end is None:
                yield self.serials[fact.key], Edge(OnStart, fact)
        for key in self.views.open_unnamed(self.composite):
            if key[2] == self.now:
                yield self.serials[key], Edge(OnStart, view=key[0], mapping=key[1])

    def matters(self, edge: Edge) -> bool:
        """Does a pattern ask for it?"""
        for node in edges(self.program):
            if type(node) is not edge.of:
                continue
            simple = node.fact.pattern if isinstance(node.fact, Timed) else node.fact
            if edge.fact is not None and isinstance(simple, TriplePattern):
                if any(True for _ in instances(simple, [edge.fact.triple], {})):
                    return True
            elif edge.view == node.fact:
                return True
        return False

    def select_facts(self) -> None:
        """The rows of SELECTs over facts that began now and hold: one for each arm of a UNION, and each mapping with
        all variables of the arm (TEF-50, TEF-72)."""
        for number, statement in enumerate(self.statements):
            if isinstance(statement, Select) and self.is_fact(statement):
                found = []
                for held in self.selectable(statement.where):
                    if held.start == self.now and held.end is None:
                        found.append(Instance(statement.where, self.now, (), held.mapping, held.arms))
                self.emit(number, statement, self.first_ones(number, once_each(found)))

    def selectable(self, where: Pattern) -> Iterable[Held]:
        """Of a composite F, its unnamed view."""
        return current(self.patterns, where, self.moment()) if is_simple(where) else self.views.unnamed[where]

    # The step (TEF-21)

    def count(self) -> None:
        self.steps += 1
        if self.steps > self.limit:
            raise TooManySteps

    def step(self, what: Triple | Edge, start: int, source: str | None) -> None:
        self.count()
        self.patterns.turns.append(Turn(what, start, self.now, self.moment(), source))
        changes: list[Change] = []
        events: list[Queued] = []
        for number, statement in enumerate(self.statements):
            completed = once_each(self.completed(statement))
            if isinstance(statement, Construct) and self.is_fact(statement):
                admitted = self.admitted(number, completed)
                changes += (Change(number, statement, instance, is_first) for instance, is_first in admitted)
                continue
            found = self.first_ones(number, completed)
            if isinstance(statement, Select):
                self.emit(number, statement, found)
            else:
                for instance in found:
                    events += self.construct(number, statement, instance)
        ended = self.apply(changes)
        gone = self.recompute()
        self.queue += [*events, *(Queued(edge, self.now) for edge in ended if self.matters(edge)), *gone]

    def completed(self, statement: Select | Construct) -> Iterator[Instance]:
        """What the current event, the last turn, completes. The premises are the facts before the step."""
        if self.is_fact(statement) and not (isinstance(statement, Construct) and is_made(statement)):
            return
        parts = arms(statement.where) if self.is_fact(statement) else [statement.where]
        for place, arm in enumerate(parts):
            for match, ends in self.completed_arm(arm):
                assert match.start is not None and match.end is not None
                if statement.within is None or match.end - match.start <= statement.within:  # TEF-76
                    places = (place, *match.arms)
                    yield Instance(arm, match.start, match.turns, match.mapping, places, ends, match.read)

    def completed_arm(self, arm: Pattern) -> Iterator[tuple[Match, frozenset[FactKey]]]:
        match arm:
            case OnInit():
                return
            case Replace(fact, event):
                yield from self.replaced(fact, event)
            case _:
                event = arm.event if isinstance(arm, Since | Until) else arm
                yield from ((match, frozenset()) for match in self.new(event, {}, frozenset()))

    def new(self, event: Pattern, env: Bindings, scope: frozenset[str]) -> Iterator[Match]:
        last = len(self.patterns.turns) - 1
        return (match for match in self.patterns.events(event, env, scope, last + 1) if last in match.turns)

    def replaced(self, fact: Pattern, event: Pattern) -> Iterator[tuple[Match, frozenset[FactKey]]]:
        """REPLACE matches open facts only (TEF-42). ON sees their variables (TEF-58)."""
        for held in self.patterns.held(fact, {}, frozenset(), self.patterns.turns[-1].before):
            if held.end is None:
                for match in self.new(event, held.mapping, bound(fact)):
                    yield match, held.used

    def first_ones(self, number: int, found: Iterable[Instance]) -> list[Instance]:
        """Those that ONCE PER keeps (TEF-73)."""
        return [instance for instance, is_first in self.admitted(number, found) if is_first]

    def admitted(self, number: int, found: Iterable[Instance]) -> list[tuple[Instance, bool]]:
        """Those that ONCE PER does not drop because of an earlier step, and whether each is the first of its values
        (TEF-42, TEF-73). An error in its expression drops the instance (TEF-59)."""
        once = self.statements[number].once
        if once is None:
            return [(instance, True) for instance in found]
        kept, new = [], set()
        for instance in found:
            values = [instance.mapping.get(name) for name in once.names]
            values += [term(value(each, instance.mapping, self.now)) for each in once.expressions]
            if None not in values and tuple(values) not in self.seen[number]:
                kept.append((instance, tuple(values) not in new))
                new.add(tuple(values))
        self.seen[number] |= new
        return kept

    def emit(self, number: int, select: Select, found: Iterable[Instance]) -> None:
        """The rows of a SELECT; of DISTINCT those that differ in values or interval (Section 5.3)."""
        for instance in found:
            mapping = instance.mapping
            bindings = tuple((name, mapping[name]) for name in sorted(select.names) if name in mapping)
            if select.distinct:
                key = ("distinct", instance.start, self.now, bindings)
                if key in self.seen[number]:
                    continue
                self.seen[number].add(key)
            self.rows.append((self.places[number], instance.start, self.now, bindings, self.inputs(instance)))

    def inputs(self, instance: Instance) -> frozenset[str] | None:
        ids = [self.patterns.turns[turn].input for turn in instance.turns]
        return None if None in ids or not ids else frozenset(each for each in ids if each is not None)

    def construct(self, number: int, statement: Construct, instance: Instance) -> list[Queued]:
        """One event for each row, its triples one at a time (TEF-51, TEF-52)."""
        triples = head_triples(statement.head, instance.mapping, self.now)
        if triples:
            place = self.places[number]
            self.constructed.append((place, instance.start, self.now, frozenset(triples), self.inputs(instance)))
        return [Queued(triple, instance.start) for triple in triples]

    def apply(self, changes: list[Change]) -> list[Edge]:
        """All instances, ends before starts (TEF-40 to TEF-43); those that ONCE PER drops end facts, and start none.
        The ONENDs, in order: by statement, start, positions and triple."""
        by_key = {(made.triple, made.start): made for made in self.made}
        ended: dict[FactKey, tuple[object, ...]] = {}
        for number, statement, instance, _ in changes:
            for key in self.targets(statement, instance):
                order = (number, instance.start, instance.turns, triple_rank(key[0]), key[1])
                ended[key] = min(ended.get(key, order), order)
        for key in ended:
            by_key[key].end = self.now
        self.made = [made for made in self.made if made.start != made.end]  # it never held
        for _, statement, instance, is_first in changes:
            if is_first and not isinstance(instance.arm, Until):
                self.begin(head_triples(statement.head, instance.mapping, self.now))
        keys = sorted((key for key in ended if key[1] < self.now), key=lambda key: ended[key])
        return [Edge(OnEnd, by_key[key].fact) for key in keys]

    def targets(self, statement: Construct, instance: Instance) -> set[FactKey]:
        """The open facts that an instance ends."""
        is_open = {(made.triple, made.start) for made in self.made if made.end is None}
        if not isinstance(instance.arm, Until):
            return is_open & instance.ends
        found = set()
        for triple in head_triples(statement.head, instance.mapping, self.now):
            read = {key for key in instance.read if key[0] == triple}
            found |= is_open & read if read else {key for key in is_open if key[0] == triple}  # TEF-41
        return found

    def begin(self, triples: Iterable[Triple]) -> None:
        """Facts that start now; a second one of the same triple is the same fact (TEF-40)."""
        for triple in triples:
            if not any(made.triple == triple and made.start == self.now for made in self.made):
                self.made.append(MadeFact(triple, self.now, self.next_serial()))
                if len(self.made) > self.limit:  # not by the rules: brute force does not come to an end with more
                    raise TooManySteps

    def next_serial(self) -> int:
        self.serial += 1
        return self.serial

    # Views

    def recompute(self) -> list[Queued]:
        """The views, and their ONENDs: named views, then unnamed ones, by pattern, start, triple or mapping."""
        before, self.patterns.due = self.views, set()
        moment = Moment(tuple(made.fact for made in self.made), self.now, len(self.patterns.turns))
        self.views = Views(derived_facts(self.patterns, self.strata, moment, self.breaks))
        self.breaks |= {(triple, self.now) for triple, _ in before.open_keys() - self.views.open_keys()}
        whole = replace(moment, facts=self.facts)
        earlier, self.parts = self.parts, set()
        for pattern in dict.fromkeys((*self.composite, *self.selected)):
            self.views.unnamed[pattern] = list(self.unnamed(pattern, whole))
        for origin, _ in earlier - self.parts:
            self.interruptions.setdefault(origin, set()).add(self.now)
        for pattern in self.selected:  # it is due when a SELECT's comparison with now() is
            list(current(self.patterns, pattern, whole))
        ended = [*self.ended_facts(before), *self.ended_unnamed(before)]
        self.number_begun()
        return [Queued(edge, self.now) for edge in ended if self.matters(edge)]

    def unnamed(self, pattern: Pattern, moment: Moment) -> Iterator[Held]:
        """An unnamed view (TEF-50). It starts anew where it was not true for a step (TEF-49); `[?s, ?e]` around it has
        the times that it has then."""
        inner = pattern.pattern if isinstance(pattern, Timed) else pattern
        for held in current(self.patterns, inner, moment):
            assert held.start is not None
            origin = (pattern, frozenset(held.mapping.items()), held.start, held.arms)
            pieces: list[Piece] = [(held.start, held.end)]
            for time in sorted(self.interruptions.get(origin, ())):
                pieces = [part for piece in pieces for part in split(piece, time)]
            for start, end in pieces:
                if end is None:
                    self.parts.add((origin, start))
                part = replace(held, start=start, end=end)
                if isinstance(pattern, Timed):
                    yield from self.patterns.held_timed(part, pattern.start, pattern.end, replace(moment, current=True))
                else:
                    yield part

    def ended_facts(self, before: Views) -> Iterator[Edge]:
        gone = before.open_keys() - self.views.open_keys()
        for fact in self.by_statement(self.views.facts):
            if fact.key in gone and fact.end is not None:
                yield Edge(OnEnd, fact)

    def by_statement(self, facts: Iterable[Fact]) -> list[Fact]:
        """Facts of named views by the first statement of their predicate, then start and triple."""
        predicates = [triple.predicate for each in self.program.constructs for triple in each.head]
        return sorted(facts, key=lambda fact: (self.place(predicates, fact), fact.start, triple_rank(fact.triple)))

    def place(self, predicates: list[Var | Iri], fact: Fact) -> int:
        return next(number for number, predicate in enumerate(predicates) if predicate == fact.triple[1])

    def ended_unnamed(self, before: Views) -> Iterator[Edge]:
        gone = before.open_unnamed(self.composite) - self.views.open_unnamed(self.composite)
        late = {key: held.late for key, held in self.views.keyed(self.composite) if held.end == self.now}
        for key in sorted(gone & late.keys(), key=self.view_order):
            pattern, mapping, _ = key
            yield Edge(OnEnd, view=pattern, mapping=mapping | {(name, integer(end)) for name, end in late[key]})

    def view_order(self, key: ViewKey) -> tuple[object, ...]:
        pattern, mapping, start = key
        return (self.composite.index(pattern), start, mapping_rank(dict(mapping), bound(pattern)))

    def number_begun(self) -> None:
        """The order of creation of the views' facts that began now."""
        named = [f.key for f in self.by_statement(self.views.facts) if f.start == self.now and f.end is None]
        unnamed = sorted(
            (key for key in self.views.open_unnamed(self.composite) if key[2] == self.now), key=self.view_order
        )
        begun: list[FactKey | ViewKey] = [*named, *unnamed]
        self.serials = {key: serial for key, serial in self.serials.items() if key in set(begun)}
        for key in begun:
            if key not in self.serials:
                self.serials[key] = self.next_serial()


def local(triple: Triple, event: str) -> Triple:
    """The triple with blank nodes of its event (C-4, TEF-46)."""
    s, p, o = (Blank(each.label, event) if isinstance(each, Blank) else each for each in triple)
    return (s, p, o)
