"""When a query is evaluated: ET of Definition 5, by the report policy (RS-14 to RS-23)."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from thence.algebra.report import At, Every, OnClose, OnContent
from thence.algebra.rsep_ql import TimeWindow
from thence.kernel.windows.content import first_multiple
from thence.program.operator import NEVER
from thence.program.windows.program import WindowProgram
from thence.rdf.times import MAX_TIME

Ints = NDArray[np.int64]


@dataclass(slots=True)
class Instants:
    """`first` and `last` are the ends of the first and the last event of all streams, times given to `advance`
    included (RS-20, RS-21); `done` is the last evaluation; `waiting` are the ends of events that are still to cause
    one, where events do."""

    first: int | None = None
    last: int | None = None
    done: int | None = None
    waiting: Ints = field(default_factory=lambda: np.empty(0, np.int64))

    def see(self, program: WindowProgram, times: Ints, advanced: int | None) -> None:
        """Events have come, and `advance` has been called."""
        seen = [] if advanced is None else [advanced]
        if len(times):
            seen += [int(times.min()), int(times.max())]
            if isinstance(program.report, OnContent):
                self.waiting = np.union1d(self.waiting, times)
        if seen:
            self.first = min(seen) if self.first is None else min(self.first, *seen)
            self.last = max(seen) if self.last is None else max(self.last, *seen)

    def next(self, program: WindowProgram, watermark: int, earliest: int | None = None) -> int | None:
        """The next evaluation before the watermark, and not before `earliest`; None: there is none yet."""
        after = self.done if earliest is None else max(earliest - 1, self.done if self.done is not None else earliest)
        found = self._next(program, after)
        if found is None or watermark == NEVER:
            return found
        return found if found < watermark and not self._may_precede(program, after, found) else None

    def earliest(self, program: WindowProgram, watermark: int) -> int:
        """No evaluation before that time is to come. A later event may still ask for multiples that the watermark has
        passed (RS-20)."""
        report = program.report
        match report:
            case OnContent():
                return watermark
            case OnClose() | Every():
                if self.first is None:
                    return watermark
                time = self.first if self.done is None else max(self.first, self.done + 1)
                return min(watermark, *(first_multiple(time, each) for each in _lengths(program)))
            case At():
                times = (each.time for each in report.times)
                return min((each for each in times if self.done is None or each > self.done), default=NEVER)
            case _:
                assert_never(report)

    def finish(self, time: int) -> None:
        """An evaluation is done."""
        self.done = time
        if len(self.waiting):
            self.waiting = self.waiting[np.searchsorted(self.waiting, time, side="right") :]

    def skip(self, time: int) -> None:
        """Evaluations before that time need not be done."""
        self.finish(time - 1 if self.done is None else max(self.done, time - 1))

    def _next(self, program: WindowProgram, after: int | None) -> int | None:
        report = program.report
        match report:
            case OnContent():
                place = 0 if after is None else int(np.searchsorted(self.waiting, after, side="right"))
                return int(self.waiting[place]) if place < len(self.waiting) else None
            case OnClose() | Every():
                return min(self._multiples(program, after), default=None)
            case At():
                times = sorted({each.time for each in report.times})
                place = 0 if after is None else bisect_right(times, after)
                return times[place] if place < len(times) else None
            case _:
                assert_never(report)

    def _may_precede(self, program: WindowProgram, after: int | None, found: int) -> bool:
        """Whether a later event may ask for an earlier multiple of another length (RS-20)."""
        if not isinstance(program.report, OnClose | Every) or self.first is None:
            return False
        time = self.first if after is None else max(self.first, after + 1)
        return any(first_multiple(time, each) < found for each in _lengths(program))

    def _multiples(self, program: WindowProgram, after: int | None) -> list[int]:
        return [time for each in _lengths(program) if (time := self._multiple(each, after)) is not None]

    def _multiple(self, length: int, after: int | None) -> int | None:
        """The next multiple, from the first event's to the last event's (RS-20). Beyond 64 bits is no time (C-2).
        The last time stands for the end of what still holds."""
        if self.first is None or self.last is None:
            return None
        found = first_multiple(self.first if after is None else max(self.first, after + 1), length)
        return found if found <= min(first_multiple(self.last, length), MAX_TIME - 1) else None


def _lengths(program: WindowProgram) -> set[int]:
    """Whose multiples are evaluations (RS-19)."""
    if isinstance(program.report, Every):
        return {program.report.period.length}
    functions = (each.function for each in program.query.windows)
    return {each.slide.length for each in functions if isinstance(each, TimeWindow) and each.slide is not None}
