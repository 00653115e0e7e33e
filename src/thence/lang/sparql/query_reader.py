"""Queries and solution modifiers (SPARQL 1.1, sections 11, 15, 16; 18.2.4 and 18.2.5)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from lark import Token

from thence.algebra.expressions import Expression, Variable
from thence.algebra.patterns import (
    Ask,
    Bgp,
    Construct,
    DatasetClause,
    Describe,
    GroupKey,
    Modifiers,
    OrderKey,
    Pattern,
    Projection,
    Select,
    SparqlQuery,
    TriplePattern,
    Values,
)
from thence.lang.sparql.group_reader import GroupDraft, GroupReader
from thence.lang.sparql.projection_checks import PlacedColumn, check_projection
from thence.lang.sparql.triple_reader import Triples
from thence.lang.syntax import offset
from thence.lang.words import name
from thence.rdf.terms import IRI

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
    """Whole queries."""

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
            raise self.error(f"A number of solutions can be at most {LARGEST}.", at=offset(token))
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
