"""From a parse tree to the algebra: a method for each rule, called from the leaves up."""

from __future__ import annotations

from typing import Any

from lark import Token, Tree

from thence.errors import QueryError
from thence.lang.text import Text
from thence.lang.words import name


class TreeReader:
    """Calls, for each rule of a tree, the method of its name with what the rule's parts gave; a token gives itself.

    A language's reader subclasses the reader of the language that its grammar imports.
    """

    def __init__(self, text: Text) -> None:
        self.text = text
        self.here = 0  # where the rule in hand begins

    def read(self, tree: Tree[Token]) -> Any:
        """What the tree means. Not recursive: how deep a tree is must not matter here."""
        results: list[Any] = []
        waiting: list[tuple[Tree[Token] | Token, bool]] = [(tree, False)]
        while waiting:
            node, parts_are_read = waiting.pop()
            if isinstance(node, Token):
                results.append(node)
            elif parts_are_read:
                first = len(results) - len(node.children)
                results[first:] = [self._reduce(node, results[first:])]
            else:
                waiting.append((node, True))
                waiting.extend((child, False) for child in reversed(node.children))
        return results[0]

    def error(self, reason: str, *, at: int | None = None, hint: str = "") -> QueryError:
        """An error at an offset, or where the rule in hand begins."""
        return self.text.error(reason, self.here if at is None else at, hint=hint)

    def _reduce(self, node: Tree[Token], parts: list[Any]) -> Any:
        if not node.meta.empty:
            self.here = node.meta.start_pos
        return getattr(self, name(node.data))(*parts)
