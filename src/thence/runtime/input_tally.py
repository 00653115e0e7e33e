"""How many events of each stream came, and how many are bad or late: many are a warning, a stream of nothing but bad
ones is an error (BAD-8)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from thence.errors import AllBadError
from thence.runtime.results import Problem

_SHARE = 100
"""One bad event in so many is no reason for a warning."""

_LONGEST = 300


@dataclass(slots=True)
class InputTally:
    """The events of each stream, counted as they are read: `read` has the bad ones too."""

    read: Counter[str] = field(default_factory=Counter)
    bad: Counter[str] = field(default_factory=Counter)
    first: dict[str, Problem] = field(default_factory=dict)

    def note(self, problem: Problem) -> None:
        """A bad or late event. A bad cell is neither, nor is a partial match that timed out."""
        if problem.problem in ("bad", "late"):
            self.bad[problem.stream] += 1
            self.first.setdefault(problem.stream, problem)

    def check(self, streams: Iterable[str]) -> None:
        """AllBadError for the first of these streams that has events, and only bad ones."""
        for stream in streams:
            if self.bad[stream] and self.bad[stream] >= self.read[stream]:
                count = self.bad[stream]
                which = "The only event" if count == 1 else f"All {count:,} events"
                are = "is" if count == 1 else "are"
                first = self.first[stream]
                raise AllBadError(f"{which} of the stream {stream} {are} bad. The first, {described(first)}.")

    def warning(self) -> str | None:
        """A sentence where more than a hundredth of all events are bad or late, with the first reason."""
        bad, read = self.bad.total(), self.read.total()
        if not is_many(bad, read):
            return None
        first = next(iter(self.first.values()))
        return f"{bad:,} of {read:,} events are bad or late. The first, {described(first)}."


def is_many(bad: int, read: int) -> bool:
    """Whether more than a hundredth of the events are bad."""
    return bad * _SHARE > read


def described(problem: Problem) -> str:
    """Where a bad event is, and why it is bad."""
    reason = problem.reason if len(problem.reason) <= _LONGEST else problem.reason[:_LONGEST] + "…"
    if problem.line is not None:
        return f"{problem.stream}, line {problem.line}: {reason.rstrip('.')}"
    event = problem.event
    place = "" if event is None or event.id is None else f", {event.id}"
    return f"{problem.stream}{place}: {reason.rstrip('.')}"
