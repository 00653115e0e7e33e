"""Groups and aggregates over columns: what `thence.match.aggregates` computes one member at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Aggregate, AggregateFunction, Variable
from thence.algebra.patterns import GroupKey
from thence.columns.dictionary import UNBOUND, Terms
from thence.columns.value_kinds import INTEGER
from thence.match.aggregates import AggregateVariables, total_key
from thence.match.arithmetic import written
from thence.match.context import Context, Solution
from thence.match.evaluator_choice import reason_in_expression
from thence.match.expression_columns import ExpressionColumns
from thence.match.expression_errors import ExpressionError
from thence.match.group_sums import GroupSums, Members
from thence.match.solution_table import Ids, SolutionTable
from thence.rdf import numbers
from thence.rdf.numbers import Number
from thence.rdf.terms import Term
from thence.rdf.values import literal

Ints = NDArray[np.int64]


def can_group(keys: Sequence[GroupKey] | None, aggregates: Sequence[Aggregate]) -> bool:
    """Whether all keys and aggregates can be computed over columns."""
    if any(reason_in_expression(key.expression) for key in keys or ()):
        return False
    for each in aggregates:
        if each.function is AggregateFunction.GROUP_CONCAT or (each.operand is None and each.distinct):
            return False
        if each.operand is not None and reason_in_expression(each.operand):
            return False
    return True


@dataclass(frozen=True, slots=True, eq=False)
class GroupedColumns:
    """Groups the rows of a table."""

    table: SolutionTable
    terms: Terms

    def grouped(
        self, keys: Sequence[GroupKey] | None, aggregated: AggregateVariables, context: Context
    ) -> Iterator[Solution]:
        """AggregateJoin: a solution for each group."""
        columns = ExpressionColumns(self.terms, self.table, context)
        groups, key_ids = self._groups(keys, columns)
        count = 1 if keys is None else key_ids.shape[1]
        values = [self._values(each, groups, count, columns) for each in aggregated.variables]
        names = [key.variable or key.expression for key in keys or ()]
        for number in range(count):
            found: Solution = {}
            for place, name in enumerate(names):
                if isinstance(name, Variable) and key_ids[place, number] != UNBOUND:
                    found[name] = self.terms[int(key_ids[place, number])]
            for variable, listed in zip(aggregated.variables.values(), values, strict=True):
                value = listed[number]
                if value is not None:
                    found[variable] = value
            yield found

    def _groups(self, keys: Sequence[GroupKey] | None, columns: ExpressionColumns) -> tuple[Ints, Ids]:
        """The group of each row, and the ids of the keys of each group."""
        rows = len(self.table)
        if not keys:
            none = np.zeros(rows, np.int64)
            return none, np.empty((0, 0 if keys is not None and not rows else 1), np.int32)
        ids = np.array([columns.ids(key.expression) for key in keys], np.int32)
        groups, first = np.zeros(rows, np.int64), np.zeros(1, np.int64)
        for each in ids:
            groups, first = _numbered(groups * (len(self.terms) + 1) + each + 1, len(first) * (len(self.terms) + 1))
        return groups, ids[:, first]

    def _values(self, aggregate: Aggregate, groups: Ints, count: int, columns: ExpressionColumns) -> list[Term | None]:
        if aggregate.operand is None:
            return [literal(int(each)) for each in np.bincount(groups, minlength=count)]
        return aggregate_values(aggregate, groups, columns.ids(aggregate.operand), count, self.terms)


def aggregate_values(aggregate: Aggregate, groups: Ints, ids: Ids, count: int, terms: Terms) -> list[Term | None]:
    """An aggregate of each group; None: an error. `groups` and `ids` have the group of each row, and its operand."""
    if aggregate.distinct:
        codes = groups * (len(terms) + 1) + ids + 1
        first = np.sort(np.unique(codes, return_index=True)[1])
        groups, ids = groups[first], ids[first]
    bound = ids != UNBOUND
    complete = np.bincount(groups[~bound], minlength=count) == 0
    groups, ids = groups[bound], ids[bound]
    sizes = np.bincount(groups, minlength=count)
    match aggregate.function:
        case AggregateFunction.COUNT:
            return [literal(int(each)) for each in sizes]
        case AggregateFunction.SAMPLE:
            return _chosen(np.arange(len(ids)), groups, ids, count, terms)
        case AggregateFunction.MIN | AggregateFunction.MAX:
            order = ranks(ids, terms, descending=aggregate.function is AggregateFunction.MAX)
            found = _chosen(order, groups, ids, count, terms)
            return [each if whole else None for each, whole in zip(found, complete.tolist(), strict=True)]
        case _:
            sums = GroupSums.of(count, grows=False)
            sums.add(groups, Members.of(ids, terms), np.ones(len(ids), np.int64))
            average = aggregate.function is AggregateFunction.AVG
            return [
                result(total, size if average else None) if whole else None
                for total, size, whole in zip(sums.totals_of_all(), sizes.tolist(), complete.tolist(), strict=True)
            ]


def firsts(order: Ints, groups: Ints) -> Ints:
    """Of each group that there is, the row that is first in an order; by the group."""
    by_group = np.lexsort((order, groups))
    found: Ints = by_group[np.unique(groups[by_group], return_index=True)[1]]
    return found


def _chosen(order: Ints, groups: Ints, ids: Ids, count: int, terms: Terms) -> list[Term | None]:
    """Of each group, the value that is first in an order."""
    found: list[Term | None] = [None] * count
    for row in firsts(order, groups).tolist():
        found[int(groups[row])] = terms[int(ids[row])]
    return found


def ranks(ids: Ids, terms: Terms, *, descending: bool) -> Ints:
    """The place of each value in the order of MIN, or of MAX."""
    distinct, where = np.unique(ids, return_inverse=True)
    tags, bits = terms.tags[distinct], terms.bits[distinct]
    if (tags == INTEGER).all() and len(np.unique(bits)) == len(bits):
        places: Ints = bits
    else:
        order = sorted(range(len(distinct)), key=lambda each: total_key(terms[int(distinct[each])]))
        places = np.empty(len(distinct), np.int64)
        places[order] = np.arange(len(distinct))
    found: Ints = np.unique(places[where], return_inverse=True)[1]
    return -found if descending else found


def _numbered(codes: Ints, size: int) -> tuple[Ints, Ints]:
    """Codes, which are below `size`, numbered from 0 on: the number of each, and the row where each number stands
    first or last."""
    if size > 4 * len(codes) + 1000:
        _, first, numbers_of = np.unique(codes, return_index=True, return_inverse=True)
        return numbers_of, first
    places = np.full(size, -1, np.int64)
    places[codes] = np.arange(len(codes))
    found = np.flatnonzero(places >= 0)
    renumbered = np.empty(size, np.int64)
    renumbered[found] = np.arange(len(found))
    return renumbered[codes], places[found]


def result(total: Number | None, size: int | None) -> Term | None:
    """SUM, or AVG of so many."""
    if total is None:
        return None
    try:
        return written(total if size is None else numbers.divide(total, size) if size else 0)
    except ExpressionError:
        return None
