"""TEF-SPARQL → dataflow: one stage, since the statements of a file feed each other; its shard key and warnings about
state (TEF-77)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from thence.algebra.expressions import Arithmetic, Call, Compare, Expression, Operation, Variable
from thence.algebra.patterns import TriplePattern
from thence.algebra.tef_sparql import (
    Absent,
    Arm,
    Conjunction,
    ConstructStatement,
    Kind,
    OnInit,
    Plain,
    Related,
    SelectStatement,
    TefFile,
    TefStatement,
    TemporalRelation,
    Test,
)
from thence.algebra.tef_sparql import bound as bound_variables
from thence.algebra.traversal import nodes, replaced
from thence.engines.facts.kind_checks import Kinds, asks_now, predicate_kinds
from thence.engines.facts.operator import FactsOperator
from thence.engines.facts.pattern_compiler import are_alike
from thence.engines.facts.program import FactsProgram, endings, restarts
from thence.interface.dataflow import Dataflow, Stage
from thence.interface.operator import ShardKey, one_shard
from thence.interface.output import DerivedTriples, Output, term_rows
from thence.interface.tables import KEY, OBJECT, SUBJECT, TRIPLE_COLUMNS, AllTriples, KeyPositions, Table
from thence.rdf.terms import IRI, XSD, XSD_STRING, Literal, Term

# Expressions about time as SPARQL has them: `duration(a, b)` is a subtraction, and "PT1H" beside times is a duration
# (TEF-60, TEF-61).

T = TypeVar("T")

_DURATION = re.compile(r"-?P(?=.)(?:[0-9]+D)?(?:T(?=.)(?:[0-9]+H)?(?:[0-9]+M)?(?:[0-9]+(?:\.[0-9]+)?S)?)?")


def with_durations(found: T) -> T:
    """A file, statement or pattern whose expressions are those of SPARQL. Recursive: for what is within the limit of
    depth."""
    made: T = _changed(found)
    return made


def _changed(found: Any) -> Any:
    if isinstance(found, Expression) and not isinstance(found, Variable):
        return replaced(found, _part)
    if type(found) is tuple:
        changed = tuple(map(_changed, found))
        return changed if any(one is not other for one, other in zip(changed, found, strict=True)) else found
    if (names := getattr(found, "__dataclass_fields__", None)) is not None and not isinstance(found, Variable):
        values = {name: _changed(getattr(found, name)) for name in names}
        if any(value is not getattr(found, name) for name, value in values.items()):
            return type(found)(**values)
    return found


def _part(part: Expression) -> Expression | None:
    match part:
        case Call("DURATION", (first, last)):
            return Arithmetic(Operation.SUBTRACT, replaced(last, _part), replaced(first, _part))
        case Arithmetic():
            return Arithmetic(part.operation, _operand(part.left), _operand(part.right))
        case Compare() if _is_duration(part.left) and _is_time(part.right):
            return Compare(part.comparison, _operand(part.left), replaced(part.right, _part))
        case Compare() if _is_duration(part.right) and _is_time(part.left):
            return Compare(part.comparison, replaced(part.left, _part), _operand(part.right))
        case _:
            return None


def _operand(part: Expression) -> Expression:
    if isinstance(part, Literal) and _is_duration(part):
        return Literal(part.value, XSD + "dayTimeDuration")
    return replaced(part, _part)


def _is_duration(part: Expression) -> bool:
    return isinstance(part, Literal) and part.datatype == XSD_STRING and bool(_DURATION.fullmatch(part.value))


def _is_time(part: Expression) -> bool:
    """Whether an expression is about times: now(), duration(), or computed from something."""
    return any(
        isinstance(node, Arithmetic) or (isinstance(node, Call) and node.function in ("NOW", "DURATION"))
        for node in nodes(part)
    )


# The shard key of a file of TEF-SPARQL: for each predicate its subject or its object, so that all that meets in an arm
# agrees in it.
#
# A triple goes to the shard of the term at its key position. Arms separate by key if every triple that an arm reads or
# makes has one and the same variable (or constant) there; background is in every shard and restricts nothing. So one
# position settles those of all predicates that share an arm with it, and so on: predicates that are connected in no way
# have keys of their own. ON INIT facts are made where they belong.

Slot = Variable | Term | Expression


class _NoKeyError(Exception):
    """The reason for one shard."""


@dataclass(frozen=True, slots=True)
class _KeyedTriple:
    """A triple that an arm reads or makes."""

    predicate: IRI
    subject: Slot
    object: Slot

    def at(self, position: Variable) -> Slot:
        return self.subject if position == SUBJECT else self.object

    def positions(self, key: Slot) -> list[Variable]:
        return [position for position in (SUBJECT, OBJECT) if self.at(position) == key]


@dataclass(frozen=True, slots=True)
class _KeyedArm:
    """An arm of the statement of that number: all its triples must agree in the key."""

    number: int
    statement: TefStatement
    arm: Arm
    triples: tuple[_KeyedTriple, ...]


def shard_key(file: TefFile, kinds: Kinds) -> tuple[ShardKey, KeyPositions]:
    """The key, and where it is in the triples of each predicate; one shard, and why, where files do not fall apart."""
    tables = len(file.streams)
    try:
        arms = list(_arms(file, kinds))
        positions = _positions(arms)
        for number in range(1, len(file.statements) + 1):
            _check_rows([arm for arm in arms if arm.number == number], positions, kinds)
        _check_end(file, kinds)
        for each in _initial(file):
            positions.setdefault(each, SUBJECT)
    except _NoKeyError as error:
        return one_shard(tables, str(error)), ()
    listed = tuple(sorted(positions.items(), key=lambda item: item[0].value))
    column = len(TRIPLE_COLUMNS)
    names = tuple(f"the {position.name} of {predicate}" for predicate, position in listed)
    unless = tuple(predicate for predicate, _ in listed if kinds.known(predicate).is_open)
    return ShardKey(names, ((column,),) * tables, unless=unless), listed


def _arms(file: TefFile, kinds: Kinds) -> Iterator[_KeyedArm]:
    for number, statement in enumerate(file.statements, 1):
        head = statement.head if isinstance(statement, ConstructStatement) else ()
        made = [_keyed(number, each.predicate, each.subject, each.object) for each in head]
        for arm in statement.arms:
            if isinstance(arm, OnInit):
                continue
            read = [
                _keyed(number, each.predicate, each.subject, each.object)
                for each in nodes(arm)
                if isinstance(each, TriplePattern) and not _is_static(each.predicate, kinds)
            ]
            if not read:
                raise _NoKeyError(f"statement {number} reads the background alone")
            yield _KeyedArm(number, statement, arm, (*made, *read))


def _initial(file: TefFile) -> Iterator[IRI]:
    """The predicates of facts that ON INIT makes."""
    for number, statement in enumerate(file.statements, 1):
        if isinstance(statement, ConstructStatement) and any(isinstance(arm, OnInit) for arm in statement.arms):
            yield from (_keyed(number, each.predicate, each.subject, each.object).predicate for each in statement.head)


def _is_static(predicate: object, kinds: Kinds) -> bool:
    return isinstance(predicate, IRI) and kinds.of(predicate) is Kind.STATIC


def _keyed(number: int, predicate: object, subject: Slot, target: Slot) -> _KeyedTriple:
    if not isinstance(predicate, IRI):
        raise _NoKeyError(f"statement {number} has a variable predicate")
    return _KeyedTriple(predicate, subject, target)


def _positions(arms: Sequence[_KeyedArm]) -> dict[IRI, Variable]:
    """The key position of each predicate: of the first one either, if it leads to those of all that are connected."""
    found: dict[IRI, Variable] = {}
    remaining = arms
    while remaining:
        first = remaining[0].triples[0].predicate
        try:
            found = _connected(remaining, {**found, first: SUBJECT})
        except _NoKeyError as error:
            try:
                found = _connected(remaining, {**found, first: OBJECT})
            except _NoKeyError:
                raise error from None
        remaining = [arm for arm in remaining if not _has_key(arm, found)]
    for arm in arms:  # what is left has the key in both places
        for triple in arm.triples:
            found.setdefault(triple.predicate, SUBJECT)
    return found


def _has_key(arm: _KeyedArm, positions: Mapping[IRI, Variable]) -> bool:
    return any(triple.predicate in positions for triple in arm.triples)


def _connected(arms: Sequence[_KeyedArm], positions: dict[IRI, Variable]) -> dict[IRI, Variable]:
    """The positions that the given ones lead to, arm by arm, and these. A triple that has the key in both places leaves
    its predicate open."""
    size = -1
    while len(positions) > size:
        size = len(positions)
        for arm in arms:
            if _has_key(arm, positions):
                key = _key_of(arm, positions)
                for triple in arm.triples:
                    fitting = triple.positions(key)
                    wanted = positions.get(triple.predicate)
                    if not fitting or (wanted is not None and wanted not in fitting):
                        raise _NoKeyError(f"no variable is in all triples of statement {arm.number} where it should be")
                    if len(fitting) == 1:
                        positions[triple.predicate] = fitting[0]
    return positions


def _key_of(arm: _KeyedArm, positions: Mapping[IRI, Variable]) -> Slot:
    """The key that all triples of an arm share, by the first whose position is known."""
    return next(triple.at(positions[triple.predicate]) for triple in arm.triples if triple.predicate in positions)


def _check_rows(arms: Sequence[_KeyedArm], positions: Mapping[IRI, Variable], kinds: Kinds) -> None:
    """Check that compared rows of a statement are in one shard: those that DISTINCT or ONCE PER compares (TEF-73),
    and rows of one mapping over facts (TEF-50, TEF-72)."""
    keys = [_key_of(arm, positions) for arm in arms]
    for arm in arms[:1]:
        statement, compared = arm.statement, list[tuple[str, Sequence[Variable]]]()
        if statement.once_per is not None:
            compared.append(("ONCE PER", statement.once_per.variables))
        if isinstance(statement, SelectStatement) and statement.distinct:
            compared.append(("DISTINCT", statement.variables))
        for word, names in compared:
            if len(set(keys)) > 1 or keys[0] not in names:
                raise _NoKeyError(f"{word} of statement {arm.number} compares rows without a key")
        over_facts = kinds.statements[arm.number - 1] is not Kind.EVENT
        if isinstance(statement, SelectStatement) and over_facts:
            patterns = [each.arm.pattern for each in arms if isinstance(each.arm, Plain)]
            common = frozenset.intersection(*map(bound_variables, patterns))
            if not all(key in common for key in keys if isinstance(key, Variable)):
                raise _NoKeyError(f"a UNION drops the key of statement {arm.number}")


def _check_end(file: TefFile, kinds: Kinds) -> None:
    """Check that all shards end at one time if facts that hold to the end are emitted: time-driven steps continue after
    the last event, in each shard as far as its facts lead (TEF-64, TEF-74)."""
    tests = [node for node in nodes(file.statements) if isinstance(node, Test) and asks_now(node.condition)]
    over_facts = any(kinds.of_pattern(test.pattern) is not Kind.EVENT for test in tests)
    if not file.selects and Kind.FACT in kinds.statements and over_facts:
        raise _NoKeyError("now() may end facts after the last event, and then all of them are emitted")


# Warnings about state that stays unbounded (TEF-77).

_ELSEWHERE = "Try: a CONSTRUCT FACT of its own for it"


def state_warnings(file: TefFile, kinds: Kinds) -> Iterator[str]:
    """A warning for each statement whose patterns store events, or read facts that have ended, without a bound."""
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
            if not events or statement.within is not None or _is_of_facts(arms, word, kinds):
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
    """Whether an operator is between facts."""
    absent = [node for node in nodes(part) if isinstance(node, Absent) and not _is_event(node.right, kinds)]
    return word == "WITHOUT" and not any(_is_event(node.left, kinds) for node in absent)


def _is_event(pattern: object, kinds: Kinds) -> bool:
    return kinds.of_pattern(pattern) is Kind.EVENT  # type: ignore[arg-type]


def compile_query(file: TefFile, *, optimise: bool = True, timed_out: bool = False) -> Dataflow:
    """The dataflow of a file. QueryError if kinds clash (TEF-11 – TEF-14)."""
    file = with_durations(file)
    kinds = predicate_kinds(file, None)  # clashes that a background may resolve are judged with it (TEF-16)
    facts = tuple(sorted((name for name, each in kinds.predicates.items() if each.kind is Kind.FACT), key=str))
    may_be_static = tuple(name for name in facts if kinds.known(name).is_open)
    key, positions = shard_key(file, kinds)
    columns = (*TRIPLE_COLUMNS, KEY) if positions else TRIPLE_COLUMNS
    tables = tuple(Table(stream.name, AllTriples(facts, may_be_static, positions), columns) for stream in file.streams)
    output: Output = DerivedTriples()
    if file.selects:
        names = dict.fromkeys(name.name for each in file.selects for name in each.variables)
        output = term_rows(list(names), numbered=len(file.selects) > 1)
    elif Kind.FACT in kinds.statements:
        output = replace(term_rows(["fact"]), facts=True)
    program = FactsProgram(file, tables, key, output, positions)
    stage = Stage(program, FactsOperator(), described_by="thence.engines.facts.describe:describe")
    return Dataflow((stage,), (*kinds.warnings, *state_warnings(file, kinds)))
