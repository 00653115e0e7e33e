"""Descriptions of programs: nodes, and the arrows between them. `thence.explain` renders them in all formats.

Nothing here is of one language. Titles and lines are plain text: the renderers indent, escape and shorten them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from thence.interface.operator import Order, ShardKey


@dataclass(frozen=True, slots=True)
class Node:
    """A part of a program: a pattern, a state, a join. `words` follow the title in the text, and are lines of their own
    in a drawing; `details` are lines of their own in both. `inputs` are other nodes with their roles, which the text
    has below it. `json` is what JSON has of it.

    Boxes of a diagram are nodes with numbers of their own. `label` is a box's text where there is one line for it, else
    the title. `layer` is its column in a drawing, from 1; without it, that is how many arrows lead to it at least."""

    title: str
    words: tuple[str, ...] = ()
    details: tuple[str, ...] = ()
    inputs: tuple[tuple[str, Node], ...] = ()
    json: Mapping[str, object] = field(default_factory=dict)
    number: int = 0
    label: str = ""
    layer: int | None = None

    @property
    def lines(self) -> tuple[str, ...]:
        """Of a drawing."""
        return (self.title, *self.words, *self.details)


@dataclass(frozen=True, slots=True)
class Arrow:
    """An arrow from one node to others, or from the input if it has no `source`. `emits`: it also emits rows, and
    `unless` says when not. `label` is its text where there is one line for it, else the title.

    `drawn` are lines that a drawing alone has, since the text has them elsewhere. A drawing has a box for an arrow with
    a title, else a mere line."""

    source: int | None
    targets: tuple[int, ...]
    title: str = ""
    label: str = ""
    emits: bool = False
    unless: str = ""
    details: tuple[str, ...] = ()
    drawn: tuple[str, ...] = ()
    json: Mapping[str, object] = field(default_factory=dict)

    @property
    def lines(self) -> tuple[str, ...]:
        """Of a drawing."""
        return tuple(line for line in (self.title, *self.drawn, *self.details, self.unless) if line)


@dataclass(frozen=True, slots=True)
class Description:
    """The text has the algebra, the sections, boxes and arrows under the heading `flow` (if it has one), and the
    clauses; JSON the algebra and `json`, in which nodes and arrows are their own `json`; a diagram boxes and arrows,
    below the clauses. `absent` has what must not occur: arrows without source and target. `start` and `end` are the
    texts of the input and of what is emitted."""

    json: Mapping[str, object]
    clauses: tuple[str, ...] = ()
    sections: Mapping[str, tuple[Node, ...]] = field(default_factory=dict)
    boxes: tuple[Node, ...] = ()
    arrows: tuple[Arrow, ...] = ()
    absent: tuple[Arrow, ...] = ()
    algebra: str = ""
    flow: str = ""
    start: str = "events"
    end: str = "rows"


@dataclass(frozen=True, slots=True)
class Tested:
    """A condition as the query writes it, and where it is tested."""

    text: str
    tested: str

    def __str__(self) -> str:
        return f"{self.text}: {self.tested}"


def order_clauses(order: Order, title: str = "Order") -> tuple[str, ...]:
    """How events of one time are ordered, if they are.

    >>> from thence.rdf.terms import IRI
    >>> order_clauses((("trades", (IRI("http://example.org/seq"),)),))
    ('Order: events of one time in trades follow each other by <http://example.org/seq>',)
    """
    if not order:
        return ()
    streams = [f"in {stream} follow each other by {', '.join(map(str, predicates))}" for stream, predicates in order]
    return (f"{title}: events of one time {'; '.join(streams)}",)


def key_text(key: ShardKey, names: str = "") -> str:
    """The text of a shard key, or the reason for one shard. `names` says what the key consists of, where it
    is not of variables.

    >>> from thence.interface.operator import one_shard
    >>> key_text(one_shard(1, "windows hold every event"))
    'none: windows hold every event, so all events meet in one shard'
    """
    if not key.names:
        return f"none: {key.reason}, so all events meet in one shard"
    return names or f"{' '.join(f'?{name}' for name in key.names)}, which every part joins by equality"
