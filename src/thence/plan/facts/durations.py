"""Expressions about time as SPARQL has them: `duration(a, b)` is a subtraction, and "PT1H" beside times is a duration
(TEF-60, TEF-61)."""

from __future__ import annotations

import re
from typing import Any, TypeVar

from thence.algebra.expressions import Arithmetic, Call, Compare, Expression, Operation, Variable
from thence.algebra.traversal import nodes, replaced
from thence.rdf.terms import XSD, XSD_STRING, Literal

T = TypeVar("T")

_DURATION = re.compile(r"-?P(?=.)(?:[0-9]+D)?(?:T(?=.)(?:[0-9]+H)?(?:[0-9]+M)?(?:[0-9]+(?:\.[0-9]+)?S)?)?")


def with_durations(found: T) -> T:
    """A file, statement or pattern whose expressions are those of SPARQL. Recursive: for what is within the limit of
    depth."""
    made: T = _changed(found)
    return made


def _changed(found: Any) -> Any:
    if isinstance(found, Expression) and not isinstance(found, Variable):
        return replaced(found, _part)
    if type(found) is tuple:
        changed = tuple(map(_changed, found))
        return changed if any(one is not other for one, other in zip(changed, found, strict=True)) else found
    if (names := getattr(found, "__dataclass_fields__", None)) is not None and not isinstance(found, Variable):
        values = {name: _changed(getattr(found, name)) for name in names}
        if any(value is not getattr(found, name) for name, value in values.items()):
            return type(found)(**values)
    return found


def _part(part: Expression) -> Expression | None:
    match part:
        case Call("DURATION", (first, last)):
            return Arithmetic(Operation.SUBTRACT, replaced(last, _part), replaced(first, _part))
        case Arithmetic():
            return Arithmetic(part.operation, _operand(part.left), _operand(part.right))
        case Compare() if _is_duration(part.left) and _is_time(part.right):
            return Compare(part.comparison, _operand(part.left), replaced(part.right, _part))
        case Compare() if _is_duration(part.right) and _is_time(part.left):
            return Compare(part.comparison, replaced(part.left, _part), _operand(part.right))
        case _:
            return None


def _operand(part: Expression) -> Expression:
    if isinstance(part, Literal) and _is_duration(part):
        return Literal(part.value, XSD + "dayTimeDuration")
    return replaced(part, _part)


def _is_duration(part: Expression) -> bool:
    return isinstance(part, Literal) and part.datatype == XSD_STRING and bool(_DURATION.fullmatch(part.value))


def _is_time(part: Expression) -> bool:
    """Whether an expression is about times: now(), duration(), or computed from something."""
    return any(
        isinstance(node, Arithmetic) or (isinstance(node, Call) and node.function in ("NOW", "DURATION"))
        for node in nodes(part)
    )
