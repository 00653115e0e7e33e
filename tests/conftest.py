"""Random cases: a hundred a property, the same at each run; or as many fresh ones as THENCE_CASES says.

The one that compares the engine with the definitions takes five times as many (test_spaseq_agrees). With
NUMBA_BOUNDSCHECK, when indices are looked at and not answers, a third of them does.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling

from thence.cli import progress
from thence.io import nquads_lines
from thence.jit import compiled

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# deadlines measure the machine, not the code: a compiled function's first call takes seconds
settings.register_profile("test", derandomize=True, deadline=None, database=None)
settings.register_profile("checked", max_examples=30, derandomize=True, deadline=None, database=None)
settings.register_profile(
    "long",
    max_examples=int(os.environ.get("THENCE_CASES", "2000")),
    derandomize=False,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
if "THENCE_CASES" in os.environ:
    settings.load_profile("long")
else:
    settings.load_profile("checked" if os.environ.get("NUMBA_BOUNDSCHECK") == "1" else "test")

progress.EVERY = 3600.0  # how many lines of progress there are measures the machine, too
compiled.LITTLE = -1  # what is compiled is tested as compiled, however small the input


def pytest_itemcollected(item: pytest.Item) -> None:
    """Tests that take minutes are those of `make test-long`."""
    if item.get_closest_marker("minutes") and "THENCE_CASES" not in os.environ:
        item.add_marker(pytest.mark.skip(reason="takes minutes: make test-long runs it"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--quick", action="store_true", help="without Spark and without random cases")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("quick"):
        slow = [item for item in items if _needs_spark(item.nodeid) or _is_random(item)]
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if item not in set(slow)]


def _needs_spark(nodeid: str) -> bool:
    return Path(nodeid.partition("::")[0]).stem.startswith(("test_spark", "test_cli_spark", "test_docs"))


def _is_random(item: pytest.Item) -> bool:
    """Whether it draws cases, or is in a file that compares drawn or seeded cases with an oracle."""
    is_drawn = bool(getattr(getattr(item, "obj", None), "is_hypothesis_test", False))
    return is_drawn or item.path.stem.endswith(("_agrees", "_agree"))


class OneSpark(LoadScopeScheduling):
    """Of several processes one has all tests that need Spark; the others' files go to whoever is free."""

    def _split_scope(self, nodeid: str) -> str:
        return "spark" if _needs_spark(nodeid) else nodeid.partition("::")[0]


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> OneSpark:
    return OneSpark(config, log)


@pytest.fixture(scope="module", params=["a few", "some", "many"])
def however_many(request: pytest.FixtureRequest) -> Iterator[None]:
    """A few lines or terms take another way than some do, and many a third one. Tests that ask for this go them all,
    with the same data."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param != "a few":
            patch.setattr(nquads_lines, "SMALL", 0)
        if request.param != "many":
            patch.setattr(compiled, "LITTLE", 1 << 60)
        yield


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """One Spark for all tests that need it: two cores of this machine."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse")),
        "spark.log.level": "ERROR",
        "spark.python.daemon.module": "thence.spark.session.daemon",
        # many small queries, each run once: to compile Java well takes longer than to run them
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
        # Spark's own way with checkpoints starts seventy processes (chmod, readlink) a micro-batch on a local disk
        "spark.sql.streaming.checkpointFileManagerClass": (
            "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
        ),
    }
    builder = SparkSession.builder.master("local[2]").appName("tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()
