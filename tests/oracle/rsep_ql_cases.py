"""Random RSEP-QL cases: a query of `oracle.rsep_ql_statements`, with events and graphs at few times.

Most triples are instances of the patterns that read them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any, TypeAlias

from hypothesis import assume
from hypothesis import strategies as st

from oracle.ep_sparql_query import Slot
from oracle.rsep_ql import PRESETS, Constructed, GivenReport, Row, constructed, rows
from oracle.rsep_ql_legal import is_legal
from oracle.rsep_ql_query import (
    Aggregate,
    Construct,
    Group,
    InGraph,
    InWindow,
    Match,
    Output,
    Pattern,
    Policy,
    Query,
    Select,
    Seq,
    Triples,
    every,
    leaves,
)
from oracle.rsep_ql_query import _fields as fields_of
from oracle.rsep_ql_statements import (
    FIRST_TIME,
    LAST_TIME,
    NUMBER_NAMES,
    THING_NAMES,
    THINGS,
    Maker,
    Options,
    P,
    Q,
    R,
)
from oracle.terms import Blank, Iri, Literal, Term, Triple, Var

__all__ = [
    "GROUPED",
    "KINDS",
    "MATCHES",
    "WINDOWS",
    "Case",
    "Options",
    "answer",
    "cases",
    "consumes",
    "emitted",
    "is_construct",
    "is_ordered",
    "random_cases",
    "settles_events",
    "varied_cases",
]

Events: TypeAlias = tuple[tuple[str, str, int, int, tuple[Triple, ...]], ...]
Untold: TypeAlias = tuple[str, int, int, tuple[Triple, ...]]
"""An event that has no id yet."""
Named: TypeAlias = Mapping[str, Sequence[Triple] | Sequence[tuple[int, Sequence[Triple]]]]


@dataclass(frozen=True)
class Case:
    """A legal query and what it reads: events in source order, the unnamed background, named graphs or their
    versions; and the options `report` and `preset`."""

    query: Query
    events: Events
    background: tuple[Triple, ...] = ()
    named: Named | None = None
    report: GivenReport | None = None
    preset: str | None = None

    @property
    def inputs(self) -> dict[str, Any]:
        """What `rows` and `constructed` take by keyword."""
        return {"named": self.named, "report": self.report, "preset": self.preset}


def answer(case: Case) -> list[Row]:
    """The rows of a case whose query is a SELECT."""
    return rows(case.query, case.events, case.background, **case.inputs)


def emitted(case: Case) -> list[Constructed]:
    """What the CONSTRUCT of a case emits."""
    return constructed(case.query, case.events, case.background, **case.inputs)


def is_construct(case: Case) -> bool:
    return isinstance(case.query.form, Construct)


def is_ordered(case: Case) -> bool:
    """Does ORDER BY settle the order of rows within an evaluation?"""
    return isinstance(case.query.form, Select) and bool(case.query.form.order_by)


def settles_events(case: Case) -> bool:
    """Do the rules settle `match.events` of every row? Not with IStream, DStream, LIMIT or OFFSET."""
    preset = None if case.preset is None else PRESETS[case.preset].output
    kind = case.query.output or preset or Output.RSTREAM
    return kind is Output.RSTREAM and not any(select.sliced for select in every(Select, case.query))


def consumes(case: Case) -> bool:
    policies = [seq.policy for seq in every(Seq, case.query)]
    filled = case.preset in ("ep-sparql-chronological", "ep-sparql-recent") and None in policies
    return filled or any(policy in (Policy.CHRONOLOGICAL, Policy.RECENT) for policy in policies)


# Which patterns read what


@dataclass(frozen=True)
class Reads:
    """The triple patterns of a query by what answers them: streams by name, the default graph, named graphs."""

    streams: dict[str, list[Pattern]] = field(default_factory=dict)
    default: list[Pattern] = field(default_factory=list)
    named: list[Pattern] = field(default_factory=list)


def reads(query: Query) -> Reads:
    found = Reads({stream: [] for stream in sorted(query.streams)})
    for event in query.events:
        collect(query, event.group, found.streams[query.window(event.window).stream], found)
    collect(query, query.form, found.default, found)
    return found


def collect(query: Query, node: object, active: list[Pattern], found: Reads) -> None:
    match node:
        case Triples(patterns):
            active.extend(patterns)
        case InWindow(name, group):
            collect(query, group, found.streams[query.window(name).stream], found)
        case InGraph(_, group):
            collect(query, group, found.named, found)
        case Construct(_, where):
            collect(query, where, active, found)
        case _:
            for part in fields_of(node):
                collect(query, part, active, found)


# Data


class Data:
    """Draws triples, most of them instances of some patterns by one of two assignments of the variables."""

    def __init__(self, maker: Maker, query: Query, *, blanks: bool) -> None:
        self.maker = maker
        self.query = query
        self.blanks = blanks
        self.reads = reads(query)
        self.assignments = [self.assignment(), self.assignment()]

    def assignment(self) -> dict[str, Term]:
        things: dict[str, Term] = {name: self.maker.pick(THINGS) for name in THING_NAMES}
        return things | {name: self.maker.pick(self.maker.numbers) for name in NUMBER_NAMES}

    def triple(self, patterns: Sequence[Pattern], *, blanks: bool = False) -> Triple:
        maker = self.maker
        if not patterns or maker.chance(8):
            return self.instance(Pattern(Var("x"), maker.pick((P, Q, R)), Var("y")), {}, blanks=blanks)
        return self.instance(maker.pick(patterns), maker.pick(self.assignments), blanks=blanks)

    def instance(self, pattern: Pattern, assignment: dict[str, Term], *, blanks: bool = False) -> Triple:
        maker = self.maker
        predicate = self.predicate(pattern)
        subject = self.term(pattern.subject, THINGS, assignment)
        if isinstance(subject, Literal):
            subject = maker.pick(THINGS)
        found = self.term(pattern.object, self.maker.numbers if predicate == P else THINGS, assignment)
        if blanks and maker.chance(5):
            subject = Blank(maker.pick("uv"))
        if blanks and predicate != P and maker.chance(4):
            found = Blank(maker.pick("uv"))
        return (subject, predicate, found)

    def predicate(self, pattern: Pattern) -> Iri:
        """Of a path or a variable, one of those that it may have."""
        if isinstance(pattern.predicate, Iri) and not self.maker.chance(3):
            return pattern.predicate
        known = sorted({iri.name for iri in every(Iri, pattern.predicate)}) or ["p", "q", "r"]
        return Iri(self.maker.pick(known))

    def term(self, slot: Slot, terms: Sequence[Term], assignment: dict[str, Term]) -> Term:
        """A constant as it is; a variable's assigned value, or any other."""
        found: Term = self.maker.pick(terms)
        if isinstance(slot, Iri | Literal):
            return slot
        if isinstance(slot, Var) and slot.name in assignment and not self.maker.chance(6):
            return assignment[slot.name]
        return found

    # Events

    def events(self, most: int) -> Events:
        maker = self.maker
        found: list[Untold] = []
        matches = list(every(Match, self.query))
        for match in matches[:2]:
            found += self.planned(match)
        for window in every(InWindow, self.query):
            found += self.spread(window)
        for _ in range(maker.pick((2, 1, 3, 0, 4, most) if found else (4, 3, 5, 2, most, 0))):
            found.append(self.event())
        if found and maker.chance(15):
            stream, _, _, triples = maker.pick(found)
            time = self.time()
            found.append((stream, time, time, triples))
        if maker.chance(25) or len(found) > most:
            found = maker.shuffled(found)
        found = self.parted(found[:most])
        return tuple((stream, f"e{number}", *rest) for number, (stream, *rest) in enumerate(found))  # type: ignore[misc]

    def parted(self, events: list[Untold]) -> list[Untold]:
        """With a quiet gap between some and the rest, now and then."""
        if not self.maker.chance(15):
            return events
        last, gap = self.time(), self.maker.number(10, 40)
        return [
            (stream, start, end, triples) if end <= last else (stream, start + gap, end + gap, triples)
            for stream, start, end, triples in events
        ]

    def time(self) -> int:
        return self.maker.number(FIRST_TIME, LAST_TIME) if self.maker.chance(30) else self.maker.number(1, 7)

    def event(self) -> tuple[str, int, int, tuple[Triple, ...]]:
        maker = self.maker
        stream = maker.pick(sorted(self.query.streams))
        end = self.time()
        count = maker.pick((1, 1, 2, 3))
        triples = (self.triple(self.reads.streams[stream], blanks=self.blanks) for _ in range(count))
        return (stream, self.start(end), end, tuple(dict.fromkeys(triples)))

    def start(self, end: int) -> int:
        far = self.maker.options.intervals and self.maker.chance(15)
        return end - self.maker.number(1, 3) if far else end

    def planned(self, match: Match) -> Iterator[tuple[str, int, int, tuple[Triple, ...]]]:
        """Instances of a MATCH's EVENTs in pattern order, one after the other; some of them twice, so that policies
        choose."""
        maker = self.maker
        assignment = maker.pick(self.assignments)
        time = maker.number(FIRST_TIME, 2)
        names = [name for name in leaves(match.pattern) for _ in range(maker.pick((1, 1, 2)))]
        names += maker.pick(((), names[-1:], names, names))
        for name in names[:8]:
            definition = self.query.definition(name)
            patterns = list(own_patterns(definition.group))[:3]
            if maker.chance(10):
                assignment = maker.pick(self.assignments)
            triples = tuple(self.instance(pattern, assignment, blanks=self.blanks) for pattern in patterns)
            time = min(LAST_TIME, time + maker.pick((1, 1, 1, 2, 0)))
            stream = self.query.window(definition.window).stream
            yield (stream, self.start(time), time, tuple(dict.fromkeys(triples)))

    def spread(self, window: InWindow) -> Iterator[tuple[str, int, int, tuple[Triple, ...]]]:
        """Instances of a WINDOW's patterns by one assignment, in one event or in several."""
        maker = self.maker
        stream = self.query.window(window.name).stream
        assignment = maker.pick(self.assignments)
        made = [self.instance(pattern, assignment, blanks=self.blanks) for pattern in own_patterns(window.group)]
        triples = list(dict.fromkeys(made))
        while triples:
            count = maker.pick((2, 1, 3))
            end = self.time()
            yield (stream, self.start(end), end, tuple(triples[:count]))
            del triples[:count]

    # Graphs

    def background(self) -> tuple[Triple, ...]:
        count = self.maker.number(1, 4)
        return tuple(dict.fromkeys(self.triple(self.reads.default) for _ in range(count)))

    def graph(self, patterns: Sequence[Pattern]) -> tuple[Triple, ...]:
        return tuple(dict.fromkeys(self.triple(patterns) for _ in range(self.maker.pick((1, 2, 3, 4)))))

    def named(self, iri: str) -> Sequence[Triple] | Sequence[tuple[int, Sequence[Triple]]]:
        patterns = [*self.reads.named, *(self.reads.default if iri in self.query.graphs else ())]
        if self.maker.chance(60):
            return self.graph(patterns)
        times = dict.fromkeys(self.time() for _ in range(self.maker.pick((2, 1, 3))))
        return [(time, () if self.maker.chance(15) else self.graph(patterns)) for time in times]


def own_patterns(group: Group) -> Iterator[Pattern]:
    """The triple patterns that read an event itself, not a graph; those of MINUS and EXISTS too."""
    for element in group.elements:
        if not isinstance(element, InGraph):
            for block in every(Triples, element):
                yield from block.patterns


def orders_terms(query: Query) -> bool:
    """Is there ORDER BY, MIN or MAX? Blank nodes have no order among them that it could go by."""
    if any(select.order_by for select in every(Select, query)):
        return True
    return any(each.function in ("MIN", "MAX") for each in every(Aggregate, query))


@st.composite
def cases(draw: st.DrawFn, options: Options = Options()) -> Case:  # noqa: B008
    """Legal cases."""
    found = made(Maker(lambda least, most: draw(st.integers(least, most)), options))
    assume(is_legal(found.query, report=found.report, preset=found.preset))
    return found


def random_cases(seed: int, options: Options = Options()) -> Iterator[Case]:  # noqa: B008
    """Legal cases without end, the same for the same seed. They are more varied than Hypothesis's, and don't shrink."""
    random = Random(seed)
    while True:
        found = made(Maker(random.randint, options))
        if is_legal(found.query, report=found.report, preset=found.preset):
            yield found


def varied_cases(options: Options = Options()) -> st.SearchStrategy[Case]:  # noqa: B008
    """Both kinds."""
    return st.one_of(cases(options), st.integers(0, 10**9).map(lambda seed: next(random_cases(seed, options))))


def made(maker: Maker) -> Case:
    """A case, legal most of the time."""
    options = maker.options
    query = maker.query()
    report = maker.option() if options.reports and maker.chance(25) else None
    preset = maker.pick(tuple(PRESETS)) if options.presets and maker.chance(20) else None
    if preset == "c-sparql" and not query.slides:
        preset = None
    data = Data(maker, query, blanks=options.blanks and not orders_terms(query) and maker.chance(40))
    background = data.background() if maker.default else ()
    graphs = sorted({*query.graphs, *query.named_graphs})
    named = {iri: data.named(iri) for iri in graphs} if graphs else None
    return Case(query, data.events(options.most_events), background, named, report, preset)


MATCHES = Options(
    windows=False,
    aggregates=False,
    modifiers=False,
    sub_selects=False,
    exists=False,
    paths=False,
    constructs=False,
    graphs=False,
    background=False,
)
"""MATCHes with all policies: selection and consumption."""

WINDOWS = Options(matches=False, presets=False)
"""SPARQL over windows and graphs."""

GROUPED = Options(
    matches=False,
    presets=False,
    sub_selects=False,
    exists=False,
    paths=False,
    constructs=False,
    asks=False,
    blanks=False,
    aggregated=100,
    doubles=60,
    most_events=16,
)
"""Aggregates over windows, many of which slide."""

KINDS = (MATCHES, WINDOWS, GROUPED)
