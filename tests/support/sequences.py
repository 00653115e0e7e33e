"""Random SPAseQ queries, such as the parser can produce: legal by construction.

Every GPM binds the shared variables and one of its own, so filters may name any of them; negated GPMs are used for
nothing else.
"""

from __future__ import annotations

from itertools import count
from typing import Any

from hypothesis import strategies as st

from support.algebras import Maker, iris, texts
from thence.algebra.expressions import Arithmetic, Call, Coalesce, Exists, Expression, Operation, Variable
from thence.algebra.patterns import Bgp, Graph, Join, Pattern, TriplePattern
from thence.algebra.spaseq import (
    AggregateVariable,
    Conjunction,
    ConstructEvents,
    Disjunction,
    Gpm,
    IterationAggregate,
    IterationFunction,
    Occurrence,
    Operand,
    Quantifier,
    SelectColumn,
    Selection,
    SelectRows,
    SequencePart,
    SequenceQuery,
    locals_of,
    occurrences,
)
from thence.algebra.streams import Stream, Window
from thence.algebra.traversal import nodes
from thence.algebra.variables import parts
from thence.rdf.terms import IRI
from thence.rdf.times import Domain, Span

SHARED = tuple(Variable(name) for name in ("x", "y", "z", "価格", "_1"))
NAMES = ("A", "b", "SEQ", "Last", "価")  # keywords' letters, other scripts
NEGATED = ("N", "not", "M2")
STREAMS = (Stream("S1", IRI("urn:s1")), Stream("STREAM", IRI("http://example.org/s#2")))
P = IRI("urn:p")


class SequenceMaker:
    def __init__(self, draw: Any) -> None:
        self._draw = draw
        self._maker = Maker(draw)
        self._places = count()

    def query(self) -> SequenceQuery:
        streams = self._draw(st.sampled_from([STREAMS, STREAMS[:1], STREAMS[::-1]]))
        window = self._draw(st.none() | windows)
        sequence = self._sequence(trailing=window is not None)
        used = {found.gpm for part in sequence for found in occurrences(part.operand)}
        gpms = [self._gpm(name, streams) for name in (*NAMES, *NEGATED) if name in used or self._draw(st.booleans())]
        partition = tuple(self._draw(st.lists(st.sampled_from(SHARED), unique=True, max_size=2)))
        query = SequenceQuery(SelectRows(()), streams, sequence, tuple(gpms), window, partition)
        form = self._construct() if self._draw(st.integers(0, 3)) == 0 else self._select(query)
        return SequenceQuery(form, streams, sequence, tuple(gpms), window, partition)

    def _sequence(self, *, trailing: bool) -> tuple[SequencePart, ...]:
        first = SequencePart(None, self._operand(2), self._draw(st.sampled_from([Quantifier.ONE, Quantifier.PLUS])))
        parts_ = [first]
        for _ in range(self._draw(st.integers(0, 4))):
            quantifier = self._draw(st.sampled_from(Quantifier))
            names = NEGATED if quantifier is Quantifier.NOT else NAMES
            selection = self._draw(st.sampled_from(Selection))
            parts_.append(SequencePart(selection, self._operand(2, names), quantifier))
        if not trailing:
            parts_.append(SequencePart(Selection.NEXT, self._operand(0)))
        return tuple(parts_)

    def _operand(self, depth: int, names: tuple[str, ...] = NAMES) -> Operand:
        kind = self._draw(st.integers(0, 3)) if depth else 0
        if kind < 2:
            return Occurrence(self._draw(st.sampled_from(names)), next(self._places))
        left, right = self._operand(depth - 1, names), self._operand(depth - 1, names)
        return Conjunction(left, right) if kind == 2 else Disjunction(left, right)

    def _gpm(self, name: str, streams: tuple[Stream, ...]) -> Gpm:
        own = Bgp(tuple(TriplePattern(variable, P, P) for variable in (*SHARED, Variable(f"only{name}"))))
        pattern = self._maker.pattern(self._draw(st.integers(0, 2)))
        graphs = tuple(
            Graph(self._draw(iris), self._maker.pattern(1)) for _ in range(self._draw(st.sampled_from([0, 0, 1, 2])))
        )
        drawn = [self._maker.expression(2) for _ in range(self._draw(st.integers(0, 2)))]
        filters = tuple(SHARED[0] if _names_others_in_exists(expression) else expression for expression in drawn)
        joined: Pattern = Join(own, pattern) if self._draw(st.booleans()) else Join(pattern, own)
        whole = own if pattern == Bgp(()) or _has_block(pattern) else joined
        return Gpm(name, self._draw(st.sampled_from(streams)).name, whole, graphs, filters)

    def _construct(self) -> ConstructEvents:
        slots = st.one_of(st.sampled_from(SHARED), iris)
        triple = st.builds(TriplePattern, slots, iris, slots)
        return ConstructEvents(tuple(self._draw(st.lists(triple, min_size=1, max_size=3))))

    def _select(self, query: SequenceQuery) -> SelectRows:
        plain = [SelectColumn(variable) for variable in self._draw(st.lists(st.sampled_from(SHARED), unique=True))]
        named: dict[IterationAggregate, Variable] = {}
        computed = [self._column(query, number, named) for number in range(self._draw(st.integers(0, 3)))]
        return SelectRows((*(plain or [SelectColumn(SHARED[0])]), *computed), self._draw(st.booleans()))

    def _column(self, query: SequenceQuery, number: int, named: dict[IterationAggregate, Variable]) -> SelectColumn:
        other = self._maker.expression(2)
        if any(isinstance(part, Exists) for part in parts(other)):
            other = SHARED[1]
        choices = list(aggregates(query))
        if not choices or self._draw(st.booleans()):
            return SelectColumn(Variable(f"as{number}"), other)
        aggregate = self._draw(st.sampled_from(choices))
        if aggregate.function is IterationFunction.GROUP_CONCAT and self._draw(st.booleans()):
            aggregate = IterationAggregate(aggregate.function, aggregate.of, separator=self._draw(texts))
        name = named.setdefault(aggregate, AggregateVariable(str(len(named))))
        expression: Expression = self._draw(
            st.sampled_from(
                [name, Arithmetic(Operation.SUBTRACT, name, other), Call("STR", (name,)), Coalesce((other, name, name))]
            )
        )
        return SelectColumn(Variable(f"as{number}"), expression, ((name, aggregate),))


def aggregates(query: SequenceQuery) -> list[IterationAggregate]:
    """All that the query could select."""
    found = []
    holders: dict[str, list[SequencePart]] = {}
    for part in query.sequence:
        for name in {each.gpm for each in occurrences(part.operand)}:
            holders.setdefault(name, []).append(part)
    for name, holding in sorted(holders.items()):
        if [part.quantifier for part in holding] == [Quantifier.PLUS]:
            found.append(IterationAggregate(IterationFunction.COUNT, name))
            place = occurrences(holding[0].operand)[0].place
            for variable in sorted(locals_of(query, place), key=str):
                found += [IterationAggregate(function, variable) for function in IterationFunction]
                found.append(IterationAggregate(IterationFunction.COLLECT, variable, distinct=True))
    return found


def _names_others_in_exists(expression: Expression) -> bool:
    """Whether an EXISTS names a variable that another GPM may bind, which the parser rejects."""
    blocks = [part.pattern for part in parts(expression) if isinstance(part, Exists)]
    return any(isinstance(node, Variable) and node not in SHARED for block in blocks for node in nodes(block))


def _has_block(pattern: Pattern) -> bool:
    """Whether GRAPH stands where the parser would have put it apart."""
    if isinstance(pattern, Join):
        return _has_block(pattern.left) or _has_block(pattern.right)
    return isinstance(pattern, Graph)


@st.composite
def _windows(draw: Any) -> Window:
    domain = draw(st.sampled_from(Domain))
    length = draw(st.one_of(st.integers(1, 100), st.integers(1, 2**62), st.sampled_from([60_000_000, 86_400_000_000])))
    tumbling = draw(st.booleans())
    return Window(Span(length, domain), tumbling, draw(st.integers(-(2**62), 2**62)) if tumbling else 0)


windows = _windows()


@st.composite
def sequence_queries(draw: Any) -> SequenceQuery:
    return SequenceMaker(draw).query()
