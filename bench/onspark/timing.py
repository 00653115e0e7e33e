"""Contenders in turns, the best time of each, as a table."""

from __future__ import annotations

import gc
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from onspark import processes

CONSOLE = Console(width=None if sys.stdout.isatty() else 120)


@dataclass(slots=True)
class Time:
    """The best of several measurements: of the clock, and of all processes' CPU together."""

    wall: float = float("inf")
    cpu: float = float("inf")

    def better(self, wall: float, cpu: float) -> None:
        self.wall, self.cpu = min(self.wall, wall), min(self.cpu, cpu)


def measured(contenders: Mapping[str, Callable[[], object]], repeat: int) -> dict[str, Time]:
    """The contenders in turns, each as often as the others."""
    times = {name: Time() for name in contenders}
    for _ in range(repeat):
        for name, contender in contenders.items():
            gc.collect()
            wall, cpu = time.perf_counter(), processes.cpu()
            contender()
            times[name].better(time.perf_counter() - wall, processes.cpu() - cpu)
    return times


def show(title: str, times: Mapping[str, Time], events: int, *, beside: str) -> None:
    """A table with each contender's throughput as a multiple of one's."""
    table = Table(title=title, title_justify="left")
    for heading in ("", "wall s", "CPU s", "events/s", f"times {beside}", "by CPU"):
        table.add_column(heading, justify="right" if heading else "left")
    one = times[beside]
    for name, best in times.items():
        ratios = f"{one.wall / best.wall:.2f}", f"{one.cpu / best.cpu:.2f}"
        table.add_row(name, f"{best.wall:.2f}", f"{best.cpu:.2f}", f"{events / best.wall:,.0f}", *ratios)
    CONSOLE.print(table)


def asked(what: str, found: float, least: float) -> None:
    """What was asked for, and whether it is there."""
    CONSOLE.print(f"  {what}: {found:.2f}, asked {least:.2f}: {'yes' if found >= least else 'NO'}")
