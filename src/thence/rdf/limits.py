"""Limits for untrusted input."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of input. Exceeding one makes a bad event in a stream, and an error elsewhere."""

    event_bytes: int = 16 << 20  # of an event, both in its document and written as N-Quads
    event_triples: int = 100_000
    nesting: int = 200  # of brackets in RDF, of arrays and objects in JSON
    gunzip_ratio: int = 200

    def describe_event(self) -> str:
        """The reason given for an event that is too large.

        >>> Limits().describe_event()
        'larger than an event may be: 16 MiB or 100,000 triples'
        """
        return f"larger than an event may be: {size(self.event_bytes)} or {self.event_triples:,} triples"

    def describe_nesting(self) -> str:
        """The reason given for brackets that are nested too deep."""
        return f"brackets nested more than {self.nesting} deep"


def size(count: int) -> str:
    """A number of bytes in kB, MB or GB.

    >>> size(16 << 20), size(1500)
    ('16 MiB', '1,500 bytes')
    """
    return f"{count >> 20} MiB" if count and count % (1 << 20) == 0 else f"{count:,} bytes"
