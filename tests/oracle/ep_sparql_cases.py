"""Random EP-SPARQL cases: a file of `oracle.ep_sparql_statements`, with events and background at few times.

Most triples of a stream are instances of the file's own patterns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from hypothesis import assume
from hypothesis import strategies as st

from oracle.ep_sparql import Derived, Row, derived, rows
from oracle.ep_sparql_data import GivenEvent
from oracle.ep_sparql_legal import groups_in, is_legal, triples_blocks
from oracle.ep_sparql_query import (
    Chain,
    Column,
    Compare,
    Construct,
    File,
    Filter,
    Group,
    InGraph,
    Operator,
    Pattern,
    Select,
    Slot,
    Statement,
    SubSelect,
    Triples,
    in_scope,
    selects,
)
from oracle.ep_sparql_rdfs import DOMAIN, RANGE, SUB_CLASS, SUB_PROPERTY, TYPE, closed_background
from oracle.ep_sparql_statements import (
    CLASSES,
    CORE,
    LAST_TIME,
    NUMBER_NAMES,
    THING_NAMES,
    THINGS,
    Maker,
    Options,
    P,
    Q,
    R,
    S,
    T,
    X,
    Y,
)
from oracle.ep_sparql_strata import predicates
from oracle.terms import Blank, Iri, Literal, Term, Triple, Var, integer

__all__ = ["CORE", "Case", "Options", "answer", "cases", "emitted", "is_emitting", "policy_cases", "random_cases"]


@dataclass(frozen=True)
class Case:
    """A legal file and what it reads. `named` is what GRAPH reads."""

    file: File
    events: tuple[GivenEvent, ...]
    background: tuple[Triple, ...] = ()
    named: tuple[tuple[str, tuple[Triple, ...]], ...] | None = None
    reasoning: bool = False
    policy: str = "unrestricted"


def answer(case: Case, rounds: int = 12) -> list[Row]:
    """The rows of a case's SELECTs; it may raise `TooManyRounds`."""
    named = None if case.named is None else dict(case.named)
    return rows(
        case.file,
        case.events,
        case.background,
        named=named,
        reasoning=case.reasoning,
        policy=case.policy,
        rounds=rounds,
    )


def emitted(case: Case, rounds: int = 12) -> list[Derived]:
    """What the rules of a case emit; it may raise `TooManyRounds`."""
    named = None if case.named is None else dict(case.named)
    return derived(case.file, case.events, case.background, named=named, reasoning=case.reasoning, rounds=rounds)


# Data


def own_patterns(file: File) -> list[Pattern]:
    """The triple patterns of a file, those of EXISTS included."""
    wheres = [
        Group((SubSelect(statement),)) if isinstance(statement, Select) else statement.where for statement in file
    ]
    return [pattern for where in wheres for block in triples_blocks(where) for pattern in block.patterns]


class Stream:
    """Draws triples, most of them instances of some patterns by one of two assignments of the variables."""

    def __init__(self, maker: Maker, patterns: Iterable[Pattern], *, blanks: bool) -> None:
        self.maker = maker
        self.patterns = [*patterns]
        self.blanks = blanks
        self.assignments = [self.assignment(), self.assignment()]

    def assignment(self) -> dict[str, Term]:
        things: dict[str, Term] = {name: self.maker.pick(THINGS) for name in THING_NAMES}
        return things | {name: self.maker.pick(self.maker.numbers) for name in NUMBER_NAMES}

    def triple(self) -> Triple:
        maker = self.maker
        if not self.patterns or maker.chance(10):
            return self.instance(Pattern(X, maker.pick((P, Q)), Y), {})
        return self.instance(maker.pick(self.patterns), maker.pick(self.assignments))

    def instance(self, pattern: Pattern, assignment: dict[str, Term]) -> Triple:
        maker = self.maker
        subject = self.term(pattern.subject, THINGS, assignment)
        if isinstance(subject, Literal):
            subject = maker.pick(THINGS)
        if self.blanks and maker.chance(3):
            subject = Blank("b")
        predicate = self.predicate(pattern)
        if predicate == TYPE and maker.chance(50):
            predicate = maker.pick((P, Q, R))
        if predicate == TYPE:
            return (subject, TYPE, maker.pick(CLASSES))
        return (
            subject,
            predicate,
            self.term(pattern.object, self.maker.numbers if predicate in (P, S) else THINGS, assignment),
        )

    def term(self, slot: Slot, terms: Sequence[Term], assignment: dict[str, Term]) -> Term:
        """A constant as it is; a variable's assigned value, or any other."""
        found: Term = self.maker.pick(terms)
        if isinstance(slot, Iri | Literal):
            return slot
        return assignment.get(slot.name, found) if isinstance(slot, Var) else found

    def predicate(self, pattern: Pattern) -> Iri:
        maker, found = self.maker, pattern.predicate
        choices: list[Iri] = [P, Q, R]
        if isinstance(found, Iri):
            choices = [found]
        elif not isinstance(found, Var):
            choices = [step for step in predicates(found) if isinstance(step, Iri)]
        choice: Iri = maker.pick(choices)
        if choice in (S, T) and maker.chance(50):
            choice = maker.pick((P, Q, R))
        return choice

    def events(self, most: int, *, strict: bool = False) -> tuple[GivenEvent, ...]:
        """Events that follow the text of the file, so that sequences are found; and events at any time, of a small pool
        of triples, so that some come twice. Points, and intervals."""
        maker = self.maker
        found: list[tuple[int, int, tuple[Triple, ...]]] = []
        if maker.chance(85):
            found += self.planned(strict=strict)
        pool = [self.triple() for _ in range(maker.number(2, 6))] + [
            triple for _, _, event in found for triple in event
        ]
        for _ in range(maker.number(0, most) if maker.chance(30) else maker.pick((2, 3, 4, most))):
            end = maker.pick(range(LAST_TIME + 1))
            start = end if maker.chance(65) else maker.number(0, end)
            triples = tuple(maker.pick(pool) for _ in range(maker.pick((1, 1, 2, 3))))
            found.append((start, end, tuple(dict.fromkeys(triples))))
        found = maker.shuffled(found) if maker.chance(20) else found
        shift = maker.pick((0, 0, 0, -3))  # ticks may be negative
        return tuple(
            (f"e{number}", start + shift, end + shift, triples)
            for number, (start, end, triples) in enumerate(found[:most])
        )

    def planned(self, *, strict: bool) -> list[tuple[int, int, tuple[Triple, ...]]]:
        """Instances of the patterns in the order of the text, by one assignment, one event after the other. `strict`:
        none at the time of another."""
        maker = self.maker
        assignment = maker.pick(self.assignments)
        found: list[tuple[int, int, tuple[Triple, ...]]] = []
        time = 0
        often = (1, 1, 2) if strict else (1,)
        for pattern in [pattern for pattern in self.patterns for _ in range(maker.pick(often))][:5]:
            triple = self.instance(pattern, assignment)
            if found and not strict and maker.chance(25):
                start, end, triples = found[-1]
                found[-1] = (start, end, (*triples, triple) if triple not in triples else triples)
                continue
            start = min(LAST_TIME, time + (1 if strict else maker.pick((1, 1, 0))))
            time = min(LAST_TIME, start + (0 if strict else maker.pick((0, 0, 0, 1))))
            found.append((start, time, (triple,)))
        return found


SCHEMAS: tuple[Triple, ...] = (
    (R, SUB_PROPERTY, Q),
    (P, DOMAIN, CLASSES[0]),
    (CLASSES[0], SUB_CLASS, CLASSES[1]),
    (Q, RANGE, CLASSES[0]),
    (P, RANGE, CLASSES[1]),
    (Q, SUB_PROPERTY, S),
    (S, DOMAIN, CLASSES[0]),
)


@st.composite
def cases(draw: st.DrawFn, options: Options = Options()) -> Case:  # noqa: B008
    """Legal cases: SELECTs, rules, or both."""
    found = made(lambda least, most: draw(st.integers(least, most)), options)
    assume(is_legal_case(found))
    return found


def random_cases(seed: int, options: Options = Options()) -> Iterator[Case]:  # noqa: B008
    """Legal cases without end, the same for the same seed. They are more varied than Hypothesis's, and don't shrink."""
    random = Random(seed)
    while True:
        found = made(random.randint, options)
        if is_legal_case(found):
            yield found


def is_legal_case(case: Case) -> bool:
    background = bool(case.background)
    schema = closed_background(frozenset(case.background)) if case.reasoning else None
    orders_blanks = any_sliced(case.file) and any(makes_blanks(statement) for statement in case.file)
    return is_legal(case.file, background=background, schema=schema, policy=case.policy) and not orders_blanks


def made(number: Callable[[int, int], int], options: Options) -> Case:
    """A case, legal most of the time."""
    outline = Maker(number, options, derives=False)
    ruled = options.rules and outline.chance(options.ruled)
    reasoning = options.reasoning and outline.chance(options.reasoned)
    grounded = options.background and (reasoning or outline.chance(40))
    graphs = options.graph and (not ruled or options.graph_of_rules) and outline.chance(20)
    file: list[Statement] = []

    def maker() -> Maker:
        made = Maker(number, options, derives=ruled)
        made.typed, made.graphs, made.numbers = reasoning, graphs, outline.numbers
        return made

    if ruled:
        for _ in range(outline.pick((1, 1, 2))):
            file += maker().rule()
    if not ruled or outline.chance(options.selecting):
        for _ in range(outline.pick((1, 1, 1, 2))):
            statement = maker()
            where = statement.group(statement.pick((0, 1, options.depth)) if ruled else options.depth)
            if ruled and options.recursive and statement.chance(options.recursive):  # all that is derived
                where = Group((Triples((Pattern(X, statement.pick((T, T, Q)), Y),)),))
            if not in_scope(where):
                where = Group((*where.elements, statement.triples()))
            if graphs and statement.chance(70):
                where = Group((*where.elements, InGraph("g", Group((statement.triples(),)))))
            file.append(statement.select(where))
    stream = Stream(maker(), own_patterns(tuple(file)), blanks=not any_sliced(file))
    background = tuple(stream.triple() for _ in range(outline.number(1, 3))) if grounded else ()
    if reasoning:
        background += tuple(triple for triple in SCHEMAS if outline.chance(65))
    background = tuple(triple for triple in dict.fromkeys(background) if not isinstance(triple[0], Blank))
    of_graph = (stream.triple() for _ in range(outline.number(1, 4) if graphs else 0))
    named = (("g", tuple(triple for triple in of_graph if not isinstance(triple[0], Blank))),) if graphs else None
    if graphs and background and outline.chance(30):
        named = None  # the unnamed background answers
    return Case(tuple(file), stream.events(options.most_events), background, named, reasoning)


def any_sliced(file: Iterable[Statement]) -> bool:
    """Is there a LIMIT or OFFSET? Blank nodes have no order among them that it could go by."""

    def inside(group: Group) -> bool:
        return any(
            (isinstance(element, SubSelect) and element.select.sliced) or any(map(inside, groups_in(element)))
            for element in group.elements
        )

    return any((isinstance(statement, Select) and statement.sliced) or inside(statement.where) for statement in file)


def makes_blanks(statement: Statement) -> bool:
    return isinstance(statement, Construct) and any(isinstance(triple.subject, Blank) for triple in statement.template)


@st.composite
def policy_cases(draw: st.DrawFn, options: Options = Options()) -> Case:  # noqa: B008
    """SELECTs over chains of SEQs and filters, under a policy (EP-67)."""
    maker = Maker(lambda least, most: draw(st.integers(least, most)), Options(paths=False, patterns=5), derives=False)
    file: File = tuple(_policy_select(maker) for _ in range(maker.pick((1, 1, 1, 1, 2))))
    stream = Stream(maker, own_patterns(file), blanks=False)
    background = tuple({stream.triple() for _ in range(maker.number(1, 2))}) if maker.chance(20) else ()
    policy = maker.pick(("chronological", "recent"))
    assume(is_legal(file, background=bool(background), policy=policy))
    return Case(file, stream.events(options.most_events, strict=True), background, policy=policy)


def _policy_select(maker: Maker) -> Select:
    maker.left = maker.options.patterns
    where = _policy_chain(maker, depth=2)
    names = in_scope(where)
    columns = None
    if names and maker.chance(40):
        columns = tuple(Column(name) for name in names if maker.chance(60)) or (Column(names[0]),)
    return Select(columns, where)


def _policy_chain(maker: Maker, *, depth: int) -> Group:
    def operand(*, is_left: bool = False) -> Group:
        if depth and maker.left > 2 and maker.chance(45 if is_left else 15):
            return _policy_chain(maker, depth=depth - 1)
        triples = Triples((maker.pattern(),)) if maker.chance(80) else maker.triples()
        return Group((triples, *_policy_filters(maker, Group((triples,)), 20)))

    rest = maker.pick((1, 1, 2)) if depth == 2 else 1
    chain = Chain(operand(is_left=True), tuple((Operator.SEQ, operand()) for _ in range(rest)))
    group = Group((chain, *_policy_filters(maker, Group((chain,)), 45)))
    return Group((group, *_policy_filters(maker, group, 80))) if maker.chance(15) else group


def _policy_filters(maker: Maker, group: Group, percent: int) -> tuple[Filter, ...]:
    """A filter that all pass, or any."""
    if not maker.chance(percent):
        return ()
    if maker.chance(25):
        return (Filter(Compare("=", integer(1), integer(1))),)
    return (Filter(maker.condition(in_scope(group) or ["x"], 0)),)


def is_emitting(file: File) -> bool:
    """Without SELECT, its CONSTRUCTs are its output (EP-82)."""
    return not selects(file)
