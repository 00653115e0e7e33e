"""What of a query is maintained from evaluation to evaluation, and what is recomputed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from thence.algebra.expressions import Aggregate, Variable
from thence.algebra.patterns import Bgp, Pattern, WindowPattern
from thence.algebra.rsep_ql import WindowFunction
from thence.rdf.terms import IRI, BlankNode

Columns: TypeAlias = tuple[Variable | BlankNode, ...]

ROWS: Final = WindowPattern(IRI("rows of a view"), Bgp(()))
"""Stands in a pattern for the rows of a view: no text can write this name."""


@dataclass(frozen=True, slots=True)
class KeptTriple:
    """The triples of a window that match a triple pattern: those of a table, `places` being the columns that stand for
    `columns`."""

    table: int
    function: WindowFunction
    columns: Columns
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class KeptJoin:
    """A join of two views. The variables that both have are bound in every row."""

    left: View
    right: View
    columns: Columns


@dataclass(frozen=True, slots=True)
class KeptUnion:
    """UNION of two views."""

    left: View
    right: View
    columns: Columns


@dataclass(frozen=True, slots=True)
class KeptRows:
    """What a pattern makes of each row of a view alone: FILTER, BIND, and joins with what never changes. In the
    pattern, ROWS stands for them."""

    pattern: Pattern
    view: View
    columns: Columns


@dataclass(frozen=True, slots=True)
class KeptEvents:
    """The mappings of an EVENT (4): a table's rows, `places` being the columns that stand for `columns`. All are always
    bound."""

    table: int
    function: WindowFunction
    columns: Columns
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class KeptSeq:
    """`E1 SEQ E2` (7), without a policy."""

    left: EventView
    right: EventView
    columns: Columns


@dataclass(frozen=True, slots=True)
class KeptMatch:
    """MATCH (8): event mappings without their times. `listed` are the places of its events (RS-56)."""

    events: EventView
    columns: Columns
    listed: tuple[int, ...]


EventView: TypeAlias = KeptEvents | KeptSeq
View: TypeAlias = KeptTriple | KeptJoin | KeptUnion | KeptRows | KeptMatch


@dataclass(frozen=True, slots=True)
class KeptPattern:
    """A part of WHERE, and how its solutions are kept. `reads_graphs`: graphs of the dataset are read, which must not
    change. `events`: for each event of a row its place among those of all MATCHes (RS-56)."""

    pattern: Pattern
    view: View
    reads_graphs: bool
    events: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class KeptGroups:
    """Aggregates that are kept group by group. `by_group`: so are the rows that groups make."""

    aggregates: tuple[Aggregate, ...]
    by_group: bool


@dataclass(frozen=True, slots=True)
class Maintenance:
    """`patterns` are the parts of WHERE that are maintained. `is_answer`: the only one is WHERE, and its solutions are
    the rows of the answer. `groups`: it is WHERE, and groups are maintained too. `keeps_graphs`: the order of
    rows does not matter, so that graphs of windows that are read one solution at a time may be changed instead of built
    anew. `reasons` say why the rest is recomputed."""

    patterns: tuple[KeptPattern, ...] = ()
    is_answer: bool = False
    groups: KeptGroups | None = None
    keeps_graphs: bool = False
    reasons: tuple[str, ...] = ()

    @property
    def makes_deltas(self) -> bool:
        """Whether rows that come and go are known without a look at those that stay."""
        return self.is_answer or (self.groups is not None and self.groups.by_group)
