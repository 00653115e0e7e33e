"""Views: facts that statements derive from facts alone, as a least fixpoint by strata (TEF-47 to TEF-50)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import TypeAlias

from oracle.tef_sparql_expressions import term, value
from oracle.tef_sparql_kinds import Kinds, construct_kind, is_made, kind_of
from oracle.tef_sparql_patterns import Bindings, Fact, Held, Moment, Patterns, Piece, is_interval, merged, split
from oracle.tef_sparql_query import (
    Construct,
    HeadTriple,
    Kind,
    Pattern,
    Program,
    TriplePattern,
    Without,
    parts_of,
)
from oracle.terms import Iri, Literal, Term, Triple, Var

ROUNDS = 200


class NotStratified(ValueError):
    """WITHOUT among views that cannot be stratified (TEF-47)."""


class TooManyRounds(ValueError):
    """A fixpoint that does not come to an end."""


def view_constructs(program: Program, kinds: Kinds) -> list[Construct]:
    """The statements that derive facts."""
    facts = [each for each in program.constructs if construct_kind(each, kinds) is Kind.FACT]
    return [each for each in facts if not is_made(each)]


def strata(program: Program, kinds: Kinds) -> list[list[Construct]]:
    """The statements of views, so that what one is WITHOUT is in an earlier stratum."""
    views = view_constructs(program, kinds)
    derived = {triple.predicate for view in views for triple in view.head}
    level = dict.fromkeys(range(len(views)), 0)
    for _ in range(len(views) ** 2 + 1):
        for number, view in enumerate(views):
            for predicate, negated in reads(view.where, kinds):
                for other, source in enumerate(views):
                    heads = {triple.predicate for triple in source.head}
                    if predicate in heads or (isinstance(predicate, Var) and derived):
                        level[number] = max(level[number], level[other] + negated)
        for a, b in ((a, b) for a in level for b in level):  # statements of one predicate stand together
            if {t.predicate for t in views[a].head} & {t.predicate for t in views[b].head}:
                level[a] = level[b] = max(level[a], level[b])
    if any(each > len(views) for each in level.values()):
        raise NotStratified
    return [[views[number] for number in level if level[number] == each] for each in sorted(set(level.values()))]


def reads(pattern: Pattern, kinds: Kinds, *, negated: bool = False) -> Iterator[tuple[Iri | Var, bool]]:
    """The predicates of facts that a view reads now, and whether it is WITHOUT them. What events read was before."""
    match pattern:
        case TriplePattern(_, predicate, _):
            if isinstance(predicate, Var) or kinds.get(predicate) is Kind.FACT:
                yield predicate, negated
        case Without(left, right):
            yield from reads(left, kinds, negated=negated)
            if kind_of(right, kinds) is not Kind.EVENT:
                yield from reads(right, kinds, negated=True)
        case _:
            for part in parts_of(pattern):
                if isinstance(part, Pattern):
                    yield from reads(part, kinds, negated=negated)


def head_triples(head: Iterable[HeadTriple], mapping: Bindings, now: int | None) -> list[Triple]:
    """The triples that a mapping makes of a head. An error leaves out one triple alone (TEF-59)."""
    found = []
    for triple in head:
        s, p = instance(triple.subject, mapping), instance(triple.predicate, mapping)
        o = term(value(triple.object, mapping, now))
        if s is not None and o is not None and not isinstance(s, Literal) and isinstance(p, Iri):
            found.append((s, p, o))
    return list(dict.fromkeys(found))


def instance(slot: Var | Term, mapping: Bindings) -> Term | None:
    return mapping.get(slot.name) if isinstance(slot, Var) else slot


Breaks: TypeAlias = AbstractSet[tuple[Triple, int]]
"""When views ended: one that is true again at that time starts anew (TEF-49)."""


def derived_facts(
    patterns: Patterns, layers: Iterable[Iterable[Construct]], moment: Moment, breaks: Breaks
) -> tuple[Fact, ...]:
    """All facts of views at a moment whose facts are the made ones, ended ones included."""
    facts: tuple[Fact, ...] = ()
    for layer in layers:
        below, views = replace(moment, facts=moment.facts + facts), tuple(layer)
        found: tuple[Fact, ...] = ()
        for _ in range(ROUNDS):
            again = derived_once(patterns, views, replace(below, facts=below.facts + found), breaks)
            if set(again) == set(found):
                break
            found = again
        else:
            raise TooManyRounds
        facts += found
    return facts


def derived_once(patterns: Patterns, views: Iterable[Construct], moment: Moment, breaks: Breaks) -> tuple[Fact, ...]:
    """What the statements derive of these facts. Derivations of one triple that overlap are one fact (TEF-48)."""
    pieces: dict[Triple, list[Piece]] = {}
    for view in views:
        for held in current(patterns, view.where, moment):
            for triple in head_triples(view.head, held.mapping, None):
                assert held.start is not None
                pieces.setdefault(triple, []).append((held.start, held.end))
    found = []
    for triple, several in pieces.items():
        whole = merged(several)
        for time in sorted(time for broken, time in breaks if broken == triple):
            whole = [part for piece in whole for part in split(piece, time)]
        found += [Fact(triple, *piece) for piece in whole]
    return tuple(found)


def current(patterns: Patterns, pattern: Pattern, moment: Moment) -> Iterator[Held]:
    """The instances of a fact pattern as a view has them. Static triples hold from the first event on (TEF-45)."""
    for held in patterns.held(pattern, {}, frozenset(), replace(moment, current=True)):
        found = replace(held, start=patterns.first if held.start is None else held.start)
        if is_interval(found.start, found.end):  # it may have ended before the first event
            yield found
