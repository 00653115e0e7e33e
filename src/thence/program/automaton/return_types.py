"""The types of the columns that RETURN and AGGREGATE emit: `double` stays `double`, sequences are lists, composites
structs. Where the attributes have no types, since they come from RDF, each value is of one given type."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa

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
    Composite,
    EventIndex,
    Key,
    Length,
    MatchAggregate,
    MatchAggregates,
    Name,
    ReturnedValue,
    ValueSequence,
)
from thence.algebra.show_sase import name_text
from thence.program.output import AttributeTypes
from thence.rdf.terms import Literal

_TEXTS = ("LCASE", "UCASE")
_TRUTHS = ("CONTAINS", "STRSTARTS", "STRENDS", "REGEX")


def column_types(query: ComponentQuery, types: AttributeTypes | None, leaf: pa.DataType) -> dict[str, pa.DataType]:
    """The types of a query's columns, by name; each value is a `leaf` where attributes have no `types`."""
    shape = _TypeInference(query, types, leaf)
    if isinstance(query.form, MatchAggregates):
        by = {str(key): shape.key(key) for key in query.form.by}
        return by | {total.name: shape.total(total) for total in query.form.totals}
    return {item.name: shape.of(item.given) for item in query.form.items}


class _TypeInference:
    def __init__(self, query: ComponentQuery, types: AttributeTypes | None, leaf: pa.DataType) -> None:
        self.query, self.types, self.leaf = query, types, leaf

    def of(self, given: ReturnedValue) -> pa.DataType:
        match given:
            case ValueSequence(name=name):
                return pa.list_(self.attribute(name))
            case Composite(names=names, index=index):
                struct = pa.struct([(str(name), self.attribute(name)) for name in names])
                return pa.list_(struct) if index is None else struct
            case expression:
                return self.leaf if self.types is None else self._value(expression)

    def attribute(self, name: Name) -> pa.DataType:
        if self.types is None:
            return self.leaf
        if name.local not in self.types:
            return pa.string()
        return _output_type(self.types[name.local])

    def key(self, key: Key) -> pa.DataType:
        if isinstance(key, Name):
            return self.attribute(key)
        own = {Variable(name_text(name)): Attribute("", EventIndex.ALONE, name) for name in key.names}
        return _TypeInference(replace(self.query, references=own), self.types, self.leaf).of(key.expression)

    def total(self, total: MatchAggregate) -> pa.DataType:
        """Counts, and sums of integers, have as many digits as Spark knows."""
        if self.types is None:
            return self.leaf
        if total.of is None or total.summary is AggregateName.COUNT:
            return pa.decimal128(38, 0)
        if total.summary is AggregateName.AVG:
            return pa.float64()
        kind = self.attribute(total.of.name)
        if total.summary is AggregateName.SUM:
            return pa.decimal128(38, 0) if pa.types.is_integer(kind) else _total_type(kind)
        return kind

    def _value(self, expression: Expression) -> pa.DataType:
        match expression:
            case Variable():
                return self._reference(expression)
            case Literal():
                return _constant_type(expression.python)
            case Arithmetic(operation=operation, left=left, right=right):
                return _calculated(operation, self._value(left), self._value(right))
            case Negate(operand=operand) | Plus(operand=operand):
                return self._value(operand)
            case Compare() | And() | Or() | Not() | Bound():
                return pa.bool_()
            case Call(function=function, arguments=arguments):
                if function in _TRUTHS:
                    return pa.bool_()
                if function == "STRLEN":
                    return pa.int64()
                return pa.string() if function in _TEXTS else self._value(arguments[0])
            case _:
                return pa.string()

    def _reference(self, variable: Variable) -> pa.DataType:
        match self.query.references[variable]:
            case Attribute(name=name):
                return self.attribute(name)
            case Length() | ClosureAggregate(summary=AggregateName.COUNT):
                return pa.int64()
            case ClosureAggregate(summary=AggregateName.AVG):
                return pa.float64()
            case ClosureAggregate(summary=AggregateName.SUM, name=Name() as name):
                return _total_type(self.attribute(name))
            case ClosureAggregate(name=name):
                assert name is not None
                return self.attribute(name)


def _output_type(kind: pa.DataType) -> pa.DataType:
    """A column's type in the answer: its own, if it is one that values have; else text."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    if pa.types.is_large_string(kind):
        return pa.string()
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", "UTC")
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, pa.types.is_decimal, pa.types.is_date)
    return kind if any(test(kind) for test in tests) else pa.string()


def _total_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_integer(kind):
        return pa.int64()
    if pa.types.is_decimal(kind):
        return pa.decimal128(38, kind.scale)
    return pa.float64() if pa.types.is_floating(kind) else kind


def _constant_type(constant: object) -> pa.DataType:
    """That of the Python value which becomes the cell; some of these types are others' subtypes."""
    match constant:
        case bool():
            return pa.bool_()
        case int():
            return pa.int64()
        case float() | Decimal():
            return pa.float64()
        case datetime():
            return pa.timestamp("us", "UTC")
        case date():
            return pa.date32()
        case _:
            return pa.string()


def _calculated(operation: Operation, left: pa.DataType, right: pa.DataType) -> pa.DataType:
    if operation is Operation.QUOTIENT or pa.types.is_floating(left) or pa.types.is_floating(right):
        return pa.float64()
    scales = [kind.scale for kind in (left, right) if pa.types.is_decimal(kind)]
    if scales:
        return pa.decimal128(38, min(18, sum(scales) if operation is Operation.MULTIPLY else max(scales)))
    return pa.int64() if pa.types.is_integer(left) and pa.types.is_integer(right) else pa.string()
