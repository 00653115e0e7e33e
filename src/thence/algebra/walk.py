"""Every node of a pattern or an expression, whatever it is part of."""

from __future__ import annotations

from collections.abc import Iterator


def nodes(node: object) -> Iterator[object]:
    """The node and all below it, patterns in expressions (EXISTS) and expressions in patterns too; without recursion.

    >>> from thence.algebra.patterns import Graph
    >>> from thence.lang.sparql import parse_pattern
    >>> pattern = parse_pattern("{ FILTER EXISTS { GRAPH <http://example.org/g> { } } }")
    >>> [str(node.name) for node in nodes(pattern) if isinstance(node, Graph)]
    ['<http://example.org/g>']
    """
    waiting = [node]
    while waiting:
        found = waiting.pop()
        if isinstance(found, tuple):
            waiting.extend(found)
        elif (names := getattr(found, "__dataclass_fields__", None)) is not None:
            yield found
            waiting.extend(getattr(found, name) for name in names)
