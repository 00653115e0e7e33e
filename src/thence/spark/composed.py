"""A query's text on Spark: one query, or several of SASE+, each over the streams it reads and over what others give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, Observation
from pyspark.sql.types import DataType, DoubleType, FloatType, IntegralType

from thence.algebra.components import ComposedQuery, Return
from thence.errors import InputError
from thence.local.columns import OURS, column_names
from thence.local.domains import TimeDomain
from thence.match.background import NO_BACKGROUND
from thence.plan.components import plan
from thence.program.sequence import Attributes, SequenceProgram
from thence.spark.output import HIDDEN, INNER, PROBLEM_COLUMNS
from thence.spark.pipeline import Among, Settings, all_rows, is_streaming, made_types, prepare
from thence.spark.reading import PartReader
from thence.spark.selecting import quoted
from thence.spark.shapes import Types


def composed_rows(
    query: ComposedQuery,
    frames: Mapping[str, DataFrame],
    domain: TimeDomain,
    settings: Settings,
    *,
    ordered: bool = True,
    read: Callable[[], Observation | None] = lambda: None,
    readers: Mapping[str, PartReader] | None = None,
    optimise: bool = True,
) -> DataFrame:
    """As `all_rows`, of several blocks. `read` observes the events that a block is the first to read."""
    known, told = dict(frames), set[str]()
    made: dict[str, list[DataFrame]] = {}
    types: dict[str, list[Types | None]] = {}
    answers: list[DataFrame] = []
    streaming = is_streaming(frames)
    programs = [plan(block, optimise=optimise) for block in query.blocks]
    if streaming:
        prepare(next(iter(frames.values())).sparkSession, programs, settings)
    inner = len(query.blocks) - len(query.queries[-1].blocks)
    for number, (block, program) in enumerate(zip(query.blocks, programs, strict=True), 1):
        names = [stream.name for stream in block.sources]
        for name in names:
            if name in made:
                known[name] = reduce(lambda a, b: a.unionByName(b, allowMissingColumns=True), made[name])
        # a silent stream that only others read holds this one back as well, so that each event is late for all or none
        heard = {name: frame for name, frame in frames.items() if streaming and name not in names}
        among = Among(
            number,
            {name: _common(types[name]) for name in names if name in types},
            frozenset(told),
            heard,
            number <= inner,
            {name: _asked(name, programs[number:]) for name in names},
        )
        own = {name: known[name] for name in names}
        rows = all_rows(
            program,
            own,
            domain,
            NO_BACKGROUND,
            settings,
            ordered=ordered,
            read=read(),
            readers={name: reader for name, reader in (readers or {}).items() if name in names},
            among=among,
        )
        told |= set(names)
        if number <= inner:
            assert isinstance(block.form, Return) and block.form.stream is not None
            made.setdefault(block.form.stream, []).append(rows)
            found = None if readers else made_types(block, own, settings, among)
            types.setdefault(block.form.stream, []).append(found)
        else:
            answers.append(rows)
    return _as_one(query, answers, told=settings.problems or ordered, ordered=ordered)


def _asked(stream: str, programs: Sequence[SequenceProgram]) -> tuple[Attributes, ...]:
    """What a stream's events are asked by some queries."""
    tables = (table for program in programs for table in program.tables if table.stream == stream)
    return tuple(table.pattern for table in tables if isinstance(table.pattern, Attributes))


def _common(listed: list[Types | None]) -> Types | None:
    """The types of a stream that several blocks make: text, where they differ."""
    found: dict[str, Any] = {}
    for types in listed:
        if types is None:
            return None
        found |= {name: kind if found.get(name, kind) == kind else pa.string() for name, kind in types.items()}
    return found


def _as_one(query: ComposedQuery, answers: list[DataFrame], *, told: bool, ordered: bool) -> DataFrame:
    """The rows of a union, columns by name; one that a block lacks is null there."""
    taken = (*OURS, *PROBLEM_COLUMNS) if told else OURS
    shown = dict(zip(query.columns, column_names(list(query.columns), taken=taken), strict=True))
    named = []
    for number, (block, rows) in enumerate(zip(query.queries[-1].blocks, answers, strict=True)):
        own = dict(zip(column_names(list(block.columns), taken=taken), block.columns, strict=True))
        # two blocks may give the same row of the same events, and each is a match
        name = f"md5(match_id || '/{number}') AS match_id" if number else "match_id"
        told_apart = [name if each == "match_id" else quoted(each) for each in rows.columns]
        renamed = {each: shown[column] for each, column in own.items()}
        named.append(rows.selectExpr(*told_apart).withColumnsRenamed(renamed))
    for column in shown.values():
        _check_types(column, [rows.schema[column].dataType for rows in named if column in rows.columns])
    every = reduce(lambda a, b: a.unionByName(b, allowMissingColumns=True), named)
    names = [*shown.values(), "match_id", "events", *(INNER if told else INNER[:1]), *(HIDDEN if ordered else ())]
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
