"""Where a case's choices come from: a seed, which makes every case a fresh one, or Hypothesis, draw by draw.

Hypothesis makes most of its cases by changing the one before. For what is large and has many parts, a seed finds more;
what it gives up, that a failure shrinks, `smaller.smallest` does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Protocol, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")


class Choices(Protocol):
    def pick(self, options: Sequence[T]) -> T:
        """One of them."""

    def number(self, least: int, most: int) -> int:
        """From the least to the most, both included."""

    def some(self, options: Sequence[T], least: int, most: int) -> list[T]:
        """So many of them, each once."""


class Seeded:
    """Choices that a seed determines."""

    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def pick(self, options: Sequence[T]) -> T:
        return self._random.choice(options)

    def number(self, least: int, most: int) -> int:
        return self._random.randint(least, most)

    def some(self, options: Sequence[T], least: int, most: int) -> list[T]:
        return self._random.sample(options, min(len(options), self._random.randint(least, most)))


class Drawn:
    """Choices that Hypothesis makes, and can shrink."""

    def __init__(self, draw: st.DrawFn) -> None:
        self._draw = draw

    def pick(self, options: Sequence[T]) -> T:
        return self._draw(st.sampled_from(options))

    def number(self, least: int, most: int) -> int:
        return self._draw(st.integers(least, most))

    def some(self, options: Sequence[T], least: int, most: int) -> list[T]:
        sizes = {"min_size": min(least, len(options)), "max_size": min(most, len(options))}
        return self._draw(st.lists(st.sampled_from(options), unique=True, **sizes))


def seeded(make: Callable[[Choices], T]) -> st.SearchStrategy[T]:
    """What is made of one seed after the other."""
    return st.integers(0, 2**40).map(lambda seed: make(Seeded(seed)))
