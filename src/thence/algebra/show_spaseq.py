"""SPAseQ queries as text. Brackets only where the grammar needs them to rebuild the same tree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import assert_never

from thence.algebra.patterns import Extend, Graph, Join, LeftJoin, Minus, Pattern
from thence.algebra.show_sparql import elements, expression_items, template_items
from thence.algebra.spaseq import (
    Conjunction,
    ConstructEvents,
    Disjunction,
    Gpm,
    IterationAggregate,
    Occurrence,
    Operand,
    Quantifier,
    SelectColumn,
    SelectRows,
    SequencePart,
    SequenceQuery,
    occurrences,
)
from thence.algebra.streams import window_text
from thence.algebra.text_items import BracedGroup, LayoutMark, TextItem, on_lines
from thence.rdf.terms import Literal


def sequence_items(query: SequenceQuery) -> list[TextItem]:
    """A whole query, its clauses in the order of the paper."""
    lines: list[list[TextItem]] = [_form(query.form)]
    if query.window is not None:
        lines.append([window_text(query.window)])
    if query.partition:
        lines.append([f"PARTITION BY ({' '.join(map(str, query.partition))})"])
    lines += [[f"FROM STREAM {stream.name} {stream.iri}"] for stream in query.streams]
    body = [["SEQ (", *_sequence(query.sequence), ")"], *_added(query), *map(_gpm, query.gpms)]
    lines.append(
        ["WHERE {", LayoutMark.INDENT, LayoutMark.LINE, *on_lines(body), LayoutMark.DEDENT, LayoutMark.LINE, "}"]
    )
    return on_lines(lines)


def _added(query: SequenceQuery) -> Iterator[list[TextItem]]:
    """The parts that rules have added, and that no parser reads."""
    for part in query.sequence:
        for condition in part.demands:
            yield ["AFTER ", *operand_items(part.operand), " FILTER (", partial(expression_items, condition), ")"]
    names = {found.place: found.gpm for part in query.sequence for found in occurrences(part.operand)}
    for late in query.late:
        yield [f"AT THE END {names[late.place]} GRAPH {late.block.name} ", BracedGroup(late.block.pattern)]


def _form(form: SelectRows | ConstructEvents) -> list[TextItem]:
    match form:
        case SelectRows():
            columns = [item for column in form.columns for item in (" ", *_column(column))]
            return ["SELECT", " DISTINCT" if form.distinct else "", *(columns or [" *"])]
        case ConstructEvents():
            return ["CONSTRUCT ", *template_items(form.template)]
        case _:
            assert_never(form)


def _column(column: SelectColumn) -> list[TextItem]:
    if column.expression is None:
        return [str(column.variable)]
    aggregates = {str(variable): aggregate_text(aggregate) for variable, aggregate in column.aggregates}
    return ["(", *_with_aggregates(expression_items(column.expression), aggregates), f" AS {column.variable})"]


def _with_aggregates(items: Sequence[TextItem], aggregates: Mapping[str, str]) -> list[TextItem]:
    """The items of an expression, with the aggregates in the places of the variables that stand for them."""
    return [_with_aggregate(item, aggregates) for item in items]


def _with_aggregate(item: TextItem, aggregates: Mapping[str, str]) -> TextItem:
    match item:
        case str():
            return aggregates.get(item, item)
        case LayoutMark() | BracedGroup():
            return item
        case later:
            return lambda: _with_aggregates(later(), aggregates)


def aggregate_text(aggregate: IterationAggregate) -> str:
    """An aggregate as it is in SELECT.

    >>> from thence.algebra.spaseq import IterationFunction
    >>> aggregate_text(IterationAggregate(IterationFunction.COUNT, "B"))
    'COUNT(B)'
    """
    separator = "" if aggregate.separator is None else f"; SEPARATOR = {Literal(aggregate.separator)}"
    return f"{aggregate.function.value}({'DISTINCT ' if aggregate.distinct else ''}{aggregate.of}{separator})"


def _sequence(sequence: Sequence[SequencePart]) -> list[TextItem]:
    items: list[TextItem] = []
    for part in sequence:
        items += [f"{part.selection.value} " if part.selection else "", *_part(part)]
    return items


def _part(part: SequencePart) -> list[TextItem]:
    quantified = part.quantifier is not Quantifier.ONE
    return [*operand_items(part.operand, bracket=_BINDING[Occurrence] if quantified else 0), part.quantifier.value]


_BINDING: Mapping[type[Operand], int] = {Disjunction: 1, Conjunction: 2, Occurrence: 3}


def operand_items(operand: Operand, *, bracket: int = 0) -> list[TextItem]:
    """An operand, in brackets if it binds less tightly than its place requires."""
    binding = _BINDING[type(operand)]
    match operand:
        case Occurrence():
            return [operand.gpm]
        case Conjunction() | Disjunction():
            sign = " & " if isinstance(operand, Conjunction) else " | "
            left = partial(operand_items, operand.left, bracket=binding)
            right = partial(operand_items, operand.right, bracket=binding + 1)  # both operators lean left
            return ["(", left, sign, right, ")"] if binding < bracket else [left, sign, right]
        case _:
            assert_never(operand)


def _gpm(gpm: Gpm) -> list[TextItem]:
    lines: list[list[TextItem]] = [[BracedGroup(gpm.pattern)]] if _shows_graph(gpm.pattern) else elements(gpm.pattern)
    lines += [[f"GRAPH {graph.name} ", BracedGroup(graph.pattern)] for graph in gpm.graphs]
    lines += [["FILTER (", partial(expression_items, condition), ")"] for condition in gpm.filters]
    start = f"DEFINE GPM {gpm.name} ON {gpm.stream} {{"
    if not lines:
        return [f"{start} }}"]
    return [start, LayoutMark.INDENT, LayoutMark.LINE, *on_lines(lines), LayoutMark.DEDENT, LayoutMark.LINE, "}"]


def _shows_graph(pattern: Pattern) -> bool:
    """Whether a GRAPH block would be at the top level of the GPM, where it is read as one of `graphs`."""
    while isinstance(pattern, Join | LeftJoin | Minus | Extend):
        if isinstance(pattern, Join) and isinstance(pattern.right, Graph):
            return True
        pattern = pattern.pattern if isinstance(pattern, Extend) else pattern.left
    return isinstance(pattern, Graph)
