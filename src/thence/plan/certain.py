"""Which variables a pattern binds in every one of its solutions."""

from __future__ import annotations

from typing import assert_never

from thence.algebra.expressions import Variable
from thence.algebra.patterns import (
    Bgp,
    Extend,
    Filter,
    Graph,
    Join,
    LeftJoin,
    Minus,
    Pattern,
    SubSelect,
    Union,
    Values,
)
from thence.algebra.variables import in_scope


def always_bound(pattern: Pattern) -> frozenset[Variable]:
    """
    >>> from thence.lang.sparql import parse_pattern
    >>> sorted(map(str, always_bound(parse_pattern("{ ?a <x:p> ?b OPTIONAL { ?a <x:q> ?c } BIND(?b + 1 AS ?d) }"))))
    ['?a', '?b']
    """
    match pattern:
        case Bgp():
            return frozenset(in_scope(pattern))
        case Join():
            return always_bound(pattern.left) | always_bound(pattern.right)
        case LeftJoin() | Minus():
            return always_bound(pattern.left)
        case Filter() | Extend():
            return always_bound(pattern.pattern)
        case Union():
            return always_bound(pattern.left) & always_bound(pattern.right)
        case Graph():
            return always_bound(pattern.pattern) | ({pattern.name} if isinstance(pattern.name, Variable) else set())
        case Values():
            columns = zip(pattern.variables, zip(*pattern.rows, strict=True), strict=False)
            return frozenset(variable for variable, terms in columns if None not in terms)
        case SubSelect():
            return frozenset()
        case _:
            assert_never(pattern)
