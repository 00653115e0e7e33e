"""What a fact pattern depends on: its triples, and the variables whose values may be fixed before it is asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from thence.algebra.expressions import Variable
from thence.algebra.patterns import TriplePattern
from thence.algebra.tef_sparql import (
    Absent,
    Assignment,
    Conjunction,
    Either,
    Kind,
    OnEnd,
    OnStart,
    Related,
    TefPattern,
    Test,
    Times,
)
from thence.algebra.tef_variables import bound
from thence.algebra.variables import mentioned
from thence.kernel.facts.pattern_compiler import all_variables
from thence.program.facts.kinds import Kinds
from thence.rdf.terms import IRI


def fact_triples(pattern: TefPattern, kinds: Kinds, *, is_absent: bool = False) -> Iterator[tuple[TriplePattern, bool]]:
    """The triples of facts in a fact pattern, and whether each stands right of a WITHOUT."""
    match pattern:
        case TriplePattern():
            if not _is_static(pattern, kinds):
                yield pattern, is_absent
        case Conjunction() | Either():
            yield from fact_triples(pattern.left, kinds, is_absent=is_absent)
            yield from fact_triples(pattern.right, kinds, is_absent=is_absent)
        case Absent():
            yield from fact_triples(pattern.left, kinds, is_absent=is_absent)
            if kinds.of_pattern(pattern.right) is not Kind.EVENT:
                yield from fact_triples(pattern.right, kinds, is_absent=True)
        case Times() | Test() | Assignment():
            yield from fact_triples(pattern.pattern, kinds, is_absent=is_absent)
        case Related() | OnStart() | OnEnd():
            raise AssertionError("an event is no fact")
        case _:
            assert_never(pattern)


def skeleton(pattern: TefPattern) -> TefPattern:
    """The triples that a match consists of, without conditions, times and WITHOUT: each match of the pattern, whenever
    it holds, is one of the skeleton, as far as triples bind it."""
    match pattern:
        case TriplePattern():
            return pattern
        case Conjunction():
            return Conjunction(skeleton(pattern.left), skeleton(pattern.right))
        case Either():
            return Either(skeleton(pattern.left), skeleton(pattern.right))
        case Absent():
            return skeleton(pattern.left)
        case Times() | Test() | Assignment():
            return skeleton(pattern.pattern)
        case Related() | OnStart() | OnEnd():
            raise AssertionError("an event is no fact")
        case _:
            assert_never(pattern)


def unfixed(pattern: TefPattern, kinds: Kinds, scope: frozenset[Variable] = frozenset()) -> frozenset[Variable]:
    """The variables whose values must not be fixed before a fact pattern is asked. An expression or a WITHOUT names
    them where nothing to their left is sure to bind them, and is to see them unbound (TEF-39, TEF-58); or one side of a
    UNION has its own (TEF-69). `scope` is what the left is sure to bind."""
    match pattern:
        case TriplePattern():
            return frozenset()
        case Times():
            return unfixed(pattern.pattern, kinds, scope)
        case Test() | Assignment():
            expression = pattern.condition if isinstance(pattern, Test) else pattern.expression
            known = scope | _sure(pattern.pattern)
            return unfixed(pattern.pattern, kinds, scope) | (mentioned(expression) - known)
        case Conjunction():
            return unfixed(pattern.left, kinds, scope) | unfixed(pattern.right, kinds, scope | _sure(pattern.left))
        case Either():
            own = (bound(pattern.left) | bound(pattern.right)) - bound(pattern)
            sides = (unfixed(side, kinds, scope - own) for side in (pattern.left, pattern.right))
            return own.union(*sides)
        case Absent():
            known = scope | _sure(pattern.left)
            found = unfixed(pattern.left, kinds, scope) | (all_variables(pattern.right) - known)
            is_event = kinds.of_pattern(pattern.right) is Kind.EVENT
            return found if is_event else found | unfixed(pattern.right, kinds, known)
        case Related() | OnStart() | OnEnd():
            raise AssertionError("an event is no fact")
        case _:
            assert_never(pattern)


def _sure(pattern: TefPattern) -> frozenset[Variable]:
    """The variables that every match of a fact pattern binds; the end of an open fact is unbound (TEF-54)."""
    match pattern:
        case TriplePattern():
            return bound(pattern)
        case Times():
            return _sure(pattern.pattern) | ({pattern.start} if isinstance(pattern.start, Variable) else frozenset())
        case Assignment():
            return _sure(pattern.pattern) | {pattern.variable}
        case Conjunction():
            return _sure(pattern.left) | _sure(pattern.right)
        case Either():
            return _sure(pattern.left) & _sure(pattern.right)
        case Absent():
            return _sure(pattern.left)
        case Test():
            return _sure(pattern.pattern)
        case Related() | OnStart() | OnEnd():
            raise AssertionError("an event is no fact")
        case _:
            assert_never(pattern)


def needs_facts(pattern: TefPattern, kinds: Kinds) -> bool:
    """Whether no match is of static triples alone."""
    match pattern:
        case TriplePattern():
            return not _is_static(pattern, kinds)
        case Conjunction():
            return needs_facts(pattern.left, kinds) or needs_facts(pattern.right, kinds)
        case Either():
            return needs_facts(pattern.left, kinds) and needs_facts(pattern.right, kinds)
        case Absent():
            return needs_facts(pattern.left, kinds)
        case Times() | Test() | Assignment():
            return needs_facts(pattern.pattern, kinds)
        case Related() | OnStart() | OnEnd():
            raise AssertionError("an event is no fact")
        case _:
            assert_never(pattern)


def _is_static(pattern: TriplePattern, kinds: Kinds) -> bool:
    return isinstance(pattern.predicate, IRI) and kinds.of(pattern.predicate) is Kind.STATIC
