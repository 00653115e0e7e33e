"""The names that a query reads of its streams: attributes, types, graphs of the background; and the comparisons between
their values. What the input's schema, or the events that came, can be compared with (BAD-2 to BAD-5, BAD-11)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeAlias

from thence.algebra.ep_sparql import RuleFile
from thence.algebra.expressions import (
    Aggregate,
    And,
    Arithmetic,
    Bound,
    Call,
    Cast,
    Coalesce,
    Compare,
    Comparison,
    Exists,
    Expression,
    If,
    In,
    Negate,
    Not,
    Or,
    Plus,
    Variable,
)
from thence.algebra.patterns import Graph, NegatedSet, Path, PathPattern, Projection, TriplePattern, Values
from thence.algebra.rsep_ql import WindowFile, WindowQuery
from thence.algebra.sase import (
    AggregateName,
    Attribute,
    ClosureAggregate,
    ComponentQuery,
    ComposedQuery,
    Composite,
    Computed,
    EventIndex,
    Length,
    MatchAggregates,
    Return,
    ValueSequence,
)
from thence.algebra.show import show
from thence.algebra.show_sase import condition_text
from thence.algebra.spaseq import AggregateVariable, SelectColumn, SequenceQuery
from thence.algebra.streams import Name, QueryAlgebra
from thence.algebra.tef_sparql import HeadTriple, TefFile
from thence.algebra.traversal import nodes
from thence.columns.value_types import Atom, Type, ValueKind
from thence.rdf.events import RDF_TYPE
from thence.rdf.terms import IRI, XSD, Literal
from thence.rdf.values import is_number
from thence.rdf.values import value as term_value

# Sorts of values: two of different sorts are never equal, and neither is before the other.


class Sort(Enum):
    """What values can be compared with each other (C-30, SA-29)."""

    NUMBER = "a number"
    TEXT = "text"
    TRUTH = "a boolean"
    TIME = "a time"
    NODE = "an IRI"


_SORTS = {
    ValueKind.INTEGER: Sort.NUMBER,
    ValueKind.DECIMAL: Sort.NUMBER,
    ValueKind.DOUBLE: Sort.NUMBER,
    ValueKind.BOOLEAN: Sort.TRUTH,
    ValueKind.STRING: Sort.TEXT,
    ValueKind.TIMESTAMP: Sort.TIME,
    ValueKind.DATE: Sort.TIME,
}

Sorts: TypeAlias = frozenset[Sort]
"""The sorts that a value may be of."""

Source: TypeAlias = tuple[Name, ...] | Sort
"""Where a variable's value comes from: some of these attributes, or something computed of one sort."""

_NUMBERS = ("STRLEN", "ABS", "CEIL", "FLOOR", "ROUND")
_TEXTS = ("LCASE", "UCASE", "STR", "SUBSTR", "CONCAT")


def sort_of(kind: Type) -> Sort | None:
    """The sort of a column's values; None if it is not known."""
    return _SORTS.get(kind.kind) if isinstance(kind, Atom) else None


def sort_of_term(term: IRI | Literal) -> Sort | None:
    """
    >>> sort_of_term(Literal("high")), sort_of_term(Literal("1", XSD + "integer")), sort_of_term(Literal("x", "y:z"))
    (<Sort.TEXT: 'text'>, <Sort.NUMBER: 'a number'>, None)
    """
    if isinstance(term, IRI):
        return Sort.NODE
    if term.language or term.datatype == XSD + "string":
        return Sort.TEXT
    if term.datatype == XSD + "boolean":
        return Sort.TRUTH
    if term.datatype in (XSD + "dateTime", XSD + "date"):
        return Sort.TIME
    return Sort.NUMBER if is_number(term_value(term)) else None


# What a part of a query reads


@dataclass(frozen=True, slots=True)
class Compared:
    """A comparison: it is true only if `left` is of the sort of one of `others`. `text` is how the query has it."""

    left: Expression
    others: tuple[Expression, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Reading:
    """What a part of a query reads. `stage` is its number among the stages of the compiled query, from 0, where it has
    one of its own; else it reads all streams of the query. `sources`: where the values of variables come from, as far
    as that is known. `made` are the names that the query itself makes; `makes_any`: it may make any."""

    names: tuple[Name, ...]
    types: tuple[Name, ...]
    compared: tuple[Compared, ...]
    sources: Mapping[Variable, Source] = field(default_factory=dict)
    stage: int | None = None
    made: frozenset[IRI] = frozenset()
    makes_any: bool = False

    def sorts(self, expression: Expression, of: Mapping[Name, Sorts | None]) -> Sorts | None:
        """The sorts that a value may be of, given those of the attributes; None if it may be of any."""
        match expression:
            case Variable():
                source = self.sources.get(expression)
                if source is None or isinstance(source, Sort):
                    return None if source is None else frozenset({source})
                found = [of.get(name) for name in source]
                known = [each for each in found if each is not None]
                return frozenset().union(*known) if known and len(known) == len(found) else None
            case IRI() | Literal():
                sort = sort_of_term(expression)
            case Call(function=function):
                sort = Sort.NUMBER if function in _NUMBERS else Sort.TEXT if function in _TEXTS else None
            case Negate(operand=operand) | Plus(operand=operand):
                return self.sorts(operand, of)
            case Arithmetic(left=left, right=right):
                sides = {self.sorts(left, of), self.sorts(right, of)}
                sort = Sort.NUMBER if sides == {frozenset({Sort.NUMBER})} else None
            case _:
                sort = None
        return None if sort is None else frozenset({sort})


@dataclass(frozen=True, slots=True)
class GraphsRead:
    """What a query reads of the background: graphs by name, all that have one (`every`), and what is in no named
    graph (`unnamed`)."""

    names: frozenset[IRI]
    every: bool
    unnamed: bool


def readings(algebra: QueryAlgebra) -> tuple[Reading, ...]:
    """What the parts of a query read."""
    if isinstance(algebra, ComposedQuery):
        return tuple(_of_block(block, number) for number, block in enumerate(algebra.blocks))
    return (_of_patterns(algebra),)


def graphs_read(algebra: QueryAlgebra) -> GraphsRead:
    """What a query reads of the background. Plain patterns of SPAseQ read events alone; those of the other languages
    the background without a name too (EP-39, RS-4, TEF-4)."""
    graphs = [node.name for node in nodes(algebra) if isinstance(node, Graph)]
    names = {name for name in graphs if isinstance(name, IRI)}
    unnamed = not isinstance(algebra, SequenceQuery | ComposedQuery)
    if isinstance(algebra, WindowFile):
        datasets = [query.form.dataset for query in algebra.queries]
        names = names.union(*((*each.default, *each.named) for each in datasets))
        unnamed = any(not each.default for each in datasets)
    return GraphsRead(frozenset(names), any(isinstance(name, Variable) for name in graphs), unnamed)


# SASE+


def _of_block(block: ComponentQuery, stage: int) -> Reading:
    sources: dict[Variable, Source] = {}
    names: list[Name] = []
    for variable, reference in block.references.items():
        match reference:
            case Length() | ClosureAggregate(summary=AggregateName.COUNT | AggregateName.SUM | AggregateName.AVG):
                sources[variable] = Sort.NUMBER
            case Attribute(name=name) | ClosureAggregate(name=Name() as name):
                sources[variable] = (name,)
            case _:
                pass
        if isinstance(reference, Attribute | ClosureAggregate) and reference.name is not None:
            names.append(reference.name)
    names += _returned(block)
    for key in block.tested:
        names += key.names if isinstance(key, Computed) else [key]
    conditions = (*block.conditions, *(() if block.having is None else (block.having,)))
    types = (component.type for component in block.components if component.type is not None)
    return Reading(
        tuple(dict.fromkeys(names)),
        tuple(dict.fromkeys(types)),
        tuple(_compared(conditions, lambda each: condition_text(each))),
        sources,
        stage,
    )


def _returned(block: ComponentQuery) -> Iterator[Name]:
    """The attributes that RETURN or AGGREGATE names beside the references of expressions."""
    match block.form:
        case Return(items=items):
            for item in items:
                match item.given:
                    case ValueSequence(name=name):
                        yield name
                    case Composite(names=names):
                        yield from names
                    case _:
                        pass
        case MatchAggregates(totals=totals, by=by):
            yield from (key for key in by if isinstance(key, Name))
            yield from (total.of.name for total in totals if total.of is not None)


def component_of(algebra: QueryAlgebra, name: Name) -> str:
    """The component of SASE+ whose attribute of that name the text has first; empty if none has."""
    blocks = algebra.blocks if isinstance(algebra, ComposedQuery) else ()
    for block in blocks:
        for reference in block.references.values():
            if isinstance(reference, Attribute) and reference.name == name and reference.index is EventIndex.ALONE:
                return reference.component
    return ""


# Languages of graph patterns

_EXPRESSIONS = (
    Variable, IRI, Literal, Compare, Arithmetic, Negate, Plus, Not, And, Or, In, Bound, If, Coalesce, Exists, Call,
    Cast, Aggregate,
)  # fmt: skip
_LISTS = ("variables", "partition", "left", "right")
"""Fields that name variables and bind none."""


class _Walk:
    """Gathers what graph patterns read. Recursion would be deep: a list of what is still to be walked, each with
    whether it is in a GRAPH."""

    def __init__(self) -> None:
        self.names: dict[Name, None] = {}
        self.types: dict[Name, None] = {}
        self.made: set[IRI] = set()
        self.makes_any = False
        self.compared: list[Compared] = []
        self.sources: dict[Variable, tuple[Name, ...]] = {}
        self.opaque: set[Variable] = set()
        self._waiting: list[tuple[Any, bool]] = []

    def over(self, root: object) -> None:
        self._waiting = [(root, False)]
        while self._waiting:
            found, in_graph = self._waiting.pop()
            if isinstance(found, tuple):
                self._waiting.extend((each, in_graph) for each in reversed(found))
            elif (fields := getattr(found, "__dataclass_fields__", None)) is not None:
                self._node(found, tuple(fields), in_graph)

    def _node(self, node: Any, fields: tuple[str, ...], in_graph: bool) -> None:
        match node:
            case TriplePattern():
                self._triple(node, in_graph)
                return
            case PathPattern():
                self.opaque |= {each for each in (node.subject, node.object) if isinstance(each, Variable)}
                self.names |= {_named(each): None for each in _predicates(node.path)}
                return
            case HeadTriple():
                self._make(node.predicate, node.object)
                return
            case Graph():
                in_graph = True
        if not isinstance(node, _EXPRESSIONS) and not _only_selects(node):
            self._bind(node, fields)
        elif isinstance(node, Compare | In):
            self.compared += _compared((node,), show, deep=False)
        for name in reversed(fields):
            if name == "places":
                continue
            value = getattr(node, name)
            if name == "template":
                for triple in value:
                    self._make(triple.predicate, triple.object)
            else:
                self._waiting.append((value, in_graph))

    def _bind(self, node: Any, fields: tuple[str, ...]) -> None:
        """What binds variables in another way than by an attribute."""
        for name in fields:
            value = getattr(node, name)
            if isinstance(value, Variable):
                self.opaque.add(value)
            elif isinstance(value, tuple) and (name not in _LISTS or isinstance(node, Values)):
                self.opaque |= {each for each in value if isinstance(each, Variable)}
                self.opaque |= {each for pair in value if isinstance(pair, tuple) for each in pair[:1]
                                if isinstance(each, Variable)}  # fmt: skip

    def _triple(self, triple: TriplePattern, in_graph: bool) -> None:
        places = (triple.subject, triple.predicate)
        self.opaque |= {each for each in places if isinstance(each, Variable)}
        if isinstance(triple.predicate, Variable) or triple.predicate == RDF_TYPE or in_graph:
            self.opaque |= {triple.object} if isinstance(triple.object, Variable) else set()
        if isinstance(triple.predicate, Variable):
            return
        if triple.predicate == RDF_TYPE:
            if isinstance(triple.object, IRI):
                self.types[_named(triple.object)] = None
            return
        name = _named(triple.predicate)
        self.names[name] = None
        if isinstance(triple.object, Variable):
            known = self.sources.get(triple.object, ())
            self.sources[triple.object] = known if name in known else (*known, name)
        elif isinstance(triple.object, IRI | Literal) and not in_graph:
            value = Variable(f"{len(self.compared)} in a triple")  # as no text can name one
            self.sources[value] = (name,)
            self.compared.append(Compared(value, (triple.object,), f"{triple.predicate} {triple.object}"))

    def _make(self, predicate: object, value: object) -> None:
        if not isinstance(predicate, IRI):
            self.makes_any = True
            return
        self.made.add(predicate)
        if predicate == RDF_TYPE:
            if isinstance(value, IRI):
                self.made.add(value)
            else:
                self.makes_any = True


def _of_patterns(algebra: QueryAlgebra) -> Reading:
    walk = _Walk()
    walk.over(algebra)
    sources = {variable: names for variable, names in walk.sources.items() if variable not in walk.opaque}
    return Reading(
        tuple(walk.names),
        tuple(walk.types),
        tuple(walk.compared),
        sources,
        made=frozenset(walk.made),
        makes_any=walk.makes_any,
    )


def _predicates(path: Path) -> Iterator[IRI]:
    """The predicates of a path; those that it must not have need not be there."""
    excluded = {id(each) for node in nodes(path) if isinstance(node, NegatedSet) for each in nodes(node)}
    return (each for each in nodes(path) if isinstance(each, IRI) and id(each) not in excluded)


def _named(iri: IRI) -> Name:
    return Name(iri.value, iri)


def _only_selects(node: object) -> bool:
    """Whether the variables of a node are bound elsewhere."""
    if isinstance(node, Projection | SelectColumn):
        return node.expression is None
    return isinstance(node, SequenceQuery | WindowQuery | RuleFile | TefFile | AggregateVariable)


def _compared(roots: tuple[Expression, ...], text: Any, *, deep: bool = True) -> Iterator[Compared]:
    """The comparisons in expressions that values of different sorts never make true: all of SPARQL's but `!=` (C-30),
    and SASE+'s own (SA-29)."""
    for node in (each for root in roots for each in (nodes(root) if deep else (root,))):
        match node:
            case Compare(comparison=comparison, left=left, right=right) if comparison is not Comparison.NOT_EQUAL:
                yield Compared(left, (right,), text(node))
            case In(operand=operand, choices=choices):
                yield Compared(operand, choices, text(node))
            case _:
                pass
