"""Events of equal rows are different events, whatever tasks and micro-batches they come in: each has an id and blank
nodes of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, permutations
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import thence
from oracle import spaseq_query
from oracle.terms import Blank, Iri, integer
from strategies.spaseq import Case, Options, cases, turtle
from support.engine_cases import matched_rows, query_of
from support.shards import Pipeline
from support.spaseq_runs import background
from thence.engines.automaton.plan.spaseq import plan
from thence.rdf.events import BadEvent
from thence.rdf.terms import XSD_STRING, BlankNode, Literal, Term
from thence.rdf.times import Domain
from thence.runtime.results import column_names
from thence.runtime.watermark import TimeDomain
from thence.spark.sources.row_decoder import Decoder, decoder
from thence.spark.worker.stages import Packing

pytestmark = pytest.mark.numba

X = "http://example.org/"
SCHEMA = pa.schema({"time": pa.int64(), "end": pa.int64(), "value": pa.string()})
Events = Sequence[spaseq_query.Event]
Content = tuple[str, int, int, str]
"""What makes an event: stream, start, end, graph."""


@dataclass(frozen=True)
class OfRows(Pipeline):
    """Events that are rows of DataFrames, each read by one of some tasks. With `ids` there is a column of that name."""

    rows: Events = ()
    tasks: Sequence[int] = ()
    ids: Sequence[str | None] | None = None

    @property
    def count(self) -> int:
        return len(self.rows)

    def _packed(self, numbers: Iterable[int], *, streaming: bool) -> list[dict[str, object]]:
        found: list[dict[str, object]] = []
        listed = sorted(numbers, key=lambda number: self.tasks[number])
        for stream in self.program.streams:
            packing = Packing(
                self.program,
                stream.name,
                self.decoder(stream.name),
                TimeDomain(Domain.TICKS, "the test"),
                self.shards,
                streaming,
                self.ids is None,
                self.background,
            )
            own = [number for number in listed if self.rows[number].stream == stream.name]
            for _, task in groupby(own, key=lambda number: self.tasks[number]):
                found += [row for record in packing([self.record(list(task))]) for row in record.to_pylist()]
        return found

    def record(self, numbers: Sequence[int]) -> pa.RecordBatch:
        rows = [self.rows[number] for number in numbers]
        record = pa.RecordBatch.from_pylist(
            [{"time": row.start, "end": row.time, "value": turtle(row.graph)} for row in rows], schema=SCHEMA
        )
        if self.ids is None:
            return record
        return record.append_column("id", pa.array([self.ids[number] for number in numbers], pa.string()))

    def decoder(self, stream: str) -> Decoder:
        return decoder(stream, self.record([]).schema, namespace=X)


@dataclass
class Naming:
    """Which row an id or a blank node's label is of, and which of its equals."""

    contents: dict[str, Content] = field(default_factory=dict)

    @classmethod
    def of(cls, pipeline: OfRows) -> Naming:
        found = cls()
        for number, row in enumerate(pipeline.rows):
            for batch in pipeline.decoder(row.stream).read(pipeline.record([number])):
                assert not isinstance(batch, BadEvent)
                for event in batch:
                    assert event.id is not None
                    found.contents[event.id] = content(row)
                    for term in {term for triple in event.triples for term in triple if isinstance(term, BlankNode)}:
                        found.contents[term.value.rpartition("_")[0]] = content(row)
        return found

    def event(self, id: str) -> tuple[Content, str]:
        own, _, ordinal = (id, "", "") if id in self.contents else id.rpartition("-")
        return self.contents[own], ordinal or "1"

    def blank_node(self, label: str) -> tuple[Content, str, str]:
        owner, _, local = label.rpartition("_")
        own, _, ordinal = (owner, "", "") if owner in self.contents else owner.rpartition("x")
        return self.contents[own], ordinal or "1", local


def content(event: spaseq_query.Event) -> Content:
    return event.stream, event.start, event.time, turtle(event.graph)


def called(event: spaseq_query.Event) -> str:
    """An id that is given to some events, not all of which are equal."""
    return f"at{event.time // 3}"


def canonical(times: Any, events: Sequence[Any], cells: Mapping[str, Any]) -> object:
    """A row in which equal events are called by the order in which it speaks of them."""
    numbers: dict[tuple[Content, str], int] = {}

    def number(owner: tuple[Content, str]) -> tuple[Content, int]:
        same = [each for each in numbers if each[0] == owner[0]]
        return owner[0], numbers.setdefault(owner, len(same))

    def shown(cell: Any) -> object:
        match cell:
            case list() | tuple() if cell and cell[0] == "blank":
                return number(cell[1]), cell[2]
            case list():
                return tuple(map(shown, cell))
            case _:
                return str(cell)

    own = tuple(event if isinstance(event, str) else number(event) for event in events)
    return times, own, tuple((name, shown(cells[name])) for name in sorted(cells))


def expected_rows(case: Case, *, are_distinct: bool) -> Counter[object]:
    """What one process finds; `are_distinct`: ids distinguish equal events."""
    by_id = {event.id: event for event in case.events}
    places = {name: [e for e in case.events if e.stream == name] for name in case.query.streams}

    def cell(term: Term | tuple[Term, ...]) -> object:
        if isinstance(term, tuple):
            return list(map(cell, term))
        if not isinstance(term, BlankNode):
            return term
        stream, position, local = term.value.split("_")
        event = places[stream][int(position)]
        return ("blank", (content(event), event.id), local)

    rows = []
    for row in matched_rows(case):
        events = [(content(by_id[id]), id) if are_distinct else called(by_id[id]) for id in row.event_ids]
        rows.append(canonical(row.times, events, {k: cell(v) for k, v in row.bindings.items()}))
    return Counter(rows)


def found_rows(
    query: thence.Query, pipeline: OfRows, rows: Iterable[Mapping[str, Any]], *, are_distinct: bool
) -> Counter[Any]:
    names = dict(zip(column_names(list(query.columns)), query.columns, strict=True))
    naming = Naming.of(pipeline)

    def cell(found: Any) -> object:
        if isinstance(found, list):
            return list(map(cell, found))
        match found["type"]:
            case "uri":
                return f"<{found['value']}>"
            case "bnode":
                own, ordinal, local = naming.blank_node(found["value"])
                return ("blank", (own, ordinal), local)
            case _:
                return Literal(found["value"], found["datatype"] or XSD_STRING, found["language"])

    listed = []
    for row in rows:
        cells = {names[name]: cell(row[name]) for name in names if row[name] is not None}
        events = [naming.event(id) if are_distinct else id for id in row["events"]]
        listed.append(canonical((row["start"], row["end"]), events, cells))
    return Counter(listed)


@st.composite
def repeated(draw: st.DrawFn) -> Case:
    """Cases with blank nodes, in which some events come twice or more."""
    case = draw(cases(Options(blank_nodes=True, most_events=5)))
    more = draw(st.lists(st.sampled_from(case.events), max_size=3)) if case.events else []
    again = [replace(event, id=f"{event.id}again{number}") for number, event in enumerate(more)]
    return replace(case, events=(*case.events, *again))


@given(st.data(), repeated(), st.sampled_from(["without", "null", "given"]))
def test_events_of_equal_rows_are_told_apart_wherever_they_are_read(data: st.DataObject, case: Case, kind: str) -> None:
    query = query_of(case)
    latest = max((event.time for event in case.events), default=0)
    ends = [nothing(stream, 2 * latest + 100) for stream in case.query.streams]  # when everything is certain
    ways: list[list[Mapping[str, Any]]] = []
    for shards in (1, 3):
        lateness = data.draw(st.sampled_from([0, latest]))
        shuffled = data.draw(st.permutations(case.events))
        rows = [*(shuffled if lateness else sorted(shuffled, key=lambda event: event.time)), *ends]
        tasks = [data.draw(st.integers(0, 2)) for _ in rows]
        ids = {"without": None, "null": [None] * len(rows), "given": [called(row) for row in rows]}[kind]
        middle = data.draw(st.integers(0, len(rows)))
        program = plan(query.algebra)
        pipeline = OfRows(program, (), shards, background(case), lateness, rows=rows, tasks=tasks, ids=ids)
        ways.append(pipeline.batch())
        if not case.query.distinct:  # of which the first row is that of a micro-batch
            ways.append(pipeline.micro_batches([range(middle), range(middle, len(rows))]))
    whole = [Counter(repr(sorted(row.items(), key=lambda cell: cell[0])) for row in found) for found in ways]
    assert all(each == whole[0] for each in whole)  # ids, labels, and names of matches, too
    if not (query.constructs or case.query.distinct):
        are_distinct = kind != "given"
        assert found_rows(query, pipeline, ways[0], are_distinct=are_distinct) == expected_rows(
            case, are_distinct=are_distinct
        )
        shown = {repr(sorted((row | {"match_id": None}).items(), key=str)) for row in ways[0]}
        assert not are_distinct or len({row["match_id"] for row in ways[0]}) >= len(shown)


def nothing(stream: str, time: int) -> spaseq_query.Event:
    return spaseq_query.Event(stream, time, frozenset(), f"{stream} ends")


JOINED = """PREFIX : <http://example.org/> SELECT ?x WITHIN 10 TICKS FROM STREAM S <http://example.org/s>
    { SEQ (A & B) DEFINE GPM A ON S { ?x :p ?a } DEFINE GPM B ON S { ?x :p ?b } }"""
EQUAL = [spaseq_query.Event("S", 1, frozenset({(Blank("b"), Iri("p"), integer(1))}), f"e{number}") for number in (0, 1)]


@pytest.mark.parametrize("ids", [None, [None, None], ["e", "e"]])
@pytest.mark.parametrize("shards", [1, 3])
def test_a_blank_node_joins_no_equal_event_of_another_task_or_micro_batch(ids: list[str] | None, shards: int) -> None:
    pipeline = OfRows(plan(thence.parse(JOINED).algebra), (), shards, rows=EQUAL, tasks=[0, 1], ids=ids)
    for found in (pipeline.batch(), pipeline.micro_batches([[0], [1]])):
        assert len({row["x"]["value"] for row in found}) == len(found) == 2
        assert {tuple(Counter(row["events"]).values()) for row in found} == {(2,)}
        assert len({row["match_id"] for row in found}) == 2
        assert ids == ["e", "e"] or len({row["events"][0] for row in found}) == 2


def test_matches_that_differ_in_an_iterations_value_have_different_names() -> None:
    query = thence.parse("""PREFIX : <http://example.org/> SELECT (COLLECT(?a) AS ?all) WITHIN 10 TICKS
        FROM STREAM S <http://example.org/s> { SEQ (A+) DEFINE GPM A ON S { ?x :p ?a } }""")
    graphs = [frozenset((Iri("n"), Iri("p"), integer(number)) for number in numbers) for numbers in ((1, 2), (1,))]
    rows = [spaseq_query.Event("S", time, graph, "e") for time, graph in enumerate(graphs)]
    found = OfRows(plan(query.algebra), (), 1, rows=rows, tasks=[0, 0]).batch()
    both = [row["match_id"] for row in found if len(row["events"]) == 2]
    assert len(both) == len(set(both)) == 2  # 1 1 and 2 1


def test_of_equal_rows_of_distinct_the_same_match_is_the_first_whatever_came_first() -> None:
    query = thence.parse("""PREFIX : <http://example.org/> SELECT DISTINCT ?a WITHIN 10 TICKS
        FROM STREAM S <http://example.org/s> { SEQ (A & (B | B)) DEFINE GPM A ON S { :n :p ?a }
        DEFINE GPM B ON S { ?x :q ?b } }""")
    graphs = [frozenset({(Iri("n"), Iri("p"), integer(1))})]
    graphs += [frozenset({(Iri(name), Iri("q"), integer(1))}) for name in "xy"]
    rows = [spaseq_query.Event("S", 1, graph, "e") for graph in graphs]
    found = set()
    for some in permutations(rows):
        pipeline = OfRows(plan(query.algebra), (), 1, rows=some, tasks=[0, 1, 2], ids=["e"] * 3)
        found.add(tuple(row["match_id"] for row in pipeline.batch()))
    assert len(found) == 1 and len(*found) == 1
