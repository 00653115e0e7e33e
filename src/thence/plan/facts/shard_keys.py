"""The shard key of a file of TEF-SPARQL: for each predicate its subject or its object, so that all that meets in an arm
agrees in it.

A triple goes by the term at its predicate's key position. Arms fall apart by key if every triple that an arm reads or
makes has one and the same variable (or constant) there; background is in every shard and restricts nothing. So one
position settles those of all predicates that share an arm with it, and so on: predicates that are connected in no way
have keys of their own. ON INIT facts are made where they belong.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from thence.algebra.expressions import Expression, Variable
from thence.algebra.patterns import TriplePattern
from thence.algebra.tef_sparql import (
    Arm,
    ConstructStatement,
    Kind,
    OnInit,
    Plain,
    SelectStatement,
    TefFile,
    TefStatement,
    Test,
)
from thence.algebra.tef_variables import bound as bound_variables
from thence.algebra.traversal import nodes
from thence.program.facts.kinds import Kinds, asks_now
from thence.program.operator import ShardKey, one_shard
from thence.program.tables import OBJECT, SUBJECT, TRIPLE_COLUMNS, KeyPositions
from thence.rdf.terms import IRI, Term

Slot = Variable | Term | Expression


class _NoKeyError(Exception):
    """Why there is one shard."""


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
    """With the positions that those given lead to, arm by arm. A triple that has the key in both places leaves its
    predicate open."""
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
    """What all triples of an arm have in common, by the first whose position is known."""
    return next(triple.at(positions[triple.predicate]) for triple in arm.triples if triple.predicate in positions)


def _check_rows(arms: Sequence[_KeyedArm], positions: Mapping[IRI, Variable], kinds: Kinds) -> None:
    """That rows of a statement which are compared are in one shard: those that DISTINCT or ONCE PER compares (TEF-73),
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
    """That all shards end at one time, where facts that hold to the end are emitted: time-driven steps go on behind the
    last event, in each shard as far as its facts lead (TEF-64, TEF-74)."""
    tests = [node for node in nodes(file.statements) if isinstance(node, Test) and asks_now(node.condition)]
    over_facts = any(kinds.of_pattern(test.pattern) is not Kind.EVENT for test in tests)
    if not file.selects and Kind.FACT in kinds.statements and over_facts:
        raise _NoKeyError("now() may end facts after the last event, and then all of them are emitted")
