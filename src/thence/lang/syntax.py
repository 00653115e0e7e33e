"""From a grammar file to a parse tree, without recursion, and within limits."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

from lark import Lark, Token, Tree, UnexpectedInput

from thence.lang.diagnosis import diagnose
from thence.lang.long_chains import LongChains
from thence.lang.mistakes import CLOSING, Mistake
from thence.lang.parser_cache import GRAMMARS, parser_of
from thence.lang.text import Text
from thence.lang.words import Words, words_of

__all__ = ["GRAMMARS", "Syntax", "offset"]


class Syntax:
    """A language's grammar, made into a parser when first needed and kept.

    A grammar may stand anywhere; `%import sparql (…)` finds those that stand beside this file. `mistakes` are those
    that only this language knows.
    """

    def __init__(self, grammar: Path, *starts: str, mistakes: tuple[Mistake, ...] = ()) -> None:
        self._grammar = grammar
        self._starts = list(starts)
        self._mistakes = mistakes

    @cached_property
    def _lark(self) -> Lark:
        return parser_of(self._grammar, self._starts)

    @cached_property
    def _words(self) -> Words:
        return words_of(self._lark.terminals)

    def parse(self, text: Text, start: str, *, nesting: int) -> Tree[Token]:
        """The tree of a text. Brackets and chains are counted as they are read: a million of them end at the first too
        many, or soon after."""
        parser = self._lark.parse_interactive(text.read, start=start)
        opened: list[Token] = []
        chains = LongChains(text)
        before = token = None
        try:
            for token in parser.lexer_thread.lex(parser.parser_state):  # type: ignore[no-untyped-call]
                parser.feed_token(token)
                before = token
                chains.see(token, parser.parser_state.value_stack)
                if token in CLOSING:
                    opened.append(token)
                    if len(opened) > nesting:
                        raise text.error(f"Brackets are nested deeper than {nesting} levels.", offset(token))
                elif opened and token == CLOSING[opened[-1]]:
                    opened.pop()
            tree: Tree[Token] = parser.feed_eof(before)  # type: ignore[no-untyped-call]
        except UnexpectedInput as error:
            raise diagnose(text, error, parser, opened, before, self._words, self._mistakes) from None
        return tree


def offset(token: Any) -> int:
    """Where a token begins in the text that was read."""
    return token.start_pos or 0
