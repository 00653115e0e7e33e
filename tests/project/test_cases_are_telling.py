"""The random cases themselves: enough of them have answers, and every construct stands in some that do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import Phase, given, settings

from strategies.expressions import CASTS, FUNCTIONS
from support.agreement import Case, cases
from thence.algebra.expressions import COMPARISONS, OPERATIONS, Arithmetic, Call, Cast, Compare, Variable
from thence.algebra.patterns import Bgp, Graph, LeftJoin, TriplePattern
from thence.algebra.traversal import nodes
from thence.algebra.variables import in_scope
from thence.rdf.terms import BlankNode, Literal

pytestmark = pytest.mark.numba

SO_MANY = 400


def constructs(case: Case) -> Iterator[str]:
    """What stands in a case's pattern, by names of our own."""
    for node in nodes(case.pattern):
        yield type(node).__name__
        match node:
            case Call():
                yield node.function
            case Cast():
                yield f"cast to {node.function.value.rpartition('#')[2]}"
            case Compare():
                yield node.comparison.value
            case Arithmetic():
                yield node.operation.value
            case LeftJoin():
                yield "OPTIONAL" if node.condition is None else "OPTIONAL with FILTER"
            case Graph():
                yield "GRAPH ?g" if isinstance(node.name, Variable) else "GRAPH <g>"
            case Bgp():
                yield from _shapes(node)


def _shapes(bgp: Bgp) -> Iterator[str]:
    yield f"{len(bgp.triples)} triples"
    names = [set(in_scope(Bgp((triple,)))) for triple in bgp.triples]
    if any(left & right for left in names for right in names if left is not right):
        yield "triples that join"
    if any(not left & right for left in names for right in names if left is not right):
        yield "a cross product"
    for triple in bgp.triples:
        assert isinstance(triple, TriplePattern)
        slots = (triple.subject, triple.predicate, triple.object)
        if isinstance(triple.predicate, Variable):
            yield "a variable predicate"
        if any(isinstance(slot, BlankNode) for slot in slots):
            yield "a blank node"
        if isinstance(triple.object, Literal):
            yield "a constant"
        if triple.subject == triple.object:
            yield "a variable twice in a triple"


EXPECTED = {
    *("Bgp", "Join", "LeftJoin", "Filter", "Union", "Graph", "Extend", "Minus", "Values"),
    *("Compare", "Arithmetic", "Negate", "Plus", "Not", "And", "Or", "In", "Bound", "If", "Coalesce", "Call", "Cast"),
    *("OPTIONAL", "OPTIONAL with FILTER", "GRAPH ?g", "GRAPH <g>"),
    *(f"{count} triples" for count in range(5)),
    *("triples that join", "a cross product", "a variable predicate", "a blank node", "a constant"),
    "a variable twice in a triple",
    *(comparison.value for comparison in COMPARISONS),
    *(operation.value for operation in OPERATIONS),
}
FUNCTION_NAMES = {function.name for function in FUNCTIONS} | {f"cast to {name}" for name in CASTS}


def test_every_construct_stands_in_cases_that_have_answers() -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=SO_MANY, derandomize=True, phases=[Phase.generate], database=None)
    @given(cases(background=True))
    def look(case: Case) -> None:
        found = case.answers(vectorise=True)
        seen["cases"] += 1
        seen["with answers"] += bool(found)
        seen["with several answers"] += len(found) > 1
        if found:
            seen.update(set(constructs(case)))

    look()
    assert seen["cases"] >= SO_MANY
    assert seen["with answers"] > 0.5 * seen["cases"]
    assert seen["with several answers"] > 0.3 * seen["cases"]
    assert {name for name in EXPECTED if not seen[name]} == set()
    # each function is tried on everything elsewhere: here most of them stand among other things
    assert sum(seen[name] > 0 for name in FUNCTION_NAMES) > 0.5 * len(FUNCTION_NAMES)
