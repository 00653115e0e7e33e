"""Facts derived from a SPAseQ sequence: its arms, the local variables of closures, the variables of GPMs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from typing import TypeAlias, assert_never

from thence.algebra.expressions import Variable
from thence.algebra.guarantees import always_bound
from thence.algebra.patterns import Join, Pattern
from thence.algebra.spaseq import (
    Conjunction,
    Disjunction,
    Gpm,
    Occurrence,
    Operand,
    Quantifier,
    SequencePart,
    SequenceQuery,
)
from thence.algebra.variables import in_scope

Arm: TypeAlias = tuple[SequencePart, ...]
"""A sequence without `?`. Its first part has no selection."""


def occurrences(operand: Operand) -> tuple[Occurrence, ...]:
    """The GPM names of an operand, in the order of the text.

    >>> [found.gpm for found in occurrences(Conjunction(Occurrence("A", 0), Occurrence("B", 1)))]
    ['A', 'B']
    """
    found: list[Occurrence] = []
    waiting = [operand]
    while waiting:
        node = waiting.pop()
        match node:
            case Occurrence():
                found.append(node)
            case Conjunction() | Disjunction():
                waiting += [node.right, node.left]
            case _:
                assert_never(node)
    return tuple(found)


def alternatives(operand: Operand) -> list[tuple[Occurrence, ...]]:
    """An operand as a disjunction of conjunctions (SPAseQ, Definitions 8, 9).

    >>> a, b, c = (Occurrence(name, place) for place, name in enumerate("ABC"))
    >>> [[found.gpm for found in each] for each in alternatives(Conjunction(Disjunction(a, b), c))]
    [['A', 'C'], ['B', 'C']]
    """
    match operand:
        case Occurrence():
            return [(operand,)]
        case Disjunction():
            return alternatives(operand.left) + alternatives(operand.right)
        case Conjunction():
            pairs = product(alternatives(operand.left), alternatives(operand.right))
            return [left + right for left, right in pairs]
        case _:
            assert_never(operand)


def last_places(operand: Operand) -> frozenset[int]:
    """The places whose event is the last of a match of the operand, in the order of the text: it ends an iteration.

    >>> sorted(last_places(Conjunction(Occurrence("A", 0), Disjunction(Occurrence("B", 1), Occurrence("A", 2)))))
    [1, 2]
    """
    match operand:
        case Occurrence():
            return frozenset({operand.place})
        case Conjunction():
            return last_places(operand.right)
        case Disjunction():
            return last_places(operand.left) | last_places(operand.right)
        case _:
            assert_never(operand)


def variables_of(gpm: Gpm) -> tuple[Variable, ...]:
    """What a GPM may bind: the variables of its graph pattern, then those of its GRAPH blocks, each once. Filters bind
    nothing."""
    blocks = (variable for graph in gpm.graphs for variable in in_scope(graph))
    return tuple(dict.fromkeys((*in_scope(gpm.pattern), *blocks)))


def whole_pattern(gpm: Gpm) -> Pattern:
    """A GPM's graph pattern joined with its GRAPH blocks (Definition 15)."""
    pattern: Pattern = gpm.pattern
    for block in gpm.graphs:
        pattern = Join(pattern, block)
    return pattern


def certain_in(query: SequenceQuery, operand: Operand) -> frozenset[Variable]:
    """What every match of an operand binds."""
    return frozenset[Variable].intersection(
        *(
            frozenset[Variable]().union(*(always_bound(whole_pattern(query.gpm(found.gpm))) for found in alternative))
            for alternative in alternatives(operand)
        )
    )


def arms(query: SequenceQuery) -> tuple[Arm, ...]:
    """`B?`: all combinations, with and without; a dropped part takes the operator to its left with it (to its right, if
    it is first). An arm without parts gives nothing, and is none. Occurrences keep their places.

    >>> from thence.lang.spaseq.parser import parse
    >>> query = parse('''SELECT * WITHIN 9 TICKS FROM STREAM S <x:s>
    ...     { SEQ (A? ; B , C?) DEFINE GPM A ON S { ?a <x:a> 1 } DEFINE GPM B ON S { ?b <x:b> 1 }
    ...       DEFINE GPM C ON S { ?c <x:c> 1 } }''')
    >>> [[part.operand.gpm for part in arm] for arm in arms(query)]
    [['A', 'B', 'C'], ['A', 'B'], ['B', 'C'], ['B']]
    """
    choices = [_choices(part) for part in query.sequence]
    combined = (tuple(part for chosen in choice for part in chosen) for choice in product(*choices))
    return tuple((replace(first, selection=None), *rest) for first, *rest in filter(None, combined))


def _choices(part: SequencePart) -> tuple[Arm, ...]:
    if part.quantifier is Quantifier.OPTIONAL:
        return ((replace(part, quantifier=Quantifier.ONE),), ())
    return ((part,),)


def locals_of(query: SequenceQuery, place: int) -> frozenset[Variable]:
    """The locals of the closure in which the occurrence of that place stands; none, if it stands in no closure.

    A variable is local to a closure if it stands in the graph pattern or GRAPH block of no GPM outside its operand, in
    the query as written; each occurrence of a GPM's name counts, negated ones too. A run has one partition, so what it
    is partitioned by is local to nothing.
    """
    closure = next(part for part in query.sequence if any(found.place == place for found in occurrences(part.operand)))
    if closure.quantifier is not Quantifier.PLUS:
        return frozenset()
    inside = bound_by(query, [closure])
    return inside - bound_by(query, (part for part in query.sequence if part is not closure)) - {*query.partition}


def bound_by(query: SequenceQuery, parts: Iterable[SequencePart]) -> frozenset[Variable]:
    """The variables of all GPMs that stand in these parts."""
    names = {found.gpm for part in parts for found in occurrences(part.operand)}
    return frozenset(variable for name in names for variable in variables_of(query.gpm(name)))
