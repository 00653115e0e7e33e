"""A query as a graph of stages that feed each other by stream names. Most queries are one stage."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from thence.algebra.streams import Stream
from thence.columns.value_types import CURE, UNKNOWN, TypedStage, Types, common_attributes, complaint, disagreement
from thence.errors import InputError
from thence.interface.operator import Feature, Operator, Orderable, Program
from thence.interface.output import DerivedTriples, Events, Rows, is_numbered
from thence.rdf.terms import IRI

if TYPE_CHECKING:
    from thence.interface.tables import Table


# A query as a graph of stages that feed each other by stream names. Most queries are one stage.
#
# UNION, IN STREAM, CONSTRUCT into a stream and several statements in a file are all this mechanism, in one process and
# on Spark.


@dataclass(frozen=True, slots=True)
class Feed:
    """The stream for a stage's derived events. `type` is the type of those made from rows (RETURN … IN STREAM)."""

    stream: str
    type: str | None = None


@dataclass(frozen=True, slots=True)
class Stage:
    """A program with its operator. A stage that feeds no stream emits answers. `described_by` is the function that
    describes the program, by module and name: `explain` alone imports it."""

    program: Program
    operator: Operator[Any, Any]
    feeds: Feed | None = None
    described_by: str = ""

    @property
    def makes_events(self) -> bool:
        return self.feeds is not None or isinstance(self.program.output, Events | DerivedTriples)

    @property
    def numbers_queries(self) -> bool:
        """Whether its rows are answers that have a field `query`."""
        return self.feeds is None and is_numbered(self.program.output)

    def reads(self, stream: str) -> bool:
        return any(each.name == stream for each in self.program.streams)


@dataclass(frozen=True)
class Dataflow:
    """Stages, each after those whose streams it reads. A stage's number is its position, from 1.

    The first stage that reads a stream counts its events and reports its bad and late ones. If a stage feeds a stream,
    its problems travel with its derived events to the first reader of that stream.
    """

    stages: tuple[Stage, ...]
    warnings: tuple[str, ...] = ()  # warnings that only the compiled query shows

    def __post_init__(self) -> None:
        assert self.stages
        known = {stream.name for stream in self.streams}
        for stage in self.stages:
            assert all(stream.name in known for stream in stage.program.streams), "stages are in the order of feeding"
            known |= {stage.feeds.stream} if stage.feeds is not None else set()

    @cached_property
    def derived(self) -> frozenset[str]:
        """The streams whose events stages make."""
        return frozenset(stage.feeds.stream for stage in self.stages if stage.feeds is not None)

    @cached_property
    def streams(self) -> tuple[Stream, ...]:
        """The streams that come from outside."""
        found = dict.fromkeys(stream for stage in self.stages for stream in stage.program.streams)
        return tuple(stream for stream in found if stream.name not in self.derived)

    @cached_property
    def answers(self) -> tuple[Stage, ...]:
        """The stages whose rows are the query's."""
        return tuple(stage for stage in self.stages if stage.feeds is None)

    @property
    def namespace(self) -> str:
        return self.answers[0].program.namespace

    def namespace_of(self, stream: str) -> str:
        """The namespace of the bare names of a stream's typed events: that of the stages that read it."""
        found = sorted({stage.program.namespace for stage in self.stages if stage.reads(stream)})
        if len(found) > 1:
            raise InputError(
                f"The stream {stream} has the namespace {found[0]} in one query and {found[1]} in another."
            )
        return found[0]

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns of the answer, by name."""
        return tuple(dict.fromkeys(name for stage in self.answers for name in stage.program.output.columns))

    @property
    def makes_events(self) -> bool:
        """Whether the answer is events, not rows."""
        return isinstance(self.answers[0].program.output, Events | DerivedTriples)

    @property
    def makes_intervals(self) -> bool:
        """Whether the answer is events that may last (C-27), not points in time (C-26)."""
        output = self.answers[0].program.output
        return isinstance(output, DerivedTriples) and output.intervals

    @property
    def emits_facts(self) -> bool:
        """Whether the answer is facts, whose end may be open."""
        output = self.answers[0].program.output
        return isinstance(output, Rows) and output.facts

    @property
    def numbers_queries(self) -> bool:
        """Whether the answer has a field `query`: the number of the statement that a row is of (EP-82)."""
        return any(stage.numbers_queries for stage in self.answers)

    @property
    def is_plain(self) -> bool:
        """Whether values are plain (numbers, texts, times), not RDF terms."""
        return all(isinstance(stage.program.output, Rows) and stage.program.output.plain for stage in self.answers)

    @cached_property
    def features(self) -> frozenset[Feature]:
        """The options that apply to some stage."""
        return frozenset().union(*(stage.program.features for stage in self.stages))

    @cached_property
    def is_ordered(self) -> bool:
        """Whether the option `order` applies: then all events of a time are taken at once (C-9)."""
        return any(stage.program.order for stage in self.stages)

    def order_of(self, stream: str) -> tuple[IRI, ...]:
        """The predicates by whose values the events of a stream are ordered within a time."""
        orders = (dict(stage.program.order).get(stream, ()) for stage in self.stages)
        return next(filter(None, orders), ())

    def ordered(self, order: Mapping[str, tuple[IRI, ...]]) -> Dataflow:
        """The same dataflow, the events of some streams from outside ordered within a time (C-8)."""
        return replace(self, stages=tuple(_ordered(stage, order) for stage in self.stages))

    def numbered(self) -> Iterator[tuple[int, Stage]]:
        """The stages with their positions."""
        return iter(enumerate(self.stages, 1))

    def reporter(self, stream: str) -> int:
        """The number of the stage that counts a stream's events and reports its problems."""
        return next(number for number, stage in self.numbered() if stage.reads(stream))

    def other_tables(self, stream: str, number: int) -> tuple[Table, ...]:
        """The tables that stages after the reporting one extract from a stream. The reporting stage also reports the
        events that they reject."""
        own = self.stages[number - 1].program.tables
        found = (table for stage in self.stages for table in stage.program.tables if table.stream == stream)
        return tuple(table for table in dict.fromkeys(found) if table not in own)

    @cached_property
    def typed_stages(self) -> tuple[TypedStage, ...]:
        """The types of the stages' rows."""
        found = []
        for stage in self.stages:
            output, feeds = stage.program.output, stage.feeds
            reads = tuple(stream.name for stream in stage.program.streams)
            columns = output.types.resolve if isinstance(output, Rows) else None
            asks = output.types.complaint if isinstance(output, Rows) and output.types.asks else None
            found.append(TypedStage(reads, None if feeds is None else feeds.stream, columns, asks))
        return tuple(found)

    def fingerprints(self) -> list[str]:
        return [stage.program.fingerprint() for stage in self.stages]


def _ordered(stage: Stage, order: Mapping[str, tuple[IRI, ...]]) -> Stage:
    own = tuple((each.name, order[each.name]) for each in stage.program.streams if each.name in order)
    if not own:
        return stage
    assert isinstance(stage.program, Orderable), "rejected before"
    return replace(stage, program=stage.program.ordered(own))


def one_stage(program: Program, operator: Operator[Any, Any], *, described_by: str = "") -> Dataflow:
    return Dataflow((Stage(program, operator, described_by=described_by),))


def connected(reader: Dataflow, sources: Mapping[str, Dataflow]) -> Dataflow:
    """A dataflow in which some streams of a reader are fed by other dataflows that make events. InputError if the name
    of a stream would mean two streams."""
    stages: list[Stage] = []
    taken = {stream.name for stream in reader.streams} | reader.derived
    for stream, source in sources.items():
        if not source.makes_events:
            raise InputError(f"The stream {stream} cannot be fed by a query that emits rows. Try: CONSTRUCT")
        names = {each.name for each in source.streams}
        for name in sorted((source.derived & taken) | (names & {*sources, *reader.derived})):
            raise InputError(f"Both queries have a stream {name}, but mean different streams. Try: another name in one")
        taken |= source.derived
        stages += [stage if stage.feeds else replace(stage, feeds=Feed(stream)) for stage in source.stages]
    found = Dataflow((*stages, *reader.stages))
    for one in found.streams:
        for other in found.streams:
            if one.name == other.name and one.iri != other.iri:
                raise InputError(f"The stream {one.name} is {one.iri} in one query and {other.iri} in another.")
        found.namespace_of(one.name)
    return found


# Rejects rows of one column that have different types (SA-41), and what values of such types cannot be asked (BAD-3).


def check_types(dataflow: Dataflow, given: Mapping[str, Sequence[Types | None]]) -> None:
    """InputError if a column of the rows of several stages would have several types, or something cannot be computed,
    given the types of the streams' tables."""
    open_types = {name: common_attributes(listed, mixed=UNKNOWN) for name, listed in given.items()}
    asked = complaint(dataflow.typed_stages, open_types)
    if asked is not None:
        raise InputError(asked)
    types = {name: common_attributes(listed) for name, listed in given.items()}
    found = disagreement(dataflow.typed_stages, types)
    if found is not None:
        raise InputError(f"{found.reason} Try: {CURE}")
