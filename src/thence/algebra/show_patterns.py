"""Patterns as SPARQL text: the group that the parser turns into this very tree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from thence.algebra.chains import FEW
from thence.algebra.expressions import Expression
from thence.algebra.patterns import (
    Bgp,
    Extend,
    Filter,
    Graph,
    Join,
    LeftJoin,
    MatchPattern,
    Minus,
    PathPattern,
    Pattern,
    SubSelect,
    TemporalJoin,
    TemporalOperator,
    TriplePattern,
    Union,
    Values,
    WindowPattern,
)
from thence.algebra.show_events import match_items, window_head, with_filters
from thence.algebra.show_expressions import expression_items, path_items, term_text, verb_text
from thence.algebra.text_writer import BracedGroup, LayoutMark, TextItem, on_lines

EMPTY = Bgp(())


def group_items(pattern: Pattern, select: Callable[[SubSelect], list[TextItem]]) -> list[TextItem]:
    """`{ … }`, which the parser reads as the pattern."""
    if pattern == EMPTY:
        return ["{ }"]
    body = select(pattern) if isinstance(pattern, SubSelect) else _lines(pattern)
    return ["{", LayoutMark.INDENT, LayoutMark.LINE, *body, LayoutMark.DEDENT, LayoutMark.LINE, "}"]


def triple_items(triple: TriplePattern | PathPattern) -> list[TextItem]:
    verb: list[TextItem] = (
        [verb_text(triple.predicate)] if isinstance(triple, TriplePattern) else path_items(triple.path)
    )
    return [term_text(triple.subject), " ", *verb, " ", term_text(triple.object)]


def triples_items(triples: Sequence[TriplePattern | PathPattern]) -> list[TextItem]:
    """Triples a line each."""
    return on_lines([[*triple_items(triple), " ."] for triple in triples])


def template_items(triples: Sequence[TriplePattern]) -> list[TextItem]:
    """The template of CONSTRUCT, with its braces."""
    if not triples:
        return ["{ }"]
    return ["{", LayoutMark.INDENT, LayoutMark.LINE, *triples_items(triples), LayoutMark.DEDENT, LayoutMark.LINE, "}"]


def values_items(values: Values) -> list[TextItem]:
    names = " ".join(map(str, values.variables))
    rows = [" ".join("UNDEF" if term is None else term_text(term) for term in row) for row in values.rows]
    return [f"VALUES ({names}) {{ ", *(f"({row}) " for row in rows), "}"]


def _lines(pattern: Pattern) -> list[TextItem]:
    """What stands between a group's braces. Only the outermost filter is the group's own; any other has a group too."""
    if isinstance(pattern, Filter):
        return on_lines(with_filters(elements(pattern.pattern), pattern.condition))
    return on_lines(elements(pattern))


def elements(pattern: Pattern) -> list[list[TextItem]]:
    """The elements of a group, from the tree's left spine: the last one is at its top."""
    found: list[list[TextItem]] = []
    joined: list[Pattern] = []  # operands of the joins in hand, last first
    while True:
        match pattern:
            case Join() if len(joined) < FEW - 1:
                joined.append(pattern.right)
                pattern = pattern.left
                continue
            case LeftJoin():
                left, element = pattern.left, _optional(pattern)
            case Minus():
                left, element = pattern.left, ["MINUS ", BracedGroup(pattern.right)]
            case Extend():
                bound = partial(expression_items, pattern.expression)
                left, element = pattern.pattern, ["BIND (", bound, f" AS {pattern.variable})"]
            case _:
                first = [] if pattern == EMPTY else [pattern]
                return [*_operands([*first, *reversed(joined)]), *found]
        found[:0] = [element, *_operands(joined[::-1])]
        joined, pattern = [], left


def _optional(pattern: LeftJoin) -> list[TextItem]:
    return ["OPTIONAL ", *_conditional(pattern.right, pattern.condition)]


def _conditional(pattern: Pattern, condition: Expression | None) -> list[TextItem]:
    """The group's own filter is the condition: a filter that is part of the pattern needs braces of its own."""
    if condition is not None:
        return [BracedGroup(Filter(condition, pattern))]
    return ["{ ", BracedGroup(pattern), " }"] if isinstance(pattern, Filter) else [BracedGroup(pattern)]


def _operands(patterns: list[Pattern]) -> list[list[TextItem]]:
    """Joined patterns as elements. Two neighbouring runs of triples would be read as one: the second gets braces."""
    elements: list[list[TextItem]] = []
    after_triples = False
    for pattern in patterns:
        if isinstance(pattern, Bgp) and not after_triples:
            elements.append(triples_items(pattern.triples))
            after_triples = True
        else:
            elements.append(_element(pattern))
            after_triples = False
    return elements


def _element(pattern: Pattern) -> list[TextItem]:
    match pattern:
        case Union() | TemporalJoin():
            return _chain(pattern)
        case WindowPattern():
            return [partial(window_head, pattern), BracedGroup(pattern.pattern)]
        case MatchPattern():
            return [partial(match_items, pattern)]
        case Graph():
            return [f"GRAPH {pattern.name} ", BracedGroup(pattern.pattern)]
        case Values():
            return values_items(pattern)
        case _:
            return [BracedGroup(pattern)]


def _chain(pattern: Union | TemporalJoin) -> list[TextItem]:
    """Groups with operators between them, from the tree's left spine: all operators bind alike (EP-7)."""
    items: list[TextItem] = []
    first: Pattern = pattern
    arms = 1  # operands of the UNIONs in hand
    while True:
        match first:
            case Union() if arms < FEW:
                items[:0] = [" UNION ", BracedGroup(first.right)]
                arms += 1
            case TemporalJoin():
                items[:0] = [f" {first.operator.value} ", *_right(first)]
                arms = 1
                # a chain without braces has no condition, and needs none (EP-22)
                braced = first.condition is not None or not isinstance(first.left, Union | TemporalJoin)
                if first.operator is TemporalOperator.OPTIONALSEQ and braced:
                    return [*_conditional(first.left, first.condition), *items]
            case _:
                return [BracedGroup(first), *items]
        first = first.left


def _right(pattern: TemporalJoin) -> list[TextItem]:
    optional = pattern.operator is TemporalOperator.EQUALSOPTIONAL
    return _conditional(pattern.right, pattern.condition) if optional else [BracedGroup(pattern.right)]
