"""The types of the columns that a SASE+ block emits (RETURN, AGGREGATE)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal

from thence.algebra.expressions import (
    And,
    Arithmetic,
    Bound,
    Call,
    Compare,
    Expression,
    Negate,
    Not,
    Operation,
    Or,
    Plus,
    Variable,
)
from thence.algebra.sase import (
    AggregateName,
    Attribute,
    ClosureAggregate,
    ComponentQuery,
    ComposedQuery,
    Composite,
    EventIndex,
    Key,
    Length,
    MatchAggregate,
    MatchAggregates,
    Reference,
    Return,
    ReturnedValue,
    ValueSequence,
)
from thence.algebra.show_sase import name_text
from thence.algebra.streams import Name
from thence.columns.value_types import (
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    LARGE,
    STRING,
    TIMESTAMP,
    UNKNOWN,
    Atom,
    Fields,
    Several,
    Type,
    TypedStage,
    Types,
    ValueKind,
    is_known,
)
from thence.rdf.events import predicate_term
from thence.rdf.terms import Literal

_TEXTS = ("LCASE", "UCASE")
_TRUTHS = ("CONTAINS", "STRSTARTS", "STRENDS", "REGEX")


def column_types(query: ComponentQuery, types: Types | None) -> dict[str, Type]:
    """The types of a block's columns, by name; `types` are those of its streams' attributes, None if these are not
    known.

    >>> from thence.lang.sase.parser import parse
    >>> query = parse("PATTERN A+ a[] WITHIN 5 RETURN a[].x AS x, avg(a[].x) AS mean, a.LEN > 2 AS many")
    >>> print(*(f"{name}: {kind}" for name, kind in column_types(query.blocks[0], {"x": INTEGER}).items()))
    x: array<integer> mean: double many: boolean
    """
    columns = _ColumnTypes(query, types, query.references)
    if isinstance(query.form, MatchAggregates):
        by = {str(key): columns.key(key) for key in query.form.by}
        return by | {total.name: columns.total(total) for total in query.form.totals}
    return {item.name: columns.of(item.given) for item in query.form.items}


@dataclass(frozen=True, slots=True)
class _ColumnTypes:
    query: ComponentQuery
    types: Types | None
    references: Mapping[Variable, Reference]

    def of(self, given: ReturnedValue) -> Type:
        match given:
            case ValueSequence(name=name):
                return Several(self.attribute(name))
            case Composite(names=names, index=index):
                fields = Fields(tuple((str(name), self.attribute(name)) for name in names))
                return Several(fields) if index is None else fields
            case expression:
                return self._value(expression)

    def attribute(self, name: Name) -> Type:
        if self.types is None:
            return UNKNOWN
        if name.iri is None:
            return self.types.get(name.local, UNKNOWN)
        namespace = self.query.namespace
        found = (kind for each, kind in self.types.items() if predicate_term(each, namespace) == name.iri)
        return next(found, UNKNOWN)

    def key(self, key: Key) -> Type:
        if isinstance(key, Name):
            return self.attribute(key)
        own = {Variable(name_text(name)): Attribute("", EventIndex.ALONE, name) for name in key.names}
        return _ColumnTypes(self.query, self.types, own)._value(key.expression)

    def total(self, total: MatchAggregate) -> Type:
        """Counts, and sums of integers, have as many digits as a table knows."""
        if total.of is None or total.summary is AggregateName.COUNT:
            return LARGE
        if total.summary is AggregateName.AVG:
            return DOUBLE
        kind = self.attribute(total.of.name)
        if total.summary is not AggregateName.SUM:
            return kind
        return LARGE if isinstance(kind, Atom) and kind.kind is ValueKind.INTEGER else _total(kind)

    def _value(self, expression: Expression) -> Type:
        match expression:
            case Variable():
                return self._reference(self.references[expression])
            case Literal():
                return _constant(expression.python)
            case Arithmetic(operation=operation, left=left, right=right):
                return _calculated(operation, self._value(left), self._value(right))
            case Negate(operand=operand) | Plus(operand=operand):
                return self._value(operand)
            case Compare() | And() | Or() | Not() | Bound():
                return BOOLEAN
            case Call(function=function, arguments=arguments):
                if function in _TRUTHS:
                    return BOOLEAN
                if function == "STRLEN":
                    return INTEGER
                return STRING if function in _TEXTS else self._value(arguments[0])
            case _:
                return UNKNOWN

    def _reference(self, reference: Reference) -> Type:
        match reference:
            case Attribute(name=name):
                return self.attribute(name)
            case Length() | ClosureAggregate(summary=AggregateName.COUNT):
                return INTEGER
            case ClosureAggregate(summary=AggregateName.AVG):
                return DOUBLE
            case ClosureAggregate(summary=AggregateName.SUM, name=Name() as name):
                return _total(self.attribute(name))
            case ClosureAggregate(name=name):
                assert name is not None
                return self.attribute(name)


def _total(kind: Type) -> Type:
    match kind:
        case Atom(kind=ValueKind.INTEGER):
            return INTEGER
        case Atom(kind=ValueKind.DECIMAL, scale=scale):
            return Atom(ValueKind.DECIMAL, scale=scale)
        case Atom(kind=ValueKind.DOUBLE):
            return DOUBLE
        case _:
            return kind


def _constant(constant: object) -> Type:
    """The type of the Python value that becomes the cell; some of these types are others' subtypes."""
    match constant:
        case bool():
            return BOOLEAN
        case int():
            return INTEGER
        case float() | Decimal():
            return DOUBLE
        case datetime():
            return TIMESTAMP
        case date():
            return DATE
        case _:
            return STRING


def _calculated(operation: Operation, left: Type, right: Type) -> Type:
    if operation is Operation.QUOTIENT:
        return DOUBLE
    if not (is_known(left) and is_known(right)):
        return UNKNOWN
    sides = [side for side in (left, right) if isinstance(side, Atom)]
    kinds = {side.kind for side in sides}
    if ValueKind.DOUBLE in kinds:
        return DOUBLE
    if ValueKind.DECIMAL in kinds:
        scales = [side.scale for side in sides if side.kind is ValueKind.DECIMAL]
        scale = sum(scales) if operation is Operation.MULTIPLY else max(scales)
        return Atom(ValueKind.DECIMAL, scale=min(18, scale))
    return INTEGER if kinds == {ValueKind.INTEGER} else STRING


def typed_stages(query: ComposedQuery) -> list[TypedStage]:
    """The blocks of a text as stages whose rows have types, in order; those of the last query answer."""
    inner = len(query.blocks) - len(query.queries[-1].blocks)
    return [
        TypedStage(
            tuple(stream.name for stream in block.sources),
            block.form.stream if isinstance(block.form, Return) and number < inner else None,
            ComponentTypes(block).resolve,
        )
        for number, block in enumerate(query.blocks)
    ]


@dataclass(frozen=True, slots=True)
class ComponentTypes:
    """The types of a block's columns, as a program's output has them."""

    query: ComponentQuery

    def resolve(self, attributes: Types | None) -> Types:
        return column_types(self.query, attributes)
