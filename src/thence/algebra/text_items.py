"""Writes a tree as text without recursion: a node gives texts, and nodes still to be written, in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import TypeAlias

from thence.algebra.patterns import Pattern


class LayoutMark(Enum):
    LINE = auto()
    INDENT = auto()
    DEDENT = auto()


@dataclass(frozen=True, slots=True)
class BracedGroup:
    """A pattern between braces: patterns hold expressions, and expressions (EXISTS) such groups."""

    pattern: Pattern


TextItem: TypeAlias = "str | LayoutMark | BracedGroup | Callable[[], Sequence[TextItem]]"


def write(items: Sequence[TextItem], group: Callable[[Pattern], Sequence[TextItem]]) -> str:
    """The text of the items; `group` writes a group's braces and what is between them."""
    written: list[str] = []
    indent = 0
    waiting = list(reversed(items))
    while waiting:
        match waiting.pop():
            case str() as piece:
                written.append(piece)
            case LayoutMark.LINE:
                written.append("\n" + "  " * indent)
            case LayoutMark.INDENT:
                indent += 1
            case LayoutMark.DEDENT:
                indent -= 1
            case BracedGroup(pattern):
                waiting.extend(reversed(group(pattern)))
            case later:
                waiting.extend(reversed(later()))
    return "".join(written)


def separated(separator: str, items: Sequence[TextItem]) -> list[TextItem]:
    """The items with a separator between each two."""
    pieces: list[TextItem] = []
    for item in items:
        pieces += [separator, item]
    return pieces[1:]


def on_lines(lines: Sequence[Sequence[TextItem]]) -> list[TextItem]:
    """The items of each line, on lines of their own."""
    items: list[TextItem] = []
    for line in lines:
        items += [LayoutMark.LINE, *line]
    return items[1:]
