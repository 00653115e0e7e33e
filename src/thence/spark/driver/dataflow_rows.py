"""A dataflow on Spark: each stage over the streams that it reads, derived ones included, and the answers as one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

import pyarrow as pa
from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_type

from thence.columns.value_types import Types, agreed, is_known, needs_data, read_attributes
from thence.match.background import Background
from thence.program.dataflow import Dataflow
from thence.program.output import Rows
from thence.program.union_types import check_unions
from thence.runtime.column_names import RESERVED_COLUMNS, column_names
from thence.runtime.time_domain import TimeDomain
from thence.spark.driver.column_selection import quoted
from thence.spark.driver.pipeline import Inputs, Settings, prepare, stage_rows
from thence.spark.sources.split_reader import SplitReader
from thence.spark.worker.output_columns import arrow_type, arrow_types
from thence.spark.worker.output_rows import HIDDEN, INNER, PROBLEM_COLUMNS


def dataflow_rows(
    dataflow: Dataflow,
    frames: Mapping[str, DataFrame],
    domain: TimeDomain,
    background: Background,
    settings: Settings,
    *,
    ordered: bool = True,
    read: Callable[[], Observation | None] = lambda: None,
    readers: Mapping[str, SplitReader] | None = None,
) -> DataFrame:
    """Matches and problems of all answering stages; `ordered` ones can be, by the columns HIDDEN. `read` gives an
    observer of the events that a stage reads."""
    inputs = Inputs(dict(frames), readers or {})
    given, stages = inputs.types(settings), dataflow.typed_stages
    if needs_data(stages):
        check_unions(dataflow, given | {name: reader.types() for name, reader in inputs.readers.items()})
    types = read_attributes(stages, given, in_part=False)
    union = _union_types(dataflow, types) if settings.terms == "text" else UnionTypes()
    if inputs.are_streaming:
        programs = [stage.program for stage in dataflow.stages]
        prepare(next(iter(frames.values())).sparkSession, programs, settings, background)
    answers: list[DataFrame] = []
    for (number, stage), own in zip(dataflow.numbered(), types, strict=True):
        rows = stage_rows(
            dataflow,
            number,
            inputs,
            domain,
            background,
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
    """A DataFrame has one type for a column. `texts` are the columns of an answer that are text, since not all of their
    types are known; `common` has, for others that are of several types, the one that holds the values of all."""

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
    """The rows of a union, columns by name; one that a stage lacks is null there."""
    taken = (*RESERVED_COLUMNS, *PROBLEM_COLUMNS) if problems else RESERVED_COLUMNS
    shown = dict(zip(dataflow.columns, column_names(list(dataflow.columns), taken=taken), strict=True))
    named = []
    for stage, rows in zip(dataflow.answers, answers, strict=True):
        columns = stage.program.output.columns
        own = dict(zip(column_names(list(columns), taken=taken), columns, strict=True))
        # by position: Spark takes names that differ in their case for one
        named.append(rows.toDF(*(shown[own[each]] if each in own else each for each in rows.columns)))
    for column, kind in union.common.items():
        wider = F.col(quoted(shown[column])).cast(from_arrow_type(kind))
        named = [rows.withColumn(shown[column], wider) if shown[column] in rows.columns else rows for rows in named]
    every = reduce(lambda a, b: a.unionByName(b, allowMissingColumns=True), named)
    names = [*shown.values(), "match_id", "events", *(INNER if problems else INNER[:1]), *(HIDDEN if ordered else ())]
    numbers = ["query"] if dataflow.numbers_queries else []
    return every.select("start", "end", *numbers, *map(quoted, names))
