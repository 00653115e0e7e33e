"""`WindowGraph`: the merge of a window's graphs as the plain evaluator reads it, kept between evaluations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from thence.columns.dictionary import Terms
from thence.columns.term_ids import Ids
from thence.rdf.dataset import ChangingGraph
from thence.rdf.terms import Triple

Cursors = tuple[int, int]
"""The first row of a window in a log, and the one behind its last."""


@dataclass(slots=True, eq=False)
class WindowGraph:
    """A triple is there while its support is not 0: the rows of all logs that have it (RS-24). Cursors never fall."""

    graph: ChangingGraph = field(default_factory=ChangingGraph)
    cursors: list[Cursors] = field(default_factory=list)
    _support: dict[tuple[int, ...], int] = field(default_factory=dict)

    def advance(self, spans: Sequence[Cursors], parts: Sequence[Sequence[Ids]], terms: Terms) -> None:
        """Move to other cursors; `parts` are the subjects, predicates and objects of whole logs."""
        before = self.cursors or [(0, 0)] * len(spans)
        for (low, high), (old_low, old_high), columns in zip(spans, before, parts, strict=True):
            for ids in _rows(columns, max(low, old_high), high):
                self._support[ids] = self._support.get(ids, 0) + 1
                if self._support[ids] == 1:
                    self.graph.add(Triple(*(terms[each] for each in ids)))
            for ids in _rows(columns, old_low, min(low, old_high)):
                self._support[ids] -= 1
                if not self._support[ids]:
                    del self._support[ids]
                    self.graph.remove(Triple(*(terms[each] for each in ids)))
        self.cursors = list(spans)


def _rows(columns: Sequence[Ids], low: int, high: int) -> Iterator[tuple[int, ...]]:
    return zip(*(column[low:high].tolist() for column in columns), strict=True)
