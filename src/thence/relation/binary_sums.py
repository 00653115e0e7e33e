"""Exact sums of doubles, one for each group, as columns: members can be added and subtracted in any order."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from thence.columns.arrays import Ints
from thence.relation.exact_sums import BinarySum

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
