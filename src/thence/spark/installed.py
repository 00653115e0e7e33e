"""Whether the libraries of Spark are installed: `pip install thence` leaves them out."""

from __future__ import annotations

from importlib.util import find_spec

from thence.errors import InputError

LIBRARIES = {"pyspark": "pyspark", "pandas": "pandas", "protobuf": "google.protobuf"}
"""What Spark needs, by the name of the package: a module of each."""

INSTALL = 'pip install "thence[spark]"'


def missing_libraries() -> list[str]:
    """The packages that Spark needs and that are not installed."""
    return [package for package, module in LIBRARIES.items() if not _is_there(module)]


def check_installed(what: str) -> None:
    """InputError, with the command that installs them, if a library of Spark is missing."""
    missing = missing_libraries()
    if missing:
        raise InputError(f"{what} needs Spark, and {' and '.join(missing)} {_are(missing)}. Try: {INSTALL}")


def _are(missing: list[str]) -> str:
    return "is not installed" if len(missing) == 1 else "are not installed"


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):  # a part of what is missing; or broken
        return False
