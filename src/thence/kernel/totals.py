"""AGGREGATE of SASE+: counts, sums and the like over all matches, exactly.

Where nothing but slots decides what becomes of a run, runs that are alike are one, and their histories are a graph: an
event with several events before it (as in GRETA and COGRA). What all paths to a node add up to is told by what those to
the nodes before it do, so that matches are counted and not made. Elsewhere matches are taken one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from thence.algebra.components import Attribute, Index, Summary, Total, Totals
from thence.algebra.expressions import Comparison, Variable
from thence.kernel.chosen import Chosen
from thence.kernel.components import chosen_in
from thence.kernel.memory import AT_LINKS, AT_NODES, ITERATED, LINKS, NODES, PARENT, PLACE, region
from thence.match.errors import ExpressionError
from thence.match.expressions import compare
from thence.program.sequence import Components, SequenceProgram
from thence.program.values import term_of
from thence.rdf.dictionary import Terms
from thence.rdf.tags import INTEGER
from thence.rdf.terms import Literal, Term
from thence.rdf.values import is_number, literal, value

if TYPE_CHECKING:
    from thence.kernel.sequence import Matches, SequenceState

Exact = int | Fraction


@dataclass(frozen=True, slots=True)
class Gathered:
    """The values of some events, of all matches together: how many, their sum, and what kinds they are of."""

    count: int = 0
    total: Exact = 0
    rounded: bool = False  # whether one is a double
    decimal: bool = False
    unsummed: bool = False  # whether one has no exact sum with others: a text, or no finite number
    least: Term | None = None
    greatest: Term | None = None
    mixed: bool = False  # whether some have no order

    def times(self, paths: int) -> Gathered:
        """The same, once for each of so many matches."""
        return Gathered(
            self.count * paths,
            self.total * paths,
            self.rounded,
            self.decimal,
            self.unsummed,
            self.least,
            self.greatest,
            self.mixed,
        )


NOTHING = Gathered()


def gathered(term: Term | None) -> Gathered:
    """Of one event."""
    if term is None:
        return NOTHING
    found = value(term) if isinstance(term, Literal) else None
    if not is_number(found):
        return Gathered(1, 0, unsummed=True, least=term, greatest=term)
    rounded = isinstance(found, float)
    if rounded and not isfinite(found):
        return Gathered(1, 0, rounded=True, unsummed=True, least=term, greatest=term)
    exact: Exact = found if isinstance(found, int) else Fraction(found)
    return Gathered(1, exact, rounded, isinstance(found, Decimal), False, term, term)


def together(parts: Sequence[Gathered]) -> Gathered:
    """Of several, one after the other."""
    some = [part for part in parts if part.count]
    if len(some) < 2:
        return some[0] if some else NOTHING
    least, greatest, mixed = some[0].least, some[0].greatest, any(part.mixed for part in some)
    for part in some[1:]:
        if mixed or least is None or greatest is None or part.least is None or part.greatest is None:
            break
        try:
            least = part.least if part.least != least and compare(Comparison.LESS, part.least, least) else least
            if part.greatest != greatest and compare(Comparison.GREATER, part.greatest, greatest):
                greatest = part.greatest
        except ExpressionError:
            mixed = True
    return Gathered(
        sum(part.count for part in some),
        sum(part.total for part in some),
        any(part.rounded for part in some),
        any(part.decimal for part in some),
        any(part.unsummed for part in some),
        least,
        greatest,
        mixed,
    )


@dataclass(frozen=True, slots=True)
class Weight:
    """Some matches, or all paths to a node: how many, and what is gathered on them, for each measure."""

    paths: int
    measures: tuple[Gathered, ...]


def sum_of(weights: Sequence[Weight], measures: int) -> Weight:
    if len(weights) == 1:
        return weights[0]
    return Weight(
        sum(weight.paths for weight in weights),
        tuple(together([weight.measures[n] for weight in weights]) for n in range(measures)),
    )


@dataclass(slots=True)
class Totalled:
    """What a state knows of AGGREGATE: the weights of its nodes, and those of the matches of each group."""

    weights: list[Weight] = field(default_factory=list)
    weighed: int = 0  # nodes that have a weight
    groups: dict[tuple[Term | None, ...], tuple[Weight, int, int, int]] = field(default_factory=dict)
    changed: dict[tuple[Term | None, ...], None] = field(default_factory=dict)


def measures_of(form: Totals) -> tuple[Total, ...]:
    """The totals that are of attributes."""
    return tuple(total for total in form.totals if total.of is not None)


def weigh(program: SequenceProgram, components: Components, state: SequenceState, known: Totalled) -> None:
    """Give the nodes that came since the last time their weights, each after those before it. From then on a node
    stands for all paths to it."""
    memory, form = state.memory, program.query.form
    assert isinstance(form, Totals)
    nodes, count = region(memory, AT_NODES), int(memory[NODES])
    links = region(memory, AT_LINKS)[: memory[LINKS]]
    parents: dict[int, list[int]] = {}
    for child, parent in links.tolist():
        parents.setdefault(child, []).append(parent)
    memory[LINKS] = 0
    cell = ITERATED + 2 * program.automaton.iterated - 2
    measures = [
        (_place(components, total), components.names.index(total.of.name))  # type: ignore[union-attr]
        for total in measures_of(form)
    ]
    beginning = Weight(1, (NOTHING,) * len(measures))
    for node in range(known.weighed, count):
        before = [known.weights[int(nodes[parent, cell + 1])] if parent >= 0 else beginning for parent in parents[node]]
        row = nodes[node].tolist()
        found = sum_of(before, len(measures))
        if row[PLACE] >= 0 and measures:
            own = [
                together([each, _own(row, name, state.terms).times(found.paths)]) if row[PLACE] == place else each
                for each, (place, name) in zip(found.measures, measures, strict=True)
            ]
            found = Weight(found.paths, tuple(own))
        nodes[node, cell], nodes[node, cell + 1] = INTEGER, len(known.weights)
        nodes[node, PARENT] = -1
        known.weights.append(found)
    known.weighed = count


def _place(components: Components, total: Total) -> int:
    assert total.of is not None
    return next(n for n, each in enumerate(components.positive) if each.variable == total.of.component)


def _own(row: Sequence[int], name: int, terms: Terms) -> Gathered:
    at = ITERATED + 2 * name
    return gathered(term_of(row[at], row[at + 1], terms))


def forget_weights(program: SequenceProgram, state: SequenceState, known: Totalled) -> None:
    """Keep only the weights of nodes that are still there."""
    nodes = region(state.memory, AT_NODES)[: state.memory[NODES]]
    cell = ITERATED + 2 * program.automaton.iterated - 1
    used = nodes[:, cell].tolist()
    known.weights = [known.weights[number] for number in used]
    nodes[:, cell] = np.arange(len(used))
    known.weighed = len(used)


def add_matches(
    program: SequenceProgram, components: Components, state: SequenceState, known: Totalled, matches: Matches
) -> None:
    """Count some matches in."""
    form = program.query.form
    assert isinstance(form, Totals)
    by = [components.tested.index(Variable(f"={name}")) for name in form.by]
    measures = len(measures_of(form))
    found: dict[tuple[Term | None, ...], list[int]] = {}
    for number in range(len(matches)):
        cells = ((int(matches.tags[number, slot]), int(matches.bits[number, slot])) for slot in by)
        group = tuple(term_of(tag, bits, state.terms) for tag, bits in cells)
        found.setdefault(group, []).append(number)
    for group, numbers in found.items():
        weights = [_weight(program, components, state, known, matches, number) for number in numbers]
        first, last = int(matches.first[numbers].min()), int(matches.last[numbers].max())
        certain = int(matches.certain[numbers].max())
        if group in known.groups:
            weight, start, end, when = known.groups[group]
            weights.append(weight)
            first, last, certain = min(first, start), max(last, end), max(certain, when)
        known.groups[group] = (sum_of(weights, measures), first, last, certain)
        known.changed[group] = None


def _weight(
    program: SequenceProgram,
    components: Components,
    state: SequenceState,
    known: Totalled,
    matches: Matches,
    number: int,
) -> Weight:
    if program.automaton.merges:
        cell = ITERATED + 2 * program.automaton.iterated - 1
        nodes = matches.history.events.nodes  # one for each match: a node that has a weight has none before it
        return known.weights[int(nodes[number, cell])]
    form = program.query.form
    assert isinstance(form, Totals)
    chosen = chosen_in(components, matches, number, state.terms)
    return Weight(1, tuple(_of_match(total, chosen) for total in measures_of(form)))


def _of_match(total: Total, chosen: Chosen) -> Gathered:
    assert total.of is not None
    events = chosen[total.of.component]
    if isinstance(total.of, Attribute) and total.of.index is not Index.ALONE:
        events = events[-1:] if total.of.index is Index.LAST else events[:1]
    return together([gathered(event.get(total.of.name)) for event in events])


def cells(form: Totals, group: Sequence[Term | None], weight: Weight) -> Iterator[tuple[str, Term | None]]:
    """A row: what it is by, then the totals."""
    yield from zip(map(str, form.by), group, strict=True)
    measures = iter(weight.measures)
    for total in form.totals:
        yield total.name, literal(weight.paths) if total.of is None else _told(total.summary, next(measures))


def _told(summary: Summary, found: Gathered) -> Term | None:
    match summary:
        case Summary.COUNT:
            return literal(found.count)
        case Summary.SUM:
            return _number(found.total, found) if found.count and not found.unsummed else None
        case Summary.AVG:
            if not found.count or found.unsummed:
                return None
            return literal(float(Fraction(found.total) / found.count))
        case Summary.MIN:
            return None if found.mixed else found.least
        case _:
            return None if found.mixed else found.greatest


def _number(total: Exact, found: Gathered) -> Term:
    if found.rounded:
        return literal(float(total))
    if found.decimal:
        exact = Fraction(total)
        return literal(Decimal(exact.numerator) / Decimal(exact.denominator))
    return literal(int(total))
