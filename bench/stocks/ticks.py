"""Generated stock ticks: a random walk for each company, the same for the same seed."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

TOGETHER = 65_536
"""Ticks that are made, and given to the kernel, at a time."""

SCHEMA = pa.schema(
    [
        ("time", pa.int64()),
        ("type", pa.string()),
        ("subject", pa.string()),
        ("price", pa.float64()),
        ("volume", pa.int64()),
    ]
)


def ticks(count: int, *, companies: int = 110, seed: int = 7, within: int | None = None) -> Iterator[pa.RecordBatch]:
    """`count` ticks of some companies in turns of chance, one at each time from 0 on. A price goes up or down by at
    most 50 cents, and never falls below 1.00: prices spread, and so the share of a price that it changes by grows along
    the stream. It stays, if prices turn back so many cents from where they begin (`within`)."""
    draw = np.random.default_rng(seed)
    names = pa.array([f"http://example.org/company/{number}" for number in range(companies)])
    walked = np.full(companies, 10_000, np.int64)  # in cents, so that nothing is rounded twice
    for first in range(0, count, TOGETHER):
        size = min(TOGETHER, count - first)
        company = draw.integers(0, companies, size)
        places = _walk(company, draw.integers(-50, 51, size), walked)
        cents = 100 + (np.abs(places) if within is None else _turned_back(places, within))
        yield pa.record_batch(
            [
                pa.array(np.arange(first, first + size)),
                pa.array(["Tick"]).take(pa.array(np.zeros(size, np.int64))),
                names.take(pa.array(company)),
                pa.array(cents / 100),
                pa.array(draw.integers(1, 100_000, size)),
            ],
            schema=SCHEMA,
        )


def _turned_back(places: np.ndarray, within: int) -> np.ndarray:
    """Places no further than `within` from the first ones: a way beyond is reflected."""
    beyond = (places - 10_000 + within) % (4 * within)
    return 10_000 - within + np.where(beyond < 2 * within, beyond, 4 * within - beyond)


def _walk(company: np.ndarray, steps: np.ndarray, walked: np.ndarray) -> np.ndarray:
    """Where each step leads its company; `walked` goes along."""
    order = np.argsort(company, kind="stable")
    sums = np.cumsum(steps[order])
    begins = np.flatnonzero(np.diff(company[order], prepend=-1))
    lengths = np.diff(begins, append=len(order))
    before = np.repeat(sums[begins] - steps[order][begins], lengths)
    places = np.empty(len(order), np.int64)
    places[order] = walked[company[order]] + sums - before
    walked[company[order][begins]] = places[order][begins + lengths - 1]
    return places


def write(path: Path, count: int, *, companies: int = 110, together: int | None = None) -> None:
    """As one file, whose row groups have so many ticks: as many cores can read it as it has."""
    with parquet.ParquetWriter(path, SCHEMA) as file:
        file.write_table(pa.Table.from_batches(ticks(count, companies=companies), SCHEMA), row_group_size=together)


def write_pieces(folder: Path, count: int, together: int, files: int) -> None:
    """The same, of which so many are in some files together, as many as can be read at a time; each is a second younger
    than the one before it, since files are taken by age."""
    folder.mkdir()
    table = pa.Table.from_batches(ticks(count), SCHEMA)
    size = together // files
    for number, first in enumerate(range(0, count, size)):
        path = folder / f"{number:05}.parquet"
        parquet.write_table(table.slice(first, size), path, row_group_size=TOGETHER)
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
