"""What goes wrong in an expression is part of its meaning: a FILTER takes it for false, BIND binds nothing."""

from __future__ import annotations


class ExpressionError(Exception):
    """SPARQL's "error": a type error, an unbound variable, a division by zero. No user ever sees it raised."""
