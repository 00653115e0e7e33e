"""RSEP-QL's examples, their data, and the rows worked out by hand."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "examples"


NAMESPACE = "http://example.org/"


@dataclass(frozen=True, slots=True)
class Example:
    """A query of the examples, the events of its streams, its background by the IRI of the graph, and the preset that
    it runs under."""

    query: Path
    streams: Mapping[str, Path]
    background: Mapping[str, Path] = field(default_factory=dict)
    policy: str | None = None

    @property
    def options(self) -> dict[str, Any]:
        """Of `match`, `engine` and `dataframe`."""
        found: dict[str, Any] = {"background": dict(self.background)} if self.background else {}
        return found if self.policy is None else {**found, "policy": self.policy}

    @property
    def expected(self) -> list[Any]:
        """The rows as `--format jsonl --events` writes them."""
        name = self.query.stem if self.policy is None else f"{self.query.stem}.{self.policy}"
        lines = (self.query.parent / f"{name}.expected.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]


def figure(name: str, policy: str | None = None) -> Example:
    folder = FOLDER / "rsep_ql"
    return Example(folder / f"{name}.rsepql", {"S": folder / "figure1.trig"}, policy=policy)


def city(name: str, *streams: str) -> Example:
    folder = FOLDER / "city"
    files = {stream: folder / f"{stream}.csv" for stream in streams}
    return Example(folder / f"{name}.rsepql", files, {f"{NAMESPACE}city": folder / "city.ttl"})


NETWORK = FOLDER / "social_network"


EXAMPLES = {
    "example4-unrestricted": figure("example4", "ep-sparql-unrestricted"),
    "example4-chronological": figure("example4", "ep-sparql-chronological"),
    "example4-recent": figure("example4", "ep-sparql-recent"),
    "example4-c-sparql": figure("c_sparql"),
    "city-parking": city("parking", "traffic", "parking"),
    "city-speed": city("speed", "traffic"),
    "city-rain": city("rain", "traffic", "weather"),
    "city-full": city("full", "parking"),
    "social_network-popular": Example(
        NETWORK / "popular.rsepql",
        {"posts": NETWORK / "posts.trig", "follows": NETWORK / "follows.trig"},
        {f"{NAMESPACE}people": NETWORK / "people.trig"},
    ),
}
