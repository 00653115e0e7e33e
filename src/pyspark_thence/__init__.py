"""Spark looks for modules whose names begin with pyspark_, and registers their `DefaultSource`: so that
`spark.read.format("thence")` and `spark.readStream.format("thence")` work wherever the package is installed."""

from __future__ import annotations

from thence.spark.sources.event_source import EventSource as DefaultSource

__all__ = ["DefaultSource"]
