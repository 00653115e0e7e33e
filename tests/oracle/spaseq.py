"""SPAseQ by its definitions: Gillani, Zimmermann, Picard, Laforest, "A Query Language for Semantic Complex Event
Processing", Definitions 7 to 16 and Appendix B, corrected. Every set is written out in full.

Two corrections change the shape of all definitions. A run carries one mapping where the paper has sets of them, so that
`σ • Ψ` is defined run by run. And `⋈` reads "compatible, and the filters of what joins hold".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product, takewhile
from typing import TypeAlias, assert_never

from oracle import graphs
from oracle.event_order import Moment
from oracle.expressions import holds
from oracle.graphs import EMPTY, Mappings, compatible, graph_pattern, only, without
from oracle.spaseq_query import (
    Arm,
    Conjunction,
    Disjunction,
    Event,
    Gpm,
    Group,
    Query,
    Selection,
    Step,
    Unary,
    Use,
    Within,
    arms,
    uses,
)
from oracle.terms import Blank, Graph, Term

Background: TypeAlias = Mapping[str | None, Graph]
"""The dataset D. It has a graph for each name. Data under the name None answers for every IRI, if nothing has a name
(SP-55)."""


@dataclass(frozen=True)
class Filled:
    """A place and the event that fills it. `occurrence` counts the GPM names in SEQ from 0, `iteration` from 1."""

    occurrence: int
    iteration: int
    gpm: str
    event: Event


@dataclass(frozen=True)
class Fit:
    """(τ, μ) of a match of a BOp expression, and the events that fill its places. τ is a time, and with the option
    `order` a time and its values."""

    moment: Moment
    mapping: graphs.Mapping
    filled: tuple[Filled, ...]

    @property
    def time(self) -> int:
        return self.moment[0]


@dataclass(frozen=True)
class Iteration:
    """What one iteration of the query's part `part` bound its locals to; only closures have locals."""

    part: int
    locals: graphs.Mapping


@dataclass(frozen=True)
class Run:
    """(τ, μ) of a match of a sequence σ: its events in the order of the pattern, and the iterations of its parts.

    Where two runs differ in an earlier iteration's locals alone, they are still two.
    """

    mapping: graphs.Mapping = EMPTY
    filled: tuple[Filled, ...] = ()
    iterations: tuple[Iteration, ...] = ()

    @property
    def start(self) -> int:
        """Of its first event: shown, and of no account elsewhere."""
        return self.filled[0].event.start

    @property
    def first(self) -> int:
        """The time of its first event."""
        return self.filled[0].event.time

    @property
    def end(self) -> int:
        return self.filled[-1].event.time

    @property
    def moment(self) -> Moment:
        """Of its last event."""
        return self.filled[-1].event.moment


@dataclass(frozen=True)
class Match:
    """A run that the whole query let through, and the time at which nothing can undo it."""

    run: Run
    certain: int

    @property
    def events(self) -> tuple[str, ...]:
        """The ids of the events in the order of the pattern, iterations flat."""
        return tuple(filled.event.id for filled in self.run.filled)

    @property
    def places(self) -> frozenset[tuple[int, int, str]]:
        """What the match is: occurrence, iteration and event of all its places."""
        return frozenset((filled.occurrence, filled.iteration, filled.event.id) for filled in self.run.filled)


class World:
    """A query, the streamset Σ and the dataset D, with ⟦Ψ⟧ and the locals of each part."""

    def __init__(self, query: Query, events: Iterable[Event], background: Background) -> None:
        self.query = query
        self.events = tuple(map(_blank_nodes_apart, events))
        self.background = background
        self.fits: list[frozenset[Fit]] = []
        self.locals: list[frozenset[str]] = []
        for number, part in enumerate(query.parts):
            before = sum(len(uses(earlier.group)) for earlier in query.parts[:number])
            self.fits.append(binary(self, part.group, before))
            self.locals.append(query.locals_of(number))
        self.partitions = {event: _partitions(query, event) for event in self.events} if query.partition else {}


def _blank_nodes_apart(event: Event) -> Event:
    """Blank nodes are local to their event."""

    def own(term: Term) -> Term:
        return Blank(term.label, event.id) if isinstance(term, Blank) else term

    return replace(event, graph=frozenset((own(s), own(p), own(o)) for s, p, o in event.graph))


# Graph pattern matching and binary operators: ⟦Ψ⟧


def gpm_expression(world: World, name: str, occurrence: int) -> frozenset[Fit]:
    """Definition 7. Its filters are left to the join, which knows what else they name."""
    gpm = world.query.gpm(name)
    return frozenset(
        Fit(event.moment, mapping, (Filled(occurrence, 1, name, event),))
        for event in world.events
        if event.stream == gpm.stream
        for mapping in graph_operator(world, gpm, event)
    )


def graph_operator(world: World, gpm: Gpm, event: Event) -> Mappings:
    """Definition 15: ⟦P⟧_G ⋈ ⟦P_D⟧_Γ(iri), once for each block."""
    found = graph_pattern(gpm.triples, event.graph)
    for block in gpm.graphs:
        found = graphs.join(found, graph_pattern(block.triples, gamma(world, block.iri)))
    return found


def gamma(world: World, iri: str) -> Graph:
    """Γ(u). A background without names answers for every IRI; a name that it does not have is an error (SP-55)."""
    return world.background[None] if world.background.keys() == {None} else world.background[iri]


def binary(world: World, group: Group, first: int) -> frozenset[Fit]:
    """⟦Ψ⟧, the names in it numbered from `first`."""
    match group:
        case Use(name):
            return gpm_expression(world, name, first)
        case Conjunction(left, right):
            return conjunction(binary(world, left, first), binary(world, right, first + len(uses(left))))
        case Disjunction(left, right):
            return disjunction(binary(world, left, first), binary(world, right, first + len(uses(left))))
        case _:
            assert_never(group)


def conjunction(left: frozenset[Fit], right: frozenset[Fit]) -> frozenset[Fit]:
    """Definition 8: equal moments, joined mappings. One event may fill both sides."""
    return frozenset(
        Fit(a.moment, a.mapping | b.mapping, a.filled + b.filled)
        for a, b in product(left, right)
        if a.moment == b.moment and compatible(a.mapping, b.mapping)
    )


def disjunction(left: frozenset[Fit], right: frozenset[Fit]) -> frozenset[Fit]:
    """Definition 9: the union."""
    return left | right


# What joins


def joins(world: World, mapping: graphs.Mapping, fit: Fit) -> bool:
    """μ ⋈ μ' ≠ ∅: compatible, and the filters of the GPMs that take part in the fit hold on both together."""
    if not compatible(mapping, fit.mapping):
        return False
    merged = dict(mapping | fit.mapping)
    taking_part = {filled.gpm for filled in fit.filled}
    return all(holds(expression, merged) for name in taking_part for expression in world.query.gpm(name).filters)


def remembered(world: World, run: Run, step: Step) -> graphs.Mapping:
    """What the run brings to the step. A new iteration forgets the old locals; a closure's first has none to forget."""
    return without(run.mapping, world.locals[step.number])


def extended(world: World, run: Run, step: Step, fit: Fit) -> Run:
    """The run with one more iteration of the step: its only one, or a closure's next."""
    iteration = 1 + sum(earlier.part == step.number for earlier in run.iterations)
    return Run(
        remembered(world, run, step) | fit.mapping,
        run.filled + tuple(Filled(place.occurrence, iteration, place.gpm, place.event) for place in fit.filled),
        (*run.iterations, Iteration(step.number, only(fit.mapping, world.locals[step.number]))),
    )


# Event selection: ⟦σ • Ψ⟧ for one run of ⟦σ⟧


def skip_till_any(world: World, run: Run, step: Step) -> frozenset[Run]:
    """Definition 10."""
    return frozenset(
        extended(world, run, step, fit)
        for fit in world.fits[step.number]
        if run.moment < fit.moment and joins(world, remembered(world, run, step), fit)
    )


def skip_till_next(world: World, run: Run, step: Step) -> frozenset[Run]:
    """Definition 11: no match of the whole right operand that joins with this run lies strictly between."""
    following = skip_till_any(world, run, step)
    return frozenset(longer for longer in following if not any(other.moment < longer.moment for other in following))


def strict_contiguity(world: World, run: Run, step: Step) -> frozenset[Run]:
    """Definition 12: no event of any stream lies strictly between; with PARTITION BY, none of the run's partition."""
    return frozenset(
        longer
        for longer in skip_till_any(world, run, step)
        if not any(run.moment < event.moment < longer.moment for event in world.events if counts(world, event, longer))
    )


def counts(world: World, event: Event, run: Run) -> bool:
    """Can the event break this run's contiguity?"""
    partition = dict(run.mapping)
    names = world.query.partition
    return not names or tuple(partition[name] for name in names) in world.partitions[event]


def _partitions(query: Query, event: Event) -> frozenset[tuple[Term, ...]]:
    """The partitions of an event: where some GPM on its stream, without FILTERs and GRAPH, maps the variables so."""
    return frozenset(
        tuple(dict(mapping)[name] for name in query.partition)
        for gpm in query.gpms
        if gpm.stream == event.stream and gpm.event_variables() >= set(query.partition)
        for mapping in graph_pattern(gpm.triples, event.graph)
    )


def follow(world: World, run: Run, step: Step) -> frozenset[Run]:
    """⟦σ • Ψ⟧; the runs of ⟦Ψ⟧ itself, where nothing is before it."""
    match step.selection:
        case None:
            return frozenset(
                extended(world, run, step, fit) for fit in world.fits[step.number] if joins(world, EMPTY, fit)
            )
        case Selection.ANY:
            return skip_till_any(world, run, step)
        case Selection.NEXT:
            return skip_till_next(world, run, step)
        case Selection.STRICT:
            return strict_contiguity(world, run, step)
        case _:
            assert_never(step.selection)


# Kleene+ and negation


def kleene(world: World, once: frozenset[Run], step: Step, between: Selection) -> frozenset[Run]:
    """⟦σ • Ψ+⟧ = ⋃ₖ ⟦σ • Ψᵏ⟧, from ⟦σ • Ψ¹⟧: Definition 13 with `;` between the iterations, Definition 14 with `,`."""
    again = replace(step, selection=between)
    found: frozenset[Run] = frozenset()
    power = once
    while power:
        found |= power
        power = frozenset(longer for run in power for longer in follow(world, run, again))
    return found


def absent(world: World, negations: Iterable[Step], mapping: graphs.Mapping, in_gap: Callable[[Moment], bool]) -> bool:
    """`B!`: no match of a negated operand in the gap joins with the mapping."""
    return not any(
        in_gap(fit.moment) and joins(world, mapping, fit) for step in negations for fit in world.fits[step.number]
    )


def between(run: Run, longer: Run) -> Callable[[Moment], bool]:
    """Strictly between the last event of a run and the first one with which it goes on."""
    first = longer.filled[len(run.filled)].event.moment
    return lambda moment: run.moment < moment < first


def after(run: Run, end: int) -> Callable[[Moment], bool]:
    """After the last event of a run, up to a time, inclusive: the end of a gap goes by time alone (C-9)."""
    return lambda moment: run.moment < moment and moment[0] <= end


def sequence(world: World, arm: Arm) -> frozenset[Run]:
    """⟦σ • B! • Ψ⟧ by recursion on σ, for an arm that does not end in a negation: where `σ • Ψ` holds by the operator
    before Ψ, and no B joins with both together in the gap. Negations next to each other guard the same gap."""
    *before, step = arm
    negations = _last_negations(before)
    sigma = tuple(before[: len(before) - len(negations)])
    runs = sequence(world, sigma) if sigma else frozenset({Run()})
    once = frozenset(
        longer
        for run in runs
        for longer in follow(world, run, step)
        if not sigma or absent(world, negations, longer.mapping, between(run, longer))
    )
    if step.part.unary is not Unary.PLUS:
        return once
    return kleene(world, once, step, Selection.STRICT)


def _last_negations(steps: Iterable[Step]) -> list[Step]:
    return list(takewhile(lambda step: step.negated, reversed(list(steps))))


# Whole queries


def evaluate(query: Query, events: Iterable[Event], background: Background | None = None) -> frozenset[Match]:
    """Definition 16: all matches of a query. Projection is `oracle.spaseq_rows.rows`."""
    world = World(query, [event for event in events if event.stream in query.streams], background or {})
    return frozenset(match for arm in arms(query) for match in arm_matches(world, arm))


def arm_matches(world: World, arm: Arm) -> Iterator[Match]:
    """The matches of an arm inside the window, with the gap of its last negations up to that window's end."""
    negations = _last_negations(arm)
    positive = arm[: len(arm) - len(negations)]
    runs = standalone_kleene(world, arm[0]) if _is_closure_alone(arm) else sequence(world, positive)
    for run in runs:
        if not inside(world.query.within, run):
            continue
        certain = gap_end(world.query.within, run) if negations else run.end
        if absent(world, negations, run.mapping, after(run, certain)):
            yield Match(run, certain)


def _is_closure_alone(arm: Arm) -> bool:
    return len(arm) == 1 and arm[0].part.unary is Unary.PLUS


def standalone_kleene(world: World, step: Step) -> frozenset[Run]:
    """Definition 13, of a closure that is all that SEQ holds."""
    return kleene(world, follow(world, Run(), step), step, Selection.NEXT)


def windows(within: Within, run: Run) -> list[tuple[int, int]]:
    """The windows [t + kω, t + (k+1)ω], k ≥ 0, that hold the run."""
    return [
        (begin, begin + within.width)
        for begin in range(within.start, run.end + 1, within.width)
        if begin <= run.first and run.end <= begin + within.width
    ]


def inside(within: Within | None, run: Run) -> bool:
    """Sliding: the last event at most ω after the first (Algorithm 2). Tumbling: inside a window (Definition 16)."""
    if within is None:
        return True
    return bool(windows(within, run)) if within.tumbling else run.end - run.first <= within.width


def gap_end(within: Within | None, run: Run) -> int:
    """The last time in the gap of a last negation: first of σ + ω, or the end of the latest window of the match."""
    assert within is not None, "a negation at the end needs WITHIN"
    return max(end for _, end in windows(within, run)) if within.tumbling else run.first + within.width
