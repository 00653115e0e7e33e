"""A dataflow on Spark: DataFrames of events in, two halves around a shuffle per stage, a DataFrame of answers out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, reduce
from itertools import chain, count
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Column, DataFrame, Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema, from_arrow_type, to_arrow_schema

from thence.columns.value_types import Types, agreed, is_known, needs_data, read_attributes
from thence.errors import InputError, listed
from thence.extraction.attributes import predicates_read
from thence.interface.dataflow import Dataflow, check_types
from thence.interface.operator import Environment, Program
from thence.interface.output import Rows
from thence.io.table_columns import attribute_types
from thence.io.table_layout import RowKind, TableLayout
from thence.match.background import Background
from thence.match.context import Context
from thence.rdf.events import predicate_term
from thence.rdf.terms import IRI
from thence.rdf.times import Domain
from thence.runtime.results import RESERVED_COLUMNS, column_names
from thence.runtime.watermark import TimeDomain, Watermark
from thence.spark.driver.column_selection import narrowed_decoder, prefiltered, quoted, selected_columns
from thence.spark.sources.parquet_scans import parquet_scan
from thence.spark.sources.parquet_splits import ScanReader
from thence.spark.sources.row_decoder import Decoder, decoder
from thence.spark.sources.split_reader import SplitReader
from thence.spark.worker.gc_freeze import freeze_loaded_objects
from thence.spark.worker.output_rows import HIDDEN, INNER, PROBLEM_COLUMNS, RowWriter, arrow_type, arrow_types
from thence.spark.worker.processor import ANSWERS, ShardProcessor, unpacked_answers
from thence.spark.worker.stages import PACKED, Answering, DerivedReader, Packing

# Shard keys that Spark hashes into different partitions.
#
# Spark's stateful operators have no repartitionById: a key goes to the partition that its hash says, and by their plain
# numbers both of two shards go to one, and three of four. The keys depend on the number of shards alone, which a
# checkpoint keeps, so that a restarted query finds its states again. The first shard's is always zero, so that a query
# with another number of shards finds at least that one's state, and refuses it.

_SEED = 42  # Spark's own
_32 = 0xFFFFFFFF


@cache
def shard_keys(shards: int) -> tuple[int, ...]:
    """The smallest numbers that Spark hashes into different partitions, as many as there are shards.

    >>> shard_keys(4)
    (0, 2, 3, 14)
    """
    found: dict[int, int] = {}
    numbers = count()
    while len(found) < shards:
        key = next(numbers)
        found.setdefault(murmur3(key) % shards, key)
    return tuple(found.values())


def murmur3(number: int) -> int:
    """Spark's function `hash` of a bigint that is not negative.

    >>> murmur3(0), murmur3(2**40 + 1)
    (-1670924195, -392492974)
    """
    code = _SEED
    for word in (number & _32, number >> 32):
        code ^= _turned(word * 0xCC9E2D51 & _32, 15) * 0x1B873593 & _32
        code = _turned(code, 13) * 5 + 0xE6546B64 & _32
    code ^= 8  # bytes
    code = (code ^ code >> 16) * 0x85EBCA6B & _32
    code = (code ^ code >> 13) * 0xC2B2AE35 & _32
    code ^= code >> 16
    return code - (code >> 31 << 32)


def _turned(word: int, bits: int) -> int:
    return word << bits & _32 | word >> 32 - bits


# The way of the data on Spark: DataFrames of events in, a DataFrame of answers out.
#
# In batch the second half is a `mapInArrow` over the chunks of a shard in the order of time; in streaming it is a
# stateful operator whose key is the shard. The first half is the same.

_ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
_PROVIDER = "spark.sql.streaming.stateStore.providerClass"
_CHANGES = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
_PARTITIONS = "spark.sql.shuffle.partitions"
_UNSET = "200"
"""The number of partitions that Spark uses if nobody has set it."""
_OURS = "thence.shuffle.partitions"
"""The setting in which a session stores the number that Thence has set."""

COUNTS = "thence"
"""The prefix of the metrics' names in a streaming query's progress."""

STATE = "state"
"""The metric for the bytes of all shards' states."""

READ = "read"
"""The metric for the number of events read."""

FOUND = "found"
"""The prefix of the metrics that count rows: `matches`, and problems by their kinds, whether or not they are output."""

STREAMING_SHARDS = 4
"""The default number of shards of a streaming query. It is the same on every machine, since a checkpoint belongs
to it.
"""


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of a call of `dataframe`. `watermark` is the one before any event."""

    environment: Environment
    watermark: Watermark
    shards: int | None = None
    problems: bool = False
    terms: str = "text"
    layouts: Mapping[str, TableLayout] = field(default_factory=dict)  # what the columns of each stream are
    namespaces: Mapping[str, str] = field(default_factory=dict)  # of the streams from outside
    counts: str | Observation = COUNTS

    @property
    def background(self) -> Background:
        return self.environment.background

    def layout(self, stream: str) -> TableLayout:
        return self.layouts.get(stream) or TableLayout(stream)

    def named(self, metric: str) -> str:
        return f"{self.counts}.{metric}"


def counts_beside(frames: Iterable[DataFrame], wanted: str) -> str:
    """A name for metrics that differs from those of the queries whose answers are read: Spark requires distinct
    names."""
    plans = [frame._jdf.queryExecution().analyzed().toString() for frame in frames]

    def is_taken(name: str) -> bool:
        return any(f"CollectMetrics {name}.{READ}" in plan for plan in plans)

    others = (f"{wanted}{number}" for number in count(2))
    return next(name for name in chain([wanted], others) if not is_taken(name))


def counted_answers(rows: DataFrame, settings: Settings) -> DataFrame:
    """Rows as a user sees them: with problems, if they were asked for."""
    made = _counted(rows, settings)
    if settings.problems:
        return made.withColumnsRenamed(dict(zip(INNER, PROBLEM_COLUMNS, strict=True)))
    return made.filter(f"`{INNER[0]}` IS NULL").drop(INNER[0])


def _counted(made: DataFrame, settings: Settings) -> DataFrame:
    """The rows with metrics. In batch only on request, since nothing could read them otherwise."""
    if isinstance(settings.counts, str) and not made.isStreaming:
        return made
    problem = f"`{INNER[0]}`"
    kinds = (F.expr(f"count_if({problem} = '{kind}') AS {kind}") for kind in ("bad", "late", "timed_out", "bad_cell"))
    name = settings.named(FOUND) if isinstance(settings.counts, str) else settings.counts
    return made.observe(name, F.expr(f"count_if({problem} IS NULL) AS matches"), *kinds)


def stage_rows(
    dataflow: Dataflow,
    number: int,
    inputs: Inputs,
    domain: TimeDomain,
    settings: Settings,
    *,
    types: Types | None,
    texts: frozenset[str] = frozenset(),
    ordered: bool = True,
    read: Observation | None = None,
) -> DataFrame:
    """The rows of a stage, matches and problems alike. `types` are those of the attributes that it reads, `texts` the
    columns that must be text. `ordered` rows have the columns HIDDEN, which order them. `read` observes the number of
    events."""
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
    ordered_ties = program.tie_order.by_source
    wholes = {
        name: _decoder(name, frame, settings, positions=ordered_ties and name in own)
        for name, frame in sent.items()
        if name not in decoders
    }
    for name, whole in wholes.items():
        _check_order(name, whole, dict(program.order).get(name, ()))
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
        domain.domain, domain.settled_by = Domain.DATETIME, "the streams' time, as text"
    shards = _shards(program, settings, streaming, spark)
    packing = {
        name: Packing(
            program,
            name,
            each,
            domain,
            shards,
            streaming,
            numbered="id" not in dict(each.names),
            background=settings.background,
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
        outside = [] if read is None else [stream.name for stream in dataflow.streams]
        by_stream = [_events_of(name).alias(events_metric(place)) for place, name in enumerate(outside)]
        packed = packed.observe(observer, F.expr("coalesce(sum(events), 0) AS events"), *by_stream)
    writer = RowWriter(stage, domain.known, settings.terms, settings.problems or ordered, ordered, types, texts)
    environment = replace(settings.environment, context=Context(), running=streaming)
    # a query that the background makes illegal is an error here, not in a worker (BAD-1, EP-53)
    stage.operator.initial(stage.program, replace(environment, background=Background(settings.background.data)))
    answering = Answering(
        writer,
        tuple(name for name in sent if name not in dataflow.derived),
        shards,
        environment,
        number,
        frozenset(name for name in own if dataflow.reporter(name) == number),
        lateness=settings.watermark.lateness,
        idle=settings.watermark.idle,
        idle_after=settings.watermark.idle_after,
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


def events_metric(place: int) -> str:
    """The metric for the number of events read of a stream: the one at this place in the dataflow, from 0."""
    return f"events {place}"


def _events_of(stream: str) -> Column:
    return F.coalesce(F.sum(F.when(F.col("stream") == F.lit(stream), F.col("events"))), F.lit(0))


def _numbered(metric: str, number: int) -> str:
    """A metric's name for the stage with that number."""
    return metric if number == 1 else f"{metric}.{number}"


@dataclass(slots=True)
class Inputs:
    """The DataFrames of streams by name; those of derived streams are added once they are built. `readers` are for
    streams whose DataFrames have no events but the numbers of file splits."""

    frames: dict[str, DataFrame]
    readers: Mapping[str, SplitReader] = field(default_factory=dict)

    @property
    def are_streaming(self) -> bool:
        return is_streaming(self.frames)

    def outside(self, dataflow: Dataflow) -> dict[str, DataFrame]:
        return {stream.name: self.frames[stream.name] for stream in dataflow.streams}

    def add(self, stream: str, rows: DataFrame) -> None:
        """Adds the rows of a stage that feeds a stream to those of other stages that feed it."""
        if stream in self.frames:
            rows = self.frames[stream].unionByName(rows, allowMissingColumns=True)
        self.frames[stream] = rows

    def types(self, settings: Settings) -> dict[str, Types | None]:
        """The types of the attributes of each stream from outside; None for RDF and for file splits."""
        return {
            name: None if name in self.readers else _typed_columns(name, frame, settings)
            for name, frame in self.frames.items()
        }


def _called(stage: Any) -> Any:
    """A stage as a function, as Spark requires."""

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
    namespace, layout = settings.namespaces.get(name, ""), settings.layout(name)
    whole = decoder(name, _arrow_schema(frame), namespace=namespace, layout=layout)
    return whole if positions else whole.without_positions()


def _check_order(name: str, whole: Decoder, order: Sequence[IRI]) -> None:
    """InputError if a stream of typed rows lacks a column of the option `order`."""
    if whole.kind is not RowKind.TYPED:
        return
    columns = whole.parts.attributes
    missing = set(order) - {predicate_term(column, whole.namespace) for column in columns}
    for predicate in sorted(missing, key=str):
        raise InputError(
            f"The stream {name} has no column for {predicate}, which order names. Try: one of {listed(columns)}"
        )


def _typed_columns(name: str, frame: DataFrame, settings: Settings) -> Types | None:
    return attribute_types(settings.layout(name), f"stream {name}", _arrow_schema(frame))


def _arrow_schema(frame: DataFrame) -> Any:
    return to_arrow_schema(frame.schema, timezone="UTC")


def _sent(frame: DataFrame, whole: Decoder, asked: frozenset[IRI] | None) -> tuple[DataFrame, Decoder | ScanReader]:
    """The columns that are sent to the workers, and their decoder."""
    narrow = narrowed_decoder(whole, asked)
    scan = None if frame.isStreaming else parquet_scan(frame, whole, narrow)
    return scan or (selected_columns(frame, whole, narrow), narrow)


def _shards(program: Program, settings: Settings, streaming: bool, spark: SparkSession) -> int:
    if not program.shard_key.names or _is_in(settings.background, program.shard_key.unless):
        return 1
    if settings.shards is not None:
        return settings.shards
    return STREAMING_SHARDS if streaming else max(1, spark.sparkContext.defaultParallelism)


def _is_in(background: Background, predicates: Sequence[IRI]) -> bool:
    """Whether the background has triples with one of some predicates."""
    graph = background.data.unnamed
    return graph is not None and bool(np.isin(graph.predicates, graph.terms.find_all(predicates)).any())


def prepare(spark: SparkSession, programs: Sequence[Program], settings: Settings) -> None:
    """Sets what stateful queries need in their session: a state store outside of the JVM's heap that writes only
    changes at each micro-batch; and no more partitions than shards, since each partition costs a Python process's time
    in every micro-batch."""
    spark.conf.set(_PROVIDER, _ROCKSDB)
    spark.conf.set(_CHANGES, "true")
    found = spark.conf.get(_PARTITIONS)
    ours = spark.conf.get(_OURS, None)
    if found in (_UNSET, ours):  # nobody else has set it
        needed = (_shards(program, settings, True, spark) for program in programs)
        most = str(max(int(ours or 1), *needed))
        spark.conf.set(_PARTITIONS, most)
        spark.conf.set(_OURS, most)


# A dataflow on Spark: each stage over the streams that it reads, derived ones included, and the answers as one.


def dataflow_rows(
    dataflow: Dataflow,
    frames: Mapping[str, DataFrame],
    domain: TimeDomain,
    settings: Settings,
    *,
    ordered: bool = True,
    read: Callable[[], Observation | None] = lambda: None,
    readers: Mapping[str, SplitReader] | None = None,
) -> DataFrame:
    """Matches and problems of all answering stages. With `ordered`, the columns HIDDEN order them. `read` gives an
    observer of the events that a stage reads."""
    inputs = Inputs(dict(frames), readers or {})
    given, stages = inputs.types(settings), dataflow.typed_stages
    if needs_data(stages):
        listed = {name: [types] for name, types in given.items()}
        check_types(dataflow, listed | {name: reader.types() for name, reader in inputs.readers.items()})
    types = read_attributes(stages, given, in_part=False)
    union = _union_types(dataflow, types) if settings.terms == "text" else UnionTypes()
    if inputs.are_streaming:
        programs = [stage.program for stage in dataflow.stages]
        prepare(next(iter(frames.values())).sparkSession, programs, settings)
    answers: list[DataFrame] = []
    for (number, stage), own in zip(dataflow.numbered(), types, strict=True):
        rows = stage_rows(
            dataflow,
            number,
            inputs,
            domain,
            settings,
            types=own,
            texts=union.texts if stage.feeds is None else frozenset(),
            ordered=ordered,
            read=read(),
        )
        if stage.feeds is None:
            answers.append(rows)
        else:
            inputs.add(stage.feeds.stream, rows)
    if len(answers) == 1:
        return answers[0]
    return _as_one(dataflow, answers, union, problems=settings.problems or ordered, ordered=ordered)


@dataclass(frozen=True, slots=True)
class UnionTypes:
    """The types of columns that come from several stages, since a DataFrame has one type for a column. `texts` are the
    columns that are text because not all of their types are known; `common` has, for others with several types, the
    type that holds all values."""

    texts: frozenset[str] = frozenset()
    common: Mapping[str, pa.DataType] = field(default_factory=dict)


def _union_types(dataflow: Dataflow, types: Sequence[Types | None]) -> UnionTypes:
    texts, common = set[str](), dict[str, pa.DataType]()
    listed = [
        (stage.program.output.types, own)
        for stage, own in zip(dataflow.stages, types, strict=True)
        if stage.feeds is None and isinstance(stage.program.output, Rows)
    ]
    for name in dataflow.columns if len(listed) > 1 else ():
        own = [(each, attributes) for each, attributes in listed if name in each.resolve(attributes)]
        if len({arrow_types(each, attributes, pa.string())[name] for each, attributes in own}) == 1:
            continue
        kinds = [each.resolve(attributes)[name] for each, attributes in own]
        held = agreed(kinds)
        if held is not None and all(attributes is not None for _, attributes in own) and all(map(is_known, kinds)):
            common[name] = arrow_type(held)
        else:
            texts.add(name)
    return UnionTypes(frozenset(texts), common)


def _as_one(
    dataflow: Dataflow, answers: list[DataFrame], union: UnionTypes, *, problems: bool, ordered: bool
) -> DataFrame:
    """The rows of a union, columns by name; a column that a stage lacks is null."""
    taken = (*RESERVED_COLUMNS, *PROBLEM_COLUMNS) if problems else RESERVED_COLUMNS
    shown = dict(zip(dataflow.columns, column_names(list(dataflow.columns), taken=taken), strict=True))
    named = []
    for stage, rows in zip(dataflow.answers, answers, strict=True):
        columns = stage.program.output.columns
        own = dict(zip(column_names(list(columns), taken=taken), columns, strict=True))
        # by position, since Spark ignores case in names
        named.append(rows.toDF(*(shown[own[each]] if each in own else each for each in rows.columns)))
    for column, kind in union.common.items():
        wider = F.col(quoted(shown[column])).cast(from_arrow_type(kind))
        named = [rows.withColumn(shown[column], wider) if shown[column] in rows.columns else rows for rows in named]
    every = reduce(lambda a, b: a.unionByName(b, allowMissingColumns=True), named)
    names = [*shown.values(), "match_id", "events", *(INNER if problems else INNER[:1]), *(HIDDEN if ordered else ())]
    numbers = ["query"] if dataflow.numbers_queries else []
    return every.select("start", "end", *numbers, *map(quoted, names))
