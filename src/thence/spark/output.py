"""What comes out, as columns: a row for each match; and for each problem, where they are asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from thence.algebra.components import ComponentQuery, Return, Totals
from thence.algebra.sequences import Column, ConstructEvents, IterationFunction, SelectRows, SequenceQuery
from thence.kernel.cells import csv_text, described, lexical, struct_type, structs
from thence.kernel.fingerprints import match_ids
from thence.kernel.projection import Row, partial_rows, rows, total_rows
from thence.kernel.sequence import Matches
from thence.kernel.timeouts import TimedOut, waited_for
from thence.kernel.totals import add_matches
from thence.local.answers import constructed
from thence.local.columns import OURS, column_names
from thence.local.made import made_event
from thence.local.results import Namesakes, match_uuid
from thence.local.tables import is_plain, places_of
from thence.program.sequence import SequenceProgram
from thence.rdf.events import Event
from thence.rdf.formats import Format
from thence.rdf.terms import Term
from thence.rdf.texts import Texts
from thence.rdf.times import Domain, format_time
from thence.rdf.write import serialize
from thence.spark.shapes import Types, array_of, column_types, typed_array
from thence.spark.shard import Shard

PROBLEM_COLUMNS = ("problem", "reason", "event", "stream")
INNER = tuple(f"?{name}" for name in PROBLEM_COLUMNS)
"""The same, as long as they are not shown: names that no variable has."""
HIDDEN = ("?certain", "?last", "?first")
"""When a row became certain, and when its match's last and first event were: what answers are ordered by."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """A row of `problems`."""

    problem: str
    reason: str
    event: str | None
    stream: str


@dataclass(frozen=True, slots=True)
class Output:
    """How answers are written: `terms` is "text" for lexical values, or "struct" for terms whole. Each column costs
    Spark something: without `problems`, of a problem only its kind is told, to be counted, and without `ordered` not
    when a row became certain."""

    program: SequenceProgram
    domain: Domain
    terms: str = "text"
    problems: bool = False
    ordered: bool = True
    attributes: Types | None = None  # of SASE+: the types of attributes, where they have some
    feeds: int | None = None  # if other queries read what is answered: the number of its block

    @property
    def columns(self) -> dict[str, tuple[str, pa.DataType]]:
        """SELECT's or RETURN's columns, by the names that they have in a table: how they are called in the query, and
        their types; none for CONSTRUCT."""
        query = self.program.query
        if self.makes_events:
            return {}
        cell = struct_type() if self.terms == "struct" else pa.string()
        if isinstance(query, ComponentQuery):
            found = column_types(query, self.attributes if self.terms == "text" else None, cell)
        else:
            assert isinstance(query.form, SelectRows)
            found = {each.variable.name: pa.list_(cell) if _is_list(each) else cell for each in query.form.columns}
        taken = (*OURS, *PROBLEM_COLUMNS) if self.problems else OURS
        return dict(zip(column_names(list(found), taken=taken), found.items(), strict=True))

    @property
    def makes_events(self) -> bool:
        return self.feeds is not None or self.constructs

    @property
    def constructs(self) -> bool:
        return isinstance(self.program.query.form, ConstructEvents)

    @property
    def told(self) -> tuple[str, ...]:
        """The columns of problems."""
        return PROBLEM_COLUMNS if self.problems else PROBLEM_COLUMNS[:1]

    @property
    def is_distinct(self) -> bool:
        form = self.program.query.form
        return isinstance(form, SelectRows) and form.distinct

    @property
    def is_totalled(self) -> bool:
        return isinstance(self.program.query.form, Totals)

    def totals(self, shard: Shard, found: Iterable[Matches], *, ends: bool) -> Iterator[pa.RecordBatch]:
        """AGGREGATE: a row for each group with new matches, if that `ends` what is to be told together."""
        components, known, form = self.program.components, shard.state.totals, self.program.query.form
        assert components is not None and isinstance(form, Totals)
        for matches in found:
            add_matches(self.program, components, shard.state, known, matches)
        if not ends:
            return
        rows = list(total_rows(form, known))
        if rows:
            yield self._totalled(rows)

    def _totalled(self, rows: Sequence[Row]) -> pa.RecordBatch:
        cells = self._cells(rows)
        times = [np.array(each, np.int64) for each in zip(*((r.start, r.end, r.certain) for r in rows), strict=True)]
        names = [match_uuid((row.start, row.end), (), (), row.bindings).hex for row in rows]
        events = pa.array([[]] * len(rows), pa.list_(pa.string()))
        order = (times[2], times[1], times[0])
        return self._batch((times[0], times[1]), cells, pa.array(names, pa.string()), events, order)

    def schema(self) -> pa.Schema:
        time = pa.int64() if self.domain is Domain.TICKS else pa.timestamp("us", "UTC")
        if self.makes_events:  # as `dataframe` takes them
            fields = [("time", time), ("end", time), ("id", pa.string()), ("value", pa.string())]
        else:
            fields = [("start", time), ("end", time)]
        fields += [(name, kind) for name, (_, kind) in self.columns.items()]
        fields += [("match_id", pa.string()), ("events", pa.list_(pa.string()))]
        fields += [(name, pa.string()) for name in INNER[: len(self.told)]]
        return pa.schema([*fields, *((name, pa.int64()) for name in HIDDEN if self.ordered)])

    def matches(self, matches: Matches, shard: Shard) -> pa.RecordBatch:
        """The rows of some matches that a shard has just made."""
        ids = shard.names.of(matches.refs)
        names = match_ids(matches, ids, shard.state.terms, iterations=self.program.components is None)
        offsets = pa.array(matches.offsets.astype(np.int32))
        events = pa.ListArray.from_arrays(offsets, ids.to_arrow())
        if self.makes_events:
            return self._constructed(matches, ids, names.to_arrow(), events, shard)
        if is_plain(self.program, matches):
            first, last = matches.first, matches.last
            cells = self._plain_cells(matches, shard)
            return self._batch((first, last), cells, names.to_arrow(), events, (matches.certain, last, first))
        kept = self._rows(matches, ids, names, shard)
        order = np.array([number for number, _ in kept], np.int64)
        some = pa.array(order)
        first, last, certain = matches.first[order], matches.last[order], matches.certain[order]
        cells = self._cells([row for _, row in kept])
        return self._batch((first, last), cells, names.to_arrow().take(some), events.take(some), (certain, last, first))

    def _constructed(self, matches: Matches, ids: Texts, names: Any, events: Any, shard: Shard) -> pa.RecordBatch:
        """The events that matches make, each at the time at which it became certain, in N-Triples."""
        own, made, chosen, namesakes = ids.to_list(), [], [], Namesakes()
        every = rows(self.program, matches, shard.state.terms, shard.context)
        for row in sorted(every, key=lambda row: row.certain):
            first, last = matches.offsets[row.number : row.number + 2].tolist()
            event = self._event(row, own[first:last], namesakes, shard)
            if event is not None:
                made.append(event)
                chosen.append(row.number)
        some = pa.array(chosen, pa.int64())
        values = [serialize(event.triples, Format.N_TRIPLES).decode() for event in made]
        order = tuple(times[np.array(chosen, np.int64)] for times in (matches.certain, matches.last, matches.first))
        cells = [pa.array([event.id for event in made], pa.string()), pa.array(values, pa.string())]
        return self._batch((order[0], order[0]), cells, names.take(some), events.take(some), order)

    def _event(self, row: Row, ids: Sequence[str], namesakes: Namesakes, shard: Shard) -> Event | None:
        form = self.program.query.form
        if isinstance(form, Return):
            assert self.feeds is not None
            return made_event(form, row, ids, self.domain, self.program.query.namespace, block=self.feeds)
        assert isinstance(form, ConstructEvents)
        name = namesakes.told_apart(row.certain, match_uuid((row.start, row.end), ids, row.places, row.bindings))
        return constructed(form, row.bindings, name, row.certain, self.domain, shard.context)

    def _plain_cells(self, matches: Matches, shard: Shard) -> list[Any]:
        made = structs if self.terms == "struct" else lexical
        typed = self.terms == "text" and self.attributes is not None and self.program.components is not None
        terms, found = shard.state.terms, []
        for place, (_, kind) in zip(places_of(self.program), self.columns.values(), strict=True):
            tags, bits = matches.tags[:, place], matches.bits[:, place]
            found.append(typed_array(tags, bits, terms, kind) if typed else made(tags, bits, terms))
        return found

    def _rows(self, matches: Matches, ids: Texts, names: Texts, shard: Shard) -> list[tuple[int, Row]]:
        """The rows of matches, each with its match's number; of DISTINCT ones those that are new: the same in any run,
        in whatever order events of one time came."""
        every = rows(self.program, matches, shard.state.terms, shard.context)
        made = [(row.number, row) for row in every]
        if not self.is_distinct:
            return made
        texts, named = ids.to_list(), names.to_list()

        def order(numbered: tuple[int, Row]) -> tuple[int, int, int, list[str], str, str]:
            number, row = numbered
            own = texts[int(matches.offsets[number]) : int(matches.offsets[number + 1])]
            return row.certain, row.end, row.start, own, _shown(row), named[number]

        found = []
        for number, row in sorted(made, key=order):
            if (shown := _shown(row)) not in shard.seen:
                shard.seen.add(shown)
                found.append((number, row))
        return found

    def _cells(self, listed: Sequence[Row]) -> list[Any]:
        typed = self.terms == "text" and self.attributes is not None
        return [
            array_of([row.bindings.get(name) for row in listed], kind, None if typed else self._term)
            for name, kind in self.columns.values()
        ]

    def _term(self, term: Term) -> Any:
        return described(term) if self.terms == "struct" else csv_text(term)

    def _batch(
        self, between: Sequence[Any], cells: list[Any], names: Any, events: Any, order: Sequence[Any]
    ) -> pa.RecordBatch:
        schema = self.schema()
        time = schema.field("end").type
        times = [pa.array(np.ascontiguousarray(each)).cast(time) for each in between]
        nothing = [pa.nulls(len(names), pa.string())] * len(self.told)
        hidden = [pa.array(np.ascontiguousarray(each)) for each in order if self.ordered]
        return pa.RecordBatch.from_arrays([*times, *cells, names, events, *nothing, *hidden], schema=schema)

    def troubles(self, listed: Iterable[Trouble]) -> pa.RecordBatch:
        """Rows of problems: all other columns are null."""
        names = list(zip(INNER, self.told, strict=False))
        made = [{inner: getattr(each, name) for inner, name in names} for each in listed]
        return pa.RecordBatch.from_pylist(made, schema=self.schema())

    def timed_out(self, found: TimedOut, shard: Shard) -> Iterator[Trouble]:
        """What became of partial matches whose window has ended, in order; told of their last events."""
        matches = found.matches
        ids = shard.names.of(matches.refs).to_list()
        made = partial_rows(self.program, matches, shard.state.terms)
        told = []
        for number, (row, state) in enumerate(zip(made, found.states.tolist(), strict=True)):
            own = ids[int(matches.offsets[number]) : int(matches.offsets[number + 1])]
            missing = waited_for(self.program, state)
            reason = f"{missing} had not come by {format_time(row.certain, self.domain)}, when its window ended"
            stream = self._stream(row.places[-1])
            told.append(((row.certain, row.end, row.start, own), Trouble("timed_out", reason, own[-1], stream)))
        return (trouble for _, trouble in sorted(told, key=lambda pair: pair[0]))

    def _stream(self, place: int) -> str:
        from thence.algebra.closures import occurrences

        query = self.program.query
        assert isinstance(query, SequenceQuery)
        found = (each for part in query.sequence for each in occurrences(part.operand))
        return next(query.gpm(each.gpm).stream for each in found if each.place == place)


def _is_list(column: Column) -> bool:
    return any(asked.function is IterationFunction.COLLECT for _, asked in column.aggregates)


def _shown(row: Row) -> str:
    return repr(sorted(row.bindings.items(), key=lambda item: item[0]))
