"""What this process and all that it started cost: Java, and the Python workers that Java starts. Read from /proc."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


_used: dict[tuple[str, str], int] = {}
"""By process, that is its number and when it began: what it had used when last looked at."""


def cpu() -> float:
    """Seconds of all of them so far; of those that have ended, until they were last looked at."""
    for process in _family():
        if fields := _stat(process):
            _used[process.name, fields[19]] = int(fields[11]) + int(fields[12])
    return sum(_used.values()) / _TICKS


def workers() -> dict[int, tuple[float, float]]:
    """Spark's Python processes by number: what each holds now and held at most, in MB resident. Pages that a worker
    shares with the one that it was forked from count for both."""
    found = {}
    for process in _family():
        said = dict(line.split(":", 1) for line in _read(process / "status").splitlines() if ":" in line)
        is_ours = int(process.name) == os.getpid()
        if not is_ours and said.get("Name", "").strip().startswith("python") and "VmRSS" in said:
            found[int(process.name)] = _megabytes(said["VmRSS"]), _megabytes(said["VmHWM"])
    return found


def _megabytes(said: str) -> float:
    return int(said.split()[0]) / 1024


def _family() -> Iterator[Path]:
    """This process and its descendants."""
    children: dict[int, list[Path]] = {}
    for process in Path("/proc").iterdir():
        if process.name.isdigit() and (fields := _stat(process)):
            children.setdefault(int(fields[1]), []).append(process)
    waiting = [Path("/proc") / str(os.getpid())]
    while waiting:
        process = waiting.pop()
        if _stat(process):
            yield process
        waiting += children.get(int(process.name), [])


def _stat(process: Path) -> list[str]:
    """The fields behind the command's name, which may have spaces in it; none if the process has ended."""
    return _read(process / "stat").rpartition(")")[2].split()


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""
