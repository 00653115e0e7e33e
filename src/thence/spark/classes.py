"""Java's classes, kept as Java has them in memory: a Spark that finds them so starts in two thirds of the time.

The first run that comes to its end has Java write them when it exits, after the command has. Until all of it is
written, and unless the run came to its end, later ones do without.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

_KEPT_BACK = 600.0
"""Seconds after which who began to write an archive is thought to have been ended meanwhile."""

_SETTLED = 3.0
"""Seconds since the last byte after which an archive is whole: Java writes at once what it has put together."""

_TOLERANT = "-XX:+IgnoreUnrecognizedVMOptions"


@dataclass(frozen=True, slots=True)
class Classes:
    """What Java is told about an archive of classes, and what a run that ended well says of it."""

    option: str = ""
    _worthwhile: Path | None = None

    def worthwhile(self) -> None:
        """What is being written has the classes of a whole run."""
        if self._worthwhile is not None:
            with suppress(OSError):
                self._worthwhile.touch()


def classes(java: str, spark: str) -> Classes:
    """The archive of a Java and a Spark: there already, to be written by this run, or neither."""
    name = blake2b(repr((java, spark)).encode(), digest_size=8).hexdigest()
    home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = Path(home, "thence")
    whole, part, noted = (folder / f"{name}.{ending}" for ending in ("jsa", "jsa-part", "jsa-noted"))
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if noted.exists() and _is_settled(part):
            part.rename(whole)
            noted.unlink()
        if whole.exists():
            return Classes(f'{_TOLERANT} "-XX:SharedArchiveFile={whole}"')
        if _age(claim := folder / f"{name}.jsa-begun") > _KEPT_BACK:
            for path in (claim, part, noted):
                path.unlink(missing_ok=True)
        claim.touch(exist_ok=False)  # one at a time
    except OSError:
        return Classes()
    return Classes(f'{_TOLERANT} "-XX:ArchiveClassesAtExit={part}"', noted)


def _is_settled(part: Path) -> bool:
    return part.exists() and part.stat().st_size > 0 and _age(part) > _SETTLED


def _age(path: Path) -> float:
    """Seconds since something was written there; 0 if there is nothing."""
    return time.time() - path.stat().st_mtime if path.exists() else 0.0
