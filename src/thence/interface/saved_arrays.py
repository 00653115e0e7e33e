"""Checks of what comes from saved bytes: arrays, texts, terms. A saved state may be damaged or forged."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from thence.columns.canonical_terms import NON_CANONICAL, SHORTEST
from thence.columns.dictionary import from_text
from thence.columns.texts import Texts
from thence.columns.value_columns import ValueColumn
from thence.columns.value_kinds import DECIMAL, DURATION, MAX_SCALE, NONE, OTHER, SCALE_SHIFT
from thence.errors import InputError
from thence.match.tagged_arithmetic import SLOW
from thence.rdf.terms import Term

# Checks of arrays that come from saved bytes: shapes, texts, terms, values. A saved state may be damaged or forged.

_LESS, _UNDERSCORE, _QUOTE, _GREATER = b'<_">'


def require(holds: Any, what: str) -> None:
    """InputError unless the condition holds."""
    if not holds:
        raise InputError(f"The saved state is damaged: {what}. Run the query again from the beginning.")


def _tags_by_number() -> NDArray[np.bool_]:
    is_tag = np.zeros(2**16, np.bool_)
    is_tag[[*range(NONE, DURATION + 1), NON_CANONICAL, SHORTEST, SLOW]] = True
    is_tag[[DECIMAL | scale << SCALE_SHIFT for scale in range(MAX_SCALE + 1)]] = True
    return is_tag


_IS_TAG = _tags_by_number()


def check_array(array: NDArray[Any], kind: type[np.generic], *shape: int) -> None:
    """InputError unless the array has this type and shape; -1 stands for any length."""
    fits = array.dtype == kind and array.ndim == len(shape)
    require(fits and all(b in (-1, a) for a, b in zip(array.shape, shape, strict=True)), "an array has the wrong shape")


def check_texts(texts: Texts) -> None:
    check_array(texts.text, np.uint8, -1)
    check_array(texts.ends, np.int64, -1)
    ends = texts.ends
    whole = int(ends[-1]) if len(ends) else 0
    require(whole == len(texts.text), "the ends of texts do not match their bytes")
    require((ends[:1] >= 0).all() and (ends[1:] >= ends[:-1]).all(), "a text ends before it begins")


def check_terms(texts: Texts) -> None:
    """InputError unless the texts are terms, as far as compiled code relies on it: `<…>`, `_:…`, or quoted text with
    something behind."""
    check_texts(texts)
    if not len(texts):
        return
    starts, ends, text = texts.starts, texts.ends, texts.text
    require((ends - starts >= 2).all(), "a term is too short")
    first, last = text[starts], text[ends - 1]
    require(np.isin(first, (_LESS, _UNDERSCORE, _QUOTE)).all(), "a term begins with an unknown character")
    require((last[first == _LESS] == _GREATER).all(), "an IRI is not closed")
    tagged = np.flatnonzero((first == _QUOTE) & (last != _QUOTE))
    if len(tagged):
        quotes = np.flatnonzero(text == _QUOTE)
        closing = quotes[np.searchsorted(quotes, ends[tagged]) - 1]
        require((closing > starts[tagged]).all(), "a literal is not closed")


def check_values(tags: NDArray[Any], bits: NDArray[Any], terms: int) -> None:
    """InputError unless all tags are known, and tags of terms come with numbers of existing terms."""
    tags, bits = tags.ravel(), bits.ravel()
    if not len(tags):
        return
    require(
        tags.dtype == np.uint16 or (int(tags.min()) >= 0 and int(tags.max()) < 2**16), "a value has an unknown kind"
    )
    require(_IS_TAG[tags].all(), "a value has an unknown kind")
    named = bits[((tags > NONE) & (tags <= OTHER)) | (tags == NON_CANONICAL)]
    require(not len(named) or (int(named.min()) >= 0 and int(named.max()) < terms), "a value refers to a missing term")


def check_column(values: ValueColumn, count: int) -> None:
    check_array(values.tags, np.uint16, count)
    check_array(values.bits, np.int64, count)


def check_within(numbers: NDArray[Any], low: int, high: int, what: str) -> None:
    """InputError unless all numbers are from `low` to `high`, exclusive."""
    if numbers.size:
        require(low <= int(numbers.min()) and int(numbers.max()) < high, f"{what} is out of range")


def check_intervals(start: NDArray[np.int64], end: NDArray[np.int64]) -> None:
    require(start is end or (start <= end).all(), "an event ends before it starts")


# Terms in the head of a saved state.


def saved_term(text: object) -> Term:
    """A term of a snapshot. InputError if it cannot be one."""
    require(is_text(text) and bool(text), "a term is malformed")
    found: Term | None = None
    with contextlib.suppress(ValueError, TypeError, KeyError, AttributeError, IndexError):
        found = from_text(str(text))
    require(found is not None, "a term is malformed")
    assert found is not None
    return found


def is_text(found: object) -> bool:
    """Whether it is text that can be encoded: one half of a surrogate pair cannot."""
    return isinstance(found, str) and not any("\ud800" <= each <= "\udfff" for each in found)
