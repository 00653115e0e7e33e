"""EP-SPARQL on Spark: finite DataFrames, and rows in comparable form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import thence

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def finite_frame(spark: SparkSession, path: Path) -> DataFrame:
    if path.suffix == ".csv":  # a table, which Spark reads itself
        return spark.read.option("header", True).option("inferSchema", True).csv(str(path))
    return spark.read.format("thence").load(str(path))


def comparable(matches: Iterable[object]) -> Counter[tuple[object, ...]]:
    found = [match for match in matches if isinstance(match, thence.Match)]
    return Counter(
        (match.start, match.end, match.query, match.id, tuple(event.id for event in match.events)) for match in found
    )
