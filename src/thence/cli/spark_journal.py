"""A journal of the output, kept beside Spark's checkpoint: a run that is killed and restarted writes the rows of each
micro-batch once.

Before a micro-batch's rows are written, the journal notes its number and how long the files are; after they are on the
disk, that it is done. Spark repeats a micro-batch that it does not know to be done: if we know that it is, nothing is
written; else the files are cut to what they were before it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from thence.errors import InputError

NAME = "thence-output.json"


@dataclass(slots=True)
class Journal:
    """Of a checkpoint. `paths` are the files that the run writes; stdout is none, and can't be cut. `kept_for` is what
    it belongs to."""

    folder: Path
    paths: Sequence[Path]
    kept_for: dict[str, Any]
    _known: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path, paths: Sequence[Path], kept_for: dict[str, Any]) -> Journal:
        """The journal of a checkpoint, checked; the files of a new one are emptied."""
        found = cls(folder, [Path(os.path.abspath(path)) for path in paths], kept_for)
        found._known = _read(folder / NAME)
        if found._known:
            found._check()
        return found

    @property
    def is_new(self) -> bool:
        return not self._known

    def begin(self, batch: int) -> bool:
        """Whether the rows of a micro-batch are to be written: now, at the end of the files."""
        last = self._known.get("batch", -1)
        if batch == last and self._known["done"]:
            return False
        if batch == last:
            for path, size in self._known["sizes"].items():
                os.truncate(path, size)
        elif batch < last:
            raise InputError(
                f"{self.folder} is not as it was: micro-batch {batch} comes after {last}. Start over with an empty "
                "checkpoint."
            )
        self._note(batch, done=False)
        return True

    def done(self, batch: int) -> None:
        """All rows of a micro-batch are on the disk."""
        self._note(batch, done=True)

    def _note(self, batch: int, *, done: bool) -> None:
        sizes = {str(path): os.path.getsize(path) if path.exists() else 0 for path in self.paths}
        self._known = {"batch": batch, "done": done, "sizes": sizes, "kept_for": self.kept_for}
        _write(self.folder / NAME, self._known)

    def _check(self) -> None:
        self._check_kept_for(self._known.get("kept_for", {}))
        before, now = sorted(self._known["sizes"]), sorted(map(str, self.paths))
        if before != now:
            names = ", ".join(before) or "stdout"
            raise InputError(
                f"The checkpoint {self.folder} belongs to output to {names}. Go on with that, or start over with an "
                "empty checkpoint."
            )
        for path, size in self._known["sizes"].items():
            if (os.path.getsize(path) if os.path.exists(path) else 0) < size:
                raise InputError(
                    f"{path} is shorter than the checkpoint {self.folder} left it. Put it back, or start over with an "
                    "empty checkpoint."
                )

    def _check_kept_for(self, known: dict[str, Any]) -> None:
        over = "or start over with an empty checkpoint."
        if known.get("query") != self.kept_for["query"]:
            raise InputError(
                f"The checkpoint {self.folder} belongs to another query, or to this one with other options. Give each "
                "query a checkpoint of its own."
            )
        for option in ("shards", "format"):
            before, now = known.get(option), self.kept_for.get(option)
            if None not in (before, now) and before != now:
                raise InputError(
                    f"The checkpoint {self.folder} was written with --{option} {before}, and now it is {now}. "
                    f"Go on with --{option} {before}, {over}"
                )
        before, now = known.get("events"), self.kept_for.get("events")
        if None not in (before, now) and before != now:
            way = "with" if before else "without"
            raise InputError(f"The checkpoint {self.folder} was written {way} --events. Go on {way} it, {over}")


def _read(path: Path) -> dict[str, Any]:
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        raise InputError(f"{path} can't be read. Start over with an empty checkpoint.") from None
    return found


def _write(path: Path, known: dict[str, Any]) -> None:
    """So that either the old or the new one is there, whatever happens."""
    beside = path.with_suffix(".new")
    with open(beside, "w", encoding="utf-8") as file:
        json.dump(known, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)
