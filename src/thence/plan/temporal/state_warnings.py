"""Warnings about state that stays unbounded (EP-77, EP-79)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from thence.program.temporal.network import (
    UNBOUNDED,
    Combine,
    Network,
    Node,
    OptionalCombine,
    Relation,
    Statement,
    Timeless,
)

_NAMES = {
    Relation.ANY: "a join",
    Relation.SEQ: "SEQ",
    Relation.UNTIL: "OPTIONAL",
    Relation.SEQ_UNTIL: "OPTIONALSEQ",
}
_CURE = 'FILTER(getDURATION() < "PT1H"^^xsd:dayTimeDuration), or < 100 where times are ticks'


def state_warnings(network: Network) -> Iterator[str]:
    """One warning for each statement that keeps solutions for ever."""
    for statement in network.statements:
        name = f"{'CONSTRUCT' if statement.is_rule else 'SELECT'} {statement.number}"
        outside = sorted({_NAMES[each.relation] for each in _optional(network, statement)})
        kept = sorted({_NAMES[each.relation] for each in _joins(network, statement)})
        if outside and not kept:
            sides = " and ".join(outside)
            yield (
                f"{name} keeps the optional side of {sides} for ever: a bound on getDURATION() outside of it removes "
                f"rows, and leaves none bare. Try: {_CURE}, inside its group"
            )
        elif kept or outside:
            parts = " and ".join(dict.fromkeys([*kept, *outside]))
            yield f"{name} keeps the solutions of {parts} for ever: nothing bounds getDURATION(). Try: {_CURE}"


def _joins(network: Network, statement: Statement) -> Iterator[Combine]:
    for node in _nodes(network, statement):
        if isinstance(node, Combine) and node.relation is not Relation.EQUALS:
            sides = (node.left,) if node.relation is Relation.SEQ else (node.left, node.right)
            if any(_grows(network, side) for side in sides):
                yield node


def _optional(network: Network, statement: Statement) -> Iterator[OptionalCombine]:
    for node in _nodes(network, statement):
        is_kept = isinstance(node, OptionalCombine) and node.relation is not Relation.EQUALS
        if isinstance(node, OptionalCombine) and is_kept and _grows(network, node.optional):
            yield node


def _nodes(network: Network, statement: Statement) -> Sequence[Node]:
    return network.nodes[statement.first : statement.root + 1]


def _grows(network: Network, number: int) -> bool:
    return network.bounds[number] == UNBOUNDED and not isinstance(network.nodes[number], Timeless)
