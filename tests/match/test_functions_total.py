"""Any function of any terms gives a term or an ExpressionError, soon: events and queries are not to be trusted."""

from __future__ import annotations

import inspect
from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from thence.algebra.expressions import OPERATIONS, Comparison, Operation
from thence.match.arithmetic import CASTS, cast, compute, negated
from thence.match.context import Context, ExpressionError
from thence.match.expression_evaluator import compare, effective_boolean_value
from thence.match.functions import CONTEXTUAL, FUNCTIONS, call
from thence.rdf.terms import IRI, XSD, BlankNode, Literal, Term
from thence.rdf.values import order_key, python, tie_key

FORMS = [
    "1",
    "-1",
    "0",
    "-0",
    "1.5",
    "NaN",
    "INF",
    "-INF",
    "1e400",
    "1e-400",
    "true",
    "abc",
    "2020-01-01",
    "2020-01-01T00:00:00Z",
    "-9999999-01-01T00:00:00+14:00",
    "P1Y",
    "PT1S",
    "-PT1.5S",
    "12:00:00",
    "24:00:00Z",
    "--02-29",
    "---31",
    "http://example.org/x",
    "(a",
    "a{5}",
    "(a+)+$",
    "[^\\d-[a]]",
    "$1",
    "\\",
    "en",
    "*",
    "s",
    "smixq",
]
LONG = ["9" * 50, "9" * 3999, "9" * 4500, "0." + "1" * 3000, "9" * 3000 + "-01-01T00:00:00", f"P{'9' * 3900}DT0.1S"]
ODD = ["", " 1 ", "a b", "é\U0001f600", "\ud800", "\0", "x\n"]
TYPES = [
    "integer",
    "decimal",
    "float",
    "double",
    "boolean",
    "string",
    "dateTime",
    "date",
    "time",
    "duration",
    "dayTimeDuration",
    "yearMonthDuration",
    "byte",
    "gYear",
    "gMonthDay",
    "gDay",
    "unsignedLong",
    "nonPositiveInteger",
    "hexBinary",
]

TEXTS = st.one_of(st.sampled_from(FORMS), st.sampled_from(LONG + ODD), st.text(max_size=5))
TERMS: st.SearchStrategy[Term] = st.one_of(
    st.builds(lambda text, name: Literal(text, XSD + name), TEXTS, st.sampled_from(TYPES)),
    st.builds(lambda text: Literal(text), TEXTS),
    st.builds(lambda text, tag: Literal(text, language=tag), TEXTS, st.sampled_from(["en", "fr"])),
    st.sampled_from([IRI("http://example.org/a"), BlankNode("b"), Literal("1", "http://example.org/inch")]),
)
CONTEXT = Context(base="http://example.org/")


@given(st.sampled_from(sorted({*FUNCTIONS, *CONTEXTUAL})), st.lists(TERMS, min_size=4, max_size=4), st.integers(0, 4))
def test_a_function_gives_a_term_or_an_error(name: str, terms: list[Term], count: int) -> None:
    function, skipped = (FUNCTIONS[name], 0) if name in FUNCTIONS else (CONTEXTUAL[name], 1)
    parameters = list(inspect.signature(function).parameters.values())[skipped:]
    needed = sum(p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD for p in parameters)
    with suppress(ExpressionError):
        assert isinstance(call(name, terms[: min(max(count, needed), len(parameters))], CONTEXT), Term)


@given(st.sampled_from(sorted(CASTS)), TERMS)
def test_a_cast_gives_a_literal_of_its_type_or_an_error(datatype: str, term: Term) -> None:
    with suppress(ExpressionError):
        found = cast(datatype, term)
        assert found.datatype == datatype
        assert cast(datatype, found) == found


@given(st.sampled_from(OPERATIONS), TERMS, TERMS)
def test_arithmetic_gives_a_literal_or_an_error(operation: Operation, left: Term, right: Term) -> None:
    with suppress(ExpressionError):
        assert isinstance(compute(operation, left, right), Literal)
    with suppress(ExpressionError):
        assert isinstance(negated(left), Literal)


@given(TERMS, TERMS)
def test_comparison_and_order_never_fail_otherwise(left: Term, right: Term) -> None:
    for comparison in Comparison:
        with suppress(ExpressionError):
            assert isinstance(compare(comparison, left, right), bool)
    with suppress(ExpressionError):
        assert isinstance(effective_boolean_value(left), bool)
    assert (order_key(left) < order_key(right)) + (order_key(right) < order_key(left)) <= 1
    assert (tie_key(left) < tie_key(right)) != (tie_key(right) <= tie_key(left))
    python(left)
