"""Which terms are their values: those whose text is the canonical one, so that tag and bits say all there is to say."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from thence.rdf.dictionary import Terms
from thence.rdf.tagged import tagged_literal
from thence.rdf.tags import BOOLEAN, DECIMAL, DOUBLE, FLOAT, INTEGER, KIND_MASK

_SUFFIXES = {
    INTEGER: b'"^^<http://www.w3.org/2001/XMLSchema#integer>',
    DECIMAL: b'"^^<http://www.w3.org/2001/XMLSchema#decimal>',
}
_INTEGER_SUFFIX = len(_SUFFIXES[INTEGER])
_DECIMAL_SUFFIX = len(_SUFFIXES[DECIMAL])


def are_canonical(terms: Terms, ids: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Whether each of some terms is a number or boolean in its canonical form."""
    kinds = terms.tags[ids] & KIND_MASK
    canonical = np.zeros(len(ids), np.bool_)
    _mark_exact(terms.text, terms.ends, ids, kinds, canonical)
    # floats and booleans are rare in streams, and the shortest digits of a float are no matter of a few lines
    rare = np.flatnonzero((kinds == DOUBLE) | (kinds == FLOAT) | (kinds == BOOLEAN))
    for row in rare.tolist():
        index = int(ids[row])
        canonical[row] = terms.text_of(index) == str(tagged_literal(int(terms.tags[index]), int(terms.bits[index])))
    return canonical


@njit(cache=True)
def _mark_exact(text, ends, ids, kinds, canonical):
    for row in range(len(ids)):
        start = ends[ids[row] - 1] if ids[row] > 0 else 0
        stop = ends[ids[row]]
        if kinds[row] == INTEGER:
            # types derived from xsd:integer are other terms: their suffix is longer or shorter, or ends otherwise
            canonical[row] = _has_name(text, stop, 105, 110, 116) and _digits_are_canonical(
                text, start + 1, stop - _INTEGER_SUFFIX, False
            )
        elif kinds[row] == DECIMAL:
            canonical[row] = _digits_are_canonical(text, start + 1, stop - _DECIMAL_SUFFIX, True)


@njit(cache=True)
def _has_name(text, stop, first, second, third):
    """Whether the datatype is `#integer`: seven letters that begin so."""
    return text[stop - 9] == 35 and text[stop - 8] == first and text[stop - 7] == second and text[stop - 6] == third


@njit(cache=True)
def _digits_are_canonical(text, i, stop, fraction):
    negative = i < stop and text[i] == 45
    if negative:
        i += 1
    if i == stop or not 48 <= text[i] <= 57:
        return False
    if text[i] == 48 and i + 1 < stop and text[i + 1] != 46:
        return False
    point = False
    only_zero = True
    for k in range(i, stop):
        if text[k] == 46:
            if point or not fraction or k + 1 == stop:
                return False
            point = True
        elif text[k] != 48:
            only_zero = False
    return not (negative and only_zero) and not (point and text[stop - 1] == 48)
