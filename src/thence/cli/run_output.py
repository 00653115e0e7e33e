"""The output of a run: results, counts, progress."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TextIO, cast

import click

from thence.errors import InputError

if TYPE_CHECKING:
    from thence.cli.problems import Problems
    from thence.runtime.results import Counts


def report_counts(counts: Counts, problems: Problems) -> None:
    """The counts, and the first problem if there is one, on stderr."""
    click.echo(counts_sentence(counts), err=True)
    if first := problems.told():
        click.echo(first, err=True)


def counts_sentence(counts: Counts) -> str:
    """The counts in a sentence.

    >>> from thence.runtime.results import Counts
    >>> counts_sentence(Counts(events=12, matches=1, bad=2))
    '12 events, 1 match, 2 bad, 0 late'
    """
    events, matches = counted_noun(counts.events, "event", "events"), counted_noun(counts.matches, "match", "matches")
    timed_out = f", {counts.timed_out:,} timed out" if counts.timed_out else ""
    return f"{events}, {matches}, {counts.bad:,} bad, {counts.late:,} late{timed_out}"


def counted_noun(count: int, one: str, many: str) -> str:
    return f"{count:,} {one if count == 1 else many}"


@contextmanager
def output_file(path: Path | None) -> Iterator[TextIO]:
    """A file to write to; None is stdout."""
    if path is None:
        yield sys.stdout
        return
    with open_for_writing(path, "w") as file:
        yield file


def open_for_writing(path: Path, mode: str) -> TextIO:
    """A text file, open for writing; an InputError if it can't be."""
    try:
        return cast(TextIO, open(path, mode, encoding="utf-8", newline=""))
    except OSError as error:
        raise InputError(f"{path} can't be written: {error.strerror}") from None


def starting(begun: float) -> str:
    """How far it has come while there is no Spark yet."""
    return f"{time.monotonic() - begun:.0f} s, starting Spark"


@contextmanager
def progress(line: Callable[[], str], *, output: Path | None, format: str) -> Iterator[None]:
    """While it runs, how far it has come: on stderr, if it is a terminal and nothing else is written there."""
    shown = output is not None or format == "table" or not sys.stdout.isatty()
    if not sys.stderr.isatty() or not shown:
        yield
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    with Live(get_renderable=lambda: Text(line()), console=Console(stderr=True), transient=True):
        yield
