"""TEF-SPARQL as text. Brackets only where the grammar needs them to rebuild the same tree; arms with a keyword
always have them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import IntEnum
from functools import partial
from itertools import groupby
from typing import assert_never

from thence.algebra.expressions import Compare, Comparison, Expression, Variable
from thence.algebra.patterns import PatternTerm, TriplePattern
from thence.algebra.show_sparql import Precedence, base_of, expression_items, term_text, verb_text
from thence.algebra.streams import Stream, span_text
from thence.algebra.tef_sparql import (
    UNNAMED,
    Absent,
    Arm,
    Assignment,
    Conjunction,
    ConstructStatement,
    Either,
    HeadTriple,
    OncePer,
    OnEnd,
    OnInit,
    OnStart,
    Open,
    Plain,
    Related,
    Replace,
    SelectStatement,
    Since,
    TefFile,
    TefPattern,
    TefStatement,
    Test,
    Times,
    Until,
    When,
    is_fresh,
)
from thence.algebra.text_items import LayoutMark, TextItem, on_lines, separated
from thence.rdf.events import DEFAULT_NAMESPACE
from thence.rdf.terms import IRI, Literal
from thence.rdf.times import Domain, Instant, time_literal

RESERVED = frozenset(
    {
        *("BASE", "BEFORE", "BIND", "CONSTRUCT", "DECLARE", "DURING", "FILTER", "FROM", "HAPPENSWHILE", "ON", "ONCE"),
        *("ONEND", "ONSTART", "PREFIX", "REPLACE", "SELECT", "SEQ", "SINCE", "TILL", "UNION", "UNTIL", "WHERE"),
        *("WITH", "WITHIN", "WITHOUT"),
    }
)
"""Words that are not bare names."""

_NAME = re.compile(r"[^\W\d](?:[\w-]*\w)?")


class Place(IntEnum):
    """The precedence that a place requires (TEF-66); a pattern of a lower one gets brackets."""

    LIST = 1
    INFIX = 2
    UNARY = 3
    PRIMARY = 4


# Files and statements


def tef_file_items(file: TefFile) -> list[TextItem]:
    """The declarations, then the statements in order, an empty line between each two."""
    blocks: list[list[TextItem]] = []
    base: IRI | None = None
    for number, statement in enumerate(file.statements):
        needed = base_of(statement)
        lines = statement_lines(statement, () if number or _is_default(file) else file.streams)
        if needed is not None and needed != base:
            lines.insert(0, [f"BASE {needed}"])
        base = needed or base
        blocks.append(on_lines(lines))
    first: list[list[TextItem]] = []
    if file.namespace != DEFAULT_NAMESPACE or base is not None:
        first.append([f"PREFIX : {IRI(file.namespace)}"])
    for kind, declared in groupby(file.declared, key=lambda each: each[1]):
        first.append([f"DECLARE {kind.value.upper()} {' '.join(str(predicate) for predicate, _ in declared)}"])
    blocks[:0] = [on_lines(first)] if first else []
    return on_lines([line for block in blocks for line in ([], block)][1:])


def _is_default(file: TefFile) -> bool:
    return file.streams == (Stream(UNNAMED, IRI(file.namespace + UNNAMED)),)


def statement_lines(statement: TefStatement, streams: Iterable[Stream] = ()) -> list[list[TextItem]]:
    """A statement, a clause a line."""
    lines: list[list[TextItem]]
    match statement:
        case ConstructStatement():
            kind = "" if statement.kind is None else f"{statement.kind.value.upper()} "
            lines = [[f"CONSTRUCT {kind}", *separated(", ", [partial(head_items, each) for each in statement.head])]]
        case SelectStatement():
            distinct = "DISTINCT " if statement.distinct else ""
            lines = [[f"SELECT {distinct}{' '.join(map(str, statement.variables))}"]]
        case _:
            assert_never(statement)
    if statement.once_per is not None:
        lines.append(once_per_items(statement.once_per))
    if statement.within is not None:
        lines.append([f"WITHIN {span_text(statement.within)}"])
    lines += [[f"FROM STREAM {_stream_name(stream)}{stream.iri}"] for stream in streams]
    arms = [line for arm in statement.arms for line in (["UNION"], arm_items(arm))][1:]
    lines.append(["WHERE", LayoutMark.INDENT, LayoutMark.LINE, *on_lines(arms), LayoutMark.DEDENT])
    return lines


def _stream_name(stream: Stream) -> str:
    """The name, where it is one that a text can write; any other comes from the IRI."""
    return f"{stream.name} " if _NAME.fullmatch(stream.name) and stream.name.upper() not in RESERVED else ""


def head_items(triple: HeadTriple) -> list[TextItem]:
    """A triple that CONSTRUCT makes."""
    return [
        f"{triple.subject} {verb_text(triple.predicate)} ",
        partial(expression_items, triple.object, Precedence.SUM),
    ]


def once_per_items(once_per: OncePer) -> list[TextItem]:
    """`ONCE PER ?v …, expression …`."""
    expressions = [item for each in once_per.expressions for item in (", ", partial(expression_items, each))]
    return [f"ONCE PER {' '.join(map(str, once_per.variables))}", *expressions]


# Arms


def arm_items(arm: Arm) -> list[TextItem]:
    """The arms that UNION separates."""
    match arm:
        case Plain(pattern):
            return tef_items(pattern)
        case Since(events):
            return ["(SINCE ", partial(tef_items, events), ")"]
        case Until(events):
            return ["(UNTIL ", partial(tef_items, events), ")"]
        case Replace():
            replace: list[TextItem] = [
                "(REPLACE ",
                partial(tef_items, arm.facts),
                " ON ",
                partial(tef_items, arm.events),
            ]
            return [*replace, ")", *(item for step in arm.steps for item in _step(*step))]
        case OnInit(pattern):
            return ["(", partial(tef_items, pattern), " ON INIT)"]
        case _:
            assert_never(arm)


def _step(variable: Variable | None, expression: Expression) -> list[TextItem]:
    """`, expression`; FILTER where it would be read as half a pattern."""
    if variable is not None:
        return [", ", partial(expression_items, Compare(Comparison.EQUAL, variable, expression))]
    if isinstance(expression, Variable | IRI | Literal):
        return [f" FILTER ({term_text(expression)})"]
    return [", ", partial(expression_items, expression)]


# Patterns


def tef_items(pattern: TefPattern, place: Place = Place.LIST) -> list[TextItem]:
    """A pattern, in brackets if it binds less tightly than its place needs."""
    items = _pattern(pattern)
    return ["(", *items, ")"] if _binding(pattern) < place else items


def _binding(pattern: TefPattern) -> int:
    match pattern:
        case Either():
            return 0
        case Conjunction() | Test() | Assignment():
            return Place.LIST
        case Related() | Absent():
            return Place.INFIX
        case OnStart() | OnEnd():
            return Place.UNARY
        case TriplePattern() | Times():
            return Place.PRIMARY
        case _:
            assert_never(pattern)


def _pattern(pattern: TefPattern) -> list[TextItem]:
    match pattern:
        case TriplePattern():
            return [tef_triple_text(pattern)]
        case Times(inner, start, end):
            times = f"[{_when(start)}, {_when(end)}]"
            timed = partial(tef_items, inner, Place.PRIMARY)
            return ["(", timed, ")", times] if isinstance(inner, Times) else [timed, times]
        case Conjunction(left, right):
            return [partial(tef_items, left), ", ", partial(tef_items, right, Place.INFIX)]
        case Test(inner, condition):
            return [partial(tef_items, inner), *_step(None, condition)]
        case Assignment(inner, variable, expression):
            return [partial(tef_items, inner), *_step(variable, expression)]
        case Either(left, right):
            first = partial(_pattern, left) if isinstance(left, Either) else partial(tef_items, left)
            return [first, " UNION ", partial(tef_items, right)]
        case Related(relation, left, right):
            return _infix(left, relation.value, right)
        case Absent(left, right):
            return _infix(left, "WITHOUT", right)
        case OnStart(facts):
            return ["ONSTART ", partial(tef_items, facts, Place.PRIMARY)]
        case OnEnd(facts):
            return ["ONEND ", partial(tef_items, facts, Place.PRIMARY)]
        case _:
            assert_never(pattern)


def _infix(left: TefPattern, operator: str, right: TefPattern) -> list[TextItem]:
    return [partial(tef_items, left, Place.INFIX), f" {operator} ", partial(tef_items, right, Place.UNARY)]


def tef_triple_text(triple: TriplePattern) -> str:
    """A triple; each `?_` as it was written."""
    verb = triple.predicate if isinstance(triple.predicate, Variable) else None
    return (
        f"{_term(triple.subject)} {verb_text(triple.predicate) if verb is None else _term(verb)} {_term(triple.object)}"
    )


def _term(term: PatternTerm) -> str:
    return "?_" if isinstance(term, Variable) and is_fresh(term) else term_text(term)


def _when(when: When) -> str:
    match when:
        case Variable():
            return _term(when)
        case Open():
            return when.value
        case Instant(time, domain):
            return str(time) if domain is Domain.TICKS else str(time_literal(time, domain))
        case _:
            assert_never(when)
