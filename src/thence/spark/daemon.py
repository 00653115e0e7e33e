"""The process that Spark forks its Python workers from, with what they need already loaded: it takes a second or two,
and otherwise every worker would spend them. Named by `spark.python.daemon.module`, when a session is made."""

from __future__ import annotations

import runpy

import thence.spark.decode
import thence.spark.processor
import thence.spark.source  # noqa: F401 - all of these are for the workers

if __name__ == "__main__":
    runpy.run_module("pyspark.daemon", run_name="__main__")
