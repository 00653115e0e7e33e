"""Thence's requirements on a machine: finds Java, and has the checks of `thence doctor`, each a function that returns a
`Finding`."""

from __future__ import annotations

import importlib
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from thence.spark.installed import INSTALL_SPARK

# Finding the Java that Spark would start, and the command that installs one.

LEAST = 17  # what Spark 4 runs on
INSTALL = {
    "debian": "sudo apt-get install openjdk-21-jre-headless || sudo apt-get install openjdk-17-jre-headless",
    "fedora": "sudo dnf install java-21-openjdk-headless",
    "macos": "brew install --cask temurin@21",
}
OS_RELEASE = Path("/etc/os-release")


def check_java() -> tuple[bool, str, str]:
    """Whether Spark would find a Java that it can use, which one, and the cure if not."""
    home = os.environ.get("JAVA_HOME")
    # as Spark looks: JAVA_HOME decides where it is set, be it right or wrong
    executable = shutil.which("java", path=str(Path(home) / "bin")) if home else shutil.which("java")
    if home and executable is None:
        return False, f"JAVA_HOME is {home}, where there is no bin/java", f"unset JAVA_HOME, or: {install_command()}"
    if executable is None:
        return False, "not found, neither by JAVA_HOME nor in PATH", install_command()
    version = java_version(executable)
    if version is None:
        return False, f"{executable} does not print its version", install_command()
    if version < LEAST:
        return False, f"{version} at {executable}, needed {LEAST} or later", install_command()
    return True, f"{version} at {executable}", ""


def java_version(executable: str) -> int | None:
    """The major version that `java -version` prints, or None if it is not a real Java: macOS has such a
    /usr/bin/java."""
    try:
        printed = subprocess.run(
            [executable, "-version"], capture_output=True, text=True, timeout=30, check=False
        ).stderr
    except (OSError, subprocess.TimeoutExpired):
        return None
    return parse_version(printed)


def parse_version(printed: str) -> int | None:
    """The major version in what `java -version` prints.

    >>> parse_version('openjdk version "17.0.15" 2025-04-15'), parse_version('java version "1.8.0_401"')
    (17, 8)
    """
    found = re.search(r'version "(?:1\.)?(\d+)', printed)
    return int(found[1]) if found else None


def install_command() -> str:
    """The command that installs Java here, or all known ones if the system is unknown."""
    system = _system()
    if system in INSTALL:
        return INSTALL[system]
    return "; ".join(f"{name}: {command}" for name, command in INSTALL.items())


def _system() -> str:
    if platform.system() == "Darwin":
        return "macos"
    if not OS_RELEASE.exists():
        return "unknown"
    ids = re.findall(r'^ID(?:_LIKE)?="?([^"\n]*)', OS_RELEASE.read_text(), flags=re.MULTILINE)
    names = set(" ".join(ids).split())
    if names & {"debian", "ubuntu"}:
        return "debian"
    return "fedora" if names & {"fedora", "rhel"} else "unknown"


GIB = 2**30
MEMORY = 2 * GIB  # Spark's driver takes 1 GiB by default, the Python workers beside it need as much
DISK = 1 * GIB  # Spark keeps its shuffle files and state in the temporary directory
CGROUP_LIMIT = Path("/sys/fs/cgroup/memory.max")  # a container's own limit, which the machine's size hides


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of a check, and the cure if the check failed."""

    name: str
    ok: bool
    detail: str
    cure: str = ""


def check_python() -> Finding:
    found = f"{platform.python_version()} at {sys.executable}"
    return Finding("Python", sys.version_info >= (3, 11), found, "Install Python 3.11 or later.")


def check_spark() -> Finding:
    return _library_of_spark("Spark", package="pyspark", module="pyspark.sql")


def check_pandas() -> Finding:
    return _library_of_spark("pandas", package="pandas", module="pandas")


def check_protobuf() -> Finding:
    return _library_of_spark("protobuf", package="protobuf", module="google.protobuf")


def _check_java() -> Finding:
    if _version("pyspark") is None:
        return Finding("Java", True, "needed for Spark only")
    return Finding("Java", *check_java())


def check_libraries() -> Finding:
    name = "libraries"
    ranges = required()
    if not ranges:
        return Finding(name, False, "Thence itself is not installed", f"{sys.executable} -m pip install -e .")
    faults = [f"{package}{wanted}" for package, wanted in ranges.items() if not within(_version(package), wanted)]
    if faults:
        return Finding(name, False, f"missing or of another version: {', '.join(faults)}", _pip_install(*faults))
    return Finding(name, True, f"all {len(ranges)} as required")


def check_numba() -> Finding:
    """Can Numba compile, and cache it? Without a cache every process compiles again, for many seconds."""
    try:
        import numba

        numba.njit(cache=False)(_double)(21)
        cached = numba.njit(cache=True)(_double)  # looks for a directory it can write to, and fails if there is none
    except ImportError as error:
        return Finding("Numba", False, str(error), _pip_install("numba"))
    except Exception as error:  # whatever LLVM or the file system throws is the finding
        cure = "export NUMBA_CACHE_DIR=/a/directory/you/can/write/to"
        return Finding("Numba", False, f"{type(error).__name__}: {error}", cure)
    return Finding("Numba", True, f"compiles; cache in {cached.stats.cache_path}")


def check_memory() -> Finding:
    total = _memory()
    cure = f"Spark on one machine needs {MEMORY // GIB} GiB or more."
    return Finding("memory", total >= MEMORY, f"{total / GIB:.1f} GiB", cure)


def check_disk() -> Finding:
    folder = tempfile.gettempdir()
    free = shutil.disk_usage(folder).free
    cure = f"Free {DISK // GIB} GiB there, or set TMPDIR to a roomier place."
    return Finding("disk", free >= DISK, f"{free / GIB:.1f} GiB free in {folder}", cure)


def check_writing() -> Finding:
    here = Path.cwd()
    try:
        with tempfile.TemporaryFile(dir=here):
            return Finding("write access", True, str(here))
    except OSError as error:
        return Finding("write access", False, f"{here}: {error.strerror}", "Change to a directory of your own.")


CHECKS: tuple[Callable[[], Finding], ...] = (
    check_python,
    _check_java,
    check_spark,
    check_pandas,
    check_protobuf,
    check_libraries,
    check_numba,
    check_memory,
    check_disk,
    check_writing,
)


_EXTRA = re.compile(r"""extra == ["']([\w-]+)["']""")
_NONE = ("", "")  # as if it had matched: a package of no extra


def required(extra: str = "") -> dict[str, str]:
    """The packages that Thence declares, or one of its extras, each with its range of versions; none if Thence runs
    uninstalled."""
    try:
        lines = metadata.requires("thence") or []
    except metadata.PackageNotFoundError:
        return {}
    own = (line for line in lines if (_EXTRA.search(line) or _NONE)[1] == extra)
    found = (re.match(r"([\w.-]+)\s*([^;]*)", line) for line in own)
    return {match[1]: match[2].strip() for match in found if match}


def within(version: str | None, wanted: str) -> bool:
    """Does a version lie in a range of `>=` and `<`?

    >>> within("2.3.3", "<3,>=2.2"), within("3.0.1", "<3,>=2.2"), within(None, "")
    (True, False, False)
    """
    if version is None:
        return False
    bounds = re.findall(r"(>=|<)\s*([\d.]+)", wanted)
    return all((_release(version) >= _release(bound)) == (sign == ">=") for sign, bound in bounds)


def _release(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _library_of_spark(name: str, *, package: str, module: str) -> Finding:
    """A library that is required where Spark is installed."""
    if _version("pyspark") is None:
        detail = f"not installed, needed for Spark only: {INSTALL_SPARK}" if package == "pyspark" else ""
        return Finding(name, True, detail or "needed for Spark only")
    wanted = required("spark").get(package, "")
    cure = _pip_install(f"{package}{wanted}")
    version = _version(package)
    if version is None:
        return Finding(name, False, "not installed", cure)
    try:
        importlib.import_module(module)
    except Exception as error:  # a broken installation can throw anything
        return Finding(name, False, f"{version}, can't be imported: {error}", cure)
    if not within(version, wanted):
        return Finding(name, False, f"{version}, needed {wanted}", cure)
    return Finding(name, True, version)


def _pip_install(*requirements: str) -> str:
    return shlex.join([sys.executable, "-m", "pip", "install", *requirements])


def _memory() -> int:
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limit = CGROUP_LIMIT.read_text().strip() if CGROUP_LIMIT.exists() else "max"
    return machine if limit == "max" else min(machine, int(limit))


def _double(number: int) -> int:
    return 2 * number
