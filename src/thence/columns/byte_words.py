"""Bytes of texts as 64-bit words, compiled: input of hash functions."""

from __future__ import annotations

import numpy as np

from thence.jit.compiled import inlined


@inlined
def word_at(text, place, count):
    """Up to eight bytes as a number, the first one lowest."""
    word = np.uint64(0)
    for number in range(count):
        word |= np.uint64(text[place + number]) << np.uint64(8 * number)
    return word
