"""Which queries mean something, and what follows from their text: the same as by the definitions."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import event, given
from hypothesis import strategies as st

from oracle import spaseq_query as oracle
from oracle.expressions import Compare
from oracle.spaseq_legal import is_legal
from oracle.spaseq_query import Aggregate, Column, Query, Unary, uses
from oracle.spaseq_rows import columns
from oracle.terms import Var, integer
from strategies.spaseq import queries, text
from thence.algebra.spaseq import SelectRows, SequencePart, arms, locals_of, occurrences, variables_of
from thence.errors import QueryError
from thence.lang.spaseq.parser import parse


@st.composite
def changed(draw: st.DrawFn) -> Query:
    """A query with something in it changed, so that it may mean nothing."""
    query = draw(queries())
    names = sorted({variable for gpm in query.gpms for variable in gpm.variables()} | {"nothing"})
    match draw(st.integers(0, 5)):
        case 0:
            return replace(query, within=None)
        case 1:
            return replace(query, parts=tuple(draw(st.permutations(query.parts))))
        case 2:
            unaries = draw(st.lists(st.sampled_from(Unary), min_size=len(query.parts), max_size=len(query.parts)))
            changed_parts = [replace(part, unary=unary) for part, unary in zip(query.parts, unaries, strict=True)]
            return replace(query, parts=tuple(changed_parts))
        case 3:
            return replace(query, partition=(draw(st.sampled_from(names)),))
        case 4:
            condition = Compare(">", Var(draw(st.sampled_from(names))), integer(0))
            first, *rest = draw(st.permutations(query.gpms))
            return replace(query, gpms=(replace(first, filters=(condition,)), *rest))
        case _:
            gpms = [name for part in query.parts for name in uses(part.group)]
            column = draw(
                st.one_of(
                    st.builds(Column, st.sampled_from(names)),
                    st.builds(Column, st.sampled_from(["n", *names]), st.builds(_count, st.sampled_from(gpms))),
                    st.builds(Column, st.just("n"), st.builds(_sum, st.sampled_from(names))),
                )
            )
            return replace(query, select=(column,))


def _count(gpm: str) -> Aggregate:
    return Aggregate("COUNT", gpm)


def _sum(variable: str) -> Aggregate:
    return Aggregate("SUM", variable)


@given(changed())
def test_a_query_is_refused_exactly_where_the_definitions_leave_it_without_meaning(query: Query) -> None:
    legal = is_legal(query)
    event(f"legal: {legal}")
    assert (refusal(query) is None) is legal, refusal(query)


def refusal(query: Query) -> QueryError | None:
    try:
        parse(text(query))
    except QueryError as error:
        return error
    return None


@given(queries())
def test_arms_locals_and_columns_are_those_of_the_definitions(query: Query) -> None:
    read = parse(text(query))
    assert [[(part.selection and part.selection.value, _names(part)) for part in arm] for arm in arms(read)] == [
        [(step.selection and step.selection.value, list(uses(step.part.group))) for step in arm]
        for arm in oracle.arms(query)
    ]
    for number, part in enumerate(read.sequence):
        for occurrence in occurrences(part.operand):
            assert {variable.name for variable in locals_of(read, occurrence.place)} == query.locals_of(number)
    for gpm, expected in zip(read.gpms, query.gpms, strict=True):
        assert [variable.name for variable in variables_of(gpm)] == list(expected.variables())
    assert isinstance(read.form, SelectRows)
    assert [column.variable.name for column in read.form.columns] == [column.name for column in columns(query)]


def _names(part: SequencePart) -> list[str]:
    return [found.gpm for found in occurrences(part.operand)]
