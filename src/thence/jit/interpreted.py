"""Functions that Python interprets until they are hot: a small input must not wait for the compiler or its cache.

The same source runs both ways over the same NumPy scalars, so both give the same results.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher

from thence.jit.compiled import entry, is_cached

LITTLE = 200_000
"""Rounds of loops that a process lets Python run of each function, before it is compiled: about a microsecond each,
where to compile it takes seconds."""

_KEPT, _AWAKE = 2, 10
"""So many times fewer, where the compiled function was kept on disk, and needs but loading; and where another one was
loaded before it: the first takes 0.4 s, as Numba wakes up for it, a further one 20 ms."""

_awake: list[bool] = []
"""Not empty, once something was compiled or loaded."""

CALL = 200
"""Rounds that a call counts for besides: who calls often has much to do, however little each time."""

INTERPRETED_AS: dict[Any, Callable[..., Any]] = {}
"""What Python calls in place of a function that only compiled code can call."""


@dataclass(slots=True)
class Interpretable:
    """A function that is interpreted at first and compiled once it is hot."""

    compiled: Any
    plain: Callable[..., Any] | None = None
    done: int = 0
    kept: bool | None = None

    @property
    def left(self) -> int:
        """The rounds that Python may still run; none, if this is negative."""
        if self.kept is None:
            self.kept = is_cached(self.compiled)
        return (LITTLE // (_AWAKE if _awake else _KEPT) if self.kept else LITTLE) - self.done

    def interpreted(self, *arguments: Any) -> Any:
        """The result, without the compiler."""
        if self.plain is None:
            self.plain = _interpreted(self.compiled, {})
        with np.errstate(all="ignore"):  # compiled code wraps around, and goes on without a word
            return self.plain(*arguments)

    def called(self, *arguments: Any) -> Any:
        """The result, by the compiler."""
        if not _awake:
            _awake.append(True)
        return self.compiled(*arguments)


@dataclass(slots=True)
class LazyEntry(Interpretable):
    """One whose `work` bounds the loop iterations of a call by its arguments."""

    work: Callable[..., int] = field(kw_only=True)

    def __call__(self, *arguments: Any) -> Any:
        if self.left >= 0:
            self.done += CALL + self.work(*arguments)
            if self.left >= 0:
                return self.interpreted(*arguments)
        return self.called(*arguments)


def lazy_entry(work: Callable[..., int]) -> Callable[[Callable[..., Any]], LazyEntry]:
    """As `entry`, for a function that Python runs while it has little to do. `work` says, of the arguments, how many
    rounds its loops go at most.
    """
    return lambda function: LazyEntry(entry(function), work=work)


def _interpreted(compiled: Dispatcher, known: dict[Dispatcher, Callable[..., Any]]) -> Callable[..., Any]:
    """A compiled function as Python runs it, with all that it calls."""
    if compiled not in known:
        function = compiled.py_func
        names = dict(function.__globals__)
        known[compiled] = FunctionType(function.__code__, names, function.__name__, function.__defaults__)
        for name in function.__code__.co_names:
            called = names.get(name)
            if isinstance(called, Dispatcher):
                names[name] = _interpreted(called, known)
            elif isinstance(called, Hashable) and called in INTERPRETED_AS:
                names[name] = INTERPRETED_AS[called]
    return known[compiled]
