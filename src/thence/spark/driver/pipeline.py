"""The way of the data on Spark: DataFrames of events in, a DataFrame of answers out.

In batch the second half is a `mapInArrow` over the chunks of a shard in the order of time; in streaming it is a
stateful operator whose key is the shard. The first half is the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import chain, count
from typing import Any

import numpy as np
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

from thence.columns.attribute_types import attribute_types
from thence.columns.value_types import Types
from thence.errors import InputError
from thence.kernel.attributes import predicates_read
from thence.match.background import Background
from thence.program.dataflow import Dataflow
from thence.program.operator import Environment, Program, TieOrder
from thence.rdf.terms import IRI
from thence.rdf.times import Domain
from thence.runtime.time_domain import TimeDomain
from thence.spark.driver.column_selection import narrowed_decoder, selected_columns
from thence.spark.driver.row_filters import prefiltered
from thence.spark.driver.shard_spread import shard_keys
from thence.spark.sources.parquet_scans import parquet_scan
from thence.spark.sources.parquet_splits import ScanReader
from thence.spark.sources.row_decoder import Decoder, RowKind, decoder
from thence.spark.sources.split_reader import SplitReader
from thence.spark.worker.derived_rows import DerivedReader
from thence.spark.worker.gc_freeze import freeze_loaded_objects
from thence.spark.worker.output_rows import INNER, PROBLEM_COLUMNS, RowWriter
from thence.spark.worker.processor import ANSWERS, ShardProcessor, unpacked_answers
from thence.spark.worker.stages import PACKED, Answering, Packing

_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_CHANGES = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
_PARTITIONS = "spark.sql.shuffle.partitions"
_UNSET = "200"
"""What Spark takes for the number of partitions if nobody has said one."""
_OURS = "thence.shuffle.partitions"
"""Where a session keeps how many we have said."""

COUNTS = "thence"
"""What the names of metrics in a streaming query's progress begin with."""

STATE = "state"
"""The metric that has the bytes of all shards' states."""

READ = "read"
"""The metric that has how many events were read."""

FOUND = "found"
"""The metric that has how many rows there were: `matches`, and those of problems by their kinds, shown or not."""

STREAMING_SHARDS = 4
"""How many shards a streaming query has, if nobody says: a number that no machine decides, since its checkpoint keeps
it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a caller of `dataframe` chose."""

    shards: int | None = None
    lateness: int = 0
    idle: frozenset[str] = frozenset()
    idle_after: int | None = None
    max_runs: int = 2**31 - 2
    max_rounds: int = 1000
    max_steps: int = 10_000
    problems: bool = False
    timed_out: bool = False
    terms: str = "text"
    columns: Mapping[str, Mapping[str, str]] | None = None
    namespace: str = ""
    namespaces: Mapping[str, str] = field(default_factory=dict)  # of streams whose namespace is another
    counts: str | Observation = COUNTS

    def named(self, metric: str) -> str:
        return f"{self.counts}.{metric}"


def counts_beside(frames: Iterable[DataFrame], wanted: str) -> str:
    """What metrics can be called beside those of the queries whose answers are read: Spark wants different names."""
    plans = [frame._jdf.queryExecution().analyzed().toString() for frame in frames]

    def is_taken(name: str) -> bool:
        return any(f"CollectMetrics {name}.{READ}" in plan for plan in plans)

    others = (f"{wanted}{number}" for number in count(2))
    return next(name for name in chain([wanted], others) if not is_taken(name))


def counted_answers(rows: DataFrame, settings: Settings) -> DataFrame:
    """Rows as a user sees them: with problems, if these are asked for."""
    made = _counted(rows, settings)
    if settings.problems:
        return made.withColumnsRenamed(dict(zip(INNER, PROBLEM_COLUMNS, strict=True)))
    return made.filter(f"`{INNER[0]}` IS NULL").drop(INNER[0])


def _counted(made: DataFrame, settings: Settings) -> DataFrame:
    """In batch nobody could read counts that are not asked for."""
    if isinstance(settings.counts, str) and not made.isStreaming:
        return made
    problem = f"`{INNER[0]}`"
    kinds = (F.expr(f"count_if({problem} = '{kind}') AS {kind}") for kind in ("bad", "late", "timed_out"))
    name = settings.named(FOUND) if isinstance(settings.counts, str) else settings.counts
    return made.observe(name, F.expr(f"count_if({problem} IS NULL) AS matches"), *kinds)


def stage_rows(
    dataflow: Dataflow,
    number: int,
    inputs: Inputs,
    domain: TimeDomain,
    background: Background,
    settings: Settings,
    *,
    types: Types | None,
    texts: frozenset[str] = frozenset(),
    ordered: bool = True,
    read: Observation | None = None,
) -> DataFrame:
    """The rows of a stage, matches and problems alike. `types` are those of the attributes that it reads, `texts` the
    columns that must be text. `ordered` rows have the columns HIDDEN, by which they can be ordered. `read` observes how
    many events there were."""
    stage = dataflow.stages[number - 1]
    program = stage.program
    own = {stream.name: inputs.frames[stream.name] for stream in program.streams}
    streaming, spark = inputs.are_streaming, next(iter(own.values())).sparkSession
    # a silent stream that only other stages read holds this one back too, so that an event is late for all or none; and
    # rows that the end of input completes are certain at the latest event of all streams
    hears = streaming or program.ends_with_input
    time_only = {name: frame for name, frame in inputs.outside(dataflow).items() if hears and name not in own}
    sent = {**own, **time_only}
    asked = predicates_read(dataflow)
    decoders: dict[str, Decoder | SplitReader | ScanReader | DerivedReader] = {
        name: reader for name, reader in inputs.readers.items() if name in sent
    }
    ordered_ties = program.tie_order is not TieOrder.ANY
    wholes = {
        name: _decoder(name, frame, settings, positions=ordered_ties and name in own)
        for name, frame in sent.items()
        if name not in decoders
    }
    for name, whole in wholes.items():
        if name in dataflow.derived:
            decoders[name] = DerivedReader(whole, reports=dataflow.reporter(name) == number)
            continue
        tables = [table for table in program.tables if table.stream == name]
        # where the command counts answers, it counts all events too
        frame = sent[name] if ordered else prefiltered(sent[name], tables, whole)
        sent[name], decoders[name] = _sent(frame, whole, frozenset() if name in time_only else asked.get(name))
    for name, each in decoders.items():
        if each.domain is not None:
            domain.begin(name, each.domain)
    if domain.domain is None:
        domain.domain, domain.told_by = Domain.DATETIME, "the streams' time, as text"
    shards = _shards(program, settings.shards, streaming, spark, background)
    packing = {
        name: Packing(
            program,
            name,
            each,
            domain,
            shards,
            streaming,
            numbered="id" not in dict(each.names),
            background=background,
            reports=name not in time_only and dataflow.reporter(name) == number,
            derived=name in dataflow.derived,
            time_only=name in time_only,
            other_tables=() if name in time_only else dataflow.other_tables(name, number),
        )
        for name, each in decoders.items()
    }
    schema = from_arrow_schema(PACKED)
    packed = reduce(DataFrame.union, (sent[name].mapInArrow(_called(packing[name]), schema) for name in sent))
    if read is not None or streaming:
        observer = read or _numbered(settings.named(READ), number)
        packed = packed.observe(observer, F.expr("coalesce(sum(events), 0) AS events"))
    writer = RowWriter(stage, domain.known, settings.terms, settings.problems or ordered, ordered, types, texts)
    environment = Environment(
        background,
        max_runs=settings.max_runs,
        max_rounds=settings.max_rounds,
        max_steps=settings.max_steps,
        running=streaming,
        keeps_expired=settings.timed_out,
    )
    # what the background makes of the query is an error here, not in a worker (BAD-1, EP-53)
    stage.operator.initial(stage.program, replace(environment, background=Background(background.data)))
    answering = Answering(
        writer,
        tuple(name for name in sent if name not in dataflow.derived),
        shards,
        environment,
        number,
        frozenset(name for name in own if dataflow.reporter(name) == number),
        lateness=settings.lateness,
        idle=settings.idle,
        idle_after=settings.idle_after,
    )
    made = from_arrow_schema(writer.schema())
    if not streaming:
        in_time = packed.repartitionById(shards, "shard").sortWithinPartitions("shard", "first")
        return in_time.mapInArrow(_called(answering), made)
    numbers = shard_keys(shards)
    keys = F.array(*(F.lit(key).cast("long") for key in numbers))
    keyed = packed.withColumn("shard", F.element_at(keys, F.expr("shard + 1")))
    stateful = keyed.groupBy("shard").transformWithState(
        ShardProcessor(answering, numbers), outputStructType=ANSWERS, outputMode="Append", timeMode="None"
    )
    metric = _numbered(settings.named(STATE), number)
    stateful = stateful.observe(metric, F.expr("coalesce(sum(state), 0) AS bytes"))
    return stateful.mapInArrow(unpacked_answers, made)


def _numbered(metric: str, number: int) -> str:
    """A metric's name for the stage of that position."""
    return metric if number == 1 else f"{metric}.{number}"


@dataclass(slots=True)
class Inputs:
    """The DataFrames of streams by name, those of derived streams included once they are built. `readers` are of
    streams whose DataFrames have no events, but the numbers of splits of files."""

    frames: dict[str, DataFrame]
    readers: Mapping[str, SplitReader] = field(default_factory=dict)

    @property
    def are_streaming(self) -> bool:
        return is_streaming(self.frames)

    def outside(self, dataflow: Dataflow) -> dict[str, DataFrame]:
        return {stream.name: self.frames[stream.name] for stream in dataflow.streams}

    def add(self, stream: str, rows: DataFrame) -> None:
        """The rows of a stage that feeds a stream, beside those of others that do."""
        if stream in self.frames:
            rows = self.frames[stream].unionByName(rows, allowMissingColumns=True)
        self.frames[stream] = rows

    def types(self, settings: Settings) -> dict[str, Types | None]:
        """The types of the attributes of each stream from outside; None of RDF, and of splits of files."""
        return {
            name: None if name in self.readers else _typed_columns(frame, _decoder(name, frame, settings))
            for name, frame in self.frames.items()
        }


def _called(stage: Any) -> Any:
    """A stage as a function, which is what Spark wants."""

    def run(records: Any) -> Any:
        freeze_loaded_objects()
        return stage(records)

    return run


def is_streaming(frames: Mapping[str, DataFrame]) -> bool:
    kinds = {frame.isStreaming for frame in frames.values()}
    if len(kinds) > 1:
        streaming = [name for name, frame in frames.items() if frame.isStreaming]
        raise InputError(
            f"The stream {streaming[0]} is a streaming DataFrame and another one is not; a query reads either kind. "
            "Try: spark.readStream for all of them"
        )
    return kinds.pop()


def _decoder(name: str, frame: DataFrame, settings: Settings, *, positions: bool = False) -> Decoder:
    schema = to_arrow_schema(frame.schema, timezone="UTC")
    columns = (settings.columns or {}).get(name, {})
    whole = decoder(name, schema, namespace=settings.namespaces.get(name, settings.namespace), columns=columns)
    return whole if positions else whole.without_positions()


def _typed_columns(frame: DataFrame, whole: Decoder) -> Types | None:
    if whole.kind is not RowKind.TYPED:
        return None
    schema = to_arrow_schema(frame.schema, timezone="UTC")
    return attribute_types({ours: schema.field(theirs).type for ours, theirs in whole.names})


def _sent(frame: DataFrame, whole: Decoder, asked: frozenset[IRI] | None) -> tuple[DataFrame, Decoder | ScanReader]:
    """What is sent to the workers, and what these make of it."""
    narrow = narrowed_decoder(whole, asked)
    scan = None if frame.isStreaming else parquet_scan(frame, whole, narrow)
    return scan or (selected_columns(frame, whole, narrow), narrow)


def _shards(program: Program, wanted: int | None, streaming: bool, spark: SparkSession, background: Background) -> int:
    if not program.shard_key.names or _is_in(background, program.shard_key.unless):
        return 1
    if wanted is not None:
        return wanted
    return STREAMING_SHARDS if streaming else max(1, spark.sparkContext.defaultParallelism)


def _is_in(background: Background, predicates: Sequence[IRI]) -> bool:
    """Whether the background has triples of one of some predicates."""
    graph = background.data.unnamed
    return graph is not None and bool(np.isin(graph.predicates, graph.terms.find_all(predicates)).any())


def prepare(spark: SparkSession, programs: Sequence[Program], settings: Settings, background: Background) -> None:
    """What stateful queries need of their session: a state store that keeps its states outside of the JVM's heap and
    writes down what has changed, not all files of its own, at each micro-batch; and no more partitions than there are
    shards, since each costs some Python process's time in every micro-batch."""
    spark.conf.set(_PROVIDER, _ROCKSDB)
    spark.conf.set(_CHANGES, "true")
    found = spark.conf.get(_PARTITIONS)
    ours = spark.conf.get(_OURS, None)
    if found in (_UNSET, ours):  # nobody else has said it
        needed = (_shards(program, settings.shards, True, spark, background) for program in programs)
        most = str(max(int(ours or 1), *needed))
        spark.conf.set(_PARTITIONS, most)
        spark.conf.set(_OURS, most)
