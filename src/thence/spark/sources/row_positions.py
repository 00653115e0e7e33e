"""Positions of rows at the source (C-5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from thence.columns.arrow_values import is_text
from thence.columns.batches import Batch

# Positions at the source: the file and the line of each event, which order events of one time (C-5).
#
# A DataFrame's rows have them in a column `position`, as `format("thence")` gives it; rows of other DataFrames have
# none.
# No Spark in here.

COLUMN = "position"
BESIDE_ATTRIBUTES = "thence_position"
"""The column's name in a table of typed events, whose own columns may be called anything."""
POSITION = pa.struct([("file", pa.string()), ("line", pa.int64())])


@dataclass(frozen=True, slots=True, eq=False)
class SourcedBatch:
    """Events of one file, each with its line. `file` is a text by which the files of a stream are ordered."""

    batch: Batch
    file: str
    lines: NDArray[np.int64]


def file_rank(number: int, name: str = "") -> str:
    """The sort key of a file: its number among the given paths, and its name if the path is a folder.

    >>> file_rank(2) < file_rank(2, "a.nq") < file_rank(10)
    True
    """
    return f"{number:08d}/{name}"


def position_column(schema: Any) -> str | None:
    """The column of an Arrow schema that has positions."""
    names = (name for name in (BESIDE_ATTRIBUTES, COLUMN) if name in schema.names)
    return next((name for name in names if _is_position(schema.field(name).type)), None)


def _is_position(kind: Any) -> bool:
    if not pa.types.is_struct(kind):
        return False
    found = {field.name: field.type for field in kind}
    return found.keys() == {"file", "line"} and is_text(found["file"]) and pa.types.is_integer(found["line"])


def by_file(batch: Batch, positions: Any) -> Iterator[SourcedBatch]:
    """The events of a batch with their positions, those of each file together. `positions` has those of all rows that
    the batch was made of, which its own positions number; a row without one is before all others of its time."""
    chosen = positions.take(pa.array(batch.positions))
    files = pc.fill_null(pc.struct_field(chosen, "file"), "").dictionary_encode()
    lines = np.asarray(pc.fill_null(pc.struct_field(chosen, "line"), 0)).astype(np.int64)
    of_events = np.asarray(files.indices)
    for number, file in enumerate(files.dictionary.to_pylist()):
        rows = np.flatnonzero(of_events == number)
        yield SourcedBatch(batch if len(rows) == len(batch) else batch.take(rows), file, lines[rows])
