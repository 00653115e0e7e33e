"""Mistakes that people make in SASE+, beside those that they make in any language."""

from __future__ import annotations

import re

from thence.algebra.components import Strategy
from thence.lang.mistakes import CLOSING, Complaint, Failure, Mistake
from thence.lang.names import closest
from thence.lang.spaseq_mistakes import unit
from thence.lang.words import name

_STRATEGIES = [strategy.value for strategy in Strategy]
_CALLED = re.compile(r"(\b[^\W\d]\w*)\s*\([^(){}]*(?:\)\s*)?\Z")
_CLAUSES = frozenset({"_WHERE", "_WITHIN", "_HAVING", "_RETURN", "_AGGREGATE", "_UNION"})


def _still_open(failure: Failure) -> Complaint | None:
    """The next clause begins, and a bracket is open."""
    if not failure.opened or (failure.kind not in _CLAUSES and failure.word not in ("WHERE", "WITHIN", "RETURN")):
        return None
    innermost = failure.opened[-1]
    reason = f'The "{innermost}" at {failure.place(innermost)} is not closed before {failure.found.upper()}.'
    return Complaint(reason, CLOSING[innermost])


def _null(failure: Failure) -> Complaint | None:
    """`x = NULL` reads NULL as a variable, and stops behind it."""
    before = failure.before
    if before is not None and before.upper() == "NULL":
        return Complaint("What is missing is equal to nothing.", "IS NULL", at=before.start_pos)
    return None


def _strategy(failure: Failure) -> Complaint | None:
    """An unknown strategy reads as a function, until its variables or its brace."""
    found = _CALLED.search(failure.text.read, 0, failure.at)
    if found is None or found[1].lower() in _STRATEGIES:
        return None
    close = closest(found[1], _STRATEGIES)
    if not close and failure.found != "{" and not found[1].lower().startswith(("skip", "strict", "partition")):
        return None
    return Complaint(f'There is no strategy "{found[1]}".', close or ", ".join(_STRATEGIES), at=found.start())


def _clauses(failure: Failure) -> Complaint | None:
    if failure.kind in _CLAUSES and failure.before is not None and name(failure.before.type) != failure.kind:
        expected = failure.words.expected(failure.accepted)
        return Complaint(
            f"{failure.found.upper()} can't stand here: expected {expected}.",
            "PATTERN … WHERE … WITHIN … HAVING … RETURN",
        )
    return None


MISTAKES: tuple[Mistake, ...] = (_null, _still_open, unit, _strategy, _clauses)
