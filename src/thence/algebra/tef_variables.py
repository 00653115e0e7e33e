"""Which variables a pattern of TEF-SPARQL binds (Tables 4.1 and 4.2, "Returned Bindings"), and which UNION drops."""

from __future__ import annotations

from typing import assert_never

from thence.algebra.expressions import Variable
from thence.algebra.patterns import TriplePattern
from thence.algebra.tef_sparql import (
    Absent,
    Arm,
    Assignment,
    Conjunction,
    Either,
    OnEnd,
    OnInit,
    OnStart,
    Plain,
    Related,
    Replace,
    Since,
    TefPattern,
    Test,
    Times,
    Until,
)

FRESH = "_ "
"""What the names of `?_` begin with: no text can write them (TEF-56)."""


def is_fresh(variable: Variable) -> bool:
    """Whether it was written `?_`."""
    return variable.name.startswith(FRESH)


def bound(pattern: TefPattern) -> frozenset[Variable]:
    """The variables that the pattern binds: those common to both sides of a UNION, and none of WITHOUT's right side.

    >>> from thence.lang.tef_sparql.parser import parse
    >>> (arm,) = parse("SELECT ?a WHERE ?a p ?b[?s, 7], ((?a q ?c) UNION (?a r ?d)), ?n = 1").statements[0].arms
    >>> print(*sorted(variable.name for variable in bound(arm.pattern)))
    a b n s
    """
    match pattern:
        case TriplePattern():
            return _variables(pattern.subject, pattern.predicate, pattern.object)
        case Times():
            return bound(pattern.pattern) | _variables(pattern.start, pattern.end)
        case Conjunction() | Related():
            return bound(pattern.left) | bound(pattern.right)
        case Either():
            return bound(pattern.left) & bound(pattern.right)
        case Test():
            return bound(pattern.pattern)
        case Assignment():
            return bound(pattern.pattern) | {pattern.variable}
        case Absent():
            return bound(pattern.left)
        case OnStart() | OnEnd():
            return bound(pattern.facts)
        case _:
            assert_never(pattern)


def dropped(pattern: TefPattern) -> frozenset[Variable]:
    """The variables that only one side of a UNION in the pattern binds (TEF-69), unless another part binds them."""
    return _dropped(pattern) - bound(pattern)


def _dropped(pattern: TefPattern) -> frozenset[Variable]:
    match pattern:
        case TriplePattern():
            return frozenset()
        case Times() | Test() | Assignment():
            return _dropped(pattern.pattern)
        case Either():
            one_sided = bound(pattern.left) ^ bound(pattern.right)
            return one_sided | _dropped(pattern.left) | _dropped(pattern.right)
        case Conjunction() | Related():
            return _dropped(pattern.left) | _dropped(pattern.right)
        case Absent():
            return _dropped(pattern.left)
        case OnStart() | OnEnd():
            return _dropped(pattern.facts)
        case _:
            assert_never(pattern)


def bound_by_arm(arm: Arm) -> frozenset[Variable]:
    """The variables that an arm binds, those that the expressions behind REPLACE assign included."""
    match arm:
        case Plain(pattern) | Since(pattern) | Until(pattern) | OnInit(pattern):
            return bound(pattern)
        case Replace():
            assigned = frozenset(variable for variable, _ in arm.steps if variable is not None)
            return bound(arm.facts) | bound(arm.events) | assigned
        case _:
            assert_never(arm)


def _variables(*slots: object) -> frozenset[Variable]:
    return frozenset(slot for slot in slots if isinstance(slot, Variable))
