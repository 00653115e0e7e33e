"""SPARQL as text: queries, patterns, expressions and terms, with brackets only where the grammar needs them to rebuild
the same tree."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import partial
from typing import Final, TypeAlias, assert_never

from thence.algebra.ep_sparql import DURATION, END_TIME, START_TIME
from thence.algebra.expressions import (
    Aggregate,
    And,
    Arithmetic,
    Bound,
    Call,
    Cast,
    Coalesce,
    Compare,
    Exists,
    Expression,
    If,
    In,
    Negate,
    Not,
    Operation,
    Or,
    Plus,
    Variable,
)
from thence.algebra.patterns import (
    Alternative,
    Ask,
    BasicEvent,
    Bgp,
    ChainOperator,
    Construct,
    DatasetClause,
    Describe,
    EventExpression,
    EventSeq,
    Extend,
    Filter,
    First,
    Graph,
    GroupKey,
    Inverse,
    Join,
    Last,
    LeftJoin,
    MatchPattern,
    Minus,
    Modifiers,
    NegatedSet,
    OneOrMore,
    OrderKey,
    Path,
    PathPattern,
    PathSequence,
    Pattern,
    Projection,
    Select,
    SparqlQuery,
    SubSelect,
    TemporalJoin,
    TriplePattern,
    Union,
    Values,
    WindowPattern,
    ZeroOrMore,
    ZeroOrOne,
)
from thence.algebra.rsep_ql import block_number
from thence.algebra.text_items import BracedGroup, LayoutMark, TextItem, on_lines, separated, write
from thence.algebra.traversal import FEW, nodes
from thence.rdf.terms import IRI, RDF, XSD, BlankNode, Literal, Term

_BARE: Final = {
    XSD + "integer": re.compile(r"[+-]?[0-9]+"),
    XSD + "decimal": re.compile(r"[+-]?[0-9]*\.[0-9]+"),
    XSD + "double": re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE][+-]?[0-9]+"),
    XSD + "boolean": re.compile("true|false"),
}


_TIME_FUNCTIONS: Final = {DURATION: "getDURATION", START_TIME: "getSTARTTIME", END_TIME: "getENDTIME"}


class Precedence(IntEnum):
    """The precedence of an expression: brackets are needed where an operand's is lower than its place requires."""

    OR = 1
    AND = 2
    RELATION = 3
    SUM = 4
    PRODUCT = 5
    UNARY = 6
    PRIMARY = 7


def term_text(term: Term | Variable) -> str:
    """A term as short as SPARQL allows without prefixes.

    >>> print(term_text(Literal("42", XSD + "integer")), term_text(Literal("a\\nb", language="en")))
    42 "a\\nb"@en
    """
    if isinstance(term, Literal) and (bare := _BARE.get(term.datatype)) and bare.fullmatch(term.value):
        return term.value
    return str(term)


def verb_text(verb: Variable | IRI) -> str:
    return "a" if verb == IRI(RDF + "type") else str(verb)


def expression_items(expression: Expression, place: int = Precedence.OR) -> list[TextItem]:
    """An expression, in brackets if it binds less tightly than its place needs."""
    binding = _binding(expression)
    items = _expression(expression)
    return ["(", *items, ")"] if binding < place else items


def _binding(expression: Expression) -> Precedence:
    match expression:
        case Or():
            return Precedence.OR
        case And():
            return Precedence.AND
        case Compare() | In() | Not(In()):
            return Precedence.RELATION
        case Arithmetic(Operation.ADD | Operation.SUBTRACT):
            return Precedence.SUM
        case Arithmetic():
            return Precedence.PRODUCT
        case Not(Exists()):
            return Precedence.PRIMARY
        case Not() | Negate() | Plus():
            return Precedence.UNARY
        case _:
            return Precedence.PRIMARY


def _expression(expression: Expression) -> list[TextItem]:
    match expression:
        case Variable() | IRI() | Literal():
            return [term_text(expression)]
        case Or() | And() | Arithmetic():
            return _chain(expression)
        case Compare():
            return [_at(expression.left, 4), f" {expression.comparison.value} ", _at(expression.right, 4)]
        case In():
            return [_at(expression.operand, 4), " IN ", *_arguments(expression.choices)]
        case Not(In() as found):
            return [_at(found.operand, 4), " NOT IN ", *_arguments(found.choices)]
        case Not(Exists() as exists):
            return ["NOT EXISTS ", BracedGroup(exists.pattern)]
        case Not():
            return ["!", _at(expression.operand, 7)]
        case Negate():
            return ["-", _unsigned(expression.operand)]
        case Plus():
            return ["+", _unsigned(expression.operand)]
        case _:
            return _built_in(expression)


def _built_in(
    expression: Bound | If | Coalesce | Exists | Call | Cast | Aggregate,
) -> list[TextItem]:
    match expression:
        case Bound():
            return [f"BOUND({expression.variable})"]
        case If():
            return ["IF", *_arguments((expression.condition, expression.then, expression.otherwise))]
        case Coalesce():
            return ["COALESCE", *_arguments(expression.choices)]
        case Exists():
            return ["EXISTS ", BracedGroup(expression.pattern)]
        case Call():
            written = expression.arguments[:1] if expression.function == "IRI" else expression.arguments
            return [_TIME_FUNCTIONS.get(expression.function, expression.function), *_arguments(written)]
        case Cast():
            return [str(expression.function), *_arguments(expression.arguments, distinct=expression.distinct)]
        case Aggregate():
            return _aggregate(expression)
        case _:
            assert_never(expression)


def _aggregate(aggregate: Aggregate) -> list[TextItem]:
    operand: TextItem = "*" if aggregate.operand is None else _at(aggregate.operand, 1)
    separator = "" if aggregate.separator is None else f"; SEPARATOR = {Literal(aggregate.separator)}"
    return [aggregate.function.value, "(", "DISTINCT " if aggregate.distinct else "", operand, separator, ")"]


def _chain(expression: Or | And | Arithmetic) -> list[TextItem]:
    """A left-leaning chain without brackets, as far as the parser would build it so."""
    binding = _binding(expression)
    few = FEW if isinstance(expression, Or | And) else None  # a chain of sums is never balanced
    items: list[TextItem] = []
    first: Expression = expression
    operands = 1
    while isinstance(first, Or | And | Arithmetic) and _binding(first) == binding and operands != few:
        items[:0] = [f" {_sign(first)} ", _at(first.right, binding + 1)]
        first = first.left
        operands += 1
    return [_at(first, binding + 1), *items]


def _sign(expression: Or | And | Arithmetic) -> str:
    match expression:
        case Or():
            return "||"
        case And():
            return "&&"
        case Arithmetic():
            return expression.operation.value
        case _:
            assert_never(expression)


def _at(expression: Expression, place: int) -> TextItem:
    return partial(expression_items, expression, place)


def _unsigned(operand: Expression) -> TextItem:
    """A sign before a bare number would be read as part of it."""
    return f"({term_text(operand)})" if isinstance(operand, Literal) else _at(operand, Precedence.PRIMARY)


def _arguments(arguments: tuple[Expression, ...], *, distinct: bool = False) -> list[TextItem]:
    listed = separated(", ", [_at(argument, Precedence.OR) for argument in arguments])
    return ["(", "DISTINCT " if distinct else "", *listed, ")"]


# Paths


class PathPrecedence(IntEnum):
    ALTERNATIVE = 1
    SEQUENCE = 2
    ELEMENT = 3
    PRIMARY = 4


def path_items(path: Path, place: int = PathPrecedence.ALTERNATIVE) -> list[TextItem]:
    """A path, in brackets if it binds less tightly than its place needs."""
    match path:
        case IRI():
            return [verb_text(path)]
        case Alternative():
            items = _path_chain(path)
            return ["(", *items, ")"] if place > PathPrecedence.ALTERNATIVE else items
        case PathSequence():
            items = _path_chain(path)
            return ["(", *items, ")"] if place > PathPrecedence.SEQUENCE else items
        case Inverse():
            # `^` takes an element with its `*`, so what it is before may be one; as an operand it may not be itself
            inner = path.path
            below = 3 if isinstance(inner, ZeroOrMore | OneOrMore | ZeroOrOne) else 4
            items = ["^", partial(path_items, inner, below)]
            return ["(", *items, ")"] if place > PathPrecedence.ELEMENT else items
        case ZeroOrMore() | OneOrMore() | ZeroOrOne():
            sign = {ZeroOrMore: "*", OneOrMore: "+", ZeroOrOne: "?"}[type(path)]
            items = [partial(path_items, path.path, PathPrecedence.PRIMARY), sign]
            return ["(", *items, ")"] if place > PathPrecedence.ELEMENT else items
        case NegatedSet():
            members = [*map(verb_text, path.forward), *(f"^{verb_text(iri)}" for iri in path.backward)]
            return ["!(", "|".join(members), ")"]
        case _:
            assert_never(path)


def _path_chain(path: Alternative | PathSequence) -> list[TextItem]:
    sign, below = ("|", 2) if isinstance(path, Alternative) else ("/", 3)
    items: list[TextItem] = []
    first: Path = path
    operands = 1
    while isinstance(first, Alternative | PathSequence) and type(first) is type(path) and operands < FEW:
        items[:0] = [sign, partial(path_items, first.right, below)]
        first = first.left
        operands += 1
    return [partial(path_items, first, below), *items]


# WINDOW and MATCH as text, and the place of FILTERs among them: MATCHes and STREAM blocks are numbered in the order of
# the text, those in FILTERs too.


def window_head(pattern: WindowPattern) -> list[TextItem]:
    """The text before a window's group; a whole query may write it as a STREAM block."""
    return [f"WINDOW {pattern.name} "]


def match_items(pattern: MatchPattern) -> list[TextItem]:
    """`MATCH { … }`."""
    return ["MATCH { ", partial(event_items, pattern.events), " }"]


def event_items(events: EventExpression) -> list[TextItem]:
    """An event expression, with brackets only where RS-30 needs them."""
    match events:
        case BasicEvent(name):
            return [name]
        case First(inner):
            return ["FIRST ", *_operand(inner)]
        case Last(inner):
            return ["LAST ", *_operand(inner)]
        case EventSeq(left, right, policy):
            operator = " SEQ " if policy is None else f" SEQ {policy.value} "
            return [partial(event_items, left), operator, *_operand(right)]
        case _:
            assert_never(events)


def _operand(events: EventExpression) -> list[TextItem]:
    items = partial(event_items, events)
    return ["(", items, ")"] if isinstance(events, EventSeq) else [items]


def with_filters(elements: list[list[TextItem]], condition: Expression) -> list[list[TextItem]]:
    """A group's elements and its FILTER, which comes last; but each of several FILTERs comes before the elements whose
    MATCHes and STREAM blocks have higher numbers than its own."""
    filters = [(_numbers(nodes(each)), each) for each in _spine(condition)]
    if not any(numbers.are_there for numbers, _ in filters):
        return [*elements, _filter(condition)]
    lines: list[list[TextItem]] = []
    for element in elements:
        numbers = _numbers(_patterns(element))
        before = max((place for place, (own, _) in enumerate(filters, 1) if own.precede(numbers)), default=0)
        lines += [_filter(each) for _, each in filters[:before]]
        filters = filters[before:]
        lines.append(element)
    return lines + [_filter(each) for _, each in filters]


def _filter(condition: Expression) -> list[TextItem]:
    return ["FILTER (", partial(expression_items, condition), ")"]


def _spine(condition: Expression) -> list[Expression]:
    """The FILTERs whose conjunction, as the parser builds it, is the condition."""
    found: list[Expression] = []
    first = condition
    while isinstance(first, And) and len(found) < FEW - 1:
        found.append(first.right)
        first = first.left
    return [first, *reversed(found)]


@dataclass(frozen=True, slots=True)
class _Numbers:
    """The lowest numbers of the MATCHes and of the STREAM blocks in a part of a query."""

    match: int | None
    block: int | None

    @property
    def are_there(self) -> bool:
        return self.match is not None or self.block is not None

    def precede(self, others: _Numbers) -> bool:
        return _is_less(self.match, others.match) or _is_less(self.block, others.block)


def _is_less(one: int | None, other: int | None) -> bool:
    return one is not None and other is not None and one < other


def _numbers(found: Iterable[object]) -> _Numbers:
    matches: list[int] = []
    blocks: list[int | None] = []
    for node in found:
        match node:
            case MatchPattern(place=place):
                matches.append(place)
            case WindowPattern(name):
                blocks.append(block_number(name))
    return _Numbers(min(matches, default=None), min((each for each in blocks if each is not None), default=None))


def _patterns(items: Sequence[TextItem]) -> Iterator[object]:
    """The nodes that the items still have to write."""
    for item in items:
        if isinstance(item, BracedGroup):
            yield from nodes(item.pattern)
        elif isinstance(item, partial):
            yield from nodes(item.args)


# Patterns as SPARQL text: the group that the parser turns into this very tree.

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
    """The lines between a group's braces. Only the outermost filter is the group's own; any other has a group too."""
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
            return _operator_chain(pattern)
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


def _operator_chain(pattern: Union | TemporalJoin) -> list[TextItem]:
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
                if first.operator is ChainOperator.OPTIONALSEQ and braced:
                    return [*_conditional(first.left, first.condition), *items]
            case _:
                return [BracedGroup(first), *items]
        first = first.left


def _right(pattern: TemporalJoin) -> list[TextItem]:
    optional = pattern.operator is ChainOperator.EQUALSOPTIONAL
    return _conditional(pattern.right, pattern.condition) if optional else [BracedGroup(pattern.right)]


# Queries, and all that SPARQL has, as text.


SparqlNode: TypeAlias = (
    SparqlQuery | Pattern | TriplePattern | PathPattern | Expression | Path | EventExpression | BlankNode
)


def sparql_text(node: SparqlNode) -> str:
    """The text of a SPARQL query or of a part of one: a pattern (a group with its braces), an expression, a path, an
    event expression, a term."""
    base = base_of(node)
    return ("" if base is None else f"BASE {base}\n") + write(sparql_items(node), sparql_group)


def sparql_items(node: SparqlNode) -> list[TextItem]:
    match node:
        case Select() | Construct() | Ask() | Describe():
            return query_items(node)
        case TriplePattern() | PathPattern():
            return triple_items(node)
        case Inverse() | PathSequence() | Alternative() | ZeroOrMore() | OneOrMore() | ZeroOrOne() | NegatedSet():
            return path_items(node)
        case BasicEvent() | First() | Last() | EventSeq():
            return event_items(node)
        case BlankNode():
            return [term_text(node)]
        case Bgp() | Join() | LeftJoin() | Filter() | Union() | Graph() | Extend() | Minus() | Values() | SubSelect():
            return [BracedGroup(node)]
        case TemporalJoin() | WindowPattern() | MatchPattern():
            return [BracedGroup(node)]
        case _:
            return expression_items(node)


def base_of(node: object) -> IRI | None:
    """The base IRI that a call of IRI() in the node carries: its text has a place for it only before the whole."""
    waiting = [node]
    while waiting:
        found = waiting.pop()
        match found:
            case Call("IRI", (_, IRI() as base)):
                return base
            case tuple():
                waiting.extend(found)
            case _:
                waiting.extend(getattr(found, name) for name in getattr(found, "__dataclass_fields__", ()))
    return None


def sparql_group(pattern: Pattern) -> list[TextItem]:
    return group_items(pattern, lambda sub_select: query_items(sub_select.select))


def query_items(query: SparqlQuery, operator: str = "", clauses: Sequence[list[TextItem]] = ()) -> list[TextItem]:
    """A query; what RSEP-QL has after SELECT or CONSTRUCT, and its clauses before WHERE."""
    match query:
        case Select():
            lines = [_select_clause(query, operator)]
        case Construct():
            lines = [["CONSTRUCT ", operator, *template_items(query.template)]]
        case Ask():
            lines = [[f"ASK {operator}".rstrip()]]
        case Describe():
            targets = "*" if query.targets is None else " ".join(map(str, query.targets))
            lines = [["DESCRIBE ", targets]]
        case _:
            assert_never(query)
    sources = [*_dataset(query.dataset), *clauses]
    if query.where is not None and sources:
        sources.append(["WHERE ", BracedGroup(query.where)])
    elif query.where is not None:
        lines[-1] += [" WHERE ", BracedGroup(query.where)]
    return on_lines([*lines, *sources, *_modifiers(query.modifiers)])


def _select_clause(query: Select, operator: str) -> list[TextItem]:
    quantifier = operator + ("DISTINCT " if query.distinct else "REDUCED " if query.reduced else "")
    if query.columns is None:
        return ["SELECT ", quantifier, "*"]
    columns = [item for column in query.columns for item in (" ", *_column(column))]
    return ["SELECT ", quantifier, *columns[1:]]


def _column(column: Projection) -> list[TextItem]:
    return [str(column.variable)] if column.expression is None else _named(column.expression, column.variable)


def _named(expression: Expression, variable: Variable) -> list[TextItem]:
    return ["(", partial(expression_items, expression), f" AS {variable})"]


def _dataset(dataset: DatasetClause) -> list[list[TextItem]]:
    sources = [*(f"FROM {iri}" for iri in dataset.default), *(f"FROM NAMED {iri}" for iri in dataset.named)]
    return [[source] for source in sources]


def _modifiers(modifiers: Modifiers) -> list[list[TextItem]]:
    lines: list[list[TextItem]] = []
    if modifiers.group is not None:
        lines.append(["GROUP BY", *(item for key in modifiers.group for item in (" ", *_group_key(key)))])
    if modifiers.having:
        lines.append(["HAVING", *(item for condition in modifiers.having for item in (" ", *_bracketed(condition)))])
    if modifiers.order:
        lines.append(["ORDER BY", *(item for key in modifiers.order for item in (" ", *_order_key(key)))])
    if modifiers.limit is not None:
        lines.append([f"LIMIT {modifiers.limit}"])
    if modifiers.offset is not None:
        lines.append([f"OFFSET {modifiers.offset}"])
    if modifiers.values is not None:
        lines.append(values_items(modifiers.values))
    return lines


def _group_key(key: GroupKey) -> list[TextItem]:
    return _bracketed(key.expression) if key.variable is None else _named(key.expression, key.variable)


def _order_key(key: OrderKey) -> list[TextItem]:
    return ["DESC" if key.descending else "ASC", "(", partial(expression_items, key.expression), ")"]


def _bracketed(expression: Expression) -> list[TextItem]:
    return [str(expression)] if isinstance(expression, Variable) else ["(", partial(expression_items, expression), ")"]
