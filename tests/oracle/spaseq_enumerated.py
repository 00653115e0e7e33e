"""SPAseQ a second time, to doubt `oracle.spaseq`: choose events for all places at once, then ask what must be true.

No recursion on the sequence, no runs: a choice is judged as a whole. ⟦Ψ⟧ of each part is taken from the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise, product

from oracle.expressions import holds
from oracle.graphs import EMPTY, Mapping, compatible
from oracle.spaseq import Background, Fit, World
from oracle.spaseq_query import Arm, Event, Query, Selection, Step, Unary, arms
from oracle.terms import Term

Identity = tuple[frozenset[tuple[int, int, str]], Mapping, int]
"""A match's places, its mapping, and when it is certain."""


@dataclass(frozen=True)
class Taken:
    """One iteration of a step, and what was chosen for it."""

    step: Step
    iteration: int
    fit: Fit


Choice = tuple[Taken, ...]


def enumerated(query: Query, events: Iterable[Event], background: Background) -> list[Identity]:
    """Every choice that is a match, sorted by nothing; twice where earlier iterations alone tell two apart."""
    world = World(query, events, background)
    return [
        (_places(choice), mapping(world, choice), certain)
        for arm in arms(query)
        for choice in choices(world, arm)
        if is_chain(world, arm, choice)
        if (certain := certainty(world, arm, choice)) is not None
    ]


def size(world: World) -> int:
    """How many choices there may be at most."""
    found = 1
    for number, part in enumerate(world.query.parts):
        fits = len(world.fits[number])
        found *= 1 if part.unary is Unary.NOT else 2**fits if part.unary is Unary.PLUS else fits + 1
    return found


def choices(world: World, arm: Arm) -> Iterator[Choice]:
    positive = [step for step in arm if not step.negated]
    for chosen in product(*(_iterations(world, step) for step in positive)):
        yield tuple(taken for iterations in chosen for taken in iterations)


def _iterations(world: World, step: Step) -> Iterator[Choice]:
    fits = sorted(world.fits[step.number], key=lambda fit: fit.time)
    for count in range(1, len(fits) + 1 if step.part.unary is Unary.PLUS else 2):
        for chosen in combinations(fits, count):
            yield tuple(Taken(step, iteration, fit) for iteration, fit in enumerate(chosen, start=1))


def _places(choice: Choice) -> frozenset[tuple[int, int, str]]:
    return frozenset(
        (place.occurrence, taken.iteration, place.event.id) for taken in choice for place in taken.fit.filled
    )


def mapping(world: World, choice: Choice) -> Mapping:
    """All that the choice binds, of a closure's locals the last iteration's. Where values clash, it is no function."""
    last = {taken.step.number: taken.iteration for taken in choice}
    return EMPTY.union(
        *(
            {
                (name, term)
                for name, term in taken.fit.mapping
                if taken.iteration == last[taken.step.number] or name not in world.locals[taken.step.number]
            }
            for taken in choice
        )
    )


def fits_in(world: World, before: Mapping, fit: Fit) -> bool:
    """Is it compatible, and do the filters of what takes part hold?"""
    merged: dict[str, Term] = dict(before | fit.mapping)
    filters = [expression for place in fit.filled for expression in world.query.gpm(place.gpm).filters]
    return compatible(before, fit.mapping) and all(holds(expression, merged) for expression in filters)


def brought(world: World, choice: Choice, step: Step) -> Mapping:
    """What a choice so far brings to another iteration of a step."""
    return frozenset(pair for pair in mapping(world, choice) if pair[0] not in world.locals[step.number])


def is_chain(world: World, arm: Arm, choice: Choice) -> bool:
    """Times rise, each fits in with all before it, and nothing lies between two neighbours that must not."""
    return (
        all(a.fit.time < b.fit.time for a, b in pairwise(choice))
        and all(fits_in(world, brought(world, choice[:i], taken.step), taken.fit) for i, taken in enumerate(choice))
        and all(link_holds(world, arm, choice[: i + 1]) for i in range(1, len(choice)))
    )


def link_holds(world: World, arm: Arm, choice: Choice) -> bool:
    """The operator, and the negations, between the last two of a choice."""
    before, taken = choice[-2], choice[-1]
    gap = range(before.fit.time + 1, taken.fit.time)
    first = taken.iteration == 1
    if first and not nothing_negated(world, _negations_before(arm, taken.step), mapping(world, choice), gap):
        return False
    match taken.step.selection if first else Selection.NEXT if len(arm) == 1 else Selection.STRICT:
        case Selection.STRICT:
            own = tuple(dict(mapping(world, choice)).get(name) for name in world.query.partition)
            return not any(
                event.time in gap and (not world.query.partition or own in world.partitions[event])
                for event in world.events
            )
        case Selection.NEXT:
            bound = brought(world, choice[:-1], taken.step)
            return not any(fit.time in gap and fits_in(world, bound, fit) for fit in world.fits[taken.step.number])
        case _:
            return True


def _negations_before(arm: Arm, step: Step) -> list[Step]:
    earlier = [each for each in arm if not each.negated and each.number < step.number]
    start = max((each.number for each in earlier), default=-1)
    return [each for each in arm if each.negated and start < each.number < step.number]


def nothing_negated(world: World, negations: list[Step], bound: Mapping, gap: range) -> bool:
    return not any(
        fit.time in gap and fits_in(world, bound, fit) for step in negations for fit in world.fits[step.number]
    )


def certainty(world: World, arm: Arm, choice: Choice) -> int | None:
    """When the choice is certain; None, if it is outside the window or what is negated at the end happens."""
    within, first, last = world.query.within, choice[0].fit.time, choice[-1].fit.time
    if within is None:
        return last
    ends = [first + within.width]
    if within.tumbling:
        begins = [begin for begin in range(within.start, first + 1, within.width) if last <= begin + within.width]
        ends = [begin + within.width for begin in begins]
    if not ends or last > ends[-1]:
        return None
    positive = max(step.number for step in arm if not step.negated)
    negations = [step for step in arm if step.number > positive]
    gap = range(last + 1, ends[-1] + 1)
    if not nothing_negated(world, negations, mapping(world, choice), gap):
        return None
    return ends[-1] if negations else last
