"""Event DataFrames as a caller gives them to `Query.dataframe`, checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, Observation

from thence.algebra.streams import Stream
from thence.columns.value_types import Types
from thence.errors import InputError
from thence.interface.dataflow import Dataflow
from thence.local.inputs import inputs_by_stream
from thence.match.background import Background
from thence.query.options import Options
from thence.rdf.times import Domain
from thence.runtime.watermark import Watermark
from thence.spark.driver.pipeline import Inputs, Settings, counted_answers, counts_beside, dataflow_rows, is_streaming


@dataclass(frozen=True, slots=True)
class Frames:
    """A DataFrame for each stream."""

    by_name: Mapping[str, DataFrame]

    def answers(
        self,
        dataflow: Dataflow,
        options: Options,
        kind: tuple[Domain, str] | None,
        check: Callable[[Mapping[str, Types | None], Background], object],
    ) -> DataFrame:
        """The matches. `check` judges the types of the streams' attributes and the background before there is a job."""
        watermark, domain = options.timing(dataflow.streams, kind)
        settings = spark_settings(dataflow, options, watermark, counts=self._counts(options.counts))
        check(Inputs(dict(self.by_name)).types(settings), settings.background)
        for name, frame in self.by_name.items():
            settings.layout(name).warn_of_hidden(f"stream {name}", frame.columns)
        rows = dataflow_rows(dataflow, self.by_name, domain, settings, ordered=False)
        return counted_answers(rows, settings)

    def _counts(self, given: object) -> str | Observation:
        """`counts`: the name of the metrics or, in batch, the Observation that receives them."""
        streaming = is_streaming(self.by_name)
        if isinstance(given, Observation) and streaming:
            raise InputError(
                "Spark's Observation is for batch queries. Try: counts=\"alerts\", and the query's progress"
            )
        if isinstance(given, Observation):
            return given
        if not isinstance(given, str) or not given:
            raise InputError(f'counts can\'t be {given!r:.40}. Try: counts="alerts"; in batch, counts=Observation()')
        return counts_beside(self.by_name.values(), given) if streaming else given


def spark_settings(dataflow: Dataflow, options: Options, watermark: Watermark, **named: Any) -> Settings:
    """The options that Spark needs. `named` has the column names of the caller's DataFrames, if there are any."""
    return Settings(
        options.environment(dataflow),
        watermark,
        shards=options.shards,
        problems=options.gives_problems,
        terms=options.terms,
        layouts=options.layouts(dataflow),
        namespaces={stream.name: dataflow.namespace_of(stream.name) for stream in dataflow.streams},
        **named,
    )


def frames_of(given: object, streams: Sequence[Stream]) -> Frames:
    """The DataFrames of a query's streams, by name."""
    found: dict[str, DataFrame] = {}
    for name, value in inputs_by_stream(given, streams).items():
        if not _is_dataframe(value):
            raise InputError(
                f"The stream {name} is given as {type(value).__name__}, not as a Spark DataFrame. "
                'Try: spark.read.format("thence").load(path); or query.match(…), which reads paths in one process'
            )
        found[name] = value  # type: ignore[assignment]
    return Frames(found)


def _is_dataframe(value: object) -> bool:
    return isinstance(value, DataFrame)
