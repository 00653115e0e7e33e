"""How far a run has come, on stderr: a line that is renewed on a terminal, else a line now and then."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

import click

EVERY = 10.0
"""Seconds between two lines where there is no terminal. A run that is shorter prints none."""


@contextmanager
def progress(line: Callable[[], str], *, output: Path | None, format: str, lines: bool = True) -> Iterator[None]:
    """Inside, a thread shows `line()`, which reads counters that the run changes meanwhile. Where matches are printed
    on the same terminal as they come, a renewed line would stand between them: there it prints lines, too, if they are
    wanted."""
    told = _Told(line)
    alone = output is not None or format == "table" or not sys.stdout.isatty()
    is_renewed = alone and sys.stderr.isatty()
    with _renewed(told) if is_renewed else _now_and_then(told) if lines else nullcontext():
        yield


class _Told:
    """The line, or the last one: while a run changes what is counted, counting may fail."""

    def __init__(self, line: Callable[[], str]) -> None:
        self._line = line
        self._last = ""

    def __call__(self) -> str:
        with suppress(RuntimeError):  # a dict that changed while it was counted
            self._last = self._line()
        return self._last


@contextmanager
def _renewed(line: Callable[[], str]) -> Iterator[None]:
    from rich.console import Console
    from rich.live import Live
    from rich.spinner import Spinner

    spinner = Spinner("line")

    def shown() -> Spinner:
        spinner.update(text=line())
        return spinner

    with Live(get_renderable=shown, console=Console(stderr=True), transient=True):
        yield


@contextmanager
def _now_and_then(line: Callable[[], str]) -> Iterator[None]:
    ended = threading.Event()

    def tell() -> None:
        while not ended.wait(EVERY):
            click.echo(line(), err=True)

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def starting(begun: float) -> str:
    """How far it has come while there is no Spark yet."""
    return f"{time.monotonic() - begun:.0f} s, starting Spark"
