"""The order of joins: operands that share a variable are joined before those that share none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce

from thence.algebra.expressions import Variable
from thence.algebra.patterns import (
    Bgp,
    Extend,
    Filter,
    Join,
    LeftJoin,
    Minus,
    PathPattern,
    Pattern,
    TriplePattern,
    Union,
    WindowPattern,
)
from thence.algebra.variables import in_scope
from thence.rdf.terms import BlankNode


def connected_joins(pattern: Pattern) -> Pattern:
    """The same pattern; of joins next to each other, each takes the first operand in the text that shares a variable
    with what is joined so far. `?p1 a :C . ?p2 a :C . { ?o1 :of ?p1 } { ?o2 :of ?p2 }` is no product of all ?p1 with
    all ?p2 then. Join is associative and commutative, on bags too.

    >>> from thence.algebra.show import show
    >>> from thence.lang.sparql.parser import parse_pattern
    >>> pattern = parse_pattern("{ ?a <x:p> 1 . ?b <x:p> 2 { ?a <x:q> ?c } { ?b <x:q> ?d } }")
    >>> print(" ".join(show(connected_joins(pattern)).split()))
    { ?a <x:p> 1 . { ?a <x:q> ?c . } ?b <x:p> 2 . { ?b <x:q> ?d . } }
    """
    match pattern:
        case Join():
            return _joined([part for each in _operands(pattern) for part in _parts(each)])
        case Filter() | Extend() | WindowPattern():
            return replace(pattern, pattern=connected_joins(pattern.pattern))
        case LeftJoin() | Union() | Minus():
            return replace(pattern, left=connected_joins(pattern.left), right=connected_joins(pattern.right))
        case _:
            return pattern


def _operands(pattern: Pattern) -> Iterator[Pattern]:
    """What joins next to each other join, in the order of the text; without recursion."""
    waiting = [pattern]
    while waiting:
        found = waiting.pop()
        if isinstance(found, Join):
            waiting += [found.right, found.left]
        else:
            yield found


def _parts(operand: Pattern) -> list[Pattern]:
    """A basic graph pattern falls apart into those that share no variable."""
    if not isinstance(operand, Bgp):
        return [connected_joins(operand)]
    found: list[list[TriplePattern | PathPattern]] = []
    for triple in operand.triples:
        own = _slots(triple)
        touched = [part for part in found if any(own & _slots(each) for each in part)]
        found = [part for part in found if part not in touched]
        found.append([*(each for part in touched for each in part), triple])
    return [Bgp(tuple(part)) for part in found] or [operand]


def _slots(triple: TriplePattern | PathPattern) -> frozenset[Variable | BlankNode]:
    slots = (triple.subject, triple.predicate if isinstance(triple, TriplePattern) else None, triple.object)
    return frozenset(slot for slot in slots if isinstance(slot, Variable | BlankNode))


def _joined(operands: list[Pattern]) -> Pattern:
    first, *waiting = operands
    order, known = [first], {*in_scope(first)}
    while waiting:
        following = next((each for each in waiting if not known.isdisjoint(in_scope(each))), waiting[0])
        waiting.remove(following)
        order.append(following)
        known.update(in_scope(following))
    return reduce(Join, order)
