"""What the statements of TEF-SPARQL say about the kinds of predicates: heads, and operators that ask for a kind
(TEF-3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import assert_never

from thence.algebra.patterns import TriplePattern
from thence.algebra.tef_sparql import (
    Absent,
    Arm,
    Assignment,
    Conjunction,
    ConstructStatement,
    Either,
    Kind,
    OnEnd,
    OnInit,
    OnStart,
    Plain,
    Related,
    Replace,
    SelectStatement,
    Since,
    TefPattern,
    TefStatement,
    TemporalRelation,
    Test,
    Times,
    Until,
)
from thence.rdf.terms import IRI


@dataclass(frozen=True, slots=True)
class Demand:
    """A pattern, the kind that its place asks for, if any, and the operator that does."""

    pattern: TefPattern
    kind: Kind | None
    operator: str


def certain_kind(statement: TefStatement) -> Kind | None:
    """What a CONSTRUCT makes, where its text says so: by FACT or EVENT, or by an arm that makes facts."""
    match statement:
        case SelectStatement():
            return None
        case ConstructStatement(kind=None):
            return None if all(isinstance(arm, Plain) for arm in statement.arms) else Kind.FACT
        case ConstructStatement():
            return statement.kind
        case _:
            assert_never(statement)


def head_predicates(statement: TefStatement) -> tuple[IRI, ...]:
    """The predicates of what a statement makes; variables aside."""
    head = statement.head if isinstance(statement, ConstructStatement) else ()
    return tuple(each.predicate for each in head if isinstance(each.predicate, IRI))


def statement_demands(statement: TefStatement) -> Iterator[Demand]:
    """The patterns at the top of a statement's arms. FACT or EVENT flows down to plain ones (TEF-3)."""
    top = statement.kind if isinstance(statement, ConstructStatement) else None
    for arm in statement.arms:
        yield from arm_demands(arm, top)


def arm_demands(arm: Arm, top: Kind | None) -> tuple[Demand, ...]:
    """The patterns of an arm; `top` is what CONSTRUCT asks for."""
    match arm:
        case Plain(pattern):
            return (Demand(pattern, top, "" if top is None else f"CONSTRUCT {top.value.upper()}"),)
        case Since(events):
            return (Demand(events, Kind.EVENT, "SINCE"),)
        case Until(events):
            return (Demand(events, Kind.EVENT, "UNTIL"),)
        case Replace():
            return Demand(arm.facts, Kind.FACT, "REPLACE"), Demand(arm.events, Kind.EVENT, "ON")
        case OnInit(pattern):
            return (Demand(pattern, Kind.STATIC, "ON INIT"),)
        case _:
            assert_never(arm)


def operands(demand: Demand) -> tuple[Demand, ...]:
    """The patterns directly below, with what is asked of each: nothing of WITHOUT's right side (TEF-3)."""
    pattern, kind, operator = demand.pattern, demand.kind, demand.operator
    match pattern:
        case TriplePattern():
            return ()
        case Times() | Test() | Assignment():
            return (Demand(pattern.pattern, kind, operator),)
        case Conjunction() | Either():
            return Demand(pattern.left, kind, operator), Demand(pattern.right, kind, operator)
        case Absent():
            return Demand(pattern.left, kind, operator), Demand(pattern.right, None, "WITHOUT")
        case Related(relation, left, right):
            after = relation in (TemporalRelation.SEQ, TemporalRelation.BEFORE)
            second = Kind.EVENT if after else Kind.FACT
            return Demand(left, Kind.EVENT, relation.value), Demand(right, second, relation.value)
        case OnStart(facts):
            return (Demand(facts, Kind.FACT, "ONSTART"),)
        case OnEnd(facts):
            return (Demand(facts, Kind.FACT, "ONEND"),)
        case _:
            assert_never(pattern)


def all_demands(statement: TefStatement) -> Iterator[Demand]:
    """All patterns of a statement, in the order of the text, with what is asked of each; without recursion."""
    waiting = list(reversed(list(statement_demands(statement))))
    while waiting:
        demand = waiting.pop()
        yield demand
        waiting += reversed(operands(demand))


def read_predicates(statement: TefStatement) -> Iterator[tuple[IRI, Demand]]:
    """The predicates that a statement's patterns name, and what is asked of each."""
    for demand in all_demands(statement):
        if isinstance(demand.pattern, TriplePattern) and isinstance(demand.pattern.predicate, IRI):
            yield demand.pattern.predicate, demand
