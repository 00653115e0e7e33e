"""N-Quads bytes → bindings of a two-triple pattern over stock events, side by side.

Usage: python bench/graph_matching.py [--events 200000] [--repeat 3]

Every contender gets the same bytes in memory and must give the same number of solutions. "Per event" means that each
event is a graph of its own, as event processing needs it; "in bulk" puts all events in one store and asks once, with
GRAPH ?event.
"""

from __future__ import annotations

import argparse
import cProfile
import io
import pstats
import random
import time
from collections.abc import Callable, Iterator

import pyoxigraph
import rdflib
from rdflib.plugins.sparql import prepareQuery

from thence.columns.batches import EventBatch
from thence.io.nquads import read_nquads
from thence.lang.sparql.parser import parse_pattern
from thence.match import solutions

PRED = "http://example.org/pred/"
XSD = "http://www.w3.org/2001/XMLSchema#"
PATTERN = f"{{ ?company <{PRED}price> ?p1 . ?company <{PRED}volume> ?vol1 }}"
TIME = "http://www.w3.org/ns/prov#generatedAtTime"


def stock_events(count: int, seed: int = 7) -> bytes:
    """`count` events of five triples and their time: 110 companies, prices as decimals, volumes as integers."""
    draw = random.Random(seed)
    lines = []
    for number in range(count):
        graph = f"<http://example.org/event/{number}>"
        company = f"<http://example.org/company/{draw.randrange(110)}>"
        second, tenth = divmod(number, 10)
        clock = f"{second // 3600 % 24:02}:{second // 60 % 60:02}:{second % 60:02}.{tenth}"
        lines += (
            f'{graph} <{TIME}> "2024-03-01T{clock}Z"^^<{XSD}dateTime> .\n',
            f'{company} <{PRED}price> "{draw.randrange(1000, 99999) / 100}"^^<{XSD}decimal> {graph} .\n',
            f'{company} <{PRED}volume> "{draw.randrange(1, 100000)}"^^<{XSD}integer> {graph} .\n',
            f"{company} <{PRED}exchange> <http://example.org/exchange/{draw.randrange(5)}> {graph} .\n",
            f'{company} <{PRED}trade> "{number}"^^<{XSD}integer> {graph} .\n',
            f"{company} <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <{PRED}Quote> {graph} .\n",
        )
    return "".join(lines).encode()


def ours(data: bytes) -> int:
    pattern = parse_pattern(PATTERN)
    found = 0
    for batch in read_nquads(io.BytesIO(data)):
        assert isinstance(batch, EventBatch)
        found += len(solutions(pattern, batch))
    return found


def oxigraph_parse(data: bytes) -> int:
    """Merely parsing: the yardstick, no answers."""
    for _ in pyoxigraph.parse(input=data, format=pyoxigraph.RdfFormat.N_QUADS):
        pass
    return -1


def oxigraph_bulk(data: bytes) -> int:
    store = pyoxigraph.Store()
    store.bulk_load(input=data, format=pyoxigraph.RdfFormat.N_QUADS)
    query = f"SELECT ?company ?p1 ?vol1 {{ GRAPH ?event {PATTERN} }}"
    return sum(1 for _ in store.query(query))


def oxigraph_per_event(data: bytes) -> int:
    query = f"SELECT * {PATTERN}"
    found = 0
    for text in _events(data):
        store = pyoxigraph.Store()
        store.extend(pyoxigraph.parse(input=text, format=pyoxigraph.RdfFormat.N_QUADS))
        found += sum(1 for _ in store.query(query, use_default_graph_as_union=True))
    return found


def rdflib_per_event(data: bytes) -> int:
    query = prepareQuery(f"SELECT * {PATTERN}")
    found = 0
    for text in _events(data):
        dataset = rdflib.Dataset(default_union=True)
        dataset.parse(data=text, format="nquads")
        found += len(dataset.query(query))
    return found


def _events(data: bytes) -> Iterator[bytes]:
    lines = data.splitlines(keepends=True)
    return (b"".join(lines[start : start + 6]) for start in range(0, len(lines), 6))


def measure(contender: Callable[[bytes], int], data: bytes, repeat: int) -> tuple[float, int]:
    """The best time of several, and the solutions found."""
    best, found = float("inf"), 0
    for _ in range(repeat):
        start = time.perf_counter()
        found = contender(data)
        best = min(best, time.perf_counter() - start)
    return best, found


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--events", type=int, default=200_000)
    arguments.add_argument("--repeat", type=int, default=3)
    options = arguments.parse_args()
    data = stock_events(options.events)
    few = options.events // 20  # the slow ones get fewer events; their time is scaled
    sample = stock_events(few)
    ours(sample)  # compile before the clock runs
    rows = [
        ("ours: bytes → bindings", *measure(ours, data, options.repeat), 1),
        ("pyoxigraph, parsing only", *measure(oxigraph_parse, data, options.repeat), 1),
        ("pyoxigraph, in bulk", *measure(oxigraph_bulk, data, 1), 1),
        ("pyoxigraph, per event", *measure(oxigraph_per_event, sample, 1), 20),
        ("rdflib, per event", *measure(rdflib_per_event, stock_events(few // 10), 1), 200),
    ]
    reference = rows[0][1]
    print(f"{options.events:,} events, {len(data) / 1e6:.0f} MB of N-Quads")
    print(f"{'':28}{'seconds':>10}{'events/s':>14}{'times ours':>12}{'solutions':>12}")
    for name, seconds, found, scale in rows:
        total = seconds * scale
        shown = f"{found * scale:,}" if found >= 0 else "-"
        print(f"{name:28}{total:10.2f}{options.events / total:14,.0f}{total / reference:12.2f}{shown:>12}")
    where_time_goes(data)


def where_time_goes(data: bytes) -> None:
    """Ours, by stage."""
    profile = cProfile.Profile()
    profile.runcall(ours, data)
    stats = pstats.Stats(profile, stream=io.StringIO())
    total = stats.total_tt  # type: ignore[attr-defined]
    print("\nours, by function (own time):")
    own = sorted(((row[2], name) for name, row in stats.stats.items()), reverse=True)  # type: ignore[attr-defined]
    for seconds, (file, _, function) in own[:10]:
        print(f"  {seconds / total:6.1%}  {function} ({file.rpartition('/')[2]})")


if __name__ == "__main__":
    main()
