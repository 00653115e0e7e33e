"""Random algebra, such as the parser can produce: `make(draw)` gives one query.

What the parser can't produce is left out: a join with the empty pattern, a path that is not a path, a name bound twice,
a blank node in two basic graph patterns, an aggregate where none may stand.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any, TypeVar

from hypothesis import strategies as st

from thence.algebra.expressions import (
    COMPARISONS,
    OPERATIONS,
    Aggregate,
    AggregateFunction,
    And,
    Arithmetic,
    Bound,
    Call,
    Cast,
    Coalesce,
    Compare,
    Exists,
    Expression,
    If,
    In,
    Negate,
    Not,
    Or,
    Plus,
    Variable,
)
from thence.algebra.patterns import (
    Alternative,
    Ask,
    Bgp,
    Construct,
    DatasetClause,
    Describe,
    Extend,
    Filter,
    Graph,
    GroupKey,
    Inverse,
    Join,
    LeftJoin,
    Minus,
    Modifiers,
    NegatedSet,
    OneOrMore,
    OrderKey,
    Path,
    PathPattern,
    PathSequence,
    Pattern,
    PatternTerm,
    Projection,
    Select,
    SparqlQuery,
    SubSelect,
    TriplePattern,
    Union,
    Values,
    ZeroOrMore,
    ZeroOrOne,
)
from thence.algebra.variables import in_scope
from thence.rdf.terms import IRI, RDF, XSD, BlankNode, Literal, Term

T = TypeVar("T")

ARITIES = {
    "RAND": 0, "NOW": 0, "BNODE": 0, "STR": 1, "STRLEN": 1, "ISIRI": 1, "SHA512": 1, "LANGMATCHES": 2, "SAMETERM": 2,
    "REGEX": 3, "REPLACE": 4, "CONCAT": 3, "SUBSTR": 2,
}  # fmt: skip

iris = st.sampled_from([IRI("http://example.org/a"), IRI("urn:b#ü"), IRI(RDF + "type"), IRI("x:?q=(1)")])
numbers = st.one_of(
    st.builds(Literal, st.from_regex(r"[+-]?[0-9]{1,3}", fullmatch=True), st.just(XSD + "integer")),
    st.builds(Literal, st.from_regex(r"[+-]?[0-9]{0,2}\.[0-9]{1,2}", fullmatch=True), st.just(XSD + "decimal")),
    st.builds(Literal, st.from_regex(r"[+-]?[0-9]\.?[eE]-?[0-9]", fullmatch=True), st.just(XSD + "double")),
    st.builds(Literal, st.sampled_from(["x", "", "1 ", "٣"]), st.just(XSD + "integer")),  # ill-typed, but legal
)
texts = st.text(
    st.one_of(st.sampled_from("\"'\\\n\r\t#<>{}@^u041."), st.characters(exclude_categories=["Cs"])), max_size=5
)
literals = st.one_of(
    numbers,
    st.builds(Literal, texts),
    st.builds(Literal, texts, st.sampled_from([XSD + "date", "urn:type"])),
    st.builds(Literal, texts, language=st.sampled_from(["en", "de-CH", "x-a-1"])),
    st.sampled_from([Literal("true", XSD + "boolean"), Literal("1", XSD + "boolean")]),
)
variables = st.sampled_from([Variable(name) for name in ("x", "y", "z", "価格", "_1")])


_NO_DATASET = DatasetClause()


class Maker:
    """Draws the parts of one query; what must be unique in it is counted here."""

    def __init__(self, draw: Callable[[st.SearchStrategy[Any]], Any]) -> None:
        self._draw = draw
        self._fresh = count()

    def _one(self, strategy: st.SearchStrategy[T]) -> T:
        found: T = self._draw(strategy)
        return found

    def _either(self, choices: list[Callable[[], T]]) -> T:
        return self._one(st.sampled_from(choices))()

    def _some(self, make: Callable[[], T], least: int = 0, most: int = 3) -> tuple[T, ...]:
        return tuple(make() for _ in range(self._one(st.integers(least, most))))

    def _maybe(self, make: Callable[[], T]) -> T | None:
        return make() if self._one(st.booleans()) else None

    def _new(self) -> Variable:
        return Variable(f"new{next(self._fresh)}")

    # Expressions

    def expression(self, depth: int) -> Expression:
        leaves: list[Callable[[], Expression]] = [
            lambda: self._one(variables),
            lambda: self._one(literals),
            lambda: self._one(iris),
            lambda: Bound(self._one(variables)),
        ]
        if depth == 0:
            return self._either(leaves)
        below = lambda: self.expression(depth - 1)  # noqa: E731
        return self._either(
            [
                *leaves,
                lambda: Compare(self._one(st.sampled_from(COMPARISONS)), below(), below()),
                lambda: Arithmetic(self._one(st.sampled_from(OPERATIONS)), below(), below()),
                lambda: Negate(below()),
                lambda: Plus(below()),
                lambda: Not(below()),
                lambda: And(below(), below()),
                lambda: Or(below(), below()),
                lambda: In(below(), self._some(below)),
                lambda: If(below(), below(), below()),
                lambda: Coalesce(self._some(below)),
                lambda: Exists(self.pattern(depth - 1)),
                lambda: self._call(below),
                lambda: Cast(self._one(iris), self._some(below, 1), distinct=self._one(st.booleans())),
                lambda: Cast(self._one(iris), ()),
            ]
        )

    def _call(self, below: Callable[[], Expression]) -> Expression:
        function = self._one(st.sampled_from(sorted(ARITIES)))
        return Call(function, tuple(below() for _ in range(ARITIES[function])))

    def _aggregate(self) -> Expression:
        function = self._one(st.sampled_from(AggregateFunction))
        operand = None if function is AggregateFunction.COUNT and self._one(st.booleans()) else self.expression(1)
        separator = self._maybe(lambda: self._one(texts)) if function is AggregateFunction.GROUP_CONCAT else None
        return Aggregate(function, operand, self._one(st.booleans()), separator)

    # Patterns

    def pattern(self, depth: int) -> Pattern:
        if depth == 0:
            return self._either([self._bgp, self._bgp, self._values, lambda: Bgp(())])
        below = lambda: self.pattern(depth - 1)  # noqa: E731
        return self._either(
            [
                self._bgp,
                lambda: self._join(below(), below()),
                lambda: LeftJoin(below(), below(), self._maybe(lambda: self.expression(depth - 1))),
                lambda: Filter(self.expression(depth - 1), below()),
                lambda: Union(below(), below()),
                lambda: Graph(self._one(st.one_of(variables, iris)), below()),
                lambda: Extend(below(), self._new(), self.expression(depth - 1)),
                lambda: Minus(below(), below()),
                self._values,
                lambda: SubSelect(self.select(depth - 1)),
            ]
        )

    def _join(self, left: Pattern, right: Pattern) -> Pattern:
        return right if left == Bgp(()) else left if right == Bgp(()) else Join(left, right)

    def _values(self) -> Values:
        names = self._one(st.lists(variables, unique=True, max_size=3))
        value = lambda: self._maybe(lambda: self._one(st.one_of(iris, literals)))  # noqa: E731
        rows = self._some(lambda: tuple[Term | None, ...](value() for _ in names))
        return Values(tuple(names), rows)

    def _bgp(self) -> Bgp:
        home = next(self._fresh)
        nodes = st.sampled_from([BlankNode(f"b{home}"), BlankNode(f"n.{home}")])
        slots = st.one_of(variables, iris, literals, nodes)
        return Bgp(self._some(lambda: self._triple(slots), 1))

    def _triple(self, slots: st.SearchStrategy[PatternTerm]) -> TriplePattern | PathPattern:
        subject, target = self._one(slots), self._one(slots)
        if self._one(st.booleans()):
            return TriplePattern(subject, self._one(st.one_of(variables, iris)), target)
        path = self._path(3)
        if isinstance(path, IRI | PathSequence) or (isinstance(path, Inverse) and isinstance(path.path, IRI)):
            path = ZeroOrMore(path)  # those would have become triples
        return PathPattern(subject, path, target)

    def _path(self, depth: int) -> Path:
        leaves: list[Callable[[], Path]] = [
            lambda: self._one(iris),
            lambda: NegatedSet(self._some(lambda: self._one(iris)), self._some(lambda: self._one(iris))),
        ]
        if depth == 0:
            return self._either(leaves)
        below = lambda: self._path(depth - 1)  # noqa: E731
        return self._either(
            [
                *leaves,
                lambda: Inverse(below()),
                lambda: PathSequence(below(), below()),
                lambda: Alternative(below(), below()),
                lambda: ZeroOrMore(below()),
                lambda: OneOrMore(below()),
                lambda: ZeroOrOne(below()),
            ]
        )

    # Queries

    def query(self, depth: int) -> SparqlQuery:
        return self._either(
            [
                lambda: self.select(depth, self._dataset()),
                lambda: Construct(self._template(), self.pattern(depth), self._modifiers(depth), self._dataset()),
                lambda: Ask(self.pattern(depth), self._modifiers(depth), self._dataset()),
                lambda: Describe(
                    self._maybe(lambda: self._some(lambda: self._one(st.one_of(variables, iris)), 1)),
                    self._maybe(lambda: self.pattern(depth)),
                    self._modifiers(depth),
                    self._dataset(),
                ),
            ]
        )

    def select(self, depth: int, dataset: DatasetClause = _NO_DATASET) -> Select:
        where = self.pattern(depth)
        modifiers = self._modifiers(depth)
        quantifier = self._one(st.sampled_from(["", "distinct", "reduced"]))
        return Select(
            self._columns(where, modifiers, depth),
            where,
            modifiers,
            distinct=quantifier == "distinct",
            reduced=quantifier == "reduced",
            dataset=dataset,
        )

    def _columns(self, where: Pattern, modifiers: Modifiers, depth: int) -> tuple[Projection, ...] | None:
        if modifiers.group is None and not modifiers.having:
            named = self._one(
                st.lists(st.sampled_from([*in_scope(where), Variable("unbound")]), unique=True, max_size=3)
            )
            computed = self._some(lambda: Projection(self._new(), self.expression(depth)))
            return (*map(Projection, named), *computed) or None
        keys = [key.variable for key in modifiers.group or () if key.variable is not None]
        computed = self._some(lambda: Projection(self._new(), self._aggregate()), 1)
        return (*map(Projection, keys), *computed)

    def _modifiers(self, depth: int) -> Modifiers:
        below = max(depth - 1, 0)
        grouped = self._one(st.booleans())
        ordered = lambda: OrderKey(self.expression(below), self._one(st.booleans()))  # noqa: E731
        key = lambda: GroupKey(self.expression(below), self._maybe(self._new))  # noqa: E731
        return Modifiers(
            group=self._some(key, 1) if grouped else None,
            having=self._some(self._aggregate) if grouped else (),
            order=self._some(ordered),
            offset=self._maybe(lambda: self._one(st.integers(0, 9))),
            limit=self._maybe(lambda: self._one(st.integers(0, 2**63 - 1))),
            values=self._maybe(self._values),
        )

    def _dataset(self) -> DatasetClause:
        return DatasetClause(self._some(lambda: self._one(iris)), self._some(lambda: self._one(iris)))

    def _template(self) -> tuple[TriplePattern, ...]:
        slots = st.one_of(variables, iris, literals, st.just(BlankNode("template")))
        verbs = st.one_of(variables, iris)
        return self._some(lambda: TriplePattern(self._one(slots), self._one(verbs), self._one(slots)))


@st.composite
def queries(draw: Any, depth: int = 3) -> SparqlQuery:
    """A query whose parts nest so deep."""
    return Maker(draw).query(depth)


@st.composite
def expressions(draw: Any, depth: int = 4) -> Expression:
    return Maker(draw).expression(depth)


@st.composite
def patterns(draw: Any, depth: int = 4) -> Pattern:
    return Maker(draw).pattern(depth)
