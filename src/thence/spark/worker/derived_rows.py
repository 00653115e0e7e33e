"""Derived events of one stage as another reads them: among their rows are the problems that were reported before."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow.compute as pc

from thence.columns.column_batch import Batch
from thence.rdf.events import BadEvent
from thence.rdf.times import Domain
from thence.spark.sources.row_decoder import Decoder
from thence.spark.sources.source_positions import SourcedBatch
from thence.spark.worker.output_rows import INNER, ProblemRow


@dataclass(frozen=True, slots=True)
class DerivedReader:
    """Reads the rows of a stage that makes events. Problems among them are passed on by the first reader of the stream
    alone."""

    events: Decoder
    reports: bool = True

    @property
    def domain(self) -> Domain | None:
        return self.events.domain

    @property
    def names(self) -> tuple[tuple[str, str], ...]:
        return self.events.names

    def read(self, record: Any) -> Iterator[Batch | SourcedBatch | ProblemRow]:
        is_event = pc.is_null(record.column(INNER[0]))
        for found in self.events.read(record.filter(is_event)):
            if isinstance(found, BadEvent):
                yield ProblemRow("bad", found.reason, found.text, self.events.stream)
            else:
                yield found
        if not self.reports:
            return
        names = [name for name in INNER if name in record.schema.names]
        for row in record.filter(pc.invert(is_event)).select(names).to_pylist():
            yield ProblemRow(*(row.get(name) for name in INNER))
