"""What `explain` shows of a file of TEF-SPARQL: the statements, the facts, and what starts and ends them."""

from __future__ import annotations

from thence.algebra.show import show
from thence.algebra.tef_sparql import ConstructStatement, Kind, OnInit, Plain, Replace, SelectStatement, Since, Until
from thence.program.description import Arrow, Box, Description, single_shard_text, streams_data
from thence.program.facts.kinds import predicate_kinds
from thence.program.facts.program import FactsProgram
from thence.program.tables import OBJECT, SUBJECT

_LONGEST = 60  # characters of a label
_VERBS = {Since: "starts", Until: "ends", Replace: "replaces", OnInit: "starts at first", Plain: "derives"}


def describe(program: FactsProgram) -> Description:
    """A compiled file."""
    written = show(program.file)
    kinds = predicate_kinds(program.file, None).predicates
    by_kind = {kind: sorted(str(name) for name, each in kinds.items() if each.kind is kind) for kind in Kind}
    changes = [
        f"statement {number}: {_VERBS[type(arm)]} {_heads(statement)}"
        for number, statement in enumerate(program.file.statements, 1)
        for arm in statement.arms
        if isinstance(statement, ConstructStatement)
    ]
    selects = [
        f"statement {number}: emits {', '.join(map(str, statement.variables))}"
        for number, statement in enumerate(program.file.statements, 1)
        if isinstance(statement, SelectStatement)
    ]
    lines = [
        "engine: events and facts, one event triple at a time",
        *(f"{kind.value} predicates: {', '.join(listed)}" for kind, listed in by_kind.items() if listed),
        *changes,
        *selects,
        f"key: {_key(program)}",
    ]
    boxes, arrows = _diagram(program)
    return Description(
        text=(*written.splitlines(), "", *lines),
        data={
            "algebra": written,
            "streams": streams_data(program.streams),
            "engine": "facts",
            "kinds": {kind.value: listed for kind, listed in by_kind.items()},
            "statements": [*changes, *selects],
            "key": list(program.shard_key.names),
            "one_shard": program.shard_key.reason,
        },
        boxes=tuple(boxes),
        arrows=tuple(arrows),
        end="rows" if program.file.selects else "facts and events",
    )


def _key(program: FactsProgram) -> str:
    """By what events are sharded: the subject of some predicates, the object of others."""
    key = program.shard_key
    if not key.names:
        return single_shard_text(key)
    by_position = {
        position.name: ", ".join(str(name) for name, own in program.key_positions if own == position)
        for position in (SUBJECT, OBJECT)
    }
    shown = "; ".join(f"the {position} of {listed}" for position, listed in by_position.items() if listed)
    if not key.unless:
        return shown
    return f"{shown} (one shard if the background has one of {', '.join(map(str, key.unless))})"


def _heads(statement: ConstructStatement) -> str:
    return ", ".join(dict.fromkeys(str(each.predicate) for each in statement.head))


def _diagram(program: FactsProgram) -> tuple[list[Box], list[Arrow]]:
    boxes, arrows = [], []
    for number, statement in enumerate(program.file.statements, 1):
        if isinstance(statement, ConstructStatement):
            label = f"{number}: CONSTRUCT {_heads(statement)}"
        else:
            label = f"{number}: SELECT {' '.join(map(str, statement.variables))}"
        boxes.append(Box(number, label[:_LONGEST]))
        verbs = dict.fromkeys(_VERBS[type(arm)] for arm in statement.arms)
        arrows.append(Arrow(None, (number,), (", ".join(verbs),)))
        if isinstance(statement, SelectStatement):
            arrows.append(Arrow(number, (), ("rows",), emits=True))
    return boxes, arrows
