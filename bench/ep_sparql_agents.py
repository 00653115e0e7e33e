"""EP-SPARQL in one process: examples/goods_delivery with 1 to 10 agents, time and memory.

Usage: python bench/ep_sparql_agents.py [--agents 1 2 4 7 10] [--requests 4] [--repeat 3] [--quick]

The best CPU time counts. `--quick` only shows that it runs: its figures mean nothing.
"""

from __future__ import annotations

import gc
import random
import tracemalloc
from argparse import Namespace
from collections.abc import Sequence

from rich.table import Table

from stocks.contenders import CONSOLE, Time
from temporal.flows import EX, ROOT, better, cut, flow_of, options, state_bytes, stored, whole
from thence.columns.batches import Batch, encode
from thence.io.background_data import load_background
from thence.match.background import Background
from thence.rdf.events import Event


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


def agents(options: Namespace) -> None:
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


def main() -> None:
    quick = {"agents": [1, 2], "requests": 3}
    agents(options(__doc__, quick, ("agents", [1, 2, 4, 7, 10], "how many"), ("requests", 4, "of each agent")))


if __name__ == "__main__":
    main()
