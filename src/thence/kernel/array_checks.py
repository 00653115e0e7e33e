"""Checks of arrays that come from saved bytes: shapes, texts, terms, values. A saved state may be damaged or forged."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from thence.columns.tagged_values import NON_CANONICAL, SHORTEST
from thence.columns.term_values import ValueColumn
from thence.columns.texts import Texts
from thence.columns.value_kinds import DATETIME, DECIMAL, MAX_SCALE, NONE, OTHER, SCALE_SHIFT
from thence.errors import InputError
from thence.match.tagged_arithmetic import SLOW

_LESS, _UNDERSCORE, _QUOTE, _GREATER = b'<_">'


def require(holds: Any, what: str) -> None:
    """InputError, unless it holds."""
    if not holds:
        raise InputError(f"The saved state is damaged: {what}. Run the query again from the beginning.")


def _tags_by_number() -> NDArray[np.bool_]:
    is_tag = np.zeros(2**16, np.bool_)
    is_tag[[*range(NONE, DATETIME + 1), NON_CANONICAL, SHORTEST, SLOW]] = True
    is_tag[[DECIMAL | scale << SCALE_SHIFT for scale in range(MAX_SCALE + 1)]] = True
    return is_tag


_IS_TAG = _tags_by_number()


def check_array(array: NDArray[Any], kind: type[np.generic], *shape: int) -> None:
    """Of that type, and of so many items each way; -1: of any number."""
    fits = array.dtype == kind and array.ndim == len(shape)
    require(fits and all(b in (-1, a) for a, b in zip(array.shape, shape, strict=True)), "an array has another shape")


def check_texts(texts: Texts) -> None:
    check_array(texts.text, np.uint8, -1)
    check_array(texts.ends, np.int64, -1)
    ends = texts.ends
    whole = int(ends[-1]) if len(ends) else 0
    require(whole == len(texts.text), "texts do not end where their bytes do")
    require((ends[:1] >= 0).all() and (ends[1:] >= ends[:-1]).all(), "texts end before they begin")


def check_terms(texts: Texts) -> None:
    """Texts that are terms, as far as compiled code looks: `<…>`, `_:…`, or quoted with something behind."""
    check_texts(texts)
    if not len(texts):
        return
    starts, ends, text = texts.starts, texts.ends, texts.text
    require((ends - starts >= 2).all(), "a term is too short")
    first, last = text[starts], text[ends - 1]
    require(np.isin(first, (_LESS, _UNDERSCORE, _QUOTE)).all(), "a term does not begin as terms do")
    require((last[first == _LESS] == _GREATER).all(), "an IRI does not end")
    tagged = np.flatnonzero((first == _QUOTE) & (last != _QUOTE))
    if len(tagged):
        quotes = np.flatnonzero(text == _QUOTE)
        closing = quotes[np.searchsorted(quotes, ends[tagged]) - 1]
        require((closing > starts[tagged]).all(), "a literal is not closed")


def check_values(tags: NDArray[Any], bits: NDArray[Any], terms: int) -> None:
    """Tags that there are, and beside those of terms the numbers of some of so many."""
    tags, bits = tags.ravel(), bits.ravel()
    if not len(tags):
        return
    require(tags.dtype == np.uint16 or (int(tags.min()) >= 0 and int(tags.max()) < 2**16), "a value is of no kind")
    require(_IS_TAG[tags].all(), "a value is of no kind")
    named = bits[((tags > NONE) & (tags <= OTHER)) | (tags == NON_CANONICAL)]
    require(not len(named) or (int(named.min()) >= 0 and int(named.max()) < terms), "there is no such term")


def check_column(values: ValueColumn, count: int) -> None:
    check_array(values.tags, np.uint16, count)
    check_array(values.bits, np.int64, count)


def check_within(numbers: NDArray[Any], low: int, high: int, what: str) -> None:
    """All of some numbers are from `low` to `high`, exclusive."""
    if numbers.size:
        require(low <= int(numbers.min()) and int(numbers.max()) < high, f"{what} is none that there is")


def check_intervals(start: NDArray[np.int64], end: NDArray[np.int64]) -> None:
    require(start is end or (start <= end).all(), "an event ends before it starts")
