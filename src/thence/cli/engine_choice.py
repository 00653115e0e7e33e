"""`--engine auto`: small finite files in one process, all else on Spark, and a line that says which and why."""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from thence.spark.installed import INSTALL_SPARK, missing_libraries

ENGINES = ("auto", "spark", "local")

SMALL = 64 << 20
"""Bytes of text that one process takes in about the time that Spark needs to start: measured, 64 MiB of CSV take 8 s of
one core and 0.6 GB of memory. Spark starts in 8 s, and takes as long to end."""

_PACKED = {".gz": 8, ".parquet": 4}
"""How much smaller than as plain text files of an ending are, as a rule."""

_REMOTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")


@dataclass(frozen=True, slots=True)
class Choice:
    """The engine of a run: `spark`, or one process. `line` says why, if the choice was ours."""

    spark: bool
    line: str = ""


def choose_engine(engine: str, streams: Sequence[str], demands: str = "") -> Choice:
    """The engine for these streams, each `[NAME=]PATH`. `demands` is the option, if any, that only Spark has."""
    if engine != "auto":
        return Choice(engine == "spark")
    remote = next((path for stream in streams for path in _remote(stream)), None)
    if demands or remote:
        return Choice(True, f"on Spark: {demands or f'{remote} is not on this machine'}")
    files = list(_files(streams))
    size = text_size(files)
    read = f"{len(files)} {'file' if len(files) == 1 else 'files'}, {_shown(size)}"
    if size < SMALL:
        return Choice(False, f"in one process: {read}; --engine spark for Spark")
    lacking = spark_lacks()
    if lacking:
        return Choice(False, f"in one process: {read}. {lacking[0]}. For Spark: {lacking[1]}")
    return Choice(True, f"on Spark: {read}; --engine local for one process")


def spark_lacks() -> tuple[str, str] | None:
    """What Spark lacks here, and the cure; None if nothing."""
    missing = missing_libraries()
    if missing:
        return f"Spark needs {' and '.join(missing)}: not installed", INSTALL_SPARK
    from thence.cli.installation import check_java

    ok, found, cure = check_java()
    return None if ok else (f"Spark needs Java: {found}", cure)


def are_small(streams: Sequence[str]) -> bool:
    """Whether the files are read in seconds, as far as is known before the query is read."""
    return text_size(_files(streams)) < SMALL


def text_size(files: Iterable[str]) -> int:
    """The bytes of some files; packed ones count as what they unpack to, about."""
    return sum(_size(path) for path in files)


def _size(path: str) -> int:
    try:
        return os.path.getsize(path) * _PACKED.get(os.path.splitext(path)[1].lower(), 1)
    except OSError:  # the reader reports it
        return 0


def _files(streams: Sequence[str]) -> Iterator[str]:
    """The files of streams, as far as they are there."""
    for stream in streams:
        yield from (file for path in _there(stream) for file in _in(path))


def _remote(stream: str) -> list[str]:
    """The path of a stream, if it is not on this machine: a stream's name may look like one too."""
    return [] if _there(stream) else [path for path in _paths(stream) if _REMOTE.match(path)]


def _there(stream: str) -> list[str]:
    """The paths of a stream that exist; a pattern may have several."""
    found = ([path] if os.path.exists(path) else glob.glob(path, recursive=True) for path in _paths(stream))
    return next(filter(None, found), [])


def _paths(stream: str) -> Iterator[str]:
    """What may be the path in `[NAME=]PATH`: both may have a `=`."""
    yield stream
    yield from (stream[at + 1 :] for at, letter in enumerate(stream) if letter == "=")


def _in(path: str) -> list[str]:
    if not os.path.isdir(path):
        return [path]
    return [os.path.join(folder, name) for folder, _, names in os.walk(path) for name in names]


def _shown(size: int) -> str:
    """
    >>> _shown(400), _shown(3_100_000), _shown(70 << 30)
    ('1 kB', '3.1 MB', '75.2 GB')
    """
    for unit, name in ((10**9, "GB"), (10**6, "MB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{-(-size // 1000)} kB"
