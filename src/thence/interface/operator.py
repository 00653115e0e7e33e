"""The interface behind which every language runs: a program says what a query asks for, an operator executes it.

A *program* is a compiled query: immutable and picklable. An *operator* has no state of its own; it steps a *state* from
one watermark to the next. Everything around it (ids, order, DISTINCT, derived events, problems, saved states) is the
host's (`thence.runtime.host`). docs/architecture.md has the contract in words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeAlias, TypeVar, runtime_checkable

from numpy.typing import NDArray

from thence.algebra.patterns import Pattern
from thence.algebra.streams import Stream
from thence.columns.arrays import Ints
from thence.columns.dictionary import Terms
from thence.interface.output import Output
from thence.interface.solutions import Solutions
from thence.match import NO_BACKGROUND, Background
from thence.match.context import Context
from thence.rdf.terms import IRI, Term, Triple

if TYPE_CHECKING:
    from thence.columns.array_codec import ArrayReader
    from thence.interface.extracted import Extracted
    from thence.interface.tables import Table


NEVER: Final = 2**63 - 1
"""The watermark at the end of input: no event comes before it, and none later."""


class Feature(Enum):
    """An option that not every query supports, by the name that callers use."""

    BACKGROUND = "background"
    REASONING = "reasoning"
    POLICY = "policy"
    REPORT = "report"
    TIMED_OUT = "timed_out"
    HISTORY = "history"
    ORDER = "order"


class TieOrder(Enum):
    """The order that a program needs among events of a stream that end at the same time: by position (file and line, or
    place in a list), or by id if there is no position (C-5)."""

    ANY = "any"
    """No answer depends on it."""
    WHOLE = "whole"
    """No answer depends on it, but a step has all events of a time (C-9)."""
    SOURCE = "source"
    """Within one step, the refs of events ascend in source order, and so do the rows of tables."""
    COMPLETE = "complete"
    """As SOURCE, and a step has all events of a time (TEF-17): on Spark they wait until the watermark has passed it."""

    @property
    def by_source(self) -> bool:
        """Whether the events of a step come in source order."""
        return self in (TieOrder.SOURCE, TieOrder.COMPLETE)

    @property
    def is_whole(self) -> bool:
        """Whether a step has all events of a time."""
        return self in (TieOrder.WHOLE, TieOrder.COMPLETE)


Order: TypeAlias = tuple[tuple[str, tuple[IRI, ...]], ...]
"""The option `order`: the predicates by whose values the events of a stream are ordered within a time (C-8). Events of
other streams have no values. Empty without the option."""


@dataclass(frozen=True, slots=True)
class ShardKey:
    """The key by which events are sharded: events that differ in it never meet. Without `names`, all events meet in one
    shard, and `reason` says why. `routes` has the columns of the key for each of the program's tables; None for
    a table that nothing reads. All events also meet in one shard if the background has a predicate in `unless`."""

    names: tuple[str, ...]
    routes: tuple[tuple[int, ...] | None, ...]
    reason: str = ""
    unless: tuple[IRI, ...] = ()


def shared_routes(
    tables: int, columns: Iterable[tuple[int, tuple[int, ...]]]
) -> tuple[tuple[int, ...] | None, ...] | None:
    """`ShardKey.routes`, by the table and the columns of each reader; None if readers of one table have the key in
    different columns.

    >>> shared_routes(2, [(1, (0,)), (1, (0,))]), shared_routes(2, [(1, (0,)), (1, (2,))])
    ((None, (0,)), None)
    """
    routes: dict[int, tuple[int, ...]] = {}
    if any(routes.setdefault(table, places) != places for table, places in columns):
        return None
    return tuple(routes.get(table) for table in range(tables))


def one_shard(tables: int, reason: str) -> ShardKey:
    """No key: every row of every table goes to the same shard."""
    return ShardKey((), ((),) * tables, reason)


class Program(Protocol):
    """A compiled query."""

    @property
    def streams(self) -> tuple[Stream, ...]:
        """The streams it reads."""
        ...

    @property
    def namespace(self) -> str:
        """The namespace of the bare names of typed events."""
        ...

    @property
    def constants(self) -> tuple[Term, ...]:
        """Terms that every dictionary of a state begins with, in this order."""
        ...

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables to extract from each event of a stream."""
        ...

    @property
    def shard_key(self) -> ShardKey: ...

    @property
    def output(self) -> Output: ...

    @property
    def features(self) -> frozenset[Feature]:
        """The options that apply to it."""
        ...

    @property
    def waits_for_time(self) -> bool:
        """Whether a row may become certain without another event, only because the watermark advances. If not, steps
        emit rows in the order of certainty."""
        ...

    @property
    def ends_with_input(self) -> bool:
        """Whether the end of input completes rows: they are certain at the latest event of all inputs."""
        ...

    @property
    def broadcasts_times(self) -> bool:
        """Whether every shard needs the times of all events of all streams, those that match nothing included."""
        ...

    @property
    def tie_order(self) -> TieOrder:
        """The order in which it takes events of one time (C-7)."""
        ...

    @property
    def order(self) -> Order:
        """The option `order`, if the program is compiled for it; then a step has all events of a time (C-9)."""
        ...

    @property
    def background_patterns(self) -> tuple[Pattern, ...]:
        """Patterns that read the background, beside those of `tables`."""
        ...

    def fingerprint(self) -> str:
        """Identifies the query and how it is compiled: a saved state is restored only under the same one."""
        ...


class State(Protocol):
    """The state that an operator keeps between two steps. Extracted values name terms of its dictionary."""

    terms: Terms


NO_LIMIT = 2**31 - 2
"""The most partial matches: as many as an operator can number."""


@dataclass(frozen=True, slots=True)
class Environment:
    """The resources that a step may use besides its arguments. `running`: emit totals as they grow, since the input has
    no end."""

    background: Background = NO_BACKGROUND
    context: Context = field(default_factory=Context)
    max_runs: int = NO_LIMIT
    running: bool = False
    max_rounds: int = 1000  # of rules at one time (EP-54)
    max_steps: int = 10_000  # at one time, and driven by time without an event (TEF-27)
    shard: tuple[int, int] = (0, 1)  # which of how many
    keeps_history: bool = False  # facts that have ended can be asked for
    keeps_expired: bool = False  # partial matches that time out are kept until `expire` returns them


@dataclass(frozen=True, slots=True, eq=False)
class Expired:
    """Partial matches that timed out: what each has bound, what it waited for, and the stream of its last event."""

    solutions: Solutions
    waited_for: Sequence[str]
    streams: Sequence[str]


class HeldFact(NamedTuple):
    """A fact, with the time from which it holds and the time at which it ended; None if it still holds."""

    start: int
    end: int | None
    triple: Triple


@runtime_checkable
class Orderable(Protocol):
    """A program that the option `order` applies to."""

    def ordered(self, order: Order) -> Program:
        """The same query with an order of events of one time."""
        ...

    @property
    def ties_matter(self) -> bool:
        """Whether an answer is likely to be another one if events of one time follow each other."""
        ...


P = TypeVar("P", contravariant=True)
S = TypeVar("S")


class Operator(Protocol[P, S]):
    """Executes programs of one kind."""

    def initial(self, program: P, environment: Environment) -> S:
        """The state before any event."""
        ...

    def prune(self, program: P, state: S) -> None:
        """Evict what no later event can need, if that is worth its cost. Called before each extraction, and only then:
        it may renumber the state's terms."""
        ...

    def step(
        self, program: P, state: S, extracted: Extracted, watermark: int, environment: Environment
    ) -> Iterator[Solutions]:
        """The solutions that become certain with these events, none of which is before an earlier step's, and with the
        watermark: no later event is before it. The end of input is a watermark of NEVER."""
        ...

    @property
    def holds(self) -> str:
        """What a state is made of, in the words of progress and of errors: "open partial matches"."""
        ...

    def size(self, state: S) -> int:
        """How many of these a state holds. Another thread may ask while a step runs, and is answered roughly."""
        ...

    def held(self, program: P, state: S) -> Ints:
        """The refs of the events that a later step may emit."""
        ...

    def snapshot(self, program: P, state: S) -> tuple[dict[str, Any], list[NDArray[Any]]]:
        """The state as a head for JSON and arrays, without what no later event can need."""
        ...

    def restore(
        self, program: P, head: dict[str, Any], arrays: ArrayReader, next_ref: int, environment: Environment
    ) -> S:
        """The state of a snapshot. InputError if head or arrays cannot be those of a snapshot: they may be forged. Refs
        of events are below `next_ref`."""
        ...


@runtime_checkable
class ExpiresRuns(Protocol):
    """An operator that reports partial matches that time out, for programs with Feature.TIMED_OUT."""

    def expire(self, program: Any, state: Any, watermark: int) -> Expired | None:
        """Partial matches that timed out before the watermark since the last call; None without any."""
        ...


@runtime_checkable
class HoldsFacts(Protocol):
    """An operator that holds facts."""

    def facts(self, program: Any, state: Any, time: int | None) -> list[HeldFact]:
        """The facts that hold at a time, now if it is None."""
        ...
