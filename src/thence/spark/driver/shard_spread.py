"""Shard keys that Spark hashes into different partitions.

Spark's stateful operators have no repartitionById: a key goes to the partition that its hash says, and by their plain
numbers both of two shards go to one, and three of four. The keys depend on the number of shards alone, which a
checkpoint keeps, so that a restarted query finds its states again. The first shard's is always zero, so that a query
with another number of shards finds at least that one's state, and refuses it.
"""

from __future__ import annotations

from functools import cache
from itertools import count

_SEED = 42  # Spark's own
_32 = 0xFFFFFFFF


@cache
def shard_keys(shards: int) -> tuple[int, ...]:
    """The smallest numbers that are sent to different partitions, if there are as many of these.

    >>> shard_keys(4)
    (0, 2, 3, 14)
    """
    found: dict[int, int] = {}
    numbers = count()
    while len(found) < shards:
        key = next(numbers)
        found.setdefault(murmur3(key) % shards, key)
    return tuple(found.values())


def murmur3(number: int) -> int:
    """Spark's function `hash` of a bigint that is not negative.

    >>> murmur3(0), murmur3(2**40 + 1)
    (-1670924195, -392492974)
    """
    code = _SEED
    for word in (number & _32, number >> 32):
        code ^= _turned(word * 0xCC9E2D51 & _32, 15) * 0x1B873593 & _32
        code = _turned(code, 13) * 5 + 0xE6546B64 & _32
    code ^= 8  # bytes
    code = (code ^ code >> 16) * 0x85EBCA6B & _32
    code = (code ^ code >> 13) * 0xC2B2AE35 & _32
    code ^= code >> 16
    return code - (code >> 31 << 32)


def _turned(word: int, bits: int) -> int:
    return word << bits & _32 | word >> 32 - bits
