"""Hints for error messages: the closest known name, a list of choices."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

_MANY = 1000  # names among which a close one is sought, and
_LONG = 60  # their length: comparing takes time


def closest(name: str, known: Iterable[str]) -> str:
    """The known name that was probably meant, or nothing. Upper and lower case count little.

    >>> closest("prize", ["volume", "price"]), closest("s1", ["S1", "S2"]), closest("house", ["volume"])
    ('price', 'S1', '')
    """
    if len(name) > _LONG:
        return ""
    by_folded = {each.casefold(): each for each in sorted(known)[:_MANY] if len(each) <= _LONG}
    found = get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.7)
    return by_folded[found[0]] if found else ""


def listed(names: Iterable[str]) -> str:
    """Names as a list of choices, shortened after the first few.

    >>> listed(["S1"]), listed(["S1", "S2", "S3"])
    ('S1', 'S1, S2 or S3')
    """
    found = list(names)
    shown = found[:5]
    if len(found) > len(shown):
        return f"{', '.join(shown)} or another"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} or {shown[-1]}"
