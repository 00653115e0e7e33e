"""Events a second and the size of the state: viewers of channels, a moving sum, views, and the average of ten days.

python bench/tef_sparql.py [--events 20000] [--channels 50] [--only programs|views|average] [--plot FILE]

Beside each a plain Python program for the same; beside the average its formulation in EP-SPARQL, on our engine too
(examples/ep_sparql/average.epsparql). The plot shows what both store while n prices lie within the ten days, and what
Section 5.2 of the paper of TEF-SPARQL says of it: 1.5 n (n - 1) triples against n + 7.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyoxigraph as ox
from rich.console import Console
from rich.table import Table

import thence
from thence.columns.batches import Batch, encode
from thence.interface.operator import Environment
from thence.io.background_data import load_background
from thence.local.flow import LocalFlow
from thence.match.background import NO_BACKGROUND, Background
from thence.query.query import CompileOptions

EX = "http://example.org/"
EXAMPLES = Path(__file__).parent.parent / "examples"
VIEWERS = """CONSTRUCT FACT ?channel viewers ?n
  WHERE (SINCE ?channel opens ?_, ?n = 0)
  UNION (REPLACE ?channel viewers ?m ON ?_ zapsTo ?channel, ?n = ?m + 1)
  UNION (REPLACE ?channel viewers ?m ON ?_ leaves ?channel, ?n = ?m - 1)
SELECT ?channel WHERE ?channel viewers 1000000"""
SUM = """CONSTRUCT FACT ?share member ?p
  WHERE (SINCE ?share price ?p)
  UNION (UNTIL (?share price ?_[?_, ?now] DURING ?share member ?p[?t, ?_]), duration(?t, ?now) > 100)
CONSTRUCT FACT ?share sum ?s
  WHERE (SINCE ?share opens ?_, ?s = 0)
  UNION (REPLACE ?share sum ?old ON ?share price ?p, ?s = ?old + ?p)
  UNION (REPLACE ?share sum ?old ON (ONEND ?share member ?p), ?s = ?old - ?p)
SELECT ?share WHERE ?share sum 1000000"""

Told = tuple[int, str, str, str]
"""An event: its tick, and the names of subject, predicate and object."""


# Two programs over ticks


def viewer_events(count: int, channels: int) -> list[Told]:
    rng = random.Random(7)
    found = [(0, f"c{number}", "opens", "yes") for number in range(channels)]
    for tick in range(1, count + 1):
        found.append((tick, f"v{rng.randrange(1000)}", rng.choice(("zapsTo", "leaves")), f"c{rng.randrange(channels)}"))
    return found


def price_events(count: int, channels: int) -> list[Told]:
    rng = random.Random(7)
    found = [(0, f"c{number}", "opens", "yes") for number in range(channels)]
    found += [(tick, f"c{rng.randrange(channels)}", "price", str(rng.randrange(1000))) for tick in range(1, count + 1)]
    return found


def plain_viewers(events: Sequence[Told]) -> None:
    viewers: dict[str, int] = {}
    for _, subject, predicate, target in events:
        if predicate == "opens":
            viewers[subject] = 0
        else:
            viewers[target] += 1 if predicate == "zapsTo" else -1


def plain_sum(events: Sequence[Told]) -> None:
    members: dict[str, deque[tuple[int, int]]] = {}
    sums: dict[str, int] = {}
    for tick, subject, predicate, target in events:
        if predicate == "opens":
            members[subject], sums[subject] = deque(), 0
            continue
        own = members[subject]
        while own and tick - own[0][0] > 100:
            sums[subject] -= own.popleft()[1]
        own.append((tick, int(target)))
        sums[subject] += int(target)


def event(tick: int, subject: str, predicate: str, target: str) -> thence.Event:
    shown = target if target.isdigit() else f"<{EX}{target}>"
    return thence.Event(tick, f"<{EX}{subject}> <{EX}{predicate}> {shown} .")


def flow_of(text: str, language: str, background: Background = NO_BACKGROUND) -> LocalFlow:
    """A flow that keeps no history: what no pattern may ask for is dropped."""
    dataflow = thence.parse(text, language=language).dataflow(CompileOptions())
    return LocalFlow(dataflow, Environment(background))


def seconds(run: Callable[[], object]) -> float:
    """CPU time."""
    begun = time.process_time()
    run()
    return time.process_time() - begun


def fed(text: str, batch: Batch) -> tuple[float, LocalFlow]:
    """CPU time, and the flow behind all events."""
    flow = flow_of(text, "tef-sparql")
    return seconds(lambda: list(flow.feed({"events": [batch]}, int(batch.ends[-1]) + 1))), flow


def programs(options: argparse.Namespace, console: Console) -> None:
    """Viewers and a moving sum, beside plain Python."""
    table = Table(title=f"TEF-SPARQL, {options.events:,} events")
    for heading in ("", "events/s", "plain Python, events/s", "times slower", "facts stored", "saved state, bytes"):
        table.add_column(heading, justify="right")
    for name, text, make, plain in (
        ("viewers", VIEWERS, viewer_events, plain_viewers),
        ("moving sum", SUM, price_events, plain_sum),
    ):
        events = make(options.events, options.channels)
        batch = encode([event(*each) for each in events], stream="events")
        spent, flow = min((fed(text, batch) for _ in range(3)), key=lambda run: run[0])
        beside = min(seconds(lambda: plain(events)) for _ in range(3))  # noqa: B023
        (host,) = flow.hosts
        table.add_row(
            name,
            f"{len(events) / spent:,.0f}",
            f"{len(events) / beside:,.0f}",
            f"{spent / beside:,.0f}",
            f"{host.state.stored:,}",
            f"{len(json.dumps(host.snapshot()[0])):,}",
        )
    console.print(table)


# Views

EDGES = "CONSTRUCT FACT ?x edge ?y WHERE (SINCE ?x links ?y) UNION (UNTIL ?x unlinks ?y)\n"
VIEWS = {
    "a view with now()": "CONSTRUCT FACT ?x old ?y WHERE ?x edge ?y[?s, ?_], now() > ?s + 50000",
    "a view WITHOUT": "CONSTRUCT FACT ?x new ?y WHERE ?x edge ?y WITHOUT (?x edge ?y[?s, ?_], now() > ?s + 50000)",
    "ONEND of a composite": "CONSTRUCT EVENT ?x lost ?y WHERE ONEND (?x edge ?y[?s, ?_], now() < ?s + 50000)",
    "SELECT over facts": "SELECT ?x WHERE ?x edge ?y[?s, ?_], now() > ?s + 50000",
}
REACHABLE = EDGES + "CONSTRUCT FACT ?x reaches ?y WHERE (?x edge ?y) UNION (?x edge ?z, ?z reaches ?y)"


def link_events(count: int, nodes: int, changes: int, *, apart: bool) -> tuple[list[Told], list[Told]]:
    """Edges that start one by one, and then in turn one that ends and one that starts. If they are apart, no two have a
    node in common."""
    rng = random.Random(7)
    made = 0

    def edge() -> tuple[str, str]:
        nonlocal made
        made += 1
        return (f"a{made}", f"b{made}") if apart else (f"n{rng.randrange(nodes)}", f"n{rng.randrange(nodes)}")

    held = [edge() for _ in range(count)]
    first = [(tick, source, "links", target) for tick, (source, target) in enumerate(held)]
    then: list[Told] = []
    for number in range(changes):
        if number % 2 == 0:
            source, target = held.pop(rng.randrange(len(held)))
        else:
            source, target = edge()
            held.append((source, target))
        then.append((count + number, source, ("unlinks", "links")[number % 2], target))
    return first, then


def per_event(text: str, first: Sequence[Told], then: Sequence[Told]) -> tuple[float, LocalFlow]:
    """CPU seconds for each of the later events, and the flow behind them."""
    flow = flow_of(text, "tef-sparql")
    batches = [encode([event(*each) for each in part], stream="events") for part in (first, then)]
    list(flow.feed({"events": [batches[0]]}, int(batches[0].ends[-1]) + 1))
    spent = seconds(lambda: list(flow.feed({"events": [batches[1]]}, int(batches[1].ends[-1]) + 1)))
    return spent / len(then), flow


def plain_reachable(first: Sequence[Told], then: Sequence[Told]) -> tuple[float, int]:
    """Plain Python that derives the whole view at each event: CPU seconds for each, and how many pairs it has last."""
    edges: dict[str, Counter[str]] = {}
    for _, source, _, target in first:
        edges.setdefault(source, Counter())[target] += 1

    def whole() -> int:
        total = 0
        for source in list(edges):
            reached: set[str] = set()
            waiting = list(edges[source])
            while waiting:
                node = waiting.pop()
                if node not in reached:
                    reached.add(node)
                    waiting += edges.get(node, ())
            total += len(reached)
        return total

    def run() -> None:
        for _, source, predicate, target in then:
            if predicate == "links":
                edges.setdefault(source, Counter())[target] += 1
            else:
                del edges[source][target]
            whole()

    return seconds(run) / len(then), whole()


def views(options: argparse.Namespace, console: Console) -> None:
    """Views, turns and rows over facts: what an event costs, by the facts that hold."""
    table = Table(title="Microseconds for each event that starts or ends one fact, by the facts that hold")
    table.add_column("")
    sizes = [count for count in (100, 1_000, 10_000) if count <= options.most]
    for count in sizes:
        table.add_column(f"{count:,}", justify="right")
    for name, text in VIEWS.items():
        per_event(EDGES + text, *link_events(10, 0, 100, apart=True))  # so that all is imported and compiled
        spent = [per_event(EDGES + text, *link_events(count, 0, options.changes, apart=True))[0] for count in sizes]
        table.add_row(name, *(f"{each * 1e6:,.0f}" for each in spent))
    console.print(table)
    table = Table(title="Reachability: milliseconds for each event that starts or ends one edge")
    for heading in ("nodes", "edges", "view facts", "thence", "plain Python, whole", "ratio"):
        table.add_column(heading, justify="right")
    for nodes, edges in ((400, 200), (1_250, 1_000), (1_000, 1_000)):
        listed = link_events(edges, nodes, options.changes, apart=False)
        (spent, flow), (beside, pairs) = per_event(REACHABLE, *listed), plain_reachable(*listed)
        held = sum(fact.is_view for fact in flow.hosts[0].state.machine.store.holding())
        assert held == pairs, (held, pairs)
        shown = (f"{spent * 1e3:,.2f}", f"{beside * 1e3:,.2f}", f"{spent / beside:,.2f}")
        table.add_row(f"{nodes:,}", f"{edges:,}", f"{held:,}", *shown)
    console.print(table)


# The average of ten days


@dataclass(frozen=True, slots=True)
class Average:
    """The averages of a run, beside what it took and what it stored at most."""

    averages: list[float]
    spent: float
    stored: int


Price = tuple[datetime, int]


def prices(count: int, within: int) -> list[Price]:
    """Prices of one share, of which `within` lie within ten days."""
    begun, apart = datetime(2024, 1, 1, tzinfo=UTC), timedelta(days=10) / (within - 0.5)
    return [(begun + apart * number, number * 37 % 101) for number in range(count)]


def facts_average(prices: Sequence[Price]) -> Average:
    """examples/tef_sparql/average.tefsparql."""
    tickers = ox.Store()
    tickers.load(b"<http://example.org/ACME> a <http://example.org/Ticker> .", format=ox.RdfFormat.TURTLE)
    text = (EXAMPLES / "tef_sparql" / "average.tefsparql").read_text(encoding="utf-8")
    flow = flow_of(text, "tef-sparql", Background(load_background(tickers)))
    return _average(flow, prices, "Average", lambda: flow.hosts[0].state.stored)


def events_average(prices: Sequence[Price]) -> Average:
    """examples/ep_sparql/average.epsparql: the window before a price that is older than ten days."""
    flow = flow_of((EXAMPLES / "ep_sparql" / "average.epsparql").read_text(encoding="utf-8"), "ep-sparql")
    return _average(flow, prices, "average", lambda: sum(len(each) for each in flow.hosts[0].state.tables()))


def _average(flow: LocalFlow, prices: Sequence[Price], name: str, stored: Callable[[], int]) -> Average:
    """All prices at once, for the time; and again one by one, for what is stored."""
    (stream,) = (each.name for each in flow.dataflow.streams)
    batches = [encode([priced(*each)], stream=stream) for each in prices]
    whole, fresh = encode([priced(*each) for each in prices], stream=stream), flow.fresh()
    spent = seconds(lambda: list(fresh.feed({stream: [whole]}, int(whole.ends[-1]) + 1)))
    averages: list[float] = []
    most = 0
    for batch in batches:
        rows = flow.feed({stream: [batch]}, int(batch.ends[-1]) + 1)
        averages += [float(str(row.bindings[name].value)) for row in rows]
        most = max(most, stored())
    return Average(averages, spent, most)


def priced(at: datetime, price: int) -> thence.Event:
    return thence.Event(at, {"type": "Price", "subject": "ACME", "hasStockPrice": price})


def plain_average(prices: Sequence[Price]) -> list[float]:
    members: deque[Price] = deque()
    total, found = 0, []
    for at, price in prices:
        while members and at - members[0][0] > timedelta(days=10):
            total -= members.popleft()[1]
        members.append((at, price))
        total += price
        found.append(total / len(members))
    return found


def averages(options: argparse.Namespace, console: Console) -> None:
    """The average of ten days, by the number of prices within them."""
    table = Table(title="The average of ten days: events/s and what is stored at most")
    for heading in ("prices in 10 days", "facts/s", "plain/s", "events/s", "facts stored", "solutions stored"):
        table.add_column(heading, justify="right")
    table.caption = "facts: TEF-SPARQL. events: EP-SPARQL, of the first n prices alone; what it stores grows further."
    sizes: list[tuple[int, int, int]] = []
    for within in (2, 5, 10, 15, 20, 25, 30, 35, 40):
        told = prices(2000, within)
        facts, other = facts_average(told), events_average(told[:within])
        beside = seconds(lambda: plain_average(told))  # noqa: B023
        expected = plain_average(told)
        assert all(abs(one - same) < 1e-9 for one, same in zip(facts.averages, expected, strict=True))
        sizes.append((within, facts.stored, other.stored))
        table.add_row(
            str(within),
            f"{len(told) / facts.spent:,.0f}",
            f"{len(told) / beside:,.0f}",
            f"{within / other.spent:,.0f}",
            f"{facts.stored:,}",
            f"{other.stored:,}",
        )
    console.print(table)
    if options.plot:
        options.plot.write_text(plot(sizes), encoding="utf-8")


WIDTH, HEIGHT, LEFT, TOP = 760, 320, 70, 50
STYLE = """\
text { font: 12px sans-serif; fill: #1f2328; } .page { fill: #ffffff; } .frame { fill: none; stroke: #d0d7de; }
.line { fill: none; stroke-width: 1.6; } .paper { stroke-dasharray: 4 4; stroke-width: 1.2; }
.events { stroke: #cf222e; } .facts { stroke: #0969da; } .dot { stroke: none; }
circle.events { fill: #cf222e; } circle.facts { fill: #0969da; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; } .page { fill: #0d1117; } .frame { stroke: #30363d; }
  .events { stroke: #f85149; } .facts { stroke: #58a6ff; }
  circle.events { fill: #f85149; } circle.facts { fill: #58a6ff; }
}"""


def plot(sizes: Sequence[tuple[int, int, int]]) -> str:
    """An SVG document: what is stored by the prices within ten days, on a logarithmic scale."""
    height = TOP + HEIGHT + 50
    size = f'width="{WIDTH + LEFT + 20}" height="{height}" viewBox="0 0 {WIDTH + LEFT + 20} {height}"'
    title = "Stored while n prices lie within the ten days (logarithmic); dashed: what the paper says"
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" {size}>', f"<style>{STYLE}</style>"]
    lines += ['<rect class="page" width="100%" height="100%"/>', f'<text x="{LEFT}" y="24">{title}</text>']
    return "\n".join([*lines, *_curves(sizes), "</svg>", ""])


def _curves(sizes: Sequence[tuple[int, int, int]]) -> Iterator[str]:
    last = sizes[-1][0]
    decades = len(str(max(max(each[1:]) for each in sizes)))

    def x(count: float) -> float:
        return LEFT + count / last * (WIDTH - 170)

    def y(stored: float) -> float:
        return TOP + HEIGHT * (1 - math.log10(max(stored, 1)) / decades)

    def line(points: Sequence[tuple[float, float]], kind: str, label: str) -> Iterator[str]:
        shown = " ".join(f"{x(count):.1f},{y(stored):.1f}" for count, stored in points)
        yield f'<polyline class="line {kind}" points="{shown}"/>'
        yield f'<text x="{x(last) + 8:.1f}" y="{y(points[-1][1]) + 4:.1f}">{label}</text>'

    yield f'<rect class="frame" x="{LEFT}" y="{TOP}" width="{WIDTH - 170}" height="{HEIGHT}"/>'
    counts = range(2, last + 1)
    yield from line([(n, 1.5 * n * (n - 1)) for n in counts], "paper events", "1.5 n (n − 1)")
    yield from line([(n, n + 7) for n in counts], "paper facts", "n + 7")
    yield from line([(n, events) for n, _, events in sizes], "events", "EP-SPARQL, solutions")
    yield from line([(n, facts) for n, facts, _ in sizes], "facts", "")
    yield f'<text x="{x(last) + 8:.1f}" y="{y(sizes[-1][1]) + 20:.1f}">TEF-SPARQL, facts</text>'
    for n, facts, events in sizes:
        yield f'<circle class="dot events" r="2.5" cx="{x(n):.1f}" cy="{y(events):.1f}"/>'
        yield f'<circle class="dot facts" r="2.5" cx="{x(n):.1f}" cy="{y(facts):.1f}"/>'
        yield f'<text x="{x(n):.1f}" y="{TOP + HEIGHT + 18}" text-anchor="middle">{n}</text>'
    for decade in range(decades + 1):
        yield f'<text x="{LEFT - 6}" y="{y(10**decade) + 4:.1f}" text-anchor="end">{10**decade:,}</text>'
    yield f'<text x="{x(last / 2):.1f}" y="{TOP + HEIGHT + 38}" text-anchor="middle">n: prices within ten days</text>'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--channels", type=int, default=50)
    parser.add_argument("--only", choices=("programs", "views", "average"))
    parser.add_argument("--most", type=int, default=10_000, help="views: facts that hold at most")
    parser.add_argument("--changes", type=int, default=1_000, help="views: facts that start and end")
    parser.add_argument("--plot", type=Path, help="write the plot of the average there")
    options = parser.parse_args()
    console = Console()
    for name, run in (("programs", programs), ("views", views), ("average", averages)):
        if options.only in (None, name):
            run(options, console)


if __name__ == "__main__":
    main()
