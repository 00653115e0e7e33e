"""Report policies: when a query over windows is evaluated (RSEP-QL; RS-16 to RS-22)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from thence.rdf.times import Instant, Span


@dataclass(frozen=True, slots=True)
class OnContent:
    """`ON CONTENT`: whenever an event ends."""


@dataclass(frozen=True, slots=True)
class OnClose:
    """`ON CLOSE`: at every multiple of any window's slide."""


@dataclass(frozen=True, slots=True)
class Every:
    """`EVERY period`: at every multiple of it."""

    period: Span


@dataclass(frozen=True, slots=True)
class At:
    """`AT t, …`: at these times."""

    times: tuple[Instant, ...]


Report: TypeAlias = OnContent | OnClose | Every | At
