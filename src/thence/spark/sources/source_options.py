"""The options of `format("thence")`: which files are read (a file, a folder, a glob, a list), and how."""

from __future__ import annotations

import glob
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

from thence.errors import InputError
from thence.rdf.times import Domain
from thence.rdf.typed_events import DEFAULT_NAMESPACE
from thence.spark.sources.file_splits import ending
from thence.spark.sources.source_positions import file_rank

_SPLIT = 64 << 20
_DOMAINS = {"ticks": Domain.TICKS, "datetime": Domain.DATETIME}
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_PATTERN = re.compile(r"[*?\[]")
_KNOWN = ("path", "paths", "stream", "time", "namespace", "split", "files_per_batch", "rank")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file, and how the stream is called in the ids of its events that have none."""

    path: str  # absolute: workers may be elsewhere, and a restart, too
    stream: str
    modified: int  # nanoseconds since 1970
    rank: str  # orders files of one stream: by the paths that were given, and in a folder by name


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """What a caller of `spark.read.format("thence")` has said."""

    paths: tuple[str, ...]
    stream: str | None = None
    time: Domain | None = None
    namespace: str = DEFAULT_NAMESPACE
    split: int = _SPLIT
    files_per_batch: int | None = None
    rank: int = 0  # of the first path

    @classmethod
    def of(cls, given: Mapping[str, str]) -> SourceOptions:
        """Options as Spark has them: all text, their names in lower case.

        >>> SourceOptions.of({"path": "power.nq", "split": "1000"}).split
        1000
        """
        unknown = next((name for name in given if name.lower() not in _KNOWN), None)
        if unknown is not None:
            raise InputError(f'There is no option "{unknown:.80}". Try: {", ".join(_KNOWN[2:])}')
        time = given.get("time")
        if time is not None and time.lower() not in _DOMAINS:
            raise InputError(f'Option time is "{time:.80}". Try: ticks or datetime')
        files = given.get("files_per_batch")
        return cls(
            paths=_paths(given),
            stream=given.get("stream") or None,
            time=_DOMAINS[time.lower()] if time else None,
            namespace=given.get("namespace") or DEFAULT_NAMESPACE,
            split=_positive("split", given.get("split", str(_SPLIT))),
            files_per_batch=None if files is None else _positive("files_per_batch", files),
            rank=_positive("rank", given.get("rank", "1")) - 1,
        )

    def files(self) -> list[SourceFile]:
        """The files that are there now, in the order of paths, and of a folder or a pattern in the order in which they
        were written."""
        several = len(self.paths) > 1
        ranked = enumerate(self.paths, self.rank)
        return [file for rank, path in ranked for file in self._files(path, rank, several)]

    def _files(self, path: str, rank: int, several: bool) -> list[SourceFile]:
        if os.path.isdir(path):
            found = [os.path.join(path, name) for name in sorted(os.listdir(path)) if not name.startswith((".", "_"))]
            folder = next((each for each in found if os.path.isdir(each)), None)
            if folder is not None:
                raise InputError(f'{folder} is a folder in a folder. Try: load("{os.path.join(path, "*", "*")}")')
            return self._listed(found, rank, in_full=several)
        if not os.path.exists(path) and _PATTERN.search(path):
            return self._listed([each for each in sorted(glob.glob(path)) if os.path.isfile(each)], rank, in_full=True)
        if not os.path.exists(path):
            raise InputError(f"{path}: no such file or folder")
        ending(path)
        name = path if several else os.path.basename(path)
        stream = name if self.stream is None else f"{self.stream}/{name}" if several else self.stream
        return [SourceFile(os.path.abspath(path), stream, os.stat(path).st_mtime_ns, file_rank(rank))]

    def _listed(self, paths: list[str], rank: int, *, in_full: bool) -> list[SourceFile]:
        found = []
        for path in paths:
            ending(path)
            name = path if in_full else os.path.basename(path)
            try:
                modified = os.stat(path).st_mtime_ns
            except FileNotFoundError:  # gone since the folder was listed
                continue
            stream = name if self.stream is None else f"{self.stream}/{name}"
            found.append(SourceFile(os.path.abspath(path), stream, modified, file_rank(rank, name)))
        return sorted(found, key=lambda file: (file.modified, file.path))


def _paths(given: Mapping[str, str]) -> tuple[str, ...]:
    listed = [given["path"]] if "path" in given else json.loads(given.get("paths", "[]"))
    if not listed:
        raise InputError('No file is given. Try: load("power.nq"), or a folder, or a list of both')
    return tuple(_local(path) for path in listed)


def _local(path: str) -> str:
    """A path of the file system: `file:` may stand before it."""
    if path.startswith("file:"):
        return re.sub(r"^file:(?://[^/]*)?(?=/)", "", path)
    if _SCHEME.match(path) and not os.path.exists(path):
        raise InputError(
            f"{path} is in no file system of this machine. Try: spark.read.text, and documents made of its "
            "lines in a column value"
        )
    return path


def _positive(name: str, text: str) -> int:
    if not re.fullmatch(r"[0-9]{1,18}", text) or int(text) == 0:
        raise InputError(f'Option {name} is "{text:.80}". Try: a number above 0')
    return int(text)
