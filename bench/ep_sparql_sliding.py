"""EP-SPARQL in one process: running averages, by aggregates and by rules: events/s against the size of the window; then
the solutions that rules store along the stream.

Usage: python bench/ep_sparql_sliding.py [--events 5000] [--windows 100 1000 10000] [--rule-windows 5 10 20]
                                         [--repeat 3] [--quick]

Each one's best CPU time counts. `--quick` only shows that it runs: its figures mean nothing.
"""

from __future__ import annotations

import random
from argparse import Namespace
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from rich.table import Table

from stocks.contenders import CONSOLE, Time
from temporal.flows import EX, ROOT, Fed, better, cut, flow_of, options, show_state, within
from thence.rdf.events import Event

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


def sliding(options: Namespace) -> None:
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
            count = max(2 * window, int(options.events * way.share))  # the window must fill
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


def main() -> None:
    quick = {"events": 400, "windows": [10, 100, 200], "rule_windows": [3, 6]}
    chosen = options(
        __doc__,
        quick,
        ("events", 5_000, "ticks"),
        ("windows", [100, 1_000, 10_000], "of running averages"),
        ("rule-windows", [5, 10, 20], "of rules (5) and (6)"),
    )
    sliding(chosen)
    count = chosen.events
    keyed = min(chosen.windows[1], count // 4)
    batches = cut(numbered_prices(count, keyed), max(10, count // 100))
    show_state(f"rules, a point a tick, less than {keyed:,}", within(KEYED, keyed), count, batches)


if __name__ == "__main__":
    main()
