"""Arrays as bare pointers, inside compiled code.

An array that is passed on costs two atomic operations a call, and an index that might be negative a comparison; a
pointer costs neither. It is not checked either: with `NUMBA_BOUNDSCHECK=1` a pointer is the array itself, and every
index is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import config, njit, types
from numba.extending import intrinsic

from thence.jit.interpreted import INTERPRETED_AS


@intrinsic
def _bare(typing_context, array):
    def generate(context, builder, signature, arguments):
        return context.make_array(signature.args[0])(context, builder, arguments[0]).data

    return types.CPointer(array.dtype)(array), generate  # type: ignore[no-untyped-call]


@njit(cache=True)
def _checked(array):
    return array.ravel()


pointer: Any = _checked if getattr(config, "BOUNDSCHECK", None) else _bare
"""The items of a contiguous array, one after the other. Whoever calls holds the array for as long."""

INTERPRETED_AS[_bare] = np.ravel
