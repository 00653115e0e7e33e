"""The process from which Spark forks its Python workers. It has loaded what they need, which otherwise costs every
worker a second or two. The setting `spark.python.daemon.module` names it when a session is made.
"""

from __future__ import annotations

import runpy
import sys
import zipfile
from importlib.metadata import PackageNotFoundError, version


def _is_installed(zipped: str) -> bool:
    """Whether the Spark in a zip, which is compiled at each import, is also installed, in the same version."""
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
