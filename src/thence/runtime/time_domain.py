"""The time domain of a query: ticks or dates, never both (semantics, section 1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thence.columns.column_batch import Batch
from thence.errors import InputError
from thence.rdf.events import Event
from thence.rdf.times import FIRST_TIME, LAST_TIME, Domain, Span

_NAMES = {Domain.TICKS: "ticks", Domain.DATETIME: "dates"}
_A_TIME = {Domain.TICKS: "a tick", Domain.DATETIME: "a date"}
_CURES = {
    Domain.TICKS: "WITHIN … TICKS, for times that are plain integers",
    Domain.DATETIME: "WITHIN … SECONDS, for times that are dates",
}


@dataclass(slots=True)
class TimeDomain:
    """What a query's times are: what WITHIN or the lateness says, else what the first event has. `told_by` is what
    settled it."""

    domain: Domain | None = None
    told_by: str = ""

    @classmethod
    def of(cls, kind: tuple[Domain, str] | None, spans: dict[str, Span]) -> TimeDomain:
        """As far as the query and some named lengths of time say. `kind` is what the query's text demands, and the
        words that do."""
        found = cls() if kind is None else cls(*kind)
        for name, span in spans.items():
            if span.length and found.domain is not None and span.domain is not found.domain:
                raise InputError(
                    f"{name} is in {_NAMES[span.domain]}, but {found.told_by} is in {_NAMES[found.domain]}. "
                    "A query has one kind of time."
                )
            if span.length and found.domain is None:
                found = cls(span.domain, name)
        return found

    def begin(self, stream: str, domain: Domain) -> None:
        """The first event of a stream has such a time: an error, if the query's are others."""
        if self.domain is None:
            self.domain, self.told_by = domain, f"stream {stream}"
        elif domain is not self.domain:
            cure = f" Try: {_CURES[domain]}" if self.told_by.startswith("WITHIN") else ""
            raise InputError(
                f"The times of stream {stream} are {_NAMES[domain]}, but {self.told_by} is in {_NAMES[self.domain]}: "
                f"a query has one kind of time.{cure}"
            )

    def fits(self, batch: Batch) -> NDArray[np.bool_]:
        """Which events have a time of the query's kind, and in range (C-2)."""
        assert self.domain is not None
        in_range = (batch.starts >= FIRST_TIME) & (batch.ends <= LAST_TIME)
        return np.asarray((batch.domains == self.domain.value) & in_range)

    def objection(self, event: Event) -> str | None:
        """Why an event is bad because of its time; None, if it is not."""
        if event.domain is not self.domain:
            return self.reason(event.domain)
        if event.start >= FIRST_TIME and event.end <= LAST_TIME:
            return None
        wrong = event.start if event.start < FIRST_TIME else event.end
        return f"its time {wrong} is out of range: times are from {FIRST_TIME} to {LAST_TIME}"

    def reason(self, domain: Domain) -> str:
        """Why a time of such a kind is not one of the query's."""
        assert self.domain is not None
        return f"its time is {_A_TIME[domain]}, the query's are {_NAMES[self.domain]}"

    @property
    def known(self) -> Domain:
        """The domain; before the first event, that of ticks."""
        return self.domain or Domain.TICKS
