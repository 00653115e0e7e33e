"""SASE+ over stock ticks in one process, beside a hand-written Python loop.

Usage: python bench/sase.py [--events 1000000] [--repeat 3] [--window 1000] [--only contiguous next totals trades]

A rise is a closure of growing prices of one symbol, and ends with a lower price. Every contender reads the same Parquet
file with one thread, and must find the same matches. Contenders take turns, and each one's best time counts; ratios are
of CPU time. `trades` runs the same rise over the real trades in $THENCE_DATA/lean_ticks, if they are there.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sized
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv, parquet

import thence
from stocks import ticks
from stocks.contenders import CONSOLE, agreeing, measured, show

RISE = """
PATTERN SEQ(Tick+ a[], Tick b)
WHERE {strategy}(a[]!, b) {{ [symbol] ^ a[i].price > a[i-1].price ^ b.price < a[a.LEN].price }}
WITHIN {window}
RETURN a[1].symbol AS symbol, a[1].price AS low, a[a.LEN].price AS high, a.LEN AS length, b.price AS after
"""
COUNTED = """
PATTERN SEQ(Tick+ a[], Tick b)
WHERE skip_till_any_match(a[], b) {{ [symbol] ^ b.price < a[1].price }}
WITHIN {window}
AGGREGATE count(*) AS rises BY symbol
"""


def write(path: Path, events: int) -> None:
    """Ticks with a symbol and without a subject."""
    with parquet.ParquetWriter(path, _schema()) as writer:
        for record in ticks.ticks(events):
            columns = [record.column(name) for name in ("time", "type", "subject", "price", "volume")]
            writer.write_batch(pa.record_batch(columns, schema=_schema()))


def _schema() -> pa.Schema:
    return pa.schema([field.with_name("symbol") if field.name == "subject" else field for field in ticks.SCHEMA])


def ours(text: str, path: Path) -> pa.Table:
    return thence.parse(text, language="sase+").match(path).table()


def lists(path: Path) -> tuple[list[int], list[str], list[float]]:
    table = parquet.read_table(path, columns=["time", "symbol", "price"], use_threads=False)
    return tuple(table[name].to_pylist() for name in ("time", "symbol", "price"))  # type: ignore[return-value]


def loop_contiguous(path: Path, window: int) -> list[tuple[object, ...]]:
    """Every tick begins a rise. The next tick of the symbol continues it, ends it, or breaks it."""
    found = []
    runs: dict[str, list[tuple[int, float, float, int]]] = defaultdict(list)
    for time, symbol, price in zip(*lists(path), strict=True):
        going = []
        for start, low, high, length in runs[symbol]:
            if time - start > window:
                continue
            if price < high:
                found.append((symbol, low, high, length, price))
            elif price > high:
                going.append((start, low, price, length + 1))
        going.append((time, price, price, 1))
        runs[symbol] = going
    return found


def loop_next(path: Path, window: int) -> list[tuple[object, ...]]:
    """The same, but that a tick that neither continues nor ends a rise is passed over."""
    found = []
    runs: dict[str, list[tuple[int, float, float, int]]] = defaultdict(list)
    for time, symbol, price in zip(*lists(path), strict=True):
        going = []
        for run in runs[symbol]:
            start, low, high, length = run
            if time - start > window:
                continue
            if price < high:
                found.append((symbol, low, high, length, price))
            elif price > high:
                going.append((start, low, price, length + 1))
            else:
                going.append(run)
        going.append((time, price, price, 1))
        runs[symbol] = going
    return found


def compare(title: str, text: str, loop: Callable[[Path, int], Sized], path: Path, options: argparse.Namespace) -> None:
    few = path.with_name("few.parquet")
    write(few, 20_000)
    table = ours(text, few)
    names = ("symbol", "low", "high", "length", "after")
    rows = sorted(zip(*(table[name].to_pylist() for name in names), strict=True))
    assert rows == sorted(loop(few, options.window)), "they differ"  # type: ignore[call-overload]
    contenders: dict[str, Callable[[], Sized]] = {
        "ours": partial(ours, text, path),
        "Python loop": partial(loop, path, options.window),
    }
    show(title, agreeing(measured(contenders, options.repeat)), options.events)


def contiguous(path: Path, options: argparse.Namespace) -> None:
    text = RISE.format(strategy="partition_contiguity", window=options.window)
    compare("Rise, partition contiguity", text, loop_contiguous, path, options)


def skip_till_next(path: Path, options: argparse.Namespace) -> None:
    text = RISE.format(strategy="skip_till_next_match", window=options.window)
    compare("Rise, skip-till-next", text, loop_next, path, options)


def totals(path: Path, options: argparse.Namespace) -> None:
    """AGGREGATE over matches that nobody could list: a window has 2 ** (ticks of a symbol in it) of them."""
    few = path.with_name("totals.parquet")
    count = min(options.events, 20_000)
    write(few, count)
    text = COUNTED.format(window=options.window)
    times = measured({"ours": partial(ours, text, few)}, options.repeat)
    show(f"All sets of ticks below their first within {options.window}, counted by symbol", times, count)


def trades(path: Path, options: argparse.Namespace) -> None:
    """Real trades, tick by tick: within ten seconds, in milliseconds of the day. Trades of one time are alternatives,
    which no loop above knows of."""
    folder = Path(os.environ.get("THENCE_DATA", "")) / "lean_ticks" / "trade"
    files = sorted(folder.glob("*.csv")) if folder.is_dir() else []
    if not files:
        CONSOLE.print("trades: there are none in $THENCE_DATA/lean_ticks")
        return
    real = path.with_name("trades.parquet")
    count = write_trades(real, files)
    for strategy in ("partition_contiguity", "skip_till_next_match"):
        text = RISE.format(strategy=strategy, window=10_000)
        times = measured({"ours": partial(ours, text, real)}, options.repeat)
        show(f"Rise of real trades, {strategy}", times, count)


def write_trades(path: Path, files: list[Path]) -> int:
    """All trades in the order of time. A line has milliseconds since midnight, the price in hundredths of a cent, and
    the volume; the file's name the symbol and the day."""
    names = ("time", "price", "volume", "exchange", "condition", "suspicious")
    tables = []
    for file in files:
        symbol, _, day = file.stem.partition("_")
        read = csv.read_csv(file, read_options=csv.ReadOptions(column_names=names))
        midnight = int(day[-2:]) * 86_400_000
        tables.append(
            pa.table(
                {
                    "time": pc.add(read["time"].cast(pa.int64()), midnight),
                    "type": pa.array(["Tick"] * len(read)),
                    "symbol": pa.array([symbol] * len(read)),
                    "price": pc.divide(read["price"].cast(pa.float64()), 10_000.0),
                    "volume": read["volume"].cast(pa.int64()),
                }
            )
        )
    table = pa.concat_tables(tables).sort_by("time")
    parquet.write_table(table, path)
    return len(table)


PARTS = {"contiguous": contiguous, "next": skip_till_next, "totals": totals, "trades": trades}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--window", type=int, default=1000)
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ticks.parquet"
        write(path, options.events)
        for part in options.only:
            PARTS[part](path, options)


if __name__ == "__main__":
    main()
