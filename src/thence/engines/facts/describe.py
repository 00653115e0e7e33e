"""The description of a file of TEF-SPARQL for `explain`: statements, facts, and what starts and ends them."""

from __future__ import annotations

from collections.abc import Iterator

from thence.algebra.patterns import TriplePattern
from thence.algebra.show import show
from thence.algebra.tef_sparql import (
    ConstructStatement,
    Kind,
    OnEnd,
    OnInit,
    OnStart,
    Plain,
    Replace,
    SelectStatement,
    Since,
    TefStatement,
    Until,
)
from thence.engines.facts.kind_checks import Kinds, predicate_kinds
from thence.engines.facts.program import FactsProgram
from thence.explain.description import Arrow, Description, Node, key_text, order_clauses
from thence.interface.tables import OBJECT, SUBJECT
from thence.rdf.terms import IRI

_VERBS = {Since: "starts", Until: "ends", Replace: "replaces", OnInit: "starts at first", Plain: "derives"}


def describe(program: FactsProgram) -> Description:
    """A compiled file."""
    kinds = predicate_kinds(program.file, None)
    names = {*kinds.predicates, *(name for each in program.file.statements for name, _ in _read(each.arms))}
    by_kind = {kind: sorted(str(name) for name in names if kinds.of(name) is kind) for kind in Kind}
    statements = [
        f"statement {number}: {effect}"
        for number, statement in sorted(
            enumerate(program.file.statements, 1), key=lambda each: isinstance(each[1], SelectStatement)
        )
        for effect in _effects(statement)
    ]
    boxes, arrows = _diagram(program, kinds)
    predicates = (Node(f"{kind.value} predicates", (", ".join(listed),)) for kind, listed in by_kind.items() if listed)
    return Description(
        algebra=show(program.file),
        json={
            "engine": "facts",
            "kinds": {kind.value: listed for kind, listed in by_kind.items()},
            "statements": statements,
            "key": program.shard_key.names,
            "one_shard": program.shard_key.reason,
        },
        sections={"Predicates": tuple(predicates), "Statements": tuple(map(Node, statements))},
        clauses=(
            "engine: events and facts, one event triple at a time",
            *order_clauses(program.order, "order"),
            f"key: {_key(program)}",
        ),
        boxes=tuple(boxes),
        arrows=tuple(arrows),
        end="rows" if program.file.selects else "facts and events",
    )


def _effects(statement: TefStatement) -> list[str]:
    if isinstance(statement, SelectStatement):
        return [f"emits {', '.join(map(str, statement.variables))}"]
    return [f"{_VERBS[type(arm)]} {_heads(statement)}" for arm in statement.arms]


def _key(program: FactsProgram) -> str:
    """The shard key: the subject of some predicates, the object of others."""
    key = program.shard_key
    by_position = {
        position.name: ", ".join(str(name) for name, own in program.key_positions if own == position)
        for position in (SUBJECT, OBJECT)
    }
    shown = "; ".join(f"the {position} of {listed}" for position, listed in by_position.items() if listed)
    unless = f" (one shard if the background has one of {', '.join(map(str, key.unless))})" if key.unless else ""
    return key_text(key, shown + unless)


def _heads(statement: ConstructStatement) -> str:
    return ", ".join(dict.fromkeys(str(each.predicate) for each in statement.head))


def _diagram(program: FactsProgram, kinds: Kinds) -> tuple[list[Node], list[Arrow]]:
    """Statements and facts are boxes. Arrows say which events and facts a statement reads, and what it starts, ends,
    replaces or derives."""
    statements = program.file.statements
    makes = [_made(each) for each in statements]
    facts = [each for each in dict.fromkeys(sum(makes, ())) if kinds.of(each) is Kind.FACT]
    numbers = {each: len(statements) + place for place, each in enumerate(facts, 1)}
    last = len(statements) + len(facts) + 1  # SELECTs are at the right
    boxes = [
        Node(_label(number, each), number=number, layer=last if isinstance(each, SelectStatement) else None)
        for number, each in enumerate(statements, 1)
    ]
    boxes += [Node(f"fact {name}", number=number) for name, number in numbers.items()]
    arrows: list[Arrow] = []
    for number, statement in enumerate(statements, 1):
        reads = dict.fromkeys(_read(statement.arms))
        events = [name for name, _ in reads if name not in numbers and kinds.of(name) is Kind.EVENT]
        makers = {name: [maker for maker, made in enumerate(makes, 1) if name in made] for name in events}
        if not reads or any(not found for found in makers.values()):
            outside = ", ".join(str(name) for name, found in makers.items() if not found)
            arrows.append(Arrow(None, (number,), label=outside))
        arrows += [Arrow(maker, (number,), label=f"event {name}") for name in makers for maker in makers[name]]
        for name in numbers:
            words = [word for read, word in reads if read == name]
            if words:
                arrows.append(Arrow(numbers[name], (number,), label=", ".join(words)))
        made = tuple(numbers[name] for name in makes[number - 1] if name in numbers)
        if made:
            verbs = ", ".join(dict.fromkeys(_VERBS[type(arm)] for arm in statement.arms))
            arrows.append(Arrow(number, made, verbs))
        is_output = isinstance(statement, SelectStatement) or not (program.file.selects or made)
        if is_output:
            arrows.append(Arrow(number, (), label="rows" if program.file.selects else "events", emits=True))
    if not program.file.selects:
        arrows += [Arrow(number, (), label="when it ends", emits=True) for number in numbers.values()]
    return boxes, arrows


def _label(number: int, statement: TefStatement) -> str:
    if isinstance(statement, ConstructStatement):
        return f"{number}: CONSTRUCT {_heads(statement)}"
    return f"{number}: SELECT {' '.join(map(str, statement.variables))}"


def _made(statement: TefStatement) -> tuple[IRI, ...]:
    if not isinstance(statement, ConstructStatement):
        return ()
    return tuple(dict.fromkeys(each.predicate for each in statement.head if isinstance(each.predicate, IRI)))


def _read(pattern: object, word: str = "read") -> Iterator[tuple[IRI, str]]:
    """The predicates that patterns read, and what of them."""
    waiting = [(pattern, word)]
    while waiting:
        found, word = waiting.pop()
        match found:
            case TriplePattern():
                if isinstance(found.predicate, IRI):
                    yield found.predicate, word
            case OnStart():
                waiting.append((found.facts, "its start"))
            case OnEnd():
                waiting.append((found.facts, "its end"))
            case tuple():
                waiting.extend((each, word) for each in reversed(found))
            case _:
                names: dict[str, object] = getattr(found, "__dataclass_fields__", {})
                waiting.extend((getattr(found, name), word) for name in reversed(names))
