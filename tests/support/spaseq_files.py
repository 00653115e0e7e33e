"""Queries 1 to 6 of the SPAseQ paper, their data, and the matches worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import thence

EXAMPLES = Path(__file__).parents[2] / "examples"


# the events of each match, in the order of the pattern
MATCHES = {
    "smartgrid": ["p1 w2 w3 s1", "p1 w2 w3 s1", "p5 w6 s3", "p10 w13 s8", "p12 w15 s10"],
    "fraud": ["t1 t2", "t1 t2 t3", "t14 t15", "t17 t19", "t17 t19 t20", "t24 t25", "t24 t25 t26", "t24 t25 t26 t27"],
    "shoulders": ["h1 h2 h3 h4 h5 h6 h7", "h23 h24 h25 h26 h27 h28 h29"],
    "vshape": [
        *("e1 e2 e3", "e7 e8 e9", "e10 e11 e12", "e15 e16 e17"),
        *("e19 e20 e22", "e19 e21 e22", "e23 e24 e25", "e25 e26 e27"),
    ],
    "traffic": ["a1 b3 c3", "a4 b6 c6", "a4 b6 c6b", "a5 b8 c8", "a6 b9 c9", "a6 b11 c11"],
    "vessels": ["b1 b2 b3 b4", "b20 b21 b22 b23", "b25 b26 b27 b28", "b26 b27 b28"],
}


def files(name: str) -> dict[str, Path]:
    """The events of each of a query's streams."""
    streams = thence.parse(EXAMPLES / f"{name}.spaseq").streams
    if len(streams) > 1:
        return {stream: EXAMPLES / f"{name}-{stream}.trig" for stream in streams}
    (path,) = (path for ending in ("trig", "nq") if (path := EXAMPLES / f"{name}.{ending}").exists())
    return {streams[0]: path}


def background(name: str) -> Path | None:
    path = EXAMPLES / f"{name}.ttl"
    return path if path.exists() else None


def expected(name: str) -> list[Any]:
    return [json.loads(line) for line in (EXAMPLES / f"{name}.expected.jsonl").read_text().splitlines()]
