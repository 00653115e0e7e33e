"""Whether the libraries of Spark are installed: `pip install thence` leaves them out."""

from __future__ import annotations

from importlib.util import find_spec

from thence.errors import InputError

LIBRARIES = {"pyspark": "pyspark", "pandas": "pandas", "protobuf": "google.protobuf"}
"""What Spark needs, by the name of the package: a module of each."""

INSTALL_SPARK = 'pip install "thence[spark]"'


def missing_libraries() -> list[str]:
    """The packages that Spark needs and that are not installed."""
    return [package for package, module in LIBRARIES.items() if not _is_there(module)]


def check_installed(what: str) -> None:
    """InputError, with the command that installs them, if a library of Spark is missing."""
    missing = missing_libraries()
    if missing:
        names = ", ".join(missing[:-1]) + " and " + missing[-1] + " are" if len(missing) > 1 else f"{missing[0]} is"
        raise InputError(f"{what} needs Spark, and {names} not installed. Try: {INSTALL_SPARK}")


def _is_there(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except (ImportError, ValueError):  # a part of what is missing; or broken
        return False
