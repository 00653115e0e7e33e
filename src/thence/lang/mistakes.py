"""Common mistakes in queries: how each is recognised, its message and hint; a parser's failure as a `QueryError`."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from copy import copy
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TypeAlias

from lark import Token, UnexpectedInput, UnexpectedToken
from lark.parsers.lalr_interactive_parser import InteractiveParser

from thence.errors import QueryError, closest
from thence.lang.text import END, FUNCTIONS, IRIS, NAMES, TERMS, Text, Words, name

CLOSING = {"{": "}", "(": ")", "[": "]"}

_WORD = re.compile(r"[^\W\d]\w*")
_UPDATES = frozenset({"INSERT", "DELETE", "LOAD", "CLEAR", "DROP", "CREATE", "ADD", "MOVE", "COPY", "WITH"})
_SPELLED_OUT = {"AND": "&&", "OR": "||", "NOT": "!"}
_ESCAPE = re.compile(r"\\(.)")
_IN_IRI = re.compile(r"[<>\"{}|^`\\\x00-\x20]")
_LONGEST = 40


@dataclass(frozen=True, slots=True)
class ParseFailure:
    """The place where the parser stopped, and the facts known about it."""

    text: Text
    at: int
    found: str  # the token, word or character; nothing at the end
    kind: str  # the token's terminal; nothing if it is not a token
    before: Token | None
    accepted: frozenset[str]  # the terminals that could stand there
    opened: list[Token]  # the brackets that are still open, the innermost last
    words: Words

    @property
    def word(self) -> str:
        """The found text in upper case, if it is a word of sensible length."""
        return self.found.upper() if len(self.found) <= _LONGEST and _WORD.fullmatch(self.found) else ""

    @property
    def short(self) -> str:
        """The found text, shortened for a message."""
        return self.found if len(self.found) <= _LONGEST else f"{self.found[:_LONGEST]}…"

    @property
    def shown(self) -> str:
        return f'"{self.short}"'

    @property
    def described(self) -> str:
        """The found text in quotes, or "the end of the text"."""
        return self.shown if self.found else "the end of the text"

    @property
    def expected(self) -> str:
        return self.words.expected(self.accepted)

    def follows(self, terminal: str) -> bool:
        """Whether it stands directly after such a token."""
        return self.before is not None and name(self.before.type) == terminal

    def place(self, token: Token) -> str:
        place = self.text.place(token.start_pos or 0)
        return f"{place.line}:{place.column}"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The reason, the hint, and the place, if it is not where the parser stopped."""

    reason: str
    hint: str = ""
    at: int | None = None


Mistake: TypeAlias = Callable[[ParseFailure], Diagnosis | None]


def similar(word: str, known: Collection[str]) -> str:
    """The keyword of which the word is a bad spelling, or nothing; letters that changed places count as one mistake.

    >>> similar("SELCET", ["SELECT", "ASK"]), similar("ASK", ["SELECT", "ASK"])
    ('SELECT', '')
    """
    upper = word.upper()
    if upper in known or not word or len(word) > _LONGEST:
        return ""
    swapped = (each for each in known if sorted(each) == sorted(upper))
    return next(swapped, "") or next(iter(get_close_matches(upper, known, n=1, cutoff=0.8)), "")


# One mistake, one function: the reason and the hint, or None where it is not this mistake.


def _update(failure: ParseFailure) -> Diagnosis | None:
    if failure.word in _UPDATES and "_SELECT" in failure.accepted and "_DESCRIBE" in failure.accepted:
        return Diagnosis(f"{failure.word} changes data; a query only reads it.", "SELECT, CONSTRUCT, ASK or DESCRIBE")
    return None


def _end(failure: ParseFailure) -> Diagnosis | None:
    if failure.kind != END:
        return None
    if failure.opened:
        innermost = failure.opened[-1]
        return Diagnosis(f'The "{innermost}" at {failure.place(innermost)} is never closed.', CLOSING[innermost])
    return Diagnosis(f"Expected {failure.expected}, found the end of the text.", failure.words.only(failure.accepted))


def _bracket(failure: ParseFailure) -> Diagnosis | None:
    if failure.found not in CLOSING.values():
        return None
    if all(CLOSING[bracket] != failure.found for bracket in failure.opened):
        return Diagnosis(f"This {failure.shown} has no opening bracket.")
    innermost = failure.opened[-1]
    if failure.found == CLOSING[innermost]:
        return None
    reason = f'Found {failure.shown}, but the "{innermost}" at {failure.place(innermost)} is still open.'
    return Diagnosis(reason, CLOSING[innermost])


def _long_string(failure: ParseFailure) -> Diagnosis | None:
    """Three quotes that no other three close are read as an empty string and the beginning of a second one."""
    before = failure.before
    if before is None or before not in ('""', "''") or before.end_pos != failure.at:
        return None
    if not failure.found.startswith(before[0]):
        return None
    return Diagnosis("The string that begins here is never closed.", before[0] * 3, at=before.start_pos)


def _string(failure: ParseFailure) -> Diagnosis | None:
    if failure.found not in ('"', "'"):
        return None
    quote, rest = failure.found, failure.text.read[failure.at + 1 :]
    closed = re.match(rf"(?:[^{quote}\\\r\n]|\\.)*+{quote}", rest)
    if closed is None:
        return Diagnosis("The string that begins here is not closed on its line.", f"{quote * 3} around several lines")
    escaped = (found[1] for found in _ESCAPE.finditer(closed[0]))
    character = next((character for character in escaped if character not in "tbnrf\"'\\"), "")
    return Diagnosis(f'A string can\'t have "\\{character}" in it.', f"\\\\{character} for a backslash")


def _iri(failure: ParseFailure) -> Diagnosis | None:
    if failure.found != "<" or not failure.accepted & IRIS:
        return None
    wrong = _IN_IRI.search(failure.text.read, failure.at + 1)
    if wrong is None:
        return Diagnosis('The IRI that begins here has no ">".')
    named = {" ": "a space", "\n": "a line break", "\r": "a line break", "\t": "a tab"}.get(wrong[0], f'"{wrong[0]}"')
    return Diagnosis(f"An IRI can't have {named} in it.")


def _namespace(failure: ParseFailure) -> Diagnosis | None:
    if failure.accepted == {"IRIREF"} and failure.kind in IRIS:
        return Diagnosis(
            f"A namespace is written in angle brackets, found {failure.described}.", "<http://example.org/>"
        )
    return None


def _operator(failure: ParseFailure) -> Diagnosis | None:
    if "LOGICAL_AND" not in failure.accepted and "EQUAL" not in failure.accepted:
        if failure.found == "=" and failure.before == "=":
            return Diagnosis('Equality is written with one "=".', "=")
        return None
    if failure.word in _SPELLED_OUT:
        return Diagnosis(f"{failure.shown} is not an operator.", _SPELLED_OUT[failure.word])
    if failure.found == "<>":
        return Diagnosis('"<>" is not an operator.', "!=")
    if failure.kind == "IRIREF":
        return Diagnosis(f"{failure.shown} reads as an IRI.", 'spaces around "<"')
    return None


def _filter(failure: ParseFailure) -> Diagnosis | None:
    if failure.before is not None and name(failure.before.type) == "_FILTER" and failure.kind in TERMS:
        return Diagnosis(
            f"FILTER needs parentheses around its condition, found {failure.shown}.", f"FILTER({failure.short} …)"
        )
    return None


def _column(failure: ParseFailure) -> Diagnosis | None:
    in_select = {"VAR1", "LPAR"} <= failure.accepted and not failure.accepted & IRIS
    if in_select and failure.found == "," and "_WHERE" in failure.accepted:
        return Diagnosis("The columns of SELECT are separated by spaces, without commas.", "SELECT ?a ?b")
    if in_select and failure.kind in FUNCTIONS:
        return Diagnosis(
            "An expression in SELECT needs parentheses and a name.", f"({failure.found.upper()}(…) AS ?name)"
        )
    return None


def _name(failure: ParseFailure) -> Diagnosis | None:
    if failure.found == ")" and "_AS" in failure.accepted and "RPAR" not in failure.accepted:
        return Diagnosis("An expression needs a name here.", "AS ?name)")
    return None


def _glued(failure: ParseFailure) -> Diagnosis | None:
    known = {*failure.words.keywords(failure.words.spellings)}
    for keyword in failure.words.keywords(failure.accepted):
        rest = failure.word.removeprefix(keyword)
        if not failure.kind and rest != failure.word and (rest in known or rest.isdecimal()):
            return Diagnosis(f"A space is missing after {keyword}.", f"{keyword} {rest}")
    return None


def _misspelt(failure: ParseFailure) -> Diagnosis | None:
    if not failure.word or failure.kind:
        return None
    close = get_close_matches(failure.word, failure.words.keywords(failure.accepted), n=1, cutoff=0.8)
    if close:
        return Diagnosis(f"{failure.shown} is not known here.", close[0])
    if "FUNCTION_1" in failure.accepted and failure.text.read.startswith("(", failure.at + len(failure.found)):
        return Diagnosis(
            f"{failure.shown} is not a known function.", f"an IRI for one of your own, as in ex:{failure.short}(…)"
        )
    if failure.accepted == {"PNAME_NS"}:
        return Diagnosis('A prefix ends with ":".', f"{failure.short}:")
    if failure.accepted & IRIS:
        return Diagnosis(f"{failure.shown} is neither a keyword nor a term.", f"?{failure.short} or :{failure.short}")
    return None


def _union(failure: ParseFailure) -> Diagnosis | None:
    if failure.kind == "_UNION":
        return Diagnosis("UNION belongs between two groups.", "{ … } UNION { … }")
    return None


def _dot(failure: ParseFailure) -> Diagnosis | None:
    if {"DOT", "SEMICOLON"} <= failure.accepted and failure.kind in TERMS:
        return Diagnosis(f'A "." is missing between two triple patterns, before {failure.shown}.', f". {failure.short}")
    return None


def plain(failure: ParseFailure) -> Diagnosis:
    """The diagnosis if no mistake is recognised."""
    return Diagnosis(f"Expected {failure.expected}, found {failure.shown}.", failure.words.only(failure.accepted))


MISTAKES: tuple[Mistake, ...] = (
    _update,  # before the misspelt words: COPY is not a bad spelling of something
    _end,
    _bracket,  # before all that looks at what is expected: after a wrong bracket that misleads
    _long_string,
    _string,
    _iri,
    _namespace,
    _operator,
    _filter,
    _column,
    _name,
    _glued,
    _misspelt,
    _union,
    _dot,
)


def still_open(failure: ParseFailure, begins: Collection[str]) -> Diagnosis | None:
    """The next clause or statement begins, with one of these terminals, and a bracket is open."""
    if not failure.opened or failure.kind not in begins:
        return None
    innermost = failure.opened[-1]
    reason = f'The "{innermost}" at {failure.place(innermost)} is not closed before {failure.word}.'
    return Diagnosis(reason, CLOSING[innermost])


_UNITS = "SECONDS, MINUTES, HOURS, DAYS or TICKS"


def duration(failure: ParseFailure) -> Diagnosis | None:
    if failure.follows("_WITHIN"):
        return Diagnosis(f"WITHIN needs a duration, found {failure.described}.", "WITHIN 10 MINUTES")
    return None


def unit(failure: ParseFailure) -> Diagnosis | None:
    if "UNIT" not in failure.accepted or not failure.word:
        return None
    if closest(failure.word, failure.words.keywords(failure.accepted)):
        return None  # a keyword, misspelt
    return Diagnosis(f"{failure.shown} is not a unit of time.", _UNITS)


# Turns a parser's failure into a `QueryError` with place, reason and hint.

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
