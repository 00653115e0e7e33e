"""How functions are compiled. What Python calls is compiled once, and kept on disk; what compiled code calls is part
of its callers, and neither a file of its own nor a pointer for C is made of it: a fifth of the time for all.
"""

from typing import Any

from numba import njit

_INNER: dict[str, Any] = {"no_cfunc_wrapper": True}  # not among Numba's type hints

entry = njit(cache=True)
"""For a function that Python calls."""

inner = njit(**_INNER)
"""For a function that compiled functions call."""

inlined = njit(forceinline=True, **_INNER)
"""The same, for one so small or so often called that the call itself would cost."""
