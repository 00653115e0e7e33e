"""EP-SPARQL's examples, their data, and the rows worked out by hand."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "examples"


@dataclass(frozen=True, slots=True)
class Example:
    """A query of the examples, the events of its stream, its background, and the events of each row, in its order."""

    query: Path
    stream: Path
    rows: tuple[str, ...]
    background: Path | None = None

    @property
    def expected(self) -> list[Any]:
        """The rows as `--format jsonl --events` writes them; of a CONSTRUCT, the events."""
        lines = self.query.with_suffix(".expected.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]


def example(folder: str, name: str, events: str, *rows: str, background: str | None = None) -> Example:
    known = None if background is None else FOLDER / folder / background
    return Example(FOLDER / folder / f"{name}.epsparql", FOLDER / folder / events, rows, known)


EXAMPLES = {
    each.query.stem: each
    for each in (
        example("ep_sparql", "volatile", "volatile.csv", "v1 v3 v4", "v1 v3 v6", "v7 v8 v9"),
        example("ep_sparql", "downrated", "downrated.trig", "d1 d4 d5", "d2 d4 d5", "d6 d8"),
        example("ep_sparql", "organic", "organic.trig", "o2 o4", "o9 o11"),
        example("ep_sparql", "ratings", "ratings.trig", "r1 r3", "r1 r5", "r3 r5"),
        # of a window the events are derived points, which are no input (EP-81)
        example("ep_sparql", "average", "average.csv", "a1", "a2", "a4"),
        example("goods_delivery", "routes", "requests.trig", *("q1", "q2", "q3", "q4", "q5"), background="roads.ttl"),
        example(
            *("tsunami", "tsunami", "readings.csv"),
            *("n26 n38 n50 n62", "n27 n39 n51 n63", "n29 n41 n53 n65", "n30 n42 n54 n66"),
        ),
    )
}
