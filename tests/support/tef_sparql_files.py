"""TEF-SPARQL's examples, their data, and the rows worked out by hand."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "examples" / "tef_sparql"


@dataclass(frozen=True, slots=True)
class Example:
    """A program of the examples, its events, and its background."""

    query: Path
    events: Path
    background: Path | None = None

    @property
    def expected(self) -> list[Any]:
        """The rows, or facts, as `--format jsonl --events` writes them."""
        lines = self.query.with_suffix(".expected.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]


def example(name: str, events: str, background: str | None = None) -> Example:
    return Example(FOLDER / f"{name}.tefsparql", FOLDER / events, None if background is None else FOLDER / background)


EXAMPLES = {
    "bach": example("bach", "bach.trig"),
    "shop": example("shop", "shop.trig"),
    "movies": example("movies", "movies.trig", "movies.ttl"),
    "schedule": example("schedule", "schedule.trig", "movies.ttl"),
    "average": example("average", "prices.csv", "tickers.ttl"),
    "viewers": example("viewers", "viewers.trig", "channels.ttl"),
    "volatile": example("volatile", "shares.csv"),
    "volatile_daily": example("volatile_daily", "shares.csv"),
}
