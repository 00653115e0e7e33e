"""A shard as Spark's streaming keeps it: one binary value in the state store, read and written once a micro-batch.

Before it begins, Spark asks the processor in a fresh process what state it has. Nothing heavy is imported for that: a
query starts a second earlier.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from thence.spark.worker.gc_freeze import freeze_loaded_objects

if TYPE_CHECKING:
    import pyarrow as pa

    from thence.spark.worker.stages import Answering

ANSWERS = "answers binary, state long"
"""The output of a shard: rows, packed as an Arrow stream; at last, alone, the bytes of its state."""


class ShardProcessor(StatefulProcessor):
    """Every shard learns from every micro-batch how far all streams have come, so that rows that wait for time are
    emitted in the micro-batch that reaches it, and no timer is needed."""

    def __init__(self, answering: Answering, keys: tuple[int, ...]) -> None:
        self._keys = keys  # of the shards, in their order
        self._pickled = pickle.dumps(answering)

    @cached_property
    def _answering(self) -> Answering:
        """Once for all shards of a task: with a large background it is large."""
        made: Answering = pickle.loads(self._pickled)  # as Spark itself does with what it sends
        return made

    def init(self, handle: StatefulProcessorHandle) -> None:
        freeze_loaded_objects()
        self._saved = handle.getValueState("shard", "state binary")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:
        answering = self._answering
        shard = answering.shard(self._keys.index(int(key[0])))
        saved = self._saved.get()
        if saved is not None:
            shard.load(bytes(saved[0]), answering.shards)
        for record in answering.micro_batch(shard, (row.asDict() for row in rows)):
            yield Row(answers=_as_bytes(record), state=None)
        state = shard.save(answering.shards)
        self._saved.update((state,))
        yield Row(answers=None, state=len(state))

    def close(self) -> None:
        pass


def _as_bytes(record: pa.RecordBatch) -> bytes:
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, record.schema) as writer:
        writer.write_batch(record)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def unpacked_answers(records: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The rows that shards have packed."""
    import pyarrow as pa

    freeze_loaded_objects()
    for record in records:
        for answers in record.column("answers").drop_null():
            with pa.ipc.open_stream(answers.as_buffer()) as reader:
                yield from reader
