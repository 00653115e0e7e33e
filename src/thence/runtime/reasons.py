"""Why an event is late, in words: the same on every path."""

from __future__ import annotations

from thence.rdf.times import Domain, format_time


def late_reason(time: int, watermark: int, domain: Domain) -> str:
    """
    >>> late_reason(3, 4, Domain.TICKS)
    'event time 3 is behind the watermark (4)'
    """
    return f"event time {format_time(time, domain)} is behind the watermark ({format_time(watermark, domain)})"
