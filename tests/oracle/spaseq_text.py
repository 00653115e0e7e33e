"""The oracle's queries as SPAseQ text, and its graphs as Turtle."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from oracle.expressions import And, Arithmetic, Bound, Coalesce, Compare, Expression, Not, Or
from oracle.spaseq_query import (
    Aggregate,
    Column,
    Conjunction,
    Disjunction,
    Gpm,
    Group,
    Part,
    Query,
    Unary,
    Use,
    Within,
)
from oracle.terms import Blank, Graph, Iri, Literal, Term, TriplePattern, Var

NAMESPACE = "http://example.org/"


def text(query: Query) -> str:
    """The query as a person would write it.

    >>> from oracle.spaseq_cases import ask
    >>> print(text(ask("A; (B | C)+, N!", within=5)))
    PREFIX : <http://example.org/>
    SELECT *
    WITHIN 5 TICKS
    FROM STREAM S1 <http://example.org/S1>
    WHERE {
      SEQ (A; (B | C)+, N!)
      DEFINE GPM A ON S1 { ?a :type :A . }
      DEFINE GPM B ON S1 { ?b :type :B . }
      DEFINE GPM C ON S1 { ?c :type :C . }
      DEFINE GPM N ON S1 { ?n :type :N . }
    }
    """
    head = [f"PREFIX : <{NAMESPACE}>", _select(query)]
    if query.within is not None:
        head.append(_within(query.within))
    if query.partition:
        head.append(f"PARTITION BY ({' '.join('?' + name for name in query.partition)})")
    head += [f"FROM STREAM {name} <{NAMESPACE}{name}>" for name in query.streams]
    body = [f"SEQ ({sequence(query)})", *map(_gpm, query.gpms)]
    return "\n".join([*head, "WHERE {", *("  " + line for line in body), "}"])


def _select(query: Query) -> str:
    shown = "*" if query.select is None else " ".join(map(_column, query.select))
    return f"SELECT {'DISTINCT ' if query.distinct else ''}{shown}"


def _column(column: Column) -> str:
    match column.expression:
        case None:
            return f"?{column.name}"
        case Aggregate("COUNT", gpm):
            return f"(COUNT({gpm}) AS ?{column.name})"
        case Aggregate(function, variable):
            return f"({function}(?{variable}) AS ?{column.name})"
        case expression:
            return f"({_expression(expression)} AS ?{column.name})"


def _within(within: Within) -> str:
    if not within.tumbling:
        return f"WITHIN {within.width} TICKS"
    return f"WITHIN {within.width} TICKS TUMBLING" + (f" FROM {within.start}" if within.start else "")


def sequence(query: Query) -> str:
    """What stands in SEQ, with no parentheses but those that it needs."""
    shown = _part(query.parts[0])
    for selection, part in zip(query.selections, query.parts[1:], strict=True):
        shown += f"{selection.value} {_part(part)}"
    return shown


def _part(part: Part) -> str:
    inner = _group(part.group)
    return f"({inner}){part.unary.value}" if part.unary is not Unary.ONCE and " " in inner else inner + part.unary.value


def _group(group: Group) -> str:
    match group:
        case Use(name):
            return name
        case Conjunction(left, right):
            return f"{_inside(left, Disjunction)} & {_inside(right, Disjunction, Conjunction)}"
        case Disjunction(left, right):
            return f"{_group(left)} | {_inside(right, Disjunction)}"
        case _:
            assert_never(group)


def _inside(group: Group, *looser: type[Group]) -> str:
    return f"({_group(group)})" if isinstance(group, looser) else _group(group)


def _gpm(gpm: Gpm) -> str:
    body = [triples(gpm.triples)]
    body += [f"FILTER ({_expression(each)})" for each in gpm.filters]
    body += [f"GRAPH <{NAMESPACE}{block.iri}> {{ {triples(block.triples)} }}" for block in gpm.graphs]
    return f"DEFINE GPM {gpm.name} ON {gpm.stream} {{ {' '.join(body)} }}"


def triples(found: Iterable[TriplePattern]) -> str:
    return " ".join(f"{_slot(s)} {_slot(p)} {_slot(o)} ." for s, p, o in found)


def turtle(graph: Graph) -> str:
    """A graph as Turtle, its prefix included; the lines in their order."""
    lines = sorted(f"{_slot(s)} {_slot(p)} {_slot(o)} ." for s, p, o in graph)
    return "\n".join([f"@prefix : <{NAMESPACE}> .", *lines])


def _slot(slot: Var | Term) -> str:
    match slot:
        case Var(name):
            return f"?{name}"
        case Iri(name):
            return f":{name}"
        case Blank(label):
            return f"_:{label}"
        case Literal(lexical, "string"):
            return f'"{lexical}"'
        case Literal(lexical):
            return lexical
        case _:
            assert_never(slot)


def _expression(expression: Expression) -> str:
    match expression:
        case Var() | Iri() | Blank() | Literal():
            return _slot(expression)
        case Compare(operator, left, right) | Arithmetic(operator, left, right):
            return f"({_expression(left)} {operator} {_expression(right)})"
        case And(left, right):
            return f"({_expression(left)} && {_expression(right)})"
        case Or(left, right):
            return f"({_expression(left)} || {_expression(right)})"
        case Not(operand):
            return f"(! {_expression(operand)})"
        case Bound(variable):
            return f"BOUND({_slot(variable)})"
        case Coalesce(operands):
            return f"COALESCE({', '.join(map(_expression, operands))})"
        case _:
            assert_never(expression)
