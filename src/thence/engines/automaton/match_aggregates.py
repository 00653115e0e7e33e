"""AGGREGATE of SASE+: counts, sums and the like over all matches, exactly.

If slots alone decide a run's fate, runs with equal slots are merged, and their histories form a graph: an event may
have several predecessors (as in GRETA and COGRA). The sum over all paths to a node follows from the sums of its
predecessors, so matches are counted without being built. Other queries build each match.

So sums have a form of their own here: columns of Python's integers of any size, to which a value is added once for each
of as many paths as there may be, at all nodes at once. What they mean is `thence.relation.accumulators`: `sase_sum` and
`sase_avg` of `ExactSum`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from math import isinf, isnan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from thence.algebra.sase import AggregateName, Attribute, EventIndex, MatchAggregate, MatchAggregates
from thence.columns.dictionary import Terms, from_text
from thence.columns.value_columns import term_of
from thence.columns.value_kinds import INTEGER
from thence.engines.automaton.conditions import ChosenEvents, events_by_component
from thence.engines.automaton.memory import AT_LINKS, AT_NODES, ITERATED, LINKS, NODES, OPTIONAL, PARENT, PLACE, region
from thence.engines.automaton.program import Components, SequenceProgram, as_compared
from thence.errors import LimitError
from thence.rdf.dates import Date, DateTime, Duration, PartialDate, Time
from thence.rdf.numbers import Float
from thence.rdf.terms import IRI, BlankNode, Literal, Term
from thence.rdf.values import less_values, literal, value
from thence.relation.accumulators import SASE_TOTALS
from thence.relation.exact_sums import BinarySum, ExactSum, binary_units

if TYPE_CHECKING:
    from thence.engines.automaton.step import Matches, SequenceState


Objects = NDArray[np.object_]
"""Numbers of any size."""


NUMBER, TEXT, TRUTH, OTHER, APART, SINGLE, DOUBLE, FRACTIONAL, INFINITE, NEGATIVE, NOT_A_NUMBER = (
    1 << n for n in range(11)
)
"""The kinds of values among some; of numbers also whether one is a float, a double, a decimal, not
finite."""

_KINDS = NUMBER | TEXT | TRUTH | OTHER | APART


class Measure(NamedTuple):
    """The values of an attribute on some paths through the history, an item for each node or match: how many, the sums
    of integers and decimals and, in units of 2^-1074, of floats and doubles, of what kinds they are, the least and the
    greatest."""

    values: Objects
    exact: Objects
    units: Objects
    kinds: NDArray[np.int64]
    least: Objects
    greatest: Objects

    def take(self, rows: Any) -> Measure:
        return Measure(*(column[rows] for column in self))


class Weights(NamedTuple):
    """The number of paths to each of some nodes, or of matches in each of some groups, with their measures."""

    paths: Objects
    measures: tuple[Measure, ...]

    def take(self, rows: Any) -> Weights:
        return Weights(self.paths[rows], tuple(measure.take(rows) for measure in self.measures))


def _nothing(measures: int, length: int = 1, paths: int = 1) -> Weights:
    """The weights of matches without any event."""
    zeros, none_yet = np.full(length, 0, object), np.full(length, None, object)
    none = Measure(zeros, zeros, zeros, np.zeros(length, np.int64), none_yet, none_yet)
    return Weights(np.full(length, paths, object), (none,) * measures)


def _value(term: Term | None) -> tuple[int, Any]:
    """The kind of a value, and the value, such that those of one kind can be compared and numbers added exactly."""
    if term is None:
        return 0, None
    python = value(term) if isinstance(term, Literal) else None
    match python:
        case bool():
            return TRUTH, python
        case float():
            kind = NUMBER | (SINGLE if isinstance(python, Float) else DOUBLE)
            if isnan(python):
                return kind | NOT_A_NUMBER, None  # neither the least nor the greatest
            if isinf(python):
                return kind | (INFINITE if python > 0 else NEGATIVE), python
            return kind, python
        case Decimal():
            return NUMBER | FRACTIONAL, python
        case int():
            return NUMBER, python
        case str():
            return TEXT, python
    return OTHER, term if python is None else python


def _summed(weights: Weights) -> Weights:
    """All of some paths together."""
    if len(weights.paths) == 1:
        return weights
    measures = []
    for measure in weights.measures:
        kinds = int(np.bitwise_or.reduce(measure.kinds))
        least, greatest, kinds = _extremes(measure.least, measure.greatest, kinds)
        count, exact, units = (_cell(column.sum()) for column in (measure.values, measure.exact, measure.units))
        kind = np.array([kinds], np.int64)
        measures.append(Measure(count, exact, units, kind, _cell(least), _cell(greatest)))
    return Weights(_cell(weights.paths.sum()), tuple(measures))


def _extremes(least: Objects, greatest: Objects, kinds: int) -> tuple[Any, Any, int]:
    """The least and the greatest of some values; None if they have several kinds, or no order."""
    if not _of_one_kind(kinds):
        return None, None, kinds
    low, high = [each for each in least if each is not None], [each for each in greatest if each is not None]
    try:
        return min(low, key=_in_order, default=None), max(high, key=_in_order, default=None), kinds
    except TypeError:  # no two of them have an order
        return None, None, kinds | APART


@dataclass(frozen=True, slots=True)
class _InOrder:
    """A date, time or duration among others. TypeError if two have no order."""

    value: Any

    def __lt__(self, other: Any) -> bool:
        found = less_values(self.value, other.value) if isinstance(other, _InOrder) else None
        if found is None:
            raise TypeError("two values have no order")
        return found


def _in_order(found: Any) -> Any:
    return _InOrder(found) if isinstance(found, DateTime | Date | Time | PartialDate | Duration) else found


def _pair(one: Any, other: Any) -> Objects:
    pair = np.empty(2, object)
    pair[0], pair[1] = one, other
    return pair


def _of_one_kind(kinds: int) -> bool:
    return (kinds & _KINDS) in (NUMBER, TEXT, TRUTH, OTHER)


def _cell(item: Any) -> Objects:
    cell = np.empty(1, object)
    cell[0] = item
    return cell


def _with(measure: Measure, paths: Objects, kind: int, item: Any, *, also_without: bool) -> Measure:
    """The weights of paths that continue with an event of such a value; and of paths without it, if allowed."""
    factor = 2 if also_without else 1
    count, exact, units = (column * factor for column in measure[:3]) if also_without else measure[:3]
    if not kind:
        return measure._replace(values=count, exact=exact, units=units)
    count = count + paths
    if kind & (SINGLE | DOUBLE):
        units = units + paths * (0 if item is None or isinf(item) else binary_units(item))
    elif kind & NUMBER:
        exact = exact + paths * (Fraction(item) if kind & FRACTIONAL else item)
    kinds = measure.kinds | kind
    known_numbers = (measure.kinds & (_KINDS | NOT_A_NUMBER) == NUMBER).all()
    if kind & NUMBER and item is not None and known_numbers:
        extremes = np.minimum(measure.least, item), np.maximum(measure.greatest, item)
        return Measure(count, exact, units, kinds, *extremes)
    least, greatest = np.copy(measure.least), np.copy(measure.greatest)
    for row, known in enumerate(measure.kinds.tolist()):
        if not _of_one_kind(known | kind):
            least[row] = greatest[row] = None
        elif item is not None:
            pairs = _pair(least[row], item), _pair(greatest[row], item)
            least[row], greatest[row], kinds[row] = _extremes(*pairs, known | kind)
    return Measure(count, exact, units, kinds, least, greatest)


@dataclass(slots=True)
class AggregateState:
    """The state of AGGREGATE: the weights of its nodes, by number, and those of the matches of each group, with their
    earliest start, their latest end, and when the last of them became certain."""

    weights: Weights | None = None
    weighed: int = 0  # nodes that have a weight
    groups: dict[tuple[Term | None, ...], tuple[Weights, int, int, int]] = field(default_factory=dict)
    changed: dict[tuple[Term | None, ...], None] = field(default_factory=dict)

    def nodes(self, measures: int) -> Weights:
        return _nothing(measures, 0) if self.weights is None else self.weights

    def set(self, weights: Weights | None) -> None:
        self.weights, self.weighed = weights, 0 if weights is None else len(weights.paths)


def measures_of(form: MatchAggregates) -> tuple[MatchAggregate, ...]:
    """The totals that are of attributes."""
    return tuple(total for total in form.totals if total.of is not None)


class _WeightColumns:
    """The weights of nodes as they are made, in arrays with room."""

    def __init__(self, measures: int, known: Weights, room: int) -> None:
        more = _nothing(measures, room)
        self.paths = np.concatenate([known.paths, more.paths])
        self.measures = [
            Measure(*(np.concatenate(pair) for pair in zip(a, b, strict=True)))
            for a, b in zip(known.measures, more.measures, strict=True)
        ]

    def of(self, nodes: Any) -> Weights:
        return Weights(self.paths[nodes], tuple(measure.take(nodes) for measure in self.measures))

    def put(self, first: int, weights: Weights) -> None:
        rows = slice(first, first + len(weights.paths))
        self.paths[rows] = weights.paths
        for mine, given in zip(self.measures, weights.measures, strict=True):
            for column, values in zip(mine, given, strict=True):
                column[rows] = values


def add_weights(program: SequenceProgram, components: Components, state: SequenceState, known: AggregateState) -> None:
    """Give the nodes that came since the last time their weights, each after those before it. From then on a node
    stands for all paths to it."""
    memory, form = state.memory, program.query.form
    assert isinstance(form, MatchAggregates)
    nodes, count = region(memory, AT_NODES)[: memory[NODES]], int(memory[NODES])
    links = region(memory, AT_LINKS)[: memory[LINKS]]
    links = links[np.argsort(links[:, 0], kind="stable")]
    memory[LINKS] = 0
    first = known.weighed
    if count == first:
        return
    measures = [(_place(components, total), components.names.index(total.of.name)) for total in measures_of(form)]  # type: ignore[union-attr]
    columns = _WeightColumns(len(measures), known.nodes(len(measures)), count - first)
    bounds = np.searchsorted(links[:, 0], np.arange(first, count + 1))
    for node, last in pairwise(_pieces(nodes, first)):
        before = links[bounds[node - first] : bounds[last - first], 1]
        place, cells = int(nodes[node, PLACE]), nodes[node, ITERATED:].tolist()
        if place <= OPTIONAL:
            weights, own = columns.of(before), OPTIONAL - place
        else:
            weights, own = _summed(_before(columns, before, len(measures))), place
        columns.put(node, _gone_on(weights, own, cells, measures, state.terms, also_without=place <= OPTIONAL))
    nodes[first:, PARENT] = -1
    cell = ITERATED + 2 * program.automaton.iterated - 2
    nodes[first:, cell], nodes[first:, cell + 1] = INTEGER, np.arange(first, count)
    known.set(Weights(columns.paths, tuple(columns.measures)))


def _pieces(nodes: NDArray[np.int64], first: int) -> list[int]:
    """The starts of groups of nodes that are processed at once: each node alone, but nodes of runs that absorb one
    event together."""
    kinds = nodes[:, [PLACE, *range(ITERATED, nodes.shape[1])]]
    alike = (kinds[first + 1 :] == kinds[first:-1]).all(axis=1) & (nodes[first + 1 :, PLACE] <= OPTIONAL)
    return [first, *(first + 1 + np.flatnonzero(~alike)).tolist(), len(nodes)]


def _before(columns: _WeightColumns, before: NDArray[np.int64], measures: int) -> Weights:
    """The weights of some nodes; -1 is a match's beginning."""
    sums = columns.of(before[before >= 0])
    begun = int((before < 0).sum())
    if not begun:
        return sums
    start = _nothing(measures, paths=begun)
    return _both(sums, start) if len(sums.paths) else start


def _gone_on(
    weights: Weights,
    place: int,
    cells: Sequence[int],
    measures: Sequence[tuple[int, int]],
    terms: Terms,
    *,
    also_without: bool,
) -> Weights:
    """The paths that continue with an event in a place (EITHER: with or without one)."""
    made = []
    for measure, (of, name) in zip(weights.measures, measures, strict=True):
        kind, item = _value(term_of(cells[2 * name], cells[2 * name + 1], terms)) if of == place else (0, None)
        made.append(_with(measure, weights.paths, kind, item, also_without=also_without))
    return Weights(weights.paths * 2 if also_without else weights.paths, tuple(made))


def _place(components: Components, total: MatchAggregate) -> int:
    assert total.of is not None
    return next(n for n, each in enumerate(components.positive) if each.variable == total.of.component)


def prune_weights(program: SequenceProgram, state: SequenceState, known: AggregateState) -> None:
    """Keep only the weights of nodes that are still there."""
    nodes = region(state.memory, AT_NODES)[: state.memory[NODES]]
    cell = ITERATED + 2 * program.automaton.iterated - 1
    known.set(known.nodes(0).take(nodes[:, cell]) if len(nodes) else None)
    nodes[:, cell] = np.arange(len(nodes))


def add_matches(
    program: SequenceProgram, components: Components, state: SequenceState, known: AggregateState, matches: Matches
) -> None:
    """Count some matches in."""
    form = program.query.form
    assert isinstance(form, MatchAggregates)
    by = [components.tested.index(as_compared(key)) for key in form.by]
    weights = _of_matches(program, components, state, known, matches)
    groups: dict[tuple[Term | None, ...], list[int]] = {}
    for number in range(len(matches)):
        cells = ((int(matches.tags[number, slot]), int(matches.bits[number, slot])) for slot in by)
        group = tuple(term_of(tag, bits, state.terms) for tag, bits in cells)
        groups.setdefault(group, []).append(number)
    for group, numbers in groups.items():
        weight = _summed(weights.take(numbers))
        start, end = int(matches.start[numbers].min()), int(matches.end[numbers].max())
        certain = int(matches.certain[numbers].max())
        if group in known.groups:
            other, earlier, later, when = known.groups[group]
            weight = _summed(_both(weight, other))
            start, end, certain = min(start, earlier), max(end, later), max(certain, when)
        known.groups[group] = (weight, start, end, certain)
        known.changed[group] = None


def _both(one: Weights, other: Weights) -> Weights:
    return Weights(
        np.concatenate([one.paths, other.paths]),
        tuple(
            Measure(*(np.concatenate(pair) for pair in zip(a, b, strict=True)))
            for a, b in zip(one.measures, other.measures, strict=True)
        ),
    )


def _of_matches(
    program: SequenceProgram, components: Components, state: SequenceState, known: AggregateState, matches: Matches
) -> Weights:
    """The weight of each match: that of its last node, or what its events are."""
    form = program.query.form
    assert isinstance(form, MatchAggregates)
    measures = measures_of(form)
    if program.automaton.merges:
        return known.nodes(len(measures)).take(
            matches.history.events.nodes[:, ITERATED + 2 * program.automaton.iterated - 1]
        )
    made = _nothing(len(measures), 0)
    for number in range(len(matches)):
        chosen = events_by_component(components, matches, number, state.terms)
        weight = _nothing(len(measures))
        gathered = []
        for total, measure in zip(measures, weight.measures, strict=True):
            for term in _terms_of(total, chosen):
                measure = _with(measure, weight.paths, *_value(term), also_without=False)
            gathered.append(measure)
        made = _both(made, Weights(weight.paths, tuple(gathered)))
    return made


def _terms_of(total: MatchAggregate, chosen: ChosenEvents) -> list[Term | None]:
    assert total.of is not None
    events = chosen[total.of.component]
    if isinstance(total.of, Attribute) and total.of.index is not EventIndex.ALONE:
        events = events[-1:] if total.of.index is EventIndex.LAST else events[:1]
    return [event.get(total.of.name) for event in events]


def aggregate_cells(
    form: MatchAggregates, group: Sequence[Term | None], weights: Weights
) -> Iterator[tuple[str, Term | None]]:
    """A row: what it is by, then the totals."""
    yield from zip(map(str, form.by), group, strict=True)
    measures = iter(weights.measures)
    for total in form.totals:
        try:
            yield total.name, literal(weights.paths[0]) if total.of is None else _term_of(total.summary, next(measures))
        except OverflowError as error:
            raise LimitError(f"{total.name} is too large: {error}. Try: a shorter WITHIN") from None


def _term_of(summary: AggregateName, measure: Measure) -> Term | None:
    count, least, greatest = measure.values[0], measure.least[0], measure.greatest[0]
    match summary:
        case AggregateName.COUNT:
            return literal(count)
        case AggregateName.SUM | AggregateName.AVG:
            total = _sum_of(measure)
            number = None if total is None else SASE_TOTALS[summary](total, count)
            return None if number is None else literal(number)
        case AggregateName.MIN:
            return _term(least)
        case _:
            return _term(greatest)


def _term(value: Any) -> Term | None:
    return value if value is None or isinstance(value, IRI | BlankNode | Literal) else literal(value)


def _sum_of(measure: Measure) -> ExactSum | None:
    """None, if a value is not a number."""
    kinds = int(measure.kinds[0])
    if kinds & _KINDS != NUMBER:
        return None
    specials = (int(bool(kinds & kind)) for kind in (NOT_A_NUMBER, INFINITE, NEGATIVE))
    exact = _decimal(measure.exact[0]) if kinds & FRACTIONAL else int(measure.exact[0])
    return ExactSum(exact, BinarySum(measure.units[0], *specials), bool(kinds & SINGLE), bool(kinds & DOUBLE))


def _decimal(total: int | Fraction) -> Decimal:
    """A fraction of decimals, which has an end, with all its digits."""
    exact, places = Fraction(total), 0
    while exact.denominator != 1:
        exact, places = exact * 10, places + 1
    return Decimal((int(exact < 0), tuple(map(int, str(abs(exact.numerator)))), -places))


# Saved between two steps


def saved_aggregates(known: AggregateState) -> list[Any]:
    """The state as JSON."""
    groups = [
        [[None if term is None else str(term) for term in group], _written(weights), *times]
        for group, (weights, *times) in known.groups.items()
    ]
    changed = [list(known.groups).index(group) for group in known.changed]
    return [None if known.weights is None else _written(known.weights), groups, changed]


def restored_aggregates(saved: Any, measures: int) -> AggregateState:
    """The state from JSON. ValueError, TypeError or the like if it is damaged."""
    weights, groups, changed = saved
    known = AggregateState()
    known.set(None if weights is None else _read(weights, measures))
    for group, weight, start, end, certain in groups:
        terms = tuple(None if text is None else from_text(text) for text in group)
        known.groups[terms] = (_read(weight, measures), int(start), int(end), int(certain))
    listed = list(known.groups)
    known.changed = {listed[int(number)]: None for number in changed}
    return known


def _written(weights: Weights) -> list[Any]:
    measures = [
        [
            *(list(map(_exact_text, column)) for column in (each.values, each.exact, each.units)),
            each.kinds.tolist(),
            *([None if found is None else str(_term(found)) for found in e] for e in (each.least, each.greatest)),
        ]
        for each in weights.measures
    ]
    return [list(map(_exact_text, weights.paths)), measures]


def _exact_text(total: int | Fraction) -> str:
    """A number as hexadecimal, which Python writes at any length."""
    exact = Fraction(total)
    return f"{exact.numerator:x}/{exact.denominator:x}"


def _exact(text: str) -> int | Fraction:
    numerator, denominator = (int(part, 16) for part in text.split("/"))
    return numerator if denominator == 1 else Fraction(numerator, denominator)


def _read(saved: Any, measures: int) -> Weights:
    paths, listed = saved
    if len(listed) != measures or any(len(column) != len(paths) for each in listed for column in each):
        raise ValueError("the weights belong to another query")
    return Weights(_objects(map(_exact, paths)), tuple(_read_measure(*each) for each in listed))


def _read_measure(values: Any, exact: Any, units: Any, kinds: Any, least: Any, greatest: Any) -> Measure:
    return Measure(
        _objects(map(_exact, values)),
        _objects(map(_exact, exact)),
        _objects(map(_exact, units)),
        np.array(kinds, np.int64),
        _objects(None if text is None else _value(from_text(text))[1] for text in least),
        _objects(None if text is None else _value(from_text(text))[1] for text in greatest),
    )


def _objects(items: Iterable[Any]) -> Objects:
    listed = list(items)
    made = np.empty(len(listed), object)
    made[:] = listed
    return made
