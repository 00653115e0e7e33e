"""Patterns of one subject, read off columns, have the answers that the matcher finds among triples."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.event_tables import read_parquet
from support.tables import TEXTS, tables
from thence.algebra.expressions import COMPARISONS, And, Compare, Comparison, Expression, Variable
from thence.algebra.patterns import Bgp, Filter, Join, Pattern, PatternTerm, TriplePattern
from thence.columns.batches import ColumnBatch
from thence.columns.dictionary import Terms
from thence.columns.value_columns import ValueColumn, term_of, values_of
from thence.match import solutions
from thence.match.star_patterns import star_values
from thence.rdf.events import DEFAULT_NAMESPACE, RDF_TYPE
from thence.rdf.terms import IRI, XSD, BlankNode, Literal, Term

pytestmark = pytest.mark.numba

X, Y, Z = (Variable(name) for name in "xyz")
A, B = IRI(DEFAULT_NAMESPACE + "a"), IRI(DEFAULT_NAMESPACE + "with%20space")
Rows = set[tuple[int, tuple[Term | None, ...]]]

names = st.sampled_from([IRI(DEFAULT_NAMESPACE + "a"), IRI("http://example.net/c"), IRI(DEFAULT_NAMESPACE + "1")])
numbers = st.sampled_from(
    [
        *(Literal(text, XSD + "integer") for text in ("0", "1", "01", "9223372036854775807")),
        *(Literal(text, XSD + "double") for text in ("0.0", "-0.0", "1.5", "1.5E0", "NaN", "0.30000000000000004")),
        *(Literal(text, XSD + "decimal") for text in ("2", "2.5", "2.50")),
        Literal("true", XSD + "boolean"),
        Literal("2024-05-06T07:08:09.12Z", XSD + "dateTime"),
        Literal("2024-05-06", XSD + "date"),
    ]
)
constants = numbers | names | st.sampled_from(TEXTS).map(Literal)
variables = st.sampled_from([X, Y, Z])
slots: st.SearchStrategy[PatternTerm] = variables | variables | constants | st.just(BlankNode("b"))
subjects: st.SearchStrategy[PatternTerm] = variables | names | st.just(BlankNode("s"))


@st.composite
def stars(draw: st.DrawFn) -> Pattern:
    subject = draw(subjects)
    predicates = draw(
        st.lists(st.sampled_from([RDF_TYPE, A, B, B, IRI("http://example.org/none")]), min_size=1, max_size=4)
    )
    pattern: Pattern = Bgp(tuple(TriplePattern(subject, each, draw(slots)) for each in predicates))
    for condition in draw(st.lists(conditions(), max_size=2)):
        pattern = Filter(condition, pattern)
    return pattern


def conditions() -> st.SearchStrategy[Expression]:
    comparisons = st.sampled_from(COMPARISONS)
    one = st.builds(Compare, comparisons, variables, constants) | st.builds(Compare, comparisons, constants, variables)
    return one | st.builds(And, one, one)


def read_off(pattern: Pattern, batch: ColumnBatch) -> Rows | None:
    state = Terms()
    found = star_values(pattern, batch, (X, Y, Z), state)
    if found is None:
        return None
    events, columns = found
    assert (events[1:] > events[:-1]).all()
    return {(event, terms) for event, terms in zip(events.tolist(), _terms(columns, state), strict=True)}


def matched(pattern: Pattern, batch: ColumnBatch) -> Rows:
    state, events = Terms(), batch.as_events()
    found = solutions(pattern, events)
    assert found.events is not None
    columns = {v: values_of(found.columns[v], events.terms, state) for v in (X, Y, Z) if v in found.columns}
    rows = _terms({v: columns[v] for v in columns}, state) if columns else [()] * len(found)
    padded = ([dict(zip(columns, row, strict=True)).get(v) for v in (X, Y, Z)] for row in rows)
    return {(event, tuple(row)) for event, row in zip(found.events.tolist(), padded, strict=True)}


def _terms(columns: dict[Variable, ValueColumn], state: Terms) -> list[tuple[Term | None, ...]]:
    listed = [
        [term_of(tag, bits, state) for tag, bits in zip(values.tags.tolist(), values.bits.tolist(), strict=True)]
        for values in columns.values()
    ]
    return list(zip(*listed, strict=True))


@given(tables(), stars())
def test_what_is_read_off_columns_is_what_the_matcher_finds(table: pa.Table, pattern: Pattern) -> None:
    (batch,) = read_parquet(table)
    assert isinstance(batch, ColumnBatch)
    found = read_off(pattern, batch)
    if isinstance(pattern, Bgp):
        assert found is not None
    if found is not None:
        assert found == matched(pattern, batch)


@given(tables(), stars())
def test_values_of_columns_are_those_of_the_same_terms_from_elsewhere(table: pa.Table, pattern: Pattern) -> None:
    (batch,) = read_parquet(table)
    assert isinstance(batch, ColumnBatch)
    state, events = Terms(), batch.as_events()
    found = star_values(pattern, batch, (X,), state)
    if found is None:
        return
    for tag, bits in zip(found[1][X].tags.tolist(), found[1][X].bits.tolist(), strict=True):
        term = term_of(tag, bits, state)
        if term is not None:
            again = values_of(events.terms.add_all([term]), events.terms, state)
            assert (int(again.tags[0]), int(again.bits[0])) == (tag, bits)


@pytest.mark.parametrize(
    "pattern",
    [
        Bgp(()),
        Bgp((TriplePattern(X, Y, Z),)),
        Bgp((TriplePattern(X, A, Y), TriplePattern(Y, A, Z))),
        Join(Bgp((TriplePattern(X, A, Y),)), Bgp((TriplePattern(X, B, Z),))),
        Filter(Compare(Comparison.LESS, X, Y), Bgp((TriplePattern(X, A, Y),))),
        Filter(Compare(Comparison.EQUAL, Z, A), Bgp((TriplePattern(X, A, Y),))),
    ],
)
def test_other_patterns_are_left_to_the_matcher(pattern: Pattern) -> None:
    (batch,) = read_parquet(pa.table({"type": ["T"], "time": [1], "a": [1]}))
    assert isinstance(batch, ColumnBatch)
    assert star_values(pattern, batch, (X, Y, Z), Terms()) is None


def test_order_among_texts_is_left_to_the_matcher() -> None:
    (batch,) = read_parquet(pa.table({"type": ["T"], "time": [1], "a": ["x"]}))
    assert isinstance(batch, ColumnBatch)
    pattern = Filter(Compare(Comparison.LESS, Y, Literal("y")), Bgp((TriplePattern(X, A, Y),)))
    assert star_values(pattern, batch, (Y,), Terms()) is None


def test_batches_of_a_file_share_their_terms_and_a_state_is_asked_for_each_once() -> None:
    table = pa.table({"type": ["T"] * 70_000, "time": range(70_000), "a": ["x", "y"] * 35_000})
    one, other = (each for each in read_parquet(table) if isinstance(each, ColumnBatch))
    state = Terms()
    pattern = Bgp((TriplePattern(X, A, Y),))
    values = [star_values(pattern, batch, (Y,), state) for batch in (one, other)]
    assert one.terms is other.terms
    assert len(one.terms) == len(state) == 2
    assert sum(len(found[0]) for found in values if found) == 70_000


def test_a_state_may_renumber_the_terms_of_its_rows() -> None:
    (batch,) = read_parquet(pa.table({"type": ["T"], "time": [1], "a": ["x"]}))
    assert isinstance(batch, ColumnBatch)
    found = star_values(Bgp((TriplePattern(X, A, Y), TriplePattern(X, RDF_TYPE, Z))), batch, (X, Y, Z), Terms())
    assert found is not None
    assert all(values.bits.flags.writeable for values in found[1].values())
