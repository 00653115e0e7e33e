"""Mistakes in queries: tables of what was seen and what to say, and a parser's failure as a `QueryError`."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from copy import copy
from dataclasses import dataclass
from difflib import get_close_matches
from operator import contains
from typing import Any, TypeAlias

from lark import Token, UnexpectedInput, UnexpectedToken
from lark.parsers.lalr_interactive_parser import InteractiveParser

from thence.errors import QueryError, closest
from thence.lang.text import END, FUNCTIONS, IRIS, NAMES, TERMS, Text, Words, name

CLOSING = {"{": "}", "(": ")", "[": "]"}

_WORD = re.compile(r"[^\W\d]\w*")
_FIELD = re.compile(r"\{(\w+)\}")
SPELLED_OUT = {"AND": "&&", "OR": "||", "NOT": "!"}
_LONGEST = 40
_NEAR = 300  # characters: a text may have a million


@dataclass(frozen=True, slots=True)
class ParseFailure:
    """The place where the parser stopped, and the facts known about it."""

    text: Text
    at: int
    found: str  # the token, word or character; nothing at the end
    kind: str  # the token's terminal; nothing if it is not a token
    before: Token | None
    accepted: frozenset[str]  # the terminals that could be there
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

    @property
    def only(self) -> str:
        """The one thing that could be there, or nothing."""
        return self.words.only(self.accepted)

    @property
    def innermost(self) -> str:
        """The innermost open bracket and its place."""
        place = self.text.place(self.opened[-1].start_pos or 0)
        return f'"{self.opened[-1]}" at {place.line}:{place.column}'

    @property
    def closers(self) -> list[str]:
        """The brackets that would close the open ones, the innermost last."""
        return [CLOSING[bracket] for bracket in self.opened]

    @property
    def closing(self) -> str:
        return self.closers[-1]

    @property
    def last(self) -> str:
        """The token before, shortened for a message; nothing at the beginning."""
        return "" if self.before is None else self.before[:_LONGEST]

    @property
    def last_at(self) -> int:
        return self.at if self.before is None else self.before.start_pos or 0

    @property
    def touches(self) -> bool:
        """Whether the token before ends where the parser stopped."""
        return self.before is not None and self.before.end_pos == self.at

    @property
    def last_kind(self) -> str:
        """The terminal of the token before."""
        return "" if self.before is None else name(self.before.type)

    @property
    def keywords(self) -> list[str]:
        """The words that could be there."""
        return self.words.keywords(self.accepted)

    def behind(self, pattern: re.Pattern[str], at: int | None = None) -> re.Match[str] | None:
        """The match of the pattern in the text just before the failure, or before another place."""
        end = self.at if at is None else at
        return pattern.search(self.text.read, max(0, end - _NEAR), end)

    def all_behind(self, pattern: re.Pattern[str]) -> list[re.Match[str]]:
        return list(pattern.finditer(self.text.read, max(0, self.at - _NEAR), self.at))

    def ahead(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """The match of the pattern directly after the found text."""
        return pattern.match(self.text.read, self.at + len(self.found))


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The reason, the hint, and the place, if it is not where the parser stopped."""

    reason: str
    hint: str = ""
    at: int | None = None

    @property
    def message(self) -> str:
        return f"{self.reason} Try: {self.hint}"


Names: TypeAlias = str | Collection[str]
"""Several as a collection, or as a text with spaces between."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """What was seen, of which all given fields must hold, and what to say.

    The parser stopped at a text of `found`, a word of `word`, or a token of `kind`. What it says, "reason Try: hint",
    names properties of the failure and groups of `behind` or `ahead`: `{last}` as written, `{LAST}` in upper case.
    """

    says: str
    found: Names = ()
    word: Names = ()
    kind: Names = ()
    bare: bool = False  # and this is a word, but not a token
    last: Names = ()  # the token before, in upper case
    after: Names = ()  # the terminal of the token before
    touches: bool = False  # and nothing is between
    accepts: Names = ()  # terminals that could all be there
    accepts_any: Names = ()  # terminals of which one could be there
    accepts_only: Names = ()  # all terminals that could be there
    rejects: Names = ()  # terminals of which none could be there
    opened: bool | None = None  # whether a bracket is open
    within: str = ""  # the innermost open bracket
    behind: re.Pattern[str] | None = None  # finds something in the text just before
    ahead: re.Pattern[str] | None = None  # matches the text from where the parser stopped
    when: Callable[[ParseFailure], bool] | None = None  # and anything else
    at: str = ""  # the place, if the parser stopped elsewhere: "last", or a group

    def __call__(self, failure: ParseFailure) -> Diagnosis | None:
        if not self._is_seen(failure):
            return None
        match = None
        if self.behind is not None and (match := failure.behind(self.behind)) is None:
            return None
        if self.ahead is not None and (match := failure.ahead(self.ahead)) is None:
            return None
        if self.when is not None and not self.when(failure):
            return None
        at = failure.last_at if self.at == "last" else match.start(self.at) if self.at and match else None
        reason, _, hint = self.says.partition(" Try: ")
        return Diagnosis(_filled(reason, failure, match), _filled(hint, failure, match), at)

    def _is_seen(self, failure: ParseFailure) -> bool:
        """Whether all hold that need neither an expression nor code."""
        stopped_at = _names(self.found), _names(self.word), _names(self.kind)
        return (
            (not any(stopped_at) or any(map(contains, stopped_at, (failure.found, failure.word, failure.kind))))
            and (not self.bare or (failure.word != "" and not failure.kind))
            and (not self.last or failure.last.upper() in _names(self.last))
            and (not self.after or failure.last_kind in _names(self.after))
            and (not self.touches or failure.touches)
            and failure.accepted >= _names(self.accepts)
            and (not self.accepts_any or not failure.accepted.isdisjoint(_names(self.accepts_any)))
            and (not self.accepts_only or failure.accepted == _names(self.accepts_only))
            and failure.accepted.isdisjoint(_names(self.rejects))
            and self.opened in (None, failure.opened != [])
            and (not self.within or failure.opened[-1:] == [self.within])
        )


def _names(names: Names) -> frozenset[str]:
    return frozenset(names.split() if isinstance(names, str) else names)


def _filled(template: str, failure: ParseFailure, match: re.Match[str] | None) -> str:
    def value(field: re.Match[str]) -> str:
        key = field[1].lower()
        is_group = match is not None and key in match.re.groupindex
        text: str = match[key][:_LONGEST] if match is not None and is_group else getattr(failure, key)
        return text.upper() if field[1].isupper() else text

    return _FIELD.sub(value, template)


Mistakes: TypeAlias = tuple[Callable[[ParseFailure], Diagnosis | None], ...]
"""In the order in which they are looked for: rows, and functions where a row is not enough."""


def recognised(failure: ParseFailure, mistakes: Mistakes) -> Diagnosis | None:
    """The message of the first of these mistakes that applies to the failure."""
    return next(filter(None, (mistake(failure) for mistake in mistakes)), None)


def similar(written: str, known: Collection[str]) -> str:
    """The keyword of which this is a bad spelling, or nothing; letters that changed places count as one mistake.

    >>> similar("SELCET", ["SELECT", "ASK"]), similar("ASK", ["SELECT", "ASK"])
    ('SELECT', '')
    """
    upper = written.upper()
    if upper in known or not written or len(written) > _LONGEST:
        return ""
    swapped = (each for each in known if sorted(each) == sorted(upper))
    return next(swapped, "") or next(iter(get_close_matches(upper, known, n=1, cutoff=0.8)), "")


# Rows that the tables of several languages have, each where its order demands.


EQUALITY = 'Equality is written with one "=". Try: ='
STILL_OPEN = "The {innermost} is not closed before {word}. Try: {closing}"
COMMAS_IN_SELECT = "The columns of SELECT are separated by spaces, without commas. Try: SELECT ?a ?b"
NO_COLUMNS = "SELECT names its columns, found {described}. Try: SELECT *"
NO_DOT = 'A "." is missing between two triple patterns, before {shown}. Try: . {short}'
RESERVED = "{shown} is a keyword, not a bare name. Try: :{short}"
DURATION = Mistake(after="_WITHIN", says="WITHIN needs a duration, found {described}. Try: WITHIN 10 MINUTES")
UNIT = Mistake(
    accepts="UNIT",
    when=lambda failure: failure.word != "" and not closest(failure.word, failure.keywords),
    says="{shown} is not a unit of time. Try: SECONDS, MINUTES, HOURS, DAYS or TICKS",
)


def foreign_operators(**where: Any) -> Mistakes:
    """Operators of other languages, after an expression."""
    return (
        *(
            Mistake(word=each, **where, says=f"{{shown}} is not an operator. Try: {SPELLED_OUT[each]}")
            for each in SPELLED_OUT
        ),
        Mistake(found="<>", **where, says='"<>" is not an operator. Try: !='),
        Mistake(kind="IRIREF", **where, says='{shown} reads as an IRI. Try: spaces around "<"'),
    )


def glued(failure: ParseFailure) -> Diagnosis | None:
    """A keyword with the next word directly behind it."""
    known = {*failure.words.keywords(failure.words.spellings)}
    for keyword in failure.keywords:
        rest = failure.word.removeprefix(keyword)
        if not failure.kind and rest != failure.word and (rest in known or rest.isdecimal()):
            return Diagnosis(f"A space is missing after {keyword}.", f"{keyword} {rest}")
    return None


def misspelt(failure: ParseFailure) -> Diagnosis | None:
    """A keyword that could be there, badly spelt."""
    meant = "" if failure.kind else similar(failure.word, failure.keywords)
    return Diagnosis(f"{failure.shown} is not known here.", meant) if meant else None


def _long_string(failure: ParseFailure) -> Diagnosis | None:
    """Three quotes that no other three close are read as an empty string and the beginning of a second one."""
    quotes = failure.last
    if quotes not in ('""', "''") or not failure.touches or not failure.found.startswith(quotes[0]):
        return None
    return Diagnosis("The string that begins here is never closed.", quotes[0] * 3, at=failure.last_at)


_ESCAPE = re.compile(r"\\(.)")


def _string(failure: ParseFailure) -> Diagnosis | None:
    if failure.found not in ('"', "'"):
        return None
    quote, rest = failure.found, failure.text.read[failure.at + 1 :]
    closed = re.match(rf"(?:[^{quote}\\\r\n]|\\.)*+{quote}", rest)
    if closed is None:
        return Diagnosis("The string that begins here is not closed on its line.", f"{quote * 3} around several lines")
    escaped = (match[1] for match in _ESCAPE.finditer(closed[0]))
    character = next((character for character in escaped if character not in "tbnrf\"'\\"), "")
    return Diagnosis(f'A string can\'t have "\\{character}" in it.', f"\\\\{character} for a backslash")


_IN_IRI = re.compile(r"[<>\"{}|^`\\\x00-\x20]")


def _iri(failure: ParseFailure) -> Diagnosis | None:
    if failure.found != "<" or not failure.accepted & IRIS:
        return None
    wrong = _IN_IRI.search(failure.text.read, failure.at + 1)
    if wrong is None:
        return Diagnosis('The IRI that begins here has no ">".')
    named = {" ": "a space", "\n": "a line break", "\r": "a line break", "\t": "a tab"}.get(wrong[0], f'"{wrong[0]}"')
    return Diagnosis(f"An IRI can't have {named} in it.")


# fmt: off
_UPDATES = "INSERT DELETE LOAD CLEAR DROP CREATE ADD MOVE COPY WITH"
_PLAIN = "Expected {expected}, found {described}. Try: {only}"
_CALLED = re.compile(r"\(")

MISTAKES: Mistakes = (
    # before the misspelt words: COPY is not a bad spelling of something
    Mistake(word=_UPDATES, accepts="_SELECT _DESCRIBE",
            says="{word} changes data; a query only reads it. Try: SELECT, CONSTRUCT, ASK or DESCRIBE"),
    Mistake(kind=END, opened=True, says="The {innermost} is never closed. Try: {closing}"),
    Mistake(kind=END, says=_PLAIN),
    # before all rows on expected terminals, which mislead after a wrong bracket
    Mistake(found=CLOSING.values(), when=lambda failure: failure.found not in failure.closers,
            says="This {shown} has no opening bracket."),
    Mistake(found=CLOSING.values(), when=lambda failure: failure.found != failure.closing,
            says="Found {shown}, but the {innermost} is still open. Try: {closing}"),
    _long_string,
    _string,
    _iri,
    Mistake(kind=IRIS, accepts_only="IRIREF",
            says="A namespace is written in angle brackets, found {described}. Try: <http://example.org/>"),
    Mistake(found="=", last="=", rejects="LOGICAL_AND EQUAL", says=EQUALITY),
    *foreign_operators(accepts_any="LOGICAL_AND EQUAL"),
    Mistake(kind=TERMS, after="_FILTER",
            says="FILTER needs parentheses around its condition, found {shown}. Try: FILTER({short} …)"),
    Mistake(found=",", accepts="VAR1 LPAR _WHERE", rejects=IRIS, says=COMMAS_IN_SELECT),
    Mistake(kind=FUNCTIONS, accepts="VAR1 LPAR", rejects=IRIS,
            says="An expression in SELECT needs parentheses and a name. Try: ({SHORT}(…) AS ?name)"),
    Mistake(found=")", accepts="_AS", rejects="RPAR", says="An expression needs a name here. Try: AS ?name)"),
    glued,
    misspelt,
    Mistake(bare=True, accepts="FUNCTION_1", ahead=_CALLED,
            says="{shown} is not a known function. Try: an IRI for one of your own, as in ex:{short}(…)"),
    Mistake(bare=True, accepts_only="PNAME_NS", says='A prefix ends with ":". Try: {short}:'),
    Mistake(bare=True, accepts_any=IRIS, says="{shown} is neither a keyword nor a term. Try: ?{short} or :{short}"),
    Mistake(kind="_UNION", says="UNION belongs between two groups. Try: { … } UNION { … }"),
    Mistake(kind=TERMS, accepts="DOT SEMICOLON", says=NO_DOT),
    Mistake(says=_PLAIN),
)
# fmt: on


# Turns a parser's failure into a `QueryError` with place, reason and hint.

_CHUNK = re.compile(r"[^\W\d]\w*|\d+|\S")


def diagnose(
    text: Text,
    error: UnexpectedInput,
    parser: InteractiveParser,
    opened: list[Token],
    before: Token | None,
    words: Words,
    mistakes: Mistakes = (),
) -> QueryError:
    """The error that says where and why the parser stopped, and what may cure it; a language's own mistakes first."""
    failure = ParseFailure(text, *_found(text, error), before, _accepted(parser, words), opened, words)
    diagnosis = recognised(failure, (*mistakes, *MISTAKES)) or Diagnosis("")
    return text.error(diagnosis.reason, failure.at if diagnosis.at is None else diagnosis.at, hint=diagnosis.hint)


def _found(text: Text, error: UnexpectedInput) -> tuple[int, str, str]:
    if isinstance(error, UnexpectedToken):
        if error.token.type == END:
            return len(text.read.rstrip()), "", END
        terminal = name(error.token.type)
        # a misspelt keyword reads as one of the language's own names, where it has such
        return error.token.start_pos or 0, str(error.token), "" if terminal in NAMES else terminal
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
