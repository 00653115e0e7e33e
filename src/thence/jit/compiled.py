"""Functions compiled by Numba and cached on disk, and functions that Python interprets until they are hot."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from types import FunctionType
from typing import Any, NoReturn

import numpy as np
from numba import config, njit
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import Dispatcher

# Decorators that compile functions with Numba. Functions that Python calls are compiled once and cached on disk;
# functions that only compiled code calls become part of their callers, without a cache file or wrappers of their own,
# which takes a third of the compile time.

_SETTINGS: Any = config  # what it has is not among Numba's type hints
_INNER: dict[str, Any] = {"no_cfunc_wrapper": True, "no_cpython_wrapper": True}  # not among Numba's type hints


def inner(function: Callable[..., Any]) -> Any:
    """Decorator for a function that only compiled functions call."""
    return _for_compiled(njit(**_INNER)(function))


def inlined(function: Callable[..., Any]) -> Any:
    """Like `inner`, but inlined: for functions so small or so often called that the call itself costs."""
    return _for_compiled(njit(forceinline=True, **_INNER)(function))


def _for_compiled(compiled: Any) -> Any:
    """Raises an error if Python calls the function: Numba would jump to an invalid address."""

    def refused(*arguments: object) -> NoReturn:
        name = compiled.__name__
        raise TypeError(f"{name} can be called from compiled functions only. Try: {name}.py_func")

    compiled._insert = lambda *overload, **options: None  # what would be called without asking
    compiled._compile_for_args = refused
    return compiled


part = njit(inline="always")
"""Decorator for the body of a function that Python calls, after that function has made pointers of its arrays. It is
compiled as a part of the caller.
"""

ieee = njit(error_model="numpy")
"""For a function that divides as IEEE 754 does: by zero without an error."""


def entry(function: Callable[..., Any]) -> Any:
    """Decorator for a function that Python calls. Its cache file is valid only while no module of Thence has changed: a
    function contains constants and functions of other modules, and Numba by itself checks only the function's own file.
    """
    compiled: Any = njit(cache=True)(function)
    compiled.compile = _swiftly(compiled.compile)
    file = _file_of(compiled)
    if file is not None:
        file._source_stamp = (file._source_stamp, _stamp())
    return compiled


def is_cached(compiled: Any) -> bool:
    """Whether an entry was compiled before, perhaps by another release, and is cached on disk."""
    file = _file_of(compiled)
    return file is not None and Path(file._index_path).exists()


def _file_of(compiled: Any) -> Any:
    """The cache file of a compiled function; None if nothing can be cached."""
    return getattr(getattr(compiled, "_cache", None), "_cache_file", None)


def _swiftly(compile: Callable[..., Any]) -> Callable[..., Any]:
    """Compile faster: without vectorisation, which is useless for code that branches on single values, and without
    garbage collection of a compilation's many objects."""

    def compiling(signature: Any) -> Any:
        with global_compiler_lock:  # so that no other thread compiles, or ends this, meanwhile
            settings = _SETTINGS.LOOP_VECTORIZE, _SETTINGS.SLP_VECTORIZE
            collects = gc.isenabled()
            gc.disable()
            _SETTINGS.LOOP_VECTORIZE = _SETTINGS.SLP_VECTORIZE = 0
            try:
                return compile(signature)
            finally:
                _SETTINGS.LOOP_VECTORIZE, _SETTINGS.SLP_VECTORIZE = settings
                if collects:
                    gc.enable()

    return compiling


COMPILED = (
    "jit", "columns", "io", "relation", "match", "interface", "extraction",
    "engines/automaton", "engines/windows", "spark/sources",
)  # fmt: skip
"""The folders with functions that are compiled, and with constants that these hold."""


@lru_cache(maxsize=1)
def _stamp() -> str:
    """A stamp that changes with any module, and with bounds checking, which makes code four times as slow."""
    root = Path(__file__).parent.parent
    found: list[Any] = [_SETTINGS.BOUNDSCHECK]
    for folder in COMPILED:
        with os.scandir(root / folder) as listed:
            files = [(entry.name, entry.stat()) for entry in listed if entry.name.endswith(".py")]
        found += [(folder, name, status.st_size, status.st_mtime_ns) for name, status in sorted(files)]
    return blake2b(repr(found).encode(), digest_size=8).hexdigest()


# Functions that Python interprets until they are hot: a small input must not wait for the compiler or its cache.
#
# The same source runs both ways over the same NumPy scalars, so both give the same results.

LITTLE = 200_000
"""The number of loop rounds that a process lets Python run of each function before it is compiled. A round costs about
a microsecond, compiling takes seconds.
"""

_KEPT, _AWAKE = 2, 10
"""Divisors of `LITTLE` where the compiled function is cached on disk and only has to be loaded: `_KEPT` for the first
function, which takes 0.4 s because Numba is initialised, `_AWAKE` for further ones, which take 20 ms.
"""

_awake: list[bool] = []
"""Not empty once something was compiled or loaded."""

CALL = 200
"""The rounds that each call counts for, in addition to its loops: many calls are much work, however small each
one is.
"""

INTERPRETED_AS: dict[Any, Callable[..., Any]] = {}
"""The functions that Python calls in place of those that only compiled code can call."""


@dataclass(slots=True)
class Interpretable:
    """A function that is interpreted at first and compiled once it is hot."""

    compiled: Any
    plain: Callable[..., Any] | None = None
    done: int = 0
    kept: bool | None = None

    @property
    def left(self) -> int:
        """The rounds that Python may still run; negative means 0."""
        if self.kept is None:
            self.kept = is_cached(self.compiled)
        return (LITTLE // (_AWAKE if _awake else _KEPT) if self.kept else LITTLE) - self.done

    def interpreted(self, *arguments: Any) -> Any:
        """The result, computed by Python."""
        if self.plain is None:
            self.plain = _interpreted(self.compiled, {})
        with np.errstate(all="ignore"):  # compiled code wraps around, and goes on without a word
            return self.plain(*arguments)

    def called(self, *arguments: Any) -> Any:
        """The result, computed by the compiled function."""
        if not _awake:
            _awake.append(True)
        return self.compiled(*arguments)


@dataclass(slots=True)
class LazyEntry(Interpretable):
    """An interpretable function whose `work` bounds the loop rounds of a call by its arguments."""

    work: Callable[..., int] = field(kw_only=True)

    def __call__(self, *arguments: Any) -> Any:
        if self.left >= 0:
            self.done += CALL + self.work(*arguments)
            if self.left >= 0:
                return self.interpreted(*arguments)
        return self.called(*arguments)


def lazy_entry(work: Callable[..., int]) -> Callable[[Callable[..., Any]], LazyEntry]:
    """Like `entry`, for a function that Python runs while there is little to do. `work` takes the arguments and returns
    the most rounds that the function's loops can make."""
    return lambda function: LazyEntry(entry(function), work=work)


def _interpreted(compiled: Dispatcher, known: dict[Dispatcher, Callable[..., Any]]) -> Callable[..., Any]:
    """A compiled function, and all that it calls, in the form that Python runs."""
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
