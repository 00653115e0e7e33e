"""Random conditions and output of SASE+ queries: whatever a legal query may say about its variables."""

from __future__ import annotations

from decimal import Decimal

from hypothesis import strategies as st

from oracle.sase_query import (
    Aggregate,
    And,
    Arithmetic,
    Attribute,
    Compare,
    Component,
    Composite,
    Constant,
    Expression,
    Index,
    IsNull,
    Item,
    Length,
    Not,
    Or,
    Query,
    Sequence,
    Span,
)

ATTRIBUTES = ("x", "y")

FUNCTIONS = ("count", "sum", "avg", "min", "max", "highest", "lowest", "first", "last")

LOOSE = (">=", "<=", "!=", "<", ">", ">=", "<=", "!=", "=")
"""Comparisons, those that are often true more than once."""


def one_in(number: int) -> st.SearchStrategy[bool]:
    return st.sampled_from([True] + [False] * (number - 1))


attributes = st.sampled_from(ATTRIBUTES)
signs = st.sampled_from(LOOSE)


@st.composite
def constants(draw: st.DrawFn) -> Constant:
    values: list[int | Decimal | str] = [1, 2, 0, 2, 1, 3, 2, 1, 3, 2, 1, 0, Decimal("0.5"), Decimal("1.5"), "u"]
    return Constant(draw(st.sampled_from(values)))


@st.composite
def aggregates(draw: st.DrawFn, variable: str, span: Span) -> Aggregate:
    function = draw(st.sampled_from(FUNCTIONS))
    k = draw(st.integers(1, 2)) if function in ("highest", "lowest") else None
    attribute = None if function == "count" and draw(st.booleans()) else draw(attributes)
    return Aggregate(function, variable, attribute, span, k)


@st.composite
def conjuncts(draw: st.DrawFn, components: tuple[Component, ...]) -> list[Expression]:
    """For each component none, one or two."""
    found = []
    for place, component in enumerate(components):
        # a negation sees the finished match, and so what comes later too
        others = [c for c in (components if component.negated else components[:place]) if not c.negated]
        for _ in range(draw(st.sampled_from([0, 1, 0, 1, 0, 2]))):
            found.append(draw(clauses(component, others)))
    return found


@st.composite
def clauses(draw: st.DrawFn, component: Component, others: list[Component]) -> Expression:
    """A predicate, its negation, or two with OR. Both name the component in the same way; one alone names others."""
    form = draw(st.sampled_from(["each", "end", "first", "each", "end"])) if component.closure else "plain"
    predicate = predicates(component, others, form)
    shape = draw(st.sampled_from(["one", "one", "one", "one", "or", "or", "not"]))
    if shape == "or":
        return Or(draw(predicate), draw(predicates(component, [], form)))
    return Not(draw(predicate)) if shape == "not" else draw(predicate)


@st.composite
def predicates(draw: st.DrawFn, component: Component, others: list[Component], form: str) -> Expression:
    if form == "end":
        return draw(end_conditions(component, others))
    index = {"plain": Index.PLAIN, "first": Index.FIRST, "each": Index.CURRENT}[form]
    left: Expression = Attribute(component.variable, index, draw(attributes))
    if draw(one_in(10)):
        return IsNull(left, draw(st.booleans()))
    right = draw(earlier(component)) if form == "each" and draw(st.booleans()) else draw(references(others))
    if draw(one_in(5)):
        right = Arithmetic(draw(st.sampled_from("+-*/%")), right, draw(constants()))
    return Compare(draw(signs), left, right)


@st.composite
def end_conditions(draw: st.DrawFn, component: Component, others: list[Component]) -> Expression:
    variable = component.variable
    match draw(st.integers(0, 3)):
        case 0:
            return Compare(draw(signs), Length(variable), Constant(draw(st.integers(1, 3))))
        case 1:
            return Compare(draw(signs), draw(aggregates(variable, Span.ALL)), draw(constants()))
        case 2:
            first = Attribute(variable, Index.FIRST, draw(attributes))
            return Compare(draw(signs), Attribute(variable, Index.LAST, draw(attributes)), first)
        case _:
            return Compare(draw(signs), Attribute(variable, Index.LAST, draw(attributes)), draw(references(others)))


@st.composite
def earlier(draw: st.DrawFn, closure: Component) -> Expression:
    """What `a[i]` is compared with: `a[i-1]`, `a[1]`, or an aggregate over `a[..i-1]`."""
    if draw(one_in(3)):
        return draw(aggregates(closure.variable, Span.BEFORE))
    return Attribute(closure.variable, draw(st.sampled_from([Index.PREVIOUS, Index.FIRST])), draw(attributes))


@st.composite
def references(draw: st.DrawFn, components: list[Component]) -> Expression:
    """A constant, or something of these components."""
    if not components or draw(one_in(3)):
        return draw(constants())
    component = draw(st.sampled_from(components))
    variable = component.variable
    if not component.closure:
        return Attribute(variable, Index.PLAIN, draw(attributes))
    match draw(st.integers(0, 3)):
        case 0:
            return Length(variable)
        case 1:
            return draw(aggregates(variable, Span.ALL))
        case _:
            index = draw(st.sampled_from([Index.FIRST, Index.LAST, Index.CURRENT]))
            return Attribute(variable, index, draw(attributes))


@st.composite
def returned(draw: st.DrawFn, component: Component) -> Expression:
    """One value of a finished match."""
    variable = component.variable
    if not component.closure:
        return Attribute(variable, Index.PLAIN, draw(attributes))
    match draw(st.integers(0, 3)):
        case 0:
            return Length(variable)
        case 1:
            return Attribute(variable, draw(st.sampled_from([Index.FIRST, Index.LAST])), draw(attributes))
        case _:
            return draw(aggregates(variable, Span.ALL))


@st.composite
def having(draw: st.DrawFn, query: Query) -> Expression | None:
    if not draw(one_in(6)):
        return None

    def comparison() -> Expression:
        left = draw(returned(draw(st.sampled_from(query.positives))))
        return IsNull(left, negated=True) if draw(one_in(3)) else Compare(draw(signs), left, draw(constants()))

    match draw(st.integers(0, 3)):
        case 0:
            return Or(comparison(), comparison())
        case 1:
            return And(comparison(), Not(comparison()))
        case _:
            return comparison()


@st.composite
def items(draw: st.DrawFn, query: Query) -> tuple[Item, ...]:
    """One to three columns of RETURN, with names; now and then one without."""
    found: list[Item] = []
    for number in range(draw(st.integers(1, 3))):
        component = draw(st.sampled_from(query.positives))
        variable, closure = component.variable, component.closure
        what: Expression | Sequence | Composite = draw(returned(component))
        match draw(st.integers(0, 4)):
            case 0:
                what = Composite(variable, ATTRIBUTES, closure)
            case 1 if closure:
                what = Sequence(variable, draw(attributes))
            case 2:
                what = Arithmetic(draw(st.sampled_from("+-*/%")), draw(returned(component)), draw(constants()))
        nameless = isinstance(what, Attribute) and draw(one_in(4)) and what not in [item.what for item in found]
        found.append(Item(what, None if nameless else f"c{number}"))
    return tuple(found)
