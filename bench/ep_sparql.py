"""EP-SPARQL in one process: temporal joins, rules, aggregates and reasoning, each beside something else.

Usage: python bench/ep_sparql.py [--events 50000] [--repeat 3] [--quick]
                                 [--only sequence sliding reasoning agents state]

Part      | what it measures
--------- | ---------------------------------------------------------------------------------------------------------
sequence  | query (1)'s SEQ of three within 1,000 ticks, beside the SPAseQ automaton and a Numba loop: the same rows
sliding   | running averages, by aggregates and by rules: events/s against the size of the window
reasoning | instances of a class with 40,080 subclasses, beside no reasoning, and beside owlrl where it is installed
agents    | examples/goods_delivery with 1 to 10 agents: time and memory
state     | solutions that are stored along a stream, where a bound exists

Contenders take turns, and each one's best CPU time counts. The hierarchy is $THENCE_DATA/vascular_plants, or else a
generated one of the same size and depth. `--quick` only shows that all parts run: its figures mean nothing. The full
size of the sequence is --events 1000000, that of the state --state-events 5000000.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import os
import random
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numba import njit
from pyarrow import parquet
from rich.table import Table

import thence
from stocks import ours, ticks
from stocks.contenders import CONSOLE, Time, agreeing, measured, resident, show
from thence.columns.column_batch import Batch
from thence.columns.event_batch import encode
from thence.io.background_data import load_background
from thence.local.flow import LocalFlow
from thence.match.background import NO_BACKGROUND, Background
from thence.program.operator import NEVER, Environment
from thence.query.languages import CompileOptions
from thence.rdf.events import Event

ROOT = Path(__file__).parent.parent
EX = "http://example.org/"
PLANTS = "http://example.org/plants#"
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
SUB_CLASS = "http://www.w3.org/2000/01/rdf-schema#subClassOf"
COLUMNS = ("company", "start", "end", "p1", "p2", "p3")
FEW = 20_000
"""Ticks of which all contenders' rows are compared."""
BAND = 500
"""Cents that prices turn back at, where the state is measured."""
TOGETHER = 4096
"""Events that are fed at a time, where a flow is fed by hand."""


def query_of(text: str) -> thence.Query:
    return thence.parse(text, language="ep-sparql")


def within(text: str, window: int) -> str:
    return text.replace("WINDOW", str(window))


# A flow, fed by hand


@dataclass(slots=True)
class Fed:
    """A run so far: its events and rows, the solutions that are stored, and what the state takes."""

    events: int = 0
    rows: int = 0
    stored: int = 0
    kilobytes: float = 0.0

    def __len__(self) -> int:
        return self.rows


def flow_of(text: str, background: Background = NO_BACKGROUND, *, reasoning: str | None = None) -> LocalFlow:
    return LocalFlow(query_of(text).dataflow(CompileOptions(reasoning=reasoning)), Environment(background))


def stepped(flow: LocalFlow, batches: Iterable[Batch]) -> Iterator[Fed]:
    """The flow over batches in the order of time, reported after each of them and at the end."""
    (name,) = (stream.name for stream in flow.dataflow.streams)
    so_far = Fed()
    for batch in batches:
        so_far.rows += sum(1 for _ in flow.feed({name: [batch]}, int(batch.ends[-1]) + 1))
        so_far.events += len(batch)
        so_far.stored = stored(flow)
        yield so_far
    so_far.rows += sum(1 for _ in flow.feed({}, NEVER))
    yield so_far


def stored(flow: LocalFlow) -> int:
    """The solutions that wait in all nodes of the networks."""
    return sum(len(table) for host in flow.hosts for table in host.state.tables())


def state_bytes(flow: LocalFlow) -> int:
    """The size of the snapshot's columns."""
    return sum(array.nbytes for host in flow.hosts for array in host.snapshot()[1])


def whole(flow: LocalFlow, batches: Iterable[Batch]) -> Fed:
    *_, last = stepped(flow, batches)
    return last


def cut(events: Sequence[Event], together: int = TOGETHER) -> list[Batch]:
    """Batches that are encoded one by one: events must not have blank nodes, whose labels would recur."""
    return [encode(events[first : first + together]) for first in range(0, len(events), together)]


def tick_batches(count: int, together: int) -> Iterator[Batch]:
    """Ticks that fall as often, however long the stream is: the solutions that can be stored do not become more."""

    def records() -> Iterator[pa.RecordBatch]:
        for record in ticks.ticks(count, within=BAND):
            for first in range(0, record.num_rows, together):
                yield record.slice(first, together)

    return ours.as_batches(records())


# Query (1)

FALL, RISE = 0.995, 1.002
"""Query (1) asks for 0.7 and 1.05, which generated prices never reach within the window."""

SEQUENCE = f"""PREFIX : <{EX}>
SELECT ?company ?p1 ?p2 ?p3 WHERE
  {{ ?company price ?p1 }}
  SEQ {{ ?company price ?p2 }}
  SEQ {{ ?company price ?p3 }}
  FILTER ( ?p2 < ?p1 * {FALL} && ?p3 > ?p1 * {RISE} && getDURATION() < WINDOW )"""

AUTOMATON = f"""PREFIX : <{EX}>
SELECT ?company ?p1 ?p2 ?p3
WITHIN WINDOW TICKS
FROM STREAM S <{EX}ticks>
WHERE {{
  SEQ (A : B : C)
  DEFINE GPM A ON S {{ ?company :price ?p1 }}
  DEFINE GPM B ON S {{ ?company :price ?p2 FILTER(?p2 < ?p1 * {FALL}) }}
  DEFINE GPM C ON S {{ ?company :price ?p3 FILTER(?p3 > ?p1 * {RISE}) }}
}}"""


def by_joins(path: Path, window: int) -> pa.Table:
    return query_of(within(SEQUENCE, window)).match(path).table()


def by_automaton(path: Path, window: int) -> pa.Table:
    return ours.table(within(AUTOMATON, window - 1), path)


def by_loop(path: Path, window: int) -> pa.Table:
    """By hand: a tick goes back through the ticks of its company, for a lower price and one before that."""
    columns = ["time", "subject", "price"]
    table = parquet.read_table(path, columns=columns, read_dictionary=["subject"], use_threads=False)
    times, companies, prices = (column.combine_chunks() for column in table.unify_dictionaries().columns)
    codes, names = companies.indices.to_numpy(), companies.dictionary
    places = _falls(times.to_numpy(), codes, prices.to_numpy(), len(names), window, FALL, RISE)
    a, b, c = (pa.array(row) for row in places)
    return pa.table(
        [companies.take(a), times.take(a), times.take(c), prices.take(a), prices.take(b), prices.take(c)],
        names=list(COLUMNS),
    )


@njit(cache=True)
def _falls(times, codes, prices, companies, window, fall, rise):
    places = np.empty((3, len(times)), np.int64)
    count = 0
    last = np.full(companies, -1, np.int64)
    before = np.empty(len(times), np.int64)  # the tick of the company before
    for c in range(len(times)):
        b = before[c] = last[codes[c]]
        last[codes[c]] = c
        while b >= 0 and times[c] - times[b] < window:
            a = before[b]
            while a >= 0 and times[c] - times[a] < window:
                if prices[b] < prices[a] * fall and prices[c] > prices[a] * rise:
                    if count == places.shape[1]:
                        larger = np.empty((3, 2 * count), np.int64)
                        larger[:, :count] = places
                        places = larger
                    places[0, count], places[1, count], places[2, count] = a, b, c
                    count += 1
                a = before[a]
            b = before[b]
    return places[:, :count]


def sequence(options: argparse.Namespace) -> None:
    with tempfile.TemporaryDirectory() as folder:
        few, path = Path(folder) / "few.parquet", Path(folder) / "ticks.parquet"
        ticks.write(few, min(FEW, options.events))
        ticks.write(path, options.events)
        expected = in_order(by_loop(few, options.window))
        for contender in (by_joins, by_automaton):
            assert in_order(contender(few, options.window)) == expected, contender.__name__
        CONSOLE.print(f"sequence: the same {len(expected):,} rows of the first ticks from all")
        contenders: dict[str, Callable[[], Sized]] = {
            "EP-SPARQL": partial(by_joins, path, options.window),
            "SPAseQ automaton": partial(by_automaton, path, options.window),
            "Numba loop": partial(by_loop, path, options.window),
        }
        times = agreeing(measured(contenders, options.repeat))
        show(f"SEQ of three, {options.events:,} ticks, less than {options.window:,}", times, options.events)
        ratio = times["EP-SPARQL"].cpu / times["SPAseQ automaton"].cpu
        CONSOLE.print(f"EP-SPARQL takes {ratio:.2f} times as long as the automaton (aim: 3)")


def in_order(table: pa.Table) -> list[tuple[object, ...]]:
    return sorted(zip(*(table[name].to_pylist() for name in COLUMNS), strict=True))


# Sliding aggregation

PAIRS = f"""PREFIX : <{EX}>
SELECT ?average WHERE {{
  SELECT (SUM(?price) / COUNT(?price) AS ?average)
  WHERE {{ {{ :ACME price ?price }} SEQ {{ :ACME price ?now }} FILTER(getDURATION() < WINDOW) }}
  GROUP BY (getENDTIME() AS ?time)
}}"""

GROUPED = f"""PREFIX : <{EX}>
SELECT ?average WHERE {{
  SELECT (SUM(?price) / COUNT(?price) AS ?average)
  WHERE {{ :ACME price ?price }}
  GROUP BY (FLOOR(getENDTIME() / WINDOW) AS ?number)
}}"""

KEYED = f"""PREFIX : <{EX}>
CONSTRUCT {{ _:p :of ?number ; :hasCount 1 ; :hasSum ?price }}
WHERE {{ ?tick :price ?price ; :window ?number ; :after 0 FILTER(getDURATION() < 1) }}

CONSTRUCT {{ _:p :of ?number ; :hasCount ?count ; :hasSum ?sum }}
WHERE {{
  {{ ?point :of ?number ; :hasCount ?before ; :hasSum ?sumBefore }}
  SEQ {{ ?tick :price ?price ; :window ?number ; :after ?before FILTER(getDURATION() < 1) }}
  FILTER(getDURATION() < WINDOW)
  BIND(?before + 1 AS ?count)
  BIND(?sumBefore + ?price AS ?sum)
}}

SELECT (?sum / ?count AS ?average)
WHERE {{ ?point :hasCount ?count ; :hasSum ?sum FILTER(getDURATION() < WINDOW) }}"""


def paper_rules(window: int) -> str:
    """Queries (5) and (6) of the examples, in ticks. With a price at each, the one before a window is as old."""
    text = (ROOT / "examples" / "ep_sparql" / "average.epsparql").read_text(encoding="utf-8")
    inside, longer = 'getDURATION() < "P10D"^^xsd:duration', 'getDURATION() > "P10D"^^xsd:duration'
    assert inside in text and longer in text
    text = text.replace(inside, f"getDURATION() < {window}").replace(longer, f"getDURATION() >= {window}")
    return text.replace("hasStockPrice", "price")


def prices(count: int, window: int) -> list[Event]:
    """One price of ACME at each tick."""
    draw = random.Random(7)
    return [Event(number, f"<{EX}ACME> <{EX}price> {draw.randrange(100)} .") for number in range(count)]


def numbered_prices(count: int, window: int) -> list[Event]:
    """The same; each knows its window, and how many came before it there."""
    draw = random.Random(7)
    return [
        Event(
            number,
            f"<{EX}tick/{number}> <{EX}price> {draw.randrange(100)} ; "
            f"<{EX}window> {number // window} ; <{EX}after> {number % window} .",
        )
        for number in range(count)
    ]


@dataclass(frozen=True, slots=True)
class Sliding:
    """A way to write a running average. The slower ones get a `share` of the events, but two windows at least."""

    title: str
    text: Callable[[int], str]
    events: Callable[[int, int], list[Event]]
    windows: Sequence[int]
    share: float = 1.0


def sliding(options: argparse.Namespace) -> None:
    ways = (
        Sliding("GROUP BY number", partial(within, GROUPED), prices, options.windows),
        Sliding("GROUP BY end", partial(within, PAIRS), prices, options.windows[:-1], 0.5),
        Sliding("rules, keyed", partial(within, KEYED), numbered_prices, options.windows[:-1], 0.25),
        Sliding("rules (5), (6)", paper_rules, prices, options.rule_windows, 0.02),
    )
    table = Table(title="Running averages, ticks of one company", title_justify="left")
    for heading in ("", "window", "events", "rows", "CPU µs", "events/s", "ratio", "stored", "state KB"):
        table.add_column(heading, justify="right" if heading else "left")
    for way in ways:
        base = 0.0
        for window in way.windows:
            count = max(2 * window, int(options.sliding_events * way.share))  # the window must fill
            batches = cut(way.events(count, window), 256)
            best, most = Time(), Fed()
            for _ in range(min(options.repeat, 2)):
                flow = flow_of(way.text(window))
                best, most = better(best, flow, batches)
            each = best.cpu / count
            base = base or each
            numbers = (
                f"{1e6 * each:,.0f}",
                f"{1 / each:,.0f}",
                f"{each / base:.2f}",
                f"{most.stored:,}",
                f"{most.kilobytes:,.0f}",
            )
            table.add_row(way.title, f"{window:,}", f"{count:,}", f"{best.found:,}", *numbers)
    CONSOLE.print(table)
    CONSOLE.print("CPU µs: of an event; ratio: to the smallest window (aim: 1, flat).")
    CONSOLE.print("stored: solutions, at most; state: all of it, at the last event.")
    CONSOLE.print("By end, and by (5) and (6), an event meets all that are in its window.")


def better(best: Time, flow: LocalFlow, batches: Sequence[Batch]) -> tuple[Time, Fed]:
    """One more run, and the better time; what is stored is the most of the run, the state's size that before its end,
    which is not timed."""
    gc.collect()
    most = Fed()
    cpu, wall = time.process_time(), time.perf_counter()
    apart_cpu = apart_wall = 0.0
    for so_far in stepped(flow, batches):
        most = Fed(so_far.events, so_far.rows, max(most.stored, so_far.stored), most.kilobytes)
        if so_far.events == sum(map(len, batches)) and not most.kilobytes:
            before_cpu, before_wall = time.process_time(), time.perf_counter()
            most.kilobytes = state_bytes(flow) / 1e3
            apart_cpu, apart_wall = time.process_time() - before_cpu, time.perf_counter() - before_wall
    taken = time.process_time() - cpu - apart_cpu, time.perf_counter() - wall - apart_wall
    return Time(min(best.cpu, taken[0]), min(best.wall, taken[1]), most.rows), most


# Reasoning

TOP = PLANTS + "Tracheobionta"
INSTANCES = f"SELECT ?plant WHERE {{ ?plant a <{TOP}> }}"
ANY = "SELECT ?plant WHERE { ?plant a ?class }"
OWLRL_CLASSES, OWLRL_TRIPLES = 1_000, 100
"""owlrl closes the whole graph anew, and takes minutes for all classes."""


def hierarchy(classes: int) -> tuple[str, list[tuple[str, str]]]:
    """(class, superclass) of classes below Tracheobionta, and where they come from; a superclass comes first."""
    path = Path(os.environ.get("THENCE_DATA", "")) / "vascular_plants" / "subclass_40080.nt.gz"
    if os.environ.get("THENCE_DATA") and path.is_file():
        with gzip.open(path, "rt", encoding="utf-8") as file:
            lines = [line.split() for line in file]
        return "vascular plants", _below("Tracheobionta", [(each[0][1:-1], each[2][1:-1]) for each in lines])[:classes]
    draw = random.Random(7)
    levels = [["Tracheobionta"]]
    found = []
    for level, size in enumerate((1, 4, 40, 400, 4_000, 15_000, 20_635), 1):  # 40,080 together
        names = [f"C{level}_{number}" for number in range(size)]
        found += [(PLANTS + name, PLANTS + draw.choice(levels[-1])) for name in names]
        levels.append(names)
    return "generated", found[:classes]


def _below(top: str, links: Iterable[tuple[str, str]]) -> list[tuple[str, str]]:
    """The links below a class, superclasses first."""
    under: dict[str, list[str]] = {}
    for name, above in links:
        under.setdefault(above, []).append(name)
    found, seen, waiting = [], {PLANTS + top}, [PLANTS + top]
    for above in waiting:
        for name in under.get(above, ()):
            if name not in seen:
                seen.add(name)
                waiting.append(name)
                found.append((name, above))
    return found


def instances(classes: Sequence[str], count: int) -> list[tuple[str, str]]:
    """Plants, each with its class."""
    draw = random.Random(7)
    return [(f"{EX}plant/{number}", draw.choice(classes)) for number in range(count)]


def typed(plants: Iterable[tuple[str, str]]) -> list[Event]:
    """An event for each plant, of one triple."""
    return [Event(number, f"<{plant}> <{RDF_TYPE}> <{name}> .") for number, (plant, name) in enumerate(plants)]


def schema_of(links: Iterable[tuple[str, str]], folder: Path) -> Background:
    path = folder / "hierarchy.nt"
    path.write_text("".join(f"<{name}> <{SUB_CLASS}> <{above}> .\n" for name, above in links), encoding="utf-8")
    return Background(load_background(path))


def reasoning(options: argparse.Namespace) -> None:
    source, links = hierarchy(options.classes)
    with tempfile.TemporaryDirectory() as folder:
        schema = schema_of(links, Path(folder))
        start = time.process_time()
        flow_of(INSTANCES, schema, reasoning="rdfs")
        loading = time.process_time() - start
        CONSOLE.print(f"reasoning: {len(links):,} classes ({source}), closed and loaded in {loading:.1f} s CPU")
        below = [name for name, _ in links]
        for count, together in ((options.events, TOGETHER), (min(options.single, options.events), 1)):
            inferred = cut(typed(instances(below, count)), together)
            named = cut(typed(instances([TOP], count)), together)
            runs = {
                "with reasoning": Reasoned(INSTANCES, inferred, schema),
                "without, any class": Reasoned(ANY, inferred),
                "without, of that class": Reasoned(INSTANCES, named),
            }
            times = agreeing(in_turns(runs, options.repeat))
            assert times["with reasoning"].found == count
            how = "one at a time" if together == 1 else f"in batches of {together:,}"
            show(f"{count:,} triples, {how}", times, count)
            best, *others = (each.cpu for each in times.values())
            ratios = ", ".join(f"{best / other - 1:+.0%}" for other in others)
            CONSOLE.print(f"{1e6 * best / count:.1f} µs a triple; beside none: {ratios} (aim: less than +20 %)")
        beside_owlrl(links[:OWLRL_CLASSES], Path(folder))


@dataclass(frozen=True, slots=True)
class Reasoned:
    """A query over triples, with reasoning if there is a schema."""

    text: str
    batches: Sequence[Batch]
    schema: Background | None = None

    def flow(self) -> LocalFlow:
        if self.schema is None:
            return flow_of(self.text)
        return flow_of(self.text, self.schema, reasoning="rdfs")


def in_turns(runs: Mapping[str, Reasoned], repeat: int) -> dict[str, Time]:
    """The feeding of each run, without the loading of its background."""
    best = {name: Time() for name in runs}
    for _ in range(repeat):
        for name, run in runs.items():
            best[name], _ = better(best[name], run.flow(), run.batches)
    return best


def beside_owlrl(links: Sequence[tuple[str, str]], folder: Path) -> None:
    """From a schema in memory to the instances of the class, where owlrl starts from nothing and so do we."""
    try:
        import owlrl  # type: ignore[import-not-found, unused-ignore]
        import rdflib
    except ImportError:
        CONSOLE.print("owlrl: it is not installed (it is in the extra dev)")
        return
    plants = instances([name for name, _ in links], OWLRL_TRIPLES)

    def by_owlrl() -> list[Any]:
        graph = rdflib.Graph()
        for name, above in links:
            graph.add((rdflib.URIRef(name), rdflib.RDFS.subClassOf, rdflib.URIRef(above)))
        for plant, name in plants:
            graph.add((rdflib.URIRef(plant), rdflib.RDF.type, rdflib.URIRef(name)))
        owlrl.RDFSClosure.RDFS_Semantics(graph, False, False, True).closure()
        return list(graph.subjects(rdflib.RDF.type, rdflib.URIRef(TOP)))

    schema = schema_of(links, folder)

    def by_us() -> Fed:
        schema.derived.clear()
        return whole(flow_of(INSTANCES, schema, reasoning="rdfs"), cut(typed(plants)))

    contenders: dict[str, Callable[[], Sized]] = {"ours": by_us, "rdflib and owlrl": by_owlrl}
    times = agreeing(measured(contenders, 2))
    show(f"{len(links):,} classes and {OWLRL_TRIPLES} triples, closing included", times, OWLRL_TRIPLES)


# Goods delivery


def requests(agents: int, each: int) -> list[Event]:
    """Agents that ask for a way in turn; now and then a road is closed, and reopened later."""
    draw = random.Random(7)
    starts, goals = ("depot", "harbour", "park"), ("station", "airport")
    roads = ("d1", "d3", "d5", "d9")
    events = []
    for turn in range(each):
        road, change = roads[turn // 2 % len(roads)], ("closed", "reopened")[turn % 2]
        events.append(f'<{EX}{road}> <{EX}{change}> "{turn}" .')
        for agent in range(agents):
            start, goal = draw.choice(starts), draw.choice(goals)
            events.append(
                f"<{EX}request/{turn}/{agent}> <{EX}agent> <{EX}agent/{agent}> ; "
                f"<{EX}start> <{EX}{start}> ; <{EX}goal> <{EX}{goal}> ."
            )
    return [Event(number, graph) for number, graph in enumerate(events)]


def agents(options: argparse.Namespace) -> None:
    folder = ROOT / "examples" / "goods_delivery"
    text = (folder / "routes.epsparql").read_text(encoding="utf-8")
    roads = Background(load_background(folder / "roads.ttl"))
    table = Table(title=f"Goods delivery, {options.requests} requests an agent", title_justify="left")
    headings = "agents", "events", "routes", "CPU s", "ratio", "ms a request", "stored", "state KB"
    for heading in (*headings, "peak MB"):
        table.add_column(heading, justify="right")
    first = 0.0
    for number in options.agents:
        events = requests(number, options.requests)
        batches = cut(events, 16)
        best = Time()
        for _ in range(options.repeat):
            flow = flow_of(text, roads)
            best, _ = better(best, flow, batches)
        alone = whole(flow_of(text, roads), [encode(events)])
        assert best.found == alone.rows, f"{best.found} routes in batches, {alone.rows} at once"
        first = first or best.cpu
        figures = f"{best.cpu:.2f}", f"{best.cpu / first:.2f}", f"{1e3 * best.cpu / (number * options.requests):.1f}"
        memory = f"{stored(flow):,}", f"{state_bytes(flow) / 1e3:,.0f}", f"{peak(text, roads, batches):.1f}"
        table.add_row(str(number), f"{len(events):,}", f"{best.found:,}", *figures, *memory)
    CONSOLE.print(table)
    CONSOLE.print("aim: linear, as in Figure 3")


def peak(text: str, background: Background, batches: Sequence[Batch]) -> float:
    """The most that one run allocates at a time, in MB."""
    gc.collect()
    tracemalloc.start()
    whole(flow_of(text, background), batches)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most / 1e6


# State


def state(options: argparse.Namespace) -> None:
    """Along a stream ten times as long as the first mark, the state must not grow."""
    keyed = min(options.windows[1], options.sliding_events // 4)
    count = options.state_events
    few = options.sliding_events
    runs: dict[str, tuple[str, int, Iterable[Batch]]] = {
        f"SEQ of three, less than {options.window:,}": (
            within(SEQUENCE, options.window),
            count,
            tick_batches(count, max(100, count // 100)),
        ),
        f"rules, a point a tick, less than {keyed:,}": (
            within(KEYED, keyed),
            few,
            cut(numbered_prices(few, keyed), max(10, few // 100)),
        ),
    }
    for title, (text, total, batches) in runs.items():
        flow = flow_of(text)
        table = Table(title=title, title_justify="left")
        for heading in ("events", "stored, at most", "terms", "state KB", "resident MB"):
            table.add_column(heading, justify="right")
        marks = [total * tenth // 10 for tenth in (1, 2, 5, 10)]
        most = 0
        for so_far in stepped(flow, batches):
            most = max(most, so_far.stored)
            if marks and so_far.events >= marks[0]:
                marks.pop(0)
                (host,) = flow.hosts
                sizes = f"{len(host.state.terms):,}", f"{state_bytes(flow) / 1e3:,.0f}", f"{resident():,.0f}"
                table.add_row(f"{so_far.events:,}", f"{most:,}", *sizes)
                most = 0
        CONSOLE.print(table)


PARTS = {"sequence": sequence, "sliding": sliding, "reasoning": reasoning, "agents": agents, "state": state}
QUICK = {
    "events": 2_000,
    "sliding_events": 400,
    "windows": [10, 100, 200],
    "rule_windows": [3, 6],
    "classes": 2_000,
    "single": 50,
    "agents": [1, 2],
    "requests": 3,
    "state_events": 4_000,
    "repeat": 1,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=50_000, help="ticks of the sequence, triples of the reasoning")
    parser.add_argument("--window", type=int, default=1_000, help="of the sequence, in ticks")
    parser.add_argument("--sliding-events", type=int, default=5_000)
    parser.add_argument("--windows", type=int, nargs="+", default=[100, 1_000, 10_000], help="of running averages")
    parser.add_argument("--rule-windows", type=int, nargs="+", default=[5, 10, 20], help="of rules (5) and (6)")
    parser.add_argument("--classes", type=int, default=40_080)
    parser.add_argument("--single", type=int, default=1_000, help="triples that are fed one at a time")
    parser.add_argument("--agents", type=int, nargs="+", default=[1, 2, 4, 7, 10])
    parser.add_argument("--requests", type=int, default=4, help="of each agent")
    parser.add_argument("--state-events", type=int, default=50_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="small sizes, whatever else is asked")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    options = parser.parse_args()
    if options.quick:
        vars(options).update(QUICK)
    for name, part in PARTS.items():
        if name in options.only:
            start = time.perf_counter()
            part(options)
            CONSOLE.print(f"({name}: {time.perf_counter() - start:.0f} s)\n")


if __name__ == "__main__":
    main()
