"""The watermark (semantics, section 1): the least, over the streams, of the latest time seen on each, minus the
lateness. Nothing here reads the clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from thence.rdf.times import MIN_TIME


@dataclass(slots=True)
class Watermark:
    """No event before `now` is expected any more; None: nothing is known yet. It never goes back.

    A stream in `idle` does not hold the others back. With `idle_after`, no stream does that is so far behind the
    latest.

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
        """An event of that time has come on that stream."""
        self.see_all({stream: (time, time)})

    def see_all(self, seen: Mapping[str, tuple[int, int]]) -> None:
        """Events have come on some streams, at once: the earliest and the latest time of each."""
        for stream, (_, latest) in seen.items():
            self.latest[stream] = max(latest, self.latest.get(stream, latest))
        if self.began is None and seen:
            self.began = min(earliest for earliest, _ in seen.values())
        least = self._least()
        if least is not None:
            self.advance(max(least - self.lateness, MIN_TIME))

    def advance(self, time: int) -> None:
        """Nothing before that time will come, on any stream."""
        self.now = time if self.now is None else max(self.now, time)

    def _least(self) -> int | None:
        """The latest time of the stream that is furthest behind; None while one that counts is silent."""
        awaited = [stream for stream in self.streams if stream not in self.idle and not self._is_left_out(stream)]
        if any(stream not in self.latest for stream in awaited):
            return None
        return min(self.latest[stream] for stream in awaited)

    def _is_left_out(self, stream: str) -> bool:
        if self.idle_after is None:
            return False
        assert self.began is not None  # what has never been heard of has been silent from the beginning
        return max(self.latest.values()) - self.latest.get(stream, self.began) > self.idle_after
