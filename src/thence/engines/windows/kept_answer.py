"""`KeptAnswer`: the state of WHERE and of groups, kept from one evaluation to the next. It is never saved, since it can
be rebuilt from the logs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TypeAlias

import numpy as np

from thence.algebra.expressions import Variable
from thence.algebra.patterns import GroupKey, Pattern
from thence.algebra.rsep_ql import StreamOperator
from thence.columns.arrays import Ids, Ints
from thence.columns.dictionary import Terms
from thence.engines.windows.content import LoggedRows
from thence.engines.windows.maintained import LiveRows, MaintainedPart, Step, maintained_part, solution_table
from thence.engines.windows.program import KeptPattern, WindowProgram
from thence.match.context import Context, Solution
from thence.match.group_columns import Groups
from thence.match.modifiers import AggregateVariables, Grouping
from thence.match.solution_table import ColumnVariable, SolutionTable
from thence.rdf.terms import Literal
from thence.rdf.times import MIN_TIME, XSD_INTEGER
from thence.relation.interval_table import IntervalTable, chosen_columns

GROUP = Variable("number of a group")
"""Says of a row which group it is of. No query can write a name with a space."""

Selected: TypeAlias = Callable[[Grouping, Sequence[Variable]], Iterable[Solution]]
"""The stage after WHERE: the rows of groups, with some variables."""


@dataclass(slots=True, eq=False)
class KeptAnswer:
    """The rows of each maintained pattern; or of the only one, as columns of the answer or of groups."""

    program: WindowProgram
    terms: Terms
    live: list[LiveRows] = field(init=False)
    groups: Groups | None = None
    _by_group: dict[int, list[tuple[int, ...]]] = field(default_factory=dict)  # the rows that each group makes

    def __post_init__(self) -> None:
        kept = self.program.maintenance
        if kept.groups is not None:
            self.groups = Groups(self.program.query.form.modifiers.group, kept.groups.aggregates, self.terms)
        self.live = [self._live(each) for each in kept.patterns]

    def _live(self, kept: KeptPattern) -> LiveRows:
        part = maintained_part(kept.part)
        groups = self.groups
        if groups is not None:

            def grouped(rows: IntervalTable, step: Step) -> IntervalTable:
                ids = groups.columns(solution_table(part.columns, rows), step.context)
                return IntervalTable(rows.start, rows.end, ids, rows.refs[:0])

            return LiveRows(part, groups.width, 0, grouped)
        names = self.program.variables if self.program.maintenance.is_answer else _variables(part)
        places = [part.columns.index(name) if name in part.columns else -1 for name in names]
        order = np.argsort(np.array(kept.events, np.int64))

        def chosen(rows: IntervalTable, step: Step) -> IntervalTable:
            return IntervalTable(rows.start, rows.end, chosen_columns(rows.ids, places), rows.refs[order])

        return LiveRows(part, len(places), len(order), chosen)

    @property
    def is_fresh(self) -> bool:
        """Whether there was no evaluation yet."""
        return self.live[0].time < MIN_TIME

    @property
    def has_previous(self) -> bool:
        """Whether its rows are the answer that the next one is compared with."""
        return self.program.maintenance.makes_deltas and self.program.emits is not StreamOperator.RSTREAM

    @property
    def stored(self) -> int:
        return sum(each.stored for each in self.live)

    def known(self, step: Step) -> dict[Pattern, SolutionTable]:
        """The solutions of the maintained patterns."""
        found = {}
        for kept, live in zip(self.program.maintenance.patterns, self.live, strict=True):
            live.advance(step)
            ids = live.rows().ids
            names: dict[ColumnVariable, Ids] = dict(zip(_variables(live.part), ids, strict=True))
            found[kept.pattern] = SolutionTable(ids.shape[1], names, np.zeros(ids.shape[1], np.int32))
        return found

    # Groups

    def update_groups(self, step: Step) -> Ints:
        """Advance to an evaluation; returns the groups that have changed."""
        assert self.groups is not None
        (live,) = self.live
        was_fresh = self.is_fresh
        came, went = without_common(*(rows.ids for rows in live.advance(step)))
        if not came.shape[1] and not went.shape[1]:
            return np.array(list(self.groups.values) if was_fresh else [], np.int64)
        changed = self.groups.update(came, went)
        return np.array(list(self.groups.values), np.int64) if was_fresh else changed

    def grouping(self, chosen: Iterable[int]) -> Grouping:
        """A grouping that gives the solutions of some groups."""
        groups = self.groups
        assert groups is not None

        def solutions(
            keys: Sequence[GroupKey] | None, aggregated: AggregateVariables, context: Context
        ) -> Iterator[Solution]:
            for group, found in groups.solutions(chosen, aggregated):
                yield {GROUP: Literal(str(group), XSD_INTEGER), **found}

        return solutions

    def all_groups(self) -> Grouping:
        """A grouping that gives the solutions of all groups."""
        assert self.groups is not None
        return self.grouping(list(self.groups.values))

    # The answer

    @property
    def is_empty(self) -> bool:
        return not self._by_group if self.groups is not None else not self.live[0].holds_any

    def deltas(self, step: Step, selected: Selected) -> tuple[LoggedRows, LoggedRows]:
        """Go on to an evaluation: the rows that come and those that go; equal ones may be in both."""
        if self.groups is None:
            (live,) = self.live
            came, went = live.advance(step)
            return self._listed(came), self._listed(went)
        changed = self.update_groups(step).tolist()
        old = [row for group in changed for row in self._by_group.pop(group, ())]
        names = self.program.variables
        made = list(selected(self.grouping(changed), (*names, GROUP)))
        columns = [self.terms.add_all(row.get(name) for row in made).tolist() for name in names]
        new = list(zip(*columns, strict=True))
        for row, ids in zip(made, new, strict=True):
            self._by_group.setdefault(int(row[GROUP].value), []).append(ids)
        return _rows_of(new, len(names)), _rows_of(old, len(names))

    def rows(self) -> LoggedRows:
        """All rows of the answer."""
        if self.groups is None:
            return self._listed(self.live[0].rows())
        return _rows_of(chain.from_iterable(self._by_group.values()), len(self.program.variables))

    def _listed(self, rows: IntervalTable) -> LoggedRows:
        """Rows with their events, in the order of the text (RS-56)."""
        (kept,) = self.program.maintenance.patterns
        width = len(kept.events)
        offsets = np.arange(len(rows) + 1, dtype=np.int64) * width
        places = np.tile(np.sort(np.array(kept.events, np.int64)), len(rows))
        return LoggedRows(rows.ids, offsets, rows.refs.T.ravel(), places)


def _variables(part: MaintainedPart) -> list[Variable]:
    return [name for name in part.columns if isinstance(name, Variable)]


def plain_rows(ids: Ids) -> LoggedRows:
    """Rows without events."""
    return LoggedRows(ids, np.zeros(ids.shape[1] + 1, np.int64))


def _rows_of(rows: Iterable[tuple[int, ...]], width: int) -> LoggedRows:
    listed = list(rows)
    return plain_rows(np.array(listed, np.int32).reshape(len(listed), width).T)


def without_common(left: Ids, right: Ids) -> tuple[Ids, Ids]:
    """Both without the columns that they have in common, as bags."""
    if not left.shape[1] or not right.shape[1]:
        return left, right
    return left[:, surplus(left, right)], right[:, surplus(right, left)]


def surplus(ids: Ids, others: Ids) -> Ints:
    """The bag difference of columns of ids: which stay of the first."""
    both = np.concatenate([others, ids], axis=1)  # the others come first among equal ones, as the sort is stable
    order = np.lexsort(both) if len(both) else np.arange(both.shape[1])
    ordered = both[:, order]
    is_new = np.ones(len(order), np.bool_)
    is_new[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    number = np.cumsum(is_new) - 1
    starts = np.flatnonzero(is_new)
    is_own = order >= others.shape[1]
    known = np.bincount(number[~is_own], minlength=len(starts))
    place = np.arange(len(order)) - starts[number] - known[number]  # among the own ones of its kind
    kept: Ints = np.sort(order[is_own & (place >= known[number])] - others.shape[1])
    return kept
