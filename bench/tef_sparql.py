"""Events a second and the size of the state, beside a plain Python program for the same: viewers, and a moving average.

python bench/tef_sparql.py [--events 20000] [--channels 50]
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import deque

from rich.console import Console
from rich.table import Table

import thence
from thence.columns.event_batch import encode

EX = "http://example.org/"
VIEWERS = """CONSTRUCT FACT ?channel viewers ?n
  WHERE (SINCE ?channel opens ?_, ?n = 0)
  UNION (REPLACE ?channel viewers ?m ON ?_ zapsTo ?channel, ?n = ?m + 1)
  UNION (REPLACE ?channel viewers ?m ON ?_ leaves ?channel, ?n = ?m - 1)
SELECT ?channel WHERE ?channel viewers 1000000"""
AVERAGE = """CONSTRUCT FACT ?share member ?p
  WHERE (SINCE ?share price ?p)
  UNION (UNTIL (?share price ?_[?_, ?now] DURING ?share member ?p[?t, ?_]), duration(?t, ?now) > 100)
CONSTRUCT FACT ?share sum ?s
  WHERE (SINCE ?share opens ?_, ?s = 0)
  UNION (REPLACE ?share sum ?old ON ?share price ?p, ?s = ?old + ?p)
  UNION (REPLACE ?share sum ?old ON (ONEND ?share member ?p), ?s = ?old - ?p)
SELECT ?share WHERE ?share sum 1000000"""


def viewer_events(count: int, channels: int) -> list[tuple[int, str, str, str]]:
    rng = random.Random(7)
    found = [(0, f"c{number}", "opens", "yes") for number in range(channels)]
    for tick in range(1, count + 1):
        found.append((tick, f"v{rng.randrange(1000)}", rng.choice(("zapsTo", "leaves")), f"c{rng.randrange(channels)}"))
    return found


def price_events(count: int, channels: int) -> list[tuple[int, str, str, str]]:
    rng = random.Random(7)
    found = [(0, f"c{number}", "opens", "yes") for number in range(channels)]
    found += [(tick, f"c{rng.randrange(channels)}", "price", str(rng.randrange(1000))) for tick in range(1, count + 1)]
    return found


def ours(text: str, events: list[tuple[int, str, str, str]]) -> tuple[float, int]:
    """CPU seconds, and the bytes of the saved state."""
    flow = thence.parse(text, language="tef-sparql").engine().answers.flow
    flow.hosts[0].state.kept_for = 0
    flow.hosts[0].state.machine.store.keeps_ended = False
    made = [
        thence.Event(tick, f"<{EX}{s}> <{EX}{p}> {o if o.isdigit() else f'<{EX}{o}>'} .") for tick, s, p, o in events
    ]
    batch = encode(made, stream="events")
    begun = time.process_time()
    list(flow.feed({"events": [batch]}, events[-1][0] + 1))
    spent = time.process_time() - begun
    return spent, len(json.dumps(flow.hosts[0].snapshot()[0]))


def plain_viewers(events: list[tuple[int, str, str, str]]) -> float:
    begun = time.process_time()
    viewers: dict[str, int] = {}
    for _, subject, predicate, target in events:
        if predicate == "opens":
            viewers[subject] = 0
        else:
            viewers[target] += 1 if predicate == "zapsTo" else -1
    return time.process_time() - begun


def plain_average(events: list[tuple[int, str, str, str]]) -> float:
    begun = time.process_time()
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
    return time.process_time() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--channels", type=int, default=50)
    options = parser.parse_args()
    table = Table(title=f"TEF-SPARQL, {options.events:,} events")
    for heading in ("", "events/s", "plain Python, events/s", "times slower", "state, bytes"):
        table.add_column(heading, justify="right")
    for name, text, make, plain in (
        ("viewers", VIEWERS, viewer_events, plain_viewers),
        ("moving average", AVERAGE, price_events, plain_average),
    ):
        events = make(options.events, options.channels)
        spent, size = ours(text, events)
        beside = plain(events)
        cells = (f"{len(events) / spent:,.0f}", f"{len(events) / beside:,.0f}", f"{spent / beside:,.0f}", f"{size:,}")
        table.add_row(name, *cells)
    Console().print(table)


if __name__ == "__main__":
    main()
