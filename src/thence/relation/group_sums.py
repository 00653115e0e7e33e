"""Exact sums over columns, one for each group: members can be added and subtracted in any order.

They have a form of their own, columns of 64 bits and of limbs, since a window adds and subtracts many members at once.
`thence.relation.exact_sums` defines a sum; each group's value is its `ExactSum`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thence.columns.arrays import Ids, Ints
from thence.columns.dictionary import Terms
from thence.columns.value_kinds import DECIMAL, DOUBLE, FLOAT, INTEGER, KIND_MASK, NONE, OTHER, SCALE_SHIFT
from thence.rdf.numbers import EXACT, Float, Number
from thence.relation.exact_sums import BinarySum, ExactSum, decimal_places, number_of

_MOST = 2**62
"""Totals of 64 bits stay below this."""

_LIMB = 32
_LOW = (1 << _LIMB) - 1
_FRACTION, _EXPONENT = (1 << 52) - 1, 0x7FF
_SPAN = 3  # limbs that the 53 digits of a double reach, wherever they begin
_UNCARRIED = 1 << 29
"""So many members can be added before limbs overflow: one adds less than 2^33 to a limb of 63 bits."""


@dataclass(slots=True, eq=False)
class BinarySums:
    """A superaccumulator for each group: limb i is in units of 2^(32 (lowest + i) - 1074). There are the limbs alone
    that some member has reached, and one more for carries."""

    specials: Ints  # NaN, INF and -INF of each group
    limbs: Ints
    lowest: int = 0
    _uncarried: int = field(default=0)

    @classmethod
    def of(cls, groups: int) -> BinarySums:
        return cls(np.zeros((groups, 3), np.int64), np.zeros((groups, 0), np.int64))

    def grow(self, groups: int) -> None:
        more = groups - len(self.limbs)
        self.specials = np.concatenate([self.specials, np.zeros((more, 3), np.int64)])
        self.limbs = np.concatenate([self.limbs, np.zeros((more, self.limbs.shape[1]), np.int64)])

    def add(self, groups: Ints, values: NDArray[np.float64], signs: Ints) -> None:
        """Add (1) or subtract (-1) values of groups."""
        bits = values.view(np.int64)
        exponents = (bits >> 52) & _EXPONENT
        special = np.flatnonzero(exponents == _EXPONENT)
        if len(special):
            which = np.where(np.isnan(values[special]), 0, np.where(bits[special] > 0, 1, 2))
            np.add.at(self.specials, (groups[special], which), signs[special])
        adds = np.flatnonzero((exponents != _EXPONENT) & (bits << 1 != 0))
        if len(adds):
            if len(adds) < len(bits):
                bits, exponents, groups, signs = bits[adds], exponents[adds], groups[adds], signs[adds]
            self._add_finite(groups, bits, exponents, np.where(bits < 0, -signs, signs))

    def _add_finite(self, groups: Ints, bits: Ints, exponents: Ints, signs: Ints) -> None:
        digits = (bits & _FRACTION) | ((exponents > 0).astype(np.int64) << 52)
        shifts = np.maximum(exponents, 1) - 1
        places, shifts = shifts // _LIMB, shifts % _LIMB
        self._reach(int(places.min()), int(places.max()) + _SPAN)
        self._uncarried += len(bits)
        if self._uncarried > _UNCARRIED:
            self._carry()
            self._uncarried = len(bits)
        low, high = (digits & _LOW) << shifts, (digits >> _LIMB) << shifts
        flat = self.limbs.reshape(-1)
        first = groups * self.limbs.shape[1] + places - self.lowest
        np.add.at(flat, first, signs * (low & _LOW))
        np.add.at(flat, first + 1, signs * ((low >> _LIMB) + (high & _LOW)))
        np.add.at(flat, first + 2, signs * (high >> _LIMB))

    def _reach(self, first: int, last: int) -> None:
        """Have the limbs from the first to the last, and one more."""
        groups, width = self.limbs.shape
        if not width:
            self.lowest = first
        low, high = min(first, self.lowest), max(last + 1, self.lowest + width)
        if high - low > width:
            larger = np.zeros((groups, high - low), np.int64)
            larger[:, self.lowest - low : self.lowest - low + width] = self.limbs
            self.limbs, self.lowest = larger, low

    def _carry(self) -> None:
        for place in range(self.limbs.shape[1] - 1):
            carries = self.limbs[:, place] >> _LIMB
            self.limbs[:, place] -= carries << _LIMB
            self.limbs[:, place + 1] += carries

    def sum_of(self, group: int) -> BinarySum:
        units = 0
        for limb in reversed(self.limbs[group].tolist()):
            units = (units << _LIMB) + limb
        nan, positive, negative = self.specials[group].tolist()
        return BinarySum(units << (_LIMB * self.lowest), nan, positive, negative)


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
                known[name] = number_of(terms[name])
            found = known[name]
            kinds[row] = _kind(found)
            if found is not None:
                others[row] = found
        kinds[(kinds < INTEGER) | (kinds > DOUBLE)] = NONE
        return cls(kinds, bits, np.where(kinds == DECIMAL, tags >> SCALE_SHIFT, 0), others)

    @property
    def is_binary(self) -> NDArray[np.bool_]:
        """A mask of the floats and doubles."""
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
    """The sums of floats and doubles; None until there is one."""
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
                scale = 0 if isinstance(each, int) else decimal_places(each)
                self._rescale(scale, _MOST)
                units = int(Decimal(each).scaleb(self.scale, EXACT))
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
        return total // 10**self.scale if is_integer else Decimal(total).scaleb(-self.scale, EXACT)
