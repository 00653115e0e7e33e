"""Sequence expressions as the papers write them, read into the oracle's terms: `read("A; (B & C)+, D!")`."""

from __future__ import annotations

import re
from collections.abc import Callable

from oracle.spaseq_query import Conjunction, Disjunction, Group, Part, Selection, Unary, Use

_TOKEN = re.compile(r"\w+|\S")


def read(text: str) -> tuple[tuple[Part, ...], tuple[Selection, ...]]:
    """Its parts and the operators between them. `, ; :` bind loosest, then `|`, then `&`, then `+ ? !`.

    >>> parts, selections = read("A; B | C & D+")
    Traceback (most recent call last):
    ValueError: unexpected + in A; B | C & D+
    >>> parts, selections = read("A; B+, C")
    >>> [part.unary.value for part in parts], [selection.value for selection in selections]
    (['', '+', ''], [';', ','])
    """
    return _Reader(text).sequence()


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _TOKEN.findall(text)[::-1]

    def sequence(self) -> tuple[tuple[Part, ...], tuple[Selection, ...]]:
        parts, selections = [self.part()], []
        while self.tokens:
            if self.tokens[-1] not in ",;:":
                raise ValueError(f"unexpected {self.tokens[-1]} in {self.text}")
            selections.append(Selection(self.tokens.pop()))
            parts.append(self.part())
        return tuple(parts), tuple(selections)

    def part(self) -> Part:
        group = self.disjunction()
        single = isinstance(group, Use) or self.closed
        return Part(group, Unary(self.tokens.pop())) if single and self.at("+", "?", "!") else Part(group)

    def disjunction(self) -> Group:
        return self.chain("|", Disjunction, self.conjunction)

    def conjunction(self) -> Group:
        return self.chain("&", Conjunction, self.operand)

    def chain(self, sign: str, node: Callable[[Group, Group], Group], operand: Callable[[], Group]) -> Group:
        found = operand()
        while self.at(sign):
            self.tokens.pop()
            found = node(found, operand())
            self.closed = False
        return found

    def operand(self) -> Group:
        self.closed = False
        token = self.tokens.pop()
        if token != "(":
            return Use(token)
        found = self.disjunction()
        if not self.at(")"):
            raise ValueError(f"a parenthesis stays open in {self.text}")
        self.tokens.pop()
        self.closed = True
        return found

    def at(self, *signs: str) -> bool:
        return bool(self.tokens) and self.tokens[-1] in signs
