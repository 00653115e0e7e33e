"""The W3C's query evaluation tests of SPARQL 1.0 and 1.1, through our evaluators."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from thence.algebra.patterns import Pattern, Select
from thence.lang.sparql.parser import parse_query
from thence.match import reference_evaluator
from thence.match.context import Context, Solution
from thence.match.sparql_queries import Solve, run
from thence.rdf.dataset import Dataset
from w3c import vectorised
from w3c.manifest import Entry, needs_data
from w3c.results import differences, read_result
from w3c.suite import CONTEXT, dataset_of, suite

EVALUATORS: dict[str, Solve] = {"plain": reference_evaluator.solutions, "vectorised": vectorised.solutions}
"""What gives the solutions of WHERE; every one must pass every test."""

OUT_OF_SCOPE = {
    "sparql11/entailment": "answers under entailment regimes: for those under RDFS see test_rdfs_entailment",
    "sparql11/service": "SERVICE asks another server; a query here opens no connection",
}
EXCLUDED: dict[str, str] = {}


def in_scope() -> Iterator[Entry]:
    return (entry for entry in suite() if entry.folder not in OUT_OF_SCOPE and entry.id not in EXCLUDED)


@needs_data
@pytest.mark.parametrize("evaluator", EVALUATORS)
@pytest.mark.parametrize("entry", [pytest.param(entry, id=entry.id) for entry in in_scope()])
def test_evaluation(entry: Entry, evaluator: str) -> None:
    query = parse_query(entry.action.text(), source=entry.action.path.name, base=entry.action.iri)
    found = run(query, dataset_of(entry, query), CONTEXT, solve=EVALUATORS[evaluator])
    assert entry.result is not None
    ordered = isinstance(query, Select) and bool(query.modifiers.order)
    reduced = isinstance(query, Select) and query.reduced
    problem = differences(read_result(entry.result), found, ordered=ordered, reduced=reduced)
    assert problem is None, problem


@needs_data
def test_every_exclusion_has_a_reason_and_all_other_tests_are_run(capsys: pytest.CaptureFixture[str]) -> None:
    counts = Counter(entry.folder for entry in in_scope())
    columns = Counter(entry.folder for entry in in_scope() if runs_vectorised(entry))
    with capsys.disabled():
        print("\nW3C query evaluation tests, all of them through the reference evaluator:")
        for folder, count in sorted(counts.items()):
            print(f"  {folder:34} {count:4}, {columns[folder]:4} also vectorised")
        print(f"  {'together':34} {counts.total():4}, {columns.total():4} also vectorised")
        for folder, reason in OUT_OF_SCOPE.items():
            print(f"  left out: {folder} ({sum(e.folder == folder for e in suite())}): {reason}")
        for name, reason in EXCLUDED.items():
            print(f"  left out: {name}: {reason}")
    assert counts.total() >= 518
    assert columns.total() >= 447
    assert {entry.id for entry in suite()} >= EXCLUDED.keys()


def runs_vectorised(entry: Entry) -> bool:
    """Whether its WHERE is evaluated over columns, and nothing of it by the reference evaluator."""
    over_columns = []

    def solve(pattern: Pattern, dataset: Dataset, context: Context) -> Iterator[Solution]:
        found = vectorised.evaluated(pattern, dataset, context)
        over_columns.append(found is not None)
        return iter(found or ())

    query = parse_query(entry.action.text(), base=entry.action.iri)
    run(query, dataset_of(entry, query), CONTEXT, solve=solve)
    return bool(over_columns) and all(over_columns)
