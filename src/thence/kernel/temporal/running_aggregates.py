"""Aggregates that grow member by member (EP-58): a row costs the same, however many members a group has.

The values are those of `thence.match.aggregates`, which sees all members at once.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from thence.algebra.expressions import Aggregate, AggregateFunction
from thence.columns.dictionary import UNBOUND, Terms
from thence.columns.value_kinds import INTEGER
from thence.kernel.array_checks import require
from thence.kernel.saved_sums import restored_sum, saved_sum
from thence.kernel.saved_terms import is_text, saved_term
from thence.kernel.temporal.interval_table import Ids
from thence.match.arithmetic import number, written
from thence.match.context import Context, Solution
from thence.match.expression_errors import ExpressionError, check_length
from thence.match.expression_evaluator import attempt
from thence.match.functions import str_
from thence.rdf import numbers
from thence.rdf.comparison import order_key, tie_key
from thence.rdf.exact_sums import ExactSum
from thence.rdf.terms import Literal, Term
from thence.rdf.values import literal


@dataclass(slots=True)
class RunningAggregate:
    """One aggregate of one group. `failed`: a member has no value, or one that cannot be added or written."""

    function: Aggregate
    count: int = 0
    total: ExactSum = field(default_factory=ExactSum)
    chosen: Term | None = None  # the least, the greatest or the first value
    texts: list[str] = field(default_factory=list)
    seen: dict[object, None] = field(default_factory=dict)  # of DISTINCT
    failed: bool = False

    def add(self, member: Solution, context: Context) -> None:
        operand = self.function.operand
        if operand is None:
            if self._is_new(tuple(sorted((name.name, str(term)) for name, term in member.items()))):
                self.count += 1
            return
        self._add_value(attempt(operand, member, context))

    def add_column(self, ids: Ids, terms: Terms, total: ExactSum | None) -> None:
        """Add the values of several members in their order, UNBOUND for errors. `total` is their sum, if it is
        known."""
        if total is not None:
            self.count += len(ids)
            self.total.include(total)
            return
        if self.function.function is AggregateFunction.COUNT and not self.function.distinct:
            self.count += int(np.count_nonzero(ids != UNBOUND))
            return
        if self.function.function in (AggregateFunction.MIN, AggregateFunction.MAX):
            ids = self._extremes(np.unique(ids), terms)
        elif self.function.distinct:
            ids = ids[np.sort(np.unique(ids, return_index=True)[1])]
        for each in ids.tolist():
            self._add_value(None if each == UNBOUND else terms[each])

    def _extremes(self, ids: Ids, terms: Terms) -> Ids:
        """Some of these, the least and the greatest among them."""
        if ids[0] == UNBOUND or not (terms.tags[ids] == INTEGER).all():
            return ids
        bits = terms.bits[ids]
        found: Ids = ids[(bits == bits.min()) | (bits == bits.max())]  # the same number may be several terms
        return found

    def _add_value(self, value: Term | None) -> None:
        if not self._is_new(None if value is None else str(value)):
            return
        if value is None:
            self.failed = True
            return
        self.count += 1
        try:
            self._take(value)
        except ExpressionError:
            self.failed = True

    def _is_new(self, key: object) -> bool:
        if not self.function.distinct:
            return True
        if key in self.seen:
            return False
        self.seen[key] = None
        return True

    def _take(self, value: Term) -> None:
        match self.function.function:
            case AggregateFunction.SUM | AggregateFunction.AVG:
                self.total.add(number(value))
            case AggregateFunction.MIN:
                if self.chosen is None or _key(value) < _key(self.chosen):
                    self.chosen = value
            case AggregateFunction.MAX:
                if self.chosen is None or _key(value) > _key(self.chosen):
                    self.chosen = value
            case AggregateFunction.SAMPLE:
                self.chosen = value if self.chosen is None else self.chosen
            case AggregateFunction.GROUP_CONCAT:
                self.texts.append(str_(value).value)
            case _:
                pass

    def value(self) -> Term | None:
        """The aggregate of all members so far; None for an error."""
        function = self.function.function
        match function:
            case AggregateFunction.COUNT:
                return literal(self.count)
            case AggregateFunction.SAMPLE:
                return self.chosen
            case _ if self.failed:
                return None
            case AggregateFunction.MIN | AggregateFunction.MAX:
                return self.chosen
        try:
            if function is AggregateFunction.SUM:
                return written(self.total.value())
            if function is AggregateFunction.AVG:
                return written(numbers.divide(self.total.value(), self.count) if self.count else 0)
            separator = " " if self.function.separator is None else self.function.separator
            check_length(sum(map(len, self.texts)) + len(separator) * len(self.texts))
            return Literal(separator.join(self.texts))
        except ExpressionError:
            return None

    # Saved between two steps

    def saved(self) -> list[Any]:
        chosen = None if self.chosen is None else str(self.chosen)
        return [self.count, saved_sum(self.total), chosen, self.texts, list(self.seen), self.failed]

    def restore(self, found: object) -> None:
        require(isinstance(found, list) and len(found) == 6, "an aggregate is none")
        assert isinstance(found, list)
        count, total, chosen, texts, seen, failed = found
        require(type(count) is int and isinstance(texts, list) and isinstance(seen, list), "an aggregate is none")
        require(all(map(is_text, texts)) and type(failed) is bool, "an aggregate is none")
        self.chosen = None if chosen is None else saved_term(chosen)
        self.total = restored_sum(total)
        try:
            self.seen = dict.fromkeys(map(_hashable, seen))
        except TypeError:
            require(False, "an aggregate is none")
        self.count, self.texts, self.failed = count, texts, failed


def _key(term: Term) -> tuple[Any, ...]:
    return (*order_key(term), *tie_key(term))


def _hashable(found: Any) -> Any:
    """What JSON gives back for a tuple is a list."""
    return tuple(map(_hashable, found)) if isinstance(found, list) else found
