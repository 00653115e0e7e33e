"""From a grammar file to a parse tree, without recursion, and within limits."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

from lark import Lark, Token, Tree, UnexpectedInput

from thence.lang.complaints import complain
from thence.lang.text import Text

_CLOSING = {"{": "}", "(": ")", "[": "]"}


class Syntax:
    """A language's grammar, made into a parser when first needed and kept."""

    def __init__(self, grammar: str, *starts: str) -> None:
        self._path = Path(__file__).with_name(grammar)
        self._starts = list(starts)

    @cached_property
    def _lark(self) -> Lark:
        return Lark.open(
            str(self._path), parser="lalr", lexer="contextual", start=self._starts, propagate_positions=True
        )

    def parse(self, text: Text, start: str, *, nesting: int) -> Tree[Token]:
        """The tree of a text. Brackets are counted as they are read: a million of them end at the first too many."""
        parser = self._lark.parse_interactive(text.read, start=start)
        opened: list[Token] = []
        last = None
        try:
            for last in parser.iter_parse():
                if last in _CLOSING:
                    opened.append(last)
                    if len(opened) > nesting:
                        raise text.error(f"Brackets are nested deeper than {nesting} levels.", offset(last))
                elif opened and last == _CLOSING[opened[-1]]:
                    opened.pop()
            tree: Tree[Token] = parser.feed_eof(last)  # type: ignore[no-untyped-call]
        except UnexpectedInput as error:
            raise complain(text, error, parser, opened) from None
        return tree


def name(mangled: str) -> str:
    """A rule's or terminal's own name: in a grammar that imports it, `var` may be `sparql__var`."""
    return mangled.rpartition("__")[2]


def offset(token: Any) -> int:
    """Where a token begins in the text that was read."""
    return token.start_pos or 0
