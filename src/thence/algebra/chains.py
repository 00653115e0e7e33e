"""Long chains of an associative operator, built so that no recursion over the algebra goes deep.

`a || b || c` is `Or(Or(a, b), c)`, as the standard has it. A generated query may chain thousands; beyond `FEW` operands
the tree is balanced instead, which for `&&`, `||`, joins, unions, `/` and `|` means the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import TypeVar

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
    """How many nodes lie on the longest way from this one down to a leaf, without recursion.

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
