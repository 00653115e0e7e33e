"""`FILTER(a && b)` → `FILTER(a) FILTER(b)`."""

from __future__ import annotations

from dataclasses import replace

from thence.algebra.spaseq import SequenceQuery
from thence.algebra.traversal import conjuncts  # others import it from here


def split_filters(query: SequenceQuery) -> SequenceQuery:
    """Each filter's conditions apart. A filter lets through what is true, and `a && b` is true where both are: an error
    on either side is never true, whatever the other side says (SPARQL 1.1, 17.2)."""
    gpms = (replace(gpm, filters=tuple(c for test in gpm.filters for c in conjuncts(test))) for gpm in query.gpms)
    return replace(query, gpms=tuple(gpms))
