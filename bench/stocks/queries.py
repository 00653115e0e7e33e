"""The queries, in SPAseQ."""

from __future__ import annotations

V = {"A": "", "B": "?p2 < ?p1", "C": "?p3 > ?p2"}
SHOULDERS = {
    "A": "",
    "B": "?p2 > ?p1",
    "C": "?p3 < ?p2 && ?p3 > ?p1",
    "D": "?p4 > ?p2",
    "E": "?p5 < ?p4 && ?p5 > ?p1",
    "F": "?p6 > ?p5 && ?p6 < ?p4",
    "G": "?p7 < ?p5",
}
DIP = {"A": "", "B": "?p2 < ?p1", "C": "?p3 > ?p1"}
"""With B+: a price, then lower ones, then one above it."""


def strict(steps: dict[str, str], window: int) -> str:
    """Ticks of one company that directly follow each other."""
    return _query(", ".join(steps), steps, window, "PARTITION BY (?company)", _prices(steps))


def skip_till_next(steps: dict[str, str], window: int) -> str:
    """Each step takes the company's next tick that fits."""
    return _query(" ; ".join(steps), steps, window, "", _prices(steps))


def kleene(window: int) -> str:
    """A dip of any length, with its last price."""
    return _query("A, B+, C", DIP, window, "PARTITION BY (?company)", _prices(DIP))


def _prices(steps: dict[str, str]) -> str:
    return " ".join(f"?p{number}" for number in range(1, len(steps) + 1))


def _query(sequence: str, steps: dict[str, str], window: int, partition: str, columns: str) -> str:
    gpms = "\n".join(
        f"  DEFINE GPM {name} ON S {{ ?company :price ?p{number} . {f'FILTER({test})' if test else ''} }}"
        for number, (name, test) in enumerate(steps.items(), 1)
    )
    return f"""PREFIX : <http://example.org/>
SELECT ?company {columns}
WITHIN {window} TICKS {partition}
FROM STREAM S <http://example.org/ticks>
WHERE {{
  SEQ ({sequence})
{gpms}
}}"""
