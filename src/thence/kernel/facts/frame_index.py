"""What is known of matches, found by what is bound in them."""

from __future__ import annotations

from collections.abc import ItemsView
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar

from thence.kernel.facts.frames import Frame

K = TypeVar("K", bound=tuple[Frame, *tuple[Any, ...]])
V = TypeVar("V")
Shape: TypeAlias = tuple[int, ...]
"""The slots that a frame binds."""


@dataclass(slots=True)
class FrameIndex(Generic[K, V]):
    """Values by key; a key begins with the frame of a match. It is indexed by the slots of each shape that it is asked
    with, of which a query has few; every frame that is entered binds these."""

    entries: dict[K, V] = field(default_factory=dict)
    shapes: dict[Shape, dict[Frame, dict[K, None]]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.entries)

    def __contains__(self, key: K) -> bool:
        return key in self.entries

    def items(self) -> ItemsView[K, V]:
        return self.entries.items()

    def put(self, key: K, value: V) -> None:
        if key not in self.entries:
            for shape, listed in self.shapes.items():
                listed.setdefault(_part(key[0], shape), {})[key] = None
        self.entries[key] = value

    def take(self, frame: Frame) -> dict[K, V]:
        """Remove the entries that agree with a frame; these."""
        shape = tuple([slot for slot, each in enumerate(frame) if each is not None])
        if not shape:
            found, self.entries, self.shapes = self.entries, {}, {}
            return found
        if shape not in self.shapes:
            listed = self.shapes[shape] = {}
            for key in self.entries:
                listed.setdefault(_part(key[0], shape), {})[key] = None
        return {key: self._remove(key) for key in list(self.shapes[shape].get(_part(frame, shape), ()))}

    def _remove(self, key: K) -> V:
        for shape, listed in self.shapes.items():
            part = _part(key[0], shape)
            del listed[part][key]
            if not listed[part]:
                del listed[part]
        return self.entries.pop(key)


def _part(frame: Frame, shape: Shape) -> Frame:
    return tuple([frame[slot] for slot in shape])
