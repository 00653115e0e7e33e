"""The jobs of examples/tables: their queries, files and options, as the first lines of each query give them."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TABLES = Path(__file__).parents[2] / "examples" / "tables"


@dataclass(frozen=True)
class TableJob:
    """A query, the files of its streams, and the options of its command as those of `match`."""

    name: str
    command: tuple[str, ...]
    files: dict[str, Path]
    options: dict[str, Any]

    @property
    def query(self) -> Path:
        return TABLES / f"{self.name}.sase"

    @property
    def expected(self) -> list[Any]:
        lines = (TABLES / f"{self.name}.expected.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]


def table_jobs() -> dict[str, TableJob]:
    return {path.stem: _job(path) for path in sorted(TABLES.glob("*.sase"))}


def _job(path: Path) -> TableJob:
    call = next(line for line in path.read_text(encoding="utf-8").splitlines() if line.startswith("# thence run "))
    command = tuple(shlex.split(call.removeprefix("# thence ")))
    files: dict[str, Path] = {}
    options: dict[str, Any] = {}
    for option, value in zip(command[2::2], command[3::2], strict=True):
        name, equals, rest = value.partition("=")
        match option:
            case "--stream":
                files[name if equals else ""] = TABLES / (rest if equals else value)
            case "--column":
                options.setdefault("columns", {})[name] = rest
            case "--type":
                options.setdefault("types", {})[name] = rest
            case "--order":
                options["order"] = tuple(value.split(","))
            case _:
                options[option.removeprefix("--").replace("-", "_")] = value
    return TableJob(path.stem, command, files, options)
