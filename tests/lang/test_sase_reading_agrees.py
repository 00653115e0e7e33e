"""What the oracle calls legal is read as it is meant, and what it calls an error is refused."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from oracle.sase_cases import aggregate_cases, queries
from oracle.sase_composed import written
from oracle.sase_composed_cases import Text, texts
from oracle.sase_legal import problems
from oracle.sase_query import ANY, Equivalence, PartitionBy, Query
from oracle.sase_text import key_name, text
from oracle.sase_types import conflicts
from strategies import examples
from support.sase_composed import is_ruled_out
from thence.algebra.sase import ComponentQuery
from thence.algebra.show_sase import key_text
from thence.errors import QueryError
from thence.lang.sase.parser import parse


def read(query: Query) -> ComponentQuery:
    (block,) = parse(text(query)).queries[-1].blocks
    return block


def comparable(query: Query) -> list[tuple[str | None, str, bool, bool, str, bool]]:
    """Components as the oracle has them. A negated one that is not a closure has no strategy, whatever it is called."""
    return [
        (
            None if each.type == ANY else each.type,
            each.variable,
            each.closure,
            each.negated,
            "" if each.negated and not each.closure else query.strategy(each).value,
            query.stops(each),
        )
        for each in query.components
    ]


@given(st.one_of(queries(), aggregate_cases(plain=True).map(lambda case: case.query)))
def test_a_legal_query_is_read_as_it_is_meant(query: Query) -> None:
    block = read(query)
    assert comparable(query) == [
        (
            None if each.type is None else each.type.local,
            each.variable,
            each.closure,
            each.negated,
            "" if each.negated and not each.closure else each.strategy.value,
            each.cut,
        )
        for each in block.components
    ]
    assert (None if block.window is None else block.window.length) == query.within
    plain = [each for each in query.all_conditions() if not isinstance(each, Equivalence | PartitionBy)]
    assert len(block.conditions) >= len(plain)
    equal = {name for each in query.all_conditions() if isinstance(each, Equivalence) for name in each.attributes}
    assert {name.local for name in block.equal} == equal
    keys = [key for each in query.all_conditions() if isinstance(each, PartitionBy) for key in each.keys]
    assert [key_text(key).replace(" ", "") for key in block.partition] == [key_name(key) for key in keys]


@given(queries(), st.data())
def test_a_query_that_is_none_is_refused(query: Query, data: st.DataObject) -> None:
    """Made so by a component that is another: a closure where it was none, negated where it was not."""
    broken = data.draw(st.sampled_from(spoilt(query)))
    assume(problems(broken))
    with pytest.raises(QueryError):
        read(broken)


@examples(2)
@given(st.booleans().flatmap(lambda totals: texts(totals=totals, told_apart=False)))
def test_a_union_is_refused_where_the_types_of_a_column_do_not_agree(text: Text) -> None:
    found = conflicts(text.queries)
    reason = ""
    try:
        parse(written(text.queries))
    except QueryError as error:
        reason = error.reason
    assume(not is_ruled_out(reason))
    named = [f'The column "{name}" of the UNION would be' for name in found]
    assert any(each in reason for each in named) if named else not reason, reason


def test_unions_of_types_that_agree_and_of_others_are_drawn() -> None:
    counts = Counter[bool]()

    @examples(1)
    @given(texts(told_apart=False))
    def look(text: Text) -> None:
        counts[bool(conflicts(text.queries))] += 1

    look()
    assert min(counts[True], counts[False]) > 0.05 * counts.total()


def spoilt(query: Query) -> list[Query]:
    from dataclasses import replace

    found = []
    for number, component in enumerate(query.components):
        for other in (
            replace(component, closure=not component.closure),
            replace(component, negated=not component.negated),
        ):
            components = (*query.components[:number], other, *query.components[number + 1 :])
            found.append(replace(query, components=components))
    return [*found, replace(query, within=None)]
