"""Sequences over stock ticks in one process, side by side.

Usage: python bench/kernel.py [--events 1000000] [--repeat 3] [--windows 1000 10000 100000]
                              [--only memory check strict next objects patterns runs]

Every contender reads the same Parquet file with one thread, and must find as many matches as the others; on the first
ticks, the same ones. Contenders take turns, and each one's best time counts. Ratios are of CPU time, which other work
on the machine disturbs less. "End to end" goes from the query's text and the file to an Arrow table of matches;
"match()" makes an object of each instead, and gets a tenth of the ticks; "kernel alone" is given batches that were read
before, and counts.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterable, Sized
from functools import partial
from pathlib import Path

from rich.table import Table

from stocks import databases, loops, ours, queries, ticks
from stocks.contenders import CONSOLE, agreeing, measured, resident, show

LONG = 1_000_000
"""A window of strict patterns, in ticks: longer than any match."""
FEW = 20_000
"""Ticks of which all contenders' rows are compared."""
COLUMNS = ("company", "start", "end", "p1", "p2", "p3")


def ours_of(text: str, path: Path, batches: list[ours.ColumnBatch]) -> dict[str, Callable[[], Sized]]:
    program = ours.program_of(text)
    return {
        "ours, end to end": partial(ours.table, text, path),
        "ours, kernel alone": partial(ours.kernel, program, batches),
    }


def check(path: Path, options: argparse.Namespace) -> None:
    """The first ticks: all contenders give the same rows."""
    del path
    with tempfile.TemporaryDirectory() as folder:
        few = Path(folder) / "few.parquet"
        ticks.write(few, FEW)
        text = queries.strict(queries.V, LONG)
        expected = sorted(ours.rows(text, few))
        assert in_order(ours.table(text, few)) == expected
        asked = databases.duckdb_strict, databases.duckdb_numbered, databases.polars_strict
        for contender in (*asked, loops.python_strict, loops.numba_strict):
            assert in_order(contender(few)) == expected, contender.__name__
        CONSOLE.print(f"strict: the same {len(expected):,} rows of {FEW:,} ticks from all")
        for window in options.windows:
            text = queries.skip_till_next(queries.V, window)
            expected = sorted(ours.rows(text, few))
            assert in_order(ours.table(text, few)) == expected
            for loop in (loops.python_runs, loops.python_stacks, loops.numba_runs, loops.numba_stacks):
                assert in_order(loop(few, window)) == expected, loop.__name__
            CONSOLE.print(f"skip-till-next within {window:,}: the same {len(expected):,} rows from all")


def in_order(found: object) -> list[tuple[object, ...]]:
    """A contender's rows, however it holds them."""
    match found:
        case list():
            return sorted(found)
        case databases.polars.DataFrame():
            return sorted(found.rows())
        case databases.pa.Table():
            return sorted(zip(*(found[name].to_pylist() for name in COLUMNS), strict=True))
        case _:
            raise TypeError(type(found).__name__)


def strict(path: Path, options: argparse.Namespace) -> None:
    contenders = ours_of(queries.strict(queries.V, LONG), path, list(ours.read(path))) | {
        "DuckDB": partial(databases.duckdb_strict, path),
        "DuckDB, numbered": partial(databases.duckdb_numbered, path),
        "Polars": partial(databases.polars_strict, path),
        "Python loop": partial(loops.python_strict, path),
        "Numba loop": partial(loops.numba_strict, path),
    }
    show("V pattern, strict", agreeing(measured(contenders, options.repeat)), options.events)


def skip_till_next(path: Path, options: argparse.Namespace) -> None:
    batches = list(ours.read(path))
    for window in options.windows:
        contenders = ours_of(queries.skip_till_next(queries.V, window), path, batches) | {
            "Python loop": partial(loops.python_runs, path, window),
            "Python loop, stacks": partial(loops.python_stacks, path, window),
            "Numba loop": partial(loops.numba_runs, path, window),
            "Numba loop, stacks": partial(loops.numba_stacks, path, window),
        }
        times = agreeing(measured(contenders, options.repeat))
        show(f"V pattern, skip-till-next within {window:,} ticks", times, options.events)


def objects(path: Path, options: argparse.Namespace) -> None:
    """What an object for each match costs, beside a table of all."""
    few = options.events // 10
    tenth = path.with_name("tenth.parquet")
    ticks.write(tenth, few)
    texts = {"strict": queries.strict(queries.V, LONG)}
    texts |= {
        f"skip-till-next within {window:,}": queries.skip_till_next(queries.V, window) for window in options.windows
    }
    for title, text in texts.items():
        contenders = {
            "ours, end to end": partial(ours.table, text, tenth),
            "ours, match()": partial(ours.objects, text, tenth),
        }
        show(f"V pattern, {title}, {few:,} ticks", agreeing(measured(contenders, options.repeat)), few)


def patterns(path: Path, options: argparse.Namespace) -> None:
    batches = list(ours.read(path))
    texts = {"head and shoulders, strict": queries.strict(queries.SHOULDERS, LONG)}
    for window in options.windows:
        texts[f"head and shoulders, skip-till-next within {window:,}"] = queries.skip_till_next(
            queries.SHOULDERS, window
        )
    for window in options.windows:
        texts[f"A, B+, C within {window:,}"] = queries.kleene(window)
    for title, text in texts.items():
        show(title, agreeing(measured(ours_of(text, path, batches), options.repeat)), options.events)


def memory(path: Path, options: argparse.Namespace) -> None:
    """Ten times the events: what the process holds must not grow."""
    del path
    program = ours.program_of(queries.skip_till_next(queries.V, 10_000))
    marks = [options.events * times for times in (1, 2, 5, 10)]
    table = Table("events", "resident MB", "partial matches", title="Memory, within 10,000 ticks", title_justify="left")
    for so_far in ours.stepped(program, ours.as_batches(ticks.ticks(marks[-1]))):
        if so_far.events >= marks[0]:
            marks.pop(0)
            table.add_row(f"{so_far.events:,}", f"{resident():,.0f}", f"{so_far.live:,}")
    CONSOLE.print(table)


def runs(path: Path, options: argparse.Namespace) -> None:
    """Partial matches of other companies must cost nothing: more companies at one window, the window and the companies
    together, the window alone."""
    del path
    table = Table(title="Cost of partial matches, V skip-till-next, kernel alone", title_justify="left")
    for heading in ("companies", "within", "partial matches", "a company", "CPU µs an event"):
        table.add_column(heading, justify="right")
    for companies, window in cases(options.windows):
        batches = list(ours.as_batches(ticks.ticks(options.events, companies=companies)))
        program = ours.program_of(queries.skip_till_next(queries.V, window))
        found = ours.kernel(program, batches)
        best = measured({"kernel": partial(ours.kernel, program, batches)}, options.repeat)["kernel"]
        each = f"{found.live / companies:,.1f}", f"{1e6 * best.cpu / options.events:.2f}"
        table.add_row(f"{companies:,}", f"{window:,}", f"{found.live:,}", *each)
    CONSOLE.print(table)


def cases(windows: Iterable[int]) -> list[tuple[int, int]]:
    first, *rest = sorted(windows)
    same_window = [(companies, first) for companies in (110, 1_100, 11_000)]
    in_step = [(110 * window // first, window) for window in rest]
    return list(dict.fromkeys([*same_window, *in_step, *((110, window) for window in rest)]))


SECTIONS = {
    "memory": memory,  # first, before others have made the process large
    "check": check,
    "strict": strict,
    "next": skip_till_next,
    "objects": objects,
    "patterns": patterns,
    "runs": runs,
}


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--events", type=int, default=1_000_000)
    arguments.add_argument("--repeat", type=int, default=3)
    arguments.add_argument("--windows", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    arguments.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ticks.parquet"
        ticks.write(path, options.events)
        CONSOLE.print(f"{options.events:,} ticks of 110 companies, {path.stat().st_size / 1e6:.1f} MB of Parquet")
        for name, section in SECTIONS.items():
            if name in options.only:
                section(path, options)


if __name__ == "__main__":
    main()
