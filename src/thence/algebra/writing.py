"""Text from a tree without recursion: a node gives pieces of text, and what is still to be written, in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from thence.algebra.patterns import Pattern


class Layout(Enum):
    LINE = auto()
    INDENT = auto()
    DEDENT = auto()


@dataclass(frozen=True, slots=True)
class Group:
    """A pattern between braces: patterns hold expressions, and expressions (EXISTS) such groups."""

    pattern: Pattern


Item: TypeAlias = "str | Layout | Group | Callable[[], Sequence[Item]]"


def write(items: Sequence[Item], group: Callable[[Pattern], Sequence[Item]]) -> str:
    """The text of the items; `group` writes a group's braces and what stands between them."""
    written: list[str] = []
    indent = 0
    waiting = list(reversed(items))
    while waiting:
        match waiting.pop():
            case str() as piece:
                written.append(piece)
            case Layout.LINE:
                written.append("\n" + "  " * indent)
            case Layout.INDENT:
                indent += 1
            case Layout.DEDENT:
                indent -= 1
            case Group(pattern):
                waiting.extend(reversed(group(pattern)))
            case later:
                waiting.extend(reversed(later()))
    return "".join(written)


def separated(separator: str, items: Sequence[Item]) -> list[Item]:
    """The items with a separator between each two."""
    pieces: list[Item] = []
    for item in items:
        pieces += [separator, item]
    return pieces[1:]


def on_lines(lines: Sequence[Sequence[Item]]) -> list[Item]:
    """The items of each line, on lines of their own."""
    items: list[Item] = []
    for line in lines:
        items += [Layout.LINE, *line]
    return items[1:]
