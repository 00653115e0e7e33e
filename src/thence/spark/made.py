"""What one query gives as what another reads: events, and among them what went wrong before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow.compute as pc

from thence.rdf.column_batch import Batch
from thence.rdf.events import BadEvent
from thence.rdf.times import Domain
from thence.spark.decode import Decoder
from thence.spark.output import INNER, Trouble


@dataclass(frozen=True, slots=True)
class MadeReader:
    """Reads rows of answers that are events. Of a trouble, what is not asked for is not told; nothing, if another
    reader has."""

    events: Decoder
    told: bool = False

    @property
    def domain(self) -> Domain | None:
        return self.events.domain

    @property
    def names(self) -> tuple[tuple[str, str], ...]:
        return self.events.names

    def read(self, record: Any) -> Iterator[Batch | Trouble]:
        is_event = pc.is_null(record.column(INNER[0]))
        for found in self.events.read(record.filter(is_event)):
            yield Trouble("bad", found.reason, found.text, self.events.stream) if isinstance(found, BadEvent) else found
        if self.told:
            return
        told = [name for name in INNER if name in record.schema.names]
        for row in record.filter(pc.invert(is_event)).select(told).to_pylist():
            yield Trouble(*(row.get(name) for name in INNER))
