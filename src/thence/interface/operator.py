"""The interface behind which every language runs: a program says what a query asks for, an operator executes it.

A *program* is a compiled query: immutable and picklable. An *operator* has no state of its own; it steps a *state* from
one watermark to the next. Everything around it (ids, order, DISTINCT, derived events, problems, saved states) is the
host's (`thence.runtime.host`). docs/architecture.md has the contract in words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeVar, runtime_checkable

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


class TieOrder(Enum):
    """The order that a program needs among events of a stream that end at the same time: by position (file and line, or
    place in a list), or by id if there is no position (C-5)."""

    ANY = "any"
    """No answer depends on it."""
    SOURCE = "source"
    """Of the events of one step, refs ascend in source order, and so do the rows of tables."""
    COMPLETE = "complete"
    """As SOURCE, and a step has all events of a time (TEF-17): on Spark they wait until the watermark has passed it."""


@dataclass(frozen=True, slots=True)
class ShardKey:
    """How events are sharded: events that differ in the key never meet. Without `names`, all events meet in one shard,
    and `reason` says why. `routes` has, for each of the program's tables, the columns of the key; None for a table that
    nothing reads. All events also meet in one shard if the background has a predicate in `unless`."""

    names: tuple[str, ...]
    routes: tuple[tuple[int, ...] | None, ...]
    reason: str = ""
    unless: tuple[IRI, ...] = ()


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
"""Of partial matches: as many as an operator can number."""


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
