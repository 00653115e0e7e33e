"""Graph patterns made of a case's own triples, so that a good share of them has answers.

Hypothesis prefers the first of several choices: it is a simple one here, but never one that makes a case idle.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from hypothesis import strategies as st

from strategies.expressions import Kind, Language
from strategies.graphs import GRAPHS, triples
from strategies.terms import World
from thence.algebra.expressions import Expression, Variable
from thence.algebra.patterns import (
    Bgp,
    Extend,
    Filter,
    Graph,
    Join,
    LeftJoin,
    Minus,
    Pattern,
    Slot,
    TriplePattern,
    Union,
    Values,
)
from thence.algebra.variables import in_scope
from thence.rdf.terms import IRI, BlankNode, Term, Triple

VARIABLES = tuple(map(Variable, "stuvwxyz"))
_UNUSED = Variable("nowhere")


@dataclass(frozen=True)
class Maker:
    """What patterns are made of. `triples` are those of the events, `background` those that GRAPH reads."""

    world: World
    triples: Sequence[Triple]
    background: Sequence[Triple] = ()
    language: Language | None = None
    labels: Iterator[int] = field(default_factory=count)  # of blank nodes: each stands in one basic graph pattern

    def expression(self, draw: st.DrawFn, scope: Sequence[Variable], kind: Kind) -> Expression:
        """Over the variables in scope, and now and then one that is not."""
        language = self.language or Language(self.world, ())
        return replace(language, variables=(*scope, *scope, *VARIABLES[:1], _UNUSED)).of(
            draw, kind, draw(st.sampled_from((2, 1, 3)))
        )

    def pattern(self, draw: st.DrawFn, depth: int) -> Pattern:
        if depth == 0:
            return self.leaf(draw)
        match draw(st.integers(0, 15)):
            case 0 | 1 | 2:
                return self.optional(draw, depth - 1)
            case 3 | 4 | 5:
                return self.filter(draw, depth - 1)
            case 6 | 7 | 8:
                return self.extend(draw, self.pattern(draw, depth - 1))
            case 9 | 10:
                return Union(self.pattern(draw, depth - 1), self.pattern(draw, depth - 1))
            case 11 | 12:
                return Minus(self.pattern(draw, depth - 1), self.pattern(draw, depth - 1))
            case 13 | 14:
                return Join(self.pattern(draw, depth - 1), self.pattern(draw, depth - 1))
            case _:
                return self.leaf(draw)

    def leaf(self, draw: st.DrawFn) -> Pattern:
        choice = draw(st.integers(0, 9))
        if choice >= 7 and self.background:
            return self.graph(draw)
        return self.values(draw) if choice == 6 else self.bgp(draw)

    def filter(self, draw: st.DrawFn, depth: int) -> Pattern:
        inner = self.pattern(draw, depth)
        return Filter(self.expression(draw, in_scope(inner), Kind.BOOLEAN), inner)

    def optional(self, draw: st.DrawFn, depth: int) -> Pattern:
        left, right = self.pattern(draw, depth), self.pattern(draw, depth)
        if draw(st.booleans()):
            return LeftJoin(left, right)
        scope = (*in_scope(left), *in_scope(right))
        return LeftJoin(left, right, self.expression(draw, scope, Kind.BOOLEAN))

    def extend(self, draw: st.DrawFn, pattern: Pattern) -> Pattern:
        """BIND, once or more, of variables that the group has not used before."""
        for _ in range(draw(st.integers(1, 3))):
            scope = in_scope(pattern)
            free = [variable for variable in VARIABLES if variable not in scope]
            if free:
                pattern = Extend(pattern, draw(st.sampled_from(free)), self.expression(draw, scope, Kind.ANY))
        return pattern

    def graph(self, draw: st.DrawFn) -> Pattern:
        name = draw(st.sampled_from((*GRAPHS, *VARIABLES[:3])))
        nested = draw(st.integers(0, 7)) == 7  # GRAPH in GRAPH
        inside = replace(self, triples=self.background, background=self.background if nested else ())
        return Graph(name, inside.pattern(draw, draw(st.sampled_from((0, 0, 0, 1)))))

    def values(self, draw: st.DrawFn) -> Pattern:
        names = draw(st.lists(st.sampled_from(VARIABLES[:6]), max_size=3, unique=True))
        value = st.one_of(st.none(), st.sampled_from(self.world.constants), st.sampled_from(self.world.constants))
        rows = draw(st.lists(st.tuples(*(value for _ in names)), max_size=4))
        return Values(tuple(names), tuple(rows))

    def bgp(self, draw: st.DrawFn) -> Bgp:
        places: dict[Term, Slot] = {}  # one term mostly becomes one variable, so that the triples join
        many = draw(st.sampled_from((1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 4, 0)))
        return Bgp(tuple(self.triple(draw, places) for _ in range(many)))

    def triple(self, draw: st.DrawFn, places: dict[Term, Slot]) -> TriplePattern:
        known = bool(self.triples) and draw(st.integers(0, 7)) < 7
        subject, predicate, object_ = draw(st.sampled_from(self.triples) if known else triples(self.world))
        assert isinstance(predicate, IRI)
        verb: Variable | IRI = draw(st.sampled_from((*(predicate,) * 7, *VARIABLES[5:8])))
        return TriplePattern(
            self.slot(draw, subject, places, VARIABLES[:3], constant=2),
            verb,
            self.slot(draw, object_, places, VARIABLES[1:6], constant=3),
        )

    def slot(
        self, draw: st.DrawFn, term: Term, places: dict[Term, Slot], names: Sequence[Variable], *, constant: int
    ) -> Slot:
        choice = draw(st.integers(0, 15))
        if choice == 15:
            return BlankNode(f"l{next(self.labels)}")
        if choice > 14 - constant and not isinstance(term, BlankNode):
            return term
        if choice > 9 or term not in places:
            places[term] = draw(st.sampled_from(names))
        return places[term]


@st.composite
def patterns(draw: st.DrawFn, maker: Maker, depth: int | None = None) -> Pattern:
    """Half of them end in BIND, which shows what expressions give and takes no answers away."""
    pattern = maker.pattern(draw, draw(st.sampled_from((1, 2, 3, 0))) if depth is None else depth)
    return maker.extend(draw, pattern) if draw(st.booleans()) else pattern
