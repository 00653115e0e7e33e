"""A SASE+ block before its checks: the algebra, and the place of each part in the text, for errors."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from thence.algebra.expressions import Variable
from thence.algebra.sase import AggregateName, Attribute, Component, Key, Reference, Strategy
from thence.algebra.streams import Name
from thence.errors import QueryError
from thence.lang.text import Text

_QUOTED_OR_BLANK = re.compile(r"""(`[^`]*+`|'[^']*+'|"[^"]*+"|<[^<>"{}|^`\\\x00-\x20]*+>)|\s++|\#[^\r\n]*+""")


@dataclass(frozen=True, slots=True)
class PlacedItem:
    """A condition of WHERE or HAVING, a window or a stream's name, and its place in the text."""

    value: Any  # in WHERE: an expression, StrategyGroup, EquivalenceTest or PartitionAttributes
    at: int


@dataclass(frozen=True, slots=True)
class SelectedVariable:
    """A variable in a strategy's list."""

    variable: str
    cut: bool
    at: int


@dataclass(frozen=True, slots=True)
class StrategyGroup:
    """`strategy(variables) { conditions }`."""

    strategy: Strategy
    selected: tuple[SelectedVariable, ...]
    conditions: tuple[PlacedItem, ...]
    at: int


@dataclass(frozen=True, slots=True)
class EquivalenceTest:
    """`[attr, …]`."""

    names: tuple[Name, ...]
    at: int


@dataclass(frozen=True, slots=True)
class PartitionAttributes:
    """`PARTITION BY key, …`."""

    keys: tuple[Key, ...]
    at: int


@dataclass(frozen=True, slots=True)
class DraftMatchAggregate:
    """An aggregate of what each match has but once, `sum(b.x)` or `count(*)`: for AGGREGATE, which is over matches."""

    summary: AggregateName
    of: Attribute | None
    at: int

    @property
    def complaint(self) -> tuple[str, str]:
        """The error if it is used elsewhere, and the cure."""
        if self.of is None:
            return "count(*) is for AGGREGATE: RETURN gives one row for each match.", "AGGREGATE count(*)"
        name = self.summary.value
        return f"{name}() needs a closure.", f"{name}(a[].price) or {name}(a[..i-1].price)"


def column_name(text: str) -> str:
    """The name of a column without AS: its text, without spaces and comments except in quotes.

    >>> column_name("a.`my price` + 1  # of the day"), column_name("a.x = 'A B'")
    ('a.`my price`+1', "a.x='A B'")
    """
    return _QUOTED_OR_BLANK.sub(lambda found: found[1] or "", text)


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
    stream: PlacedItem | None
    at: int


@dataclass(frozen=True, slots=True)
class DraftTotals:
    items: tuple[DraftItem, ...]
    by: tuple[PlacedItem, ...]  # keys
    at: int


@dataclass(frozen=True, slots=True)
class DraftBlock:
    """One block."""

    text: Text
    streams: tuple[PlacedItem, ...]
    components: tuple[Component, ...]
    items: tuple[PlacedItem, ...]  # of WHERE
    window: PlacedItem | None  # a span
    having: PlacedItem | None
    form: DraftReturn | DraftTotals
    references: Mapping[Variable, Reference]
    places: Mapping[str, int]  # of components, by their variables
    ticks: tuple[PlacedItem, ...] = ()  # the lengths in ticks among its conditions and values

    @property
    def stream(self) -> PlacedItem | None:
        """The stream that it makes."""
        return self.form.stream if isinstance(self.form, DraftReturn) else None

    def error(self, reason: str, at: int, *, hint: str = "") -> QueryError:
        return self.text.error(reason, at, hint=hint)
