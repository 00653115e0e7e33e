"""The vectorised matcher as an evaluator of WHERE: the default graph is one event, the named graphs are background
data."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from thence.algebra.patterns import Pattern
from thence.columns.batches import EventBatch
from thence.columns.dictionary import UNBOUND, Terms
from thence.errors import InputError
from thence.io.background_data import BackgroundData
from thence.match import reference_evaluator, vectorised_evaluator
from thence.match.background import Background
from thence.match.context import Context, Solution
from thence.match.solve import reason_for_reference
from thence.rdf.dataset import Dataset, IndexedGraph


def solutions(pattern: Pattern, dataset: Dataset, context: Context) -> Iterator[Solution]:
    """Vectorised where that applies, else plain."""
    found = evaluated(pattern, dataset, context)
    return reference_evaluator.solutions(pattern, dataset, context) if found is None else iter(found)


def evaluated(pattern: Pattern, dataset: Dataset, context: Context) -> list[Solution] | None:
    """The solutions, vectorised; None where that does not apply: for the pattern, or since the dataset lacks a graph,
    which means no solutions in the standard, and with us an error."""
    if reason_for_reference(pattern):
        return None
    terms = Terms()
    named = {name: _batch(graph, terms) for name, graph in dataset.named.items()}
    batch = _batch(dataset.default, Terms())
    background = Background(BackgroundData(terms, named))
    try:
        background.check(pattern)
        found = vectorised_evaluator.evaluate(pattern, batch, background, context)
    except InputError:
        return None
    return [
        {name: batch.terms[int(ids[row])] for name, ids in found.columns.items() if ids[row] != UNBOUND}
        for row in range(len(found))
    ]


def _batch(graph: IndexedGraph, terms: Terms) -> EventBatch:
    ids = terms.add_all(term for triple in graph for term in triple).reshape(-1, 3)
    zero = np.zeros(1, np.int64)
    return EventBatch(
        terms=terms,
        offsets=np.array([0, len(ids)], np.int64),
        subjects=ids[:, 0].copy(),
        predicates=ids[:, 1].copy(),
        objects=ids[:, 2].copy(),
        starts=zero,
        ends=zero,
        domains=np.zeros(1, np.uint8),
        ids=np.full(1, UNBOUND, np.int32),
        positions=zero,
    )
