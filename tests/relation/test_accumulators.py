"""What one accumulator keeps: saved and restored, it goes on as if nothing had happened."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from thence.algebra.expressions import Aggregate, AggregateFunction
from thence.algebra.sase import AggregateName
from thence.rdf.terms import IRI, XSD, BlankNode, Literal, Term
from thence.relation.accumulators import Accumulator, sase_accumulator, sparql_accumulator

NUMBERS: list[Term] = [
    *(Literal(text, XSD + "integer") for text in ("1", "01", "2", "-3")),
    *(Literal(text, XSD + "decimal") for text in ("1.0", "1.5")),
    *(Literal(text, XSD + "double") for text in ("1e0", "NaN", "0.1")),
    Literal("0.1", XSD + "float"),
]
OTHERS: list[Term] = [Literal("a"), Literal("b", language="en"), IRI("x:y"), BlankNode("b"), Literal("y", XSD + "date")]
ALL: list[Term | None] = [None, *NUMBERS, *OTHERS]

ACCUMULATORS: list[Callable[[], Accumulator]] = [
    *(
        lambda function=function, distinct=distinct: sparql_accumulator(Aggregate(function, None, distinct))  # type: ignore[misc]
        for function in AggregateFunction
        for distinct in (False, True)
    ),
    *(lambda summary=summary: sase_accumulator(summary, 2) for summary in AggregateName),  # type: ignore[misc]
]

VALUES = st.lists(st.sampled_from(NUMBERS), max_size=6) | st.lists(st.sampled_from(ALL), max_size=6)


@pytest.mark.parametrize("make", ACCUMULATORS)
@given(before=VALUES, after=VALUES)
def test_an_accumulator_that_was_saved_goes_on(
    make: Callable[[], Accumulator], before: list[Term | None], after: list[Term | None]
) -> None:
    whole, restored = make(), make()
    value = whole.add_all(before)
    restored.restore(json.loads(json.dumps(whole.saved())))
    assert restored.value() == value
    assert restored.add_all(after) == whole.add_all(after)


@pytest.mark.parametrize("make", ACCUMULATORS)
@pytest.mark.parametrize("forged", [[], [1], ["x"], [1, 2], ["x", 0, 0], [[1], 0], [None, None, None], 0.5, "x", {}])
def test_what_cannot_have_been_saved_is_refused(make: Callable[[], Accumulator], forged: object) -> None:
    found = make()
    with pytest.raises((ValueError, TypeError, AttributeError)):
        found.restore(forged)
