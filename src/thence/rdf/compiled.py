"""How functions are compiled. What Python calls is compiled once, and kept on disk; what compiled code calls is part
of its callers, and neither a file of its own nor a pointer for C is made of it: a fifth of the time for all.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from numba import njit

_INNER: dict[str, Any] = {"no_cfunc_wrapper": True}  # not among Numba's type hints

inner = njit(**_INNER)
"""For a function that compiled functions call."""

inlined = njit(forceinline=True, **_INNER)
"""The same, for one so small or so often called that the call itself would cost."""


def entry(function: Callable[..., Any]) -> Any:
    """For a function that Python calls. What was kept of it serves only while no module of ours has changed: a function
    holds constants and functions of others, and Numba by itself looks at the function's own file alone."""
    compiled = njit(cache=True)(function)
    file = getattr(getattr(compiled, "_cache", None), "_cache_file", None)  # none, where nothing can be kept
    if file is not None:
        file._source_stamp = (file._source_stamp, _stamp())
    return compiled


@lru_cache(maxsize=1)
def _stamp() -> str:
    """What changes with any module."""
    root = Path(__file__).parent.parent
    found = []
    for folder in ("rdf", "match", "program", "kernel"):
        with os.scandir(root / folder) as listed:
            files = [(entry.name, entry.stat()) for entry in listed if entry.name.endswith(".py")]
        found += [(folder, name, status.st_size, status.st_mtime_ns) for name, status in sorted(files)]
    return blake2b(repr(found).encode(), digest_size=8).hexdigest()
