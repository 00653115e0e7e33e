"""Judges the cells of CSV text, compiled: what each column holds, in one pass over the bytes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from thence.jit.compiled import lazy_entry

# The kinds of cells (BAD-10).
EMPTY, INTEGER, DECIMAL, DOUBLE, CODE, BOOLEAN, ODD = range(7)
"""CODE is a number with a leading zero, which it would lose."""
_KINDS = 7
_WHOLE, _FRACTION, _PLUS, _INTEGERS = range(4)

MOST_DIGITS = 3000
"""As in JSON. A number of more is none."""
_QUOTE, _COMMA, _LF, _CR = 34, 44, 10, 13


@dataclass(slots=True)
class _Automaton:
    """A deterministic automaton over bytes; state 0 is none that a cell of a known kind comes to, 1 is the first."""

    steps: list[list[int]] = field(default_factory=lambda: [[0] * 256, [0] * 256])
    kinds: list[int] = field(default_factory=lambda: [ODD, EMPTY])

    def state(self, kind: int) -> int:
        self.steps.append([0] * 256)
        self.kinds.append(kind)
        return len(self.kinds) - 1

    def step(self, start: int, characters: str, end: int) -> None:
        for character in characters:
            self.steps[start][ord(character)] = end

    def word(self, starts: tuple[int, ...], text: str, kind: int) -> None:
        """A word in any case."""
        for start in starts:
            now = start
            for letter in text:
                if not self.steps[now][ord(letter)]:
                    self.step(now, letter + letter.upper(), self.state(ODD))
                now = self.steps[now][ord(letter)]
            self.kinds[now] = kind


_DIGITS, _NOT_ZERO = "0123456789", "123456789"


def _automaton() -> tuple[_Automaton, tuple[int, int, int]]:
    """The automaton, and its states for a digit before the point (two) and behind it."""
    made = _Automaton()
    sign, zero, whole = made.state(ODD), made.state(INTEGER), made.state(INTEGER)
    lone_point, point, fraction = made.state(ODD), made.state(DECIMAL), made.state(DECIMAL)
    exponent, exponent_sign, power = made.state(ODD), made.state(ODD), made.state(DOUBLE)
    code, code_point = made.state(CODE), made.state(CODE)
    made.step(1, "+-", sign)
    for start in (1, sign):
        made.step(start, "0", zero)
        made.step(start, _NOT_ZERO, whole)
        made.step(start, ".", lone_point)
    made.step(zero, _DIGITS, code)
    made.step(whole, _DIGITS, whole)
    for start in (lone_point, point, fraction):
        made.step(start, _DIGITS, fraction)
    for start in (zero, whole):
        made.step(start, ".", point)
    for start in (zero, whole, point, fraction):
        made.step(start, "eE", exponent)
    made.step(exponent, "+-", exponent_sign)
    for start in (exponent, exponent_sign, power):
        made.step(start, _DIGITS, power)
    made.step(code, _DIGITS, code)
    made.step(code, ".", code_point)
    made.step(code_point, _DIGITS, code_point)
    for text in ("nan", "inf", "infinity"):
        made.word((1, sign), text, DOUBLE)
    for text in ("true", "false"):
        made.word((1,), text, BOOLEAN)
    return made, (zero, whole, fraction)


_MADE, (_ZERO_DIGIT, _WHOLE_DIGIT, _FRACTION_DIGIT) = _automaton()
_STEPS = np.array(_MADE.steps, np.uint8)
_KIND = np.array(_MADE.kinds, np.uint8)


@dataclass(slots=True, eq=False)
class CellCounts:
    """What the cells of each column were so far."""

    columns: int
    kinds: NDArray[np.int64] = field(init=False)  # a row per column: how many cells are of each kind
    most: NDArray[np.int64] = field(init=False)
    """A row per column: the most digits of a number before and behind the point, whether a number had a plus sign, and
    the most digits of an integer."""

    def __post_init__(self) -> None:
        self.kinds = np.zeros((self.columns, _KINDS), np.int64)
        self.most = np.zeros((self.columns, 4), np.int64)

    def see(self, text: bytes) -> None:
        """Count the cells of records, each of which has a cell for each column."""
        _count_cells(np.frombuffer(text, np.uint8), _STEPS, _KIND, self.kinds, self.most)

    def __getitem__(self, column: int) -> ColumnCounts:
        return ColumnCounts(tuple(self.kinds[column].tolist()), *self.most[column].tolist())


@dataclass(frozen=True, slots=True)
class ColumnCounts:
    """What the cells of a column are: their number by kind, the most digits of a number before and behind the point,
    whether a number had a plus sign, and the most digits of an integer."""

    kinds: tuple[int, ...]
    whole: int
    fraction: int
    plus: int
    integer_digits: int

    @property
    def filled(self) -> int:
        return sum(self.kinds) - self.kinds[EMPTY]

    @property
    def numbers(self) -> int:
        return self.kinds[INTEGER] + self.kinds[DECIMAL] + self.kinds[DOUBLE]


@lazy_entry(lambda text, *others: len(text))
def _count_cells(text, steps, kind, kinds, most):
    column = 0
    state = 1
    whole = 0
    fraction = 0
    plus = 0
    quoted = False
    at_start = True
    in_record = False
    i = 0
    size = len(text)
    while i <= size:
        byte = text[i] if i < size else _LF
        if quoted:
            if byte == _QUOTE:
                if i + 1 < size and text[i + 1] == _QUOTE:
                    i += 1
                    state = 0
                else:
                    quoted = False
                i += 1
                continue
        elif byte == _QUOTE and at_start:
            quoted = True
            at_start = False
            in_record = True
            i += 1
            continue
        elif byte == _COMMA or byte == _LF or byte == _CR:
            if byte == _COMMA or in_record:
                found = kind[state]
                if found == INTEGER or found == DECIMAL:
                    if whole + fraction > MOST_DIGITS:
                        found = ODD
                    else:
                        most[column, _WHOLE] = max(most[column, _WHOLE], whole)
                        most[column, _FRACTION] = max(most[column, _FRACTION], fraction)
                        if found == INTEGER:
                            most[column, _INTEGERS] = max(most[column, _INTEGERS], whole)
                            if plus:
                                most[column, _PLUS] = 1
                kinds[column, found] += 1
                column += 1
            in_record = byte == _COMMA
            if byte != _COMMA:
                column = 0
            state = 1
            whole = 0
            fraction = 0
            plus = 0
            at_start = True
            i += 1
            continue
        state = steps[state, byte]
        if state == _WHOLE_DIGIT or state == _ZERO_DIGIT:
            whole += 1
        elif state == _FRACTION_DIGIT:
            fraction += 1
        elif byte == 43:
            plus = 1
        at_start = False
        in_record = True
        i += 1
