"""Which TEF-SPARQL programs are refused, and why."""

from __future__ import annotations

import pytest

from oracle.tef_sparql_kinds import kinds
from oracle.tef_sparql_legal import Meaningless, check
from oracle.tef_sparql_notation import (
    Statements,
    also,
    at,
    during,
    event,
    fact,
    init,
    onend,
    onstart,
    program,
    replace,
    select,
    seq,
    since,
    triples,
    union,
    until,
    without,
)
from oracle.tef_sparql_query import Conjunction, Declare, Kind, Statement
from oracle.terms import Iri

LIGHT = fact("?x f ?y", since("?x on ?y"), until("?x off ?y"))
VIEW = fact("?x v ?y", "?x f ?y , ?x g ?y")
REFUSED: list[tuple[str, list[Statement]]] = [
    ("TEF-11", [LIGHT, select("x", seq("?x f ?y", "?x p ?y"))]),
    ("TEF-11", [fact("?x f ?y", since("?x p ?y")), event("?x f ?y", "?x q ?y")]),
    ("TEF-11", [Declare(Kind.FACT, (Iri("p"),)), select("x", seq("?x p ?y", "?x q ?y"))]),
    ("TEF-11", [fact("?x rdf:type ?y", since("?x p ?y"))]),
    ("TEF-11", [select("x", onstart("?x rdf:type ?y"))]),
    ("TEF-12", [LIGHT, select("x", "?x p ?y , ?x f ?y")]),
    ("TEF-12", [LIGHT, select("x", union("?x p ?y", "?x f ?y"))]),
    ("TEF-11", [LIGHT, event("?x c ?y", "?x f ?y")]),
    ("TEF-11", [fact("?x g ?y", "?x p ?y"), select("x", seq("?x p ?y", "?x q ?y"))]),
    ("TEF-12", [select("x", without("?x rdf:type ?y", "?x p ?y"))]),
    ("TEF-13", [select("x", since("?x p ?y"))]),
    ("TEF-13", [event("?x c ?y", since("?x p ?y"))]),
    ("TEF-13", [fact("?x f ?y", Conjunction(since("?x p ?y"), since("?x q ?y")))]),
    ("TEF-14", [LIGHT, fact("?x f ?y", "?x g ?y"), fact("?x g ?y", since("?x p ?y"))]),
    ("TEF-14", [LIGHT, fact("?x g ?y", since("?x p ?y"), "?x f ?y")]),
    ("TEF-14", [LIGHT, fact("?x g ?y", since("?x p ?y")), VIEW, fact("?x h ?y", replace("?x v ?z", "?x p ?y"))]),
    ("TEF-47", [LIGHT, fact("?x v ?y", without("?x f ?y", "?x v ?y"))]),
    ("TEF-65", [LIGHT, fact("?x v ?y", "?x f ?y[?s,?_] , now() - ?s > 10")]),
    ("TEF-65", [LIGHT, fact("?x v ?k", "?x f ?y , ?k = now() + 1")]),
    ("TEF-65", [LIGHT, fact("?x v now()", "?x f ?y")]),
    ("TEF-69", [fact("?x f ?y", since("?x p ?y"), until("?x q ?_"))]),
    ("TEF-69", [select("y", union("?x p ?y", "?x q ?z"))]),
    ("outside it", [select("x", seq(union("?x p ?y", "?x q ?z"), "?x r ?y"))]),
    ("outside it", [select("x", seq("?x e ?n", also("?x p ?y , ?n > 1", union("?x p ?n", "?x q ?z"))))]),
    ("outside it", [select("x", seq("?x e ?n", union("?x p ?n", "?x q ?z , ?z > ?n")))]),
    ("outside it", [select("x", seq("?x e ?n", union("?x p ?m", "?x q ?z", "?x r ?n")))]),
    ("outside it", [LIGHT, select("x", without("?x p ?y", union("?x f ?y", "?x f ?z")))]),
    ("outside it", [LIGHT, fact("?x g ?n", replace("?x g ?n", union("?x p ?n", "?x q ?z")))]),
    ("outside it", [LIGHT, select("x", at(also(union("?x p ?y", "?x q ?s"), "?x p ?y"), "?s", "?e"))]),
    ("nothing binds", [select("x", also(union("?x p ?y", "?x q ?z"), "?y != a"))]),
    ("nothing binds", [LIGHT, select("x", seq("?x p ?n", onend("?x f ?m , ?m > ?n")))]),
    ("TEF-73", [fact("?x f ?y", since("?x p ?y"), until("?x q ?y"), per="?x")]),
    ("TEF-76", [LIGHT, select("x", "?x f ?y", within=3)]),
]


@pytest.mark.parametrize(("reason", "statements"), REFUSED)
def test_the_program_is_refused(reason: str, statements: list[Statement]) -> None:
    with pytest.raises(Meaningless, match=reason):
        check(program(statements))


LEGAL: list[tuple[Statements, str]] = [
    ([LIGHT, select("x", without("?x f ?y", "?x p ?y"))], ""),
    ([LIGHT, select("x", without("?x p ?y", "?x f ?y"))], ""),
    ([LIGHT, fact("?x g ?y", since("?x up ?y")), VIEW, select("x", during("?x p ?y", "?x v ?y"))], ""),
    ([LIGHT, fact("?x v ?y", "?x f ?y", "?x f ?z , ?z v ?y")], ""),
    ([fact("?x f ?n", init("?x s ?_ , ?n = 0"))], "a s b"),
    ([select("x", during("?x p ?y", "?y s ?z"))], "a s b"),
    ([LIGHT, fact("?x v ?y", without("?x f ?y", "?x p ?_"))], ""),
    # TEF-69: what is only tested, existential, of arms alone, or of a fresh name
    (select("x", seq("?x e ?n", union("?x p ?m , ?m > ?n", "?x q ?z"))), ""),
    ([LIGHT, fact("?x f ?m", replace("?x f ?n", also(union("?x p ?m , ?m > ?n", "?x q ?m"), "?m > 1")))], ""),
    ([LIGHT, select("x", seq(union(without("?x p ?y", "?x f ?k"), "?x q ?z"), "?x r ?k"))], ""),
    ([LIGHT, select("x", seq(without("?x p ?y", union("?x f ?k", "?x f ?m")), "?x r ?k"))], ""),
    (select("x", union(seq("?x p ?y", union("?x q ?k", "?x q ?m")), "?x r ?k")), ""),
    (select("x", seq(union("?x p ?y", "?x q ?z", "?x r ?y"), "?x s ?k")), ""),
    (select("x", seq(union("?x p ?_", "?x q ?z"), "?x r ?_")), ""),
]


@pytest.mark.parametrize(("statements", "background"), LEGAL)
def test_the_program_is_legal(statements: Statements, background: str) -> None:
    check(program(statements), triples(background) if background else ())


def test_tef_16_the_background_settles_kinds() -> None:
    """Under SEQ a predicate of the background is static, and not admitted."""
    query = program(select("x", seq("?x p ?y", "?x s ?y")))
    check(query)
    with pytest.raises(Meaningless, match="TEF-11"):
        check(query, triples("a s b"))


def test_tef_3_kinds_do_not_flow_between_neighbours() -> None:
    """In `?x p ?y, ?x f ?y` the kind of f says nothing about p; CONSTRUCT FACT does."""
    p, known = Iri("p"), kinds(program([LIGHT, select("x", "?x p ?y , ?x f ?y")]))
    assert (known[p], known[Iri("f")]) == (Kind.EVENT, Kind.FACT)
    assert kinds(program([LIGHT, fact("?x v ?y", "?x p ?y , ?x f ?y")]))[p] is Kind.FACT
    assert kinds(program([LIGHT, select("x", without("?x f ?y", "?x p ?y"))]))[p] is Kind.EVENT
