"""The oracle's queries as SASE+ text."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from oracle.sase_query import (
    Aggregate,
    And,
    Arithmetic,
    Attribute,
    Chosen,
    Compare,
    Component,
    Composite,
    Condition,
    Constant,
    Equivalence,
    Expression,
    Group,
    Index,
    IsNull,
    Item,
    Length,
    Not,
    Or,
    PartitionBy,
    Query,
    Sequence,
    Span,
)


def text(query: Query) -> str:
    """The query as a person would write it, but with all parentheses.

    >>> from oracle.sase_notation import read
    >>> where = "skip_till_next_match(a[]!, b) { [symbol] AND b.volume < 0.5 * a[a.LEN].volume }"
    >>> print(text(read(f"STOCK+ a[], ~NEWS n, STOCK b WHERE {where} WITHIN 10 RETURN a[].price AS p")))
    PATTERN SEQ(STOCK+ a[], ~NEWS n, STOCK b)
    WHERE skip_till_next_match(a[]!, b) { [symbol] AND b.volume < (0.5 * a[a.LEN].volume) }
    WITHIN 10 TICKS
    RETURN a[].price AS p
    """
    lines = [] if query.stream is None else [f"FROM {query.stream}"]
    lines.append(f"PATTERN SEQ({', '.join(map(_component, query.components))})")
    parts = [*(_group(query, group) for group in query.groups), *map(_condition, query.conditions)]
    lines += [f"WHERE {' AND '.join(parts)}"] if parts else []
    lines += [] if query.within is None else [f"WITHIN {query.within} TICKS"]
    lines += [] if query.having is None else [f"HAVING {_expression(query.having)}"]
    return "\n".join([*lines, _output(query)])


def _component(component: Component) -> str:
    inner = (
        f"{component.type}+ {component.variable}[]" if component.closure else f"{component.type} {component.variable}"
    )
    if not component.negated:
        return inner
    return f"~({inner})" if component.closure else f"~{inner}"


def _group(query: Query, group: Group) -> str:
    closures = {component.variable for component in query.components if component.closure}
    names = ", ".join(_chosen(each, closures) for each in group.chosen)
    body = [" AND ".join(map(_condition, group.conditions))] if group.conditions else []
    return " ".join([f"{group.strategy.value}({names}) {{", *body, "}"])


def _chosen(chosen: Chosen, closures: set[str]) -> str:
    return chosen.variable + ("[]" if chosen.variable in closures else "") + ("!" if chosen.stop else "")


def _condition(condition: Condition) -> str:
    match condition:
        case Equivalence(attributes):
            return f"[{', '.join(attributes)}]"
        case PartitionBy(attributes):
            return f"PARTITION BY({', '.join(attributes)})"
        case And() | Or():
            return f"({_expression(condition)})"
        case expression:
            return _expression(expression)


def _output(query: Query) -> str:
    by = f" BY {', '.join(query.by)}" if query.by else ""
    return f"{'AGGREGATE' if query.aggregates else 'RETURN'} {', '.join(_items(query.returns))}{by}"


def _items(items: Iterable[Item]) -> list[str]:
    return [_what(item) if item.name is None else f"{_what(item)} AS {item.name}" for item in items]


def _what(item: Item) -> str:
    match item.what:
        case Sequence(variable, attribute):
            return f"{variable}[].{attribute}"
        case Composite(variable, attributes, closure):
            return f"{variable}{'[]' if closure else ''}.({', '.join(attributes)})"
        case expression:
            return _expression(expression)


def column_name(item: Item) -> str:
    """Its AS name, else its text without spaces.

    >>> column_name(Item(Composite("b", ("x", "y"))))
    'b.(x,y)'
    """
    return _what(item).replace(" ", "") if item.name is None else item.name


def _expression(expression: Expression) -> str:
    match expression:
        case Constant(value):
            return _constant(value)
        case Attribute(variable, Index.LAST, attribute):
            return f"{variable}[{variable}.LEN].{attribute}"
        case Attribute(variable, index, attribute):
            return f"{variable}{index.value}.{attribute}"
        case Length(variable):
            return f"{variable}.LEN"
        case Aggregate(function, variable, attribute, span, k):
            return f"{function}({_argument(variable, attribute, span, k)})"
        case Arithmetic(sign, left, right) | Compare(sign, left, right):
            return f"{_inside(left)} {sign} {_inside(right)}"
        case And(left, right):
            return f"{_inside(left)} AND {_inside(right)}"
        case Or(left, right):
            return f"{_inside(left)} OR {_inside(right)}"
        case Not(operand):
            return f"NOT ({_expression(operand)})"
        case IsNull(operand, negated):
            return f"{_inside(operand)} IS {'NOT ' if negated else ''}NULL"
        case _:
            assert_never(expression)


def _inside(expression: Expression) -> str:
    atoms = (Constant, Attribute, Length, Aggregate)
    return _expression(expression) if isinstance(expression, atoms) else f"({_expression(expression)})"


def _constant(value: int | float | str | bool) -> str:
    match value:
        case bool():
            return str(value).upper()
        case str():
            return "'" + value.replace("'", "''") + "'"
        case _:
            return str(value)


def _argument(variable: str | None, attribute: str | None, span: Span, k: int | None) -> str:
    if variable is None:
        return "*"
    shown = f"{variable}{span.value}" + ("" if attribute is None else f".{attribute}")
    return shown if k is None else f"{k}, {shown}"
