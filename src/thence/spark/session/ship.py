"""Sends this package to a cluster's executors, so that it need not be installed there."""

from __future__ import annotations

import atexit
import hashlib
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from thence.spark.session import shipped

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_BEGIN = "begin(globals())\n"
_LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The modification time of all files in the zip, so that the same modules give the same zip."""


def ship(spark: SparkSession) -> None:
    """Sends this package to the executors of a session. Call it before a query is made. The libraries that it needs
    must be installed there. `format("thence")` is registered again, since the one that Spark finds by itself is not the
    shipped one."""
    from thence.spark.sources.event_source import EventSource

    folder = Path(tempfile.mkdtemp(prefix="thence-"))
    # not earlier: executors may ask for it as long as there is a driver
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    spark.sparkContext.addPyFile(str(zipped(folder)))
    spark.dataSource.register(EventSource)


def zipped(folder: Path) -> Path:
    """This package as a zip in a folder, named by its content. It unpacks itself when it is imported."""
    modules = dict(_modules())
    begins = Path(shipped.__file__).read_bytes() + _BEGIN.encode()
    digest = hashlib.sha256()
    for name, content in modules.items():
        digest.update(f"{name} {len(content)}\n".encode() + content)
    path = folder / f"thence-{digest.hexdigest()[:16]}.zip"
    outer = {"thence/__init__.py": begins, "pyspark_thence/__init__.py": modules["pyspark_thence/__init__.py"]}
    inner = {f"{shipped.INNER}/{name}": content for name, content in modules.items() if name.startswith("thence/")}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in (outer | inner).items():
            made.writestr(zipfile.ZipInfo(name, _LONG_AGO), content, zipfile.ZIP_DEFLATED)
    return path


def _modules() -> Iterator[tuple[str, bytes]]:
    """All files of the package, by name, in order."""
    root = Path(__file__).parents[3]
    for package in ("pyspark_thence", "thence"):
        for path in sorted((root / package).rglob("*")):
            if path.is_file() and path.suffix in (".py", ".lark", ".typed"):
                yield path.relative_to(root).as_posix(), path.read_bytes()
