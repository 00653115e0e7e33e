"""What a Python worker has loaded, kept out of the search for garbage.

Spark searches all of a worker's memory after each task. Libraries alone are 180,000 objects there, which takes 80 ms:
more than the work itself, if micro-batches are small."""

from __future__ import annotations

import gc

_MANY = 20_000
"""Objects that are worth it. They are never searched again, so it is done for many at a time, and not for each task's
own, which might become garbage later."""


def settled() -> None:
    """Called as a task begins, when Spark has just searched: what is there now has come to stay."""
    if len(gc.get_objects()) > _MANY:
        gc.freeze()
