"""Finding the Java that Spark would start, and the command that installs one."""

from __future__ import annotations

import os
import platform
import re
import shutil
import subprocess
from pathlib import Path

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
    """The major version that `java -version` prints, or None: macOS has a /usr/bin/java that is none."""
    try:
        told = subprocess.run([executable, "-version"], capture_output=True, text=True, timeout=30, check=False).stderr
    except (OSError, subprocess.TimeoutExpired):
        return None
    return parse_version(told)


def parse_version(told: str) -> int | None:
    """The major version in what `java -version` prints.

    >>> parse_version('openjdk version "17.0.15" 2025-04-15'), parse_version('java version "1.8.0_401"')
    (17, 8)
    """
    found = re.search(r'version "(?:1\.)?(\d+)', told)
    return int(found[1]) if found else None


def install_command() -> str:
    """The command that installs Java here; all that we know where the system is none of them."""
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
