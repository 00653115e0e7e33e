"""The oracle's queries as RSEP-QL text, in the form of the paper's Example 4."""

from __future__ import annotations

from functools import partial
from typing import assert_never

from oracle.ep_sparql_text import _pattern, _slot, turtle
from oracle.rsep_ql_query import (
    NAMESPACES,
    Aggregate,
    And,
    Apart,
    Arithmetic,
    Ask,
    At,
    Bind,
    Bound,
    Coalesce,
    Column,
    Compare,
    Construct,
    Element,
    Event,
    EventDefinition,
    EventPattern,
    Every,
    Exists,
    Expression,
    Filter,
    First,
    Form,
    Group,
    Identity,
    If,
    InGraph,
    Interval,
    InWindow,
    Key,
    Landmark,
    Last,
    Match,
    Minus,
    NamedWindow,
    Not,
    Now,
    OnClose,
    OnContent,
    OnNonEmpty,
    Optional,
    Or,
    Order,
    Query,
    Range,
    Report,
    Select,
    Seq,
    SubSelect,
    Triples,
    Union,
    Values,
    full,
)
from oracle.terms import Blank, Iri, Literal, Term, Var, moment

__all__ = ["text", "turtle", "written_length", "written_time"]


def text(query: Query) -> str:
    """The query, a clause a line.

    >>> from oracle.rsep_ql_query import EventDefinition, Output, Pattern
    >>> e1, e2 = (Group((Triples((Pattern(Var(s), Iri(p), Var(o)),)),)) for s, p, o in ("xpy", "yqz"))
    >>> print(text(Query(
    ...     Select((Column("x"), Column("z")), Group((Match(Seq(Event("E1"), First(Event("E2")))),))),
    ...     (NamedWindow("w1", "S", Landmark(1)), NamedWindow("w2", "S", Range(5, 2))),
    ...     (EventDefinition("E1", "w1", e1), EventDefinition("E2", "w2", e2)),
    ...     report=At((1, 5)), output=Output.ISTREAM)))
    PREFIX : <http://example.org/>
    REGISTER ISTREAM :out AS
    SELECT ?x ?z
    FROM NAMED :S WIN [LND 1] AS :w1
    FROM NAMED :S WIN [RANGE 5 SLIDE 2] AS :w2
    REPORT AT 1, 5
    EVENT ON :w1 { ?x :p ?y . } AS E1
    EVENT ON :w2 { ?y :q ?z . } AS E2
    WHERE { MATCH { E1 SEQ (FIRST E2) } }
    """
    lines = [f"PREFIX : <{NAMESPACES['']}>"]
    if query.output is not None:
        lines.append(f"REGISTER {query.output.value} :out AS")
    form = query.form
    lines.append(_form(form))
    lines += [f"FROM <{full(Iri(iri))}>" for iri in query.graphs]
    lines += [f"FROM NAMED <{full(Iri(iri))}>" for iri in query.named_graphs]
    lines += (_window(window, dates=query.dates) for window in query.windows)
    if query.report is not None:
        lines.append(f"REPORT {_report(query.report, dates=query.dates)}")
    lines += map(_event, query.events)
    lines.append(f"WHERE {_group(form.where)}")
    if isinstance(form, Select):
        lines += _modifiers(form)
    return "\n".join(lines)


def _form(form: Form) -> str:
    match form:
        case Select():
            return _head(form)
        case Construct():
            return f"CONSTRUCT {{ {_triples(form)} }}"
        case Ask():
            return "ASK"


def _event(event: EventDefinition) -> str:
    times = [f" {word} ?{name}" for word, name in (("START", event.start), ("END", event.end)) if name is not None]
    return f"EVENT ON :{event.window} {_group(event.group)} AS {event.name}{''.join(times)}"


def written_length(length: int, *, dates: bool) -> str:
    return f"{length}s" if dates else str(length)


def written_time(time: int, *, dates: bool) -> str:
    return moment(time).lexical if dates else str(time)


def _window(window: NamedWindow, *, dates: bool) -> str:
    length, time = partial(written_length, dates=dates), partial(written_time, dates=dates)
    match window.function:
        case Range(width, None):
            brackets = f"[RANGE {length(width)}] "
        case Range(width, slide):
            brackets = f"[RANGE {length(width)} SLIDE {length(slide)}] "
        case Landmark(start):
            brackets = f"[LND {time(start)}] "
        case Interval(first, last):
            brackets = f"[FROM {time(first)} TO {time(last)}] "
        case Identity(written):
            brackets = "[] " if written else ""
        case _:
            assert_never(window.function)
    return f"FROM NAMED :{window.stream} WIN {brackets}AS :{window.name}"


def _report(report: Report, *, dates: bool) -> str:
    match report:
        case OnContent():
            return "ON CONTENT"
        case OnClose():
            return "ON CLOSE"
        case OnNonEmpty():
            return "ON NON_EMPTY_CONTENT"
        case Every(period):
            return f"EVERY {written_length(period, dates=dates)}"
        case At(times):
            return f"AT {', '.join(written_time(time, dates=dates) for time in times)}"
        case _:
            assert_never(report)


def _event_pattern(pattern: EventPattern) -> str:
    """
    >>> a, b, c = map(Event, "ABC")
    >>> _event_pattern(Seq(Seq(First(a), b), Last(Seq(b, c))))
    'FIRST A SEQ B SEQ (LAST (B SEQ C))'
    """
    match pattern:
        case Event(name):
            return name
        case First(inner):
            return f"FIRST {_inside(inner)}"
        case Last(inner):
            return f"LAST {_inside(inner)}"
        case Seq(left, right, policy):
            return f"{_event_pattern(left)} SEQ {'' if policy is None else policy.value + ' '}{_inside(right)}"
        case _:
            assert_never(pattern)


def _inside(pattern: EventPattern) -> str:
    return pattern.name if isinstance(pattern, Event) else f"({_event_pattern(pattern)})"


def _head(select: Select) -> str:
    columns = "*" if select.columns is None else " ".join(map(_column, select.columns))
    return f"SELECT {'DISTINCT ' if select.distinct else ''}{columns}"


def _modifiers(select: Select) -> list[str]:
    clauses = []
    if select.group_by:
        clauses.append("GROUP BY " + " ".join(map(_key, select.group_by)))
    if select.having:
        clauses.append("HAVING " + " ".join(f"({_expression(each)})" for each in select.having))
    if select.order_by:
        clauses.append("ORDER BY " + " ".join(map(_order, select.order_by)))
    if select.limit is not None:
        clauses.append(f"LIMIT {select.limit}")
    if select.offset:
        clauses.append(f"OFFSET {select.offset}")
    return clauses


def _column(column: Column) -> str:
    return f"?{column.name}" if column.expression is None else f"({_expression(column.expression)} AS ?{column.name})"


def _key(key: Key) -> str:
    if key.name is None:
        return f"?{key.expression.name}" if isinstance(key.expression, Var) else f"({_expression(key.expression)})"
    return f"({_expression(key.expression)} AS ?{key.name})"


def _order(order: Order) -> str:
    return f"{'DESC' if order.descending else 'ASC'}({_expression(order.expression)})"


def _triples(form: Construct | Triples) -> str:
    patterns = form.template if isinstance(form, Construct) else form.patterns
    return " ".join(f"{_pattern(pattern)} ." for pattern in patterns)


def _group(group: Group) -> str:
    return f"{{ {' '.join(map(_element, group.elements))} }}" if group.elements else "{ }"


def _element(element: Element) -> str:
    match element:
        case Triples():
            return _triples(element)
        case Group():
            return _group(element)
        case Union(arms):
            return " UNION ".join(map(_group, arms))
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
            shown = " ".join(f"({' '.join(map(_value, row))})" for row in rows)
            return f"VALUES ({' '.join('?' + name for name in names)}) {{ {shown} }}"
        case InGraph(graph, group):
            return f"GRAPH {_slot(graph)} {_group(group)}"
        case SubSelect(select):
            return f"{{ {' '.join([_head(select), 'WHERE', _group(select.where), *_modifiers(select)])} }}"
        case InWindow(name, group):
            return f"WINDOW :{name} {_group(group)}"
        case Match(pattern):
            return f"MATCH {{ {_event_pattern(pattern)} }}"
        case _:
            assert_never(element)


def _value(value: Term | None) -> str:
    return "UNDEF" if value is None else _slot(value)


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
        case Now():
            return "NOW()"
        case Apart(operator, later, earlier, seconds):
            duration = f'"PT{seconds}S"^^<http://www.w3.org/2001/XMLSchema#dayTimeDuration>'
            return f"(({_expression(later)} - {_expression(earlier)}) {operator} {duration})"
        case Exists(group):
            return f"EXISTS {_group(group)}"
        case Aggregate(function, argument, distinct):
            inside = "*" if argument is None else _expression(argument)
            return f"{function}({'DISTINCT ' if distinct else ''}{inside})"
        case _:
            assert_never(expression)
