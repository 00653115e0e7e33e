"""Keeps the objects that a Python worker has loaded out of garbage collection.

Spark searches all of a worker's memory after each task. Libraries alone are 180,000 objects there, which takes 80 ms:
more than the work itself, if micro-batches are small."""

from __future__ import annotations

import gc

_MANY = 20_000
"""Objects that are worth it."""
_TIMES = 3
"""How often it is done: what was garbage, or becomes it, stays for ever, so that not every task's may be taken."""

_left = _TIMES


def freeze_loaded_objects() -> None:
    """Called as a task begins: what is there now has come to stay, for the most part."""
    global _left
    if _left and len(gc.get_objects()) > _MANY:
        _left -= 1
        gc.freeze()
