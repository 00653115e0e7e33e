"""Several SASE+ queries in one text: UNION, which is a bag, and streams that one query makes and another reads.

What the definitions leave open, and the reading taken.

- FROM replaces the input: strict contiguity counts the events of the block's own streams, and of no others.
- A made event has an attribute for each column that has a value; a composite has one for each part, `name.part`.
- Made events of one time are alternatives, as any others are, also beside those that were given.
- The latest input event (SA-22) is that of all that is given to the text, whoever reads it: so what the end of the
  input makes is not before anything that was read. Made events count for those who read them.
- In finite input a match that is certain after the last event still makes its event, at that time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeAlias

from oracle.sase import Cell, Row, aggregate, rows
from oracle.sase_query import Event, Given, Query
from oracle.sase_runs import EARLIEST
from oracle.sase_text import column_name, key_name, text

Composed: TypeAlias = tuple[tuple[Query, ...], ...]
"""The queries of a text, each with its blocks; the last one is the answer."""

Streams: TypeAlias = Mapping[str, tuple[Event, ...]]

INPUT = "events"
"""The stream that a block without FROM reads."""


def written(queries: Composed) -> str:
    """As text: `;` between queries, UNION between blocks."""
    return ";\n".join("\nUNION ".join(map(text, blocks)) for blocks in queries)


def reads(block: Query) -> tuple[str, ...]:
    return block.streams or (INPUT,)


def stream(queries: Composed, given: Streams, name: str) -> tuple[Event, ...]:
    """What is given under that name, and what is made."""
    blocks = [block for union in queries for block in union]
    return (
        *given.get(name, ()),
        *(
            event_of(block, row, f"{number} {row.ids}")
            for number, block in enumerate(blocks)
            if block.made is not None and block.made.stream == name
            for row in rows(block, read_by(queries, given, block), latest(given))
        ),
    )


def read_by(queries: Composed, given: Streams, block: Query) -> tuple[Event, ...]:
    return tuple(event for name in reads(block) for event in stream(queries, given, name))


def latest(given: Streams) -> int:
    """The time of the latest event of all that is given, whoever reads it."""
    return max((event.time for events in given.values() for event in events), default=EARLIEST)


def event_of(block: Query, row: Row, id: str) -> Event:
    """The event that a row is for those who read it: at the time at which the row became certain."""
    assert block.made is not None
    return Event(block.made.type or block.made.stream, row.certain, tuple(_attributes(row)), id)


def _attributes(row: Row) -> Iterator[tuple[str, Given]]:
    for name, cell in row.cells:
        if isinstance(cell, tuple):
            yield from ((f"{name}.{part}", value) for part, value in cell if value is not None)  # type: ignore[misc]
        elif cell is not None:
            yield name, cell


def columns(queries: Composed) -> tuple[str, ...]:
    """Those of all blocks of the answer."""
    names = [[*map(key_name, block.by), *map(column_name, block.returns)] for block in queries[-1]]
    return tuple(dict.fromkeys(name for each in names for name in each))


def answers(queries: Composed, given: Streams) -> list[Row]:
    """The rows of all blocks, in order of certainty, then end and start. A column that a block lacks is missing."""
    found = [row for block in queries[-1] for row in rows(block, read_by(queries, given, block), latest(given))]
    return sorted(found, key=lambda row: (row.certain, row.end, row.start))


def totals(queries: Composed, given: Streams) -> list[tuple[tuple[str, Cell], ...]]:
    """The rows of AGGREGATE of all blocks."""
    return [row for block in queries[-1] for row in aggregate(block, read_by(queries, given, block), latest(given))]
