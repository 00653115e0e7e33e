"""What makes an EP-SPARQL file mean nothing, and what is legal but hardly meant."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from thence.algebra.patterns import (
    Bgp,
    Extend,
    Filter,
    Graph,
    Join,
    LeftJoin,
    MatchPattern,
    Minus,
    Pattern,
    Select,
    SubSelect,
    TemporalJoin,
    TemporalOperator,
    Union,
    Values,
    WindowPattern,
)
from thence.algebra.variables import has_aggregate
from thence.lang.ep_sparql.draft import Draft, DraftStatement
from thence.lang.sparql.unbound_variables import below, given_variables, unbound_in_filters, unbound_in_form


def warnings(draft: Draft) -> Iterator[str]:
    """What is legal, but hardly meant, each as a sentence with its place."""
    yield from draft.cautions
    for each in draft.statements:
        statement = each.statement
        if isinstance(statement, Select) and not reads_stream(statement.where):
            reason = "This SELECT emits no row: no solution of its pattern has a time of the stream."
            yield str(draft.error(reason, each.at, hint="a mandatory pattern outside GRAPH"))
        yield from unbound_in_form(draft, statement, each.at)
        yield from unbound_in_filters(draft, statement.where, given_variables(statement))
        yield from _running(draft, each)


def reads_stream(pattern: Pattern) -> bool:
    """Whether a solution can have a time (EP-38): some part that is always there is matched by the stream."""
    match pattern:
        case Bgp():
            return bool(pattern.triples)
        case Join() | Union():
            return reads_stream(pattern.left) or reads_stream(pattern.right)
        case LeftJoin() | Minus():
            return reads_stream(pattern.left)  # what is timeless joins only timeless optional parts (EP-24)
        case TemporalJoin(TemporalOperator.SEQ):
            return reads_stream(pattern.left) or reads_stream(pattern.right)
        case TemporalJoin(TemporalOperator.EQUALS):
            return reads_stream(pattern.left) and reads_stream(pattern.right)  # EP-36
        case TemporalJoin(TemporalOperator.OPTIONALSEQ):
            return reads_stream(pattern.right)  # EP-25
        case TemporalJoin():
            return reads_stream(pattern.left)
        case Filter() | Extend():
            return reads_stream(pattern.pattern)
        case SubSelect():
            return reads_stream(pattern.select.where)
        case Graph() | Values():
            return False
        case WindowPattern() | MatchPattern():
            raise AssertionError("RSEP-QL has it, not EP-SPARQL")
        case _:
            assert_never(pattern)


def _running(draft: Draft, each: DraftStatement) -> Iterator[str]:
    """Aggregates in sub-selects, which give every running version of their value (EP-60)."""
    waiting = [each.statement.where]
    while waiting:
        pattern = waiting.pop()
        if isinstance(pattern, SubSelect) and _aggregates(pattern.select):
            reason = "An aggregate in a sub-select gives a row for each of its running values, and joins with all."
            yield str(draft.error(reason, each.at))
            return
        waiting += below(pattern)


def _aggregates(select: Select) -> bool:
    expressions = [column.expression for column in select.columns or () if column.expression is not None]
    grouped = select.modifiers.group is not None
    return grouped or any(map(has_aggregate, (*expressions, *select.modifiers.having)))
