"""GRAPH blocks → the end: joined with complete matches, not with every event (Definition 15; 7.2, 8.2 Question 2)."""

from __future__ import annotations

from dataclasses import replace

from thence.algebra.expressions import Variable
from thence.algebra.guarantees import always_bound
from thence.algebra.patterns import Graph
from thence.algebra.spaseq import Gpm, LateGraph, Quantifier, Selection, SequencePart, SequenceQuery
from thence.algebra.spaseq_analysis import occurrences, variables_of
from thence.algebra.variables import in_scope, mentioned
from thence.match.evaluator_choice import reason_for_plain
from thence.optimize.repeatable import repeatable


def late_graph(query: SequenceQuery) -> SequenceQuery:
    """Blocks move where no choice depends on them: `;` asks what joins, `!` what is absent, `+` what is an iteration.
    A GPM that stands in several places keeps its blocks, since they bind one variable in all of them."""
    places = [found for part in query.sequence for found in occurrences(part.operand)]
    late = [*query.late]
    gpms = {gpm.name: gpm for gpm in query.gpms}
    for index, part in enumerate(query.sequence):
        if not _chooses_by_time_alone(index, part):
            continue
        for found in occurrences(part.operand):
            if sum(other.gpm == found.gpm for other in places) == 1:
                gpm = gpms[found.gpm]
                moved = _movable(query, gpm)
                late += [LateGraph(found.place, block) for block in moved]
                gpms[gpm.name] = replace(gpm, graphs=tuple(block for block in gpm.graphs if block not in moved))
    return replace(query, gpms=tuple(gpms.values()), late=tuple(late))


def _chooses_by_time_alone(index: int, part: SequencePart) -> bool:
    """Whether it does not matter to any other event if the part's event finds something in the background."""
    free = index == 0 or part.selection in (Selection.STRICT, Selection.ANY)
    return free and part.quantifier in (Quantifier.ONE, Quantifier.OPTIONAL)


def _movable(query: SequenceQuery, gpm: Gpm) -> list[Graph]:
    """The blocks of a GPM that nothing else needs the variables of. What a block shares with the event, the event must
    always bind; blocks that share more with each other move together or not at all."""
    certain = always_bound(gpm.pattern)
    taken = _elsewhere(query, gpm).union(in_scope(gpm.pattern)) - certain
    moved = [block for block in gpm.graphs if repeatable(block) and reason_for_plain(block) is None]
    while True:
        kept = [block for block in gpm.graphs if block not in moved]
        needed = taken.union(*(_own(block, certain) for block in kept))
        still = [block for block in moved if needed.isdisjoint(_own(block, certain))]
        if len(still) == len(moved):
            return moved
        moved = still


def _own(block: Graph, certain: frozenset[Variable]) -> frozenset[Variable]:
    return frozenset(in_scope(block)) - certain


def _elsewhere(query: SequenceQuery, gpm: Gpm) -> frozenset[Variable]:
    """The variables of all other GPMs, of all filters and demands, and of PARTITION BY."""
    others = (variable for other in query.gpms if other != gpm for variable in variables_of(other))
    filters = (test for each in query.gpms for test in each.filters)
    demands = (test for part in query.sequence for test in part.demands)
    asked = (variable for test in (*filters, *demands) for variable in mentioned(test))
    return frozenset((*others, *asked, *query.partition))
