"""Workers import the Spark that is installed, where it is the one that Spark would have them import from its zip; and
what they have imported is not searched for garbage after each task."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pyspark
import pytest

from thence.spark.session.daemon import _is_installed
from thence.spark.worker.gc_freeze import freeze_loaded_objects

FOUND = "import thence.spark.session.daemon, pyspark; print(pyspark.__file__)"


def imported_beside(zipped: Path) -> str:
    environment = os.environ | {"PYTHONPATH": str(zipped)}
    result = subprocess.run([sys.executable, "-c", FOUND], env=environment, capture_output=True, text=True, check=True)
    return result.stdout.strip()


def test_the_same_spark_is_imported_from_where_it_is_installed() -> None:
    own = Path(pyspark.__file__).parent / "python" / "lib" / "pyspark.zip"
    assert own.exists()
    assert imported_beside(own) == pyspark.__file__


@pytest.mark.parametrize("content", [b"__version__ = '1.2.3'", b""])
def test_another_spark_is_left_where_it_is(tmp_path: Path, content: bytes) -> None:
    with zipfile.ZipFile(tmp_path / "pyspark.zip", "w") as archive:
        archive.writestr("pyspark/version.py", content)
    assert not _is_installed(str(tmp_path / "pyspark.zip"))
    assert not _is_installed(str(tmp_path / "none.zip"))


def is_searched(kept: object) -> bool:
    """Whether the search for garbage looks at it. Counts would tell less: other threads let go of theirs meanwhile."""
    return any(each is kept for each in gc.get_objects())


def test_what_has_been_loaded_is_searched_no_more_and_a_few_objects_of_a_task_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("thence.spark.worker.gc_freeze._left", 2)
    loaded: list[list[None]] = [[] for _ in range(30_000)]
    try:
        assert is_searched(loaded)
        freeze_loaded_objects()
        assert not is_searched(loaded)
        task: list[list[None]] = [[] for _ in range(1_000)]
        freeze_loaded_objects()
        assert is_searched(task)
    finally:
        gc.unfreeze()
