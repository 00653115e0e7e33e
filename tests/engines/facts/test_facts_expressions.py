"""Expressions of TEF-SPARQL, compiled, have the values that the evaluator of SPARQL's expressions gives them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from thence.algebra.expressions import (
    And,
    Arithmetic,
    Call,
    Compare,
    Comparison,
    Expression,
    Not,
    Operation,
    Or,
    Variable,
)
from thence.columns.dictionary import Terms
from thence.columns.value_columns import values_of
from thence.engines.facts.compiled_expressions import Moment, attempted, truth_of
from thence.engines.facts.frames import cell, column_cells, layout, rank, term
from thence.match.context import Context, Solution
from thence.match.expression_evaluator import attempt, passes
from thence.rdf.terms import IRI, XSD, BlankNode, Literal, Term
from thence.rdf.times import Domain, time_literal
from thence.rdf.values import order_key, tie_key

TYPED = [
    *(
        (text, "integer")
        for text in ("0", "7", "-3", "07", "-0", "+7", "999999999999999999", "1000000000000000000", "x")
    ),
    *((text, "decimal") for text in ("1.5", "1.50", "-2", "0.0", "12345678901234567890.5")),
    *((text, "double") for text in ("1.5E0", "1.5", "NaN", "INF", "-0.0E0")),
    *((text, "int") for text in ("7", "99999999999")),
    *((text, "boolean") for text in ("true", "false", "1", "maybe")),
    *((text, "string") for text in ("", "7", "a")),
    *(
        (text, "dateTime")
        for text in (
            "2024-01-01T00:00:00Z",
            "2024-01-11T00:00:00Z",
            "2024-01-11T00:00:00.5Z",
            "2024-01-11T00:00:00.50Z",
            "2024-01-11T00:00:00",
            "2024-01-11T01:00:00+01:00",
            "2024-02-30T00:00:00Z",
        )
    ),
    *((text, "dayTimeDuration") for text in ("P10D", "PT240H", "PT0.0000001S", "-P1D", "P1Y")),
]
TERMS: list[Term] = [
    IRI("http://example.org/a"),
    IRI("http://example.org/b"),
    BlankNode("b"),
    Literal("a", language="en"),
    *(Literal(text, XSD + name) for text, name in TYPED),
]
NAMES = [Variable(name) for name in "abc"]
terms = st.sampled_from(TERMS)
leaves: st.SearchStrategy[Expression] = st.one_of(
    st.sampled_from(NAMES),
    terms.filter(lambda each: not isinstance(each, BlankNode)).map(lambda each: each),  # type: ignore[arg-type, return-value]
    st.just(Call("NOW", ())),
)


def larger(parts: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
    return st.one_of(
        st.builds(Arithmetic, st.sampled_from(Operation), parts, parts),
        st.builds(Compare, st.sampled_from(Comparison), parts, parts),
        st.builds(And, parts, parts),
        st.builds(Or, parts, parts),
        st.builds(Not, parts),
        st.builds(lambda part: Call("STR", (part,)), parts),
    )


expressions = st.recursive(leaves, larger, max_leaves=6)
solutions = st.fixed_dictionaries({}, optional=dict.fromkeys(NAMES, terms))
moments = st.one_of(st.just((5, Domain.TICKS)), st.just((1_704_931_200_000_000, Domain.DATETIME)))


@given(expressions, solutions, moments)
def test_a_compiled_expression_has_the_value_of_the_evaluated_one(
    expression: Expression, solution: Solution, moment: tuple[int, Domain]
) -> None:
    own = layout(*NAMES, expression)
    frame, at = own.frame(solution), Moment(*moment, Context())
    context = Context(now=time_literal(*moment))
    found = attempted(expression, own)(frame, at)
    assert (None if found is None else term(found)) == attempt(expression, solution, context)
    assert truth_of(expression, own)(frame, at) == passes(expression, solution, context)


@given(st.sampled_from(Comparison), terms, terms, st.sampled_from([each for each in TERMS if "Duration" in str(each)]))
def test_durations_between_times_are_compared_as_they_are(
    comparison: Comparison, one: Term, other: Term, length: Term
) -> None:
    """TEF-60"""
    assert isinstance(length, Literal)
    expression = Compare(comparison, Arithmetic(Operation.SUBTRACT, NAMES[0], NAMES[1]), length)
    own, solution = layout(expression), {NAMES[0]: one, NAMES[1]: other}
    found = truth_of(expression, own)(own.frame(solution), Moment(0, Domain.TICKS, Context()))
    assert found == passes(expression, solution, Context())


def test_cells_are_equal_where_terms_are() -> None:
    cells = [cell(each) for each in TERMS]
    assert [term(each) for each in cells] == TERMS
    assert len(set(cells)) == len(set(TERMS))
    assert sorted(TERMS, key=lambda each: (order_key(each), tie_key(each))) == [
        term(each) for each in sorted(cells, key=rank)
    ]


def test_the_cells_of_a_column_are_those_of_its_terms() -> None:
    source, state = Terms(), Terms()
    listed = [*TERMS, *reversed(TERMS)]
    column = values_of(source.add_all(listed), source, state)
    assert column_cells(column, state) == [cell(each) for each in listed]
