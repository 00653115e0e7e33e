"""Groups and aggregates over columns: what `thence.match.modifiers` computes one member at a time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Aggregate, AggregateFunction, Variable
from thence.algebra.patterns import GroupKey
from thence.columns.arrays import Ids, Ints
from thence.columns.dictionary import UNBOUND, Terms
from thence.columns.value_kinds import DECIMAL, DOUBLE, FLOAT, INTEGER, KIND_MASK, NONE, OTHER, SCALE_SHIFT
from thence.match.arithmetic import number, written
from thence.match.context import Context, ExpressionError, Solution
from thence.match.expression_columns import ExpressionColumns
from thence.match.modifiers import AggregateVariables
from thence.match.solution_table import SolutionTable
from thence.match.solve import reason_in_expression
from thence.rdf import numbers
from thence.rdf.numbers import Float, Number
from thence.rdf.terms import Term
from thence.rdf.values import literal, total_key
from thence.relation.binary_sums import BinarySums
from thence.relation.exact_sums import ExactSum

# SUM over columns: the exact sum of the members of each group, which can be added and subtracted in any order.
#
# What a sum is stands in `thence.relation.exact_sums`, which takes one member at a time.

_MOST = 2**62


@dataclass(frozen=True, slots=True, eq=False)
class Members:
    """Members of groups, by their terms: the kind of each (NONE: no number), and its value as far as 64 bits hold it;
    those that they do not hold are in `others`, by rows."""

    kinds: Ints
    bits: Ints
    scales: Ints
    others: Mapping[int, Number]

    @classmethod
    def of(cls, ids: Ids, terms: Terms) -> Members:
        tags, bits = terms.tags[ids].astype(np.int64), terms.bits[ids]
        kinds = tags & KIND_MASK
        known: dict[int, Number | None] = {}
        others: dict[int, Number] = {}
        for row in np.flatnonzero(kinds == OTHER).tolist():
            name = int(ids[row])
            if name not in known:
                known[name] = _number(name, terms)
            found = known[name]
            kinds[row] = _kind(found)
            if found is not None:
                others[row] = found
        kinds[(kinds < INTEGER) | (kinds > DOUBLE)] = NONE
        return cls(kinds, bits, np.where(kinds == DECIMAL, tags >> SCALE_SHIFT, 0), others)

    @property
    def is_binary(self) -> NDArray[np.bool_]:
        """Which are floats or doubles."""
        found: NDArray[np.bool_] = self.kinds >= FLOAT
        return found

    def doubles(self) -> NDArray[np.float64]:
        """Floats and doubles; of the other rows, anything."""
        found = self.bits.view(np.float64)
        binary = {row: each for row, each in self.others.items() if isinstance(each, float)}
        if binary:
            found = found.copy()
            found[list(binary)] = list(binary.values())
        return found


def _number(name: int, terms: Terms) -> Number | None:
    try:
        return number(terms[name])
    except ExpressionError:
        return None


def _kind(found: Number | None) -> int:
    match found:
        case None:
            return NONE
        case Float():
            return FLOAT
        case float():
            return DOUBLE
        case int():
            return INTEGER
        case _:
            return DECIMAL


@dataclass(slots=True, eq=False)
class GroupSums:
    """The sums of groups. `kinds` counts the members of each kind, NONE to DOUBLE; `totals`, of integers and decimals,
    are in units of 10 to the minus `scale`: Python's integers where 64 bits may not hold them."""

    kinds: Ints
    totals: NDArray[Any]
    binary: BinarySums | None = None
    """Of floats and doubles; None as long as there was none."""
    scale: int = 0
    members: int = 0
    largest: int = 0  # of what has been added, in units

    @classmethod
    def of(cls, groups: int) -> GroupSums:
        """Sums of no members."""
        return cls(np.zeros((groups, DOUBLE + 1), np.int64), np.zeros(groups, np.int64))

    def grow(self, groups: int) -> None:
        more = groups - len(self.totals)
        self.kinds = np.concatenate([self.kinds, np.zeros((more, DOUBLE + 1), np.int64)])
        self.totals = np.append(self.totals, np.zeros(more, self.totals.dtype))
        if self.binary is not None:
            self.binary.grow(groups)

    def add(self, groups: Ints, members: Members, signs: Ints) -> None:
        """Add (1) or subtract (-1) members of groups."""
        np.add.at(self.kinds.reshape(-1), groups * self.kinds.shape[1] + members.kinds, signs)
        self.members += int(signs.sum())
        self._add_exact(groups, members, signs)
        is_binary = members.is_binary
        if is_binary.any():
            self.binary = BinarySums.of(len(self.totals)) if self.binary is None else self.binary
            self.binary.add(groups[is_binary], members.doubles()[is_binary], signs[is_binary])

    def _add_exact(self, groups: Ints, members: Members, signs: Ints) -> None:
        is_exact = (members.kinds == INTEGER) | (members.kinds == DECIMAL)
        is_exact[list(members.others)] = False
        if is_exact.any():
            self._add_units(groups[is_exact], members.bits[is_exact], members.scales[is_exact], signs[is_exact])
        for row, each in members.others.items():
            if isinstance(each, int | Decimal):
                scale = 0 if isinstance(each, int) else max(0, -int(each.as_tuple().exponent))
                self._rescale(scale, _MOST)
                units = int(Decimal(each).scaleb(self.scale, numbers.EXACT))
                self.totals[groups[row]] += units * int(signs[row])

    def _add_units(self, groups: Ints, bits: Ints, scales: Ints, signs: Ints) -> None:
        scale = max(self.scale, int(scales.max()))
        self._rescale(scale, int(np.abs(bits.astype(np.float64)).max()) * 10 ** (scale - int(scales.min())))
        if self.totals.dtype == np.int64:
            np.add.at(self.totals, groups, signs * bits * 10 ** (self.scale - scales))
        else:
            powers = np.array([10 ** (self.scale - each) for each in scales.tolist()], object)
            np.add.at(self.totals, groups, signs.astype(object) * bits.astype(object) * powers)

    def _rescale(self, scale: int, largest: int) -> None:
        """Have units small enough for a scale, and room for members as large as `largest`."""
        scale = max(scale, self.scale)
        factor = 10 ** (scale - self.scale)
        self.largest = max(self.largest * factor, largest)
        if self.totals.dtype == np.int64 and self.largest * (self.members + 1) >= _MOST:
            self.totals = self.totals.astype(object)
        if factor > 1:
            self.totals = self.totals * factor
        self.scale = scale

    def sum_of(self, group: int) -> ExactSum | None:
        """The sum of a group; None: a member is not a number."""
        counts = self.kinds[group].tolist()
        if counts[NONE]:
            return None
        exact = self._exact(int(self.totals[group]), is_integer=not counts[DECIMAL])
        if self.binary is None:
            return ExactSum(exact)
        return ExactSum(exact, self.binary.sum_of(group), bool(counts[FLOAT]), bool(counts[DOUBLE]))

    def _exact(self, total: int, *, is_integer: bool) -> int | Decimal:
        return total // 10**self.scale if is_integer else Decimal(total).scaleb(-self.scale, numbers.EXACT)


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
        for group in range(count):
            found: Solution = {}
            for place, name in enumerate(names):
                if isinstance(name, Variable) and key_ids[place, group] != UNBOUND:
                    found[name] = self.terms[int(key_ids[place, group])]
            for variable, listed in zip(aggregated.variables.values(), values, strict=True):
                value = listed[group]
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
            sums = GroupSums.of(count)
            sums.add(groups, Members.of(ids, terms), np.ones(len(ids), np.int64))
            average = aggregate.function is AggregateFunction.AVG
            return [
                result(sums.sum_of(group), size if average else None) if whole else None
                for group, (size, whole) in enumerate(zip(sizes.tolist(), complete.tolist(), strict=True))
            ]


def firsts(order: Ints, groups: Ints) -> Ints:
    """The row of each group that comes first in an order, by group."""
    by_group = np.lexsort((order, groups))
    found: Ints = by_group[np.unique(groups[by_group], return_index=True)[1]]
    return found


def _chosen(order: Ints, groups: Ints, ids: Ids, count: int, terms: Terms) -> list[Term | None]:
    """The value of each group that comes first in an order."""
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


def result(total: ExactSum | None, size: int | None) -> Term | None:
    """SUM, or AVG of so many."""
    if total is None:
        return None
    try:
        return written(total.value() if size is None else total.average(size))
    except ExpressionError:
        return None
