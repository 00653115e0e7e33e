"""How functions are compiled. What Python calls is compiled once, and kept on disk; what compiled code calls is part
of its callers, and neither a file of its own nor a way in for C or Python is made of it: a third of the time for all.
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
    """The same, for one so small or so often called that the call itself would cost."""
    return _for_compiled(njit(forceinline=True, **_INNER)(function))


def _for_compiled(compiled: Any) -> Any:
    """Python has nothing to call here, and is told so: Numba itself would let it jump to nowhere."""

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


def is_kept(compiled: Any) -> bool:
    """Whether an entry was compiled before, perhaps by another release, and kept."""
    file = _file_of(compiled)
    return file is not None and Path(file._index_path).exists()


def _file_of(compiled: Any) -> Any:
    """What keeps a compiled function; None, where nothing can be kept."""
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
    for folder in ("rdf", "match", "program", "kernel"):
        with os.scandir(root / folder) as listed:
            files = [(entry.name, entry.stat()) for entry in listed if entry.name.endswith(".py")]
        found += [(folder, name, status.st_size, status.st_mtime_ns) for name, status in sorted(files)]
    return blake2b(repr(found).encode(), digest_size=8).hexdigest()
