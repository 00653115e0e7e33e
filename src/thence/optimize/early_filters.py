"""Filters across events → demands of the earliest part at which they are decided (Section 7.2.1).

A run that can't pass a later filter is dropped as soon as that is known. Which event that earlier part takes is another
matter: `;` takes the first that joins, be the run doomed or not. So a demand is no filter of the earlier part.
"""

from __future__ import annotations

from dataclasses import replace

from thence.algebra.expressions import Expression, Variable
from thence.algebra.spaseq import Quantifier, SequencePart, SequenceQuery
from thence.algebra.spaseq_analysis import alternatives, certain_in, locals_of, occurrences
from thence.algebra.variables import mentioned
from thence.optimize.repeatable import repeatable

_MANDATORY = (Quantifier.ONE, Quantifier.PLUS)


def early_filters(query: SequenceQuery) -> SequenceQuery:
    """Each part with what every later mandatory part will ask, and what its own join decides first. The later filters
    stay, for the arms in which no earlier part decides."""
    demands: list[list[Expression]] = [[] for _ in query.sequence]
    decided = _decided(query)
    for index, part in enumerate(query.sequence):
        if part.quantifier in _MANDATORY:
            for condition in _asked(query, part):
                for earlier in _deciding(query, mentioned(condition), decided[:index]):
                    demands[earlier].append(condition)
    parts = (
        replace(part, demands=tuple(dict.fromkeys((*part.demands, *found))))
        for part, found in zip(query.sequence, demands, strict=True)
    )
    return replace(query, sequence=tuple(parts))


def _asked(query: SequenceQuery, part: SequencePart) -> list[Expression]:
    """The conditions that each alternative of a part's operand has. Not those with RAND() and the like, which may hold
    the next time."""
    sets = [
        dict.fromkeys(test for found in alternative for test in query.gpm(found.gpm).filters)
        for alternative in alternatives(part.operand)
    ]
    return [test for test in sets[0] if all(test in each for each in sets) and repeatable(test)]


def _decided(query: SequenceQuery) -> list[frozenset[Variable]]:
    """For each part, what a run that it has joined has bound for good; nothing for a negation.

    A closure's locals change with each iteration, and mean their last value outside; so they are settled only when the
    part after it has joined.
    """
    found: list[frozenset[Variable]] = []
    before: frozenset[Variable] = frozenset()
    for part in query.sequence:
        if part.quantifier is Quantifier.NOT:
            found.append(frozenset())
            continue
        here = certain_in(query, part.operand)
        found.append(before | (here - locals_of(query, occurrences(part.operand)[0].place)))
        if part.quantifier in _MANDATORY:
            before |= here
    return found


def _deciding(query: SequenceQuery, names: frozenset[Variable], decided: list[frozenset[Variable]]) -> list[int]:
    """The first part that decides, and where that is optional the next ones, up to one that is there in every arm."""
    found: list[int] = []
    for index, known in enumerate(decided):
        if names <= known and query.sequence[index].quantifier is not Quantifier.NOT:
            found.append(index)
            if query.sequence[index].quantifier in _MANDATORY:
                break
    return found
