"""The oracle's files as EP-SPARQL text, and its graphs as Turtle."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from oracle.ep_sparql_query import (
    NAMESPACES,
    Aggregate,
    And,
    Arithmetic,
    Bind,
    Bound,
    Chain,
    Coalesce,
    Column,
    Compare,
    Construct,
    Either,
    Element,
    Exists,
    Expression,
    File,
    Filter,
    Group,
    If,
    InGraph,
    Inverse,
    Key,
    Minus,
    Not,
    Optional,
    Or,
    Order,
    Path,
    Pattern,
    Repeat,
    Select,
    Statement,
    Steps,
    SubSelect,
    TimeFunction,
    Triples,
    Values,
)
from oracle.terms import Blank, Iri, Literal, Term, Triple, Var


def text(file: File, *, loose: bool = False) -> str:
    """The file with full braces. Statements stand one after the other, below all prefixes. `loose`: with as few braces
    as EP-9, EP-10 and EP-12 allow.

    >>> from oracle.ep_sparql_query import Operator
    >>> a, b = (Group((Triples((Pattern(Var("x"), Iri(p), Var("y")),)),)) for p in "pq")
    >>> print(text((Select(None, Group((Chain(a, ((Operator.SEQ, b),)),))),)))
    PREFIX : <http://example.org/>
    SELECT * WHERE {
      { ?x :p ?y . } SEQ { ?x :q ?y . }
    }
    >>> print(text((Select(None, Group((Chain(a, ((Operator.SEQ, b),)),))),), loose=True))
    PREFIX : <http://example.org/>
    SELECT * WHERE
      ?x :p ?y . SEQ ?x :q ?y .
    """
    body = "\n".join(statement(each, loose=loose) for each in file)
    prefixes = [prefix for prefix in NAMESPACES if not prefix or f"{prefix}:" in body]
    return "\n".join([*(f"PREFIX {prefix}: <{NAMESPACES[prefix]}>" for prefix in prefixes), body])


def statement(found: Statement, *, loose: bool = False) -> str:
    where = _loose(found.where) if loose else f" {{\n{_lines(map(_element, found.where.elements))}\n}}"
    match found:
        case Select():
            return select(found, where, "\n")
        case Construct(template):
            made = " ".join(f"{_pattern(pattern)} ." for pattern in template)
            return f"CONSTRUCT {{ {made} }} WHERE{where}"
        case _:
            assert_never(found)


def _lines(elements: Iterable[str]) -> str:
    return "\n".join(f"  {element}" for element in elements)


def _loose(group: Group) -> str:
    """A statement's group without its braces (EP-12), and its chains with as few as possible."""
    if not group.elements:
        return " { }"
    shown = []
    for number, element in enumerate(group.elements):
        before, after = group.elements[:number], group.elements[number + 1 :]
        shown.append(_loose_chain(element, before, after) if isinstance(element, Chain) else _element(element))
    return "\n" + _lines(shown)


def _loose_chain(chain: Chain, before: tuple[Element, ...], after: tuple[Element, ...]) -> str:
    """An operand that is a triples block needs no braces, if no other block is beside it (EP-9). Nor does a first
    operand that ends in OPTIONAL, if the chain is first in its group (EP-10)."""
    first, *rest = (chain.first, *(right for _, right in chain.rest))
    shown = [_group(operand) if not _is_block(operand) else _element(operand.elements[0]) for operand in (first, *rest)]
    if any(isinstance(element, Triples | Filter) for element in before):
        shown[0] = _group(first)
    if any(isinstance(element, Triples) for element in after):
        shown[-1] = _group(rest[-1])
    if not before and first.elements and isinstance(first.elements[-1], Optional) and not first.filters:
        shown[0] = " ".join(map(_element, first.elements))
    operators = (operator.value for operator, _ in chain.rest)
    return " ".join([shown[0], *(f"{operator} {right}" for operator, right in zip(operators, shown[1:], strict=True))])


def _is_block(group: Group) -> bool:
    return len(group.elements) == 1 and isinstance(group.elements[0], Triples)


def select(found: Select, where: str | None = None, between: str = " ") -> str:
    columns = "*" if found.columns is None else " ".join(map(_column, found.columns))
    head = f"SELECT {'DISTINCT ' if found.distinct else ''}{columns} WHERE"
    clauses = [head + (where or " " + _group(found.where))]
    if found.group_by:
        clauses.append("GROUP BY " + " ".join(map(_key, found.group_by)))
    if found.having:
        clauses.append("HAVING " + " ".join(f"({_expression(each)})" for each in found.having))
    if found.order_by:
        clauses.append("ORDER BY " + " ".join(map(_order, found.order_by)))
    if found.limit is not None:
        clauses.append(f"LIMIT {found.limit}")
    if found.offset:
        clauses.append(f"OFFSET {found.offset}")
    return between.join(clauses)


def _column(column: Column) -> str:
    return f"?{column.name}" if column.expression is None else f"({_expression(column.expression)} AS ?{column.name})"


def _key(key: Key) -> str:
    if key.name is None:
        return f"?{key.expression.name}" if isinstance(key.expression, Var) else f"({_expression(key.expression)})"
    return f"({_expression(key.expression)} AS ?{key.name})"


def _order(order: Order) -> str:
    return f"{'DESC' if order.descending else 'ASC'}({_expression(order.expression)})"


def _group(group: Group) -> str:
    return f"{{ {' '.join(map(_element, group.elements))} }}" if group.elements else "{ }"


def _element(element: Element) -> str:
    match element:
        case Triples(patterns):
            return " ".join(f"{_pattern(pattern)} ." for pattern in patterns)
        case Group():
            return _group(element)
        case Chain(first, rest):
            return " ".join([_group(first), *(f"{operator.value} {_group(right)}" for operator, right in rest)])
        case Optional(group):
            return f"OPTIONAL {_group(group)}"
        case Minus(group):
            return f"MINUS {_group(group)}"
        case Filter(Exists(group)):
            return f"FILTER EXISTS {_group(group)}"
        case Filter(Not(Exists(group))):
            return f"FILTER NOT EXISTS {_group(group)}"
        case Filter(expression):
            return f"FILTER ({_expression(expression)})"
        case Bind(expression, name):
            return f"BIND ({_expression(expression)} AS ?{name})"
        case Values(names, rows):
            shown = " ".join(f"({' '.join(_value(value) for value in row)})" for row in rows)
            return f"VALUES ({' '.join('?' + name for name in names)}) {{ {shown} }}"
        case InGraph(iri, group):
            return f"GRAPH :{iri} {_group(group)}"
        case SubSelect(inner):
            return f"{{ {select(inner)} }}"
        case _:
            assert_never(element)


def _value(value: Term | None) -> str:
    return "UNDEF" if value is None else _slot(value)


def _pattern(pattern: Pattern) -> str:
    predicate = pattern.predicate
    middle = _slot(predicate) if isinstance(predicate, Var) else _path(predicate)
    return f"{_slot(pattern.subject)} {middle} {_slot(pattern.object)}"


def _path(path: Path) -> str:
    """
    >>> _path(Repeat(Steps(Iri("p"), Inverse(Iri("q"))), "+"))
    '(:p/^:q)+'
    """
    match path:
        case Iri():
            return _slot(path)
        case Inverse(inner):
            return f"^{_inside(inner)}"
        case Steps(left, right):
            return f"{_inside(left)}/{_inside(right)}"
        case Either(left, right):
            return f"{_inside(left)}|{_inside(right)}"
        case Repeat(inner, sign):
            return f"({_path(inner)}){sign}" if not isinstance(inner, Iri) else _path(inner) + sign
        case _:
            assert_never(path)


def _inside(path: Path) -> str:
    simple = isinstance(path, Iri) or (isinstance(path, Inverse) and isinstance(path.path, Iri))
    return _path(path) if simple else f"({_path(path)})"


def _slot(slot: Var | Term) -> str:
    match slot:
        case Var(name):
            return f"?{name}"
        case Iri(name):
            return name if ":" in name else f":{name}"
        case Blank(label):
            return f"_:{label}"
        case Literal(lexical, "string"):
            return f'"{lexical}"'
        case Literal(lexical, "float" | "dateTime" as datatype):
            return f'"{lexical}"^^<http://www.w3.org/2001/XMLSchema#{datatype}>'
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
        case Not(Exists(group)):
            return f"NOT EXISTS {_group(group)}"
        case Not(operand):
            return f"(! {_expression(operand)})"
        case Bound(variable):
            return f"BOUND({_slot(variable)})"
        case Coalesce(several):
            return f"COALESCE({', '.join(map(_expression, several))})"
        case If(condition, then, otherwise):
            return f"IF({_expression(condition)}, {_expression(then)}, {_expression(otherwise)})"
        case TimeFunction():
            return f"{expression.value}()"
        case Exists(group):
            return f"EXISTS {_group(group)}"
        case Aggregate(function, argument, distinct):
            inside = "*" if argument is None else _expression(argument)
            return f"{function}({'DISTINCT ' if distinct else ''}{inside})"
        case _:
            assert_never(expression)


def turtle(triples: Iterable[Triple]) -> str:
    """Triples as Turtle, all prefixes included; the lines in their order."""
    lines = sorted(f"{_slot(s)} {_slot(p)} {_slot(o)} ." for s, p, o in triples)
    return "\n".join([*(f"@prefix {prefix}: <{iri}> ." for prefix, iri in NAMESPACES.items()), *lines])
