"""Sums in the head of a saved state."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from thence.kernel.array_checks import require
from thence.rdf.exact_sums import BinarySum, ExactSum
from thence.rdf.numbers import EXACT, MAX_DIGITS

_LONGEST = 8 * MAX_DIGITS
"""A sum that can be has fewer hexadecimal digits."""


def saved_sum(found: ExactSum) -> list[Any]:
    exact = found.exact
    scale = -1 if isinstance(exact, int) else max(0, -int(exact.as_tuple().exponent))
    units = exact if isinstance(exact, int) else int(exact.scaleb(scale, EXACT))
    return [hex(units), scale, _saved(found.singles), _saved(found.doubles), found.has_single, found.has_double]


def restored_sum(found: object) -> ExactSum:
    """A sum of a snapshot. InputError if it cannot be one."""
    require(isinstance(found, list) and len(found) == 6, "a sum is malformed")
    assert isinstance(found, list)
    units, scale, singles, doubles, has_single, has_double = found
    require(type(scale) is int and -1 <= scale <= MAX_DIGITS, "a sum is malformed")
    require(type(has_single) is bool and type(has_double) is bool, "a sum is malformed")
    whole = _integer(units)
    exact = whole if scale < 0 else Decimal(whole).scaleb(-scale, EXACT)
    return ExactSum(exact, _restored(singles), _restored(doubles), has_single, has_double)


def _saved(found: BinarySum) -> list[Any]:
    return [hex(found.units), found.nan, found.positive, found.negative]


def _restored(found: object) -> BinarySum:
    require(isinstance(found, list) and len(found) == 4, "a sum is malformed")
    assert isinstance(found, list)
    units, *counts = found
    require(all(type(each) is int and each >= 0 for each in counts), "a sum is malformed")
    return BinarySum(_integer(units), *counts)


def _integer(found: object) -> int:
    require(isinstance(found, str) and len(found) <= _LONGEST, "a sum is malformed")
    try:
        return int(str(found), 16)
    except ValueError:
        require(False, "a sum is malformed")
        raise
