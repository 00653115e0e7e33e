"""SPAseQ's rules, algebra → algebra: a rule changes how a query is answered, but not its answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from thence.algebra.expressions import Call, Exists, Expression, Variable
from thence.algebra.patterns import Filter, Graph, Join, Pattern
from thence.algebra.show import show
from thence.algebra.spaseq import (
    Gpm,
    LateGraph,
    Quantifier,
    Selection,
    SequencePart,
    SequenceQuery,
    alternatives,
    certain_in,
    locals_of,
    occurrences,
    variables_of,
    whole_pattern,
)
from thence.algebra.traversal import conjuncts, nodes
from thence.algebra.variables import always_bound, in_scope, mentioned, parts
from thence.errors import QueryError
from thence.match.solve import reason_for_reference

# Whether an expression or pattern says the same whenever it is asked.

_CHANGING = frozenset({"RAND", "UUID", "STRUUID", "BNODE", "NOW"})


def repeatable(node: object) -> bool:
    """Whether the condition gives the same result later: False if it depends on chance, on the time, or on a graph that
    is gone by then.

    >>> from thence.lang.sparql.parser import parse_expression
    >>> repeatable(parse_expression("?a > 1")), repeatable(parse_expression("?a > RAND()"))
    (True, False)
    """
    return not any(
        isinstance(part, Exists) or (isinstance(part, Call) and part.function in _CHANGING) for part in nodes(node)
    )


# `FILTER(a && b)` → `FILTER(a) FILTER(b)`.


def split_filters(query: SequenceQuery) -> SequenceQuery:
    """Each filter's conditions apart. A filter lets through what is true, and `a && b` is true where both are: an error
    on either side is never true, whatever the other side says (SPARQL 1.1, 17.2)."""
    gpms = (replace(gpm, filters=tuple(c for test in gpm.filters for c in conjuncts(test))) for gpm in query.gpms)
    return replace(query, gpms=tuple(gpms))


# Filters across events → demands of the earliest part at which they are decided (Section 7.2.1).
#
# A run that can't pass a later filter is dropped as soon as that is known. Which event that earlier part takes is
# another matter: `;` takes the first that joins, be the run doomed or not. So a demand is not a filter of the earlier
# part.

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


# Filters that a GPM's own event decides → its graph pattern, where they are tested once for each event.


def push_filters(query: SequenceQuery) -> SequenceQuery:
    """Moves filters into the graph pattern of their GPM where the GPM alone decides all their variables.

    Other filters are checked on the merged mapping of a run and a match that joins it. PARTITION BY judges GPMs without
    their filters, so it must be read from the query before this rule.
    """
    return replace(query, gpms=tuple(_pushed(query, gpm) for gpm in query.gpms))


def _pushed(query: SequenceQuery, gpm: Gpm) -> Gpm:
    decided = decided_by(query, gpm)
    for test in gpm.filters:
        if mentioned(test) <= decided:
            gpm = push(gpm, test)
    return gpm


def decided_by(query: SequenceQuery, gpm: Gpm) -> frozenset[Variable]:
    """The variables whose value in a run is decided by a match of the GPM alone: those that it always binds, and those
    that no other place in the sequence binds, which are unbound in the run if they are unbound here."""
    return always_bound(whole_pattern(gpm)) | _private(query, gpm)


def push(gpm: Gpm, condition: Expression) -> Gpm:
    """The GPM with a condition, one of its filters or not, in its graph pattern: together with those GRAPH blocks that
    the condition is about."""
    named = {node for node in nodes(condition) if isinstance(node, Variable)}
    asked = named - always_bound(gpm.pattern)
    joined: Pattern = gpm.pattern
    apart = []
    for block in gpm.graphs:
        if asked.isdisjoint(in_scope(block)):
            apart.append(block)
        else:
            joined = Join(joined, block)
    filters = tuple(test for test in gpm.filters if test is not condition)
    return replace(gpm, pattern=Filter(condition, joined), graphs=tuple(apart), filters=filters)


def _private(query: SequenceQuery, gpm: Gpm) -> frozenset[Variable]:
    """The variables that nothing but this GPM binds, and only in one place."""
    places = [found for part in query.sequence for found in occurrences(part.operand)]
    if sum(found.gpm == gpm.name for found in places) != 1:
        return frozenset()
    others = {found.gpm for found in places if found.gpm != gpm.name}
    elsewhere = (variable for name in others for variable in variables_of(query.gpm(name)))
    return frozenset(variables_of(gpm)).difference(elsewhere)


# GRAPH blocks → the end: joined with complete matches, not with every event (Definition 15; 7.2, 8.2 Question 2).


def late_graph(query: SequenceQuery) -> SequenceQuery:
    """Blocks move where no choice depends on them: `;` asks what joins, `!` what is absent, `+` what is an iteration.
    A GPM that is in several places keeps its blocks, since they bind one variable in all of them."""
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
    moved = [block for block in gpm.graphs if repeatable(block) and reason_for_reference(block) is None]
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


# `FILTER EXISTS { … }` → the graph pattern of its GPM: a run has no graph that it could be asked of.


def place_exists(query: SequenceQuery) -> SequenceQuery:
    """Bind EXISTS to its GPM's event. This is the meaning of EXISTS, so it is applied without optimisation too.
    QueryError if other events have a say in the same condition."""
    return replace(query, gpms=tuple(_placed(query, gpm) for gpm in query.gpms))


def _placed(query: SequenceQuery, gpm: Gpm) -> Gpm:
    conditions = [c for test in gpm.filters for c in (conjuncts(test) if _asks(test) else [test])]
    decided = decided_by(query, gpm)
    placed = replace(gpm, filters=tuple(condition for condition in conditions if not _asks(condition)))
    for condition in filter(_asks, conditions):
        foreign = mentioned(condition) - decided
        if foreign:
            raise _mixed(gpm, condition, foreign)
        placed = push(placed, condition)
    return placed


def _asks(expression: Expression) -> bool:
    return any(isinstance(part, Exists) for part in parts(expression))


def _mixed(gpm: Gpm, condition: Expression, foreign: frozenset[Variable]) -> QueryError:
    named = ", ".join(sorted(map(str, foreign)))
    return QueryError(
        f"A FILTER of GPM {gpm.name} combines EXISTS, which reads its own event, with {named}, which another event may"
        f" bind: {show(condition)}.",
        hint="a FILTER of its own for each",
    )


# Algebra → algebra: one rule, one file. A rule changes how a query is answered, and none of its answers.

Rule: TypeAlias = Callable[[SequenceQuery], SequenceQuery]

RULES: tuple[Rule, ...] = (
    split_filters,  # first: of two conditions that && joins, one may be decided long before the other
    early_filters,  # before filters are pushed: what one GPM can decide, an earlier one that shares its variables can
    push_filters,  # before GRAPH blocks are moved: a filter over a block's variables keeps the block where it is
    late_graph,
)
"""In this order."""


NOT_OF_PARTS = frozenset({early_filters, late_graph})
"""Rules that keep all answers, and not which partial matches there are."""


def rewritten(query: SequenceQuery, *, optimise: bool = True, partial: bool = False) -> SequenceQuery:
    """The query as the planner takes it. Without `optimise` it has only been made such that it can be planned; where
    partial matches are asked for too (`partial`), no rule may change them."""
    query = place_exists(query)
    for rule in RULES if optimise else ():
        if not (partial and rule in NOT_OF_PARTS):
            query = rule(query)
    return query
