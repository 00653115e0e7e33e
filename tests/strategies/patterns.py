"""Graph patterns made of a case's own triples, so that a good share of them has answers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from strategies.choices import Choices
from strategies.expressions import Kind, Language
from strategies.graphs import GRAPHS, all_triples
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
    PatternTerm,
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

    choices: Choices
    world: World
    triples: Sequence[Triple]
    background: Sequence[Triple] = ()
    language: Language | None = None
    labels: Iterator[int] = field(default_factory=count)  # of blank nodes: each stands in one basic graph pattern

    def whole(self, depth: int | None = None) -> Pattern:
        """A query's pattern. Half of them end in BIND, which shows what expressions give and takes no answers away."""
        pattern = self.pattern(self.choices.number(0, 3) if depth is None else depth)
        return self.extend(pattern) if self.choices.pick((True, False)) else pattern

    def pattern(self, depth: int) -> Pattern:
        if depth == 0:
            return self.leaf()
        match self.choices.number(0, 11):
            case 0 | 1:
                return self.filter(self.side(depth))
            case 2 | 3:
                return self.optional(self.side(depth), self.side(depth))
            case 4 | 5:
                return self.extend(self.side(depth))
            case 6 | 7:
                return Union(self.side(depth), self.side(depth))
            case 8 | 9:
                return Minus(self.side(depth), self.side(depth))
            case _:
                return Join(self.side(depth), self.side(depth))

    def side(self, depth: int) -> Pattern:
        """What stands below an operator; one in four leaves variables unbound, in some of its solutions."""
        match self.choices.number(0, 11):
            case 0:
                return Union(self.leaf(), self.leaf())
            case 1:
                return LeftJoin(self.leaf(), self.leaf())
            case 2:
                return Join(self.leaf(), self.values())
            case _:
                return self.pattern(depth - 1)

    def leaf(self) -> Pattern:
        choice = self.choices.number(0, 11)
        if choice < 4 and self.background:
            return self.graph()
        return self.values() if choice == 11 else self.bgp()

    def expression(self, scope: Sequence[Variable], kind: Kind) -> Expression:
        """Over the variables in scope, and now and then one that is not."""
        language = self.language or Language(self.world, ())
        variables = (*scope, *scope, *scope, *VARIABLES[:1], _UNUSED)
        return replace(language, variables=variables).of(self.choices, kind, self.choices.number(1, 3))

    def filter(self, inner: Pattern) -> Pattern:
        return Filter(self.expression(in_scope(inner), Kind.BOOLEAN), inner)

    def optional(self, left: Pattern, right: Pattern) -> Pattern:
        if self.choices.pick((True, False)):
            return LeftJoin(left, right)
        return LeftJoin(left, right, self.expression((*in_scope(left), *in_scope(right)), Kind.BOOLEAN))

    def extend(self, pattern: Pattern) -> Pattern:
        """BIND, once or more, of variables that the group has not used before."""
        for _ in range(self.choices.number(1, 3)):
            scope = in_scope(pattern)
            free = [variable for variable in VARIABLES if variable not in scope]
            if free:
                pattern = Extend(pattern, self.choices.pick(free), self.expression(scope, Kind.ANY))
        return pattern

    def graph(self) -> Pattern:
        name = self.choices.pick((*GRAPHS, *VARIABLES[:2]))
        nested = self.choices.number(0, 7) == 7  # GRAPH in GRAPH
        inside = replace(self, triples=self.background, background=self.background if nested else ())
        return Graph(name, inside.pattern(self.choices.pick((0, 0, 0, 1))))

    def values(self) -> Pattern:
        names = self.choices.some(VARIABLES[:6], 0, 3)
        options = (None, *self.world.constants)
        rows = range(self.choices.number(0, 4))
        return Values(tuple(names), tuple(tuple(self.choices.pick(options) for _ in names) for _ in rows))

    def bgp(self) -> Bgp:
        places: dict[Term, PatternTerm] = {}  # one term mostly becomes one variable, so that the triples join
        many = self.choices.pick((1, 1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 3, 3, 4, 0))
        return Bgp(tuple(self.triple(places) for _ in range(many)))

    def triple(self, places: dict[Term, PatternTerm]) -> TriplePattern:
        known = self.triples and self.choices.number(0, 7) < 7
        subject, predicate, object_ = self.choices.pick(self.triples if known else all_triples(self.world))
        assert isinstance(predicate, IRI)
        verb: Variable | IRI = self.choices.pick((*(predicate,) * 8, *VARIABLES[5:7]))
        return TriplePattern(
            self.slot(subject, places, VARIABLES[:3], constants=2),
            verb,
            self.slot(object_, places, VARIABLES[1:6], constants=3),
        )

    def slot(
        self, term: Term, places: dict[Term, PatternTerm], names: Sequence[Variable], *, constants: int
    ) -> PatternTerm:
        """A place of a triple pattern; so many of 16 are the term itself."""
        choice = self.choices.number(0, 15)
        if choice == 15:
            return BlankNode(f"l{next(self.labels)}")
        if choice < constants and not isinstance(term, BlankNode):
            return term
        if choice > 12 or term not in places:
            places[term] = self.choices.pick(names)
        return places[term]
