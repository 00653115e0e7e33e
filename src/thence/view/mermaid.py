"""A description as a Mermaid state diagram, as Markdown on many sites draws it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from thence.program.description import Arrow, Description

_HEAD = ("stateDiagram-v2", "    direction LR")
_OUTSIDE = "[*]"  # where a diagram begins and ends
_SPECIAL = re.compile('[":;#<>\\x00-\\x1f\\x7f]')


def state_diagram(description: Description) -> str:
    """The text of a diagram."""
    return "\n".join((*_HEAD, *_lines(description, prefix="s")))


def nested_diagram(titled: Iterable[tuple[str, Description]]) -> str:
    """The text of one diagram that has each description as a state, under its title."""
    return "\n".join((*_HEAD, *(line for number, each in enumerate(titled, 1) for line in _nested(number, *each))))


def _nested(number: int, title: str, description: Description) -> Iterator[str]:
    yield f'    state "{_escaped(title)}" as stage{number} {{'
    yield from (f"    {line}" for line in _lines(description, prefix=f"stage{number}s"))
    yield "    }"


def _lines(description: Description, *, prefix: str) -> Iterator[str]:
    """Boxes are named by their numbers after a prefix, which tells those of several diagrams apart."""
    for box in description.boxes:
        yield f'    state "{_escaped(box.label)}" as {prefix}{box.number}'
    for arrow in description.arrows:
        source = _OUTSIDE if arrow.source is None else f"{prefix}{arrow.source}"
        for target, label in zip(_targets(arrow, prefix), arrow.labels, strict=True):
            yield f"    {source} --> {target}" + (f": {_escaped(label)}" if label else "")


def _targets(arrow: Arrow, prefix: str) -> Iterator[str]:
    yield from (f"{prefix}{number}" for number in arrow.targets)
    if arrow.emits:
        yield _OUTSIDE


def _escaped(text: str) -> str:
    """As a label holds it: what would end it is written as Mermaid's entity codes.

    >>> _escaped('no "a;b"')
    'no #34;a#59;b#34;'
    """
    return _SPECIAL.sub(lambda found: f"#{ord(found[0])};", text)
