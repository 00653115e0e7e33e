"""The names that a query reads, looked for in the events as they come: a name that none of them has is a likely mistake
(BAD-4, BAD-5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from thence.algebra.streams import Name
from thence.columns import value_kinds
from thence.columns.batches import ColumnBatch
from thence.columns.dictionary import Terms
from thence.errors import closest
from thence.extraction.attributes import is_named, local_name
from thence.rdf.events import RDF_TYPE, BadEvent
from thence.rdf.terms import IRI

if TYPE_CHECKING:
    from thence.columns.batches import Batch
    from thence.local.inputs import StreamInput

_MOST_LISTED = 12


@dataclass(frozen=True, slots=True, eq=False)
class ExpectedName:
    """An attribute or a type that a query reads of some streams. `placed` is the text of a warning with the name's
    place in the query, `written` a name as the query would write it."""

    streams: Sequence[str]
    name: Name
    namespace: str
    is_type: bool
    placed: Callable[[str, Name], str]
    written: Callable[[Name], str]

    def is_in(self, terms: Sequence[IRI]) -> bool:
        return any(is_named(term, self.name, self.namespace) for term in terms)


@dataclass(slots=True)
class Expected:
    """The names that no event has had so far. While there are any, what the events have instead is counted; once there
    are none, nothing is looked at."""

    missing: list[ExpectedName] = field(default_factory=list)
    events: int = 0
    attributes: dict[str, set[IRI]] = field(default_factory=dict)  # of the events of each stream
    types: dict[str, Counter[IRI]] = field(default_factory=dict)

    def add(self, name: ExpectedName) -> None:
        self.missing.append(name)

    def see(self, stream: str, batch: Batch) -> None:
        """Some events of a stream."""
        if not self.missing or not len(batch):
            return
        self.events += len(batch)
        attributes = self.attributes.setdefault(stream, set())
        types = self.types.setdefault(stream, Counter())
        if isinstance(batch, ColumnBatch):
            attributes.update(batch.predicates)
            found = batch.column(RDF_TYPE)
            if found is not None:
                types.update(_counted(found.bits[found.tags != value_kinds.NONE], batch.terms))
        else:
            predicates = _counted(batch.predicates, batch.terms)
            attributes.update(predicates)
            types.update(_counted(batch.objects[batch.predicates == batch.terms.find(RDF_TYPE)], batch.terms))
        self.missing = [each for each in self.missing if not each.is_in(self._terms(each))]

    def again(self, stream: str) -> None:
        """The events of a stream come once more, from the first on."""
        self.types.pop(stream, None)

    def warnings(self, *, first: str = "") -> Iterator[str]:
        """A sentence for each name that no event had, with what there was. `first` says that not all were looked at."""
        for each in self.missing if self.events else ():
            yield each.placed(self._sentence(each, first), each.name)

    def _terms(self, wanted: ExpectedName) -> list[IRI]:
        found = self.types if wanted.is_type else self.attributes
        return [term for stream in wanted.streams for term in found.get(stream, ())]

    def _sentence(self, wanted: ExpectedName, first: str) -> str:
        kind = "type" if wanted.is_type else "attribute"
        counts = Counter[str]()
        for stream in wanted.streams:
            for term, count in self.types.get(stream, Counter()).items() if wanted.is_type else ():
                counts[self._shown(term, wanted)] += count
            for term in self.attributes.get(stream, ()) if not wanted.is_type else ():
                if term != RDF_TYPE:
                    counts[self._shown(term, wanted)] += 0
        listed = sorted(counts, key=lambda name: (-counts[name], name))
        written = wanted.written(wanted.name)
        near = closest(written, counts)
        meant = f" Did you mean {near}?" if near else ""
        shown = [f"{name} ({counts[name]:,})" if wanted.is_type else name for name in listed[:_MOST_LISTED]]
        there = ", ".join(shown) + (", …" if len(listed) > len(shown) else "")
        return f"No event{first} has the {kind} {written}.{meant} There were: {there or 'none'}."

    def _shown(self, term: IRI, wanted: ExpectedName) -> str:
        if wanted.name.iri is None:
            return term.value.removeprefix(wanted.namespace) if wanted.namespace in term.value else local_name(term)
        return wanted.written(Name(term.value, term))


def _counted(ids: NDArray[np.generic], terms: Terms) -> dict[IRI, int]:
    """How often each IRI is among some ids."""
    if not len(ids):
        return {}
    counts = np.bincount(ids.astype(np.int64, copy=False))
    found = ((terms[number], int(counts[number])) for number in np.flatnonzero(counts).tolist())
    return {term: count for term, count in found if isinstance(term, IRI)}


MOST_SOUGHT = 1_000_000
"""The most events of a stream in which names are sought again, where another process has read them."""


def missing_names(expected: Expected, inputs: Mapping[str, Sequence[StreamInput]]) -> list[str]:
    """Warnings for the names that no event of some inputs has; only as much of them is read as it takes to see all
    names, and no more than MOST_SOUGHT events of a stream."""
    whole = True
    for name, listed in inputs.items():
        if not any(name in each.streams for each in expected.missing):
            continue
        seen = 0
        for found in (found for source in listed for found in source.read()):
            if isinstance(found, BadEvent):
                continue
            expected.see(name, found[0])
            seen += len(found[0])
            if not any(name in each.streams for each in expected.missing):
                break
            if seen >= MOST_SOUGHT:
                whole = False
                break
    return list(expected.warnings(first="" if whole else f" among the first {MOST_SOUGHT:,}"))
