"""`FILTER(a && b)` → `FILTER(a) FILTER(b)`."""

from __future__ import annotations

from dataclasses import replace

from thence.algebra.expressions import And, Expression
from thence.algebra.sequences import SequenceQuery


def split_filters(query: SequenceQuery) -> SequenceQuery:
    """Each filter's conditions apart. A filter lets through what is true, and `a && b` is true where both are: an error
    on either side is never true, whatever the other side says (SPARQL 1.1, 17.2)."""
    gpms = (replace(gpm, filters=tuple(c for test in gpm.filters for c in conjuncts(test))) for gpm in query.gpms)
    return replace(query, gpms=tuple(gpms))


def conjuncts(expression: Expression) -> list[Expression]:
    """The conditions that `&&` joins, in the order of the text; without recursion.

    >>> from thence.algebra.show import show
    >>> from thence.lang.sparql import parse_expression
    >>> [show(part) for part in conjuncts(parse_expression("?a > 1 && (?b || ?c) && !(?a && ?b)"))]
    ['?a > 1', '?b || ?c', '!(?a && ?b)']
    """
    found: list[Expression] = []
    waiting = [expression]
    while waiting:
        part = waiting.pop()
        if isinstance(part, And):
            waiting += [part.right, part.left]
        else:
            found.append(part)
    return found
