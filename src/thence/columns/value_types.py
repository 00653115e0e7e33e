"""Types of values, columns and attributes, as far as a query and its input determine them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeAlias

# Types of values, columns and attributes, as far as a query and its input determine them; and whether the columns of
# rows that come together (UNION) agree in theirs (SA-41). Independent of languages.

MOST_DIGITS = 38
"""The most digits of a decimal in a table."""

_INTEGER_DIGITS = {8: 3, 16: 5, 32: 10, 64: 20}


class ValueKind(Enum):
    """The kind of a value."""

    INTEGER = "integer"
    DECIMAL = "decimal"
    DOUBLE = "double"
    BOOLEAN = "boolean"
    STRING = "string"
    TIMESTAMP = "timestamp"
    DATE = "date"
    DURATION = "duration"
    UNKNOWN = "a single value"  # any of these; only events will tell
    EVENT_TIME = "a time"  # an integer or a timestamp
    LAPSE = "a difference of times"  # an integer or a duration


@dataclass(frozen=True, slots=True)
class Atom:
    """The type of one value. `bits` are those of integers and doubles, `digits` and `scale` those of decimals."""

    kind: ValueKind
    bits: int = 64
    digits: int = MOST_DIGITS
    scale: int = 0

    def __str__(self) -> str:
        if self.kind is ValueKind.DECIMAL and self.scale:
            return f"decimal({self.digits},{self.scale})"
        return ValueKind.INTEGER.value if self.kind is ValueKind.DECIMAL else self.kind.value

    @property
    def whole(self) -> int:
        """The digits before the point, of an integer or a decimal."""
        return _INTEGER_DIGITS[self.bits] if self.kind is ValueKind.INTEGER else self.digits - self.scale


@dataclass(frozen=True, slots=True)
class Several:
    """The type of a sequence."""

    of: Type

    def __str__(self) -> str:
        return f"array<{self.of}>" if is_known(self.of) else "array"


@dataclass(frozen=True, slots=True)
class Fields:
    """The type of a composite."""

    fields: tuple[tuple[str, Type], ...]

    def __str__(self) -> str:
        listed = (f"{name}:{kind}" if is_known(kind) else name for name, kind in self.fields)
        return f"struct<{','.join(listed)}>"


Type: TypeAlias = Atom | Several | Fields

Types: TypeAlias = Mapping[str, Type]
"""Types of a stream's attributes, by name. No event has an attribute that is not listed."""

INTEGER, DOUBLE, BOOLEAN, STRING = map(Atom, (ValueKind.INTEGER, ValueKind.DOUBLE, ValueKind.BOOLEAN, ValueKind.STRING))
TIMESTAMP, DATE, DURATION = map(Atom, (ValueKind.TIMESTAMP, ValueKind.DATE, ValueKind.DURATION))
LARGE, UNKNOWN = map(Atom, (ValueKind.DECIMAL, ValueKind.UNKNOWN))
EVENT_TIME, LAPSE = map(Atom, (ValueKind.EVENT_TIME, ValueKind.LAPSE))

_OPEN = (UNKNOWN.kind, EVENT_TIME.kind, LAPSE.kind)


_NUMBERS = frozenset({ValueKind.INTEGER, ValueKind.DECIMAL, ValueKind.DOUBLE})

# Streams


def common_attributes(listed: Iterable[Types | None], *, mixed: Atom = STRING) -> Types | None:
    """The types of attributes in several streams together: doubles for several kinds of numbers, else `mixed` where
    they differ. None if the types of one stream are unknown."""
    found: dict[str, Type] = {}
    for types in listed:
        if types is None:
            return None
        for name, kind in types.items():
            found[name] = _mixed(found[name], kind, mixed) if name in found else kind
    return found


def _mixed(left: Type, right: Type, mixed: Atom) -> Type:
    if not is_known(left) or not is_known(right):
        return UNKNOWN
    numbers = isinstance(left, Atom) and isinstance(right, Atom) and {left.kind, right.kind} <= _NUMBERS
    return _both(left, right) or (DOUBLE if numbers else mixed)


def derived_attributes(columns: Types) -> Types:
    """The types of attributes of rows as derived events (IN STREAM): those of a composite are `name.attribute`."""
    found: dict[str, Type] = {}
    for name, kind in columns.items():
        if isinstance(kind, Fields):
            found |= {f"{name}.{inner}": of for inner, of in kind.fields}
        else:
            found[name] = kind
    return found | {"time": UNKNOWN, "end": UNKNOWN}  # its own (SA-51)


@dataclass(frozen=True, slots=True)
class TypedStage:
    """A part of a query whose rows have types: the streams it reads, the stream it feeds (None: it answers), and the
    types of its columns as a function of those of the attributes it reads; None if it makes RDF events. `complaint`
    says what it computes that values of such types cannot be asked."""

    reads: tuple[str, ...]
    feeds: str | None
    columns: Callable[[Types | None], Types] | None
    complaint: Callable[[Types | None], str | None] | None = None


def read_attributes(
    stages: Sequence[TypedStage],
    given: Mapping[str, Types | None],
    *,
    in_part: bool = True,
    mixed: Atom = STRING,
) -> list[Types | None]:
    """The types of the attributes that each stage reads, in order: a stage comes after those that feed it. Types
    derived from untyped events are known in part; without `in_part` they count as unknown. Where streams differ, an
    attribute is `mixed`."""
    found: list[Types | None] = []
    derived: dict[str, list[Types | None]] = {}
    for stage in stages:
        listed = (each for name in stage.reads for each in derived.get(name, [given.get(name)]))
        types = common_attributes(listed, mixed=mixed)
        if stage.feeds is not None:
            known = stage.columns is not None and (in_part or types is not None)
            own = derived_attributes(stage.columns(types)) if known and stage.columns is not None else None
            derived.setdefault(stage.feeds, []).append(own)
        found.append(types)
    return found


def complaint(stages: Sequence[TypedStage], given: Mapping[str, Types | None]) -> str | None:
    """The first thing that a query computes and cannot, given the types of the streams that are read (BAD-3)."""
    for stage, types in zip(stages, read_attributes(stages, given, mixed=UNKNOWN), strict=True):
        found = None if stage.complaint is None else stage.complaint(types)
        if found is not None:
            return found
    return None


# Rows that come together

CURE = "another name in one of its queries, or values of one type"


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A column whose values would have several types, and the first stage in which the type differs."""

    stage: int
    column: str
    kinds: tuple[Type, ...] = field(repr=False)

    @property
    def reason(self) -> str:
        known = {str(kind) for kind in self.kinds if not isinstance(kind, Atom) or is_known(kind)}
        found = " and ".join(sorted(known if len(known) > 1 else {str(kind) for kind in self.kinds}))
        return f'The column "{self.column}" of the UNION would be {found}.'


def disagreement(stages: Sequence[TypedStage], given: Mapping[str, Types | None]) -> Disagreement | None:
    """The first column of rows that come together whose types do not agree; `given` are the types of the streams that
    are read, as far as they are known."""
    columns = _columns(stages, given)
    for together in _together(stages):
        for name in dict.fromkeys(name for stage in together for name in columns[stage]):
            found = [(stage, columns[stage][name]) for stage in together if name in columns[stage]]
            for place in range(1, len(found)):
                kinds = tuple(kind for _, kind in found[: place + 1])
                if agreed(kinds) is None:
                    return Disagreement(found[place][0], name, kinds)
    return None


def needs_data(stages: Sequence[TypedStage]) -> bool:
    """Whether the types of streams may decide if the types of columns agree, or if something can be computed."""
    if any(stage.complaint is not None for stage in stages):
        return True
    columns = _columns(stages, {})
    for together in _together(stages):
        listed = [each for stage in together for each in columns[stage].items()]
        names = [name for name, _ in listed]
        if any(names.count(name) > 1 and not is_known(kind) for name, kind in listed):
            return True
    return False


def _columns(stages: Sequence[TypedStage], given: Mapping[str, Types | None]) -> list[Types]:
    types = read_attributes(stages, given)
    return [{} if stage.columns is None else stage.columns(own) for stage, own in zip(stages, types, strict=True)]


def _together(stages: Sequence[TypedStage]) -> list[list[int]]:
    """The stages whose rows come together: as answers, or in one stream."""
    found: dict[str | None, list[int]] = {}
    for number, stage in enumerate(stages):
        found.setdefault(stage.feeds, []).append(number)
    return [stages for stages in found.values() if len(stages) > 1]


def is_known(kind: Type) -> bool:
    """Whether a type is known in all its parts."""
    match kind:
        case Atom():
            return kind.kind not in _OPEN
        case Several(of=of):
            return is_known(of)
        case Fields(fields=fields):
            return all(is_known(of) for _, of in fields)


def agreed(kinds: Sequence[Type]) -> Type | None:
    """The type that holds the values of all these types exactly; None if they do not agree. Integers agree, doubles
    agree, and integers and decimals agree if a decimal of 38 digits holds them. An unknown type agrees with any type.

    >>> print(agreed([INTEGER, Atom(ValueKind.DECIMAL, digits=5, scale=2)]), agreed([INTEGER, DOUBLE]))
    decimal(22,2) None
    """
    found: Type | None = kinds[0]
    for kind in kinds[1:]:
        found = None if found is None else _both(found, kind)
    return found


def _both(left: Type, right: Type) -> Type | None:
    match left, right:
        case _ if left == right:
            return left
        case Atom(), Atom():
            return _both_atoms(left, right)
        case Several(), Several():
            of = _both(left.of, right.of)
            return None if of is None else Several(of)
        case Fields(), Fields():
            return _both_fields(left, right)
        case _:
            return None


def _both_atoms(left: Atom, right: Atom) -> Atom | None:
    if not is_known(left) or not is_known(right):
        return right if is_known(right) else left
    kinds = {left.kind, right.kind}
    if kinds == {ValueKind.INTEGER} or kinds == {ValueKind.DOUBLE}:
        return Atom(left.kind, bits=max(left.bits, right.bits))
    if not kinds <= {ValueKind.INTEGER, ValueKind.DECIMAL}:
        return None
    whole, scale = max(left.whole, right.whole), max(left.scale, right.scale)
    fit = left.digits <= MOST_DIGITS and right.digits <= MOST_DIGITS
    return None if whole + scale > MOST_DIGITS and fit else Atom(ValueKind.DECIMAL, digits=whole + scale, scale=scale)


def _both_fields(left: Fields, right: Fields) -> Fields | None:
    if [name for name, _ in left.fields] != [name for name, _ in right.fields]:
        return None
    found: list[tuple[str, Type]] = []
    for (name, one), (_, other) in zip(left.fields, right.fields, strict=True):
        of = _both(one, other)
        if of is None:
            return None
        found.append((name, of))
    return Fields(tuple(found))


def atom_of(kind: Any) -> Atom:
    """The type of an Arrow type; text if its values are of no known type."""
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(kind):
        kind = kind.value_type
    if types.is_null(kind):
        return UNKNOWN
    if types.is_integer(kind):
        return Atom(ValueKind.INTEGER, bits=kind.bit_width)
    if types.is_floating(kind):
        return Atom(ValueKind.DOUBLE, bits=kind.bit_width)
    if types.is_decimal(kind):
        return Atom(ValueKind.DECIMAL, digits=kind.precision, scale=kind.scale)
    if types.is_boolean(kind):
        return BOOLEAN
    if types.is_timestamp(kind):
        return TIMESTAMP
    if types.is_duration(kind):
        return DURATION
    return DATE if types.is_date(kind) else STRING
