"""Aggregates: an accumulator takes values one by one, and has the aggregate of those so far.

The definition of all aggregates, for all languages: `sparql_accumulator` and `sase_accumulator` choose. The
same for many groups at once, from which members can be subtracted too: `thence.relation.group_accumulators`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, TypeAlias, assert_never

from thence.algebra.expressions import Aggregate, AggregateFunction
from thence.algebra.sase import AggregateName
from thence.columns.dictionary import from_text
from thence.rdf.numbers import Number
from thence.rdf.terms import IRI, XSD, BlankNode, Literal, Term
from thence.rdf.values import MAX_TEXT, less, literal, total_key
from thence.relation.exact_sums import ExactSum, number_of

# SUM and AVG (C-31)

Finish: TypeAlias = Callable[[ExactSum, int], Number | None]
"""SUM or AVG in a language: what it makes of the sum of so many numbers. None: nothing."""


def sparql_sum(total: ExactSum, count: int) -> Number | None:
    """SUM (18.5.1.3), in the widest type of the members; of none 0."""
    return total.value()


def sparql_avg(total: ExactSum, count: int) -> Number | None:
    """AVG (18.5.1.4), in the widest type of the members, of integers a decimal; of none 0."""
    return total.average(count)


def sase_sum(total: ExactSum, count: int) -> Number | None:
    """sum (SA-27), in the widest type of the members."""
    return total.value() if count else None


def sase_avg(total: ExactSum, count: int) -> Number | None:
    """avg (SA-27): a double, whatever the members are. In slots of a run the same is computed by
    `engines/automaton/running_aggregates.py`; its type is that of `algebra/sase_column_types.py`."""
    return total.double_average(count) if count else None


def finished(finish: Finish, total: ExactSum | None, count: int) -> Term | None:
    """SUM or AVG; None, too, if a member is not a number, or the result is too long to write."""
    found = None if total is None else finish(total, count)
    try:
        return None if found is None else literal(found)
    except OverflowError:
        return None


# Accumulators


@dataclass(slots=True)
class Accumulator(ABC):
    """An aggregate of the values so far. It keeps the fields that are no arguments of its constructor."""

    skips_missing: ClassVar[bool] = False
    """Whether a member without a value is skipped; else it makes the aggregate an error (SPARQL)."""

    failed: bool = field(default=False, init=False)

    def add(self, value: Term | None) -> None:
        """Add a value; None: that of a member that has none."""
        if value is None:
            self.failed |= not self.skips_missing
        elif not self._take(value):
            self.failed = True

    def add_all(self, values: Iterable[Term | None]) -> Term | None:
        """Add some values: the aggregate of all so far."""
        for each in values:
            self.add(each)
        return self.value()

    def value(self) -> Term | None:
        """The aggregate; None: an error, or nothing."""
        return None if self.failed else self._value()

    @abstractmethod
    def _take(self, value: Term) -> bool:
        """Add a value; False: it makes the aggregate an error."""

    @abstractmethod
    def _value(self) -> Term | None: ...

    def saved(self) -> list[Any]:
        """Its state, as JSON."""
        return [_saved(getattr(self, name)) for name in _kept(self)]

    def restore(self, found: Any) -> None:
        """Take over what was kept. ValueError or TypeError if it cannot have been."""
        for name, each in zip(_kept(self), found, strict=True):
            setattr(self, name, _restored(getattr(self, name), each))


@dataclass(slots=True)
class Count(Accumulator):
    """COUNT: how many values there are."""

    skips_missing = True
    count: int = field(default=0, init=False)

    def _take(self, value: Term) -> bool:
        self.count += 1
        return True

    def _value(self) -> Term | None:
        return literal(self.count)


@dataclass(slots=True)
class Total(Accumulator):
    """SUM or AVG: an error if a value is not a number."""

    finish: Finish
    count: int = field(default=0, init=False)
    total: ExactSum = field(default_factory=ExactSum, init=False)

    def _take(self, value: Term) -> bool:
        number = number_of(value)
        if number is None:
            return False
        self.count += 1
        self.total.add(number)
        return True

    def include(self, total: ExactSum | None, count: int) -> None:
        """Add so many numbers, whose sum is known; None: not all are numbers."""
        self.failed |= total is None
        self.count += count
        if total is not None:
            self.total.include(total)

    def _value(self) -> Term | None:
        return finished(self.finish, self.total, self.count)


@dataclass(slots=True)
class Extreme(Accumulator):
    """MIN or MAX of SPARQL, in the order of ORDER BY (18.5.1.5, 18.5.1.6): terms of all kinds have a place in it."""

    is_greatest: bool
    chosen: Term | None = field(default=None, init=False)

    def _take(self, value: Term) -> bool:
        known = self.chosen
        if known is None or (total_key(value) > total_key(known)) == self.is_greatest:
            self.chosen = value
        return True

    def _value(self) -> Term | None:
        return self.chosen


@dataclass(slots=True)
class Ranked(Accumulator):
    """The k-th least or greatest value of SASE+ (SA-27); equal values count separately. Nothing, if two values cannot
    be compared; NaN is skipped."""

    is_greatest: bool
    k: int = 1
    first: Term | None = field(default=None, init=False)
    ordered: list[Term] = field(default_factory=list, init=False)

    def _take(self, value: Term) -> bool:
        self.first = self.first or value
        if self._is_before(value, self.first) is None:
            return False
        if isinstance(value, Literal) and value.datatype in _BINARY and value.value == "NaN":
            return True
        place = len(self.ordered)
        while place and (found := self._is_before(value, self.ordered[place - 1])) is not False:
            if found is None:
                return False
            place -= 1
        self.ordered.insert(place, value)
        del self.ordered[self.k :]
        return True

    def _is_before(self, value: Term, other: Term) -> bool | None:
        return less(other, value) if self.is_greatest else less(value, other)

    def _value(self) -> Term | None:
        return self.ordered[self.k - 1] if len(self.ordered) >= self.k else None


@dataclass(slots=True)
class First(Accumulator):
    """The first value: SAMPLE and SASE+'s first."""

    skips_missing = True
    chosen: Term | None = field(default=None, init=False)

    def _take(self, value: Term) -> bool:
        self.chosen = self.chosen or value
        return True

    def _value(self) -> Term | None:
        return self.chosen


@dataclass(slots=True)
class Last(First):
    """The last value."""

    def _take(self, value: Term) -> bool:
        self.chosen = value
        return True


@dataclass(slots=True)
class Texts(Accumulator):
    """GROUP_CONCAT (18.5.1.7): an error if a value is a blank node, or the text would be too long."""

    separator: str
    terms: list[Term] = field(default_factory=list, init=False)

    def _take(self, value: Term) -> bool:
        self.terms.append(value)
        return not isinstance(value, BlankNode)

    def _value(self) -> Term | None:
        texts = [each.value for each in self.terms]
        length = sum(map(len, texts)) + len(self.separator) * len(texts)
        return None if length > MAX_TEXT else Literal(self.separator.join(texts))


@dataclass(slots=True)
class Distinct(Accumulator):
    """An aggregate of different terms."""

    of: Accumulator
    seen: dict[str, None] = field(default_factory=dict, init=False)

    def add(self, value: Term | None) -> None:
        text = "" if value is None else str(value)
        if text not in self.seen:
            self.seen[text] = None
            self.of.add(value)

    def _take(self, value: Term) -> bool:
        raise AssertionError("add() passes values to the inner accumulator")

    def _value(self) -> Term | None:
        return self.of.value()


_BINARY = (XSD + "double", XSD + "float")


# Saved between two steps


def _kept(accumulator: Accumulator) -> list[str]:
    """The fields that are saved: those that values change."""
    return [
        each.name
        for each in fields(accumulator)
        if not each.init or isinstance(getattr(accumulator, each.name), Accumulator)
    ]


def _saved(kept: Any) -> Any:
    match kept:
        case Accumulator() | ExactSum():
            return kept.saved()
        case list() | dict():
            return list(map(str, kept))  # terms, or texts of terms
        case IRI() | BlankNode() | Literal():
            return str(kept)
        case _:
            return kept


def _restored(now: Any, found: Any) -> Any:
    """The value of a saved field. `now`, its current value, has the same type."""
    match now:
        case Accumulator():
            now.restore(found)
            return now
        case ExactSum():
            return ExactSum.restored(found)
        case list():
            return list(map(_term, found))
        case dict():
            return dict.fromkeys(map(_text, found))
        case None:
            return None if found is None else _term(found)
        case _ if type(found) is type(now):
            return found
    raise TypeError(f"expected a value like {now}")


def _term(text: Any) -> Term:
    return from_text(_text(text))


def _text(text: Any) -> str:
    if not isinstance(text, str):
        raise TypeError("expected a text")
    text.encode()  # one half of a pair of surrogates cannot be written
    return text


# What languages call them

SPARQL_TOTALS = {AggregateFunction.SUM: sparql_sum, AggregateFunction.AVG: sparql_avg}


def sparql_accumulator(aggregate: Aggregate) -> Accumulator:
    """An aggregate of SPARQL (18.5.1), over no members yet.

    >>> accumulator = sparql_accumulator(Aggregate(AggregateFunction.AVG, None, distinct=True))
    >>> print(accumulator.add_all(map(literal, (1, 2, 2))))
    "1.5"^^<http://www.w3.org/2001/XMLSchema#decimal>
    """
    found = _of_sparql(aggregate)
    return Distinct(found) if aggregate.distinct else found


def _of_sparql(aggregate: Aggregate) -> Accumulator:
    match aggregate.function:
        case AggregateFunction.COUNT:
            return Count()
        case AggregateFunction.SUM | AggregateFunction.AVG:
            return Total(SPARQL_TOTALS[aggregate.function])
        case AggregateFunction.MIN | AggregateFunction.MAX:
            return Extreme(is_greatest=aggregate.function is AggregateFunction.MAX)
        case AggregateFunction.SAMPLE:
            return First()
        case AggregateFunction.GROUP_CONCAT:
            return Texts(" " if aggregate.separator is None else aggregate.separator)
        case _:
            assert_never(aggregate.function)


SASE_TOTALS = {AggregateName.SUM: sase_sum, AggregateName.AVG: sase_avg}


def sase_accumulator(summary: AggregateName, k: int | None = None) -> Accumulator:
    """An aggregate of SASE+ (SA-27), over no values yet; `k` is that of highest and lowest. Missing values are not
    added.

    >>> print(sase_accumulator(AggregateName.AVG).add_all(map(literal, (1, 2, 2))))
    "1.6666666666666667E0"^^<http://www.w3.org/2001/XMLSchema#double>
    """
    match summary:
        case AggregateName.COUNT:
            return Count()
        case AggregateName.SUM | AggregateName.AVG:
            return Total(SASE_TOTALS[summary])
        case AggregateName.MIN | AggregateName.LOWEST:
            return Ranked(is_greatest=False, k=k or 1)
        case AggregateName.MAX | AggregateName.HIGHEST:
            return Ranked(is_greatest=True, k=k or 1)
        case AggregateName.FIRST:
            return First()
        case AggregateName.LAST:
            return Last()
        case _:
            assert_never(summary)
