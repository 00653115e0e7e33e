"""Aggregates of many groups at once are those of one accumulator for each, while members come and go."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thence.algebra.expressions import Aggregate, AggregateFunction, Variable
from thence.columns.dictionary import UNBOUND, Terms
from thence.rdf.terms import IRI, XSD, BlankNode, Literal, Term
from thence.rdf.values import total_key
from thence.relation import group_accumulators
from thence.relation.accumulators import sparql_accumulator
from thence.relation.group_accumulators import ExtremeTerms, GroupAccumulator, TermCounts

TERMS = [
    *(Literal(text, XSD + "integer") for text in ("1", "01", "2", "-3")),
    *(Literal(text, XSD + "decimal") for text in ("1.0", "1.5")),
    *(Literal(text, XSD + "double") for text in ("1e0", "NaN", "INF")),
    *(Literal("1"), IRI("x:y"), BlankNode("b"), Literal("y", XSD + "integer")),
]


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from(TERMS)), max_size=60), st.randoms(use_true_random=False))
def test_the_first_term_is_the_least_or_greatest_that_is_there(rows: list[tuple[int, Literal]], random: Random) -> None:
    """Equal numbers go by their texts (SPARQL 1.1, 18.5.1.5 and 18.5.1.6, leave them open)."""
    terms, known = Terms(), TermCounts()
    least, most = ExtremeTerms(descending=False), ExtremeTerms(descending=True)
    held: list[tuple[int, Literal]] = []
    sizes = np.zeros(3, np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(group_accumulators, "_FEW", 1)
        patch.setattr(group_accumulators, "_MOST_ENTRIES", 5)
        while rows or held:
            came = [rows.pop() for _ in range(min(len(rows), random.randrange(5)))]
            held += came
            random.shuffle(held)
            went = [held.pop() for _ in range(min(len(held), random.randrange(5)))]
            ids = terms.add_all(each for _, each in (*came, *went))
            groups = np.array([group for group, _ in (*came, *went)], np.int64)
            signs = np.repeat(np.array([1, -1]), [len(came), len(went)])
            changes = known.update(groups, ids, signs)
            np.add.at(sizes, changes[0], changes[2])
            for group in range(3):
                own = Counter(each for number, each in held if number == group)
                assert sizes[group] == len(own)
            for each, choose in ((least, min), (most, max)):
                each.update(changes, known, sizes, terms)
                for group in range(3):
                    own = Counter(each for number, each in held if number == group)
                    first = each.first(group, known)
                    expected = choose(own, key=total_key) if own else None
                    assert (None if first is None else terms[first]) == expected


def test_terms_that_have_left_do_not_pile_up() -> None:
    """The least stays, and all others come and go behind it."""
    terms, known, least = Terms(), TermCounts(), ExtremeTerms(descending=False)
    ids = terms.add_all(Literal(str(number), XSD + "integer") for number in range(2000))
    sizes = np.ones(1, np.int64)
    least.update(known.update(np.zeros(1, np.int64), ids[:1], np.ones(1, np.int64)), known, sizes, terms)
    for id in ids[1:].tolist():
        for sign in (1, -1):
            one = np.array([0]), np.array([id], np.int32), np.array([sign])
            sizes[0] += sign
            least.update(known.update(*one), known, sizes, terms)
        assert least.first(0, known) == ids[0]
    assert len(least.heaps[0]) < 40 and len(known.counts) == 1


UNSUBTRACTED = (AggregateFunction.SAMPLE, AggregateFunction.GROUP_CONCAT)
SUBTRACTED = [each for each in AggregateFunction if each not in UNSUBTRACTED]
ROWS = st.lists(st.tuples(st.integers(0, 2), st.sampled_from([None, *TERMS[:7], *TERMS])), max_size=30)
NUMBERS = st.lists(st.tuples(st.integers(0, 2), st.sampled_from(TERMS[:9])), max_size=30)


def codes(found: GroupAccumulator, rows: list[tuple[int, Term | None]], sign: int, terms: Terms) -> None:
    ids = np.array([UNBOUND if each is None else terms.add(each) for _, each in rows], np.int32)
    groups = np.array([group for group, _ in rows], np.int64)
    found.update(groups, ids, np.full(len(rows), sign), terms)


@pytest.mark.parametrize("distinct", [False, True])
@pytest.mark.parametrize("function", SUBTRACTED)
@given(rows=ROWS | NUMBERS, random=st.randoms(use_true_random=False))
def test_what_was_subtracted_was_never_there(
    function: AggregateFunction, distinct: bool, rows: list[tuple[int, Term | None]], random: Random
) -> None:
    """A window's aggregate is that of an accumulator which has seen the window's members alone."""
    aggregate = Aggregate(function, Variable("x"), distinct)
    found, terms = GroupAccumulator.of(aggregate, subtracts=True, groups=3), Terms()
    held: list[tuple[int, Term | None]] = []
    while rows or held:
        came = [rows.pop() for _ in range(min(len(rows), random.randrange(5)))]
        held += came
        random.shuffle(held)
        went = [held.pop() for _ in range(min(len(held), random.randrange(5)))]
        codes(found, came, 1, terms)
        codes(found, went, -1, terms)
        for group in range(3):
            own = [each for number, each in held if number == group]
            assert found.value(group, terms) == sparql_accumulator(aggregate).add_all(own)


@pytest.mark.parametrize("distinct", [False, True])
@pytest.mark.parametrize("function", [*SUBTRACTED, AggregateFunction.SAMPLE])
@given(rows=st.lists(ROWS | NUMBERS, max_size=3))
def test_members_that_are_added_together_are_those_that_are_added_one_by_one(
    function: AggregateFunction, distinct: bool, rows: list[list[tuple[int, Term | None]]]
) -> None:
    """In one state of all groups, or batch by batch to an accumulator for each group."""
    aggregate = Aggregate(function, Variable("x"), distinct)
    together, terms = GroupAccumulator.of(aggregate, subtracts=False, groups=3), Terms()
    each, added = ([sparql_accumulator(aggregate) for _ in range(3)] for _ in range(2))
    for batch in rows:
        for group, value in batch:
            each[group].add(value)
        codes(together, batch, 1, terms)
        gained = GroupAccumulator.of(aggregate, subtracts=False, groups=3)
        codes(gained, batch, 1, terms)
        gained.add_to(added, terms)
    for group in range(3):
        assert each[group].value() == added[group].value() == together.value(group, terms)
