"""What a file of TEF-SPARQL may keep for ever (TEF-77)."""

from __future__ import annotations

from collections.abc import Iterator

from thence.algebra.tef_sparql import (
    Absent,
    Conjunction,
    Kind,
    OnInit,
    Plain,
    Related,
    TefFile,
    TefStatement,
    TemporalRelation,
)
from thence.algebra.traversal import nodes
from thence.kernel.facts.pattern_compiler import are_alike
from thence.program.facts.asked_times import endings, restarts
from thence.program.facts.kinds import Kinds

_ELSEWHERE = "Try: a CONSTRUCT FACT of its own for it"


def state_warnings(file: TefFile, kinds: Kinds) -> Iterator[str]:
    """A warning for each statement whose patterns store events or ask for facts that have ended, as long as that may
    be."""
    for number, statement in enumerate(file.statements, 1):
        found = next(_of_statement(statement, kinds.statements[number - 1], kinds), None)
        if found is not None:
            yield f"Statement {number} keeps {found}"


def _of_statement(statement: TefStatement, kind: Kind, kinds: Kinds) -> Iterator[str]:
    is_over_facts = kind is not Kind.EVENT
    arms = tuple(arm for arm in statement.arms if not isinstance(arm, OnInit))
    events = tuple(arm for arm in arms if not (isinstance(arm, Plain) and is_over_facts))
    if statement.within is None:
        for word in _stored(events, kinds):
            yield f"events for ever: {word} may match them at any later time. Try: WITHIN"
    for word in _stored(_absent(arms, kinds), kinds):
        yield (
            f"events for ever: {word} right of WITHOUT may match them at any later time. "
            "Try: a CONSTRUCT EVENT of its own for it, with WITHIN"
        )
    for word, back in endings(statement, kind, kinds):
        if back is None:
            if is_over_facts or statement.within is not None or _is_of_facts(arms, word, kinds):
                yield f"facts for ever: {word} asks when they ended. {_ELSEWHERE}"
            else:
                yield f"facts for ever: {word} asks for them if an event lasts. Try: WITHIN"
    for pattern, back in restarts(statement, kind, kinds):
        if not are_alike(pattern, statement):
            yield "events as long as facts hold: WITHOUT asks for each of them. Try: UNTIL, which ends the facts"
        elif back is None:
            yield f"events as long as facts hold: WITHOUT asks for each of them. {_ELSEWHERE}"


def _stored(part: object, kinds: Kinds) -> Iterator[str]:
    """The operators that wait for another event."""
    for node in nodes(part):
        match node:
            case Related(TemporalRelation.SEQ | TemporalRelation.BEFORE as relation):
                yield relation.value
            case Conjunction() if _is_event(node.left, kinds) and _is_event(node.right, kinds):
                yield '","'
            case Absent() if _is_event(node.left, kinds) and _is_event(node.right, kinds):
                yield "WITHOUT"
            case _:
                pass


def _absent(part: object, kinds: Kinds) -> tuple[object, ...]:
    """The events right of WITHOUT: they may have begun earlier than WITHIN says."""
    return tuple(node.right for node in nodes(part) if isinstance(node, Absent) and _is_event(node.right, kinds))


def _is_of_facts(part: object, word: str, kinds: Kinds) -> bool:
    """Whether an operator stands between facts."""
    absent = [node for node in nodes(part) if isinstance(node, Absent) and not _is_event(node.right, kinds)]
    return word == "WITHOUT" and not any(_is_event(node.left, kinds) for node in absent)


def _is_event(pattern: object, kinds: Kinds) -> bool:
    return kinds.of_pattern(pattern) is Kind.EVENT  # type: ignore[arg-type]
