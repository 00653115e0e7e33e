"""What a SASE+ query computes and cannot, as its text alone tells (SA-51): values of kinds that do not go together."""

from __future__ import annotations

from collections.abc import Iterator

from oracle.sase_expressions import NUMERIC, OF_TEXTS, kind_of
from oracle.sase_query import (
    Aggregate,
    Arithmetic,
    Attribute,
    Call,
    Compare,
    Constant,
    Expression,
    In,
    IsNull,
    Length,
    Like,
    PartitionBy,
    Query,
    parts,
    rewritten,
)

OWN_TIMES = ("time", "end")

_GIVES = {
    ("-", "time", "time"): "duration",
    ("+", "time", "duration"): "time",
    ("-", "time", "duration"): "time",
    ("+", "duration", "time"): "time",
    ("+", "duration", "duration"): "duration",
    ("-", "duration", "duration"): "duration",
    ("*", "duration", "number"): "duration",
    ("*", "number", "duration"): "duration",
    ("/", "duration", "number"): "duration",
    ("/", "duration", "duration"): "number",
} | {(sign, "number", "number"): "number" for sign in "+-*/%"}


def kind(expression: Expression, *, dated: bool) -> str | None:
    """The kind of its values, if all events give one of that kind or none; None if events decide."""
    match expression:
        case Constant(value):
            return kind_of(value)
        case Attribute(attribute=name) | Aggregate("min" | "max" | "first" | "last" | "highest" | "lowest", _, name):
            return ("time" if dated else "number") if name in OWN_TIMES else None
        case Length() | Aggregate("count" | "avg"):
            return "number"
        case Arithmetic(sign, left, right):
            kinds = kind(left, dated=dated), kind(right, dated=dated)
            found = {given for (of, *sides), given in _GIVES.items() if of == sign and _allows(sides, kinds)}
            return found.pop() if len(found) == 1 else None
        case Call("lower" | "upper"):
            return "string"
        case Call("length" | "abs" | "ceil" | "floor" | "round"):
            return "number"
        case Aggregate():
            return None
    return "boolean"


def _allows(sides: list[str], kinds: tuple[str | None, str | None]) -> bool:
    return all(of in (None, side) for side, of in zip(sides, kinds, strict=True))


def impossible(part: Expression, *, dated: bool) -> bool:
    """Whether no events give this part a value, though its own parts have some."""

    def of(each: Expression) -> str | None:
        return kind(each, dated=dated)

    match part:
        case Compare(_, left, right):
            return None not in (of(left), of(right)) and of(left) != of(right)
        case Arithmetic(sign, left, right):
            return not any(on == sign and _allows(sides, (of(left), of(right))) for on, *sides in _GIVES)
        case Like(operand):
            return of(operand) not in (None, "string")
        case In(operand, choices):
            return any(None not in (of(operand), of(choice)) and of(operand) != of(choice) for choice in choices)
        case Call(function, arguments):
            wanted = "number" if function in NUMERIC else "string" if function in OF_TEXTS else None
            return wanted is not None and any(of(each) not in (None, wanted) for each in arguments)
        case Aggregate("sum" | "avg", _, str(name)):
            return dated and name in OWN_TIMES
    return False


def impossibilities(query: Query) -> Iterator[str]:
    """A sentence for each part of the query that cannot be computed."""
    found: list[Expression] = []

    def keep(part: Expression) -> Expression:
        found.append(part)
        return part

    rewritten(query, keep)
    for condition in query.all_conditions():
        if isinstance(condition, PartitionBy):
            found += [each for key in condition.keys if not isinstance(key, str) for each in parts(key)]
    for part in found:
        if impossible(part, dated=query.dated):
            yield f"{part} cannot be computed"


def mended(query: Query) -> Query:
    """The query with something else in place of what cannot be computed."""
    return rewritten(query, lambda part: _mended(part, dated=query.dated))


def _mended(part: Expression, *, dated: bool) -> Expression:
    if not impossible(part, dated=dated):
        return part
    match part:
        case Compare(sign, left, right):
            one, other = kind(left, dated=dated), kind(right, dated=dated)
            if isinstance(left, Constant):
                return Compare(sign, _constant(other), right)
            return Compare(sign, left, _constant(one) if isinstance(right, Constant) else left)
        case Arithmetic(sign, left, right):
            two = Constant(2)
            changed = Arithmetic(sign, two if isinstance(left, Constant) else left, right)
            if impossible(changed, dated=dated):
                changed = Arithmetic(sign, left, two if isinstance(right, Constant) else right)
            return left if impossible(changed, dated=dated) else changed
        case Like(operand) | In(operand):
            return Compare(">=", operand, operand)
        case Call(_, arguments):
            return Compare(">=", arguments[0], arguments[0])
        case Aggregate(_, variable, name, span):
            return Aggregate("max", variable, name, span)
    return IsNull(part)


def _constant(kind: str | None) -> Constant:
    return Constant({"number": 2, "string": "u", "boolean": True}[kind or "number"])
