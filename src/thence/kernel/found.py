"""What events are to a query, before any run is looked at: every event meets every graph pattern once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from thence.kernel.attributes import events_as_rows
from thence.kernel.rows import Arrived, Matched, matched
from thence.match import Background
from thence.match.context import Context
from thence.program.sequence import Attributes, SequenceProgram
from thence.rdf.dictionary import Terms


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The matches of each of a program's tables in some events, and the times of all these events, in no order: those
    that match nothing count for contiguity."""

    tables: tuple[Matched, ...]
    times: NDArray[np.int64]
    events: int


def found_in(
    program: SequenceProgram,
    arrived: Sequence[Arrived],
    terms: Terms,
    background: Background,
    context: Context,
    refused: dict[int, str],
) -> Found:
    """What is found in some batches. Terms are entered into `terms`; an event that asks too much of the matcher matches
    nothing, and is noted in `refused`."""
    tables = tuple(
        events_as_rows(program, asked, arrived, terms, context, refused)
        if isinstance(asked.pattern, Attributes)
        else matched(asked, arrived, terms, background, context, refused)
        for asked in program.tables
    )
    times = [each.batch.ends for each in arrived]
    together = times[0] if len(times) == 1 else np.concatenate(times) if times else np.empty(0, np.int64)
    return Found(tables, together, len(together))
