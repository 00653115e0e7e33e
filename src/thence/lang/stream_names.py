"""The names of a query's streams, by which callers supply them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from thence.algebra.streams import Stream
from thence.rdf.terms import IRI

_LAST = re.compile(r"[^#/:]+\Z")


def named_streams(iris: Iterable[IRI], namespace: str) -> tuple[Stream, ...]:
    """Each stream once, called by the last part of its IRI; by the whole IRI, if two share that part.

    >>> [stream.name for stream in named_streams([IRI("x:a#S"), IRI("x:b#S"), IRI("x:b#T")], "x:")]
    ['x:a#S', 'x:b#S', 'T']
    """
    found = tuple(dict.fromkeys(iris))
    short = {iri: _local(iri.value, namespace) for iri in found}
    times = Counter(short.values())
    return tuple(Stream(short[iri] if times[short[iri]] == 1 else iri.value, iri) for iri in found)


def _local(iri: str, namespace: str) -> str:
    rest = iri.removeprefix(namespace)
    if rest != iri and rest.replace("_", "").isalnum():
        return rest  # `:S`, whatever the namespace ends with
    last = _LAST.search(iri)
    return last[0] if last else iri
