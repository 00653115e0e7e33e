"""Streams and background data on which a good share of SPAseQ queries has matches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, assert_never

from hypothesis import strategies as st

from oracle.spaseq import Background
from oracle.spaseq_query import Aggregate, Arm, Conjunction, Disjunction, Event, Gpm, Group, Query, Unary, Use, arms
from oracle.terms import Blank, Graph, Iri, Literal, Term, Triple, Var, decimal, string
from strategies.spaseq_queries import DOUBLES, GRAPHS, NODES, NUMBERS, STRINGS, Options, chance, choose, pick

ODD = (decimal("2.0"), Literal("02", "integer"), string("x"))
"""Equal in value but not as terms, or no number at all."""


LENGTHS = {(0,): 4, (0, 1, 3): 1, (2, 0): 1, (4, 1, 0, 2): 1, (1, 0, 0, 5, 2): 1}
"""How long the events of a stream last, one after the other and again from the beginning, and how often that is."""


Made: TypeAlias = tuple[str, int, Graph]
"""A stream's name, a time and a graph: an event without its id."""


@st.composite
def streams(draw: st.DrawFn, query: Query, options: Options = Options()) -> tuple[Event, ...]:  # noqa: B008  (frozen)
    """Events around an arm of the query, in no order: what it asks for, what disturbs it, what has no part in it. In
    half of the streams some of them last longer than a moment."""
    maker = _Maker(draw, query, options, {})
    made: list[Made] = []
    if not chance(draw, 5):
        made += maker.arm(choose(draw, arms(query)))
    latest = max((time for _, time, _ in made), default=3)
    more = pick(draw, {3: 3, 2: 2, 4: 2, 5: 1, 1: 1, 0: 1})
    made += [maker.noise(draw(st.integers(1, latest + 1))) for _ in range(more)]
    kept = made[: options.most_events]
    lengths = pick(draw, LENGTHS)
    return tuple(
        Event(stream, time, graph, f"e{number}", lengths[number % len(lengths)])
        for number, (stream, time, graph) in enumerate(kept)
    )


@dataclass(frozen=True)
class _Maker:
    """`usual` is the value that a variable has most of the time, so that joins find something."""

    draw: st.DrawFn
    query: Query
    options: Options
    usual: dict[str, Term]

    def arm(self, arm: Arm) -> list[Made]:
        """Events for each step in turn; now and then a negated one too, or one that breaks contiguity."""
        made: list[Made] = []
        time = self.draw(st.integers(0, 3))
        for step in arm:
            if step.negated and not chance(self.draw, 35):
                continue
            for _ in range(pick(self.draw, {1: 2, 2: 2, 3: 1}) if step.part.unary is Unary.PLUS else 1):
                made += self.step(step.part.group, time)
                pause = pick(self.draw, {1: 4, 2: 3, 3: 1})
                made += [self.noise(time + 1)] if pause > 1 and chance(self.draw, 30) else []
                time += pause
        return made

    def step(self, group: Group, time: int) -> list[Made]:
        """Events of one time that fill a group; those of one stream may come as one."""
        found: dict[str, Graph] = {}
        apart: list[Made] = []
        for name in self.chosen(group):
            gpm = self.query.gpm(name)
            graph = self.instance(gpm, steady=True)
            if gpm.stream in found and chance(self.draw, 50):
                apart.append((gpm.stream, time, graph))
            else:
                found[gpm.stream] = found.get(gpm.stream, frozenset()) | graph
        return [(stream, time, graph) for stream, graph in found.items()] + apart

    def chosen(self, group: Group) -> tuple[str, ...]:
        """The GPMs that take part, each disjunction decided."""
        match group:
            case Use(name):
                return (name,)
            case Conjunction(left, right):
                return self.chosen(left) + self.chosen(right)
            case Disjunction(left, right):
                return self.chosen(choose(self.draw, (left, right)))
            case _:
                assert_never(group)

    def noise(self, time: int) -> Made:
        """An event of some GPM, or of none."""
        if not chance(self.draw, 20):
            gpm = choose(self.draw, self.query.gpms)
            return gpm.stream, time, self.instance(gpm, steady=False)
        objects: tuple[Term, ...] = (*NUMBERS, *NODES)
        predicate = Iri(choose(self.draw, "pqx"))
        triple: Triple = (choose(self.draw, NODES), predicate, choose(self.draw, objects))
        return choose(self.draw, self.query.streams), time, frozenset({triple})

    def instance(self, gpm: Gpm, *, steady: bool) -> Graph:
        """A graph that the GPM's pattern matches, at times in two ways."""
        times = pick(self.draw, {1: 5, 2: 1})
        return frozenset().union(*(self.solution(gpm, steady=steady) for _ in range(times)))

    def solution(self, gpm: Gpm, *, steady: bool) -> Graph:
        values = {name: self.value(name, steady=steady) for name in sorted(gpm.event_variables())}

        def fill(slot: Var | Term) -> Term:
            return values[slot.name] if isinstance(slot, Var) else slot

        return frozenset((fill(s), fill(p), fill(o)) for s, p, o in gpm.triples)

    def value(self, name: str, *, steady: bool) -> Term:
        """Shared variables keep their value, own ones mostly change."""
        if name not in self.usual:
            self.usual[name] = choose(self.draw, self.terms(name))
        percent = (90 if steady else 60) if len(name) == 1 else 35
        return self.usual[name] if chance(self.draw, percent) else choose(self.draw, self.terms(name))

    def terms(self, name: str) -> tuple[Term, ...]:
        if name[0] in "st":
            return (*NODES, Blank("b")) if self.options.blank_nodes else NODES
        if name[0] == "z":
            return STRINGS
        numbers = DOUBLES if self.options.doubles else NUMBERS
        return numbers if _asks_for_extremes(self.query) else numbers * 5 + ODD


def _asks_for_extremes(query: Query) -> bool:
    """MIN and MAX leave open which of two equal values they show, and how numbers and strings compare."""
    return any(
        isinstance(c.expression, Aggregate) and c.expression.function in ("MIN", "MAX") for c in query.select or ()
    )


@st.composite
def backgrounds(draw: st.DrawFn, query: Query, options: Options = Options()) -> Background:  # noqa: B008  (frozen)
    """What GRAPH reads: a graph for each name that there is, beside one without a name or not; or one for all."""
    if not any(gpm.graphs for gpm in query.gpms):
        return {}
    names: tuple[str | None, ...] = (None,) if chance(draw, 25) else GRAPHS
    if None not in names and chance(draw, 25):
        names = (None, *names)
    known = {name: draw(_known()) for name in names}
    if options.often_graphs and chance(draw, 70):  # or nearly every event finds something
        missing = choose(draw, NODES)
        known = {name: frozenset(triple for triple in graph if triple[0] != missing) for name, graph in known.items()}
    return known


@st.composite
def _known(draw: st.DrawFn) -> Graph:
    pairs = [(node, value) for node in NODES for value in NUMBERS[:3]]
    kept = draw(st.lists(st.sampled_from(pairs), min_size=2, max_size=5))
    return frozenset((node, Iri("k"), value) for node, value in kept)
