"""Errors in expressions, which SPARQL gives a meaning: FILTER is false, BIND binds nothing."""

from __future__ import annotations


class ExpressionError(Exception):
    """SPARQL's "error": a type error, an unbound variable, a division by zero. No user ever sees it raised."""


MAX_TEXT = 1 << 24
"""Characters of a text that an expression makes: no event can hold a longer one, and doubling it soon ends memory."""


def check_length(length: int) -> None:
    """Before a text is made of others: an error, if it would be too long."""
    if length > MAX_TEXT:
        raise ExpressionError(f"a text of more than {MAX_TEXT:,} characters")
