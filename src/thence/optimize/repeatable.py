"""Whether an expression or pattern says the same whenever it is asked."""

from __future__ import annotations

from thence.algebra.expressions import Call, Exists
from thence.algebra.traversal import nodes

_CHANGING = frozenset({"RAND", "UUID", "STRUUID", "BNODE", "NOW"})


def repeatable(node: object) -> bool:
    """False if chance, the time, or a graph that is not at hand later has a say in it.

    >>> from thence.lang.sparql.parser import parse_expression
    >>> repeatable(parse_expression("?a > 1")), repeatable(parse_expression("?a > RAND()"))
    (True, False)
    """
    return not any(
        isinstance(part, Exists) or (isinstance(part, Call) and part.function in _CHANGING) for part in nodes(node)
    )
