"""Which RSEP-QL queries are refused before any data is read: RS-61, RS-65 to RS-67, and by SPARQL itself.

What RS-64 refuses can't be written as `oracle.rsep_ql_query` data.
"""

from __future__ import annotations

from collections import Counter

from oracle.rsep_ql import GivenReport, settle
from oracle.rsep_ql_query import (
    Aggregate,
    At,
    Bind,
    Construct,
    Event,
    EventDefinition,
    Every,
    Expression,
    Filter,
    Group,
    Interval,
    InWindow,
    Match,
    OnClose,
    OnNonEmpty,
    Query,
    Range,
    Select,
    SubSelect,
    Triples,
    Values,
    every,
    has_aggregate,
    in_scope,
    operands,
    parts,
    shown,
    slots,
    used,
)
from oracle.terms import Blank, Iri, Var


class Meaningless(ValueError):
    """The query is an error."""


def check(query: Query, *, report: GivenReport | None = None, preset: str | None = None) -> None:
    """Raise `Meaningless` if the query is an error."""
    _names(query)
    _numbers(query, report, preset)
    for group in every(Group, query):
        _group(group, query.events)
    for select in every(Select, query):
        _select(select, query.events)
    _labels(query)
    if isinstance(query.form, Construct):
        _refuse(not query.form.template, "an empty template")
        _refuse(not all(isinstance(each.predicate, Var | Iri) for each in query.form.template), "a path in a template")


def is_legal(query: Query, *, report: GivenReport | None = None, preset: str | None = None) -> bool:
    try:
        check(query, report=report, preset=preset)
    except Meaningless:
        return False
    return True


def _names(query: Query) -> None:
    """RS-67."""
    windows = [window.name for window in query.windows]
    events = [event.name for event in query.events]
    _refuse(len(set(windows)) < len(windows), "two windows with one name (RS-67)")
    _refuse(len(set(events)) < len(events), "two EVENTs with one name (RS-67)")
    asked = [*(each.name for each in every(InWindow, query)), *(event.window for event in query.events)]
    _refuse(not set(asked) <= set(windows), "a window that is not declared (RS-67)")
    _refuse(not {each.name for each in every(Event, query)} <= set(events), "an EVENT that is not defined (RS-67)")
    inside = [*every(InWindow, query.events), *every(Match, query.events)]
    _refuse(bool(inside), "WINDOW or MATCH inside EVENT (RS-67)")
    for event in query.events:
        named = [*in_scope(event.group, query.events), *event.times]
        _refuse(len(set(named)) < len(named), "START or END names a variable that the EVENT has")


def _numbers(query: Query, report: GivenReport | None, preset: str | None) -> None:
    settled = settle(query, report=report, preset=preset)
    for window in query.windows:
        match window.function:
            case Range(width, slide):
                _refuse(width <= 0 or (slide is not None and slide <= 0), "RANGE or SLIDE ≤ 0 (RS-65)")
            case Interval(first, last):
                _refuse(first > last, "FROM after TO (RS-65)")
    match settled.report:
        case OnClose() | OnNonEmpty():
            _refuse(not query.slides, "close where no window has SLIDE (RS-66)")
        case Every(period):
            _refuse(period <= 0, "EVERY ≤ 0 (RS-65)")
        case At(times):
            _refuse(not times, "AT without times")
    _refuse(preset == "c-sparql" and not query.slides, "c-sparql where no window has SLIDE (RS-61)")


def _labels(query: Query) -> None:
    """A label of a blank node stands in one triples block only."""
    counts = Counter(
        label
        for block in every(Triples, query)
        for label in {slot.label for pattern in block.patterns for slot in slots(pattern) if isinstance(slot, Blank)}
    )
    _refuse(any(count > 1 for count in counts.values()), "a blank-node label is in two basic graph patterns")


def _group(group: Group, events: tuple[EventDefinition, ...]) -> None:
    """BIND names a new variable; aggregates stand in SELECT, HAVING and ORDER BY only."""
    for number, element in enumerate(group.elements):
        match element:
            case Bind(expression, name):
                _refuse(name in in_scope(Group(group.elements[:number]), events), "BIND names a variable in scope")
                _refuse(has_aggregate(expression), "an aggregate in BIND")
            case Filter(expression):
                _refuse(has_aggregate(expression), "an aggregate in FILTER")
            case Values(names, rows):
                _refuse(any(len(row) != len(names) for row in rows), "a row of VALUES has another length")
            case Triples(patterns):
                _refuse(not patterns, "an empty triples block")
            case SubSelect(select):
                _refuse(not shown(select, events), "a sub-select without columns")


def _select(select: Select, events: tuple[EventDefinition, ...]) -> None:
    inside = in_scope(select.where, events)
    names = shown(select, events)
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


def expressions_of(select: Select) -> list[Expression]:
    """All that stand in a SELECT outside WHERE."""
    columns = [column.expression for column in select.columns or () if column.expression is not None]
    keys = [key.expression for key in select.group_by]
    return [*columns, *keys, *select.having, *(order.expression for order in select.order_by)]


def outside_aggregates(expression: Expression) -> list[str]:
    """The variables that it names outside its aggregates."""
    if isinstance(expression, Aggregate):
        return []
    inner = operands(expression)
    return [name for each in inner for name in outside_aggregates(each)] if inner else used(expression)


def _refuse(wrong: bool, reason: str) -> None:
    if wrong:
        raise Meaningless(reason)
