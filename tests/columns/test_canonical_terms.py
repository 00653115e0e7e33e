"""A term is its value where its text is the canonical one, and only there."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from thence.columns import value_kinds
from thence.columns.canonical_terms import SHORTEST, are_canonical, as_values, tagged_literal
from thence.columns.dictionary import Terms
from thence.columns.value_columns import ValueColumn, term_ids, term_of, value_of
from thence.rdf.numbers import shortest_text
from thence.rdf.terms import IRI, XSD, BlankNode, Literal
from thence.rdf.values import INTEGER_RANGES, XSD_DOUBLE

pytestmark = [pytest.mark.numba, pytest.mark.usefixtures("however_many")]

texts = st.one_of(
    st.from_regex(r"[+-]?[0-9]{0,3}(\.[0-9]{0,3})?", fullmatch=True),
    st.integers(-200, 200).map(str),
    st.floats().map(repr),
    st.sampled_from(["1.0E0", "1.5E3", "true", "false", "1", "0", "-0", "INF", "NaN", "-0.0E0", "0.0E0"]),
)
types = st.sampled_from(
    [*INTEGER_RANGES, *(XSD + name for name in ("decimal", "double", "float", "boolean", "string"))]
)


@given(st.lists(st.builds(Literal, texts, types), min_size=1))
def test_canonical_terms_are_those_that_their_value_writes(literals: list[Literal]) -> None:
    terms = Terms()
    ids = terms.add_all(literals)
    for literal, index, canonical in zip(literals, ids.tolist(), are_canonical(terms, ids).tolist(), strict=True):
        tag, bits = int(terms.tags[index]), int(terms.bits[index])
        assert canonical == (tag & value_kinds.KIND_MASK > value_kinds.OTHER and tagged_literal(tag, bits) == literal)


def test_no_terms_are_no_question() -> None:
    assert not len(are_canonical(Terms(), np.empty(0, np.int32)))


@given(st.lists(st.builds(Literal, texts, types), min_size=2, max_size=2))
def test_values_are_equal_where_terms_are_and_give_them_back(literals: list[Literal]) -> None:
    state = Terms()
    one, other = (value_of(literal, state) for literal in literals)
    assert (one == other) == (literals[0] == literals[1])
    assert [term_of(*value, state) for value in (one, other)] == literals


@given(st.floats())
def test_a_double_as_typed_events_write_it_is_its_value(number: float) -> None:
    state = Terms()
    tag, bits = value_of(Literal(shortest_text(number), XSD_DOUBLE), state)
    assert tag == (SHORTEST if np.isfinite(number) else value_kinds.DOUBLE)
    assert np.isnan(number) or bits == np.float64(number).view(np.int64)
    assert not len(state)


def test_what_is_no_number_is_its_id_whether_numbers_stand_beside_it_or_not() -> None:
    terms = Terms()
    names = terms.add_all([IRI("x:a"), BlankNode("b"), Literal("c"), Literal("d", language="en"), IRI("x:e")])
    number = terms.add_all([Literal("1", XSD + "integer")])
    alone, beside = as_values(terms, names[1:]), as_values(terms, np.concatenate([names[1:], number]))
    assert (
        alone[0].tolist()
        == [value_kinds.BLANK, value_kinds.STRING, value_kinds.LANG, value_kinds.IRI_]
        == beside[0].tolist()[:-1]
    )
    assert alone[1].tolist() == names[1:].tolist() == beside[1].tolist()[:-1]
    assert alone[2].tolist() == [True] * 4 == beside[2].tolist()[:-1]
    assert [column.dtype for column in alone] == [column.dtype for column in beside]


@given(st.lists(st.builds(Literal, texts, types), min_size=1), st.data())
def test_a_term_has_the_same_value_however_often_and_beside_whatever_it_is_asked_for(
    literals: list[Literal], data: st.DataObject
) -> None:
    terms = Terms()
    ids = terms.add_all(literals)
    first = [column.tolist() for column in as_values(terms, ids)]
    terms.add_all([IRI(f"x:{number}") for number in range(100)])  # it grows
    places = data.draw(st.lists(st.integers(0, len(literals) - 1)))
    again = as_values(terms, ids[places])
    assert [column.tolist() for column in again] == [[column[place] for place in places] for column in first]


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False)))
def test_doubles_of_a_column_enter_as_the_terms_they_are(numbers: list[float]) -> None:
    terms = Terms()
    bits = np.array(numbers, np.float64).view(np.int64)
    column = ValueColumn(np.full(len(bits), SHORTEST, np.uint16), bits)
    ids = term_ids(column, terms)
    assert [terms[each] for each in ids.tolist()] == [Literal(shortest_text(number), XSD_DOUBLE) for number in numbers]
    fresh = Terms()
    found = as_values(fresh, fresh.import_all(terms, ids))
    known = as_values(terms, ids)
    assert known[0].tolist() == found[0].tolist() == [SHORTEST] * len(numbers)
    assert known[1].tolist() == found[1].tolist() == bits.tolist()
