"""Random tables of typed events, for the tests that read them."""

from __future__ import annotations

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

NAMES = ["a", "b", "http://example.net/c", "with space", "_:x", "_:y", "é"]
TEXTS = ["", "a", "b", 'say "hi"', "two\nlines", "5", "\\", "\u20ac"]


def columns(size: int) -> st.SearchStrategy[pa.Array]:
    """An attribute: any of Arrow's types that have values, with nulls."""
    kinds = [
        (pa.int64(), st.integers(-3, 3) | st.integers(-(2**63), 2**63 - 1)),
        (pa.uint64(), st.integers(0, 3) | st.integers(0, 2**64 - 1)),
        (pa.int8(), st.integers(-3, 3)),
        (pa.float64(), st.floats(allow_subnormal=True) | st.sampled_from([0.0, -0.0, 1.5, 0.1 + 0.2, 1e16, 1e-7])),
        (pa.float32(), st.floats(width=32)),
        (
            pa.decimal128(38, 18),
            st.decimals(-(10**19), 10**19, places=18) | st.sampled_from([Decimal(2), Decimal("2.5")]),
        ),
        (pa.decimal128(5, 2), st.decimals(-999, 999, places=2)),
        (pa.decimal256(60, 3), st.decimals(-(10**40), 10**40, places=3)),
        (pa.bool_(), st.booleans()),
        (pa.string(), st.sampled_from(TEXTS)),
        (pa.large_string(), st.sampled_from(TEXTS)),
        (pa.dictionary(pa.int16(), pa.string()), st.sampled_from(TEXTS)),
        (pa.timestamp("us", "UTC"), st.datetimes(timezones=st.just(UTC))),
        (
            pa.timestamp("ms"),
            st.sampled_from([datetime(1969, 12, 31, 23, 59, 59), datetime(2024, 5, 6, 7, 8, 9, 120_000)]),
        ),
        (pa.date32(), st.dates() | st.sampled_from([date(2024, 5, 6)])),
        (pa.null(), st.none()),
    ]
    return st.sampled_from(kinds).flatmap(lambda kind: _column(kind[0], kind[1], size))


def _column(kind: Any, values: st.SearchStrategy[Any], size: int) -> st.SearchStrategy[pa.Array]:
    cells = st.lists(st.none() | values, min_size=size, max_size=size)
    return cells.map(lambda found: pa.array(found, kind))


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """Tables without a bad row."""
    size = draw(st.integers(1, 6))
    found = {
        "type": _column(pa.string(), st.sampled_from(NAMES[:4]), size).map(lambda column: column.fill_null("a")),
        "time": _column(pa.int64(), st.integers(0, 9), size).map(lambda column: column.fill_null(0)),
        "a": columns(size),
        "with space": columns(size),
    }
    if draw(st.booleans()):
        kinds = [(pa.string(), st.sampled_from(NAMES)), (pa.int32(), st.integers(0, 2))]
        kind, values = draw(st.sampled_from(kinds))
        found["subject"] = _column(kind, values, size)
    if draw(st.booleans()):
        found["id"] = _column(pa.string(), st.sampled_from(["", "e1"]), size)
    order = draw(st.permutations(list(found)))
    return pa.table({name: draw(found[name]) for name in order})


def rows(table: pa.Table) -> list[dict[str, Any]]:
    """A table's rows as Python has them."""
    listed: list[dict[str, Any]] = table.to_pylist()
    return listed
