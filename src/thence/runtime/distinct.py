"""DISTINCT: of equal rows the first stays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np

from thence.program.output import Distinct
from thence.program.solutions import Solutions
from thence.runtime.ordering import Ordered, shown_text


@dataclass(slots=True)
class Seen:
    """The rows emitted so far that a later row may equal, as texts, each with the time after which it cannot."""

    scope: Distinct
    rows: dict[str, int] = field(default_factory=dict)

    def first_of(self, found: Iterable[Ordered]) -> Iterator[Solutions]:
        """The new ones of some rows in order."""
        for solutions, order in found:
            numbers = range(len(solutions)) if order is None else order.tolist()
            kept = [number for number in numbers if self._is_new(solutions, number)]
            if kept:
                yield solutions.take(np.array(kept, np.int64))

    def _is_new(self, solutions: Solutions, number: int) -> bool:
        text, until = shown_text(solutions.bindings(number)), int(solutions.end[number])
        match self.scope:
            case Distinct.FOREVER:
                pass
            case Distinct.INTERVAL:
                text = f"{solutions.start[number]} {until} {text}"
            case Distinct.EVALUATION:
                until = int(solutions.certain[number])
                text = f"{until} {text}"
        if text in self.rows:
            return False
        self.rows[text] = until
        return True

    def prune(self, watermark: int) -> None:
        """Evict what no later row can equal: rows that become certain from now on end at the watermark or later."""
        if self.scope is not Distinct.FOREVER:
            self.rows = {text: until for text, until in self.rows.items() if until >= watermark}
