"""A compiled file of TEF-SPARQL: a `Program`; the strata of its views (TEF-47), and how far back its patterns ask."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple, Protocol, TypeVar, assert_never

from thence.algebra.expressions import Variable
from thence.algebra.patterns import Pattern, TriplePattern
from thence.algebra.streams import Stream
from thence.algebra.tef_sparql import (
    Absent,
    Arm,
    Assignment,
    Conjunction,
    ConstructStatement,
    Either,
    Kind,
    OnEnd,
    OnInit,
    OnStart,
    Plain,
    Related,
    Replace,
    Since,
    TefFile,
    TefPattern,
    TefStatement,
    TemporalRelation,
    Test,
    Times,
    Until,
)
from thence.algebra.traversal import nodes
from thence.engines.facts.kind_checks import Kinds, StatementErrors
from thence.errors import QueryError
from thence.interface.operator import Feature, Order, ShardKey, TieOrder
from thence.interface.output import Output
from thence.interface.tables import KeyPositions, Table
from thence.rdf.terms import IRI, Term

# The strata of views: WITHOUT reads what is settled before (TEF-47).


class Derives(Protocol):
    """A view: a numbered statement with patterns over facts."""

    @property
    def number(self) -> int: ...

    @property
    def statement(self) -> ConstructStatement: ...

    @property
    def patterns(self) -> tuple[TefPattern, ...]: ...


V = TypeVar("V", bound=Derives)


def view_strata(views: Sequence[V], kinds: Kinds) -> tuple[tuple[V, ...], ...]:
    """Views by stratum, lowest first. QueryError if one depends on the absence of what it derives."""
    levels = {view.number: 0 for view in views}
    for _ in range(len(views) + 1):
        changed = False
        for view in views:
            for pattern in view.patterns:
                for triple, absent in _read(pattern, kinds):
                    for other in views:
                        if _derives(other, triple, kinds) and levels[view.number] < levels[other.number] + absent:
                            levels[view.number] = levels[other.number] + absent
                            changed = True
            for other in views:  # views of one predicate are settled together: their derivations are merged (TEF-48)
                if levels[view.number] < levels[other.number] and _have_one_predicate(view, other):
                    levels[view.number] = levels[other.number]
                    changed = True
        if not changed:
            numbers = sorted(set(levels.values()))
            return tuple(tuple(view for view in views if levels[view.number] == level) for level in numbers)
    worst = max(views, key=lambda view: levels[view.number])
    reason = f"Statement {worst.number} depends on the absence of what it derives."
    hint = "WITHOUT over facts that do not depend on this statement"
    if kinds.file is None:
        raise QueryError(reason, hint=hint)
    raise StatementErrors(kinds.file, worst.number).here(reason, hint)


def _have_one_predicate(view: Derives, other: Derives) -> bool:
    made = {triple.predicate for triple in view.statement.head if isinstance(triple.predicate, IRI)}
    return any(triple.predicate in made for triple in other.statement.head)


def _read(pattern: object, kinds: Kinds) -> Iterator[tuple[TriplePattern, int]]:
    """The triple patterns over facts that a pattern reads, and whether right of WITHOUT."""
    waiting: list[tuple[object, int]] = [(pattern, 0)]
    while waiting:
        found, level = waiting.pop()
        match found:
            case TriplePattern():
                yield found, level
            case Absent():
                waiting.append((found.left, level))
                if kinds.of_pattern(found.right) is not Kind.EVENT:
                    waiting.append((found.right, 1))
            case tuple():
                waiting += [(each, level) for each in found]
            case _ if (names := getattr(found, "__dataclass_fields__", None)) is not None:
                waiting += [(getattr(found, name), level) for name in names]
            case _:
                pass


def _derives(view: Derives, triple: TriplePattern, kinds: Kinds) -> bool:
    """Whether a view may derive a triple that a pattern matches."""
    for head in view.statement.head:
        made, read = head.predicate, triple.predicate
        if isinstance(made, Variable) or isinstance(read, Variable):
            if isinstance(read, Variable) or kinds.of(read) is Kind.FACT:
                return True
        elif isinstance(made, IRI) and made == read:
            return True
    return False


# How far back the patterns of a statement ask: for facts that have ended, and for the events at which facts restart
# (TEF-77).

NOW = 0
"""Asked back no further than the current event."""


class Asking(NamedTuple):
    """An operator that reads ended facts, up to `back` before now; None: any."""

    word: str
    back: int | None


class Restart(NamedTuple):
    """`F WITHOUT E`, asked for what it was so far before now; None: at any time."""

    pattern: Absent
    back: int | None


def endings(statement: TefStatement, kind: Kind, kinds: Kinds) -> Iterator[Asking]:
    """The operators that read facts which have ended. An event that lasts meets those of its time, under WITH and
    WITHOUT (TEF-31, TEF-32); DURING reads facts that hold. WITHIN bounds it (TEF-76). A view reads the facts that hold,
    and those that began or ended at this instant (TEF-49)."""
    if _asks_for_now(statement, kind):
        return
    longest = None if statement.within is None else statement.within.length
    for node in nodes(statement.arms):
        if isinstance(node, Absent) and kinds.of_pattern(node.right) is not Kind.EVENT:
            over_facts = kinds.of_pattern(node.left, Kind.FACT) is not Kind.EVENT
            yield Asking("WITHOUT", None if over_facts else longest)
        elif isinstance(node, Related) and node.relation is TemporalRelation.WITH:
            yield Asking("WITH", longest)


def _asks_for_now(statement: TefStatement, kind: Kind) -> bool:
    """Whether it is a view that does not read the times of anything that WITHOUT interrupts."""
    is_view = isinstance(statement, ConstructStatement) and kind is Kind.FACT
    if not is_view or not all(isinstance(arm, Plain) for arm in statement.arms):
        return False
    timed = [node for node in nodes(statement) if isinstance(node, Times)]
    return not any(isinstance(node, Absent) for each in timed for node in nodes(each))


def restarts(statement: TefStatement, kind: Kind, kinds: Kinds) -> Iterator[Restart]:
    """Each `F WITHOUT E` of a statement."""
    within = None if statement.within is None else statement.within.length
    for arm in statement.arms:
        yield from _of_arm(arm, _Walk(kinds, within), kind is not Kind.EVENT)


def _of_arm(arm: Arm, walk: _Walk, is_over_facts: bool) -> Iterator[Restart]:
    match arm:
        case Plain(pattern):
            yield from walk.facts(pattern, NOW) if is_over_facts else walk.events(pattern)
        case Since(pattern) | Until(pattern):
            yield from walk.events(pattern)
        case Replace():
            yield from walk.facts(arm.facts, NOW)
            yield from walk.events(arm.events)
        case OnInit():
            pass
        case _:
            assert_never(arm)


class _Walk(NamedTuple):
    kinds: Kinds
    within: int | None

    def events(self, pattern: TefPattern, *, is_first: bool = True) -> Iterator[Restart]:
        """`is_first`: nothing is further to the left, so that nothing is asked later."""
        match pattern:
            case TriplePattern():
                pass
            case Times() | Test() | Assignment():
                yield from self.events(pattern.pattern, is_first=is_first)
            case OnStart() | OnEnd():
                yield from self.facts(pattern.facts, NOW)
            case Related(TemporalRelation.DURING | TemporalRelation.WITH):
                yield from self.events(pattern.left, is_first=is_first)
                back = NOW if pattern.relation is TemporalRelation.DURING else self.within
                yield from self.facts(pattern.right, back if is_first else None)
            case Absent():
                yield from self.events(pattern.left, is_first=is_first)
                if self.kinds.of_pattern(pattern.right) is Kind.EVENT:
                    yield from _Walk(self.kinds, None).events(pattern.right, is_first=False)
                else:
                    yield from self.facts(pattern.right, self.within if is_first else None)
            case Related() | Conjunction():
                is_static = self.kinds.of_pattern(pattern.left) is Kind.STATIC
                if not is_static:
                    yield from self.events(pattern.left, is_first=is_first)
                if self.kinds.of_pattern(pattern.right) is not Kind.STATIC:
                    yield from self.events(pattern.right, is_first=False)
            case Either():
                yield from self.events(pattern.left, is_first=is_first)
                yield from self.events(pattern.right, is_first=is_first)
            case _:
                assert_never(pattern)

    def facts(self, pattern: TefPattern, back: int | None) -> Iterator[Restart]:
        match pattern:
            case TriplePattern():
                pass
            case Times() | Test() | Assignment():
                yield from self.facts(pattern.pattern, back)
            case Conjunction() | Either():
                yield from self.facts(pattern.left, back)
                yield from self.facts(pattern.right, back)
            case Absent():
                yield from self.facts(pattern.left, back)
                if self.kinds.of_pattern(pattern.right) is Kind.EVENT:
                    yield Restart(pattern, back)
                    yield from _Walk(self.kinds, None).events(pattern.right, is_first=False)
                else:
                    yield from self.facts(pattern.right, None)
            case Related() | OnStart() | OnEnd():
                raise AssertionError("an event is not a fact")
            case _:
                assert_never(pattern)


# A compiled file of TEF-SPARQL: a `Program` of `thence.interface.operator`.


@dataclass(frozen=True, slots=True, eq=False)
class FactsProgram:
    """A file: its statements run together, since they feed each other."""

    file: TefFile
    tables: tuple[Table, ...]  # one for each stream, in the order of FROM STREAM: all triples
    shard_key: ShardKey
    output: Output
    key_positions: KeyPositions = ()
    order: Order = ()

    def ordered(self, order: Order) -> FactsProgram:
        """The same file, whose steps at one time come in this order first (TEF-19)."""
        return replace(self, order=order)

    @property
    def streams(self) -> tuple[Stream, ...]:
        return self.file.streams

    @property
    def namespace(self) -> str:
        return self.file.namespace

    @property
    def constants(self) -> tuple[Term, ...]:
        return ()

    @property
    def features(self) -> frozenset[Feature]:
        return frozenset({Feature.BACKGROUND, Feature.HISTORY, Feature.ORDER})

    @property
    def waits_for_time(self) -> bool:
        """Events are taken once the watermark has passed them (TEF-17), and time alone may drive a step (TEF-64)."""
        return True

    @property
    def ends_with_input(self) -> bool:
        return False

    @property
    def broadcasts_times(self) -> bool:
        """Facts of ON INIT start with the first event, whatever is in it (TEF-45)."""
        return True

    @property
    def tie_order(self) -> TieOrder:
        """Triples are taken one at a time (TEF-17 to TEF-20)."""
        return TieOrder.COMPLETE

    @property
    def ties_matter(self) -> bool:
        """Ties come in a fixed order (TEF-19)."""
        return False

    @property
    def background_patterns(self) -> tuple[Pattern, ...]:
        return ()

    def fingerprint(self) -> str:
        return _fingerprint(self)


@lru_cache(maxsize=16)
def _fingerprint(program: FactsProgram) -> str:
    return hashlib.sha256(repr((program.file, program.tables, program.shard_key, program.order)).encode()).hexdigest()
