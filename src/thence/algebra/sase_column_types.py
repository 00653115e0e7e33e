"""The types of the columns that a SASE+ block emits (RETURN, AGGREGATE)."""

from __future__ import annotations

from dataclasses import dataclass

from thence.algebra.expressions import Variable
from thence.algebra.sase import (
    AggregateName,
    ComponentQuery,
    ComposedQuery,
    Composite,
    Key,
    MatchAggregate,
    MatchAggregates,
    Return,
    ReturnedValue,
    ValueSequence,
)
from thence.algebra.sase_types import ImpossibleError, ValueTypes, asked_by
from thence.algebra.streams import Name
from thence.columns.value_types import (
    DOUBLE,
    EVENT_TIME,
    LAPSE,
    LARGE,
    UNKNOWN,
    Atom,
    Fields,
    Several,
    Type,
    TypedStage,
    Types,
    ValueKind,
)

SUM, AVG = AggregateName.SUM, AggregateName.AVG


def column_types(query: ComponentQuery, types: Types | None) -> dict[str, Type]:
    """The types of a block's columns, by name; `types` are those of its streams' attributes, None if these are not
    known.

    >>> from thence.columns.value_types import INTEGER
    >>> from thence.lang.sase.parser import parse
    >>> query = parse("PATTERN A+ a[] WITHIN 5 RETURN a[].x AS x, avg(a[].x) AS mean, a.LEN > 2 AS many")
    >>> print(*(f"{name}: {kind}" for name, kind in column_types(query.blocks[0], {"x": INTEGER}).items()))
    x: array<integer> mean: double many: boolean
    """
    columns = _ColumnTypes(ValueTypes(query, types, query.references))
    if isinstance(query.form, MatchAggregates):
        by = {str(key): columns.key(key) for key in query.form.by}
        return by | {total.name: columns.total(total) for total in query.form.totals}
    return {item.name: columns.of(item.given) for item in query.form.items}


@dataclass(frozen=True, slots=True)
class _ColumnTypes:
    values: ValueTypes

    def of(self, given: ReturnedValue) -> Type:
        match given:
            case ValueSequence(name=name):
                return Several(self._attribute(name))
            case Composite(names=names, index=index):
                fields = Fields(tuple((str(name), self._attribute(name)) for name in names))
                return Several(fields) if index is None else fields
        try:
            found = self.values.reference(given) if isinstance(given, Variable) else self.values.value(given)
        except ImpossibleError:  # which is another's to tell
            return UNKNOWN
        return _shown(found)

    def _attribute(self, name: Name) -> Type:
        return _shown(self.values.attribute(name))

    def key(self, key: Key) -> Type:
        try:
            return _shown(self.values.key(key))
        except ImpossibleError:
            return UNKNOWN

    def total(self, total: MatchAggregate) -> Type:
        """Counts, and sums of integers, have as many digits as a table knows."""
        if total.of is None or total.summary is AggregateName.COUNT:
            return LARGE
        if total.summary is AVG:
            return DOUBLE
        kind = self._attribute(total.of.name)
        if total.summary is not SUM or not isinstance(kind, Atom):
            return kind
        if kind.kind is ValueKind.INTEGER:
            return LARGE
        return Atom(kind.kind, scale=kind.scale)


def _shown(kind: Type) -> Type:
    """What a column is said to be: times are unknown until events tell of which kind they are."""
    return UNKNOWN if kind in (EVENT_TIME, LAPSE) else kind


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

    def complaint(self, attributes: Types | None) -> str | None:
        types = ValueTypes(self.query, attributes, self.query.references)
        for asked in asked_by(self.query):
            try:
                asked.check(types)
            except ImpossibleError as error:
                return f"{error.reason} Try: {error.hint}" if error.hint else error.reason
        return None

    @property
    def asks(self) -> bool:
        return any(not isinstance(asked.expression, Variable) for asked in asked_by(self.query))
