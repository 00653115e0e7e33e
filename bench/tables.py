"""The six jobs of examples/tables over generated tables, beside a straightforward pandas solution of each.

Usage: python bench/tables.py [--events 200000] [--repeat 3] [--only cards vessels heartbeats reverts jumps unpaid]

Both get the same pandas frames, and must give the same rows. With $THENCE_DATA, `cards`, `vessels` and `reverts` also
run over the real payments, ship reports and Wikipedia edits there, of which one row of each key and time is taken.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import thence
from stocks.contenders import CONSOLE, agreeing, measured, show

TABLES = Path(__file__).parents[1] / "examples" / "tables"
DATA = Path(os.environ.get("THENCE_DATA", "/nonexistent"))
Frames = dict[str, pd.DataFrame]


def cards(payments: pd.DataFrame) -> pd.DataFrame:
    """Three payments of one card, each more than twice the one before, in a day."""
    rows = payments.sort_values("TX_DATETIME", kind="stable")
    amount, time = rows["TX_AMOUNT"], rows["TX_DATETIME"]
    by_card = rows.groupby("CUSTOMER_ID")
    second, first = by_card["TX_AMOUNT"].shift(1), by_card["TX_AMOUNT"].shift(2)
    in_a_day = time - by_card["TX_DATETIME"].shift(2) <= pd.Timedelta(days=1)
    found = (second > 2 * first) & (amount > 2 * second) & in_a_day
    columns = {"customer": rows["CUSTOMER_ID"], "first": first, "second": second, "third": amount}
    return pd.DataFrame(columns)[found]


def vessels(reports: pd.DataFrame) -> pd.DataFrame:
    """Stops of twenty minutes or more: the reports between two of a moving vessel, within twelve hours."""
    rows = reports.sort_values(["MMSI", "BaseDateTime"], kind="stable").reset_index(drop=True)
    moving = rows["SOG"] >= 0.5
    changes = (moving != moving.shift()) | (rows["MMSI"] != rows["MMSI"].shift())
    runs = (
        rows.assign(moving=moving, run=changes.cumsum())
        .groupby("run")
        .agg(
            vessel=("MMSI", "first"),
            moving=("moving", "first"),
            began=("BaseDateTime", "first"),
            last=("BaseDateTime", "last"),
            lat=("LAT", "first"),
            lon=("LON", "first"),
            reports=("MMSI", "size"),
        )
    )
    before, after = runs.shift(1), runs.shift(-1)
    stood = after["began"] - runs["began"]
    found = (
        ~runs["moving"].astype(bool)
        & (before["vessel"] == runs["vessel"])
        & (after["vessel"] == runs["vessel"])
        & (stood >= pd.Timedelta(minutes=20))
        & (after["began"] - before["last"] <= pd.Timedelta(hours=12))
    )
    return runs.assign(stood=stood)[found][["vessel", "lat", "lon", "reports", "stood"]]


def heartbeats(beats: pd.DataFrame) -> pd.DataFrame:
    """Beats that no other follows within five minutes."""
    rows = beats.sort_values("seen", kind="stable")
    silence = rows.groupby("device")["seen"].shift(-1) - rows["seen"]
    found = rows[silence.isna() | (silence > pd.Timedelta(minutes=5))]
    return pd.DataFrame({"device": found["device"], "last_seen": found["seen"]})


def reverts(edits: pd.DataFrame) -> pd.DataFrame:
    """Edits that the next edit of the page, by somebody else and within an hour, takes back."""
    rows = edits.sort_values("time", kind="stable")
    following = rows.groupby("page")[["time", "user", "delta"]].shift(-1)
    found = (
        (rows["delta"] != 0)
        & (following["delta"] == -rows["delta"])
        & (following["user"] != rows["user"])
        & (following["time"] - rows["time"] <= pd.Timedelta(hours=1))
    )
    columns = {"page": rows["page"], "edited": rows["user"], "reverted": following["user"], "bytes": rows["delta"]}
    return pd.DataFrame(columns)[found]


def jumps(trades: pd.DataFrame) -> pd.DataFrame:
    """A rise of more than one per cent over a gap of a minute or more."""
    rows = trades.sort_values(["ms", "seq"], kind="stable")
    before = rows.groupby("symbol")[["ms", "price"]].shift(1)
    gap = rows["ms"] - before["ms"]
    found = (gap >= 60_000) & (rows["price"] > 1.01 * before["price"])
    gaps = pd.to_timedelta(gap, unit="ms")
    columns = {"symbol": rows["symbol"], "before": before["price"], "after": rows["price"], "gap": gaps}
    return pd.DataFrame(columns)[found]


def unpaid(orders: pd.DataFrame, payments: pd.DataFrame) -> pd.DataFrame:
    """Orders without a payment after them, within ten minutes."""
    both = orders.merge(payments, on="order_id", suffixes=("", "_paid"))
    waited = both["time_paid"] - both["time"]
    paid = both[(waited > pd.Timedelta(0)) & (waited <= pd.Timedelta(minutes=10))]["order_id"]
    found = orders[~orders["order_id"].isin(paid)]
    return pd.DataFrame({"unpaid": found["order_id"], "total": found["total"]})


def some_cards(events: int) -> Frames:
    random = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "TRANSACTION_ID": np.arange(events),
            "TX_DATETIME": _times(random, events, seconds=2),
            "CUSTOMER_ID": random.integers(0, max(events // 100, 1), events),
            "TX_AMOUNT": np.round(random.lognormal(3, 1, events), 2),
        }
    )
    return {"stream": frame.drop_duplicates(["CUSTOMER_ID", "TX_DATETIME"])}


def some_vessels(events: int) -> Frames:
    random = np.random.default_rng(2)
    speed = np.where(random.random(events) < 0.6, 0.1, 7.5)
    frame = pd.DataFrame(
        {
            "MMSI": random.integers(0, max(events // 200, 1), events),
            "BaseDateTime": _times(random, events, seconds=4),
            "LAT": np.round(random.uniform(20, 50, events), 4),
            "LON": np.round(random.uniform(-120, -70, events), 4),
            "SOG": speed,
        }
    )
    return {"stream": frame.drop_duplicates(["MMSI", "BaseDateTime"])}


def some_heartbeats(events: int) -> Frames:
    random = np.random.default_rng(3)
    devices = random.integers(0, 300, events)
    frame = pd.DataFrame(
        {"device": [f"d{each}" for each in devices.tolist()], "seen": _times(random, events, seconds=1)}
    )
    return {"stream": frame.drop_duplicates(["device", "seen"])}


def some_reverts(events: int) -> Frames:
    random = np.random.default_rng(4)
    frame = pd.DataFrame(
        {
            "time": _times(random, events, seconds=1),
            "page": [f"Page {each}" for each in random.integers(0, max(events // 20, 1), events).tolist()],
            "user": [f"user{each}" for each in random.integers(0, 50, events).tolist()],
            "delta": random.integers(-3, 4, events),
        }
    )
    return {"stream": frame.drop_duplicates(["page", "time"])}


def some_jumps(events: int) -> Frames:
    random = np.random.default_rng(5)
    gaps = np.where(random.random(events) < 0.001, 90_000, random.integers(0, 3, events))
    steps = np.where(gaps > 60_000, random.uniform(-2, 4, events), random.normal(0, 0.02, events))
    frame = pd.DataFrame(
        {
            "ms": 1_381_152_600_000 + np.cumsum(gaps),
            "seq": np.arange(events),
            "symbol": [("IBM", "AIG", "BAC")[each] for each in random.integers(0, 3, events).tolist()],
            "price": np.round(100 + np.cumsum(steps) % 40, 2),
        }
    )
    return {"stream": frame}


def some_unpaid(events: int) -> Frames:
    random = np.random.default_rng(6)
    orders = events // 2
    placed = _times(random, orders, seconds=2)
    number = np.arange(orders)
    paid = random.random(orders) < 0.95
    waited = pd.to_timedelta(random.integers(1, 620, orders), unit="s")
    return {
        "orders": pd.DataFrame(
            {"order_id": number, "time": placed, "total": np.round(random.uniform(5, 99, orders), 2)}
        ),
        "payments": pd.DataFrame({"order_id": number[paid], "time": (placed + waited)[paid]}),
    }


def _times(random: np.random.Generator, events: int, *, seconds: int) -> pd.DatetimeIndex:
    """Ascending times, to the second, some of them equal."""
    return pd.DatetimeIndex(
        pd.Timestamp("2024-01-01").value + np.cumsum(random.integers(0, 2 * seconds + 1, events)) * 10**9
    )


def real_cards() -> Frames:
    files = sorted((DATA / "creditcard_handbook").glob("*.csv"))
    frames = [pd.read_csv(file, parse_dates=["TX_DATETIME"]) for file in files]
    return {"stream": pd.concat(frames).drop_duplicates(["CUSTOMER_ID", "TX_DATETIME"])} if frames else {}


def real_vessels() -> Frames:
    files = sorted((DATA / "ais_us").glob("*.csv"))
    frames = [pd.read_csv(file, parse_dates=["BaseDateTime"]) for file in files]
    return {"stream": pd.concat(frames).drop_duplicates(["MMSI", "BaseDateTime"])} if frames else {}


def real_reverts() -> Frames:
    files = sorted((DATA / "wikipedia_edits").glob("*.json.gz"))
    frames = [
        pd.read_json(file, lines=True, convert_dates=["time"])[["time", "page", "user", "delta"]] for file in files
    ]
    return {"stream": pd.concat(frames).drop_duplicates(["page", "time"])} if frames else {}


@dataclass(frozen=True, slots=True)
class Job:
    """A query of examples/tables, its options, and the same in pandas."""

    options: Mapping[str, Any]
    in_pandas: Callable[..., pd.DataFrame]
    generated: Callable[[int], Frames]
    real: Callable[[], Frames] = dict


JOBS: dict[str, Job] = {
    "cards": Job({"columns": {"time": "TX_DATETIME", "id": "TRANSACTION_ID"}}, cards, some_cards, real_cards),
    "vessels": Job({"columns": {"time": "BaseDateTime"}}, vessels, some_vessels, real_vessels),
    "heartbeats": Job({"columns": {"time": "seen"}}, heartbeats, some_heartbeats),
    "reverts": Job({}, reverts, some_reverts, real_reverts),
    "jumps": Job({"columns": {"time": "ms"}, "time_unit": "ms", "order": ("seq",)}, jumps, some_jumps),
    "unpaid": Job({"types": {"orders": "ORDER", "payments": "PAYMENT"}}, unpaid, some_unpaid),
}


def ours(name: str, frames: Frames) -> pd.DataFrame:
    query = thence.parse(TABLES / f"{name}.sase")
    given = frames if len(frames) > 1 else next(iter(frames.values()))
    return query.match(given, **JOBS[name].options).to_pandas()


def rows(frame: pd.DataFrame) -> list[tuple[str, ...]]:
    """The rows of a result, in an order of their own, numbers to six digits."""
    named = [name for name in frame.columns if name not in ("start", "end")]
    return sorted(tuple(_shown(value) for value in row) for row in frame[named].itertuples(index=False))


def _shown(value: object) -> str:
    if isinstance(value, pd.Timestamp):
        return str(value.tz_localize(None) if value.tz is not None else value)
    return str(value) if isinstance(value, str | pd.Timedelta) else f"{float(value):.6g}"  # type: ignore[arg-type]


def compared(name: str, title: str, frames: Frames, repeat: int) -> None:
    in_pandas = partial(JOBS[name].in_pandas, *frames.values())
    assert rows(ours(name, frames)) == rows(in_pandas()), f"{name}: the rows differ"
    contenders = {"ours": partial(ours, name, frames), "pandas": in_pandas}
    show(f"{name}, {title}", agreeing(measured(contenders, repeat)), sum(map(len, frames.values())))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--events", type=int, default=200_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=JOBS, default=list(JOBS))
    options = parser.parse_args()
    for name in options.only:
        compared(name, "generated", JOBS[name].generated(options.events), options.repeat)
        real = JOBS[name].real()
        if real:
            compared(name, "real", real, options.repeat)
    if not DATA.is_dir():
        CONSOLE.print("THENCE_DATA names no folder, so there are no real tables")


if __name__ == "__main__":
    main()
