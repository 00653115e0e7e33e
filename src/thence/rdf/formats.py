"""The RDF formats that are read and written, and the endings of their files."""

from __future__ import annotations

import os
from enum import Enum

from thence.errors import InputError


class Format(Enum):
    """An RDF format.

    >>> Format.of("power.trig.gz")
    <Format.TRIG: 'TriG'>
    """

    N_TRIPLES = "N-Triples"
    N_QUADS = "N-Quads"
    TURTLE = "Turtle"
    TRIG = "TriG"
    JSON_LD = "JSON-LD"

    @property
    def endings(self) -> tuple[str, ...]:
        return _ENDINGS[self]

    @property
    def has_graphs(self) -> bool:
        """Whether it can hold named graphs."""
        return self in (Format.N_QUADS, Format.TRIG, Format.JSON_LD)

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> Format:
        """The format that a file's name promises; `.gz` does not count."""
        name = os.fspath(path).removesuffix(".gz").lower()
        for format, endings in _ENDINGS.items():
            if name.endswith(endings):
                return format
        known = ", ".join(ending for endings in _ENDINGS.values() for ending in endings)
        raise InputError(f"{os.fspath(path)}: no RDF format has this ending. Try: {known}")


_ENDINGS = {
    Format.N_TRIPLES: (".nt",),
    Format.N_QUADS: (".nq",),
    Format.TURTLE: (".ttl", ".n3"),  # what is found under .n3 is nearly always Turtle; if not, it is refused as such
    Format.TRIG: (".trig",),
    Format.JSON_LD: (".jsonld",),
}
