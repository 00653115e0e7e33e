"""SASE+ → program: the attributes to extract, the automaton, and the shard key."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

from thence.algebra.expressions import Variable
from thence.algebra.sase import (
    Attribute,
    ComponentQuery,
    ComposedQuery,
    Composite,
    Computed,
    EventIndex,
    Length,
    MatchAggregates,
    Return,
    ReturnItem,
    Strategy,
    ValueSequence,
)
from thence.algebra.sase_column_types import ComponentTypes
from thence.algebra.show_sase import key_text
from thence.algebra.streams import Name
from thence.engines.automaton.image import image
from thence.engines.automaton.moments import TIME
from thence.engines.automaton.operator import AutomatonOperator
from thence.engines.automaton.plan.assembly import FeedShape, assemble
from thence.engines.automaton.plan.sase_edges import (
    CONTIGUOUS,
    Conditions,
    EdgeBuilder,
    PhasedConjuncts,
    Slots,
    contiguities,
)
from thence.engines.automaton.program import (
    Automaton,
    Components,
    Input,
    Partition,
    SequenceProgram,
    Source,
    as_compared,
)
from thence.interface.dataflow import Dataflow, Feed, Stage
from thence.interface.operator import Feature, ShardKey, one_shard
from thence.interface.output import Rows
from thence.interface.tables import Attributes, Table, attribute

FITS = Variable("fits")
"""The column with the bits that say what an event can be taken for."""

WEIGHT = Variable("weight")
"""The further column of a node of the history that stands for many: its weight."""


def compile_query(query: ComposedQuery, *, optimise: bool = True, timed_out: bool = False) -> Dataflow:
    """The blocks of a text: those of inner queries feed the streams that RETURN names, the rows of the last query's are
    the answer."""
    assert not timed_out, "rejected before"
    described_by = "thence.engines.automaton.describe:describe"
    operator, inner = AutomatonOperator(), len(query.blocks) - len(query.queries[-1].blocks)
    return Dataflow(
        tuple(
            Stage(plan(block, optimise=optimise), operator, _feed(block) if number < inner else None, described_by)
            for number, block in enumerate(query.blocks)
        )
    )


def _feed(block: ComponentQuery) -> Feed:
    assert isinstance(block.form, Return) and block.form.stream is not None
    return Feed(block.form.stream, block.form.type)


def plan(query: ComponentQuery, *, optimise: bool = True) -> SequenceProgram:
    """The program of a block. Without `optimise`, runs are found only by their partition's key, the machine does every
    test and receives every event."""
    return _SasePlan(query, optimise).program()


class _SasePlan:
    def __init__(self, query: ComponentQuery, optimise: bool) -> None:
        self.query = query
        self.optimise = optimise
        tested = (key.names if isinstance(key, Computed) else (key,) for key in query.tested)
        self.names = tuple(dict.fromkeys((*_names(query), *chain.from_iterable(tested))))
        asked = PhasedConjuncts(query)
        self.slots = Slots(query, asked)
        self.merges = optimise and _merges(query, self.slots)
        self.conditions = Conditions(query, asked, self.slots, self.names)
        self.keys = tuple(
            (as_compared(key), self.conditions.computed(key) if isinstance(key, Computed) else key)
            for key in query.tested
        )
        attributes = tuple(map(attribute, self.names))
        self.kept = attributes + (TIME,) * _negates(query)  # of each event, in the history
        self.columns = (*attributes, *map(as_compared, query.tested), FITS, *(TIME,) * _negates(query))

    def program(self) -> SequenceProgram:
        query, columns = self.query, self.columns
        drawn = EdgeBuilder(query, self.conditions, columns, self.kept, optimise=self.optimise, merges=self.merges)
        negations = tuple(self.conditions.negation(place) for place, c in enumerate(query.components) if c.negated)
        automaton = self._automaton(drawn)  # which has the code of all that is asked
        code = image(automaton)
        predicates = tuple(self.conditions.code.predicates)
        fits = tuple(self.conditions.fits)
        pattern = Attributes(self.names, self.keys, fits, self._all_count(), query.namespace, predicates, code)
        streams = [stream.name for stream in query.sources]
        return SequenceProgram(
            query=query,
            rewritten=query,
            streams=query.sources,
            tables=tuple(Table(stream, pattern, columns) for stream in streams),
            sources=tuple(Source(stream, stream, pattern, columns, n) for n, stream in enumerate(streams)),
            inputs=tuple(Input((n,), columns, n) for n in range(len(streams))),
            feeds=tuple(range(len(streams))),
            negated=tuple(range(len(streams))) if negations else (),
            partitions=tuple(Partition(n, columns) for n in range(len(streams))),
            contiguous=contiguities(query),
            slots=(*self.slots.kept, *map(attribute, self.names)),
            outputs=tuple(self.slots.kept),
            shard_key=self._shard_key(len(streams)),
            output=Rows(query.columns, ComponentTypes(query), plain=True),
            features=frozenset({Feature.ORDER}),
            iterated=self.kept + (WEIGHT,) * self.merges,
            predicates=predicates,
            constants=tuple(self.conditions.code.constants),
            automaton=automaton,
            image=code,
            shown=self.slots.shown,
            components=Components(
                query.positive,
                self.names,
                self.conditions.conjuncts,
                negations,
                tuple(map(as_compared, query.tested)),
                tuple(map(as_compared, query.parted)),
            ),
        )

    def _automaton(self, drawn: EdgeBuilder) -> Automaton:
        """Every stream is a feed, with the same edges."""
        query, window = self.query, self.query.window
        feeds = range(len(query.sources))
        return assemble(
            drawn.states,
            [replace(edge, input=feed, feed=feed) for feed in feeds for edge in drawn.edges],
            [[]],
            [FeedShape(len(self.columns), 1) for _ in feeds],
            self.conditions.code,
            window=-1 if window is None else window.length,
            slots=len(self.slots),
            frame=len(self.slots) + len(self.names) or 1,
            iterated=len(self.kept) + self.merges,
            fits=self.columns.index(FITS),
            previous=len(contiguities(query)),
            merges=self.merges,
            grouped=len(query.tested),
        )

    def _all_count(self) -> bool:
        """Whether an event that fits nothing may matter: it breaks contiguity."""
        return not self.optimise or any(component.strategy in CONTIGUOUS for component in self.query.components)

    def _shard_key(self, streams: int) -> ShardKey:
        """Events that differ in the key never meet, nor break each other's contiguity; that of a series which must be
        absent counts too."""
        strategies = {component.strategy for component in self.query.components}
        if not self.optimise:
            return one_shard(streams, "the query is not optimised")
        if Strategy.STRICT in strategies:
            return one_shard(streams, "strict contiguity counts every event of all streams")
        names = self.query.parted if Strategy.PARTITION in strategies else self.query.tested
        if not names:
            return one_shard(streams, "no attribute is equal in all events of a match")
        if isinstance(self.query.form, MatchAggregates):  # a group is all in one shard
            names = tuple(name for name in names if name in self.query.form.by)
        if not names:
            return one_shard(streams, "AGGREGATE groups by no attribute that is equal in all events of a match")
        columns = tuple(self.columns.index(as_compared(name)) for name in names)
        return ShardKey(tuple(map(key_text, names)), (columns,) * streams)


def _negates(query: ComponentQuery) -> bool:
    """Whether something must be absent; then the history holds the times of events."""
    return any(component.negated for component in query.components)


def _merges(query: ComponentQuery, slots: Slots) -> bool:
    """Whether runs can be merged: AGGREGATE needs only totals of the matches, and the slots decide the future of a
    run."""
    form = query.form
    if not isinstance(form, MatchAggregates) or _negates(query):
        return False
    if any(isinstance(total.of, Attribute) and total.of.index is not EventIndex.ALONE for total in form.totals):
        return False
    return slots.tell_all()


def _names(query: ComponentQuery) -> Iterator[Name]:
    """The attributes that a query names."""
    for reference in query.references.values():
        if not isinstance(reference, Length) and reference.name is not None:
            yield reference.name
    if isinstance(query.form, Return):
        for item in query.form.items:
            match item:
                case ReturnItem(given=ValueSequence(name=name)):
                    yield name
                case ReturnItem(given=Composite(names=names)):
                    yield from names
    else:
        yield from (key for key in query.form.by if isinstance(key, Name))  # others are those of PARTITION BY
        for total in query.form.totals:
            if total.of is not None:
                yield total.of.name
