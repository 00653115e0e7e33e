"""The oracle's queries as SASE+ text."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import assert_never

from oracle.sase_query import (
    OWN,
    Aggregate,
    And,
    Arithmetic,
    Attribute,
    Call,
    Chosen,
    Compare,
    Component,
    Composite,
    Condition,
    Constant,
    Equivalence,
    Expression,
    Given,
    Group,
    In,
    Index,
    IsNull,
    Item,
    Key,
    Length,
    Like,
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
    lines = [f"FROM {', '.join(query.streams)}"] if query.streams else []
    lines.append(f"PATTERN SEQ({', '.join(map(_component, query.components))})")
    parts = [*(_group(query, group) for group in query.groups), *map(_condition, query.conditions)]
    lines += [f"WHERE {' AND '.join(parts)}"] if parts else []
    lines += [] if query.within is None else [f"WITHIN {query.within} {'MINUTES' if query.dated else 'TICKS'}"]
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
            return f"[{_names(attributes)}]"
        case PartitionBy(keys):
            return f"PARTITION BY({', '.join(map(_key, keys))})"
        case And() | Or():
            return f"({_expression(condition)})"
        case expression:
            return _expression(expression)


def _output(query: Query) -> str:
    items = ", ".join(_items(query.returns))
    if query.made is not None:
        event = items if query.made.type is None else f"({items}) AS {query.made.type}"
        return f"RETURN {event} IN STREAM {query.made.stream}"
    by = f" BY {', '.join(map(_key, query.by))}" if query.by else ""
    return f"{'AGGREGATE' if query.aggregates else 'RETURN'} {items}{by}"


def _items(items: Iterable[Item]) -> list[str]:
    return [_what(item) if item.name is None else f"{_what(item)} AS {item.name}" for item in items]


def _what(item: Item) -> str:
    match item.what:
        case Sequence(variable, attribute):
            return f"{variable}[].{_name(attribute)}"
        case Composite(variable, attributes, closure):
            return f"{variable}{'[]' if closure else ''}.({_names(attributes)})"
        case expression:
            return _expression(expression)


def column_name(item: Item) -> str:
    """Its AS name, else its text without spaces.

    >>> column_name(Item(Composite("b", ("x", "y"))))
    'b.(x,y)'
    """
    return _what(item).replace(" ", "") if item.name is None else item.name


def _key(key: Key) -> str:
    return _name(key) if isinstance(key, str) else _expression(key)


def key_name(key: Key) -> str:
    """What a column of BY is called: the attribute, or the text without spaces."""
    return key if isinstance(key, str) else _expression(key).replace(" ", "")


def _expression(expression: Expression) -> str:
    match expression:
        case Constant(value, written):
            return written or _constant(value)
        case Attribute(variable, _, attribute) if variable == OWN:
            return _name(attribute)
        case Attribute(variable, Index.LAST, attribute):
            return f"{variable}[{variable}.LEN].{_name(attribute)}"
        case Attribute(variable, index, attribute):
            return f"{variable}{index.value}.{_name(attribute)}"
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
        case In(operand, choices, negated):
            return f"{_inside(operand)} {'NOT ' if negated else ''}IN ({', '.join(map(_inside, choices))})"
        case Like(operand, pattern, negated):
            return f"{_inside(operand)} {'NOT ' if negated else ''}LIKE {_constant(pattern)}"
        case Call(function, arguments):
            return f"{function}({', '.join(map(_inside, arguments))})"
        case _:
            assert_never(expression)


def _inside(expression: Expression) -> str:
    atoms = (Constant, Attribute, Length, Aggregate, Call)
    return _expression(expression) if isinstance(expression, atoms) else f"({_expression(expression)})"


def _names(names: Iterable[str]) -> str:
    return ", ".join(map(_name, names))


def _name(name: str) -> str:
    """In backquotes, if it is not a word."""
    return name if re.fullmatch(r"\w+", name) else f"`{name}`"


def _constant(value: Given) -> str:
    match value:
        case bool():
            return str(value).upper()
        case str():
            return "'" + value.replace("'", "''") + "'"
        case float():
            return f"{value}e0"
        case _:
            return str(value)


def _argument(variable: str | None, attribute: str | None, span: Span, k: int | None) -> str:
    if variable is None:
        return "*"
    shown = f"{variable}{span.value}" + ("" if attribute is None else f".{_name(attribute)}")
    return shown if k is None else f"{k}, {shown}"
