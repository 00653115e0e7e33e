"""Kinds of predicates and patterns: TEF-1 to TEF-9, and the arms of CONSTRUCT FACT (TEF-13, TEF-68)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeAlias, assert_never

from oracle.tef_sparql_query import (
    TYPE,
    Arm,
    Before,
    Condition,
    Conjunction,
    Construct,
    During,
    Kind,
    OnEnd,
    OnInit,
    OnStart,
    Pattern,
    Program,
    Replace,
    Seq,
    Since,
    Timed,
    TriplePattern,
    Union,
    Until,
    With,
    Without,
    every,
)
from oracle.terms import Iri, Term, Triple

Kinds: TypeAlias = Mapping[Term, Kind]
"""Of every predicate that a program or its background has. Every other one is of an event (TEF-7)."""

Demand: TypeAlias = tuple[Iri, Kind]


def kinds(program: Program, background: Iterable[Triple] = ()) -> Kinds:
    """The kind of every predicate; of one with two kinds, the first (the program is not legal: TEF-11)."""
    known: Kinds = {}
    for _ in range(len(program.constructs) + 1):  # a CONSTRUCT without kind may depend on the one before (TEF-2)
        known = _kinds(program, frozenset(p for _, p, _ in background if isinstance(p, Iri)), known)
    return known


def _kinds(program: Program, background: frozenset[Iri], known: Kinds) -> Kinds:
    """What the statements say, if the CONSTRUCTs without kind take theirs from `known`."""
    declared = {iri: declare.kind for declare in program.declares for iri in declare.iris}
    made = dict(reversed([*heads(program, known)]))
    demanded = dict(reversed([*demands(program)]))
    initial = {iri for arm in every(OnInit, program) for iri in predicates(arm)}
    found: dict[Term, Kind] = {}
    for iri in {*background, *made, *demanded, *declared, *initial, TYPE, *predicates(program)}:
        if iri in declared:
            found[iri] = declared[iri]
        elif iri == TYPE or iri in initial or (iri in background and iri not in made):
            found[iri] = Kind.STATIC  # TEF-4 to TEF-6
        else:
            found[iri] = made.get(iri) or demanded.get(iri) or Kind.EVENT  # TEF-7
    return found


def predicates(root: object) -> Iterator[Iri]:
    """The predicates that triple patterns name."""
    for triple in every(TriplePattern, root):
        if isinstance(triple.predicate, Iri):
            yield triple.predicate


def heads(program: Program, known: Kinds) -> Iterator[Demand]:
    """What CONSTRUCT says of the predicates of its head."""
    for construct in program.constructs:
        kind = construct_kind(construct, known)
        for triple in construct.head:
            if isinstance(triple.predicate, Iri):
                yield triple.predicate, kind


def construct_kind(construct: Construct, known: Kinds) -> Kind:
    """FACT or EVENT. Without either, that of its WHERE (TEF-2); a WHERE of static triples alone gives facts."""
    if construct.kind is not None:
        return construct.kind
    found = kind_of(construct.where, known)
    return Kind.FACT if found is Kind.STATIC else found


def demands(program: Program) -> Iterator[Demand]:
    """What the operators say of the predicates under them (TEF-3)."""
    for construct in program.constructs:
        yield from _demands(construct.where, construct.kind)
    for select in program.selects:
        yield from _demands(select.where, None)


def _demands(pattern: Pattern, context: Kind | None) -> Iterator[Demand]:
    match pattern:
        case TriplePattern(_, predicate, _):
            if context is not None and isinstance(predicate, Iri):
                yield predicate, context
        case Timed(inner) | Condition(inner):
            yield from _demands(inner, context)
        case Conjunction(left, right) | Union(left, right):
            yield from _demands(left, context)
            yield from _demands(right, context)
        case Without(left, right):
            yield from _demands(left, context)
            yield from _demands(right, None)
        case Seq(left, right) | Before(left, right):
            yield from _demands(left, Kind.EVENT)
            yield from _demands(right, Kind.EVENT)
        case During(left, right) | With(left, right):
            yield from _demands(left, Kind.EVENT)
            yield from _demands(right, Kind.FACT)
        case OnStart(fact) | OnEnd(fact):
            yield from _demands(fact, Kind.FACT)
        case Since(event) | Until(event):
            yield from _demands(event, Kind.EVENT)
        case Replace(fact, event):
            yield from _demands(fact, Kind.FACT)
            yield from _demands(event, Kind.EVENT)
        case OnInit(fact):
            yield from _demands(fact, Kind.STATIC)
        case _:
            assert_never(pattern)


def kind_of(pattern: Pattern, known: Kinds, context: Kind | None = None) -> Kind:
    """What a legal pattern is, by the tables. Static triples take the kind of what they combine with (TEF-9); a
    variable predicate that of its context (TEF-8), without one it stands for events."""
    match pattern:
        case TriplePattern(_, predicate, _):
            if isinstance(predicate, Iri):
                return known.get(predicate, Kind.EVENT)
            return context or Kind.EVENT
        case Timed(inner) | Condition(inner):
            return kind_of(inner, known, context)
        case Conjunction(left, right) | Union(left, right):
            found = kind_of(left, known, context)
            return kind_of(right, known, context) if found is Kind.STATIC else found
        case Without(left, _):
            return kind_of(left, known, context)
        case Seq() | Before() | During() | With() | OnStart() | OnEnd():
            return Kind.EVENT
        case Since() | Until() | Replace() | OnInit():
            return Kind.FACT
        case _:
            assert_never(pattern)


# Arms


def arms(where: Pattern) -> list[Pattern]:
    """The arms of a WHERE, with the expressions after them inside them (TEF-68): `(SINCE E), x` is `SINCE (E, x)`."""
    match where:
        case Union(left, right):
            return [*arms(left), *arms(right)]
        case Condition(inner, expression) if any(is_arm(arm) for arm in arms(inner)):
            return [_inside(arm, Condition(arm, expression)) for arm in arms(inner)]
        case _:
            return [where]


def _inside(arm: Pattern, condition: Condition) -> Pattern:
    expression = condition.expression
    match arm:
        case Since(event):
            return Since(Condition(event, expression))
        case Until(event):
            return Until(Condition(event, expression))
        case Replace(fact, event):
            return Replace(fact, Condition(event, expression))
        case OnInit(fact):
            return OnInit(Condition(fact, expression))
        case _:
            return condition


def is_arm(pattern: Pattern) -> bool:
    return isinstance(pattern, Arm)


def is_made(construct: Construct) -> bool:
    """Do its facts come from SINCE, UNTIL, REPLACE or ON INIT? Otherwise they are a view."""
    return any(map(is_arm, arms(construct.where)))
