"""An operator written against the interface alone: three events or more of one key within ten ticks of the first.

A window opens with an event of a key that has none open; at its deadline it is a row, or, with fewer events, a partial
match that timed out.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from thence.algebra.expressions import Variable
from thence.algebra.patterns import Bgp, TriplePattern
from thence.algebra.streams import Stream
from thence.columns.dictionary import Terms
from thence.columns.texts import Texts
from thence.columns.value_columns import ValueColumn
from thence.explain.description import Arrow, Description, Node
from thence.interface.dataflow import Dataflow, one_stage
from thence.interface.operator import Environment, Expired, Feature, ShardKey, TieOrder
from thence.interface.output import Distinct, term_rows
from thence.interface.saved_arrays import check_array, check_within, require
from thence.interface.solutions import Deferred, EventLists, Solutions
from thence.interface.tables import Table
from thence.rdf.terms import IRI
from thence.rdf.times import Domain

LENGTH, KEY = 10, Variable("k")
PATTERN = Bgp((TriplePattern(KEY, IRI("http://example.org/is"), Variable("v")),))


@dataclass(frozen=True)
class ThreeEvents:
    """Both the algebra and the program: there is nothing to plan."""

    distinct: bool = False
    warnings: ClassVar[tuple[str, ...]] = ()
    namespace: ClassVar[str] = "http://example.org/"
    time_kind: ClassVar[tuple[Domain, str]] = (Domain.TICKS, "10 TICKS")
    streams: ClassVar[tuple[Stream, ...]] = (Stream("S", IRI("http://example.org/s")),)
    tables: ClassVar[tuple[Table, ...]] = (Table("S", PATTERN, (KEY,)),)
    shard_key: ClassVar[ShardKey] = ShardKey(("k",), ((0,),))
    features: ClassVar[frozenset[Feature]] = frozenset({Feature.TIMED_OUT})
    constants = background_patterns = ()
    waits_for_time, ends_with_input, broadcasts_times = True, False, False
    tie_order = TieOrder.ANY
    order = ()

    @property
    def output(self) -> Any:
        return term_rows(["k"], distinct=Distinct.FOREVER if self.distinct else None)

    def fingerprint(self) -> str:
        return repr(self)


@dataclass
class Windows:
    """A row for each event of an open window: tag and bits of its key, ref, start and end; in the order of time."""

    terms: Terms = field(default_factory=Terms)
    events: Any = field(default_factory=lambda: np.empty((0, 5), np.int64))
    expired: list[Any] = field(default_factory=list)


class ThreeEventsOperator:
    holds = "events of open windows"

    def initial(self, program: ThreeEvents, environment: Environment) -> Windows:
        return Windows()

    def prune(self, program: ThreeEvents, state: Windows) -> None:
        """Terms are few here, and stay."""

    def step(
        self, program: ThreeEvents, state: Windows, extracted: Any, watermark: int, environment: Environment
    ) -> Iterator[Solutions]:
        rows, key = extracted.tables[0], extracted.tables[0].columns[KEY]
        new = np.column_stack([key.tags, key.bits, rows.refs[:, 0], rows.start, rows.end]).astype(np.int64)
        events = np.concatenate([state.events, new[np.argsort(new[:, 4], kind="stable")]])
        state.events, closed = events[:0], list[Any]()
        for own in (events[(events[:, :2] == each).all(axis=1)] for each in np.unique(events[:, :2], axis=0)):
            while len(own) and own[0, 4] + LENGTH < watermark:
                inside = own[:, 4] <= own[0, 4] + LENGTH
                (closed if inside.sum() >= 3 else state.expired).append(own[inside])
                own = own[~inside]
            state.events = np.concatenate([state.events, own])
        yield solutions(closed, state.terms)

    def expire(self, program: ThreeEvents, state: Windows, watermark: int) -> Expired | None:
        found, state.expired = state.expired, []
        return Expired(solutions(found, state.terms), ["a third event"] * len(found), ["S"] * len(found))

    def size(self, state: Windows) -> int:
        return len(state.events)

    def held(self, program: ThreeEvents, state: Windows) -> Any:
        return state.events[:, 2]

    def snapshot(self, program: ThreeEvents, state: Windows) -> tuple[dict[str, Any], list[Any]]:
        return {}, [state.terms.joined.text, state.terms.joined.ends, state.events]

    def restore(self, program: ThreeEvents, head: Any, arrays: Any, next_ref: int, environment: Environment) -> Windows:
        state = Windows()
        state.terms.add_joined(Texts(arrays.next(), arrays.next()))
        state.events = arrays.next()
        check_array(state.events, np.int64, -1, 5)
        check_within(state.events[:, 2], 0, next_ref, "an event")
        require((state.events[:, 1] < len(state.terms)).all(), "a key is no term")
        return state


def solutions(windows: list[Any], terms: Terms) -> Solutions:
    def column(place: int, which: int) -> Any:
        return np.array([each[which, place] for each in windows], np.int64)

    keys = ValueColumn(column(0, 0), column(1, 0))
    refs = np.concatenate([each[:, 2] for each in windows]) if windows else np.empty(0, np.int64)
    lists = EventLists(np.cumsum([0, *map(len, windows)]), refs, np.zeros(len(refs), np.int64))
    times = column(4, 0) + LENGTH, column(3, 0), column(4, -1)
    return Solutions(*times, ("k",), terms, Deferred(lambda: lists), (keys,), identity=lambda: (keys,))


def describe(program: ThreeEvents) -> Description:
    return Description(
        {"length": LENGTH},
        ("A window of 10 ticks for each ?k.",),
        boxes=(Node("an open window", number=1),),
        arrows=(Arrow(None, (1,), label="an event"), Arrow(1, (), label="three events or more", emits=True)),
    )


def parse(text: str, *, source: str, namespace: str | None) -> ThreeEvents:
    return ThreeEvents(distinct="DISTINCT" in text)


def compile_query(query: ThreeEvents, *, optimise: bool, timed_out: bool) -> Dataflow:
    return one_stage(query, ThreeEventsOperator(), described_by="three_events:describe")
