"""EP-SPARQL in one process: query (1)'s SEQ of three within 1,000 ticks, beside the SPAseQ automaton and a Numba
loop that give the same rows; then the solutions that are stored along the stream.

Usage: python bench/ep_sparql_sequence.py [--events 50000] [--window 1000] [--state-events 50000] [--repeat 3] [--quick]

Contenders take turns, and each one's best CPU time counts. The full sizes are --events 1000000 and --state-events
5000000. `--quick` only shows that it runs: its figures mean nothing.
"""

from __future__ import annotations

import tempfile
from argparse import Namespace
from collections.abc import Callable, Iterator, Sized
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from numba import njit
from pyarrow import parquet

from stocks import ours, ticks
from stocks.contenders import CONSOLE, agreeing, measured, show
from temporal.flows import EX, options, query_of, show_state, within
from thence.columns.batches import Batch

COLUMNS = ("company", "start", "end", "p1", "p2", "p3")
FEW = 20_000
"""Ticks of which all contenders' rows are compared."""
BAND = 500
"""Cents that prices turn back at, where the state is measured."""
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


def sequence(options: Namespace) -> None:
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


def tick_batches(count: int, together: int) -> Iterator[Batch]:
    """Ticks that fall as often, however long the stream is: the solutions that can be stored do not become more."""

    def records() -> Iterator[pa.RecordBatch]:
        for record in ticks.ticks(count, within=BAND):
            for first in range(0, record.num_rows, together):
                yield record.slice(first, together)

    return ours.as_batches(records())


def main() -> None:
    quick = {"events": 2_000, "state_events": 4_000}
    chosen = options(
        __doc__,
        quick,
        ("events", 50_000, "ticks"),
        ("window", 1_000, "in ticks"),
        ("state-events", 50_000, "ticks along which the state is measured"),
    )
    sequence(chosen)
    count = chosen.state_events
    title = f"SEQ of three, less than {chosen.window:,}"
    show_state(title, within(SEQUENCE, chosen.window), count, tick_batches(count, max(100, count // 100)))


if __name__ == "__main__":
    main()
