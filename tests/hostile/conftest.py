"""What hostile input may cost."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

MiB = 1 << 20
_STATUS = Path("/proc/self/status")
_PEAK_RESET = Path("/proc/self/clear_refs")


def _resident(name: str) -> int:
    """Bytes of this process in memory, now (VmRSS) or at most (VmHWM); libraries' own memory included."""
    if not _STATUS.exists():  # not Linux: then only time is watched
        return 0
    lines = _STATUS.read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


@pytest.fixture
def bounded() -> Iterator[None]:
    """At most 300 MiB more than before, and 30 seconds of computing: far more than it takes, far from endless."""
    if _PEAK_RESET.exists():
        _PEAK_RESET.write_text("5")
    before, start = _resident("VmRSS"), time.process_time()
    yield
    assert time.process_time() - start < 30
    assert _resident("VmHWM") - before < 300 * MiB
