"""Bad and late events: written as jsonl on request; the first one is always reported."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, TypeVar

from thence.cli.result_formats import problem_line
from thence.cli.run_output import open_for_writing
from thence.cli.text_tables import escape_controls

if TYPE_CHECKING:
    from thence.runtime.results import Problem

Answered = TypeVar("Answered")

_LONGEST = 300  # characters that are shown of one


@dataclass(slots=True)
class Problems:
    """Takes the problems out of what a query gives. `path` is where they are written; None: nowhere. `mode` "a" is to
    add them to what is there."""

    path: Path | None
    mode: str = "w"
    first: Problem | None = None
    _file: TextIO | None = field(default=None, repr=False)

    def matches_of(self, found: Iterator[Answered | Problem]) -> Iterator[Answered]:
        """The matches; each problem is noted as it comes."""
        from thence.runtime.results import Problem

        for each in found:
            if isinstance(each, Problem):
                self._note(each)
            else:
                yield each

    def close(self) -> None:
        """Where there were none, the file is there and empty."""
        if self.path is not None:
            self._opened(self.path).close()
            self._file = None

    def told(self) -> str | None:
        """The first problem in a line, and how to see them all; None if there was none."""
        if self.first is None:
            return None
        reason = self.first.reason if len(self.first.reason) <= _LONGEST else self.first.reason[:_LONGEST] + "…"
        all_of_them = "" if self.path else ". To see them all: --problems PATH"
        return f"the first of them: {escape_controls(f'{_place(self.first)}: {reason}')}{all_of_them}"

    def _note(self, problem: Problem) -> None:
        self.first = self.first or problem
        if self.path is not None:
            self._opened(self.path).write(problem_line(problem))

    def _opened(self, path: Path) -> TextIO:
        if self._file is None:
            self._file = open_for_writing(path, self.mode)
        return self._file


def _place(problem: Problem) -> str:
    """Where a problem is: the line of its stream's file, or the event's id."""
    if problem.line is not None:
        return f"{problem.stream}, line {problem.line}"
    event = problem.event
    return problem.stream if event is None or event.id is None else f"{problem.stream}, {event.id}"
