"""A SASE+ block as it was read: what its checks need to know beyond the algebra is where things stand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from thence.algebra.components import Component, Name, Reference, Strategy
from thence.algebra.expressions import Expression, Variable
from thence.errors import QueryError
from thence.lang.text import Text
from thence.rdf.times import Span


@dataclass(frozen=True, slots=True)
class Placed:
    """A condition of WHERE or HAVING, and where it stands."""

    value: Any  # an expression, Group, Same or Partition
    at: int


@dataclass(frozen=True, slots=True)
class Selected:
    """A variable in a strategy's list."""

    variable: str
    cut: bool
    at: int


@dataclass(frozen=True, slots=True)
class Group:
    """`strategy(variables) { conditions }`."""

    strategy: Strategy
    selected: tuple[Selected, ...]
    conditions: tuple[Placed, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Same:
    """`[attr, …]`."""

    names: tuple[Name, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Partition:
    """`PARTITION BY (attr, …)`."""

    names: tuple[Name, ...]
    at: int


@dataclass(frozen=True, slots=True)
class DraftItem:
    """Something that RETURN or AGGREGATE gives: the name that AS gives it, else its text."""

    name: str | None
    text: str
    given: Any
    at: int


@dataclass(frozen=True, slots=True)
class DraftReturn:
    items: tuple[DraftItem, ...]
    type: str | None
    stream: str | None
    at: int


@dataclass(frozen=True, slots=True)
class DraftTotals:
    items: tuple[DraftItem, ...]
    by: tuple[Name, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Block:
    """One block."""

    text: Text
    streams: list[str]
    components: tuple[Component, ...]
    items: tuple[Placed, ...]  # of WHERE
    window: Span | None
    having: Expression | None
    form: DraftReturn | DraftTotals
    references: Mapping[Variable, Reference]
    at: int

    def error(self, reason: str, at: int, *, hint: str = "") -> QueryError:
        return self.text.error(reason, at, hint=hint)
