"""What a pattern may cost: refused with a reason, by both evaluators."""

from __future__ import annotations

import pytest

from thence.algebra.expressions import Expression, Not, Variable
from thence.algebra.patterns import Bgp, Filter, LeftJoin, Pattern, TriplePattern
from thence.columns.batches import encode
from thence.columns.dictionary import UNBOUND
from thence.errors import LimitError
from thence.lang.sparql.parser import parse_pattern
from thence.match import hash_join, solve
from thence.rdf.events import Event
from thence.rdf.terms import IRI, XSD, Literal, Triple
from thence.rdf.values import MAX_TEXT
from thence.relation import accumulators

pytestmark = pytest.mark.numba

P = IRI("http://example.org/p")
TRIPLE = Bgp((TriplePattern(Variable("x"), P, Variable("y")),))


@pytest.mark.parametrize("vectorise", [True, False])
def test_algebra_that_is_deeper_than_any_text_is_refused(vectorise: bool) -> None:
    pattern: Pattern = TRIPLE
    condition: Expression = Literal("true", XSD + "boolean")
    for _ in range(5000):
        pattern, condition = LeftJoin(TRIPLE, pattern), Not(condition)
    for deep in (pattern, Filter(condition, TRIPLE)):
        with pytest.raises(LimitError, match="nested too deeply"):
            solve.solutions(deep, encode([Event(0, [Triple(P, P, P)])]), vectorise=vectorise)


@pytest.mark.parametrize("vectorise", [True, False])
def test_a_product_of_products_is_refused_before_memory_ends(vectorise: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hash_join, "MAX_ROWS", 2000)
    monkeypatch.setattr(solve, "MAX_SOLUTIONS", 2000)
    event = Event(0, [Triple(P, P, Literal(str(i))) for i in range(45)])
    pattern = Bgp(tuple(TriplePattern(Variable(f"s{i}"), P, Variable(f"o{i}")) for i in range(9)))
    with pytest.raises(LimitError, match="patterns that share a variable"):
        solve.solutions(pattern, encode([event]), vectorise=vectorise)
    assert len(solve.solutions(Bgp(pattern.triples[:1]), encode([event]), vectorise=vectorise)) == 45


@pytest.mark.parametrize("vectorise", [True, False])
@pytest.mark.parametrize("step", ["CONCAT(?x{0}, ?x{0})", "REPLACE(?x{0}, 'a', ?x{0})"])
def test_a_text_that_is_doubled_again_and_again_is_an_error_before_memory_ends(step: str, vectorise: bool) -> None:
    binds = " ".join(f"BIND({step.format(i)} AS ?x{i + 1})" for i in range(60))
    batch = encode([Event(0, [Triple(P, P, Literal("aaa"))])])
    found = solve.solutions(parse_pattern(f"{{ ?s ?p ?x0 {binds} }}"), batch, vectorise=vectorise)
    lengths = [len(batch.terms[int(ids[0])].value) for ids in found.columns.values() if ids[0] != UNBOUND]
    assert 1 << 12 < max(lengths) <= MAX_TEXT


def test_a_group_that_is_too_long_for_one_text_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(accumulators, "MAX_TEXT", 10)
    pattern = parse_pattern("{ SELECT (GROUP_CONCAT(?x; SEPARATOR='--') AS ?all) { ?s ?p ?x } }")
    for texts, bound in ((["abc", "def"], True), (["abc", "def", "g"], False)):
        batch = encode([Event(0, [Triple(P, P, Literal(text)) for text in texts])])
        (ids,) = solve.solutions(pattern, batch).columns.values()
        assert (ids[0] != UNBOUND) == bound
