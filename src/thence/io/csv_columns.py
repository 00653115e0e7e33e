"""Types of CSV columns by their cells (BAD-10), and cells of text as values of these types."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from thence.io.csv_cells import BOOLEAN, CODE, DOUBLE, INTEGER, MOST_DIGITS, ColumnCounts

ODD_CELLS = 100
"""One cell in so many may be no number in a column of numbers."""

_IN_64_BITS, _IN_128_BITS = 18, 38  # digits that surely fit
_IN_A_DOUBLE = 15
_LONGEST = 80  # characters of a cell that an error shows

_NUMBER = r"^[+-]?((0|[1-9][0-9]*)(\.[0-9]*)?([eE][+-]?[0-9]+)?|\.[0-9]+([eE][+-]?[0-9]+)?|(?i:nan|inf|infinity))$"
_TRUTH = r"^(?i:true|false)$"


class CsvKind(Enum):
    """What the cells of a column are. MIXED: numbers, each exact, or a double if it has an exponent."""

    EMPTY = "null"
    TEXT = "text"
    BOOLEAN = "boolean"
    INTEGER = "integer"
    DECIMAL = "decimal"
    DOUBLE = "double"
    MIXED = "number"


_NUMBERS = (CsvKind.INTEGER, CsvKind.DECIMAL, CsvKind.DOUBLE, CsvKind.MIXED)


@dataclass(frozen=True, slots=True)
class CsvColumn:
    """How the cells of a column are read. `whole` and `fraction` are the most digits of a number before and behind the
    point; `odd`: some cells are not of the kind; `plus`: some integers have a plus sign, which Arrow does not know."""

    kind: CsvKind
    whole: int = 0
    fraction: int = 0
    odd: bool = False
    plus: bool = False

    @classmethod
    def of(cls, counts: ColumnCounts) -> CsvColumn:
        """The type that all cells of a column give it: a column of numbers may have some odd cells, a hundredth of all
        that are not empty."""
        if not counts.filled:
            return cls(CsvKind.EMPTY)
        if counts.kinds[BOOLEAN] == counts.filled:
            return cls(CsvKind.BOOLEAN)
        odd = counts.filled - counts.numbers
        if counts.kinds[CODE] or not counts.numbers or odd * ODD_CELLS > counts.filled:
            return cls(CsvKind.TEXT)
        if counts.kinds[DOUBLE]:
            exact = counts.integer_digits <= _IN_A_DOUBLE  # larger ones, as ids are, must not become doubles
            return cls(CsvKind.DOUBLE if exact else CsvKind.MIXED, odd=bool(odd))
        kind = CsvKind.INTEGER if counts.kinds[INTEGER] == counts.numbers else CsvKind.DECIMAL
        return cls(kind, counts.whole, counts.fraction, bool(odd), bool(counts.plus))

    def of_block(self, counts: ColumnCounts) -> CsvColumn:
        """The column in a block of a file that can't be read twice, of which only the first rows gave the type."""
        if self.kind is CsvKind.BOOLEAN:
            return CsvColumn(self.kind, odd=counts.kinds[BOOLEAN] < counts.filled)
        if self.kind not in _NUMBERS:
            return self
        odd = counts.numbers < counts.filled
        if self.kind is CsvKind.DOUBLE:
            return CsvColumn(self.kind if counts.integer_digits <= _IN_A_DOUBLE else CsvKind.MIXED, odd=odd)
        fits = counts.numbers - counts.kinds[DOUBLE] if self.kind is CsvKind.DECIMAL else counts.kinds[INTEGER]
        kind = self.kind if fits == counts.numbers else CsvKind.MIXED
        return CsvColumn(kind, counts.whole, counts.fraction, odd, bool(counts.plus))

    @property
    def read(self) -> Callable[[str], object] | None:
        """The reader of texts that have a meaning: numbers that Arrow has no type for."""
        if self.kind not in _NUMBERS or self._held is not None:
            return None
        match self.kind:
            case CsvKind.INTEGER:
                return int
            case CsvKind.DECIMAL:
                return Decimal
            case _:
                return read_number

    @property
    def direct(self) -> Any | None:
        """The type that Arrow's own reader gives the cells; None if their texts are needed."""
        return None if self.odd or self.plus or self.kind is CsvKind.BOOLEAN else self._held

    @property
    def _held(self) -> Any | None:
        """Arrow's type for the values, where it has one that is not text."""
        match self.kind:
            case CsvKind.INTEGER:
                return pa.int64() if self.whole <= _IN_64_BITS else None
            case CsvKind.DECIMAL if self.whole + self.fraction <= _IN_128_BITS:
                return pa.decimal128(max(self.whole + self.fraction, 1), self.fraction)
            case CsvKind.DOUBLE:
                return pa.float64()
            case CsvKind.BOOLEAN:
                return pa.bool_()
            case _:
                return None

    @property
    def arrow_type(self) -> Any:
        """The type that the values have. Numbers of more digits than Arrow knows are numbers all the same."""
        match self.kind:
            case CsvKind.EMPTY:
                return pa.null()
            case CsvKind.INTEGER:
                return pa.int64()
            case CsvKind.DECIMAL:
                return self._held or pa.decimal256(76, min(self.fraction, 75))
            case CsvKind.MIXED:
                return pa.float64()
            case _:
                return self._held or pa.string()

    def typed(self, texts: Any) -> tuple[Any, Any]:
        """A column of texts as values, and which of them are bad cells: these are null. ArrowInvalid if others are not
        values of the column."""
        if self.kind not in _NUMBERS and self.kind is not CsvKind.BOOLEAN:
            return texts, None
        bad = self._bad(texts) if self.odd else None
        good = texts if bad is None else pc.if_else(pa.array(bad), pa.scalar(None, pa.string()), texts)
        if self.kind is CsvKind.BOOLEAN:
            return pc.equal(pc.ascii_lower(good), "true"), bad
        held = self._held
        if held is None:
            return good, bad
        return (pc.utf8_ltrim(good, "+") if self.plus else good).cast(held), bad

    def _bad(self, texts: Any) -> Any:
        known = pc.match_substring_regex(texts, _TRUTH if self.kind is CsvKind.BOOLEAN else _NUMBER).fill_null(True)
        bad = ~known.to_numpy(zero_copy_only=False)
        long = pc.greater(pc.binary_length(texts), MOST_DIGITS).fill_null(False).to_numpy(zero_copy_only=False)
        for row in np.flatnonzero(long & ~bad).tolist():
            bad[row] = sum(map(str.isdigit, texts[row].as_py())) > MOST_DIGITS
        return bad

    def without_overflow(self, doubles: Any, texts: Any, infinite: Any, bad: Any) -> tuple[Any, Any]:
        """Doubles, without numbers that no double holds: these are bad cells too."""
        written = pc.match_substring(texts, "inf", ignore_case=True).fill_null(True).to_numpy(zero_copy_only=False)
        more = infinite & ~written
        return pc.if_else(pa.array(more), pa.scalar(None, pa.float64()), doubles), more if bad is None else bad | more

    def reason(self, name: str, text: str) -> str:
        """Why a cell is a bad one."""
        needed = "true or false" if self.kind is CsvKind.BOOLEAN else "a number"
        return f'column "{name:.80}": "{text:.{_LONGEST}}" is not {needed}, and is read as null'


def read_number(text: str) -> object:
    """A number of its own kind: with an exponent, or NaN, a double; with a point a decimal.

    >>> read_number("+5"), read_number("-.5"), read_number("1e-05"), read_number("NaN")
    (5, Decimal('-0.5'), 1e-05, nan)
    """
    if text.lstrip("+-").isdigit():
        return int(text)
    return Decimal(text) if set(text) <= set("+-.0123456789") else float(text)
