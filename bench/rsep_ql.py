"""Time per slide of windows of several sizes, beside pyoxigraph, with a store that is kept and
recomputed: a join, aggregates, a MATCH.

python bench/rsep_ql.py [--sizes 1000 10000 100000] [--slides 20] [--only join average doubles extremes match memory]
"""

from __future__ import annotations

import argparse
import random
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass

import pyoxigraph as ox
from rich.console import Console
from rich.table import Table

import thence
from thence.rdf.terms import IRI, Literal, Triple

EX = "http://example.org/"
INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
STEPS = 100
"""Slides that a window is wide: each slide replaces one hundredth of it."""


@dataclass(frozen=True)
class Part:
    """A query, and the same in SPARQL over the content of its window."""

    name: str
    query: str
    sparql: str


JOIN = Part(
    "join of two patterns",
    """PREFIX : <http://example.org/>
REGISTER ISTREAM :out AS SELECT ?s ?v FROM NAMED WINDOW :w ON :S [RANGE {width} STEP {step}]
WHERE {{ WINDOW :w {{ ?o :by ?s . ?o :value ?v FILTER(?v > 990) }} }}""",
    "PREFIX : <http://example.org/> SELECT ?s ?v WHERE { ?o :by ?s . ?o :value ?v FILTER(?v > 990) }",
)
AVERAGE = Part(
    "grouped AVG",
    """PREFIX : <http://example.org/>
SELECT ?s (AVG(?v) AS ?average) FROM NAMED WINDOW :w ON :S [RANGE {width} STEP {step}]
WHERE {{ WINDOW :w {{ ?o :by ?s . ?o :value ?v }} }} GROUP BY ?s""",
    "PREFIX : <http://example.org/> SELECT ?s (AVG(?v) AS ?average) WHERE { ?o :by ?s . ?o :value ?v } GROUP BY ?s",
)
DOUBLES = Part(
    "grouped SUM of doubles",
    """PREFIX : <http://example.org/>
SELECT ?s (SUM(?v / 7e0) AS ?sum) FROM NAMED WINDOW :w ON :S [RANGE {width} STEP {step}]
WHERE {{ WINDOW :w {{ ?o :by ?s . ?o :value ?v }} }} GROUP BY ?s""",
    "PREFIX : <http://example.org/> SELECT ?s (SUM(?v / 7e0) AS ?sum) WHERE { ?o :by ?s . ?o :value ?v } GROUP BY ?s",
)
EXTREMES = Part(
    "grouped MIN and MAX",
    """PREFIX : <http://example.org/>
SELECT ?s (MIN(?v) AS ?least) (MAX(?v) AS ?most) FROM NAMED WINDOW :w ON :S [RANGE {width} STEP {step}]
WHERE {{ WINDOW :w {{ ?o :by ?s . ?o :value ?v }} }} GROUP BY ?s""",
    """PREFIX : <http://example.org/>
SELECT ?s (MIN(?v) AS ?least) (MAX(?v) AS ?most) WHERE { ?o :by ?s . ?o :value ?v } GROUP BY ?s""",
)
MATCH = Part(
    "MATCH",
    """PREFIX : <http://example.org/>
REGISTER ISTREAM :out AS SELECT ?s ?v ?u FROM NAMED :S WIN [RANGE {width} SLIDE {step}] AS :w
EVENT ON :w {{ ?o :by ?s . ?o :value ?v FILTER(?v > 990) }} AS E1
EVENT ON :w {{ ?p :by ?s . ?p :value ?u FILTER(?u < 10) }} AS E2
WHERE {{ MATCH {{ E1 SEQ E2 }} }}""",
    """PREFIX : <http://example.org/> SELECT ?s ?v ?u WHERE { ?o :by ?s . ?o :value ?v . ?o :at ?t FILTER(?v > 990)
       ?p :by ?s . ?p :value ?u . ?p :at ?t2 FILTER(?u < 10 && ?t < ?t2) }""",
)
PARTS = {"join": JOIN, "average": AVERAGE, "doubles": DOUBLES, "extremes": EXTREMES, "match": MATCH}


def observations(count: int, sensors: int) -> Iterator[tuple[int, tuple[Triple, ...]]]:
    """One a tick: who observed it, and its value; two triples each."""
    rng = random.Random(7)
    by, value = IRI(EX + "by"), IRI(EX + "value")
    for tick in range(1, count + 1):
        node = IRI(f"{EX}o{tick}")
        sensor = IRI(f"{EX}s{rng.randrange(sensors)}")
        yield tick, (Triple(node, by, sensor), Triple(node, value, Literal(str(rng.randrange(1000)), INTEGER)))


def ours(part: Part, size: int, slides: int) -> tuple[float, list[int]]:
    """CPU seconds for each slide of a full window, and how many rows each of them emits."""
    width = size // 2  # two triples an event
    step = max(1, width // STEPS)
    query = thence.parse(part.query.format(width=width, step=step))
    events = [thence.Event(tick, triples) for tick, triples in observations(width + (slides + 2) * step, 100)]
    engine = query.engine()
    from thence.columns.batches import encode  # as files are read: whole batches

    flow = engine.answers.flow
    full = width + 2 * step
    list(flow.feed({"S": [encode(events[:full], stream="S")]}, full))
    counts = []
    begun = time.process_time()
    for slide in range(slides):
        some = events[full + slide * step : full + (slide + 1) * step]
        rows = list(flow.feed({"S": [encode(some, stream="S", first=full + slide * step)]}, some[-1].end + 1))
        counts.append(len(rows))
    return (time.process_time() - begun) / slides, counts


def _quads(count: int) -> list[list[ox.Quad]]:
    """The quads of each observation, with its tick."""
    return [
        [ox.Quad(*(_ox(term) for term in triple), ox.DefaultGraph()) for triple in triples]
        + [ox.Quad(_ox(triples[0].subject), ox.NamedNode(EX + "at"), ox.Literal(tick), ox.DefaultGraph())]
        for tick, triples in observations(count, 100)
    ]


def kept(part: Part, size: int, slides: int) -> float:
    """CPU seconds for each slide of a store that is kept: remove what left, add what entered, ask."""
    width = size // 2
    step = max(1, width // STEPS)
    quads = _quads(width + (slides + 2) * step)
    store = ox.Store()
    store.extend(quad for some in quads[2 * step : width + 2 * step] for quad in some)
    begun = time.process_time()
    for slide in range(slides):
        first = (slide + 2) * step
        for some in quads[first : first + step]:
            for quad in some:
                store.remove(quad)
        store.extend(quad for some in quads[first + width : first + width + step] for quad in some)
        list(store.query(part.sparql))  # type: ignore[arg-type]
    return (time.process_time() - begun) / slides


def recomputed(part: Part, size: int, slides: int) -> float:
    """CPU seconds for each slide, if the window's triples are loaded into a store and asked again."""
    width = size // 2
    step = max(1, width // STEPS)
    quads = _quads(width + (slides + 2) * step)
    begun = time.process_time()
    for slide in range(slides):
        last = width + (slide + 2) * step
        store = ox.Store()
        store.extend(quad for some in quads[last - width : last] for quad in some)
        list(store.query(part.sparql))  # type: ignore[arg-type]
    return (time.process_time() - begun) / slides


def _ox(term: IRI | Literal) -> ox.NamedNode | ox.Literal:
    if isinstance(term, IRI):
        return ox.NamedNode(term.value)
    return ox.Literal(term.value, datatype=ox.NamedNode(term.datatype))


def memory(slides: int) -> tuple[int, int]:
    """The state's size in bytes after a tenth of the slides, and after all."""
    width, step = 5_000, 50
    query = thence.parse(AVERAGE.query.format(width=width, step=step))
    from thence.columns.batches import encode

    flow = query.engine().answers.flow
    events = [thence.Event(tick, triples) for tick, triples in observations(width + slides * step, 100)]
    sizes = []
    for first in range(0, len(events), step):
        some = events[first : first + step]
        list(flow.feed({"S": [encode(some, stream="S", first=first)]}, some[-1].end + 1))
        if first in ((width + slides * step // 10) // step * step, (len(events) - 1) // step * step):
            sizes.append(sum(array.nbytes for array in flow.hosts[0].snapshot()[1]))
    return sizes[0], sizes[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--slides", type=int, default=20)
    parser.add_argument("--only", nargs="+", choices=[*PARTS, "memory"], default=[*PARTS, "memory"])
    options = parser.parse_args()
    console = Console()
    for name, part in PARTS.items():
        if name not in options.only:
            continue
        table = Table(title=f"{part.name}, CPU ms a slide of 1 %")
        for heading in (
            "triples",
            "ours",
            "store, kept",
            "times ours",
            "store, recomputed",
            "times ours",
            "rows a slide",
        ):
            table.add_column(heading, justify="right")
        for size in options.sizes:
            mine, counts = ours(part, size, options.slides)
            theirs = recomputed(part, size, min(options.slides, 5))
            stored = kept(part, size, min(options.slides, 5))
            rows = sum(counts) / len(counts)
            others = (cell for each in (stored, theirs) for cell in (f"{1000 * each:.2f}", f"{each / mine:.1f}"))
            table.add_row(f"{size:,}", f"{1000 * mine:.2f}", *others, f"{rows:,.0f}")
        console.print(table)
    if "memory" in options.only:
        early, late = memory(1000)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        console.print(f"state after 100 slides {early:,} bytes, after 1,000 {late:,}; the process {peak:,} MB at most")


if __name__ == "__main__":
    main()
