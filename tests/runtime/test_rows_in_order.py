"""Rows come by certainty, end, start, the ids of their events, the statement's number, and what they bind."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracle.id_order import id_order
from thence.columns.dictionary import Terms
from thence.columns.texts import Texts
from thence.columns.value_columns import values_of
from thence.interface.solutions import Deferred, EventLists, Solutions
from thence.rdf.terms import IRI, XSD, BlankNode, Literal, Term
from thence.runtime.event_log import IdLog
from thence.runtime.ordering import order_of

pytestmark = pytest.mark.numba

Row = tuple[int, int, int, list[int], int, str]

rows = st.tuples(
    st.integers(0, 1),
    st.integers(0, 1),
    st.integers(0, 1),
    st.lists(st.integers(0, 4), max_size=3),
    st.integers(1, 2),
    st.sampled_from("xyz"),
)


@given(st.lists(rows, max_size=12, unique_by=repr), st.lists(st.sampled_from(["a", "b", "a:10", "a:9"]), min_size=5))
def test_the_order_is_that_of_the_keys(listed: list[Row], names: list[str]) -> None:
    """Two events may have one id."""
    log = IdLog()
    log.add(Texts.of(names))
    terms = Terms()
    lengths = [len(events) for *_, events, _, _ in listed]
    lists = EventLists(
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.array([ref for *_, events, _, _ in listed for ref in events], np.int64),
        np.zeros(sum(lengths), np.int64),
    )
    shown = values_of(terms.add_all([Literal(each[-1]) for each in listed]), terms, terms)
    found = Solutions(
        certain=np.array([each[0] for each in listed], np.int64),
        start=np.array([each[2] for each in listed], np.int64),
        end=np.array([each[1] for each in listed], np.int64),
        names=("shown",),
        terms=terms,
        events=Deferred(lambda: lists),
        columns=(shown,),
        queries=np.array([each[4] for each in listed], np.int64),
        identity=lambda: (shown,),
    )
    order = order_of(found, log)
    keys = [
        (certain, end, start, [id_order(names[ref]) for ref in events], query, text)
        for certain, end, start, events, query, text in listed
    ]
    assert [keys[row] for row in (range(len(keys)) if order is None else order.tolist())] == sorted(keys)


CELLS = st.sampled_from([None, Literal("x"), Literal("x)"), Literal("1", XSD + "integer"), IRI("x:a"), BlankNode("x")])


@given(st.lists(st.tuples(CELLS, CELLS, CELLS), max_size=8))
def test_rows_without_events_come_by_the_text_of_what_they_bind(listed: list[tuple[Term | None, ...]]) -> None:
    """A cell may be missing."""
    terms, log = Terms(), IdLog()
    names, none = ("b", "a", "c"), np.zeros(len(listed), np.int64)
    lists = EventLists(np.zeros(len(listed) + 1, np.int64), none[:0], none[:0])
    columns = tuple(
        values_of(terms.add_all([row[place] for row in listed]), terms, terms) for place, _ in enumerate(names)
    )
    found = Solutions(none, none, none, names, terms, Deferred(lambda: lists), columns, identity=lambda: columns)
    order = order_of(found, log)
    shown = [
        repr(sorted(((name, each) for name, each in zip(names, row, strict=True) if each), key=lambda cell: cell[0]))
        for row in listed
    ]
    assert [shown[row] for row in (range(len(shown)) if order is None else order.tolist())] == sorted(shown)
