"""Groups of a table's rows, and their aggregates, over columns: what `thence.match.modifiers` computes one member at a
time. Groups may be kept from one evaluation to the next: rows that come are added, rows that go are subtracted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from thence.algebra.expressions import Aggregate, AggregateFunction, Variable
from thence.algebra.patterns import GroupKey
from thence.columns.arrays import Ids, Ints
from thence.columns.dictionary import UNBOUND, Terms
from thence.match.context import Context, Solution
from thence.match.expression_columns import ExpressionColumns
from thence.match.modifiers import AggregateVariables
from thence.match.solution_table import SolutionTable
from thence.match.solve import reason_in_expression
from thence.rdf.terms import Term
from thence.rdf.values import literal
from thence.relation.group_accumulators import GroupAccumulator, group_numbers


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


@dataclass(slots=True, eq=False)
class Groups:
    """The groups of a query. Rows are columns of ids: the number of the group, then the operand of each aggregate that
    has one."""

    keys: tuple[GroupKey, ...] | None
    aggregates: Sequence[Aggregate]
    terms: Terms
    subtracts: bool = True
    """Whether rows may go."""
    key_ids: list[tuple[int, ...]] = field(default_factory=list)  # of each group
    sizes: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    values: dict[int, list[Term | None]] = field(default_factory=dict)  # of the groups that have rows
    _numbers: dict[tuple[int, ...], int] = field(default_factory=dict)
    _accumulators: list[GroupAccumulator] = field(default_factory=list)

    def __post_init__(self) -> None:
        own = [each for each in self.aggregates if each.operand is not None]
        self._accumulators = [GroupAccumulator.of(each, subtracts=self.subtracts) for each in own]
        if not self.keys:
            self._number([()])
        if self.keys is None:  # all rows are one group, be there none
            self._settle(np.zeros(1, np.int64))

    @property
    def width(self) -> int:
        return 1 + len(self._accumulators)

    def columns(self, table: SolutionTable, context: Context) -> Ids:
        """The rows of a table as columns of ids."""
        found = ExpressionColumns(self.terms, table, context)
        keys = [found.ids(key.expression) for key in self.keys or ()]
        operands = [found.ids(each.operand) for each in self.aggregates if each.operand is not None]
        numbers, firsts = group_numbers(keys, len(table))
        if keys:
            numbers = self._number(list(zip(*(ids[firsts].tolist() for ids in keys), strict=True)))[numbers]
        return np.array([numbers, *operands], np.int32).reshape(self.width, len(table))

    def _number(self, keys: Sequence[tuple[int, ...]]) -> Ints:
        """The numbers of groups, by their keys."""
        found = [self._numbers.setdefault(key, len(self._numbers)) for key in keys]
        self.key_ids += list(self._numbers)[len(self.key_ids) :]
        if len(self.key_ids) > len(self.sizes):
            more = 2 * len(self.key_ids) + 16
            self.sizes = np.append(self.sizes, np.zeros(more - len(self.sizes), np.int64))
            for each in self._accumulators:
                each.grow(more)
        return np.array(found, np.int64)

    def update(self, came: Ids, went: Ids) -> Ints:
        """Rows have come and gone. The groups that have changed."""
        both = np.concatenate([came, went], axis=1)
        groups = both[0].astype(np.int64)
        signs = np.repeat(np.array([1, -1]), [came.shape[1], went.shape[1]])
        np.add.at(self.sizes, groups, signs)
        for each, ids in zip(self._accumulators, both[1:], strict=True):
            each.update(groups, ids, signs, self.terms)
        changed = np.unique(groups)
        self._settle(changed)
        return changed

    def _settle(self, changed: Ints) -> None:
        """The values of the groups that have changed."""
        for group in changed.tolist():
            if not self.sizes[group] and self.keys is not None:
                self.values.pop(group, None)
                continue
            own = iter(self._accumulators)
            self.values[group] = [
                literal(int(self.sizes[group])) if each.operand is None else next(own).value(group, self.terms)
                for each in self.aggregates
            ]

    def solutions(self, chosen: Iterable[int], aggregated: AggregateVariables) -> Iterator[tuple[int, Solution]]:
        """The chosen groups that have rows, each with its solution: the named keys and the aggregates."""
        names = [key.variable or key.expression for key in self.keys or ()]
        for group in chosen:
            if group not in self.values:
                continue
            found: Solution = {}
            for name, key in zip(names, self.key_ids[group], strict=True):
                if isinstance(name, Variable) and key != UNBOUND:
                    found[name] = self.terms[key]
            for variable, value in zip(aggregated.variables.values(), self.values[group], strict=True):
                if value is not None:
                    found[variable] = value
            yield group, found


@dataclass(frozen=True, slots=True, eq=False)
class GroupedColumns:
    """Groups the rows of a table, once."""

    table: SolutionTable
    terms: Terms

    def grouped(
        self, keys: Sequence[GroupKey] | None, aggregated: AggregateVariables, context: Context
    ) -> Iterator[Solution]:
        """AggregateJoin: a solution for each group."""
        listed = None if keys is None else tuple(keys)
        groups = Groups(listed, list(aggregated.variables), self.terms, subtracts=False)
        rows = groups.columns(self.table, context)
        groups.update(rows, rows[:, :0])
        return (solution for _, solution in groups.solutions(list(groups.values), aggregated))
