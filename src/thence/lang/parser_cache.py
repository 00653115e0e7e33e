"""Parsers of grammars, cached on disk: building one takes half a second, loading it a tenth of that.

What is kept is JSON in the user's cache folder, under a name that changes with the grammars and with Lark. It holds
nothing that is run, and where it can't be written or read the parser is made anew.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import lark
from lark import Lark
from lark.grammar import Rule
from lark.lexer import TerminalDef

GRAMMARS = Path(__file__).parent

_UNREADABLE = (OSError, ValueError, KeyError, TypeError, AttributeError, AssertionError, RecursionError)


def parser_of(grammar: Path, starts: list[str]) -> Lark:
    """The parser of a grammar. `%import sparql (…)` finds SPARQL's; only parsers of our own grammars are kept."""
    folder = cache_folder()
    if folder is None or GRAMMARS not in grammar.parents:
        return _made(grammar, starts)
    path = folder / f"{grammar.stem}-{_key(starts)}.json"
    with suppress(*_UNREADABLE):
        return _read(path)
    made = _made(grammar, starts)
    with suppress(OSError):
        _write(path, made)
    return made


def cache_folder() -> Path | None:
    """Where what can be made anew is kept; none, if the user has no home."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(given):
        return Path(given) / "thence"
    try:
        return Path.home() / ".cache" / "thence"
    except RuntimeError:
        return None


def _made(grammar: Path, starts: list[str]) -> Lark:
    return Lark.open(
        str(grammar),
        parser="lalr",
        lexer="contextual",
        start=starts,
        propagate_positions=True,
        import_paths=[str(GRAMMARS / "sparql")],
    )


def _key(starts: list[str]) -> str:
    """Another for other grammars, another Lark, another Python: all of them go into a table."""
    digest = sha256(repr((lark.__version__, sys.version_info[:2], starts)).encode())
    for path in sorted(GRAMMARS.rglob("*.lark")):
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:32]


def _write(path: Path, parser: Lark) -> None:
    data, memo = parser.memo_serialize([TerminalDef, Rule])
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with NamedTemporaryFile("w", dir=path.parent, encoding="utf-8", delete=False) as file:
        json.dump({"data": data, "memo": memo}, file, separators=(",", ":"))
    os.replace(file.name, path)  # whole or not at all, whoever else writes it now
    for old in path.parent.glob(f"{path.name.rpartition('-')[0]}-*.json"):
        if old != path:
            old.unlink(missing_ok=True)


def _read(path: Path) -> Lark:
    kept = json.loads(path.read_bytes())
    table = kept["data"]["parser"]["parser"]
    table["tokens"] = _numbered(table["tokens"])
    table["states"] = {state: _numbered(actions) for state, actions in _numbered(table["states"]).items()}
    parser = Lark.load({"data": kept["data"], "memo": _numbered(kept["memo"])})
    for terminal in parser.terminals:
        terminal.pattern.flags = frozenset(terminal.pattern.flags)  # Lark leaves lists, and asks for subsets
    return parser


def _numbered(items: dict[str, Any]) -> dict[int, Any]:
    """JSON knows no numbers as keys."""
    return {int(key): value for key, value in items.items()}
