"""The heads of CONSTRUCT over a layout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from thence.algebra.expressions import Variable
from thence.algebra.tef_sparql import HeadTriple
from thence.engines.facts.compiled_expressions import Attempt, Moment, attempted
from thence.engines.facts.frames import Cell, CellTriple, Frame, Layout, cell
from thence.rdf.terms import IRI, BlankNode, Literal

HeadPart: TypeAlias = tuple[Cell | None, int]


@dataclass(slots=True)
class CompiledTriple:
    """A triple of a head: `parts` has a constant or a slot for each, and neither for an object that is computed, by
    `target`."""

    target: Attempt
    parts: tuple[HeadPart, HeadPart, HeadPart]

    def known(self, frame: Frame) -> list[Cell | None]:
        """The terms of the triple that a frame settles."""
        return [frame[slot] if slot >= 0 else constant for constant, slot in self.parts]

    def frame_of(self, triple: CellTriple, slots: Sequence[int], empty: Frame) -> Frame | None:
        """The frame that a triple gives some slots; None if it does not match this head."""
        found = list(empty)
        for (constant, slot), each in zip(self.parts, triple, strict=True):
            if constant is not None and constant != each:
                return None
            if slot in slots:
                if found[slot] is not None and found[slot] != each:
                    return None
                found[slot] = each
        return tuple(found)


@dataclass(slots=True)
class Head:
    triples: tuple[CompiledTriple, ...]

    def of(self, frame: Frame, moment: Moment) -> list[CellTriple]:
        """The triples that it makes; one whose expression has an error is left out (TEF-59)."""
        found: list[CellTriple] = []
        for each in self.triples:
            (subject, first), (predicate, second), (target, third) = each.parts
            if first >= 0:
                subject = frame[first]
            if second >= 0:
                predicate = frame[second]
            if third >= 0:
                target = frame[third]
            elif target is None:
                target = each.target(frame, moment)
            if isinstance(predicate, str) and isinstance(subject, str | BlankNode) and target is not None:
                found.append((subject, predicate, target))
        return found


def compiled_head(head: Sequence[HeadTriple], layout: Layout) -> Head:
    return Head(tuple(_compiled(each, layout) for each in head))


def _compiled(triple: HeadTriple, layout: Layout) -> CompiledTriple:
    def part(found: object) -> HeadPart:
        if isinstance(found, Variable):
            return None, layout.slots[found]
        return (cell(found), -1) if isinstance(found, IRI | Literal) else (None, -1)

    parts = (part(triple.subject), part(triple.predicate), part(triple.object))
    return CompiledTriple(attempted(triple.object, layout), parts)
