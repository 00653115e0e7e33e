"""Random TEF-SPARQL cases: a program of `oracle.tef_sparql_statements`, with events and background at few times.

Most triples of a stream are instances of the program's own patterns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from random import Random

from hypothesis import assume
from hypothesis import strategies as st

from oracle.tef_sparql import Constructed, FactRow, GivenEvent, Row, Run, TooManySteps, constructed, facts, rows
from oracle.tef_sparql_drawn_patterns import (
    CLASSES,
    LAST_TIME,
    NUMBER_NAMES,
    NUMBERS,
    OF_NUMBERS,
    THING_NAMES,
    THINGS,
    Options,
    P,
    Q,
    S,
    X,
    Y,
)
from oracle.tef_sparql_kinds import kinds
from oracle.tef_sparql_legal import is_legal
from oracle.tef_sparql_query import TYPE, Kind, Program, Slot, TriplePattern, every
from oracle.tef_sparql_statements import Maker
from oracle.tef_sparql_views import TooManyRounds
from oracle.terms import Blank, Iri, Literal, Term, Triple

__all__ = [
    "LIMIT",
    "Case",
    "Options",
    "answer",
    "cases",
    "emitted",
    "held",
    "is_emitting",
    "programs",
    "random_cases",
    "whole",
]

LIMIT = 40
"""Steps at one time, time-driven steps without an event, or facts, that a case may have; `TooManySteps` beyond."""


BLANKS = (Blank("u"), Blank("v"))


@dataclass(frozen=True)
class Case:
    """A legal program and what it reads: events in source order, and a background."""

    program: Program
    events: tuple[GivenEvent, ...]
    background: tuple[Triple, ...] = field(default=())


def answer(case: Case, *, until: int | None = None, limit: int = LIMIT) -> list[Row]:
    """The rows of a case's SELECTs; it may raise `TooManySteps`."""
    return rows(case.program, case.events, case.background, until=until, limit=limit)


def held(case: Case, *, until: int | None = None, limit: int = LIMIT) -> list[FactRow]:
    """The facts of a case."""
    return facts(case.program, case.events, case.background, until=until, limit=limit)


def emitted(case: Case, *, until: int | None = None, limit: int = LIMIT) -> list[Constructed]:
    """The events that a case constructs."""
    return constructed(case.program, case.events, case.background, until=until, limit=limit)


def whole(case: Case, *, until: int | None = None, limit: int = LIMIT) -> Run:
    """A run, for rows, facts and constructed events at once."""
    return Run(case.program, case.events, case.background, limit).run(until)


def is_emitting(program: Program) -> bool:
    """Without SELECT, its constructed events and facts are its output (TEF-74)."""
    return not program.selects


class Data:
    """Draws triples, most of them instances of the program's patterns by one of two assignments of the variables."""

    def __init__(self, maker: Maker, program: Program) -> None:
        self.maker = maker
        self.streams = program.streams
        known = kinds(program, ((THINGS[0], S, THINGS[0]),))
        patterns = [each for each in every(TriplePattern, program) if isinstance(each.predicate, Iri)]
        made = {triple.predicate for construct in program.constructs for triple in construct.head}
        self.static = [each for each in patterns if each.predicate in (S, TYPE)]
        event = [each for each in patterns if isinstance(each.predicate, Iri) and known[each.predicate] is Kind.EVENT]
        self.patterns = [each for each in event if each.predicate not in made]
        self.assignments = [self.assignment(), self.assignment()]

    def assignment(self) -> dict[str, Term]:
        things: dict[str, Term] = {name: self.maker.pick(THINGS) for name in THING_NAMES}
        return things | {name: self.maker.pick(NUMBERS) for name in NUMBER_NAMES}

    def instance(self, pattern: TriplePattern, assignment: dict[str, Term]) -> Triple:
        subject = self.term(pattern.subject, THINGS, assignment)
        if isinstance(subject, Literal):
            subject = self.maker.pick(THINGS)
        assert isinstance(pattern.predicate, Iri)
        choices: Sequence[Term] = THINGS
        if pattern.predicate in OF_NUMBERS:
            choices = NUMBERS
        elif pattern.predicate == TYPE:
            choices = CLASSES
        return (subject, pattern.predicate, self.term(pattern.object, choices, assignment))

    def local(self, triple: Triple) -> Triple:
        """The triple, perhaps with a blank node for a thing."""
        subject, predicate, target = triple
        if self.maker.options.blank_nodes and self.maker.chance(2):
            subject = self.maker.pick(BLANKS)
        if self.maker.options.blank_nodes and isinstance(target, Iri) and self.maker.chance(2):
            target = self.maker.pick(BLANKS)
        return (subject, predicate, target)

    def term(self, slot: Slot, terms: Sequence[Term], assignment: dict[str, Term]) -> Term:
        """A constant as it is; a variable's assigned value, or any other."""
        found: Term = self.maker.pick(terms)
        if isinstance(slot, Iri | Literal):
            return slot
        return assignment[slot.name] if slot.name in assignment and not self.maker.chance(8) else found

    def triple(self) -> Triple:
        maker = self.maker
        if not self.patterns or maker.chance(8):
            return self.instance(TriplePattern(X, maker.pick((P, Q)), Y), {})
        return self.instance(maker.pick(self.patterns), maker.pick(self.assignments))

    def events(self, most: int) -> tuple[GivenEvent, ...]:
        """Events in the order of the text, so that sequences are found and facts start before they are read; then some
        at any time."""
        maker = self.maker
        found: list[tuple[int, int, tuple[Triple, ...]]] = []
        if maker.chance(85):
            found += self.planned()
        for _ in range(maker.pick((2, 3, 1, 4, 0, most))):
            end = maker.number(0, LAST_TIME)
            triples = dict.fromkeys(self.local(self.triple()) for _ in range(maker.pick((1, 1, 1, 2, 3))))
            found.append((self.start(end), end, tuple(triples)))
        if maker.chance(25):
            found = [found.pop(maker.number(0, len(found) - 1)) for _ in range(len(found))]
        kept = found[:most]
        in_time = sorted(range(len(kept)), key=lambda place: kept[place][1])  # so are their blank nodes ordered
        return tuple(self.given(in_time.index(place), *each) for place, each in enumerate(kept))

    def planned(self) -> Iterator[tuple[int, int, tuple[Triple, ...]]]:
        maker = self.maker
        assignment, time = maker.pick(self.assignments), 0
        wanted = list(self.patterns)
        while len(wanted) > maker.pick((5, 6, 7, 4)):  # those of SELECTs come last
            del wanted[maker.number(0, max(0, len(wanted) - 3))]
        for pattern in wanted:
            if maker.chance(15):
                assignment = maker.pick(self.assignments)
            time = min(LAST_TIME, time + maker.pick((1, 1, 0, 2, 1)))
            yield self.start(time), time, (self.local(self.instance(pattern, assignment)),)

    def start(self, end: int) -> int:
        far = self.maker.options.intervals and self.maker.chance(15)
        return max(0, end - self.maker.number(1, 4)) if far else end

    def given(self, number: int, start: int, end: int, triples: tuple[Triple, ...]) -> GivenEvent:
        maker = self.maker
        if maker.chance(3):
            triples = (*triples, (maker.pick(THINGS), TYPE, maker.pick(CLASSES)))
        return GivenEvent(f"e{number}", start, end, triples, maker.pick(self.streams) if self.streams else None)

    def background(self) -> tuple[Triple, ...]:
        patterns = self.static or [TriplePattern(X, S, Y)]
        count = self.maker.pick((2, 3, 1, 4))
        found = (self.instance(self.maker.pick(patterns), self.maker.pick(self.assignments)) for _ in range(count))
        return tuple(dict.fromkeys(found))


def made(maker: Maker) -> Case | None:
    """A case; None if its program is not legal. What has no answer tells little: its data are drawn again, and few of
    those that have none then stay."""
    program = maker.program()
    for _ in range(TRIES):
        data = Data(maker, program)
        background = data.background() if maker.static else ()
        found = Case(program, data.events(maker.options.most_events), background)
        if not (program.constructs or program.selects) or not is_legal(program, background):
            return None
        if is_telling(found):
            return found
    return found if maker.chance(30) else None


TRIES = 2
"""How often data are drawn for a program, before it may have no answer."""


def is_telling(case: Case) -> bool:
    """Has it an answer?"""
    try:
        run = whole(case)
    except (TooManySteps, TooManyRounds):
        return False
    return bool(run.rows if case.program.selects else run.facts or run.constructed)


@st.composite
def cases(draw: st.DrawFn, options: Options = Options()) -> Case:  # noqa: B008
    """Legal cases."""
    found = made(Maker(lambda least, most: draw(st.integers(least, most)), options))
    assume(found is not None)
    assert found is not None
    return found


@st.composite
def programs(draw: st.DrawFn, options: Options = Options()) -> Program:  # noqa: B008
    """Programs, legal or not."""
    return Maker(lambda least, most: draw(st.integers(least, most)), options).program()


def random_cases(seed: int, options: Options = Options()) -> Iterator[Case]:  # noqa: B008
    """Legal cases without end, the same for the same seed. They are more varied than Hypothesis's, and don't shrink."""
    random = Random(seed)
    while True:
        found = made(Maker(random.randint, options))
        if found is not None:
            yield found
