"""SASE+'s examples, their data, and the matches worked out by hand."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import thence

EXAMPLES = Path(__file__).parents[2] / "examples"


Comparable = tuple[str, dict[str, Any]]
"""A match: the ids of its events, with a comma between components, and the cells of RETURN."""


def traded(price: int, volume: int) -> dict[str, int]:
    return {"price": price, "volume": volume}


def plummet(symbol: str, rise: Sequence[dict[str, int]], low: dict[str, int]) -> dict[str, Any]:
    return {"a[1].symbol": symbol, "a[].(price,volume)": list(rise), "b.(price,volume)": low}


def anomaly(thing: str, courier: str) -> dict[str, str]:
    return {"object_id": thing, "courier_id": courier}


MATCHES: dict[str, list[Comparable]] = {
    "badnews": [
        ("n2, s3 s5 s6", {"sum(b[].volume)": 300 + 250 + 400}),
        ("n3, s5 s6 s7", {"sum(b[].volume)": 250 + 400 + 50}),
    ],
    "rise": [
        ("r1 r3 r7 r8", {"a[1].symbol": "ACME", "a[].price": [10, 12, 15, 20]}),
        ("r10 r11 r12", {"a[1].symbol": "ACME", "a[].price": [10, 16, 20]}),
        ("r15 r17", {"a[1].symbol": "ACME", "a[].price": [10, 20]}),
        ("r16 r17", {"a[1].symbol": "ACME", "a[].price": [10, 20]}),
    ],
    "stocks": [
        ("p1 p2 p5, p6", plummet("ACME", [traded(100, 1200), traded(102, 1000), traded(103, 985)], traded(104, 700))),
        ("p7 p8, p9", plummet("BETA", [traded(50, 2500), traded(51, 2450)], traded(40, 100))),
        ("p8, p9", plummet("BETA", [traded(51, 2450)], traded(40, 100))),
        ("p12, p14", plummet("GAMA", [traded(22, 1500)], traded(23, 1100))),
    ],
    "detours": [
        ("d5, d10", anomaly("o2", "K2")),
        ("d12, d15", anomaly("o3", "K3")),
        ("d16, d17", anomaly("o4", "K1")),
    ],
    # the events are those that the first query makes, distinguished by their objects: of K1, and of K2 in between
    "couriers": [
        (" ".join(objects), {"courier_id": "K1", "objects": objects})
        for objects in ([f"x{number}" for number in range(first, first + 10)] for first in (1, 2))
    ],
}


def expected(name: str) -> list[Any]:
    return [json.loads(line) for line in (EXAMPLES / f"{name}.expected.jsonl").read_text().splitlines()]


def stocks(prices: Iterable[int], volumes: Iterable[int] | None = None) -> list[thence.Event]:
    listed = list(prices)
    traded = [1] * len(listed) if volumes is None else list(volumes)
    rows = enumerate(zip(listed, traded, strict=True), start=1)
    return [
        thence.Event(time, {"type": "STOCK", "symbol": "ACME", "price": price, "volume": volume}, id=str(time))
        for time, (price, volume) in rows
    ]
