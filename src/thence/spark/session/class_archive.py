"""A class data archive for Java: Spark starts in two thirds of the time with it.

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

_KEPT_BACK = 3600.0
"""Seconds after which who began to write an archive is thought to have been ended meanwhile."""

_SETTLED = 3.0
"""Seconds since the last byte after which Java no longer writes: it writes at once what it has put together."""

_KEPT = 3
"""Archives that are kept, of other versions and other environments: each has some 160 MB."""

_TOLERANT = "-XX:+IgnoreUnrecognizedVMOptions"


@dataclass(frozen=True, slots=True)
class ClassArchive:
    """The options of Java for an archive of classes, and what a run says of it at its end."""

    option: str = ""
    _noted: Path | None = None
    _claim: Path | None = None

    def worthwhile(self) -> None:
        """What is being written has the classes of a whole run."""
        if self._noted is not None:
            with suppress(OSError):
                self._noted.touch()

    def given_up(self) -> None:
        """Nothing will be written: another run may."""
        if self._claim is not None:
            with suppress(OSError):
                self._claim.unlink(missing_ok=True)


def class_archive(java: str, spark: str) -> ClassArchive:
    """The archive of a Java and a Spark: there already, to be written by this run, or neither."""
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
    """Take for an archive what a run that ended well has had written whole; of many archives, the newest stay."""
    for part in folder.glob(f"{whole.stem}-*.jsa-part"):
        if _noted_of(part).exists() and _is_whole(part):
            part.rename(whole)
            _noted_of(part).unlink()
            for old in sorted(folder.glob("*.jsa"), key=_age)[_KEPT:]:
                old.unlink(missing_ok=True)


def _noted_of(part: Path) -> Path:
    return part.with_suffix(".jsa-noted")


def _is_whole(part: Path) -> bool:
    """Whether Java has written all of it: its first bytes come last."""
    if _age(part) < _SETTLED:
        return False
    with part.open("rb") as file:
        return any(file.read(4))


def _age(path: Path) -> float:
    """Seconds since something was written there."""
    return time.time() - path.stat().st_mtime
