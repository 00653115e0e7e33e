"""EP-SPARQL by its definitions: Anicic, Fodor, Rudolph, Stojanovic, "EP-SPARQL: a unified language for event processing
and stream reasoning", section 4.2, with the rules EP-1 to EP-82. Every set is written out in full.

`rows` gives the rows of a file's SELECTs, `derived` the events that the CONSTRUCTs of a file without SELECT emit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import inf, isinf
from typing import TypeAlias

from oracle.ep_sparql_data import Data, GivenEvent, Occurrence, Source, own_blanks
from oracle.ep_sparql_expressions import Rank, Time, rank
from oracle.ep_sparql_patterns import Evaluation, Mark, Merged, Solution, Visit
from oracle.ep_sparql_policies import policy_solutions
from oracle.ep_sparql_query import File, Pattern, Slot, constructs, in_scope, selects
from oracle.ep_sparql_rdfs import closed, closed_background
from oracle.ep_sparql_strata import strata
from oracle.terms import Blank, Graph, Iri, Literal, Term, Triple, Var

Row: TypeAlias = tuple[int, int, int, tuple[tuple[str, Term], ...], tuple[str, ...]]
"""The number of the SELECT from 1, start, end, bindings by name, and input events in pattern order (EP-80 to EP-82)."""

Derived: TypeAlias = tuple[int, int, int, Graph, tuple[str, ...]]
"""The number of the CONSTRUCT from 1, start, end, its new triples, and input events in pattern order (EP-49)."""


class TooManyRounds(ValueError):
    """More rounds at one time than the limit (EP-54)."""


def rows(
    file: File,
    events: Iterable[GivenEvent],
    background: Iterable[Triple] = (),
    *,
    named: Mapping[str, Iterable[Triple]] | None = None,
    reasoning: bool = False,
    policy: str = "unrestricted",
    rounds: int = 1_000,
) -> list[Row]:
    """The rows of all SELECTs. Of one SELECT, rows of equal end are in their order (EP-62).

    An event is listed once for each triple pattern that it fills. Rows of DISTINCT and of aggregates list none (EP-6).
    A blank node that a template made is `MADE`.
    """
    data, _ = closure(file, events, background, named=named, reasoning=reasoning, rounds=rounds)
    found = []
    for number, select in enumerate(selects(file), start=1):
        if policy == "unrestricted":
            listed = [(solution, events_of(data, solution)) for solution in Evaluation(data).select(select)]
        else:
            listed = policy_solutions(data, select, policy)
        for solution, ids in listed:
            if not isinf(solution.end):  # EP-38
                found.append((number, int(solution.start), int(solution.end), bindings(solution), ids))
    return found


def derived(
    file: File,
    events: Iterable[GivenEvent],
    background: Iterable[Triple] = (),
    *,
    named: Mapping[str, Iterable[Triple]] | None = None,
    reasoning: bool = False,
    rounds: int = 1_000,
) -> list[Derived]:
    """What the CONSTRUCTs emit, in its order. A blank node of this solution is `Blank(label, "new")`; one that another
    solution made is `MADE`."""
    _, emitted = closure(file, events, background, named=named, reasoning=reasoning, rounds=rounds)
    return [each for each in emitted if not isinf(each[2])]


MADE = Blank("", "template")


def bindings(solution: Solution) -> tuple[tuple[str, Term], ...]:
    return tuple(sorted(((name, shown_term(term)) for name, term in solution.mapping), key=lambda pair: pair[0]))


def shown_term(term: Term) -> Term:
    return MADE if is_made(term) else term


def is_made(term: Term) -> bool:
    return isinstance(term, Blank) and term.event.startswith("template ")


def events_of(data: Data, solution: Solution) -> tuple[str, ...]:
    """The input events in pattern order; of an occurrence, the first that brought it (EP-81)."""
    found = []
    for _, filling in solution.marks:
        match filling:
            case Occurrence():
                event = data.event(filling)
            case Visit(_, source):
                event = source.event if source else None
            case Merged() | int():
                event = None
        if event:
            found.append(event)
    return tuple(found)


# The closure of the rules


def closure(
    file: File,
    events: Iterable[GivenEvent],
    background: Iterable[Triple],
    *,
    named: Mapping[str, Iterable[Triple]] | None,
    reasoning: bool,
    rounds: int,
) -> tuple[Data, list[Derived]]:
    """The paper's Q-closure (EP-46), and what the rules emit. All that ends before t is final at t (EP-50), and what is
    derived at t ends at t; so the end times are gone through in their order, background first (EP-37)."""
    unnamed = frozenset(background)
    unnamed = closed_background(unnamed) if reasoning else unnamed
    sources = tuple(
        Source(position, event, start, end, inferred(own_blanks(event, triples), unnamed, reasoning))
        for position, (event, start, end, triples) in enumerate(events)
    )
    graphs = None if named is None else {iri: frozenset(triples) for iri, triples in named.items()}
    rules = Rules(file, Data(sources, unnamed, graphs), reasoning, rounds)
    for time in (-inf, *sorted({source.end for source in sources})):
        rules.step(time)
    return rules.data, rules.emitted


def inferred(triples: Graph, background: Graph, reasoning: bool) -> Graph:
    return closed(triples, background) if reasoning else triples


@dataclass(frozen=True)
class Proposal:
    """What a solution of a rule derives, new or not. `number` is the rule's."""

    number: int
    solution: Solution
    triples: Graph


class Rules:
    """The rules of a file, the data so far, and what was emitted."""

    def __init__(self, file: File, data: Data, reasoning: bool, rounds: int) -> None:
        self.rules = constructs(file)
        self.data = data
        self.reasoning = reasoning
        self.rounds = rounds
        self.strata = strata(file, data.background if reasoning else None, background=bool(data.background))
        self.emitted: list[Derived] = []
        self.nodes: dict[tuple[int, tuple[Mark, ...]], int] = {}

    def step(self, time: Time) -> None:
        """The strata in order, each to its fixpoint, at one end time."""
        for stratum in self.strata:
            for number in range(self.rounds + 1):
                if not self.round(stratum, time):
                    break
                if number == self.rounds:
                    raise TooManyRounds

    def round(self, stratum: list[int], time: Time) -> bool:
        """All rules on the same data. In the order of rule, start and positions (EP-49), each solution's new triples
        are added. Is there one?"""
        now = self.data.until(time)
        proposals = [
            Proposal(number, solution, self.instances(number, solution))
            for number in stratum
            for solution in Evaluation(now).group(self.rules[number].where)
            if solution.end == time
        ]
        proposals.sort(
            key=lambda each: (each.number, each.solution.start, positions(now, each.solution), self.ranks(each))
        )
        added = False
        for proposal in proposals:
            start, end = proposal.solution.start, proposal.solution.end
            known = self.data.occurrences
            new = frozenset(triple for triple in proposal.triples if Occurrence(triple, start, end) not in known)
            if new:
                added = True
                self.add(proposal.solution, new)
                self.emitted.append(self.shown(proposal, new, events_of(now, proposal.solution)))
        return added

    def add(self, solution: Solution, triples: Graph) -> None:
        """Rules over background alone derive background (EP-37)."""
        data = self.data
        if solution.timeless:
            background = data.background | triples
            self.data = replace(data, background=closed_background(background) if self.reasoning else background)
            return
        start, end, first = int(solution.start), int(solution.end), len(data.sources)
        sources = tuple(
            Source(position, "", start, end, inferred(frozenset({triple}), data.background, self.reasoning))
            for position, triple in enumerate(sorted(triples, key=repr), start=first)
        )
        self.data = replace(data, sources=data.sources + sources)

    def ranks(self, proposal: Proposal) -> list[Rank]:
        """Its terms by the names of the variables, by which solutions of the same sources go."""
        mapping = dict(proposal.solution.mapping)
        return [rank(mapping.get(name)) for name in sorted(in_scope(self.rules[proposal.number].where))]

    def instances(self, number: int, solution: Solution) -> Graph:
        """The template with the solution's values. A triple with an unbound variable is left out (EP-47)."""
        mapping = dict(solution.mapping)
        node = f"template {self.nodes.setdefault((number, solution.marks), len(self.nodes))}"
        made = (triple_of(pattern, mapping, node) for pattern in self.rules[number].template)
        return frozenset(triple for triple in made if triple is not None)

    def shown(self, proposal: Proposal, new: Graph, ids: tuple[str, ...]) -> Derived:
        own = f"template {self.nodes[proposal.number, proposal.solution.marks]}"

        def shown(term: Term) -> Term:
            if isinstance(term, Blank) and term.event == own:
                return Blank(term.label, "new")
            return shown_term(term)

        triples = frozenset((shown(s), shown(p), shown(o)) for s, p, o in new)
        start, end = proposal.solution.start, proposal.solution.end
        return (proposal.number + 1, start, end, triples, ids)  # type: ignore[return-value]


def positions(data: Data, solution: Solution) -> tuple[int, ...]:
    """The positions of the sources that fill its places, in the order of the text; background is before all."""
    found = []
    for _, filling in solution.marks:
        match filling:
            case Occurrence():
                found.append(next((source.position for source in data.brought_by(filling)), -1))
            case Visit(_, source):
                found.append(source.position if source else -1)
            case Merged() | int():
                pass
    return tuple(found)


def triple_of(pattern: Pattern, mapping: Mapping[str, Term], node: str) -> Triple | None:
    """An instance of a template triple, if it is a triple. A blank node is one per rule and solution (EP-48)."""

    def instance(slot: Slot) -> Term | None:
        match slot:
            case Var(name):
                return mapping.get(name)
            case Blank(label):
                return Blank(label, node)
            case _:
                return slot

    assert isinstance(pattern.predicate, Var | Iri)
    s, p, o = instance(pattern.subject), instance(pattern.predicate), instance(pattern.object)
    if s is None or o is None or isinstance(s, Literal) or not isinstance(p, Iri):
        return None
    return (s, p, o)
