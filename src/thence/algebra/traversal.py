"""Walks over patterns and expressions, and long chains built so that no walk recurses deeply."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from typing import Any, TypeVar

from thence.algebra.expressions import And, Expression, Variable
from thence.algebra.patterns import Pattern
from thence.algebra.variables import operands
from thence.rdf.terms import BlankNode

# Long chains of an associative operator, built so that no recursion over the algebra goes deep.
#
# `a || b || c` is `Or(Or(a, b), c)`, as the standard has it. A generated query may chain thousands; beyond `FEW`
# operands the tree is balanced instead, which for `&&`, `||`, joins, unions, `/` and `|` means the same.

FEW = 64
"""Up to so many operands a chain leans left; beyond, it is balanced."""

DEPTH = 250
"""No tree is deeper: Python's own stack must do for every recursive reader of the algebra, several calls a level."""

T = TypeVar("T")


def chain(make: Callable[[T, T], T], operands: Sequence[T]) -> T:
    """The operands, at least one, under a binary operator.

    >>> chain(lambda a, b: f"({a}{b})", "abcd")
    '(((ab)c)d)'
    >>> deep = chain(lambda a, b: f"({a}{b})", "x" * 1024)
    >>> deep.index("x")  # ten levels
    10
    """
    return reduce(make, operands) if len(operands) <= FEW else _balanced(make, operands)


def _balanced(make: Callable[[T, T], T], operands: Sequence[T]) -> T:
    if len(operands) == 1:
        return operands[0]
    middle = (len(operands) + 1) // 2
    return make(_balanced(make, operands[:middle]), _balanced(make, operands[middle:]))


def depth(node: object) -> int:
    """The number of nodes on the longest path from this one down to a leaf, without recursion.

    >>> from thence.algebra.expressions import Not, Variable
    >>> depth(Not(Not(Variable("x"))))
    3
    """
    deepest = 0
    waiting = [(node, 1)]
    while waiting:
        found, level = waiting.pop()
        if isinstance(found, tuple):
            waiting.extend((item, level) for item in found)
        elif (names := getattr(found, "__dataclass_fields__", None)) is not None:
            deepest = max(deepest, level)
            waiting.extend((getattr(found, name), level + 1) for name in names)
    return deepest


# Walks over patterns and expressions: all nodes; the conditions that `&&` joins; an expression with parts replaced; a
# pattern with its variables renamed.


def nodes(node: object) -> Iterator[object]:
    """The node and all below it, patterns in expressions (EXISTS) and expressions in patterns too, in the order of
    their fields, which is that of the text; without recursion.

    >>> from thence.algebra.patterns import Graph
    >>> from thence.lang.sparql.parser import parse_pattern
    >>> pattern = parse_pattern("{ FILTER EXISTS { GRAPH <http://example.org/g> { } } }")
    >>> [str(node.name) for node in nodes(pattern) if isinstance(node, Graph)]
    ['<http://example.org/g>']
    """
    waiting = [node]
    while waiting:
        found = waiting.pop()
        if isinstance(found, tuple):
            waiting.extend(reversed(found))
        elif (names := getattr(found, "__dataclass_fields__", None)) is not None:
            yield found
            waiting.extend(getattr(found, name) for name in reversed(names))


def conjuncts(expression: Expression) -> list[Expression]:
    """The conditions that `&&` joins, in the order of the text; without recursion.

    >>> from thence.algebra.show import show
    >>> from thence.lang.sparql.parser import parse_expression
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


def replaced(expression: Expression, change: Callable[[Expression], Expression | None]) -> Expression:
    """The expression with parts exchanged: what `change` returns for a part, or, where that is None, the part with its
    own parts exchanged. The patterns of EXISTS stay as they are. Recursive: for trees within the limit of depth.

    >>> from thence.algebra.expressions import Variable
    >>> from thence.lang.sparql.parser import parse_expression
    >>> a_by_b = lambda part: Variable("b") if part == Variable("a") else None
    >>> replaced(parse_expression("?a + 1"), a_by_b) == parse_expression("?b + 1")
    True
    """
    found = change(expression)
    if found is not None:
        return found
    below = frozenset(map(id, operands(expression)))

    def exchanged(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(map(exchanged, value))
        return replaced(value, change) if id(value) in below else value

    values = {name: getattr(expression, name) for name in expression.__dataclass_fields__}
    return type(expression)(**{name: exchanged(value) for name, value in values.items()})


def numbered(pattern: Pattern, variables: Iterable[Variable]) -> Pattern:
    """The pattern with its variables called `?0`, `?1`, …: first those listed, then the others as they come; blank
    nodes likewise. Patterns that differ in names alone become equal. Recursive: for patterns within the limit of depth.

    >>> from thence.lang.sparql.parser import parse_pattern
    >>> a, b = parse_pattern("{ ?x <x:p> ?y }"), parse_pattern("{ ?u <x:p> ?v }")
    >>> numbered(a, ()) == numbered(b, ())
    True
    """
    names = {variable: Variable(str(number)) for number, variable in enumerate(variables)}
    labels: dict[BlankNode, BlankNode] = {}

    def named(node: Any) -> Any:
        if isinstance(node, Variable):
            return names.setdefault(node, Variable(str(len(names))))
        if isinstance(node, BlankNode):
            return labels.setdefault(node, BlankNode(str(len(labels))))
        if isinstance(node, tuple) and type(node) is tuple:
            return tuple(map(named, node))
        if (fields := getattr(node, "__dataclass_fields__", None)) is not None:
            return type(node)(**{name: named(getattr(node, name)) for name in fields})
        return node

    made: Pattern = named(pattern)
    return made
