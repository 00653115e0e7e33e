"""The order of ids (C-33)."""

from __future__ import annotations

from typing import Any


def id_order(name: str) -> tuple[Any, ...]:
    """The key of an id: (TEXT, 0, number) of TEXT:DIGITS, (id, 1) of any other. Of ids of one number the shorter one
    comes first.

    >>> sorted(["S:10", "S:6", "S", "T:1"], key=id_order)
    ['S:6', 'S:10', 'S', 'T:1']
    """
    text, colon, digits = name.rpartition(":")
    if colon and digits and set(digits) <= set("0123456789"):
        return text, 0, int(digits), len(name)
    return name, 1
