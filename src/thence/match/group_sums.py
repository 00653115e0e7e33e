"""SUM over columns: the exact sum of the members of each group, which can be added and subtracted in any order.

What a sum is stands in `thence.rdf.exact_sums`, which takes one member at a time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thence.columns.binary_sums import BinarySums
from thence.columns.dictionary import Terms
from thence.columns.term_ids import Ids
from thence.columns.value_kinds import DECIMAL, DOUBLE, FLOAT, INTEGER, KIND_MASK, MAX_SCALE, NONE, OTHER, SCALE_SHIFT
from thence.match.arithmetic import number
from thence.match.expression_errors import ExpressionError
from thence.rdf import numbers
from thence.rdf.exact_sums import UNIT, BinarySum, ExactSum
from thence.rdf.numbers import Float, Number

Ints = NDArray[np.int64]

_MOST = 2**62
_POWERS = np.array([float(10**each) for each in range(MAX_SCALE + 1)])  # exact
_EXACT_DOUBLE, _EXACT_SINGLE = 2**53, 2**24  # up to which every integer is a double, a single
_TIE_MASK, _TIE = (1 << 29) - 1, 1 << 28  # the digits of a double that a single has not; half of its last one


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
        is_long = (kinds == DECIMAL) & ((bits > _EXACT_DOUBLE) | (bits < -_EXACT_DOUBLE))
        known: dict[int, Number | None] = {}
        others: dict[int, Number] = {}
        for row in np.flatnonzero((kinds == OTHER) | is_long).tolist():
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
    def has_binary(self) -> bool:
        """Whether there are floats or doubles."""
        return bool((self.kinds >= FLOAT).any())

    @property
    def are_small_integers(self) -> bool:
        """Whether singles and doubles hold all that are numbers."""
        if self.others or (self.kinds >= DECIMAL).any():
            return False
        bits = self.bits[self.kinds == INTEGER]
        return bool(((bits >= -_EXACT_SINGLE) & (bits <= _EXACT_SINGLE)).all())

    def doubles(self) -> NDArray[np.float64]:
        """Each as a double; 0 for those that are no numbers."""
        found = np.where(self.kinds >= FLOAT, self.bits.view(np.float64), self.bits / _POWERS[self.scales])
        found[self.kinds == NONE] = 0
        for row, each in self.others.items():
            found[row] = numbers.to_double(each)
        return found

    def singles(self) -> NDArray[np.float64]:
        """Each as a single; 0 for doubles and those that are no numbers."""
        found = self.doubles()
        found[self.kinds == DOUBLE] = 0
        is_integer = self.kinds == INTEGER
        found[is_integer] = self.bits[is_integer].astype(np.float32)
        is_decimal = self.kinds == DECIMAL
        ties = np.flatnonzero(is_decimal & (found.view(np.int64) & _TIE_MASK == _TIE))  # rounded twice, perhaps
        found[is_decimal] = found[is_decimal].astype(np.float32)
        for row in ties.tolist():
            found[row] = numbers.to_single(Decimal(int(self.bits[row])).scaleb(-int(self.scales[row]), numbers.EXACT))
        for row, each in self.others.items():
            found[row] = 0 if type(each) is float else numbers.to_single(each)
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
    grows: bool
    binary: tuple[BinarySums, BinarySums] | None = None
    """Of all but doubles, each as a single; of all, each as a double. None as long as the other fields say as much."""
    scale: int = 0
    members: int = 0
    largest: int = 0  # of what has been added, in units

    @classmethod
    def of(cls, groups: int, *, grows: bool) -> GroupSums:
        """Sums of no members. `grows`: members are added or subtracted more than once."""
        return cls(np.zeros((groups, DOUBLE + 1), np.int64), np.zeros(groups, np.int64), grows)

    def grow(self, groups: int) -> None:
        more = groups - len(self.totals)
        self.kinds = np.concatenate([self.kinds, np.zeros((more, DOUBLE + 1), np.int64)])
        self.totals = np.append(self.totals, np.zeros(more, self.totals.dtype))
        for each in self.binary or ():
            each.grow(groups)

    def add(self, groups: Ints, members: Members, signs: Ints) -> None:
        """Add (1) or subtract (-1) members of groups."""
        if self.binary is None and (members.has_binary or (self.grows and not members.are_small_integers)):
            self.binary = self._promoted(), self._promoted()
        np.add.at(self.kinds.reshape(-1), groups * self.kinds.shape[1] + members.kinds, signs)
        self.members += int(signs.sum())
        self._add_exact(groups, members, signs)
        if self.binary is not None:
            for sums, values in zip(self.binary, (members.singles(), members.doubles()), strict=True):
                sums.add(groups, values, signs)

    def _promoted(self) -> BinarySums:
        """The sums of small integers as those of singles or doubles."""
        found = BinarySums.of(len(self.totals))
        groups = np.flatnonzero(self.totals)
        totals, one = self.totals[groups], np.ones(len(groups), np.int64)
        found.add(groups, (totals >> 31).astype(np.float64) * 2.0**31, one)  # both parts are doubles
        found.add(groups, (totals & (2**31 - 1)).astype(np.float64), one)
        return found

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

    def total(self, group: int) -> Number | None:
        """The sum of a group; None: a member is no number."""
        counts = self.kinds[group].tolist()
        if counts[NONE]:
            return None
        if self.binary is not None:
            singles, doubles = self.binary
            if counts[DOUBLE]:
                return doubles.sum_of(group).double()
            if counts[FLOAT]:
                return singles.sum_of(group).single()
        return self._exact(int(self.totals[group]), is_integer=not counts[DECIMAL])

    def totals_of_all(self) -> list[Number | None]:
        """The sum of each group."""
        if (self.kinds[:, [NONE, FLOAT, DOUBLE]] != 0).any():
            return [self.total(group) for group in range(len(self.totals))]
        whole = (self.kinds[:, DECIMAL] == 0).tolist()
        return [self._exact(total, is_integer=each) for total, each in zip(self.totals.tolist(), whole, strict=True)]

    def _exact(self, total: int, *, is_integer: bool) -> int | Decimal:
        return total // 10**self.scale if is_integer else Decimal(total).scaleb(-self.scale, numbers.EXACT)

    def sum_of(self, group: int) -> ExactSum:
        """The sum of a group, to which others can be added."""
        assert self.grows
        counts = self.kinds[group].tolist()
        exact = self._exact(int(self.totals[group]), is_integer=not counts[DECIMAL])
        if self.binary is None:  # all are small integers
            units = int(exact) << UNIT
            return ExactSum(exact, BinarySum(units), BinarySum(units))
        singles, doubles = (each.sum_of(group) for each in self.binary)
        return ExactSum(exact, singles, doubles, bool(counts[FLOAT]), bool(counts[DOUBLE]))
