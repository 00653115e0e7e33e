"""The watermark (C-15), the time domain of a query (C-2), and the words for late events."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from thence.columns.batches import Batch
from thence.columns.time_reading import unit_of
from thence.errors import InputError
from thence.rdf.events import Event
from thence.rdf.times import FIRST_TIME, LAST_TIME, MIN_TIME, Domain, Span, format_time

# The reason of a late event, the same on every path.


def late_reason(time: int, watermark: int, domain: Domain) -> str:
    """The reason of a late event (C-16, BAD-7).

    >>> late_reason(3, 4, Domain.TICKS)
    'event time 3 is behind the watermark (4)'
    """
    return f"event time {format_time(time, domain)} is behind the watermark ({format_time(watermark, domain)})"


# The time domain of a query: ticks or dates, never both (C-2).

_NAMES = {Domain.TICKS: "ticks", Domain.DATETIME: "dates"}
_A_TIME = {Domain.TICKS: "a tick", Domain.DATETIME: "a date"}
_CURES = {
    Domain.TICKS: "time_unit='{unit}', if they count from 1970; or WITHIN … TICKS, for times that are plain integers",
    Domain.DATETIME: "WITHIN … SECONDS, for times that are dates",
}


@dataclass(slots=True)
class TimeDomain:
    """The kind of a query's times: that of WITHIN or the lateness, else that of the first event. `settled_by` names
    what decided it."""

    domain: Domain | None = None
    settled_by: str = ""

    @classmethod
    def of(cls, kind: tuple[Domain, str] | None, spans: dict[str, Span]) -> TimeDomain:
        """The time domain, as far as the query and some named lengths of time decide it. `kind` is the kind that the
        query's text demands, with the words that demand it."""
        found = cls() if kind is None else cls(*kind)
        for name, span in spans.items():
            if span.length and found.domain is not None and span.domain is not found.domain:
                raise InputError(
                    f"{name} is in {_NAMES[span.domain]}, but {found.settled_by} is in {_NAMES[found.domain]}. "
                    "A query has one kind of time."
                )
            if span.length and found.domain is None:
                found = cls(span.domain, name)
        return found

    def begin(self, stream: str, domain: Domain, time: int = 0) -> None:
        """Checks the time of a stream's first event, where it is known. InputError if it is not of the query's kind."""
        if self.domain is None:
            self.domain, self.settled_by = domain, f"stream {stream}"
        elif domain is not self.domain:
            unit = unit_of(str(time)) or "s"
            cure = f" Try: {_CURES[domain].format(unit=unit)}" if self.settled_by.startswith("WITHIN") else ""
            raise InputError(
                f"The times of stream {stream} are {_NAMES[domain]}, but {self.settled_by} is in "
                f"{_NAMES[self.domain]}: a query has one kind of time.{cure}"
            )

    def fits(self, batch: Batch) -> NDArray[np.bool_]:
        """Whether the time of each event is of the query's kind, and in range (C-2)."""
        assert self.domain is not None
        in_range = (batch.starts >= FIRST_TIME) & (batch.ends <= LAST_TIME)
        return np.asarray((batch.domains == self.domain.value) & in_range)

    def objection(self, event: Event) -> str | None:
        """The reason why an event's time makes it bad; None if it does not."""
        if event.domain is not self.domain:
            return self.reason(event.domain)
        if event.start >= FIRST_TIME and event.end <= LAST_TIME:
            return None
        wrong = event.start if event.start < FIRST_TIME else event.end
        return f"its time {wrong} is out of range: times are from {FIRST_TIME} to {LAST_TIME}"

    def reason(self, domain: Domain) -> str:
        """The reason why a time of such a kind is not one of the query's."""
        assert self.domain is not None
        return f"its time is {_A_TIME[domain]}, the query's are {_NAMES[self.domain]}"

    @property
    def known(self) -> Domain:
        """The domain; ticks before the first event."""
        return self.domain or Domain.TICKS


# The watermark (C-15): the least, over the streams, of the latest time seen on each, minus the
# lateness. Nothing here reads the clock.


@dataclass(slots=True)
class Watermark:
    """The watermark: no event before `now` is expected any more; None while nothing is known. It never goes back.

    A stream in `idle` does not hold the others back. With `idle_after`, neither does any stream that is so far behind
    the latest.

    >>> watermark = Watermark(("S1", "S2"), lateness=2)
    >>> watermark.see("S1", 10)
    >>> print(watermark.now)
    None
    >>> watermark.see("S2", 7)
    >>> watermark.now
    5
    """

    streams: tuple[str, ...]
    lateness: int = 0
    idle: frozenset[str] = frozenset()
    idle_after: int | None = None
    now: int | None = None
    latest: dict[str, int] = field(default_factory=dict)
    began: int | None = None  # the first time that was seen, of any stream

    def see(self, stream: str, time: int) -> None:
        """Notes an event of that time on that stream."""
        self.see_all({stream: (time, time)})

    def see_all(self, seen: Mapping[str, tuple[int, int]]) -> None:
        """Notes events of some streams at once: the earliest and the latest time of each."""
        for stream, (_, latest) in seen.items():
            self.latest[stream] = max(latest, self.latest.get(stream, latest))
        if self.began is None and seen:
            self.began = min(earliest for earliest, _ in seen.values())
        least = self._least()
        if least is not None:
            self.advance(max(least - self.lateness, MIN_TIME))

    def advance(self, time: int) -> None:
        """Notes that nothing before that time will come, on any stream."""
        self.now = time if self.now is None else max(self.now, time)

    def _least(self) -> int | None:
        """The latest time of the stream that is furthest behind; None while a stream that counts is silent."""
        awaited = [stream for stream in self.streams if stream not in self.idle and not self._is_left_out(stream)]
        if any(stream not in self.latest for stream in awaited):
            return None
        return min(self.latest[stream] for stream in awaited)

    def _is_left_out(self, stream: str) -> bool:
        if self.idle_after is None:
            return False
        assert self.began is not None  # a stream that never had an event has been silent from the beginning
        return max(self.latest.values()) - self.latest.get(stream, self.began) > self.idle_after
