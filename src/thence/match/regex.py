"""REGEX and REPLACE: XPath's regular expressions (F&O, 7.6), run by RE2 in time linear in the text.

XPath's syntax is read here and written in RE2's. Back-references have no linear-time engine: they are an error. So is
what would take too long even so: `MAX_WORK` bounds the pattern's size times the text's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import re2

from thence.match.character_classes import CharacterClass, Escape
from thence.match.expression_errors import ExpressionError, check_length

MAX_PATTERN = 10_000  # characters
MAX_DEPTH = 100  # groups or classes within each other
MAX_REPEAT = 1000  # RE2's own limit
MAX_MEMORY = 4 << 20  # bytes a pattern, of which some dozens are kept ready
MAX_WORK = 10_000_000_000
"""Instructions of the pattern times characters of the text: some seconds, if RE2 must try them all."""
MAX_LOOKING_AHEAD = 20_000_000_000
"""Characters that all matches of a REPLACE may look at: text of 200,000 characters is always short enough."""

_SINGLE = {"n": "\n", "r": "\r", "t": "\t", **{c: c for c in "\\|.?*+(){}-[]^$"}}
_MULTI = "sSiIcCdDwW"
_RE2_SPECIAL = frozenset("\\.+*?()|[]{}^$")


@dataclass(frozen=True, slots=True)
class Translation:
    """A pattern in RE2's syntax, and how many groups it captures."""

    pattern: str
    groups: int


@dataclass(frozen=True, slots=True)
class Regex:
    """A pattern, ready to be used."""

    translation: Translation
    compiled: Any  # re2 has no types
    literal: bool  # flag q

    def matches(self, text: str) -> bool:
        """fn:matches: anywhere in the text."""
        self._limit(len(text))
        return self.compiled.search(_encoded(text)) is not None

    def replace(self, text: str, replacement: str) -> str:
        """fn:replace: every match, from left to right."""
        if self.compiled.search(b"") is not None:
            raise ExpressionError("the pattern of REPLACE matches the empty string")
        expand = self._template(replacement)
        pieces: list[bytes] = []
        data, end, ahead, made = _encoded(text), 0, 0, 0
        self._limit(len(data))
        for match in self.compiled.finditer(data):
            # each search may look ahead to the text's end before it settles for a match
            ahead += len(data) - match.start()
            if ahead > MAX_LOOKING_AHEAD:
                raise ExpressionError("the text is too long, with too many matches, for REPLACE")
            pieces += [data[end : match.start()], expand(match)]
            made += len(pieces[-2]) + len(pieces[-1])
            check_length(made)
            end = match.end()
        return b"".join((*pieces, data[end:])).decode("utf-8")

    def _limit(self, length: int) -> None:
        if self.compiled.programsize * length > MAX_WORK:
            raise ExpressionError("the text is too long for this regular expression")

    def _template(self, replacement: str) -> Callable[[Any], bytes]:
        parts = [replacement] if self.literal else _replacement_parts(replacement, self.translation.groups)
        ready = [part.encode("utf-8") if isinstance(part, str) else part for part in parts]
        return lambda match: b"".join(part if isinstance(part, bytes) else match.group(part) or b"" for part in ready)


@lru_cache(maxsize=64)
def regex(pattern: str, flags: str = "") -> Regex:
    """A pattern with its flags, read once. ExpressionError says what is wrong with it.

    >>> regex("^ab.*e$", "s").matches("abc\\nde"), regex("(a+)+$").matches("a" * 100_000 + "b")
    (True, False)
    """
    translation = translate(pattern, flags)
    options = re2.Options()
    options.log_errors = False
    options.max_mem = MAX_MEMORY
    try:
        compiled = re2.compile(_encoded(translation.pattern), options)
    except re2.error as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else error.args[0]
        raise ExpressionError(f"the regular expression can't be used: {reason}") from None
    return Regex(translation, compiled, "q" in flags)


def _encoded(text: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise ExpressionError("half of a surrogate pair stands in a string") from None


@lru_cache(maxsize=64)
def translate(pattern: str, flags: str = "") -> Translation:
    """XPath's pattern in RE2's syntax, flags included, for any engine that is RE2.

    >>> translate("[a-z-[aeiou]]+", "i").pattern[:4]
    '(?i)'
    """
    if any(flag not in "smixq" for flag in flags):
        raise ExpressionError(f'the flags of a regular expression are s, m, i, x and q, not "{flags}"')
    if len(pattern) > MAX_PATTERN:
        raise ExpressionError(f"a regular expression has at most {MAX_PATTERN} characters")
    ignore_case = "i" in flags
    if "q" in flags:
        return Translation(f"{'(?i)' * ignore_case}{_quoted(pattern)}", 0)
    reader = _Translator(_without_space(pattern) if "x" in flags else pattern, ignore_case)
    body = reader.whole()
    modes = "".join(flag for flag in "ims" if flag in flags)
    return Translation(f"(?{modes}){body}" if modes else body, reader.groups)


def _quoted(text: str) -> str:
    return "".join("\\" + c if c in _RE2_SPECIAL else c for c in text)


def _without_space(pattern: str) -> str:
    """Flag x: white space goes, except in character classes."""
    kept, depth, position = [], 0, 0
    while position < len(pattern):
        character = pattern[position]
        width = 2 if character == "\\" else 1
        depth += (character == "[") - (character == "]" and depth > 0)
        if depth or character not in " \t\n\r":
            kept.append(pattern[position : position + width])
        position += width
    return "".join(kept)


def _replacement_parts(replacement: str, groups: int) -> list[str | int]:
    """Text and numbers of groups; `$12` is group 1 and a 2 where there are fewer than twelve."""
    parts: list[str | int] = []
    position = 0
    while position < len(replacement):
        character = replacement[position]
        following = replacement[position + 1 : position + 2]
        position += 1
        if character == "\\":
            if following not in ("\\", "$") or not following:
                raise ExpressionError("in a replacement, \\ stands before \\ or $ only")
            parts.append(following)
            position += 1
        elif character == "$":
            if not following or following not in "0123456789":
                raise ExpressionError("in a replacement, $ stands before a digit only")
            number = int(following)
            position += 1
            while (
                position < len(replacement)
                and replacement[position] in "0123456789"
                and number * 10 + int(replacement[position]) <= groups
            ):
                number = number * 10 + int(replacement[position])
                position += 1
            parts.append(number if number <= groups else "")
        else:
            parts.append(character)
    return parts


class _Translator:
    """A recursive descent through XPath's grammar of regular expressions, writing RE2's as it goes."""

    def __init__(self, pattern: str, ignore_case: bool) -> None:
        self.pattern = pattern
        self.position = 0
        self.groups = 0
        self.depth = 0
        self.ignore_case = ignore_case

    def whole(self) -> str:
        found = self._alternatives()
        if self.position < len(self.pattern):
            raise self._error("a ) without its (")
        return found

    def _error(self, reason: str) -> ExpressionError:
        return ExpressionError(f"the regular expression {self.pattern!r:.60} has {reason} at {self.position + 1}")

    def _peek(self, width: int = 1) -> str:
        return self.pattern[self.position : self.position + width]

    def _accept(self, text: str) -> bool:
        if self.pattern.startswith(text, self.position):
            self.position += len(text)
            return True
        return False

    def _next(self) -> str:
        character = self._peek()
        if not character:
            raise self._error("an end too soon")
        self.position += 1
        return character

    def _deeper(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self._error(f"more than {MAX_DEPTH} groups within each other")

    def _alternatives(self) -> str:
        branches = [self._branch()]
        while self._accept("|"):
            branches.append(self._branch())
        return "|".join(branches)

    def _branch(self) -> str:
        pieces = []
        while self._peek() not in ("", "|", ")"):
            pieces.append(self._atom() + self._quantifier())
        return "".join(pieces)

    def _atom(self) -> str:
        character = self._next()
        match character:
            case "(":
                return self._group()
            case "[":
                return self._class().re2(ignore_case=self.ignore_case)
            case "\\":
                return self._escape_outside()
            case "." | "^" | "$":
                return character
            case "?" | "*" | "+" | "{":
                self.position -= 1
                raise self._error(f"a {character} with nothing before it to repeat")
            case "}" | "]":
                self.position -= 1
                raise self._error(f"a {character} alone (write \\{character})")
            case _:
                return _quoted(character)

    def _group(self) -> str:
        self._deeper()
        captures = not self._accept("?:")
        self.groups += captures
        inner = self._alternatives()
        if not self._accept(")"):
            raise self._error("a ( without its )")
        self.depth -= 1
        return f"({inner})" if captures else f"(?:{inner})"

    def _quantifier(self) -> str:
        sign = self._peek()
        if sign not in ("?", "*", "+", "{") or not sign:
            return ""
        self.position += 1
        written = self._counts() if sign == "{" else sign
        return written + ("?" if self._accept("?") else "")

    def _counts(self) -> str:
        """`{n}`, `{n,}`, `{n,m}`."""
        end = self.pattern.find("}", self.position)
        least, comma, most = self.pattern[self.position : max(end, self.position)].partition(",")
        numbers = [text for text in (least, most) if text]
        if not least or len(least) > 9 or len(most) > 9 or any(not n.isascii() or not n.isdigit() for n in numbers):
            raise self._error("a { that is no repetition (write {n}, {n,} or {n,m})")
        if any(int(number) > MAX_REPEAT for number in numbers):
            raise self._error(f"more than {MAX_REPEAT} repetitions")
        if most and int(most) < int(least):
            raise self._error("repetitions from more to less")
        self.position = end + 1
        return f"{{{least}{comma}{most}}}"

    def _escape_outside(self) -> str:
        if self._peek() in "123456789" and self._peek():
            raise self._error("a back-reference, which can't be searched for in bounded time,")
        found = self._escape()
        if isinstance(found, str):
            return _quoted(found)
        return CharacterClass(escapes=(found,)).re2(ignore_case=self.ignore_case)

    def _escape(self) -> str | Escape:
        """What follows a backslash: a character, or a set of them."""
        character = self._next()
        if character in _SINGLE:
            return _SINGLE[character]
        if character in _MULTI:
            return Escape(character.lower(), negated=character.isupper())
        if character in "pP" and self._accept("{"):
            end = self.pattern.find("}", self.position)
            name = self.pattern[self.position : end] if end >= 0 else ""
            self.position = end + 1 if end >= 0 else self.position
            return Escape(name, negated=character == "P")
        raise self._error(f"\\{character}, which means nothing,")

    def _class(self) -> CharacterClass:
        """After the `[`: a positive or negative group, perhaps without another class."""
        self._deeper()
        negated = self._accept("^")
        spans: list[tuple[int, int]] = []
        escapes: list[Escape] = []
        without = None
        while not self._accept("]"):
            if self._peek(2) == "-[" and (spans or escapes):
                self.position += 2
                without = self._class()
                if not self._accept("]"):
                    raise self._error("something after a subtracted class")
                break
            self._class_part(spans, escapes)
        if not spans and not escapes:
            raise self._error("an empty [ ]")
        self.depth -= 1
        return CharacterClass(tuple(spans), tuple(escapes), negated, without)

    def _class_part(self, spans: list[tuple[int, int]], escapes: list[Escape]) -> None:
        first = self._class_character()
        if isinstance(first, Escape):
            escapes.append(first)
            return
        last: str | Escape = first
        if self._peek() == "-" and self._peek(2) not in ("-]", "-["):
            self.position += 1
            last = self._class_character()
        if isinstance(last, Escape) or ord(last) < ord(first):
            raise self._error("a range from more to less")
        spans.append((ord(first), ord(last)))

    def _class_character(self) -> str | Escape:
        character = self._next()
        if character == "[":
            raise self._error("a [ in a class (write \\[)")
        return self._escape() if character == "\\" else character
