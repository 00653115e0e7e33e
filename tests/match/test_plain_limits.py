"""Long and deep queries: evaluated, or refused with a reason; Python's stack is never the one to speak."""

from __future__ import annotations

import pytest

from support.sparql_data import answer, dataset, rows
from thence.algebra.expressions import Expression, Not, Variable
from thence.algebra.patterns import Ask, Bgp, Filter, LeftJoin, Pattern, TriplePattern
from thence.errors import LimitError
from thence.match.reference_evaluator import evaluate
from thence.match.sparql_queries import run
from thence.rdf.dataset import Dataset, IndexedGraph
from thence.rdf.terms import IRI, XSD, Literal, Triple

LOOP = ":a :p :a ."
TRIPLE = Bgp((TriplePattern(Variable("x"), IRI("http://example.org/p"), Variable("y")),))


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("SELECT * {" + "?x :p ?y OPTIONAL {" * 150 + "?x :p ?y" + "}" * 151, 1),
        ("SELECT * {" + "?x :p ?y MINUS {" * 151 + "?x :p ?y" + "}" * 152, 0),
        ("SELECT * {" + "?x :p ?y FILTER EXISTS {" * 100 + "?x :p ?y" + "}" * 101, 1),
        ("SELECT * {" + "{ SELECT * {" * 80 + "?x :p ?y" + "}}" * 80 + "}", 1),
        ("SELECT * {" + "{ ?x :p ?y } UNION {" * 150 + "?x :p ?y" + "}" * 151, 151),
        ("SELECT * { ?x :p ?y FILTER(" + "!(" * 150 + "?x = ?y" + ")" * 151 + "}", 1),
        ("SELECT * { ?x :p ?y FILTER(" + "IF(?x = ?y, " * 150 + "true" + ", 1/0)" * 150 + ") }", 1),
        ("SELECT * { ?x :p ?y FILTER(" + "?x != ?y || " * 3000 + "true) }", 1),
        ("SELECT * { { ?x :p ?y }" + " UNION { ?x :p ?y }" * 999 + " }", 1000),
        ("SELECT * { ?x :p ?y" + " OPTIONAL { ?x :p ?y }" * 200 + " }", 1),
        ("SELECT * { ?x " + "(" * 150 + ":p" + ")*" * 150 + " ?y }", 1),
        ("SELECT * { ?x :p" + "/:p" * 999 + " ?y }", 1),
        ("SELECT * {" + " ?x :p ?y ." * 3000 + "}", 1),
    ],
)
def test_what_the_parser_lets_through_is_evaluated(query: str, count: int) -> None:
    assert len(rows(query, LOOP)) == count


def test_algebra_that_is_deeper_than_any_text_is_refused() -> None:
    pattern: Pattern = TRIPLE
    condition: Expression = Literal("true", XSD + "boolean")
    for _ in range(5000):
        pattern = LeftJoin(TRIPLE, pattern)
        condition = Not(condition)
    data = Dataset(IndexedGraph([Triple(*(IRI("http://example.org/p"),) * 3)]))
    for deep in (pattern, Filter(condition, TRIPLE)):
        with pytest.raises(LimitError, match="nested too deeply"):
            evaluate(deep, data)
        with pytest.raises(LimitError, match="nested too deeply"):
            run(Ask(deep), data)


def test_asking_stops_at_the_first_solution() -> None:
    """The whole product would be 10^18 rows."""
    data = dataset(" ".join(f":s{i} :p {i} ." for i in range(1000)))
    product = "?a :p ?b . ?c :p ?d . ?e :p ?f . ?g :p ?h . ?i :p ?j . ?k :p ?l"
    assert answer(f"ASK {{ {product} }}", data) is True
    assert len(rows(f"SELECT * {{ {product} }} LIMIT 3", data)) == 3
