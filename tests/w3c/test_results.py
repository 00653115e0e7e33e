"""The comparison that judges results must itself tell right from wrong."""

from __future__ import annotations

import pytest

from thence.algebra.expressions import Variable
from thence.match.sparql_queries import Result, SelectResult
from thence.rdf.terms import IRI, XSD, BlankNode, Literal, Term, Triple
from w3c.results import Expected, differences, isomorphic

X, Y = Variable("x"), Variable("y")
A, B, P = IRI("x:a"), IRI("x:b"), IRI("x:p")


def table(*rows: tuple[Term | None, Term | None]) -> SelectResult:
    filled = tuple({name: term for name, term in zip((X, Y), row, strict=True) if term is not None} for row in rows)
    return SelectResult((X, Y), filled)


def same(expected: Result, found: Result, *, ordered: bool = False, reduced: bool = False) -> bool:
    return differences(Expected(expected), found, ordered=ordered, reduced=reduced) is None


def test_blank_nodes_are_compared_by_what_they_are_joined_with() -> None:
    n, m = BlankNode("n"), BlankNode("m")
    assert same(table((n, A), (n, B)), table((m, B), (m, A)))
    assert not same(table((n, A), (n, B)), table((n, A), (m, B)))
    assert not same(table((n, A)), table((A, A)))


def test_cycles_of_blank_nodes_are_told_apart_by_their_length() -> None:
    def cycle(*names: str) -> list[tuple[Term, ...]]:
        turned = (*names[1:], names[0])
        return [Triple(BlankNode(a), P, BlankNode(b)) for a, b in zip(names, turned, strict=True)]

    assert isomorphic(cycle("a", "b", "c", "d"), cycle("w", "z", "x", "y"))
    assert not isomorphic(cycle("a", "b", "c", "d"), [*cycle("a", "b"), *cycle("c", "d")])
    assert isomorphic([*cycle("a", "b"), *cycle("c", "d")], [*cycle("e", "f"), *cycle("g", "h")])


def test_rows_are_counted() -> None:
    assert not same(table((A, B)), table((A, B), (A, B)))
    assert same(table((A, B)), table((A, B), (A, B)), reduced=True)
    assert not same(table((A, None)), table((A, B)))


def test_order_counts_only_where_it_is_asked_for() -> None:
    assert same(table((A, B), (B, A)), table((B, A), (A, B)))
    assert not same(table((A, B), (B, A)), table((B, A), (A, B)), ordered=True)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (Literal("3", XSD + "decimal"), Literal("3.0", XSD + "decimal"), True),
        (Literal("1E0", XSD + "double"), Literal("1.0E0", XSD + "double"), True),
        (Literal("3", XSD + "integer"), Literal("3", XSD + "decimal"), False),
        (Literal("3", XSD + "integer"), Literal("4", XSD + "integer"), False),
        (Literal("a"), Literal("a", language="en"), False),
    ],
)
def test_numbers_are_the_same_by_value_within_one_datatype(left: Literal, right: Literal, expected: bool) -> None:
    assert same(table((A, left)), table((A, right))) is expected


def test_truths_triples_and_rows_are_never_the_same() -> None:
    assert same(True, True)
    assert not same(True, False)
    assert not same(True, table())
    assert not same(frozenset(), table())
    assert same(frozenset({Triple(A, P, BlankNode("n"))}), frozenset({Triple(A, P, BlankNode("m"))}))
