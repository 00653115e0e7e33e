"""Warnings about windows that keep events for ever."""

from __future__ import annotations

from collections.abc import Iterator

from thence.algebra.rsep_ql import NamedWindow, WindowQuery, is_written
from thence.kernel.windows.content import is_bounded
from thence.program.windows.program import WindowProgram
from thence.rdf.terms import IRI


def state_warnings(program: WindowProgram) -> Iterator[str]:
    """One warning for each window that is read and never drops an event."""
    for window in program.query.windows:
        if window.name in _read(program) and not is_bounded(window.function):
            yield (
                f"The window {_named(window)} keeps the events of {window.stream} for ever: nothing leaves it. "
                "Try: [RANGE 100], or [RANGE PT1H] where times are dates"
            )


def _read(program: WindowProgram) -> set[IRI]:
    query: WindowQuery = program.query
    matched = {name for each in program.matches for name in each.names}
    return {each.name for each in program.windows} | {each.window for each in query.events if each.name in matched}


def _named(window: NamedWindow) -> str:
    return str(window.name) if is_written(window.name) else f"over {window.stream}"
