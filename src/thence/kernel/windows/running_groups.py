"""Aggregates of groups that are kept from one evaluation to the next: rows that come are added, rows that go are
subtracted.

COUNT, and SUM and AVG of integers and decimals, are exact that way. MIN and MAX look again at a group that loses its
least or greatest value. Anything else (DISTINCT, sums of doubles, which depend on the order) is computed again for the
groups that have changed, from the rows that hold; doubles are added in the order of their values, so that the sum does
not depend on how rows have come.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from thence.algebra.expressions import Aggregate, AggregateFunction
from thence.algebra.patterns import GroupKey
from thence.columns.dictionary import UNBOUND, Terms
from thence.columns.term_ids import Ids
from thence.columns.value_kinds import DECIMAL, DOUBLE, FLOAT, INTEGER, KIND_MASK, SCALE_SHIFT
from thence.kernel.windows.table_log import Ints
from thence.match.aggregates import total_key
from thence.match.context import Context
from thence.match.expression_columns import ExpressionColumns
from thence.match.group_columns import aggregate_values, exact_sum, firsts, ranks, result
from thence.match.solution_table import SolutionTable
from thence.rdf.terms import Term
from thence.rdf.values import literal

_ADDING = (AggregateFunction.SUM, AggregateFunction.AVG)
_EXTREMES = (AggregateFunction.MIN, AggregateFunction.MAX)
_MOST = 2**62


@dataclass(slots=True, eq=False)
class Running:
    """One aggregate of all groups. `wanting` counts members without a value, `inexact` those that cannot be added
    exactly, `decimals` those that make a sum a decimal; `totals` are in units of 10 to the minus `scale`; `best` is the
    least or greatest value."""

    aggregate: Aggregate
    bound: Ints
    wanting: Ints
    inexact: Ints
    decimals: Ints
    totals: Ints
    best: Ids
    scale: int = 0
    largest: int = 0  # of what has been added, in units
    is_exact: bool = True  # whether totals stay within 64 bits

    @classmethod
    def of(cls, aggregate: Aggregate, groups: int) -> Running:
        bound, wanting, inexact, decimals, totals = (np.zeros(groups, np.int64) for _ in range(5))
        return cls(aggregate, bound, wanting, inexact, decimals, totals, np.full(groups, UNBOUND, np.int32))

    def grow(self, groups: int) -> None:
        more = np.zeros(groups - len(self.bound), np.int64)
        self.bound, self.wanting = np.append(self.bound, more), np.append(self.wanting, more)
        self.inexact, self.decimals = np.append(self.inexact, more), np.append(self.decimals, more)
        self.totals = np.append(self.totals, more)
        self.best = np.append(self.best, np.full(len(more), UNBOUND, np.int32))

    def update(self, groups: Ints, ids: Ids, signs: Ints, members: int, terms: Terms) -> Ints:
        """Rows come (1) and go (−1). The groups that must be computed again."""
        changed = np.unique(groups)
        has_value = ids != UNBOUND
        np.add.at(self.bound, groups[has_value], signs[has_value])
        np.add.at(self.wanting, groups[~has_value], signs[~has_value])
        groups, ids, signs = groups[has_value], ids[has_value], signs[has_value]
        if self.aggregate.distinct:
            return changed
        if self.aggregate.function in _ADDING:
            self._add(groups, ids, signs, members, terms)
            return changed if not self.is_exact else changed[self.inexact[changed] > 0]
        if self.aggregate.function in _EXTREMES:
            return self._compare(groups, ids, signs, changed, terms)
        return changed[:0]

    def _add(self, groups: Ints, ids: Ids, signs: Ints, members: int, terms: Terms) -> None:
        tags, bits = terms.tags[ids], terms.bits[ids]
        kinds = tags & KIND_MASK
        is_decimal = kinds == DECIMAL
        can_add = is_decimal | (kinds == INTEGER)
        np.add.at(self.inexact, groups[~can_add], signs[~can_add])
        np.add.at(self.decimals, groups[is_decimal], signs[is_decimal])
        if not self.is_exact or not can_add.any():
            return
        groups, signs, bits = groups[can_add], signs[can_add], bits[can_add]
        scales = np.where(is_decimal, tags >> SCALE_SHIFT, 0)[can_add].astype(np.int64)
        scale = max(self.scale, int(scales.max()))
        largest = max(self.largest * 10 ** (scale - self.scale), int(np.abs(bits.astype(np.float64)).max()) * 10**scale)
        self.is_exact = largest * (members + len(bits)) < _MOST
        if self.is_exact:
            self.totals *= 10 ** (scale - self.scale)
            self.scale, self.largest = scale, largest
            np.add.at(self.totals, groups, signs * bits * 10 ** (scale - scales))

    def _compare(self, groups: Ints, ids: Ids, signs: Ints, changed: Ints, terms: Terms) -> Ints:
        came, went = signs > 0, signs < 0
        lost = np.zeros(len(self.best), np.bool_)
        lost[groups[went][ids[went] == self.best[groups[went]]]] = True
        order = ranks(ids[came], terms, descending=self.aggregate.function is AggregateFunction.MAX)
        for row in firsts(order, groups[came]).tolist():
            group, found = int(groups[came][row]), int(ids[came][row])
            known = int(self.best[group])
            if not lost[group] and (known == UNBOUND or self._is_better(found, known, terms)):
                self.best[group] = found
        return changed[lost[changed]]

    def _is_better(self, left: int, right: int, terms: Terms) -> bool:
        if left == right:
            return False
        keys = total_key(terms[left]), total_key(terms[right])
        return keys[0] < keys[1] if self.aggregate.function is AggregateFunction.MIN else keys[0] > keys[1]

    def value(self, group: int, terms: Terms) -> Term | None:
        """The value of a group that need not be computed again; None: an error."""
        if self.aggregate.function is AggregateFunction.COUNT:
            return literal(int(self.bound[group]))
        if self.wanting[group]:
            return None
        if self.aggregate.function in _EXTREMES:
            return None if self.best[group] == UNBOUND else terms[int(self.best[group])]
        total = exact_sum(int(self.totals[group]), self.scale, is_integer=not self.decimals[group])
        return result(total, int(self.bound[group]) if self.aggregate.function is AggregateFunction.AVG else None)


@dataclass(slots=True, eq=False)
class RunningGroups:
    """The groups of a query. Rows are columns of ids: the number of the group, then the operand of each aggregate that
    has one."""

    keys: tuple[GroupKey, ...] | None
    aggregates: Sequence[Aggregate]
    terms: Terms
    key_ids: list[tuple[int, ...]] = field(default_factory=list)  # of each group
    sizes: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    values: dict[int, list[Term | None]] = field(default_factory=dict)  # of the groups that have rows
    _numbers: dict[tuple[int, ...], int] = field(default_factory=dict)
    _running: list[Running] = field(default_factory=list)
    _members: int = 0

    def __post_init__(self) -> None:
        self._running = [Running.of(each, 0) for each in self.aggregates if each.operand is not None]
        if not self.keys:
            self._number(())
        if self.keys is None:  # all rows are one group, be there none
            self._settle(np.zeros(1, np.int64), {})

    @property
    def width(self) -> int:
        return 1 + len(self._running)

    def columns(self, table: SolutionTable, context: Context) -> Ids:
        """The rows of a table as columns of ids."""
        found = ExpressionColumns(self.terms, table, context)
        keys = np.array([found.ids(key.expression) for key in self.keys or ()], np.int32).reshape(-1, len(table))
        operands = [found.ids(each.aggregate.operand) for each in self._running if each.aggregate.operand is not None]
        numbers = np.zeros(len(table), np.int32)
        if self.keys:
            distinct, where = np.unique(keys, axis=1, return_inverse=True)
            numbers = np.array([self._number(tuple(key)) for key in distinct.T.tolist()], np.int32)[where.ravel()]
        return np.array([numbers, *operands], np.int32).reshape(self.width, len(table))

    def _number(self, key: tuple[int, ...]) -> int:
        if key not in self._numbers:
            self._numbers[key] = len(self.key_ids)
            self.key_ids.append(key)
            if len(self.key_ids) > len(self.sizes):
                more = 2 * len(self.key_ids) + 16
                self.sizes = np.append(self.sizes, np.zeros(more - len(self.sizes), np.int64))
                for each in self._running:
                    each.grow(more)
        return self._numbers[key]

    def update(self, came: Ids, went: Ids, rows: Callable[[], Ids]) -> Ints:
        """Rows have come and gone; `rows` returns those that hold now. The groups that have changed."""
        both = np.concatenate([came, went], axis=1)
        groups = both[0].astype(np.int64)
        signs = np.repeat(np.array([1, -1]), [came.shape[1], went.shape[1]])
        np.add.at(self.sizes, groups, signs)
        self._members += came.shape[1] - went.shape[1]
        again = {}
        for place, each in enumerate(self._running):
            doubtful = each.update(groups, both[place + 1], signs, self._members, self.terms)
            if len(doubtful):
                holding = rows()
                again[place] = self._computed(each, doubtful, holding[0], holding[place + 1])
        changed = np.unique(groups)
        self._settle(changed, again)
        return changed

    def _computed(self, running: Running, groups: Ints, numbers: Ids, ids: Ids) -> dict[int, Term | None]:
        """An aggregate of some groups, from the rows that hold."""
        places = np.full(len(self.sizes), -1, np.int64)
        places[groups] = np.arange(len(groups))
        own = np.flatnonzero(places[numbers] >= 0)
        chosen, operands = places[numbers[own]], ids[own]
        if running.aggregate.function in _ADDING:
            order = _by_value(operands, self.terms)
            chosen, operands = chosen[order], operands[order]
        found = aggregate_values(running.aggregate, chosen, operands, len(groups), self.terms)
        if running.aggregate.function in _EXTREMES and not running.aggregate.distinct:
            running.best[groups] = self._extremes(running, chosen, operands, len(groups))
        return dict(zip(groups.tolist(), found, strict=True))

    def _extremes(self, running: Running, groups: Ints, ids: Ids, count: int) -> Ids:
        found = np.full(count, UNBOUND, np.int32)
        has_value = ids != UNBOUND
        groups, ids = groups[has_value], ids[has_value]
        order = ranks(ids, self.terms, descending=running.aggregate.function is AggregateFunction.MAX)
        chosen = firsts(order, groups)
        found[groups[chosen]] = ids[chosen]
        return found

    def _settle(self, changed: Ints, again: dict[int, dict[int, Term | None]]) -> None:
        """The values of the groups that have changed."""
        for group in changed.tolist():
            if not self.sizes[group] and self.keys is not None:
                self.values.pop(group, None)
                continue
            found: list[Term | None] = []
            running = iter(enumerate(self._running))
            for aggregate in self.aggregates:
                if aggregate.operand is None:
                    found.append(literal(int(self.sizes[group])))
                    continue
                place, each = next(running)
                known = again.get(place, {})
                found.append(known[group] if group in known else each.value(group, self.terms))
            self.values[group] = found


def _by_value(ids: Ids, terms: Terms) -> Ints:
    """The order of numbers by their values. Of others, by their texts."""
    tags, bits = terms.tags[ids], terms.bits[ids]
    kinds = tags & KIND_MASK
    if not np.isin(kinds, (INTEGER, DECIMAL, DOUBLE, FLOAT))[ids != UNBOUND].all():
        keys = {each: total_key(terms[each]) for each in np.unique(ids).tolist() if each != UNBOUND}
        return np.array(sorted(range(len(ids)), key=lambda row: keys.get(int(ids[row]), ())), np.int64)
    is_double = (kinds == DOUBLE) | (kinds == FLOAT)
    values = np.where(is_double, bits.view(np.float64), bits / 10.0 ** (tags >> SCALE_SHIFT))
    found: Ints = np.lexsort((bits, tags, values))
    return found
