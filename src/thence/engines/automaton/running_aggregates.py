"""Running aggregates of a closure (SASE+, 2.2.4), each in a slot of its run, compiled: an event costs the same, however
many came before it. WHERE and RETURN read these slots; HAVING does not: it calls the accumulators.

A value that 64 bits can't hold exactly is UNKNOWN from then on; a predicate that needs it asks the history.

`thence.relation.accumulators:sase_accumulator` defines the aggregates. They have a form of their own here, since the
machine is compiled, and a run has nothing but slots of 64 bits; that both agree is tested by
`tests/engines/automaton/test_sase_sums.py:test_slots_of_a_run_hold_what_accumulators_say`.
"""

from __future__ import annotations

import numpy as np

from thence.columns import value_kinds
from thence.columns.canonical_terms import NON_CANONICAL
from thence.columns.value_kinds import double_bits
from thence.engines.automaton.program import AVERAGE, COUNT, EARLIEST, GREATEST, LATEST, RANKS, SUM
from thence.jit.compiled import inlined, inner
from thence.match import tagged_arithmetic
from thence.match.tagged_arithmetic import arithmetic, order

UNKNOWN = tagged_arithmetic.SLOW
"""The tag of a slot whose value must be read from the history."""

_LARGE, _EXACT = 2**62, 2**53
_FEW, _MOST_DIGITS = 2**26, 8
"""A count so small, times the power of ten of so many digits, is a double; so is its product with half of a double."""

_SPLIT = 2.0**27 + 1  # Veltkamp's, which cuts a double in halves
_TINY, _HUGE = 2.0**-960, 2.0**990
_DOUBT = 2.0**-50  # the relative error of three operations, and more


@inner
def summarise(memory, rows, row, slot, column, how):
    """Add an event to a slot. Missing values are skipped."""
    if how == COUNT:
        if memory[slot] == value_kinds.NONE:
            memory[slot], memory[slot + 1] = value_kinds.INTEGER, 0
        if column < 0 or rows[row + column] != value_kinds.NONE:
            memory[slot + 1] += 1
        return
    tag, bits = rows[row + column], rows[row + column + 1]
    if tag == value_kinds.NONE:
        return
    if how == EARLIEST or how == LATEST:
        if how == LATEST or memory[slot] == value_kinds.NONE:
            memory[slot], memory[slot + 1] = tag, bits
    elif how == SUM:
        _add(memory, slot, tag, bits)
    elif how == AVERAGE:
        _average(memory, slot, tag, bits)
    else:
        _rank(memory, slot, tag, bits, how)


@inner
def _add(memory, slot, tag, bits):
    if memory[slot] == UNKNOWN or not _is_decidable(tag):
        memory[slot] = UNKNOWN
    elif memory[slot] != value_kinds.NONE:
        _add_to(memory, slot, tag, bits)
    elif tag & value_kinds.KIND_MASK >= value_kinds.FLOAT:
        _put(memory, slot, tag, np.int64(bits).view(np.float64) + 0.0, 0.0)  # -0.0 sums to 0.0
    else:
        memory[slot], memory[slot + 1] = tag, bits


@inner
def _add_to(memory, slot, tag, bits):
    """Add to a sum: the slot holds the rounded one, that behind it what rounding has dropped. Both together are exact
    (C-31), or the sum is UNKNOWN."""
    kind, other = tag & value_kinds.KIND_MASK, memory[slot] & value_kinds.KIND_MASK
    wide = max(kind, other)
    if wide <= value_kinds.DECIMAL:
        total, found = arithmetic(tagged_arithmetic.ADD, memory[slot], memory[slot + 1], tag, bits)
        memory[slot], memory[slot + 1] = np.int64(total), found
        return
    known, total, rest = _as_doubles(memory[slot], memory[slot + 1], memory[slot + 3])
    decided, number, small = _as_doubles(tag, bits, np.int64(0))
    plain = total + number
    if not known or not decided or small != 0:
        memory[slot] = UNKNOWN
        return
    if not np.isfinite(plain):
        if np.isfinite(total) and np.isfinite(number):
            memory[slot] = UNKNOWN
        else:
            _put(memory, slot, wide, plain, 0.0)
        return
    plain, error = _two_sum(total, number)
    rest, lost = _two_sum(rest, error)
    plain, rest = _two_sum(plain, rest)
    if wide == value_kinds.FLOAT:
        lost = lost if rest == 0 else rest
        single = np.float64(np.float32(plain))
        plain, rest = single, plain - single
    if lost != 0 or not np.isfinite(plain):
        memory[slot] = UNKNOWN
    else:
        _put(memory, slot, wide, plain, rest)


@inner
def _put(memory, slot, kind, total, rest):
    memory[slot], memory[slot + 1] = kind, double_bits(total)
    memory[slot + 2], memory[slot + 3] = value_kinds.DOUBLE, double_bits(rest)


@inner
def _as_doubles(tag, bits, rest):
    """(exactly?, a number, what is left of it) as two doubles; `rest` are the bits of what a sum has dropped."""
    kind = tag & value_kinds.KIND_MASK
    if kind >= value_kinds.FLOAT:
        return True, np.int64(bits).view(np.float64), np.int64(rest).view(np.float64)
    if kind != value_kinds.INTEGER or bits > _LARGE or bits < -_LARGE:
        return bits == 0, 0.0, 0.0
    number = np.float64(bits)
    return True, number, np.float64(bits - np.int64(number))


@inner
def _two_sum(a, b):
    """The rounded sum of two doubles, and the error of it, which is a double (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@inner
def _average(memory, slot, tag, bits):
    if memory[slot] == value_kinds.NONE:
        memory[slot + 6], memory[slot + 7] = value_kinds.INTEGER, 0
    memory[slot + 7] += 1
    _add(memory, slot + 2, tag, bits)
    memory[slot], memory[slot + 1] = _mean(memory[slot + 2], memory[slot + 3], memory[slot + 5], memory[slot + 7])


@inner
def _mean(tag, bits, rest, count):
    """(tag, bits) of an exact sum by a count, rounded once; or UNKNOWN."""
    kind, scale = tag & value_kinds.KIND_MASK, tag >> value_kinds.SCALE_SHIFT
    if tag == UNKNOWN or count > _FEW:
        return np.int64(UNKNOWN), np.int64(0)
    if kind <= value_kinds.DECIMAL:
        if bits > _EXACT or bits < -_EXACT or scale > _MOST_DIGITS:
            return np.int64(UNKNOWN), np.int64(0)
        return np.int64(value_kinds.DOUBLE), double_bits(np.float64(bits) / np.float64(count * 10**scale))
    total, small = np.int64(bits).view(np.float64), np.int64(rest).view(np.float64)
    if small == 0:
        return np.int64(value_kinds.DOUBLE), double_bits(total / count)
    found, is_certain = _divided(total, small, np.float64(count))
    return np.int64(value_kinds.DOUBLE if is_certain else UNKNOWN), double_bits(found)


@inner
def _divided(total, rest, count):
    """(total + rest) / count, rounded once; and whether that is certain. The quotient of `total` leaves a remainder,
    which is exact, since its halves by so small a count are. What corrects it may be a tie, if it is exact."""
    quotient = total / count
    if not _TINY < abs(quotient) < _HUGE:
        return quotient, False
    high = quotient * _SPLIT
    high -= high - quotient
    remainder = (total - high * count) - (quotient - high) * count
    dropped, error = _two_sum(remainder, rest)
    correction = dropped / count
    is_exact = error == 0 and correction * count == dropped
    is_clear = quotient + correction * (1 - _DOUBT) == quotient + correction * (1 + _DOUBT)
    return quotient + correction, is_exact or is_clear


@inlined
def _rank(memory, slot, tag, bits, how):
    """Put a value in its place among the least or greatest, the first of which is in `slot`: behind those that it
    equals. The last of them is what is asked for, and is UNKNOWN if they are."""
    last = slot + 2 * (how >> RANKS)
    if memory[last] == UNKNOWN or not (_is_decidable(tag) or _is_timed(tag)):
        memory[last] = UNKNOWN
        return
    if order(tag, bits, tag, bits) == tagged_arithmetic.UNORDERED:
        return  # a value that is not a number is neither
    before = tagged_arithmetic.GREATER if how & ((1 << RANKS) - 1) == GREATEST else tagged_arithmetic.LESS
    place = last + 2
    while place > slot and memory[place - 2] == value_kinds.NONE:
        place -= 2
    while place > slot:
        relation = order(tag, bits, memory[place - 2], memory[place - 1])
        if relation == tagged_arithmetic.UNDECIDED:
            memory[last] = UNKNOWN
            return
        if relation != before:
            break
        if place <= last:
            memory[place], memory[place + 1] = memory[place - 2], memory[place - 1]
        place -= 2
    if place <= last:
        memory[place], memory[place + 1] = tag, bits


@inlined
def _is_decidable(tag):
    """Whether tag and bits are a complete value, and it is a number."""
    kind = tag & value_kinds.KIND_MASK
    return tag != NON_CANONICAL and value_kinds.INTEGER <= kind <= value_kinds.DOUBLE


@inlined
def _is_timed(tag):
    """Whether it is a time or a duration in microseconds: of one kind they have an order."""
    return tag == value_kinds.DATETIME or tag == value_kinds.DURATION
