"""Guarantees about a pattern's solutions: which variables are always bound, and whether solutions never repeat."""

from __future__ import annotations

from typing import assert_never

from thence.algebra.expressions import Variable
from thence.algebra.patterns import (
    Bgp,
    Extend,
    Filter,
    Graph,
    Join,
    LeftJoin,
    MatchPattern,
    Minus,
    PathPattern,
    Pattern,
    SubSelect,
    TemporalJoin,
    TemporalOperator,
    Union,
    Values,
    WindowPattern,
)
from thence.algebra.variables import columns, in_scope
from thence.rdf.terms import BlankNode


def always_bound(pattern: Pattern) -> frozenset[Variable]:
    """The variables that no solution leaves unbound; not those of BIND, whose expression may fail.

    >>> from thence.lang.sparql.parser import parse_pattern
    >>> pattern = parse_pattern("{ ?a <x:p> ?b OPTIONAL { ?b <x:q> ?c } VALUES (?d ?e) { (1 2) (3 UNDEF) } }")
    >>> sorted(str(variable) for variable in always_bound(pattern))
    ['?a', '?b', '?d']
    """
    match pattern:
        case Bgp():
            return frozenset(in_scope(pattern))
        case Join():
            return always_bound(pattern.left) | always_bound(pattern.right)
        case LeftJoin() | Minus():
            return always_bound(pattern.left)
        case TemporalJoin(operator):
            sides = (always_bound(pattern.left), always_bound(pattern.right))
            if operator is TemporalOperator.OPTIONALSEQ:
                return sides[1]
            return sides[0] if operator is TemporalOperator.EQUALSOPTIONAL else sides[0] | sides[1]
        case Union():
            return always_bound(pattern.left) & always_bound(pattern.right)
        case Filter() | Extend() | WindowPattern():
            return always_bound(pattern.pattern)
        case MatchPattern():
            return frozenset()  # what its EVENTs bind is known to the query alone
        case Graph():
            return always_bound(pattern.pattern) | ({pattern.name} if isinstance(pattern.name, Variable) else set())
        case Values():
            columns_of_values = zip(pattern.variables, zip(*pattern.rows, strict=True), strict=bool(pattern.rows))
            return frozenset(variable for variable, terms in columns_of_values if None not in terms)
        case SubSelect():
            return always_bound(pattern.select.where).intersection(columns(pattern.select))
        case _:
            assert_never(pattern)


def never_repeats(pattern: Pattern) -> bool:
    """Whether no solution can come twice: all that a solution depends on, it shows.

    >>> from thence.lang.sparql.parser import parse_pattern
    >>> never_repeats(parse_pattern("{ ?a <x:p> ?b FILTER(?b > 1) }")), never_repeats(parse_pattern("{ [] <x:p> ?b }"))
    (True, False)
    """
    match pattern:
        case Bgp():
            return not any(
                isinstance(triple, PathPattern)
                or any(isinstance(slot, BlankNode) for slot in (triple.subject, triple.predicate, triple.object))
                for triple in pattern.triples
            )
        case Filter() | Extend():
            return never_repeats(pattern.pattern)
        case _:
            return False
