"""A query's text on Spark: one query, or several of SASE+, each over the streams it reads and over what others give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, Observation
from pyspark.sql.types import DataType, NumericType

from thence.algebra.components import ComposedQuery, Return
from thence.local.columns import OURS, column_names
from thence.local.domains import TimeDomain
from thence.match.background import NO_BACKGROUND
from thence.plan.components import plan
from thence.spark.output import HIDDEN, INNER, PROBLEM_COLUMNS
from thence.spark.pipeline import Among, Settings, all_rows, made_types
from thence.spark.reading import PartReader
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
    streaming = any(frame.isStreaming for frame in frames.values())
    inner = len(query.blocks) - len(query.queries[-1].blocks)
    for number, block in enumerate(query.blocks, 1):
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
        )
        own = {name: known[name] for name in names}
        rows = all_rows(
            plan(block, optimise=optimise),
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


def _common(listed: list[Types | None]) -> Types | None:
    """The types of a stream that several blocks make: text, where they differ."""
    found: dict[str, Any] = {}
    for types in listed:
        if types is None:
            return None
        found |= {name: kind if found.get(name, kind) == kind else pa.string() for name, kind in types.items()}
    return found


def _as_one(query: ComposedQuery, answers: list[DataFrame], *, told: bool, ordered: bool) -> DataFrame:
    """The rows of a union. A column that is a number in one and something else in another is text."""
    taken = (*OURS, *PROBLEM_COLUMNS) if told else OURS
    shown = column_names(list(query.columns), taken=taken)
    kinds = {name: [rows.schema[name].dataType for rows in answers] for name in shown}
    texts = [name for name, found in kinds.items() if not _are_alike(found)]
    typed = [rows.withColumns({name: rows[f"`{name}`"].cast("string") for name in texts}) for rows in answers]
    names = [*shown, "match_id", "events", *(INNER if told else INNER[:1]), *(HIDDEN if ordered else ())]
    return reduce(DataFrame.unionByName, typed).select("start", "end", *(f"`{name}`" for name in names))


def _are_alike(kinds: list[DataType]) -> bool:
    return len(set(kinds)) == 1 or all(isinstance(kind, NumericType) for kind in kinds)
