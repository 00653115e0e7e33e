"""Aggregates: an accumulator takes values one by one, and has the aggregate of those so far.

What an aggregate means stands here, once for all languages: `sparql_accumulator` and `sase_accumulator` choose. The
same for many groups at once, from which members can be subtracted too: `thence.relation.group_accumulators`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias, assert_never

from thence.algebra.expressions import Aggregate, AggregateFunction
from thence.algebra.sase import AggregateName
from thence.columns.dictionary import from_text
from thence.rdf.numbers import Number
from thence.rdf.terms import XSD, BlankNode, Literal, Term
from thence.rdf.values import MAX_TEXT, SortKey, less, literal, total_key
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
    """avg (SA-27): a double, whatever the members are."""
    return total.double_average(count) if count else None


def finished(finish: Finish, total: ExactSum | None, count: int) -> Term | None:
    """SUM or AVG; None, too, if a member is not a number, or the result is too long to write."""
    found = None if total is None else finish(total, count)
    try:
        return None if found is None else literal(found)
    except OverflowError:
        return None


# Accumulators


class Accumulator(ABC):
    """An aggregate of the values so far."""

    __slots__ = ()

    @abstractmethod
    def add(self, value: Term | None) -> None:
        """Add a value; None: that of a member that has none, which makes most of SPARQL's aggregates an error."""

    def add_all(self, values: Iterable[Term | None]) -> Term | None:
        """Add some values: the aggregate of all so far."""
        for each in values:
            self.add(each)
        return self.value()

    @abstractmethod
    def value(self) -> Term | None:
        """The aggregate; None: an error, or nothing."""

    @abstractmethod
    def saved(self) -> Any:
        """What is kept, as JSON."""

    @abstractmethod
    def restore(self, found: Any) -> None:
        """Take over what was kept. ValueError, TypeError or the like if it cannot have been."""


class Count(Accumulator):
    """COUNT: how many values there are."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0

    def add(self, value: Term | None) -> None:
        self.count += value is not None

    def value(self) -> Term | None:
        return literal(self.count)

    def saved(self) -> Any:
        return self.count

    def restore(self, found: Any) -> None:
        self.count = _count(found)


class Total(Accumulator):
    """SUM or AVG: an error if a value is not a number."""

    __slots__ = ("count", "failed", "finish", "total")

    def __init__(self, finish: Finish) -> None:
        self.finish = finish
        self.count, self.total, self.failed = 0, ExactSum(), False

    def add(self, value: Term | None) -> None:
        number = None if value is None else number_of(value)
        if number is None:
            self.failed = True
            return
        self.count += 1
        self.total.add(number)

    def include(self, total: ExactSum | None, count: int) -> None:
        """Add so many numbers, whose sum is known; None: not all are numbers."""
        if total is None:
            self.failed = True
            return
        self.count += count
        self.total.include(total)

    def value(self) -> Term | None:
        return finished(self.finish, None if self.failed else self.total, self.count)

    def saved(self) -> Any:
        return [self.count, self.total.saved(), self.failed]

    def restore(self, found: Any) -> None:
        count, total, failed = found
        self.count, self.total, self.failed = _count(count), ExactSum.restored(total), _truth(failed)


class Extreme(Accumulator):
    """MIN or MAX of SPARQL, in the order of ORDER BY (18.5.1.5, 18.5.1.6): terms of all kinds have a place in it."""

    __slots__ = ("_key", "chosen", "failed", "greatest")

    def __init__(self, *, greatest: bool) -> None:
        self.greatest = greatest
        self.chosen: Term | None = None
        self.failed = False
        self._key: SortKey = ()

    def add(self, value: Term | None) -> None:
        if value is None:
            self.failed = True
            return
        key = total_key(value)
        if self.chosen is None or (key > self._key if self.greatest else key < self._key):
            self.chosen, self._key = value, key

    def value(self) -> Term | None:
        return None if self.failed else self.chosen

    def saved(self) -> Any:
        return [_text(self.chosen), self.failed]

    def restore(self, found: Any) -> None:
        text, failed = found
        self.chosen, self.failed = _term(text), _truth(failed)
        self._key = () if self.chosen is None else total_key(self.chosen)


class Ranked(Accumulator):
    """The k-th least or greatest value of SASE+ (SA-27); equal values count separately. Nothing, if two values cannot
    be compared; NaN is skipped."""

    __slots__ = ("first", "greatest", "k", "ordered", "unordered")

    def __init__(self, k: int = 1, *, greatest: bool) -> None:
        self.k, self.greatest = k, greatest
        self.first: Term | None = None
        self.ordered: list[Term] = []
        self.unordered = False

    def add(self, value: Term | None) -> None:
        if value is None or self.unordered:
            return
        self.first = value if self.first is None else self.first
        self._is_before(value, self.first)  # of one kind?
        if isinstance(value, Literal) and value.datatype in _BINARY and value.value == "NaN":
            return
        place = len(self.ordered)
        while place and self._is_before(value, self.ordered[place - 1]):
            place -= 1
        self.ordered.insert(place, value)
        del self.ordered[self.k :]

    def _is_before(self, value: Term, other: Term) -> bool:
        found = less(other, value) if self.greatest else less(value, other)
        self.unordered |= found is None
        return bool(found)

    def value(self) -> Term | None:
        return None if self.unordered or len(self.ordered) < self.k else self.ordered[self.k - 1]

    def saved(self) -> Any:
        return [_text(self.first), list(map(str, self.ordered)), self.unordered]

    def restore(self, found: Any) -> None:
        first, ordered, unordered = found
        self.first, self.unordered = _term(first), _truth(unordered)
        self.ordered = list(map(_some_term, ordered))


class First(Accumulator):
    """The first value: SAMPLE and SASE+'s first."""

    __slots__ = ("chosen",)

    def __init__(self) -> None:
        self.chosen: Term | None = None

    def add(self, value: Term | None) -> None:
        if self.chosen is None:
            self.chosen = value

    def value(self) -> Term | None:
        return self.chosen

    def saved(self) -> Any:
        return _text(self.chosen)

    def restore(self, found: Any) -> None:
        self.chosen = _term(found)


class Last(First):
    """The last value."""

    __slots__ = ()

    def add(self, value: Term | None) -> None:
        self.chosen = self.chosen if value is None else value


class Texts(Accumulator):
    """GROUP_CONCAT (18.5.1.7): an error if a value is a blank node, or the text would be too long."""

    __slots__ = ("failed", "separator", "texts")

    def __init__(self, separator: str) -> None:
        self.separator = separator
        self.texts: list[str] = []
        self.failed = False

    def add(self, value: Term | None) -> None:
        if value is None or isinstance(value, BlankNode):
            self.failed = True
        else:
            self.texts.append(value.value)

    def value(self) -> Term | None:
        length = sum(map(len, self.texts)) + len(self.separator) * len(self.texts)
        return None if self.failed or length > MAX_TEXT else Literal(self.separator.join(self.texts))

    def saved(self) -> Any:
        return [self.texts, self.failed]

    def restore(self, found: Any) -> None:
        texts, failed = found
        self.texts, self.failed = [_checked(text) for text in texts], _truth(failed)


class Distinct(Accumulator):
    """An aggregate of different terms."""

    __slots__ = ("of", "seen")

    def __init__(self, of: Accumulator) -> None:
        self.of = of
        self.seen: dict[str, None] = {}

    def add(self, value: Term | None) -> None:
        text = "" if value is None else str(value)
        if text not in self.seen:
            self.seen[text] = None
            self.of.add(value)

    def value(self) -> Term | None:
        return self.of.value()

    def saved(self) -> Any:
        return [list(self.seen), self.of.saved()]

    def restore(self, found: Any) -> None:
        seen, of = found
        self.seen = dict.fromkeys(map(_checked, seen))
        self.of.restore(of)


_BINARY = (XSD + "double", XSD + "float")


def _text(term: Term | None) -> str | None:
    return None if term is None else str(term)


def _checked(text: Any) -> str:
    """A text that can be written: one half of a pair of surrogates cannot."""
    if not isinstance(text, str):
        raise TypeError("expected a text")
    text.encode()
    return text


def _some_term(text: Any) -> Term:
    return from_text(_checked(text))


def _term(text: Any) -> Term | None:
    return None if text is None else _some_term(text)


def _count(found: Any) -> int:
    if type(found) is not int:
        raise TypeError("expected an integer")
    return found


def _truth(found: Any) -> bool:
    if type(found) is not bool:
        raise TypeError("expected a truth value")
    return found


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
            return Extreme(greatest=aggregate.function is AggregateFunction.MAX)
        case AggregateFunction.SAMPLE:
            return First()
        case AggregateFunction.GROUP_CONCAT:
            return Texts(" " if aggregate.separator is None else aggregate.separator)
        case _:
            assert_never(aggregate.function)


SASE_TOTALS = {AggregateName.SUM: sase_sum, AggregateName.AVG: sase_avg}


def sase_accumulator(summary: AggregateName, k: int | None = None) -> Accumulator:
    """An aggregate of SASE+ (SA-27), over no values yet; `k` is that of highest and lowest. What is missing is not
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
            return Ranked(k or 1, greatest=False)
        case AggregateName.MAX | AggregateName.HIGHEST:
            return Ranked(k or 1, greatest=True)
        case AggregateName.FIRST:
            return First()
        case AggregateName.LAST:
            return Last()
        case _:
            assert_never(summary)
