"""Names of the columns of an answer."""

from __future__ import annotations

from collections.abc import Sequence

RESERVED_COLUMNS = ("start", "end", "match_id", "events", "query")


def column_names(variables: Sequence[str], *, taken: Sequence[str] = RESERVED_COLUMNS) -> list[str]:
    """Names for columns beside our own: one that collides, whatever its case, gets a trailing `_`.

    >>> column_names(["house", "End", "HOUSE"])
    ['house', 'End_', 'HOUSE_']
    """
    known = {name.casefold() for name in taken}
    found = []
    for variable in variables:
        name = variable
        while name.casefold() in known:
            name += "_"
        known.add(name.casefold())
        found.append(name)
    return found
