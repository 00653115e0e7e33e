"""What a parser's failure means to the person who wrote the query."""

from __future__ import annotations

import re
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from difflib import get_close_matches

from lark import Token, UnexpectedInput, UnexpectedToken
from lark.parsers.lalr_interactive_parser import InteractiveParser

from thence.errors import QueryError
from thence.lang.text import Text
from thence.lang.words import AND, END, FUNCTIONS, IRIS, TERMS, Words, name

CLOSING = {"{": "}", "(": ")", "[": "]"}

_CHUNK = re.compile(r"[^\W\d]\w*|\d+|\S", re.UNICODE)
_WORD = re.compile(r"[^\W\d]\w*")
_UPDATES = frozenset(["INSERT", "DELETE", "LOAD", "CLEAR", "DROP", "CREATE", "ADD", "MOVE", "COPY", "WITH"])
_SPELLED_OUT = {"AND": "&&", "OR": "||", "NOT": "!"}
_ESCAPE = re.compile(r"\\([^tbnrf\"'\\])")
_IN_IRI = re.compile(r"[<>\"{}|^`\\\x00-\x20]")
_LONGEST = 40


@dataclass(frozen=True, slots=True)
class Failure:
    """Where reading stopped, and what is known about it."""

    text: Text
    at: int
    found: str  # the token, word or character; nothing at the end
    kind: str  # the token's terminal; nothing if it is no token
    before: Token | None
    accepted: frozenset[str]  # the terminals that could stand there
    opened: list[Token]  # the brackets that are still open, the innermost last
    words: Words

    @property
    def word(self) -> str:
        """What was found, in upper case, if it is a word."""
        return self.found.upper() if _WORD.fullmatch(self.found) else ""

    @property
    def shown(self) -> str:
        """What was found, in quotes."""
        return f'"{self.found[:_LONGEST]}{"…" if len(self.found) > _LONGEST else ""}"'

    @property
    def expected(self) -> str:
        return self.words.expected(self.accepted)

    def place(self, token: Token) -> str:
        place = self.text.place(token.start_pos or 0)
        return f"{place.line}:{place.column}"


Complaint = tuple[str, str]
"""A reason and a hint."""


def complain(
    text: Text,
    error: UnexpectedInput,
    parser: InteractiveParser,
    opened: list[Token],
    before: Token | None,
    words: Words,
) -> QueryError:
    """The error that says where and why the parser stopped, and what may cure it."""
    at, found, kind = _found(text, error)
    failure = Failure(text, at, found, kind, before, _accepted(parser, words), opened, words)
    reason, hint = next(filter(None, (complaint(failure) for complaint in COMPLAINTS)), _plain(failure))
    return text.error(reason, at, hint=hint)


def _found(text: Text, error: UnexpectedInput) -> tuple[int, str, str]:
    if isinstance(error, UnexpectedToken):
        if error.token.type == END:
            return len(text.read.rstrip()), "", END
        return error.token.start_pos or 0, str(error.token), name(error.token.type)
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


# One mistake, one function: the reason and the hint, or None where it is not this mistake.


def _update(failure: Failure) -> Complaint | None:
    if failure.word in _UPDATES and "_SELECT" in failure.accepted and "_ASK" in failure.accepted:
        return f"{failure.word} changes data; a query only reads it.", "SELECT, CONSTRUCT, ASK or DESCRIBE"
    return None


def _end(failure: Failure) -> Complaint | None:
    if failure.kind != END:
        return None
    if failure.opened:
        innermost = failure.opened[-1]
        return f'The "{innermost}" at {failure.place(innermost)} is never closed.', CLOSING[innermost]
    return f"Expected {failure.expected}, found the end of the text.", failure.words.only(failure.accepted)


def _bracket(failure: Failure) -> Complaint | None:
    if failure.found not in CLOSING.values():
        return None
    if all(CLOSING[bracket] != failure.found for bracket in failure.opened):
        return f"This {failure.shown} closes nothing.", ""
    innermost = failure.opened[-1]
    if failure.found == CLOSING[innermost]:
        return None
    reason = f'Found {failure.shown}, but the "{innermost}" at {failure.place(innermost)} is still open.'
    return reason, CLOSING[innermost]


def _long_string(failure: Failure) -> Complaint | None:
    """Three quotes that no other three close are read as an empty string and the beginning of a second one."""
    empty = failure.before is not None and failure.before in ('""', "''") and failure.before.end_pos == failure.at
    if not empty or not failure.found.startswith(str(failure.before)[0]):
        return None
    return "The string that begins here is never closed.", str(failure.before)[0] * 3


def _string(failure: Failure) -> Complaint | None:
    if failure.found not in ('"', "'"):
        return None
    quote, rest = failure.found, failure.text.read[failure.at + 1 :]
    closed = re.match(rf"(?:[^{quote}\\\r\n]|\\.)*+{quote}", rest)
    if closed is None:
        return "The string that begins here is not closed on its line.", f"{quote * 3} around a text of several lines"
    wrong = _ESCAPE.search(closed[0])
    character = wrong[1] if wrong else ""
    return f'A string can\'t have "\\{character}" in it.', f"\\\\{character} for a backslash"


def _iri(failure: Failure) -> Complaint | None:
    if failure.found != "<" or not failure.accepted & IRIS:
        return None
    wrong = _IN_IRI.search(failure.text.read, failure.at + 1)
    if wrong is None:
        return 'The IRI that begins here has no ">".', ""
    named = {" ": "a space", "\n": "a line break", "\r": "a line break", "\t": "a tab"}.get(wrong[0], f'"{wrong[0]}"')
    return f"An IRI can't have {named} in it.", ""


def _operator(failure: Failure) -> Complaint | None:
    if AND not in failure.accepted and "EQUAL" not in failure.accepted:
        if failure.found == "=" and failure.before == "=":
            return 'Equality is written with one "=".', "="
        return None
    if failure.word in _SPELLED_OUT:
        return f"{failure.shown} is no operator.", _SPELLED_OUT[failure.word]
    if failure.found == "<>":
        return '"<>" is no operator.', "!="
    if failure.kind == "IRIREF":
        return f"{failure.shown} reads as an IRI.", 'spaces around "<"'
    return None


def _filter(failure: Failure) -> Complaint | None:
    if failure.before is not None and name(failure.before.type) == "_FILTER" and failure.kind in TERMS:
        return f"FILTER needs parentheses around its condition, found {failure.shown}.", f"FILTER({failure.found} …)"
    return None


def _column(failure: Failure) -> Complaint | None:
    in_select = {"VAR1", "LPAR"} <= failure.accepted and not failure.accepted & IRIS
    if in_select and failure.found == "," and "_WHERE" in failure.accepted:
        return "The columns of SELECT are parted by spaces, without commas.", "SELECT ?a ?b"
    if in_select and failure.kind in FUNCTIONS:
        return "An expression in SELECT needs parentheses and a name.", f"({failure.found.upper()}(…) AS ?name)"
    return None


def _name(failure: Failure) -> Complaint | None:
    if failure.found == ")" and "_AS" in failure.accepted and "RPAR" not in failure.accepted:
        return "An expression needs a name here.", "AS ?name)"
    return None


def _misspelt(failure: Failure) -> Complaint | None:
    if not failure.word or failure.kind:
        return None
    close = get_close_matches(failure.word, failure.words.keywords(failure.accepted), n=1, cutoff=0.8)
    if close:
        return f"{failure.shown} is not known here.", close[0]
    if "FUNCTION_1" in failure.accepted and failure.text.read.startswith("(", failure.at + len(failure.found)):
        return f"{failure.shown} is no known function.", f"an IRI for one of your own, as in ex:{failure.found}(…)"
    if failure.accepted == {"PNAME_NS"}:
        return 'A prefix ends with ":".', f"{failure.found}:"
    if failure.accepted & IRIS:
        return f"{failure.shown} is neither a keyword nor a term.", f"?{failure.found} or :{failure.found}"
    return None


def _union(failure: Failure) -> Complaint | None:
    if failure.kind == "_UNION":
        return "UNION stands between two groups.", "{ … } UNION { … }"
    return None


def _dot(failure: Failure) -> Complaint | None:
    if {"DOT", "SEMICOLON"} <= failure.accepted and failure.kind in TERMS:
        return f'A "." is missing between two triple patterns, before {failure.shown}.', f". {failure.found}"
    return None


def _plain(failure: Failure) -> Complaint:
    return f"Expected {failure.expected}, found {failure.shown}.", failure.words.only(failure.accepted)


COMPLAINTS: tuple[Callable[[Failure], Complaint | None], ...] = (
    _update,  # before the misspelt words: COPY is not a bad spelling of something
    _end,
    _bracket,  # before all that looks at what is expected: after a wrong bracket that misleads
    _long_string,
    _string,
    _iri,
    _operator,
    _filter,
    _column,
    _name,
    _misspelt,
    _union,
    _dot,
)
