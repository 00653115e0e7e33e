"""Three evaluators of graph patterns, one answer: over columns, event by event, and pyoxigraph's where it can judge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import examples
from strategies.expressions import FUNCTIONS, Function
from strategies.terms import EX, ILL_TYPED, LARGE_NUMBERS, NUMBERS, THEMES, numerals, typed
from support.agreement import CONTEXT, Case, answers, answers_over, cases
from support.second_opinion import by_value, canonical_cases, pyoxigraph_answers
from support.smaller import agree, plain, vectorised
from thence.algebra.expressions import (
    COMPARISONS,
    OPERATIONS,
    Arithmetic,
    Call,
    Cast,
    Compare,
    Comparison,
    Operation,
    Variable,
)
from thence.algebra.patterns import Bgp, Extend, Filter, Join, LeftJoin, Minus, Pattern, TriplePattern, Union, Values
from thence.columns.batches import encode
from thence.lang.sparql.parser import parse_expression, parse_pattern
from thence.match.arithmetic import CASTS as cast_targets
from thence.match.context import ExpressionError
from thence.match.functions import call
from thence.match.solve import reason_for_reference, solutions
from thence.rdf.events import Event
from thence.rdf.terms import IRI, BlankNode, Literal, Triple, resolve

pytestmark = pytest.mark.numba


@examples(12)
@given(cases())
def test_vectorised_and_plain_answers_are_the_same_multiset(case: Case) -> None:
    assert reason_for_reference(case.pattern) is None
    agree(case, vectorised, plain)


@examples(0.5)
@given(cases(most=40, depth=1))
def test_they_are_the_same_in_graphs_that_are_large_enough_for_an_index(case: Case) -> None:
    agree(case, vectorised, plain)


@examples(0.5)
@given(cases())
def test_the_answers_in_an_event_do_not_depend_on_the_events_around_it(case: Case) -> None:
    alone = [answers_over(case.pattern, [encode([event])], vectorise=True) for event in case.events] * 30
    together = answers_over(case.pattern, [encode(case.events * 30)], vectorise=True)
    assert together == Counter({(i, mapping): n for i, found in enumerate(alone) for (_, mapping), n in found.items()})


@examples(3)
@given(canonical_cases())
def test_pyoxigraph_gives_the_same_answers_on_canonical_literals(case: Case) -> None:
    agree(case, by_value, pyoxigraph_answers)


# Unbound variables

Row = tuple[Literal | None, Literal | None]
ROWS: list[Row] = [*product((None, *typed("integer", "1", "2")), repeat=2)]
TABLES = st.lists(st.sampled_from(ROWS), max_size=5).map(tuple)


@given(TABLES, TABLES, st.sampled_from([("a", "b"), ("b", "c"), ("c", "d")]), st.booleans())
def test_operators_agree_on_solutions_that_bind_here_this_and_there_that(
    left: tuple[Row, ...], right: tuple[Row, ...], names: tuple[str, str], timeless: bool
) -> None:
    first: Pattern = Values((Variable("a"), Variable("b")), left)
    second = Values(tuple(map(Variable, names)), right)
    condition = parse_expression("?a < ?b || ?c = ?d || !BOUND(?b)")
    batch = encode([Event(0, "<x:a> <x:p> 1 ."), Event(1, "<x:a> <x:p> 2, 3 .")])
    if not timeless:  # as a part of an event's solutions
        first = Join(parse_pattern("{ <x:a> <x:p> ?b }"), first)
    for pattern in (
        Join(first, second),
        LeftJoin(first, second),
        LeftJoin(first, second, condition),
        Minus(first, second),
        Union(first, second),
        Minus(LeftJoin(first, second), second),
        LeftJoin(second, Union(second, first), condition),
        Filter(condition, Join(second, first)),
    ):
        assert answers(pattern, batch, vectorise=True) == answers(pattern, batch, vectorise=False)


# Each operator on everything


OPERANDS: list[Literal | IRI] = [*dict.fromkeys(literal for theme in THEMES for literal in theme), IRI(EX + "a")]
P, X, Y, Z, RESULT = IRI(EX + "p"), Variable("x"), Variable("y"), Variable("z"), Variable("result")


def each_combination(names: tuple[Variable, ...]) -> Bgp:
    """Every combination of the objects of an event's triples."""
    return Bgp(tuple(TriplePattern(BlankNode(f"of_{name.name}"), P, name) for name in names))


def same_on_all(pattern: Pattern, key: tuple[Variable, ...], terms: Sequence[Literal | IRI]) -> int:
    """Both evaluators give each combination of operands the same result; how many are no error."""
    batch = encode([Event(0, [Triple(IRI(EX + "s"), P, term) for term in terms])])
    found = []
    for vectorise in (True, False):
        table = solutions(pattern, batch, context=CONTEXT, vectorise=vectorise)
        rows = np.array([table.columns[name] for name in (*key, RESULT)])
        found.append(rows[:, np.lexsort(rows[: len(key)])])
    different = np.flatnonzero((found[0] != found[1]).any(axis=0)).tolist()
    shown = [[str(batch.terms[i]) if i >= 0 else None for i in (*found[0][:, j], found[1][-1, j])] for j in different]
    assert not shown, "operands, vectorised result, plain result"
    assert found[0].shape[1] == len(terms) ** len(key)
    return int((found[0][-1] >= 0).sum())


def some_operands(count: int) -> list[Literal | IRI]:
    """So many operands, of all themes alike."""
    return [OPERANDS[i * len(OPERANDS) // count] for i in range(count)]


NUMERIC = [*dict.fromkeys((*NUMBERS, *LARGE_NUMBERS, *ILL_TYPED))]


@pytest.mark.parametrize("comparison", COMPARISONS, ids=lambda comparison: comparison.name)
@pytest.mark.parametrize("operands", [NUMERIC, OPERANDS[::2]], ids=["numbers", "anything"])
def test_a_comparison_agrees_on_every_two_terms(comparison: Comparison, operands: list[Literal | IRI]) -> None:
    pattern = Extend(each_combination((X, Y)), RESULT, Compare(comparison, X, Y))
    assert same_on_all(pattern, (X, Y), operands) > 500


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
@pytest.mark.parametrize("operands", [NUMERIC, some_operands(70)], ids=["numbers", "anything"])
def test_arithmetic_agrees_on_every_two_terms(operation: Operation, operands: list[Literal | IRI]) -> None:
    pattern = Extend(each_combination((X, Y)), RESULT, Arithmetic(operation, X, Y))
    assert same_on_all(pattern, (X, Y), operands) > 500


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.name)
def test_a_function_agrees_on_arguments_of_any_type(function: Function) -> None:
    for count in range(max(1, len(function.takes) - function.optional), len(function.takes) + 1):
        names = tuple(Variable(f"x{i}") for i in range(count))
        pattern = Extend(each_combination(names), RESULT, Call(function.name, names))
        same_on_all(pattern, names, some_operands((len(OPERANDS), 60, 14, 8)[count - 1]))


@pytest.mark.parametrize("datatype", sorted(cast_targets))
def test_a_cast_agrees_on_arguments_of_any_type(datatype: str) -> None:
    assert same_on_all(Extend(each_combination((X,)), RESULT, Cast(IRI(datatype), (X,))), (X,), OPERANDS) > 0


@pytest.mark.parametrize("expression", ["!?x", "-?x", "+?x", "IF(?x, 1, 2)", "?x IN (1, ?x)", "COALESCE(1 / ?x, ?x)"])
def test_a_form_agrees_on_operands_of_any_type(expression: str) -> None:
    assert same_on_all(Extend(each_combination((X,)), RESULT, parse_expression(expression)), (X,), OPERANDS) > 0


@pytest.mark.parametrize("expression", ["?x && ?y", "?x || ?y", "?x NOT IN (?y)", "IF(?x, ?y, ?x)"])
def test_a_form_agrees_on_every_two_operands(expression: str) -> None:
    pattern = Extend(each_combination((X, Y)), RESULT, parse_expression(expression))
    assert same_on_all(pattern, (X, Y), some_operands(80)) > 1000


@examples(0.6)
@given(
    st.lists(st.one_of(numerals, st.sampled_from(NUMBERS + LARGE_NUMBERS)), min_size=6, max_size=6, unique=True),
    st.sampled_from(OPERATIONS),
    st.sampled_from([*OPERATIONS, *COMPARISONS]),
)
def test_a_computed_number_is_as_good_as_its_term(
    numbers: list[Literal], first: Operation, second: Operation | Comparison
) -> None:
    inner = Arithmetic(first, X, Y)
    outer = Arithmetic(second, inner, Z) if isinstance(second, Operation) else Compare(second, inner, Z)
    same_on_all(Extend(each_combination((X, Y, Z)), RESULT, outer), (X, Y, Z), numbers)


# What was found once


def test_the_zero_of_a_decimal_has_no_sign() -> None:
    """`1e0 / -0.0` is INF: xsd:decimal has one zero, however it is written."""
    zeros = [*typed("decimal", "-0.0", "-0", "0.0"), *typed("double", "1.0E0", "0.0E0", "-0.0E0")]
    assert same_on_all(Extend(each_combination((X, Y)), RESULT, Arithmetic(Operation.DIVIDE, X, Y)), (X, Y), zeros) > 0
    batch = encode([Event(0, "<http://example.org/s> <http://example.org/p> -0.0 .")])
    pattern = parse_pattern("{ ?s ?p ?x BIND(1e0 / ?x AS ?result) }")
    for vectorise in (True, False):
        (index,) = solutions(pattern, batch, vectorise=vectorise).columns[RESULT].tolist()
        assert batch.terms[index].value == "INF"


def test_a_product_with_more_than_18_digits_after_the_point_goes_on_exactly() -> None:
    numbers = typed("decimal", "0.0000000001", "-0.00000000003", "0.00000000000000000001", "1")
    product_and_more = parse_expression("IF(?x * ?y < ?z, ?x * ?y + ?z, ?z - ?x * ?y)")
    assert same_on_all(Extend(each_combination((X, Y, Z)), RESULT, product_and_more), (X, Y, Z), numbers) == 64


@pytest.mark.parametrize("text", ["2020-01-01T00:00:00Z", "1a:b", ":", "é:x"])
def test_what_has_a_colon_but_no_scheme_is_no_iri(text: str) -> None:
    with pytest.raises(ExpressionError):
        call("IRI", [Literal(text)], CONTEXT)
    assert resolve(text, "http://example.org/a") == f"http://example.org/{text}"
