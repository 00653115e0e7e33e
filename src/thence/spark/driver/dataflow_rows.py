"""A dataflow on Spark: each stage over the streams that it reads, derived ones included, and the answers as one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce

from pyspark.sql import DataFrame, Observation
from pyspark.sql.types import DataType, DoubleType, FloatType, IntegralType

from thence.errors import InputError
from thence.match.background import Background
from thence.program.dataflow import Dataflow
from thence.runtime.column_names import RESERVED_COLUMNS, column_names
from thence.runtime.time_domain import TimeDomain
from thence.spark.driver.column_selection import quoted
from thence.spark.driver.pipeline import Inputs, Settings, prepare, stage_rows
from thence.spark.sources.split_reader import SplitReader
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
    if inputs.are_streaming:
        programs = [stage.program for stage in dataflow.stages]
        prepare(next(iter(frames.values())).sparkSession, programs, settings)
    answers: list[DataFrame] = []
    for number, stage in dataflow.numbered():
        rows, types = stage_rows(dataflow, number, inputs, domain, background, settings, ordered=ordered, read=read())
        if stage.feeds is None:
            answers.append(rows)
        else:
            inputs.add(stage.feeds.stream, rows, types)
    if len(answers) == 1:
        return answers[0]
    return _as_one(dataflow, answers, problems=settings.problems or ordered, ordered=ordered)


def _as_one(dataflow: Dataflow, answers: list[DataFrame], *, problems: bool, ordered: bool) -> DataFrame:
    """The rows of a union, columns by name; one that a stage lacks is null there."""
    taken = (*RESERVED_COLUMNS, *PROBLEM_COLUMNS) if problems else RESERVED_COLUMNS
    shown = dict(zip(dataflow.columns, column_names(list(dataflow.columns), taken=taken), strict=True))
    named = []
    for stage, rows in zip(dataflow.answers, answers, strict=True):
        columns = stage.program.output.columns
        own = dict(zip(column_names(list(columns), taken=taken), columns, strict=True))
        named.append(rows.withColumnsRenamed({each: shown[column] for each, column in own.items()}))
    for column in shown.values():
        _check_types(column, [rows.schema[column].dataType for rows in named if column in rows.columns])
    every = reduce(lambda a, b: a.unionByName(b, allowMissingColumns=True), named)
    names = [*shown.values(), "match_id", "events", *(INNER if problems else INNER[:1]), *(HIDDEN if ordered else ())]
    return every.select("start", "end", *map(quoted, names))


def _check_types(column: str, kinds: list[DataType]) -> None:
    """They must agree; whole numbers do, and so do doubles and floats."""
    alike = len(set(kinds)) == 1
    for numbers in (IntegralType, (DoubleType, FloatType)):
        alike = alike or all(isinstance(kind, numbers) for kind in kinds)
    if not alike:
        found = " and ".join(sorted({kind.simpleString() for kind in kinds}))
        raise InputError(
            f'The column "{column}" of the UNION would be {found}. Try: another name in one of its queries, or values '
            "of one type"
        )
