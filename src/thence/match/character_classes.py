"""Sets of characters in XPath's regular expressions: `[a-z-[aeiou]]`, `\\w`, `\\p{Lu}` (XSD 1.1, part 2, G.4), for RE2.

RE2 has no subtraction, and folds the case of categories where XPath does not. A set it can say is said in its words;
any other is computed, code point by code point, and listed.
"""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import TypeAlias

from thence.match.expression_errors import ExpressionError
from thence.match.unicode_blocks import BLOCKS

Ranges: TypeAlias = tuple[tuple[int, int], ...]
"""Code points as first and last, in order and apart."""

_LAST = sys.maxunicode
_GROUPS = {
    "L": "u l t m o",
    "M": "n c e",
    "N": "d l o",
    "P": "c d s e i f o",
    "Z": "s l p",
    "S": "m c k o",
    "C": "c f o n",
}
CATEGORIES = {*_GROUPS, *(group + kind for group, kinds in _GROUPS.items() for kind in kinds.split())}

_SPACE: Ranges = ((0x9, 0xA), (0xD, 0xD), (0x20, 0x20))
_NAME_START: Ranges = (  # XML 1.0, fifth edition: NameStartChar
    (0x3A, 0x3A), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A), (0xC0, 0xD6), (0xD8, 0xF6), (0xF8, 0x2FF), (0x370, 0x37D),
    (0x37F, 0x1FFF), (0x200C, 0x200D), (0x2070, 0x218F), (0x2C00, 0x2FEF), (0x3001, 0xD7FF), (0xF900, 0xFDCF),
    (0xFDF0, 0xFFFD), (0x10000, 0xEFFFF),
)  # fmt: skip
_NAME_MORE: Ranges = ((0x2D, 0x2E), (0x30, 0x39), (0xB7, 0xB7), (0x300, 0x36F), (0x203F, 0x2040))


@dataclass(frozen=True, slots=True)
class Escape:
    """`\\d`, `\\S`, `\\p{Lu}`, `\\P{IsGreek}`: a set by name, or all the rest."""

    name: str  # s, i, c, d, w, a category, or Is and a block
    negated: bool = False

    def __post_init__(self) -> None:
        block = self.name[2:] if self.name.startswith("Is") else None
        if self.name not in CATEGORIES and self.name not in set("sicdw") and block not in BLOCKS:
            raise ExpressionError(f"no set of characters has the name {self.name!r:.60}")

    def ranges(self) -> Ranges:
        found = _named(self.name)
        return complement(found) if self.negated else found

    def re2(self) -> str | None:
        """In RE2's words for a set inside brackets, if it has some."""
        if self.name in CATEGORIES:
            # RE2 leaves unassigned code points out of C
            return None if self.name in ("C", "Cn") else rf"\{'P' if self.negated else 'p'}{{{self.name}}}"
        if self.name in ("d", "w"):
            return None if self.negated else _RE2_NAMES[self.name]
        return listed(self.ranges())


_RE2_NAMES = {"d": r"\p{Nd}", "w": r"\p{L}\p{M}\p{N}\p{S}"}  # w: neither punctuation, separator nor other


@dataclass(frozen=True, slots=True)
class CharacterClass:
    """`[…]`: ranges and named sets, perhaps negated, without those of another class."""

    spans: tuple[tuple[int, int], ...] = ()
    escapes: tuple[Escape, ...] = ()
    negated: bool = False
    without: CharacterClass | None = field(default=None)

    def re2(self, *, ignore_case: bool) -> str:
        """The class in RE2's syntax."""
        if len(self.escapes) == 1 and self.escapes[0].negated and not self.spans and self.without is None:
            positive = (Escape(self.escapes[0].name),)
            return CharacterClass(escapes=positive, negated=not self.negated).re2(ignore_case=ignore_case)
        named = [escape.re2() for escape in self.escapes]
        if self.without is None and None not in named and not (ignore_case and named):
            inner = listed(_united(self.spans)) + "".join(name for name in named if name)
            return f"[{'^' * self.negated}{inner}]"
        ranges = self.ranges(ignore_case=ignore_case)
        # an empty set matches nothing, which RE2 writes as the complement of everything
        inner = f"[{listed(ranges)}]" if ranges else r"[^\x{0}-\x{10FFFF}]"
        return f"(?-i:{inner})" if ignore_case else inner

    def ranges(self, *, ignore_case: bool) -> Ranges:
        """Every code point of the class. The case of a named set is never ignored (F&O, 7.6.1.1)."""
        spans = _case_variants(_united(self.spans)) if ignore_case else self.spans
        found = _united((*spans, *(span for escape in self.escapes for span in escape.ranges())))
        if self.negated:
            found = complement(found)
        return _subtracted(found, self.without.ranges(ignore_case=ignore_case)) if self.without else found


def listed(ranges: Ranges) -> str:
    """Ranges as they stand inside brackets."""
    return "".join(rf"\x{{{a:X}}}" if a == b else rf"\x{{{a:X}}}-\x{{{b:X}}}" for a, b in ranges)


def complement(ranges: Ranges) -> Ranges:
    """All other code points."""
    found, start = [], 0
    for first, last in ranges:
        if start < first:
            found.append((start, first - 1))
        start = last + 1
    return (*found, (start, _LAST)) if start <= _LAST else tuple(found)


def _united(spans: Iterable[tuple[int, int]]) -> Ranges:
    found: list[tuple[int, int]] = []
    for first, last in sorted(spans):
        if found and first <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(found[-1][1], last)
        else:
            found.append((first, last))
    return tuple(found)


def _subtracted(ranges: Ranges, without: Ranges) -> Ranges:
    return complement(_united((*complement(ranges), *without)))


@cache
def _named(name: str) -> Ranges:
    match name:
        case "s":
            return _SPACE
        case "i":
            return _NAME_START
        case "c":
            return _united((*_NAME_START, *_NAME_MORE))
        case "d":
            return _by_category()["Nd"]
        case "w":
            return complement(_united((*_named("P"), *_named("Z"), *_named("C"))))
        case _ if name in CATEGORIES:
            return _united(span for key, spans in _by_category().items() if key.startswith(name) for span in spans)
        case _:
            return (BLOCKS[name.removeprefix("Is")],)


@cache
def _by_category() -> dict[str, Ranges]:
    """The code points of each general category: asked of Python once, when first needed."""
    found: dict[str, list[tuple[int, int]]] = {}
    start, current = 0, unicodedata.category("\0")
    for point in range(1, _LAST + 2):
        category = unicodedata.category(chr(point)) if point <= _LAST else ""
        if category != current:
            found.setdefault(current, []).append((start, point - 1))
            start, current = point, category
    return {category: tuple(spans) for category, spans in found.items()}


@cache
def _variants() -> dict[int, tuple[int, ...]]:
    """The other cases of each character that has some."""
    found: dict[int, set[int]] = {}
    for point in range(_LAST + 1):
        character = chr(point)
        for other in (character.lower(), character.upper()):
            if len(other) == 1 and other != character:
                found.setdefault(point, set()).add(ord(other))
                found.setdefault(ord(other), set()).add(point)
    return {point: tuple(others) for point, others in found.items()}


def _case_variants(ranges: Ranges) -> Ranges:
    inside = (point for point in _variants() if any(a <= point <= b for a, b in ranges))
    return _united((*ranges, *((other, other) for point in inside for other in _variants()[point])))
