"""From a grammar file to a parse tree and on to the algebra, without deep recursion and within limits."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import lark
from lark import Lark, Token, Tree, UnexpectedInput
from lark.grammar import Rule
from lark.lexer import TerminalDef

from thence.algebra.traversal import DEPTH
from thence.errors import QueryError
from thence.lang.mistakes import CLOSING, Mistakes, diagnose
from thence.lang.text import Text, Words, name, words_of

# Chains that would make trees too deep, noticed while a query is read: the rest of a long text is never parsed.
#
# The reader would refuse this as well, once it had the whole tree.

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
    """The reason why a chain is too long, or nothing."""
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


# Parsers of grammars, cached on disk: building one takes half a second, loading it a tenth of that.
#
# The cache is JSON in the user's cache folder, under a name that changes with the grammars and with Lark. It holds
# nothing that is run, and where it can't be written or read the parser is made again.

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
    """The folder for data that can be rebuilt; None if the user has no home."""
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


__all__ = ["GRAMMARS", "Syntax", "offset"]


class Syntax:
    """A language's grammar, made into a parser when first needed and kept.

    A grammar may be anywhere; `%import sparql (…)` finds those that are beside this file. `mistakes` are those
    that only this language knows.
    """

    def __init__(self, grammar: Path, *starts: str, mistakes: Mistakes = ()) -> None:
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
    """The position at which a token begins in the text."""
    return token.start_pos or 0


# From a parse tree to the algebra: a method for each rule, called from the leaves up.


class TreeReader:
    """Calls, for each rule of a tree, the method of its name with what the rule's parts gave; a token gives itself.

    A language's reader subclasses the reader of the language that its grammar imports.
    """

    def __init__(self, text: Text) -> None:
        self.text = text
        self.here = 0  # where the current rule begins

    def read(self, tree: Tree[Token]) -> Any:
        """The meaning of the tree. Not recursive, so a deep tree does no harm."""
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
        """An error at an offset, or where the current rule begins."""
        return self.text.error(reason, self.here if at is None else at, hint=hint)

    def _reduce(self, node: Tree[Token], parts: list[Any]) -> Any:
        if not node.meta.empty:
            self.here = node.meta.start_pos
        return getattr(self, name(node.data))(*parts)
