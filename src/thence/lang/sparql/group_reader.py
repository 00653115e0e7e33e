"""Groups and queries of SPARQL, from parse trees to the algebra (18.2)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from lark import Token

from thence.algebra.expressions import And, Exists, Expression, Not, Variable
from thence.algebra.patterns import (
    Ask,
    Bgp,
    Construct,
    DatasetClause,
    Describe,
    Extend,
    Filter,
    Graph,
    GroupKey,
    Join,
    LeftJoin,
    Minus,
    Modifiers,
    OrderKey,
    Pattern,
    Projection,
    Select,
    SparqlQuery,
    SubSelect,
    TriplePattern,
    Union,
    Values,
)
from thence.algebra.traversal import DEPTH, chain
from thence.algebra.variables import has_aggregate, in_scope
from thence.lang.sparql.checks import PlacedColumn, check_projection
from thence.lang.sparql.term_reader import ExpressionReader, Triples
from thence.lang.syntax import LONG_GROUP, offset
from thence.lang.text import name
from thence.rdf.terms import IRI, BlankNode, Term

# Groups (SPARQL 1.1, 18.2.2): elements in the order of the text become one pattern, simplified as it is built.

EMPTY = Bgp(())
"""The pattern of `{ }`: one solution, without bindings."""


@dataclass(frozen=True, slots=True)
class GroupDraft:
    """A group, its filters still apart: an OPTIONAL around it takes those directly in it as its condition."""

    pattern: Pattern
    filters: tuple[Expression, ...] = ()

    @property
    def condition(self) -> Expression | None:
        return chain(And, self.filters) if self.filters else None

    @property
    def whole(self) -> Pattern:
        condition = self.condition
        return self.pattern if condition is None else Filter(condition, self.pattern)


@dataclass(frozen=True, slots=True)
class FilterElement:
    """FILTER in a group: where it is among the other elements has no meaning."""

    expression: Expression


@dataclass(frozen=True, slots=True)
class OptionalElement:
    group: GroupDraft


@dataclass(frozen=True, slots=True)
class MinusElement:
    """MINUS in a group."""

    pattern: Pattern


@dataclass(frozen=True, slots=True)
class BindElement:
    variable: Variable
    expression: Expression
    at: int


Element: TypeAlias = Pattern | OptionalElement | MinusElement | BindElement


class GroupReader(ExpressionReader):
    """Groups and what is in them. A pattern that no method here knows is joined."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._home: dict[BlankNode, Bgp] = {}  # the one basic graph pattern in which each label is

    def group_graph_pattern(self, content: GroupDraft | Select) -> GroupDraft:
        return content if isinstance(content, GroupDraft) else GroupDraft(SubSelect(content))

    def group_graph_pattern_sub(self, *parts: Element | FilterElement | Triples) -> GroupDraft:
        filters = tuple(part.expression for part in parts if isinstance(part, FilterElement))
        return GroupDraft(self._pattern(self._elements(parts)), filters)

    def optional_graph_pattern(self, group: GroupDraft) -> OptionalElement:
        return OptionalElement(group)

    def minus_graph_pattern(self, group: GroupDraft) -> MinusElement:
        return MinusElement(group.whole)

    def graph_graph_pattern(self, name: Variable | IRI, group: GroupDraft) -> Pattern:
        return Graph(name, group.whole)

    def group_or_union_graph_pattern(self, *groups: GroupDraft) -> Pattern:
        return chain(Union, [group.whole for group in groups])

    def service_graph_pattern(self, *_: Any) -> Pattern:
        raise self.error("SERVICE would ask another server; a query reads only the data it is given.")

    def filter(self, condition: Expression) -> FilterElement:
        self.forbid_aggregate(condition, "FILTER")
        return FilterElement(condition)

    def bind(self, expression: Expression, variable: Variable) -> BindElement:
        self.forbid_aggregate(expression, "BIND")
        return BindElement(variable, expression, self.here)

    def exists_func(self, group: GroupDraft) -> Expression:
        return Exists(group.whole)

    def not_exists_func(self, _: Token, group: GroupDraft) -> Expression:
        return Not(Exists(group.whole))

    # VALUES

    def inline_data(self, values: Values) -> Values:
        return values

    def inline_data_one_var(self, variable: Variable, *values: Term | None) -> Values:
        return Values((variable,), tuple((value,) for value in values))

    def inline_data_full(self, variables: tuple[Variable, ...], *rows: tuple[int, tuple[Term | None, ...]]) -> Values:
        if len(set(variables)) < len(variables):
            raise self.error("VALUES names a variable twice.")
        for at, row in rows:
            if len(row) != len(variables):
                reason = (
                    f"VALUES names {_count(len(variables), 'variable')}, and this row has {_count(len(row), 'value')}."
                )
                raise self.error(reason, at=at)
        return Values(variables, tuple(row for _, row in rows))

    def data_variables(self, *variables: Variable) -> tuple[Variable, ...]:
        return variables

    def data_row(self, *values: Term | None) -> tuple[int, tuple[Term | None, ...]]:
        return self.here, values

    def data_block_value(self, value: Term | None = None) -> Term | None:
        return value

    # From elements to a pattern

    def forbid_aggregate(self, expression: Expression, where: str) -> None:
        if has_aggregate(expression):
            raise self.error(f"An aggregate is not allowed in {where}, only in SELECT, HAVING and ORDER BY.")

    def _elements(self, parts: tuple[Element | FilterElement | Triples, ...]) -> list[Element]:
        """The elements, with triples that only filters part made one basic graph pattern (18.2.2.5)."""
        elements: list[Element] = []
        triples: Triples = ()
        for part in (*parts, None):
            if isinstance(part, tuple):
                triples += part
            elif not isinstance(part, FilterElement):
                if triples:
                    elements.append(self._bgp(triples))
                    triples = ()
                if part is not None:
                    elements.append(part)
        return elements

    def _pattern(self, elements: list[Element]) -> Pattern:
        """18.2.2.6, with 18.2.2.8: what is joined with the empty pattern is itself."""
        if sum(isinstance(element, OptionalElement | MinusElement | BindElement) for element in elements) >= DEPTH:
            raise self.error(LONG_GROUP)
        pattern: Pattern = EMPTY
        scope: set[Variable] = set()
        joined: list[Pattern] = []
        for element in elements:
            match element:
                case OptionalElement(group):
                    pattern, joined = LeftJoin(_join(pattern, joined), group.pattern, group.condition), []
                    scope.update(in_scope(group.pattern))
                case MinusElement(right):
                    pattern, joined = Minus(_join(pattern, joined), right), []
                case BindElement():
                    self._forbid_rebinding(element, scope)
                    pattern, joined = Extend(_join(pattern, joined), element.variable, element.expression), []
                    scope.add(element.variable)
                case _:
                    joined.append(element)
                    scope.update(in_scope(element))
        return _join(pattern, joined)

    def _forbid_rebinding(self, binding: BindElement, scope: set[Variable]) -> None:
        if binding.variable in scope:
            reason = f"BIND gives {binding.variable} a value, but the group has used {binding.variable} before."
            raise self.error(reason, at=binding.at, hint="a new name")

    def _bgp(self, triples: Triples) -> Bgp:
        bgp = Bgp(triples)
        for triple in triples:
            for slot in (triple.subject, triple.object):
                if isinstance(slot, BlankNode) and self._home.setdefault(slot, bgp) is not bgp:
                    reason = f"The blank node {slot} is in two basic graph patterns; a label belongs to one."
                    raise self.error(reason, at=self.labelled[slot], hint="a variable")
        return bgp


def _join(pattern: Pattern, joined: list[Pattern]) -> Pattern:
    operands = [operand for operand in (pattern, *joined) if operand != EMPTY]
    return chain(Join, operands) if operands else EMPTY


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


# Queries and solution modifiers (SPARQL 1.1, sections 11, 15, 16; 18.2.4 and 18.2.5).

LARGEST = 2**63 - 1
"""The most that LIMIT and OFFSET can say."""


@dataclass(frozen=True, slots=True)
class FromClause:
    """One FROM or FROM NAMED."""

    iri: IRI
    named: bool


@dataclass(frozen=True, slots=True)
class SelectClause:
    columns: tuple[PlacedColumn, ...] | None
    quantifier: str  # DISTINCT, REDUCED or nothing
    at: int


@dataclass(frozen=True, slots=True)
class SelectDraft:
    """A SELECT that still lacks its VALUES, and with that the checks that need them."""

    clause: SelectClause
    dataset: DatasetClause
    where: Pattern
    modifiers: Modifiers


class QueryReader(GroupReader):
    """Reads whole queries."""

    def query_unit(self, query: SparqlQuery) -> SparqlQuery:
        return query

    def pattern_unit(self, _: None, group: GroupDraft) -> Pattern:
        return group.whole

    def expression_unit(self, _: None, expression: Expression) -> Expression:
        return expression

    def query(self, _: None, query: SelectDraft | Construct | Ask | Describe, values: Values | None) -> SparqlQuery:
        if isinstance(query, SelectDraft):
            return self._select(query, values)
        return replace(query, modifiers=replace(query.modifiers, values=values))

    def values_clause(self, values: Values | None = None) -> Values | None:
        return values

    # SELECT

    def select_query(self, clause: SelectClause, *rest: Any) -> SelectDraft:
        *sources, group, modifiers = rest
        return SelectDraft(clause, _dataset(sources), group.whole, modifiers)

    def sub_select(
        self, clause: SelectClause, group: GroupDraft, modifiers: Modifiers, values: Values | None
    ) -> Select:
        return self._select(SelectDraft(clause, DatasetClause(), group.whole, modifiers), values)

    def select_clause(self, *parts: Token | PlacedColumn) -> SelectClause:
        words = [name(part.type) for part in parts if isinstance(part, Token)]
        columns = tuple(part for part in parts if isinstance(part, PlacedColumn))
        quantifier = next((word for word in words if word != "STAR"), "")
        return SelectClause(None if "STAR" in words else columns, quantifier, self.here)

    def projection(self, *parts: Any) -> PlacedColumn:
        return PlacedColumn(Projection(*reversed(parts)), self.here)

    def _select(self, draft: SelectDraft, values: Values | None) -> Select:
        clause, modifiers = draft.clause, replace(draft.modifiers, values=values)
        check_projection(self.text, clause.columns, draft.where, modifiers, clause.at)
        return Select(
            columns=None if clause.columns is None else _distinct(clause.columns),
            where=draft.where,
            modifiers=modifiers,
            distinct=clause.quantifier == "DISTINCT",
            reduced=clause.quantifier == "REDUCED",
            dataset=draft.dataset,
        )

    # The other forms

    def construct_query(self, template: tuple[TriplePattern, ...], *rest: Any) -> Construct:
        *sources, group, modifiers = rest
        return Construct(template, group.whole, modifiers, _dataset(sources))

    def construct_where_query(self, *rest: Any) -> Construct:
        *sources, modifiers = rest
        template: Any = sources.pop() if sources and isinstance(sources[-1], tuple) else ()
        return Construct(template, Bgp(template), modifiers, _dataset(sources))

    def construct_template(self, triples: Triples = ()) -> Triples:
        return triples

    def describe_query(self, *parts: Any) -> Describe:
        *before, modifiers = parts
        targets = tuple(part for part in before if isinstance(part, Variable | IRI))
        group = next((part for part in before if isinstance(part, GroupDraft)), None)
        return Describe(
            targets=targets or None,  # the grammar has targets or a star
            where=None if group is None else group.whole,
            modifiers=modifiers,
            dataset=_dataset(before),
        )

    def ask_query(self, *rest: Any) -> Ask:
        *sources, group, modifiers = rest
        return Ask(group.whole, modifiers, _dataset(sources))

    # Dataset

    def dataset_clause(self, source: FromClause) -> FromClause:
        return source

    def default_graph_clause(self, iri: IRI) -> FromClause:
        return FromClause(iri, named=False)

    def named_graph_clause(self, iri: IRI) -> FromClause:
        return FromClause(iri, named=True)

    # Modifiers

    def solution_modifier(self, *parts: dict[str, Any]) -> Modifiers:
        return Modifiers(**{key: value for part in parts for key, value in part.items()})

    def group_clause(self, *keys: GroupKey) -> dict[str, Any]:
        return {"group": keys}

    def group_condition(self, expression: Expression, variable: Variable | None = None) -> GroupKey:
        self.forbid_aggregate(expression, "GROUP BY")
        return GroupKey(expression, variable)

    def having_clause(self, *conditions: Expression) -> dict[str, Any]:
        return {"having": conditions}

    def order_clause(self, *keys: OrderKey) -> dict[str, Any]:
        return {"order": keys}

    def order_condition(self, *parts: Any) -> OrderKey:
        *direction, expression = parts
        return OrderKey(expression, descending=bool(direction) and name(direction[0].type) == "DESC")

    def limit_offset_clauses(self, *parts: dict[str, Any]) -> dict[str, Any]:
        return {key: value for part in parts for key, value in part.items()}

    def limit_clause(self, number: Token) -> dict[str, Any]:
        return {"limit": self._number(number)}

    def offset_clause(self, number: Token) -> dict[str, Any]:
        return {"offset": self._number(number)}

    def _number(self, token: Token) -> int:
        digits = token.lstrip("0") or "0"
        if len(digits) > len(str(LARGEST)) or int(digits) > LARGEST:
            raise self.error(f"LIMIT and OFFSET can be at most {LARGEST}.", at=offset(token))
        return int(digits)


def _distinct(columns: tuple[PlacedColumn, ...]) -> tuple[Projection, ...]:
    """`SELECT ?x ?x` has one column."""
    return tuple({column.projection.variable: column.projection for column in columns}.values())


def _dataset(parts: list[Any]) -> DatasetClause:
    sources = [part for part in parts if isinstance(part, FromClause)]
    return DatasetClause(
        default=tuple(source.iri for source in sources if not source.named),
        named=tuple(source.iri for source in sources if source.named),
    )
