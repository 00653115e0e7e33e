"""Decorators that compile functions with Numba. Functions that Python calls are compiled once and cached on disk;
functions that only compiled code calls become part of their callers, without a cache file or wrappers of their own,
which takes a third of the compile time.
"""

from __future__ import annotations

import gc
import os
from collections.abc import Callable
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, NoReturn

from numba import config, njit
from numba.core.compiler_lock import global_compiler_lock

_SETTINGS: Any = config  # what it has is not among Numba's type hints
_INNER: dict[str, Any] = {"no_cfunc_wrapper": True, "no_cpython_wrapper": True}  # not among Numba's type hints


def inner(function: Callable[..., Any]) -> Any:
    """For a function that compiled functions call."""
    return _for_compiled(njit(**_INNER)(function))


def inlined(function: Callable[..., Any]) -> Any:
    """The same, inlined: for functions so small or so often called that the call itself costs."""
    return _for_compiled(njit(forceinline=True, **_INNER)(function))


def _for_compiled(compiled: Any) -> Any:
    """Raises an error if Python calls the function: Numba would jump to an invalid address."""

    def refused(*arguments: object) -> NoReturn:
        raise TypeError(f"{compiled.__name__} is a part of compiled functions. Try: {compiled.__name__}.py_func")

    compiled._insert = lambda *overload, **options: None  # what would be called without asking
    compiled._compile_for_args = refused
    return compiled


part = njit(inline="always")
"""For the body of a function that Python calls, once it has made pointers of arrays: compiled as a part of it."""


def entry(function: Callable[..., Any]) -> Any:
    """For a function that Python calls. What was kept of it serves only while no module of ours has changed: a function
    holds constants and functions of others, and Numba by itself looks at the function's own file alone."""
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
    """Compiling in less time: without looking for vectors, of which code that branches on single values has none, and
    without looking for garbage among the many objects of a compilation while it goes on."""

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


@lru_cache(maxsize=1)
def _stamp() -> str:
    """What changes with any module, and with whether indices are looked at: code that looks is four times as slow."""
    root = Path(__file__).parent.parent
    found: list[Any] = [_SETTINGS.BOUNDSCHECK]
    for folder in ("jit", "columns", "io", "match", "program", "program/automaton", "kernel", "kernel/automaton"):
        with os.scandir(root / folder) as listed:
            files = [(entry.name, entry.stat()) for entry in listed if entry.name.endswith(".py")]
        found += [(folder, name, status.st_size, status.st_mtime_ns) for name, status in sorted(files)]
    return blake2b(repr(found).encode(), digest_size=8).hexdigest()
