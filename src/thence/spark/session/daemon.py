"""The process that Spark forks its Python workers from, with what they need already loaded: it takes a second or two,
and otherwise every worker would spend them. Named by `spark.python.daemon.module`, when a session is made."""

from __future__ import annotations

import runpy
import sys
import zipfile
from importlib.metadata import PackageNotFoundError, version


def _is_installed(zipped: str) -> bool:
    """Whether the Spark in a zip, from which each module is compiled each time, is also installed, and the same."""
    try:
        with zipfile.ZipFile(zipped) as archive:
            source = archive.read("pyspark/version.py").decode()
        return any(f"{quote}{version('pyspark')}{quote}" in source for quote in "'\"")
    except (OSError, KeyError, zipfile.BadZipFile, PackageNotFoundError):
        return False


sys.path[:] = [path for path in sys.path if not (path.endswith("pyspark.zip") and _is_installed(path))]

import thence.spark.sources.event_source  # noqa: E402, F401 - all of these are for the workers
from thence.spark.worker.gc_freeze import freeze_loaded_objects  # noqa: E402

if __name__ == "__main__":
    freeze_loaded_objects()
    runpy.run_module("pyspark.daemon", run_name="__main__")
