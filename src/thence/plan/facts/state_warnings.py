"""What a file of TEF-SPARQL may keep for ever (TEF-77)."""

from __future__ import annotations

from collections.abc import Iterator

from thence.algebra.tef_sparql import Absent, Arm, Conjunction, Kind, OnInit, Plain, Related, TefFile, TemporalRelation
from thence.algebra.traversal import nodes
from thence.program.facts.kinds import Kinds


def state_warnings(file: TefFile, kinds: Kinds) -> Iterator[str]:
    """A warning for each statement whose event patterns, without WITHIN, store events or ask for facts that have
    ended."""
    for number, statement in enumerate(file.statements, 1):
        is_over_facts = kinds.statements[number - 1] is not Kind.EVENT
        arms = [arm for arm in statement.arms if not (isinstance(arm, Plain) and is_over_facts)]
        if statement.within is not None:
            continue
        word = next((word for arm in arms for word in _stored(arm, kinds)), None)
        asking = next((word for arm in arms for word in _asking(arm, kinds)), None)
        if word is not None:
            yield f"Statement {number} keeps events for ever: {word} may match them at any later time. Try: WITHIN"
        elif asking is not None:
            yield f"Statement {number} keeps facts for ever: {asking} asks for them if an event lasts. Try: WITHIN"


def _stored(arm: Arm, kinds: Kinds) -> Iterator[str]:
    """The operators of an arm that wait for another event."""
    if isinstance(arm, OnInit):
        return
    for node in nodes(arm):
        match node:
            case Related(TemporalRelation.SEQ | TemporalRelation.BEFORE as relation):
                yield relation.value
            case Conjunction() if _is_event(node.left, kinds) and _is_event(node.right, kinds):
                yield '","'
            case Absent() if _is_event(node.left, kinds) and _is_event(node.right, kinds):
                yield "WITHOUT"
            case _:
                pass


def _asking(arm: Arm, kinds: Kinds) -> Iterator[str]:
    """The operators of an arm that ask for facts which have ended, if an event lasts."""
    if isinstance(arm, OnInit):
        return
    for node in nodes(arm):
        match node:
            case Related(TemporalRelation.WITH as relation):
                yield relation.value
            case Absent() if _is_event(node.left, kinds) and not _is_event(node.right, kinds):
                yield "WITHOUT"
            case _:
                pass


def _is_event(pattern: object, kinds: Kinds) -> bool:
    return kinds.of_pattern(pattern) is Kind.EVENT  # type: ignore[arg-type]
