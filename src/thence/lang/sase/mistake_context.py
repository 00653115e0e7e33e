"""Where in a SASE+ text a parser stopped: what stands around, and what PATTERN names. For hints alone: what these
expressions find in a text that can't be read is nearly always what its author meant."""

from __future__ import annotations

import re

from thence.algebra.sase import Strategy
from thence.lang.mistakes import ParseFailure

STRATEGIES = [strategy.value for strategy in Strategy]
CLAUSES = ("PATTERN", "WHERE", "WITHIN", "HAVING", "RETURN", "AGGREGATE")

_NEAR = 200  # characters: a text may have a million, and an expression is not to look at all of them from each
_KEYWORD = re.compile(
    rf"""`[^`\n]*+`|'[^'\n]*+'|"[^"\n]*+"|\#[^\r\n]*+|(?<![.\w])({"|".join(CLAUSES)})\b""", re.IGNORECASE
)
_AFTER_PATTERN = re.compile(rf"\b(?:{'|'.join(CLAUSES[1:])})\b", re.IGNORECASE)
_COMPONENT = re.compile(r"(?:[(,~]|\bPATTERN\b)\s*[\w:`<>#/.-]{1,200}?\s*\+?\s+(\w+)\s*(\[\s*\])?", re.IGNORECASE)


def ahead(failure: ParseFailure, pattern: re.Pattern[str]) -> re.Match[str] | None:
    """What follows upon what was found."""
    return pattern.match(failure.text.read, failure.at + len(failure.found))


def behind(failure: ParseFailure) -> str:
    """What stands before, as far as it matters."""
    return failure.text.read[max(0, failure.at - _NEAR) : failure.at]


def clauses(failure: ParseFailure) -> list[str]:
    """The clauses of the block in hand that have begun."""
    begun = [each[1].upper() for each in _KEYWORD.finditer(failure.text.read, 0, failure.at) if each[1]]
    last = max((number for number, each in enumerate(begun) if each == "PATTERN"), default=0)
    return begun[last:]


def _components(failure: ParseFailure) -> dict[str, bool]:
    """The variables of PATTERN, and whether they are closures."""
    read = failure.text.read[: failure.at]
    begins = read.upper().rfind("PATTERN")
    ends = _AFTER_PATTERN.search(read, max(0, begins))
    area = read[max(0, begins) : ends.start() if ends else None][:2000]
    return {each[1]: each[2] is not None for each in _COMPONENT.finditer(area)}


def is_component(failure: ParseFailure, name: str) -> bool:
    return name in _components(failure)


def closure(failure: ParseFailure, name: str) -> bool:
    return _components(failure).get(name, False)


def variable(failure: ParseFailure) -> str:
    """The first variable as a value names it; `a`, where PATTERN can't be read."""
    name, several = next(iter(_components(failure).items()), ("a", False))
    return f"{name}[1]" if several else name
