"""The order in which a shard takes events of one time (C-5, TEF-19): by stream, then by position at the source, then by
id. Chunks come in any order; what decides is only what stands in them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from thence.columns.texts import Texts
from thence.program.operator import Program
from thence.spark.worker.chunks import Chunk

Ints = NDArray[np.int64]


def source_order(program: Program, chunks: Sequence[Chunk], ids: Texts) -> Ints | None:
    """The order of the events of some chunks, which have these ids: by end, and where ends are equal by source; None if
    it is the one that they have."""
    if not len(ids):
        return None
    ends = np.concatenate([chunk.ends for chunk in chunks])
    order = np.argsort(ends, kind="stable")
    same = ends[order][1:] == ends[order][:-1]
    if same.any():
        tied = np.append(False, same) | np.append(same, False)
        order[tied] = _by_source(program, chunks, ids, ends, order[tied])
    return None if (order[1:] > order[:-1]).all() else order


def _by_source(program: Program, chunks: Sequence[Chunk], ids: Texts, ends: Ints, events: Ints) -> Ints:
    """Some events in order."""
    streams = [stream.name for stream in program.streams]
    sizes = [len(chunk) for chunk in chunks]
    chunk_of = np.repeat(np.arange(len(chunks)), sizes)[events]
    stream = np.array([streams.index(chunk.stream) for chunk in chunks])[chunk_of]
    file = _ranks(pa.array([chunk.file for chunk in chunks], pa.string()))[chunk_of]
    lines = [chunk.lines if len(chunk.lines) else np.zeros(len(chunk), np.int64) for chunk in chunks]
    line, called = np.concatenate(lines)[events], _ranks(ids.take(events).to_arrow())
    found: Ints = events[np.lexsort((called, line, file, stream, ends[events]))]
    return found


def _ranks(texts: pa.Array) -> Ints:
    """The place of each text among them, by its bytes; equal ones have one."""
    return np.asarray(pc.rank(texts.cast(pa.binary()), tiebreaker="dense")).astype(np.int64)
