"""Contenders: measured in turns, shown side by side."""

from __future__ import annotations

import gc
import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sized
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

CONSOLE = Console()


@dataclass(slots=True)
class Time:
    """The best of several measurements."""

    cpu: float = float("inf")
    wall: float = float("inf")
    found: int = -1


def measured(contenders: Mapping[str, Callable[[], Sized]], repeat: int) -> dict[str, Time]:
    """The contenders in turns, each as often as the others. The first turn may compile: the best does not show it."""
    times = {name: Time() for name in contenders}
    for _ in range(repeat):
        for name, contender in contenders.items():
            best = times[name]
            gc.collect()
            cpu, wall = time.process_time(), time.perf_counter()
            best.found = len(contender())
            best.cpu = min(best.cpu, time.process_time() - cpu)
            best.wall = min(best.wall, time.perf_counter() - wall)
    return times


def show(title: str, times: Mapping[str, Time], events: int) -> None:
    """A table with each contender's time as a multiple of the first one's."""
    table = Table(title=title, title_justify="left")
    for heading in ("", "CPU s", "wall s", "events/s", "times ours", "matches"):
        table.add_column(heading, justify="right" if heading else "left")
    ours_cpu = next(iter(times.values())).cpu
    for name, best in times.items():
        numbers = f"{best.cpu:.3f}", f"{best.wall:.3f}", f"{events / best.cpu:,.0f}", f"{best.cpu / ours_cpu:.2f}"
        table.add_row(name, *numbers, f"{best.found:,}")
    CONSOLE.print(table)


def agreeing(times: dict[str, Time]) -> dict[str, Time]:
    found = {name: best.found for name, best in times.items()}
    assert len(set(found.values())) == 1, f"they differ: {found}"
    return times


def resident() -> float:
    """Of this process, in MB."""
    told = subprocess.run(["ps", "-o", "rss=", "-p", str(os.getpid())], capture_output=True, text=True, check=True)
    return int(told.stdout) / 1024
