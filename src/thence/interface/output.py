"""The output of a program: the one place that defines the rows of a query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final, Protocol, TypeAlias

from thence.algebra.patterns import TriplePattern
from thence.columns.value_types import UNKNOWN, Several, Types

OPEN_END: Final = 2**63 - 1
"""The end of a fact that still holds."""


class Distinct(Enum):
    """The rows among which DISTINCT compares: of equal ones the first stays."""

    FOREVER = "for ever"
    INTERVAL = "rows of the same start and end"
    EVALUATION = "rows that became certain at the same time"


class ColumnTypes(Protocol):
    """The types of an answer's columns."""

    def resolve(self, attributes: Types | None) -> Types:
        """The types of the columns. `attributes` are the types of the input's attributes, None if it has none (RDF,
        JSON lines)."""
        ...

    def complaint(self, attributes: Types | None) -> str | None:
        """What the query computes and attributes of such types do not allow; None if there is nothing."""
        ...

    @property
    def asks(self) -> bool:
        """Whether some types may make it impossible to compute something."""
        ...


@dataclass(frozen=True, slots=True)
class TermColumns:
    """Columns of RDF terms; those in `lists` hold several terms each."""

    names: tuple[str, ...]
    lists: frozenset[str] = frozenset()

    def resolve(self, attributes: Types | None) -> Types:
        return {name: Several(UNKNOWN) if name in self.lists else UNKNOWN for name in self.names}

    def complaint(self, attributes: Types | None) -> str | None:
        return None

    @property
    def asks(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of an answer (SELECT, RETURN, AGGREGATE). `plain` values are numbers, texts and times without a datatype,
    as the attributes of typed events are; otherwise values are RDF terms. `numbered`: the answer has a field `query`,
    the number of the statement that a row is of (EP-82). `facts`: rows are facts, whose end may be open (TEF-74)."""

    columns: tuple[str, ...]
    types: ColumnTypes
    distinct: Distinct | None = None
    plain: bool = False
    numbered: bool = False
    facts: bool = False


@dataclass(frozen=True, slots=True)
class Events:
    """Derived events (CONSTRUCT): one per row, with the triples of the template."""

    template: tuple[TriplePattern, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class DerivedTriples:
    """Derived events that the operator builds itself, not a template. A row's cell `triples`
    lists subjects, predicates and objects in turn. `numbered` as for `Rows`: the number is that of the rule.
    `intervals`: they may last (C-27)."""

    numbered: bool = False
    intervals: bool = True

    @property
    def columns(self) -> tuple[str, ...]:
        return ()


Output: TypeAlias = Rows | Events | DerivedTriples


def is_numbered(output: Output) -> bool:
    """Whether each row carries the number of its statement."""
    return not isinstance(output, Events) and output.numbered


def term_rows(names: Sequence[str], *, distinct: Distinct | None = None, numbered: bool = False) -> Rows:
    """Rows of single RDF terms.

    >>> term_rows(["x", "y"]).columns
    ('x', 'y')
    """
    return Rows(tuple(names), TermColumns(tuple(names)), distinct, numbered=numbered)
