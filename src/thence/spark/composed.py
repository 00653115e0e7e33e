"""SASE+ on Spark: the queries of a text, each over the streams it reads and over what others give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from itertools import chain, count

from pyspark.sql import DataFrame, Observation

from thence.algebra.components import ComponentQuery, ComposedQuery, Return
from thence.errors import InputError
from thence.local.columns import OURS, column_names
from thence.local.domains import TimeDomain
from thence.match.background import NO_BACKGROUND
from thence.plan.components import plan
from thence.spark.output import HIDDEN, INNER, PROBLEM_COLUMNS
from thence.spark.pipeline import Settings, all_rows
from thence.spark.reading import PartReader


def composed_rows(
    query: ComposedQuery,
    frames: Mapping[str, DataFrame],
    domain: TimeDomain,
    settings: Settings,
    *,
    ordered: bool = True,
    read: Observation | str = "thence.read",
    readers: Mapping[str, PartReader] | None = None,
    optimise: bool = True,
) -> DataFrame:
    """As `all_rows`, of several blocks. How many events there were is observed where the first of them is read."""
    if len(query.queries) > 1 and any(frame.isStreaming for frame in frames.values()):
        raise InputError(
            "On streaming DataFrames a query can't read what another one makes. "
            "Try: query.engine(), which does; or a checkpointed table between two queries"
        )
    known = dict(frames)
    observed: Iterator[Observation | str] = chain([read], (f"thence.read.{number}" for number in count(2)))

    def rows_of(block: ComponentQuery, *, feeds: bool = False) -> DataFrame:
        own = {stream.name: known[stream.name] for stream in block.sources}
        given = {name: reader for name, reader in (readers or {}).items() if name in own}
        program, named = plan(block, optimise=optimise), next(observed)
        return all_rows(
            program, own, domain, NO_BACKGROUND, settings, ordered=ordered, read=named, readers=given, feeds=feeds
        )

    troubles: list[DataFrame] = []
    for union in query.queries[:-1]:
        made: dict[str, list[DataFrame]] = {}
        for block in union.blocks:
            assert isinstance(block.form, Return) and block.form.stream is not None
            rows = rows_of(block, feeds=True)
            made.setdefault(block.form.stream, []).append(rows.filter(f"`{INNER[0]}` IS NULL"))
            troubles.append(rows.filter(f"`{INNER[0]}` IS NOT NULL").drop("time", "id", "value"))
        for stream, listed in made.items():
            known[stream] = reduce(DataFrame.union, listed).select("time", "id", "value")
    answers = [rows_of(block) for block in query.queries[-1].blocks]
    every = reduce(lambda a, b: a.unionByName(b, allowMissingColumns=True), [*answers, *troubles])
    taken = (*OURS, *PROBLEM_COLUMNS) if settings.problems or ordered else OURS
    told = INNER if settings.problems or ordered else INNER[:1]
    names = [*column_names(list(query.columns), taken=taken), "match_id", "events", *told, *(HIDDEN if ordered else ())]
    return every.select("start", "end", *(f"`{name}`" for name in names))
