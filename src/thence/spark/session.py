"""The Spark that `thence run` starts on this machine, when nobody has started one."""

from __future__ import annotations

import atexit
import os
import sys
import tempfile
from collections.abc import Mapping
from typing import IO, Any

from pyspark import SparkConf, SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

from thence.errors import ThenceError

_GIB = 2**30
_SETTINGS: Mapping[str, str] = {
    "spark.master": "local[*]",
    "spark.app.name": "thence",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",  # ours is shown
    "spark.driver.host": "127.0.0.1",  # so that no network is needed
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.adaptive.enabled": "false",  # planning anew costs more than it could save here
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.streaming.stopTimeout": "30s",
    "spark.python.daemon.module": "thence.spark.daemon",
    "spark.log.level": "ERROR",
}
_QUICK: Mapping[str, str] = {
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.codegen.wholeStage": "false",
}
"""For a run of seconds: to compile well takes longer than it saves."""


class NoJavaError(ThenceError):
    """Java did not start."""


def spark_session(*, debug: bool = False, quick: bool = False) -> SparkSession:
    """A session of the Spark that there is, or of a new one on this machine. What Java and the workers say goes to a
    file that is thrown away, unless `debug`; `quick` is for runs of seconds."""
    chosen = {**_SETTINGS, **(_QUICK if quick else {})}
    there = SparkSession.getActiveSession()
    if there is not None:
        own = there.newSession()
        for name, value in chosen.items():
            if name.startswith("spark.sql."):
                own.conf.set(name, value)
        return own
    os.environ["PYSPARK_PYTHON"] = sys.executable  # workers must be what we are
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    conf = SparkConf(loadDefaults=False)
    for name, value in chosen.items():
        conf.set(name, value)
    conf.set("spark.driver.memory", f"{_heap() // 2**20}m")
    if debug:
        conf.set("spark.log.level", "WARN")
    said = None if debug else _log()
    context = _started(conf, said)
    return SparkSession(context)


def _started(conf: SparkConf, said: IO[bytes] | None) -> SparkContext:
    # neither Java's nor the workers' words may come between our own: they have no terminal
    outlets: dict[str, Any] = {"stdout": 2} if said is None else {"stdout": said, "stderr": said}
    try:
        gateway = launch_gateway(conf, outlets)  # type: ignore[no-untyped-call]
    except (PySparkRuntimeError, OSError):
        last = _last_line(said)
        raise NoJavaError(f"Java did not start{f': {last}' if last else ''}") from None
    return SparkContext(conf=conf, gateway=gateway)


def _log() -> IO[bytes]:
    file = tempfile.NamedTemporaryFile(prefix="thence-spark-", suffix=".log", delete=False)  # noqa: SIM115 - until the end
    atexit.register(_removed, file.name)
    return file


def _removed(name: str) -> None:
    if os.path.exists(name):
        os.remove(name)


def _last_line(said: IO[bytes] | None) -> str:
    if said is None:
        return ""
    with open(said.name, encoding="utf-8", errors="replace") as file:
        lines = [line.strip() for line in file if line.strip()]
    return lines[-1][:200] if lines else ""


def _heap() -> int:
    """Bytes for Java: a quarter of the machine's, since the workers beside it need more than it does."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(max(machine // 4, _GIB), 4 * _GIB)
