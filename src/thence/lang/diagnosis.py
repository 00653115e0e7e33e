"""Turns a parser's failure into a `QueryError` with place, reason and hint."""

from __future__ import annotations

import re
from copy import copy

from lark import Token, UnexpectedInput, UnexpectedToken
from lark.parsers.lalr_interactive_parser import InteractiveParser

from thence.errors import QueryError
from thence.lang.mistakes import MISTAKES, Mistake, ParseFailure, plain
from thence.lang.text import Text
from thence.lang.words import END, NAMES, Words, name

_CHUNK = re.compile(r"[^\W\d]\w*|\d+|\S")


def diagnose(
    text: Text,
    error: UnexpectedInput,
    parser: InteractiveParser,
    opened: list[Token],
    before: Token | None,
    words: Words,
    mistakes: tuple[Mistake, ...] = (),
) -> QueryError:
    """The error that says where and why the parser stopped, and what may cure it; a language's own mistakes first."""
    at, found, kind = _found(text, error)
    failure = ParseFailure(text, at, found, kind, before, _accepted(parser, words), opened, words)
    complaint = next(filter(None, (mistake(failure) for mistake in (*mistakes, *MISTAKES))), plain(failure))
    return text.error(complaint.reason, at if complaint.at is None else complaint.at, hint=complaint.hint)


def _found(text: Text, error: UnexpectedInput) -> tuple[int, str, str]:
    if isinstance(error, UnexpectedToken):
        if error.token.type == END:
            return len(text.read.rstrip()), "", END
        kind = name(error.token.type)
        # a misspelt keyword reads as one of the language's own names, where it has such
        return error.token.start_pos or 0, str(error.token), "" if kind in NAMES else kind
    at = error.pos_in_stream or 0
    chunk = _CHUNK.match(text.read, at)
    return at, chunk[0] if chunk else text.read[at], ""


def _accepted(parser: InteractiveParser, words: Words) -> frozenset[str]:
    """The terminals that lead on: tried one by one, since a state's table also has those that fail a step later."""
    without_callbacks = copy(parser.parser_state.parse_conf)
    without_callbacks.callbacks = {}
    accepted = set()
    for terminal in words.terminals.intersection(parser.choices()):  # type: ignore[no-untyped-call]
        trial = parser.copy(deepcopy_values=False)  # type: ignore[no-untyped-call]
        trial.parser_state.parse_conf = without_callbacks
        try:
            trial.feed_token(Token(terminal, ""))
        except UnexpectedToken:
            continue
        accepted.add(name(terminal))
    return frozenset(accepted)
