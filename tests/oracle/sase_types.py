"""The types of SASE+ columns, as far as a text alone tells them, and whether those of a UNION agree.

What the definitions leave open, and the reading taken.

- An attribute of events that are given is one value of some type. An attribute of events that queries make has the type
  of their columns: text, if these are of several types. One that no query makes is some value, which is always missing.
- Constants with a point are floats, as what is divided and means are. Counts are integers.
- Equal types agree; some value agrees with any single value. Composites agree if their parts do, in order.
- Blocks of a UNION need not agree if they make different streams.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

from oracle.sase_composed import Composed, reads
from oracle.sase_query import (
    OWN,
    Aggregate,
    Arithmetic,
    Attribute,
    Call,
    Composite,
    Constant,
    Expression,
    Index,
    Length,
    Query,
    Sequence,
)
from oracle.sase_text import column_name, key_name


@dataclass(frozen=True)
class Several:
    of: Type


@dataclass(frozen=True)
class Parts:
    parts: tuple[tuple[str, Type], ...]


Type: TypeAlias = str | Several | Parts
"""A single value has the name of its type."""

SOME = "some"
"""One value, of a type that only events tell."""

Types: TypeAlias = Mapping[str, Type]


def type_of(what: Expression | Sequence | Composite, attributes: Types | None) -> Type:
    """`attributes` are those of the streams that are read; None, if events are given."""

    def of(attribute: str) -> Type:
        return SOME if attributes is None else attributes.get(attribute, SOME)

    match what:
        case Sequence(_, attribute):
            return Several(of(attribute))
        case Composite(_, names, closure):
            parts = Parts(tuple((name, of(name)) for name in names))
            return Several(parts) if closure else parts
        case Constant(value):
            return _constant(value)
        case Length() | Aggregate("count") | Call("length"):
            return "integer"
        case Aggregate("avg") | Arithmetic("/"):
            return "float"
        case Attribute(attribute=attribute) | Aggregate(attribute=str(attribute)):
            return of(attribute)
        case Arithmetic(_, left, right):
            return _calculated(type_of(left, attributes), type_of(right, attributes))
        case Call("lower" | "upper"):
            return "text"
        case Call("abs" | "ceil" | "floor" | "round", (argument,)):
            return type_of(argument, attributes)
        case _:
            return "boolean"


def _constant(value: object) -> Type:
    match value:
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float() | Decimal():
            return "float"
        case _:
            return "text"


def _calculated(left: Type, right: Type) -> Type:
    if SOME in (left, right):
        return SOME
    return "float" if "float" in (left, right) else "integer" if left == right == "integer" else "text"


def columns(block: Query, attributes: Types | None) -> dict[str, Type]:
    keys = {key_name(key): Attribute(OWN, Index.PLAIN, key) if isinstance(key, str) else key for key in block.by}
    given = keys | {column_name(item): item.what for item in block.returns}
    return {name: type_of(what, attributes) for name, what in given.items()}


def all_columns(queries: Composed) -> list[list[dict[str, Type]]]:
    """Of each block of each query."""
    return [[columns(block, _read(queries, block)) for block in union] for union in queries]


def _read(queries: Composed, block: Query) -> Types | None:
    """The attributes of the events that a block reads."""
    makers = {
        name: [each for union in queries for each in union if each.made and each.made.stream == name]
        for name in reads(block)
    }
    if not all(makers.values()):
        return None
    made = [dict(_made(queries, each)) for listed in makers.values() for each in listed]
    found: dict[str, Type] = {}
    for name in {name for attributes in made for name in attributes}:
        several = {attributes[name] for attributes in made if name in attributes}
        found[name] = SOME if SOME in several else several.pop() if len(several) == 1 else "text"
    return found


def _made(queries: Composed, block: Query) -> Iterator[tuple[str, Type]]:
    """The attributes of the events that a block makes. Each has a time, which is of some type."""
    yield "time", SOME
    for name, types in columns(block, _read(queries, block)).items():
        if isinstance(types, Parts):
            yield from ((f"{name}.{part}", of) for part, of in types.parts)
        else:
            yield name, types


def agree(one: Type, other: Type) -> bool:
    match one, other:
        case str(), str():
            return one == other or SOME in (one, other)
        case Several(of), Several(others):
            return agree(of, others)
        case Parts(parts), Parts(others):
            return [name for name, _ in parts] == [name for name, _ in others] and all(
                agree(of, other_of) for (_, of), (_, other_of) in zip(parts, others, strict=True)
            )
        case _:
            return False


def conflicts(queries: Composed) -> set[str]:
    """The columns in which blocks of a UNION do not agree."""
    found = set[str]()
    for union, types in zip(queries, all_columns(queries), strict=True):
        for place, block in enumerate(union):
            for before in range(place):
                target, other = block.made, union[before].made
                if target is None or other is None or target.stream == other.stream:
                    shared = types[before].keys() & types[place].keys()
                    found |= {name for name in shared if not agree(types[before][name], types[place][name])}
    return found
