"""What `explain` shows of a program, in all its formats: built by an operator, rendered by `thence.view`.

Nothing here is of one language. Labels and lines are plain text: the renderers escape and shorten them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from thence.algebra.streams import Stream
    from thence.program.operator import ShardKey


@dataclass(frozen=True, slots=True)
class Box:
    """A node of the diagram: where partial results wait (a state, a window, a join). `label` is its text in one line,
    `lines` are those of a drawing; without them, a drawing has the label. `layer` is its column there, from 1; without
    it, that is how many arrows lead to it at least."""

    number: int
    label: str
    lines: tuple[str, ...] = ()
    layer: int | None = None


@dataclass(frozen=True, slots=True)
class Arrow:
    """How one node leads to others. No `source`: it leads there from the input; `emits`: it also emits rows. `labels`
    has the text in one line for each target, and for what is emitted last; it may be empty. `lines` are those of a
    drawing, which has a box for them on the way; without them, a drawing has a mere line."""

    source: int | None
    targets: tuple[int, ...]
    labels: tuple[str, ...]
    emits: bool = False
    lines: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        assert len(self.labels) == len(self.targets) + self.emits


@dataclass(frozen=True, slots=True)
class Description:
    """`text` is the explanation in lines; `data` the same facts for JSON. Boxes and arrows are the diagram, `notes`
    stand above it, and each of `absent` has the lines of something that must not occur. `start` and `end` are the texts
    of the input and of what is emitted."""

    text: tuple[str, ...]
    data: Mapping[str, object]
    boxes: tuple[Box, ...] = ()
    arrows: tuple[Arrow, ...] = ()
    notes: tuple[str, ...] = ()
    absent: tuple[tuple[str, ...], ...] = ()
    start: str = "events"
    end: str = "rows"


@dataclass(frozen=True, slots=True)
class FilterDescription:
    """A condition as the query writes it, and where it is tested."""

    text: str
    tested: str


def streams_data(streams: Iterable[Stream]) -> list[dict[str, str]]:
    """The streams that a program reads, for JSON."""
    return [{"name": stream.name, "iri": stream.iri.value} for stream in streams]


def single_shard_text(key: ShardKey) -> str:
    """Why all events are in one shard.

    >>> from thence.program.operator import one_shard
    >>> single_shard_text(one_shard(1, "windows hold every event"))
    'none: windows hold every event, so all events meet in one shard'
    """
    assert not key.names
    return f"none: {key.reason}, so all events meet in one shard"
