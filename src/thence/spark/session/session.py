"""The local Spark session of `thence run`, and the class archive that makes it start faster."""

from __future__ import annotations

import atexit
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any

import pyspark
from pyspark import SparkConf, SparkContext
from pyspark.find_spark_home import _find_spark_home
from pyspark.java_gateway import launch_gateway
from pyspark.serializers import UTF8Deserializer, read_int
from pyspark.sql import SparkSession

from thence.errors import ThenceError

# A class data archive for Java: Spark starts in two thirds of the time with it.
#
# The first run that comes to its end has Java write them when it exits, after the command has. Until all of it is
# written, and unless the run came to its end, later ones do without.

_KEPT_BACK = 3600.0
"""Seconds after which a process that began to write an archive is considered dead."""

_SETTLED = 3.0
"""Seconds without a write after which Java has finished an archive: it writes all of it at once."""

_KEPT = 3
"""The number of archives, of other versions and environments, that stay on disk: each has some 160 MB."""

_TOLERANT = "-XX:+IgnoreUnrecognizedVMOptions"


@dataclass(frozen=True, slots=True)
class ClassArchive:
    """Java's options for a class data archive, and the methods by which a run reports how it ended."""

    option: str = ""
    _noted: Path | None = None
    _claim: Path | None = None

    def worthwhile(self) -> None:
        """Marks the new archive as complete: it has the classes of a whole run."""
        if self._noted is not None:
            with suppress(OSError):
                self._noted.touch()

    def given_up(self) -> None:
        """Notes that this run writes no archive, so another one may."""
        if self._claim is not None:
            with suppress(OSError):
                self._claim.unlink(missing_ok=True)


def class_archive(java: str, spark: str) -> ClassArchive:
    """The archive for a Java and a Spark: an existing one, one to be written by this run, or none."""
    name = blake2b(repr((java, spark)).encode(), digest_size=8).hexdigest()
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = Path(home, "thence")
    whole, claim = folder / f"{name}.jsa", folder / f"{name}.jsa-begun"
    part = folder / f"{name}-{os.getpid()}.jsa-part"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        _adopt(folder, whole)
        if whole.exists():
            return ClassArchive(f'{_TOLERANT} "-XX:SharedArchiveFile={whole}"')
        if claim.exists() and _age(claim) > _KEPT_BACK:
            for path in (claim, *folder.glob(f"{name}-*")):
                path.unlink(missing_ok=True)
        claim.touch(exist_ok=False)  # one at a time
    except OSError:
        return ClassArchive()
    return ClassArchive(f'{_TOLERANT} "-XX:ArchiveClassesAtExit={part}"', _noted_of(part), claim)


def _adopt(folder: Path, whole: Path) -> None:
    """Makes the archive that a complete run has written the one in use, and deletes all but the newest archives."""
    for part in folder.glob(f"{whole.stem}-*.jsa-part"):
        if _noted_of(part).exists() and _is_whole(part):
            part.rename(whole)
            _noted_of(part).unlink()
            for old in sorted(folder.glob("*.jsa"), key=_age)[_KEPT:]:
                old.unlink(missing_ok=True)


def _noted_of(part: Path) -> Path:
    return part.with_suffix(".jsa-noted")


def _is_whole(part: Path) -> bool:
    """Whether Java has written all of it: the first bytes are written last."""
    if _age(part) < _SETTLED:
        return False
    with part.open("rb") as file:
        return any(file.read(4))


def _age(path: Path) -> float:
    """Seconds since the last write."""
    return time.time() - path.stat().st_mtime


# The local Spark session that `thence run` starts, if there is none.

_GIB = 2**30
_SETTINGS: Mapping[str, str] = {
    "spark.master": "local[*]",
    "spark.app.name": "thence",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",  # Thence shows its own progress
    "spark.driver.host": "127.0.0.1",  # so that no network is needed
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.adaptive.enabled": "false",  # planning again costs more than it could save here
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.streaming.stopTimeout": "30s",
    # a checkpoint is on a disk of this machine, where Spark's own way starts seventy processes a micro-batch
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
    "spark.python.daemon.module": "thence.spark.session.daemon",
    "spark.log.level": "ERROR",
}
_UTF8: Any = UTF8Deserializer()  # type: ignore[no-untyped-call]
_QUICK: Mapping[str, str] = {"spark.sql.codegen.wholeStage": "false"}
_LONGEST = 44
"""The longest name, in bytes, of the folder for temporary files: a socket's name adds 59, and some systems allow
103.
"""
_SWIFTLY = "-XX:TieredStopAtLevel=1"
"""Options for a run of seconds: optimising compilation takes longer than it saves."""


class NoJavaError(ThenceError):
    """Java did not start."""


class Launch:
    """A starting Java process. It begins as soon as Spark is known to be needed, so that the query is read meanwhile.
    The output of Java and the workers goes to a temporary file, unless `debug`; `quick` is for runs of seconds."""

    def __init__(self, *, debug: bool = False, quick: bool = False) -> None:
        self._there = _there()
        self._said: IO[bytes] | None = None
        self._quick = quick
        self._classes = ClassArchive()
        self._gateway: Any = None
        self._failed: Exception | None = None
        self._java: subprocess.Popen[bytes] | None = None
        self._unneeded = threading.Event()
        self._context: SparkContext | None = None
        self._conf = SparkConf(loadDefaults=False)
        if self._there is not None:
            return
        os.environ["PYSPARK_PYTHON"] = sys.executable  # workers run the same Python
        os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
        for name, value in _SETTINGS.items():
            self._conf.set(name, value)
        self._conf.set("spark.driver.memory", f"{_heap() // 2**20}m")
        for name, value in _sockets().items():
            self._conf.set(name, value)
        if debug:
            self._conf.set("spark.log.level", "WARN")
        else:
            self._said = _log()
        self._thread = threading.Thread(target=self._launch, daemon=True)
        self._thread.start()

    def _launch(self) -> None:
        home = os.environ.get("JAVA_HOME")
        java = shutil.which("java", path=os.path.join(home, "bin") if home else None)  # as Spark finds it
        version = _version_of(java) if java is not None else None
        if version is not None:
            self._classes = class_archive(version, f"{pyspark.__version__} {_find_spark_home()}")
        options = [self._classes.option, _SWIFTLY if self._quick else ""]
        self._conf.set("spark.driver.extraJavaOptions", " ".join(filter(None, options)))
        try:
            self._gateway = self._connected()
        except Exception as error:  # of any kind: the thread that waits for Java must receive it
            self._failed = error

    def _connected(self) -> Any:
        """The connection to Java, as pyspark's own `launch_gateway` makes it, which does not reveal the process that it
        starts."""
        if "PYSPARK_GATEWAY_PORT" in os.environ:  # this process was started by Spark's Java
            return launch_gateway(self._conf)  # type: ignore[no-untyped-call]
        with tempfile.TemporaryDirectory(prefix="thence-") as folder:
            connection = os.path.join(folder, "connection")
            command = [os.path.join(_find_spark_home(), "bin", "spark-submit")]
            command += [part for name, value in self._conf.getAll() for part in ("--conf", f"{name}={value}")]
            command += shlex.split(os.environ.get("PYSPARK_SUBMIT_ARGS", "pyspark-shell"))
            self._java = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,  # Java ends with this process
                env=os.environ | {"SPARK_CONNECT_MODE": "0", "_PYSPARK_DRIVER_CONN_INFO_PATH": connection},
                start_new_session=True,  # only this process handles Ctrl-C
                stdout=self._said or 2,  # output of Java and the workers must not mix with ours:
                stderr=self._said,  # they have no terminal
            )
            while not os.path.exists(connection):
                if self._java.poll() is not None or self._unneeded.wait(0.02):
                    raise OSError("Java has ended, or is not needed")
            with open(connection, "rb") as file:
                port: int = read_int(file)  # type: ignore[no-untyped-call]
                there = {"PYSPARK_GATEWAY_PORT": str(port), "PYSPARK_GATEWAY_SECRET": _UTF8.loads(file)}
        os.environ.update(there)
        try:
            return launch_gateway()  # type: ignore[no-untyped-call]
        finally:
            for name in there:
                del os.environ[name]

    def session(self) -> SparkSession:
        """The session that exists already, or a new one on this Java."""
        spark = self._there.newSession() if self._there is not None else self._started()
        if self._quick and self._there is None:
            _start_workers(spark)
        for name, value in {**_SETTINGS, **(_QUICK if self._quick else {})}.items():
            if name.startswith("spark.sql."):
                spark.conf.set(name, value)
        return spark

    def _started(self) -> SparkSession:
        self._thread.join()
        if self._failed is not None:
            last = _last_line(self._said)
            raise NoJavaError(f"Java did not start{f': {last}' if last else ''}") from None
        self._context = SparkContext(conf=self._conf, gateway=self._gateway)
        return SparkSession(self._context)

    def ended_well(self) -> None:
        """Notes that the run is complete, so its classes are worth archiving."""
        self._classes.worthwhile()

    def __enter__(self) -> Launch:
        return self

    def __exit__(self, *raised: object) -> None:
        """Ends Java; immediately if no session was made."""
        if self._there is not None or self._context is not None:
            return
        self._unneeded.set()
        self._thread.join()
        if self._gateway is not None:
            self._gateway.shutdown()
        if self._java is not None:
            if self._java.poll() is None:
                os.killpg(self._java.pid, signal.SIGKILL)  # the scripts that start it, too
            self._java.communicate()
        self._classes.given_up()
        if self._said is not None:
            self._said.close()


def _start_workers(spark: SparkSession) -> None:
    """Makes Spark start its Python processes while a job is being planned: both take equally long."""

    def run() -> None:
        with suppress(Exception):  # the job itself reports what is wrong
            cores = spark.sparkContext.defaultParallelism
            spark.range(0, cores, 1, cores).mapInArrow(_nothing, "id long").collect()

    threading.Thread(target=run, daemon=True).start()


def _nothing(records: Any) -> Any:
    import pandas  # noqa: F401 - these are what a worker imports for its first task

    import thence.spark.worker.stages  # noqa: F401

    yield from records


def _version_of(java: str) -> str | None:
    """A value that changes with the version of Java, found without starting it; None if its folder does not show it."""
    home = os.path.dirname(os.path.dirname(os.path.realpath(java)))
    try:
        with open(os.path.join(home, "release"), encoding="utf-8", errors="replace") as file:
            return f"{home} {file.read(10_000)}"
    except OSError:
        return None


def _sockets() -> dict[str, str]:
    """The settings for Unix sockets between Java and the workers, in a private folder. On network sockets a micro-batch
    waits several times, up to 40 ms, for an acknowledgement; they remain for folders with too long names."""
    if not hasattr(socket, "AF_UNIX") or len(os.fsencode(tempfile.gettempdir())) > _LONGEST:
        return {}
    folder = tempfile.mkdtemp(prefix="thence-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return {"spark.python.unix.domain.socket.enabled": "true", "spark.python.unix.domain.socket.dir": folder}


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


def _there() -> SparkSession | None:
    """The existing session, for any thread: Java has an active session per thread, and a lost connection gives Python's
    thread another one."""
    if SparkContext._active_spark_context is None:
        return None
    return SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()


def _heap() -> int:
    """Java's heap in bytes: a quarter of the machine's memory, since the workers need more."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return min(max(machine // 4, _GIB), 4 * _GIB)
