"""Reading Parquet scans as workers do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thence.spark.driver.column_selection import narrowed_decoder
from thence.spark.sources.parquet_scans import parquet_scan
from thence.spark.sources.parquet_splits import ScanReader
from thence.spark.sources.row_decoder import decoder

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


NAMESPACE = "http://example.org/"


def reading(frame: DataFrame) -> ScanReader | None:
    """How workers read a DataFrame's files, if they do."""
    from pyspark.sql.pandas.types import to_arrow_schema

    whole = decoder("S", to_arrow_schema(frame.schema, timezone="UTC"), namespace=NAMESPACE)
    found = parquet_scan(frame, whole, narrowed_decoder(whole, None))
    return None if found is None else found[1]
