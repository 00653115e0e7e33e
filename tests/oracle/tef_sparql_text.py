"""The oracle's programs as TEF-SPARQL text, with as few parentheses as the grammar needs (TEF-66 to TEF-68)."""

from __future__ import annotations

from typing import assert_never

from oracle.ep_sparql_text import turtle as turtle
from oracle.tef_sparql_query import (
    NAMESPACES,
    And,
    Arithmetic,
    Before,
    Bound,
    Coalesce,
    Compare,
    Condition,
    Conjunction,
    Construct,
    Declare,
    Duration,
    During,
    Expression,
    Forever,
    HeadTriple,
    Not,
    Now,
    OnEnd,
    OnInit,
    OnStart,
    Or,
    Pattern,
    Program,
    Replace,
    Select,
    Seq,
    Since,
    Slot,
    Statement,
    Timed,
    TriplePattern,
    Union,
    Until,
    When,
    With,
    Without,
)
from oracle.terms import Iri, Literal, Var


def text(program: Program) -> str:
    """The program, each WHERE on a line of its own.

    >>> p, f = (TriplePattern(Var("x"), Iri(name), Var("n")) for name in "pf")
    >>> m = TriplePattern(Var("x"), Iri("f"), Var("m"))
    >>> more = Compare("=", Var("n"), Arithmetic("+", Var("m"), Literal("1", "integer")))
    >>> arms = Union(Since(p), Replace(m, Condition(TriplePattern(Var("x"), Iri("q"), Var("_")), more)))
    >>> pair = During(Seq(p, Timed(p, Var("s"), Forever.OPEN)), Conjunction(f, m))
    >>> print(text(Program((
    ...     Construct(None, (HeadTriple(Var("x"), Iri("f"), Var("n")),), arms, within=3),
    ...     Select(("x",), pair),
    ... ), ("S",))))
    PREFIX : <http://example.org/>
    CONSTRUCT ?x :f ?n FROM STREAM S <http://example.org/S> WITHIN 3 TICKS
      WHERE SINCE ?x :p ?n UNION REPLACE ?x :f ?m ON ?x :q ?_, ?n = ?m + 1
    SELECT ?x
      WHERE ?x :p ?n SEQ ?x :p ?n[?s, ∞] DURING (?x :f ?n, ?x :f ?m)
    """
    lines = []
    streams = " ".join(f"FROM STREAM {name} <{NAMESPACES['']}{name}>" for name in program.streams)
    for each in program.statements:
        lines.append(statement(each, streams))
        if not isinstance(each, Declare):
            streams = ""  # they hold for the whole file
    body = "\n".join(lines)
    prefixes = [prefix for prefix in NAMESPACES if not prefix or f"{prefix}:" in body]
    return "\n".join([*(f"PREFIX {prefix}: <{NAMESPACES[prefix]}>" for prefix in prefixes), body])


def statement(found: Statement, streams: str = "") -> str:
    match found:
        case Declare(kind, iris):
            return f"DECLARE {kind.value} {' '.join(map(_slot, iris))}"
        case Construct(kind, head, where):
            made = ", ".join(map(_head, head))
            word = "" if kind is None else f"{kind.value} "
            return _joined(f"CONSTRUCT {word}{made}", streams, *_clauses(found)) + f"\n  WHERE {_pattern(where)}"
        case Select(names, where, distinct):
            shown = " ".join(f"?{name}" for name in names)
            word = "DISTINCT " if distinct else ""
            return _joined(f"SELECT {word}{shown}", streams, *_clauses(found)) + f"\n  WHERE {_pattern(where)}"
        case _:
            assert_never(found)


def _joined(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def _clauses(found: Construct | Select) -> list[str]:
    clauses = []
    if found.once is not None:
        names = " ".join(f"?{name}" for name in found.once.names)
        clauses.append(", ".join([f"ONCE PER {names}", *map(_expression, found.once.expressions)]))
    if found.within is not None:
        clauses.append(f"WITHIN {found.within} TICKS")
    return clauses


def _head(triple: HeadTriple) -> str:
    return f"{_slot(triple.subject)} {_slot(triple.predicate)} {_operand(triple.object)}"


# Patterns: `Pattern`, `Arm`, `List`, `Infix`, `Unary` and `Primary` of the grammar


def _pattern(pattern: Pattern) -> str:
    if isinstance(pattern, Union):
        return f"{_pattern(pattern.left)} UNION {_arm(pattern.right)}"
    return _arm(pattern)


def _arm(pattern: Pattern) -> str:
    match pattern:
        case Since(event):
            return f"SINCE {_list(event)}"
        case Until(event):
            return f"UNTIL {_list(event)}"
        case Replace(fact, event):
            return f"REPLACE {_list(fact)} ON {_list(event)}"
        case OnInit(fact):
            return f"{_list(fact)} ON INIT"
        case _:
            return _list(pattern)


def _list(pattern: Pattern) -> str:
    """
    >>> a, b, c = (TriplePattern(Var("x"), Iri(name), Var("y")) for name in "abc")
    >>> _list(Without(Conjunction(a, b), c)), _list(Conjunction(a, Conjunction(b, c)))
    ('?x :a ?y, ?x :b ?y, WITHOUT ?x :c ?y', '?x :a ?y, (?x :b ?y, ?x :c ?y)')
    >>> _list(Condition(Since(a), Compare("=", Var("n"), Var("y"))))
    '(SINCE ?x :a ?y), ?n = ?y'
    """
    match pattern:
        case Conjunction(left, right):
            return f"{_list(left)}, {_infix(right)}"
        case Condition(inner, expression):
            return f"{_list(inner)}, {_expression(expression)}"
        case Without(Conjunction() | Condition() as left, right):
            return f"{_list(left)}, WITHOUT {_unary(right)}"
        case _:
            return _infix(pattern)


def _infix(pattern: Pattern) -> str:
    match pattern:
        case Without(Conjunction() | Condition()):
            return _group(pattern)
        case Seq(left, right):
            return f"{_infix(left)} SEQ {_unary(right)}"
        case Before(left, right):
            return f"{_infix(left)} BEFORE {_unary(right)}"
        case During(left, right):
            return f"{_infix(left)} DURING {_unary(right)}"
        case With(left, right):
            return f"{_infix(left)} WITH {_unary(right)}"
        case Without(left, right):
            return f"{_infix(left)} WITHOUT {_unary(right)}"
        case _:
            return _unary(pattern)


def _unary(pattern: Pattern) -> str:
    match pattern:
        case OnStart(fact):
            return f"ONSTART {_primary(fact)}"
        case OnEnd(fact):
            return f"ONEND {_primary(fact)}"
        case _:
            return _primary(pattern)


def _primary(pattern: Pattern) -> str:
    match pattern:
        case TriplePattern(subject, predicate, object):
            return f"{_slot(subject)} {_slot(predicate)} {_slot(object)}"
        case Timed(inner, start, end):
            before = _primary(inner) if isinstance(inner, TriplePattern) else _group(inner)
            return f"{before}[{_when(start)}, {_when(end)}]"
        case _:
            return _group(pattern)


def _group(pattern: Pattern) -> str:
    return f"({_pattern(pattern)})"


def _when(when: When) -> str:
    match when:
        case Var(name):
            return f"?{name}"
        case Forever():
            return when.value
        case int():
            return str(when)
        case _:
            assert_never(when)


def _slot(slot: Slot) -> str:
    match slot:
        case Var(name):
            return f"?{name}"
        case Iri(name):
            return name if ":" in name else f":{name}"
        case Literal(lexical, "string"):
            return f'"{lexical}"'
        case Literal(lexical):
            return lexical
        case _:
            assert_never(slot)


# Expressions


def _expression(expression: Expression) -> str:
    """Without parentheses around the whole.

    >>> n, m = Var("n"), Var("m")
    >>> _expression(And(Compare("<", n, Arithmetic("*", m, Arithmetic("+", n, m))), Not(Compare("=", n, m))))
    '?n < ?m * (?n + ?m) && !(?n = ?m)'
    """
    match expression:
        case Or(left, right):
            return f"{_operand(left)} || {_operand(right)}"
        case And(left, right):
            return f"{_conjunct(left)} && {_conjunct(right)}"
        case Compare(operator, left, right):
            return f"{_operand(left)} {operator} {_operand(right)}"
        case _:
            return _operand(expression)


def _conjunct(expression: Expression) -> str:
    return _expression(expression) if isinstance(expression, Compare) else _operand(expression)


def _operand(expression: Expression) -> str:
    """A `Sum`."""
    match expression:
        case Arithmetic(operator, left, right):
            return f"{_factor(left)} {operator} {_factor(right)}"
        case _:
            return _factor(expression)


def _factor(expression: Expression) -> str:
    match expression:
        case Var() | Iri() | Literal():
            return _slot(expression)
        case Now():
            return "now()"
        case Duration(start, end):
            return f"duration({_expression(start)}, {_expression(end)})"
        case Bound(variable):
            return f"bound({_slot(variable)})"
        case Coalesce(several):
            return f"coalesce({', '.join(map(_expression, several))})"
        case Not(operand):
            return f"!{_factor(operand)}"
        case Compare() | Arithmetic() | And() | Or():
            return f"({_expression(expression)})"
        case _:
            assert_never(expression)
