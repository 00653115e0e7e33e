"""What is said of a SPAseQ query whose variables mean nothing where they stand."""

from __future__ import annotations

import pytest

from thence.errors import QueryError
from thence.lang.spaseq.parser import parse

CLAUSES = "WITHIN 9 TICKS FROM STREAM S <x:s>"


def comparable(sequence: str, *, select: str = "SELECT *", clauses: str = "", **gpms: str) -> str:
    """The error about a query: its head is on the first line, SEQ on the second, then each GPM on one of its own."""
    bodies = {name: f"?{name.lower()} <x:is> ?v{name.lower()}" for name in "ABCDN" if name in sequence} | gpms
    definitions = "\n".join(f"DEFINE GPM {name} ON S {{ {body} }}" for name, body in bodies.items())
    with pytest.raises(QueryError) as refused:
        parse(f"{select} {CLAUSES} {clauses} {{\nSEQ ({sequence})\n{definitions}\n}}")
    return str(refused.value)


FILTER = "?a <x:p> ?price FILTER(?price > {})"


@pytest.mark.parametrize(
    ("sequence", "named", "message"),
    [
        (
            "A; B",
            "?vb",
            "query:3:53: The FILTER of GPM A names ?vb, which only a later part binds (B). Try: this FILTER in GPM B",
        ),
        ("A | B", "?vb", 'query:3:53: The FILTER of GPM A names ?vb, which only the other side of "|" binds (B).'),
        ("A, B", "?pric", "query:3:53: The FILTER of GPM A names ?pric, which nothing binds. Try: ?price"),
        ("A, B", "?other", "query:3:53: The FILTER of GPM A names ?other, which nothing binds."),
        ("N; A", "?vb", "query:3:53: The FILTER of GPM A names ?vb, which only GPM B binds, and SEQ does not use it."),
        (
            "B; N!; A",
            "?vn",
            "query:3:53: The FILTER of GPM A names ?vn, which only a negated part binds (N!), so it never has a value.",
        ),
        (
            "A, B, A",  # at its first place
            "?vb",
            "query:3:53: The FILTER of GPM A names ?vb, which only a later part binds (B). Try: this FILTER in GPM B",
        ),
        (
            "C; A!; D; B",  # the negation is judged when D has come
            "?vb",
            "query:3:53: The FILTER of GPM A names ?vb, which only a later part binds (B). Try: this FILTER in GPM B",
        ),
    ],
)
def test_a_filter_names_what_is_in_sight(sequence: str, named: str, message: str) -> None:
    others = {name: f"?{name.lower()} <x:is> ?v{name.lower()}" for name in "BCDN" if name in sequence or name == "B"}
    assert comparable(sequence, A=FILTER.format(named), **others) == message


@pytest.mark.parametrize(
    "sequence", ["B; A", "A & B", "(A | C) & B", "B? ; A", "C; A!; B", "C; A!; D?; B", "(C | B); A", "B; A+"]
)
def test_a_filter_may_name_earlier_parts_its_conjunction_and_what_follows_a_negation(sequence: str) -> None:
    gpms = {name: f"?{name.lower()} <x:is> ?v{name.lower()}" for name in "BCD"} | {"A": FILTER.format("?vb")}
    body = " ".join(f"DEFINE GPM {name} ON S {{ {gpm} }}" for name, gpm in gpms.items() if name in sequence)
    parse(f"SELECT * {CLAUSES} {{ SEQ ({sequence}) {body} }}")


def test_exists_in_a_filter_sees_its_own_event_alone() -> None:
    message = comparable("A; B", B="?b <x:p> ?y FILTER NOT EXISTS { ?b <x:q> ?va }")
    assert message == (
        "query:4:62: EXISTS reads only the event of GPM B, and ?va belongs to another GPM."
        " Try: another name, if another variable is meant"
    )


@pytest.mark.parametrize(
    ("sequence", "message"),
    [
        (
            "A; N!; C; D",
            "query:2:9: The negation shares ?x only with D, and is judged before that, when C has come."
            " Try: another name for ?x in the negated GPM",
        ),
        (
            "A; N!; C?; D",
            "query:2:9: The negation shares ?x only with D, and is judged before that, when C has come."
            " Try: another name for ?x in the negated GPM",
        ),
        (
            "A; D?; N!; C; D",
            "query:2:13: The negation shares ?x only with D, and is judged before that, when C has"
            " come. Try: another name for ?x in the negated GPM",
        ),
    ],
)
def test_a_negation_shares_variables_with_what_is_known_when_it_is_judged(sequence: str, message: str) -> None:
    assert comparable(sequence, N="?n <x:p> ?x", D="?d <x:p> ?x") == message


@pytest.mark.parametrize(
    ("gpm", "message"),
    [
        ("?b <x:p> ?y", "query:1:59: PARTITION BY names ?k, which GPM B does not bind."),
        (
            "?b <x:p> ?y OPTIONAL { ?b <x:key> ?k }",
            "query:1:59: PARTITION BY names ?k, which GPM B does not bind in every event:"
            " OPTIONAL, UNION and BIND may leave it out.",
        ),
        (
            "?b <x:p> ?y GRAPH <x:g> { ?b <x:key> ?k }",
            "query:1:59: PARTITION BY names ?k, which GPM B binds only in GRAPH:"
            " an event's partition must depend on the event alone.",
        ),
    ],
)
def test_every_event_of_a_match_has_a_partition(gpm: str, message: str) -> None:
    assert comparable("A; B", clauses="PARTITION BY (?k)", A="?a <x:key> ?k", B=gpm) == message


def test_a_negated_gpm_needs_no_partition() -> None:
    parse(
        f"SELECT * {CLAUSES} PARTITION BY (?k) {{ SEQ (A; N!; A)"
        " DEFINE GPM A ON S { ?a <x:key> ?k } DEFINE GPM N ON S { ?n <x:p> 1 } }"
    )


@pytest.mark.parametrize(
    ("select", "message"),
    [
        ("SELECT ?vaa", "query:1:8: SELECT names ?vaa, which nothing binds. Try: ?va"),
        ("SELECT ?a ?nothing", "query:1:11: SELECT names ?nothing, which nothing binds."),
        ("SELECT ?vn", "query:1:8: SELECT names ?vn, which only a negated part binds (N!), so it never has a value."),
        ("SELECT ?vd", "query:1:8: SELECT names ?vd, which only GPM D binds, and SEQ does not use it."),
        ("SELECT (?va + ?vx AS ?sum)", "query:1:15: SELECT names ?vx, which nothing binds."),
        (
            "SELECT (1 AS ?va)",
            "query:1:8: AS gives ?va a value, but the GPMs bind ?va already. Try: a new name",
        ),
        ("SELECT (1 AS ?x) (2 AS ?x)", "query:1:18: SELECT gives ?x a value twice. Try: a new name"),
        ("SELECT (1 AS ?x) ?x", "query:1:18: SELECT gives ?x a value twice. Try: a new name"),
        ("SELECT (?y AS ?x) (1 AS ?y)", "query:1:9: SELECT names ?y, which nothing binds."),
        (
            "SELECT (EXISTS { ?a <x:p> 1 } AS ?x)",
            "query:1:8: EXISTS is not allowed in SELECT: it tests the graph of one event, and a match has many."
            " Try: FILTER EXISTS { … } in the GPM",
        ),
        (
            "CONSTRUCT { ?a <x:p> ?vn }",
            "query:1:22: CONSTRUCT names ?vn, which only a negated part binds (N!), so it never has a value.",
        ),
        ("CONSTRUCT { ?a ?verb 1 }", "query:1:16: CONSTRUCT names ?verb, which nothing binds."),
        ("CONSTRUCT { }", "query:1:1: CONSTRUCT needs a triple: without one it makes no events."),
    ],
)
def test_a_row_names_what_a_match_binds(select: str, message: str) -> None:
    assert comparable("A, B+, C; N!", select=select, D="?d <x:is> ?vd") == message


@pytest.mark.parametrize(
    ("sequence", "select", "message"),
    [
        (
            "A, B+",
            "COUNT(A)",
            'query:1:9: COUNT(A) counts the iterations of a closure, but A is not under "+". Try: A+ in SEQ',
        ),
        ("A, B+", "COUNT(b)", 'query:1:9: COUNT names "b", which is not a GPM. Try: B'),
        (
            "B+, A, B+",
            "COUNT(B)",
            "query:1:9: COUNT(B) is ambiguous: B is in 2 parts of the sequence. Try: a GPM of its own for each part",
        ),
        (
            "B, B+",
            "COUNT(B)",
            "query:1:9: COUNT(B) is ambiguous: B is in 2 parts of the sequence. Try: a GPM of its own for each part",
        ),
        ("A, B+", "COUNT(*)", "query:1:8: COUNT(*) counts nothing here. Try: COUNT(B), of a GPM B under +"),
        (
            "A, B+",
            "AVG(?va)",
            'query:1:8: AVG(?va) is about the iterations of a closure, but ?va is in no GPM under "+". Try: ?va',
        ),
        (
            "A, B+",
            "FIRST(?va)",
            'query:1:9: FIRST(?va) is about the iterations of a closure, but ?va is in no GPM under "+". Try: ?va',
        ),
        (
            "B+, A, B+",
            "SUM(?vb)",
            "query:1:8: SUM(?vb) is about the iterations of a closure, but ?vb is also"
            " outside of it (B), and keeps one value. Try: ?vb",
        ),
        ("A, B+", "MAX(?nothing)", "query:1:13: MAX names ?nothing, which nothing binds."),
        (
            "A, B+",
            "SUM(?vb * 2)",
            "query:1:8: SUM takes a variable of a closure, and no expression."
            " Try: SUM(?v), with the arithmetic around it",
        ),
        (
            "A, B+",
            "SUM(FIRST(?vb))",
            "query:1:8: SUM takes a variable of a closure, and no expression."
            " Try: SUM(?v), with the arithmetic around it",
        ),
    ],
)
def test_an_aggregate_is_about_the_iterations_of_one_closure(sequence: str, select: str, message: str) -> None:
    assert comparable(sequence, select=f"SELECT ({select} AS ?n)") == message


def test_what_the_query_is_partitioned_by_is_local_to_nothing() -> None:
    message = comparable("B+", select="SELECT (FIRST(?k) AS ?n)", clauses="PARTITION BY (?k)", B="?b <x:key> ?k")
    assert message == (
        "query:1:9: FIRST(?k) is about the iterations of a closure, but ?k is what the query is partitioned by. Try: ?k"
    )


@pytest.mark.parametrize(
    ("gpm", "message"),
    [
        (
            "?a <x:p> ?x FILTER(COUNT(B) > 1)",
            "query:3:40: COUNT over the iterations of a closure is allowed only in the query's own SELECT.",
        ),
        (
            "?a <x:p> ?x BIND(LAST(?x) AS ?y)",
            "query:3:38: LAST over the iterations of a closure is allowed only in the query's own SELECT.",
        ),
        (
            "SELECT (COLLECT(?x) AS ?y) { ?a <x:p> ?x }",
            "query:3:29: COLLECT over the iterations of a closure is allowed only in the query's own SELECT.",
        ),
        (
            "?a <x:p> ?x FILTER(SUM(?x) > 1)",
            "query:3:33: An aggregate is not allowed in FILTER, only in SELECT, HAVING and ORDER BY.",
        ),
    ],
)
def test_an_aggregate_stands_in_select_alone(gpm: str, message: str) -> None:
    assert comparable("A, B+", A=gpm) == message


def test_an_aggregate_of_sparql_may_stand_in_a_select_inside_a_gpm() -> None:
    gpm = "SELECT ?a (SUM(?x) AS ?sum) { ?a <x:p> ?x } GROUP BY ?a"
    parse(f"SELECT ?sum {CLAUSES} {{ SEQ (A) DEFINE GPM A ON S {{ {gpm} }} }}")
