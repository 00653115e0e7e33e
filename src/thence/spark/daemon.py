"""The process that Spark forks its Python workers from, with what they need already loaded: it takes a second or two,
and otherwise every worker would spend them. Named by `spark.python.daemon.module`, when a session is made."""

from __future__ import annotations

import importlib.util
import runpy
import sys

_ALL = sys.path[:]
# Spark's zip of itself comes first here, from which each module is compiled anew: what is installed is not
sys.path[:] = [path for path in _ALL if not path.endswith("pyspark.zip")]
if importlib.util.find_spec("pyspark") is None:
    sys.path[:] = _ALL

import thence.spark.decode  # noqa: E402
import thence.spark.processor  # noqa: E402
import thence.spark.source  # noqa: E402, F401 - all of these are for the workers

if __name__ == "__main__":
    runpy.run_module("pyspark.daemon", run_name="__main__")
