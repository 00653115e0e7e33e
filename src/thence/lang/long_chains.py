"""Chains that would make trees too deep, noticed while a query is read: the rest of a long text is never parsed.

What is refused here the reader would refuse as well, once it had the whole tree.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from lark import Token, Tree

from thence.algebra.chains import DEPTH
from thence.lang.text import Text

LONG_CHAIN = "{:,} operations in a row; at most " + f"{DEPTH - 1} are allowed."
LONG_GROUP = f"A group may hold at most {DEPTH - 1} of OPTIONAL, MINUS and BIND."
LONG_OPERATORS = f"A group may hold at most {DEPTH - 1} of SEQ, EQUALS, OPTIONALSEQ and EQUALSOPTIONAL."
LONG_LIST = f"A list may hold at most {DEPTH - 1} patterns and expressions."
LONG_INFIX = f"At most {DEPTH - 1} of SEQ, BEFORE, DURING, WITH and WITHOUT may follow one another."
LONG_MATCH = f"A MATCH may hold at most {DEPTH - 1} of SEQ, FIRST and LAST."

# what Lark calls the repeated part of a rule while it grows; with its grammar's name before it, where it was imported
_GROWING = re.compile(r"__(?:\w+__)?(?:additive_expression|multiplicative_expression|signed_term)_star_\d+")
_INFIX = re.compile(r"__infix_star_\d+")
_STACKED = re.compile(r"_(?:\w+__)?(?:OPTIONAL|MINUS|BIND)|OPERATOR|SEQ|SELECTOR")
_BEGINS = re.compile(r"_(?:\w+__)?(?:SELECT|CONSTRUCT)")
_LIMITS = {"OPERATOR": LONG_OPERATORS, "SEQ": LONG_MATCH, "SELECTOR": LONG_MATCH}
_SURELY_TOO_MANY = 2 * DEPTH
"""Children of a chain: an operation has one of them, or two."""


class LongChains:
    """Watches the tokens of one text, each after the parser took it."""

    def __init__(self, text: Text) -> None:
        self._text = text
        # where the content of each open brace begins, and what it holds so far; first, of a WHERE without braces
        self._groups: list[tuple[int, int]] = [(0, 0)]
        self._opens = False  # whether the token before was a brace

    def see(self, token: Token, values: Sequence[Any]) -> None:
        """Refuse the text if this token makes a chain too long. `values` is the parser's stack."""
        if self._opens:
            self._groups.append((token.start_pos or 0, 0))
        self._opens = token == "{"
        if token == "}" and len(self._groups) > 1:
            self._groups.pop()
        elif _STACKED.fullmatch(token.type):
            begin, count = self._groups[-1]
            if count + 1 >= DEPTH:
                raise self._text.error(_LIMITS.get(token.type, LONG_GROUP), begin)
            self._groups[-1] = begin, count + 1
        elif len(self._groups) == 1 and _BEGINS.fullmatch(token.type):
            self._groups[-1] = token.start_pos or 0, 0
        elif len(values) > 2 and (message := _is_too_long(values[-2])):
            raise self._text.error(message, _start(values[-2 if message == LONG_LIST else -3]))


def _is_too_long(value: Tree[Token] | Token) -> str:
    """Why a chain is too long, or nothing."""
    if not isinstance(value, Tree) or len(value.children) <= DEPTH:
        return ""
    if value.data == "_conjunction":
        return LONG_LIST
    if len(value.children) < _SURELY_TOO_MANY:
        return ""
    if _INFIX.fullmatch(value.data):
        return LONG_INFIX
    return LONG_CHAIN.format(DEPTH) if _GROWING.fullmatch(value.data) else ""


def _start(value: Tree[Token] | Token) -> int:
    return (value.meta.start_pos if isinstance(value, Tree) else value.start_pos) or 0
