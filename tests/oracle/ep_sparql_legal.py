"""Which EP-SPARQL files are refused before any data is read: EP-13, EP-51 to EP-53, EP-56, EP-67, and by SPARQL itself.

What EP-11 and EP-16 refuse can't be written as `oracle.ep_sparql_query` data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import assert_never

from oracle.ep_sparql_query import (
    Aggregate,
    Bind,
    Chain,
    Construct,
    Element,
    Expression,
    File,
    Filter,
    Group,
    InGraph,
    Inverse,
    Minus,
    Operator,
    Optional,
    Path,
    Repeat,
    Select,
    SubSelect,
    Triples,
    Values,
    exists_in,
    has_aggregate,
    in_scope,
    operands,
    parts,
    shown,
    slots,
    used,
)
from oracle.ep_sparql_rdfs import SCHEMA
from oracle.ep_sparql_strata import stratified
from oracle.terms import Blank, Graph, Iri, Var


class Meaningless(ValueError):
    """The file is an error."""


def check(file: File, *, background: bool = False, schema: Graph | None = None, policy: str = "unrestricted") -> None:
    """Raise `Meaningless` if the file is an error. `background`: is there one? `schema`: it, closed, if there is
    reasoning."""
    for statement in file:
        whole = statement.where if isinstance(statement, Construct) else Group((SubSelect(statement),))
        _labels(whole)
        _group(whole)
        if isinstance(statement, Construct):
            _template(statement, reasoning=schema is not None)
    _refuse(not stratified(file, schema, background=background), "the rules can't be stratified (EP-53)")
    _refuse(policy != "unrestricted" and not all(map(admits_policy, file)), "no policy applies (EP-67)")


def is_legal(
    file: File, *, background: bool = False, schema: Graph | None = None, policy: str = "unrestricted"
) -> bool:
    try:
        check(file, background=background, schema=schema, policy=policy)
    except Meaningless:
        return False
    return True


def _labels(where: Group) -> None:
    """EP-13: a label of a blank node stands in one triples block only."""
    blocks = (
        {slot.label for pattern in block.patterns for slot in slots(pattern) if isinstance(slot, Blank)}
        for block in triples_blocks(where)
    )
    counts = Counter(label for labels in blocks for label in labels)
    _refuse(any(count > 1 for count in counts.values()), "a blank-node label stands in two operands (EP-13)")


def triples_blocks(group: Group) -> Iterator[Triples]:
    for element in group.elements:
        if isinstance(element, Triples):
            yield element
        for inner in groups_in(element):
            yield from triples_blocks(inner)


def groups_in(element: Element) -> list[Group]:
    """The groups directly in an element, those of EXISTS included."""
    match element:
        case Triples() | Values():
            return []
        case Group():
            return [element]
        case Chain(first, rest):
            return [first, *(right for _, right in rest)]
        case Optional(group) | Minus(group) | InGraph(_, group):
            return [group]
        case Filter(expression) | Bind(expression):
            return exists_in(expression)
        case SubSelect(select):
            return [select.where, *exists_in(*expressions_of(select))]
        case _:
            assert_never(element)


def expressions_of(select: Select) -> list[Expression]:
    """All that stand in a SELECT outside WHERE."""
    columns = [column.expression for column in select.columns or () if column.expression is not None]
    keys = [key.expression for key in select.group_by]
    return [*columns, *keys, *select.having, *(order.expression for order in select.order_by)]


def _group(group: Group) -> None:
    """BIND names a new variable; aggregates stand in SELECT, HAVING and ORDER BY only."""
    for number, element in enumerate(group.elements):
        match element:
            case Bind(expression, name):
                _refuse(name in in_scope(Group(group.elements[:number])), "BIND names a variable in scope")
                _refuse(has_aggregate(expression), "an aggregate in BIND")
            case Filter(expression):
                _refuse(has_aggregate(expression), "an aggregate in FILTER")
            case Values(names, rows):
                _refuse(any(len(row) != len(names) for row in rows), "a row of VALUES has another length")
            case SubSelect(select):
                _select(select)
            case Triples(patterns):
                _refuse(not patterns, "an empty triples block")
        for inner in groups_in(element):
            _group(inner)


def _select(select: Select) -> None:
    inside = in_scope(select.where)
    names = shown(select)
    _refuse(len(set(names)) < len(names), "two columns with one name")
    made = [column.name for column in select.columns or () if column.expression is not None]
    _refuse(bool(set(made) & set(inside)), "AS names a variable in scope")
    aggregates = [part for each in expressions_of(select) for part in parts(each) if isinstance(part, Aggregate)]
    _refuse(any(has_aggregate(part) for each in aggregates for part in operands(each)), "an aggregate in an aggregate")
    _refuse(any(has_aggregate(key.expression) for key in select.group_by), "an aggregate in GROUP BY")
    if not select.aggregated:
        _refuse(bool(select.having), "HAVING without groups")
        return
    _refuse(select.columns is None, "SELECT * of groups")
    known = {key.name for key in select.group_by} | {
        key.expression.name for key in select.group_by if isinstance(key.expression, Var)
    }
    for column in select.columns or ():
        expression = Var(column.name) if column.expression is None else column.expression
        _refuse(not set(outside_aggregates(expression)) <= known, "a column of groups is no key")
        known |= {column.name}
    for each in (*select.having, *(order.expression for order in select.order_by)):
        _refuse(not set(outside_aggregates(each)) <= known, "HAVING or ORDER BY names what is no key")


def outside_aggregates(expression: Expression) -> list[str]:
    """The variables that it names outside its aggregates."""
    if isinstance(expression, Aggregate):
        return []
    inner = operands(expression)
    return [name for each in inner for name in outside_aggregates(each)] if inner else used(expression)


def _template(rule: Construct, *, reasoning: bool) -> None:
    for triple in rule.template:
        _refuse(not isinstance(triple.predicate, Var | Iri), "a path in a template")
        _refuse(reasoning and triple.predicate in SCHEMA, "a rule derives schema (EP-56)")
    _refuse(not rule.template, "an empty template")


def admits_policy(statement: Select | Construct) -> bool:
    """EP-67: a SELECT over a chain of SEQs and filters."""
    if isinstance(statement, Construct):
        return False
    plain = not (statement.distinct or statement.aggregated or statement.sliced or statement.order_by)
    return plain and _has_chain(statement.where) and _seqs(statement.where)


def _has_chain(group: Group) -> bool:
    return any(isinstance(each, Chain) or (isinstance(each, Group) and _has_chain(each)) for each in group.elements)


def _seqs(group: Group) -> bool:
    """A chain of SEQs and filters; or, as an operand of one, triples and filters."""
    matched = [element for element in group.elements if not isinstance(element, Filter)]
    if exists_in(*group.filters) or len(matched) != 1:
        return False
    match matched[0]:
        case Triples(patterns):
            return not any(not isinstance(p.predicate, Var) and _repeats(p.predicate) for p in patterns)
        case Group():
            return _seqs(matched[0])
        case Chain(first, rest):
            return all(operator is Operator.SEQ and _seqs(right) for operator, right in rest) and _seqs(first)
        case _:
            return False


def _repeats(path: Path) -> bool:
    match path:
        case Iri():
            return False
        case Inverse(inner):
            return _repeats(inner)
        case Repeat():
            return True
        case _:
            return _repeats(path.left) or _repeats(path.right)


def _refuse(wrong: bool, reason: str) -> None:
    if wrong:
        raise Meaningless(reason)
