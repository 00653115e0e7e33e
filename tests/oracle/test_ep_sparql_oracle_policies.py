"""Policies of EP-SPARQL: EP-66 to EP-72, with RS-33 to RS-47."""

from __future__ import annotations

import pytest

from oracle.ep_sparql_legal import is_legal
from oracle.ep_sparql_notation import answers, chain, construct, group, optional, path, select, seq, where
from oracle.ep_sparql_query import Arithmetic, Compare, Repeat, Select
from oracle.terms import Iri, Var, decimal

PAIR = select("*", seq("s p ?x", "s q ?y"))
TWO_AND_TWO = "1: s p 1\n2: s p 2\n3: s q 3\n4: s q 4"


def test_ep_68_chronological_takes_the_first_partner_and_consumes_it() -> None:
    found = answers(PAIR, TWO_AND_TWO, policy="chronological")
    assert found == ["1-3 x=1 y=3 | e1 e3", "2-4 x=2 y=4 | e2 e4"]


def test_ep_68_recent_takes_the_last_partner_and_consumes_it() -> None:
    found = answers(PAIR, TWO_AND_TWO, policy="recent")
    assert found == ["1-4 x=1 y=4 | e1 e4", "2-3 x=2 y=3 | e2 e3"]


def test_ep_68_unrestricted_takes_all() -> None:
    assert len(answers(PAIR, TWO_AND_TWO)) == 4


def test_rs_35_a_policy_reaches_inside_the_left_side() -> None:
    query = select("*", seq("s p ?x", "s q ?y", "s r ?z"))
    events = f"{TWO_AND_TWO}\n5: s r 5"
    assert answers(query, events, policy="chronological") == ["1-5 x=1 y=3 z=5 | e1 e3 e5"]
    assert answers(query, events, policy="recent") == ["2-5 x=2 y=4 z=5 | e2 e4 e5"]


def test_rs_37_ties_are_kept() -> None:
    found = answers(PAIR, "1: s p 1\n3: s q 3\n3: s q 4", policy="chronological")
    assert found == ["1-3 x=1 y=3 | e1 e2", "1-3 x=1 y=4 | e1 e3"]


def test_rs_41_rivals_agree_on_the_shared_variables() -> None:
    query = select("*", seq("?a p ?b", "?b q ?c"))
    figure_1 = "2: a1 p b1\n4: a2 p b2\n6: b1 q c1 . b2 q c2\n8: b2 q c2 . a3 p b3\n10: b1 q c1"
    expected = ["2-6 a=a1 b=b1 c=c1 | e1 e3", "4-6 a=a2 b=b2 c=c2 | e2 e3"]
    assert answers(query, figure_1, policy="chronological") == expected
    assert answers(query, figure_1, policy="recent") == expected


def test_rs_45_whole_events_are_consumed() -> None:
    found = answers(PAIR, "1: s p 1 . s p 2\n3: s q 3\n4: s q 4", policy="chronological")
    assert found == ["1-3 x=1 y=3 | e1 e2", "1-3 x=2 y=3 | e1 e2"]


def test_ep_69_filters_are_judged_before_any_seq_selects() -> None:
    falls = where(Compare("<", Var("p2"), Arithmetic("*", Var("p1"), decimal("0.7"))))
    query = select("*", seq("s price ?p1", "s price ?p2"), *falls)
    prices = "1: s price 100\n2: s price 90\n3: s price 60"
    assert answers(query, prices, policy="chronological") == ["1-3 p1=100 p2=60 | e1 e3"]
    assert answers(query, prices, policy="recent") == ["2-3 p1=90 p2=60 | e2 e3"]


def test_ep_70_a_rival_that_ended_earlier_can_beat_a_row() -> None:
    # at 4 the occurrence at 3 is still there, by e4, and has a partner in e2: it is chosen, and not emitted
    query = select("*", seq("?a p ?b", "?b q ?c"))
    events = "1: a p b\n2: a2 p b\n3: b q c\n3: b q c\n4: b q d"
    assert answers(query, events, policy="chronological") == ["1-3 a=a b=b c=c | e1 e3"]
    assert answers(query, events, policy="recent") == ["1-4 a=a b=b c=d | e1 e5", "2-3 a=a2 b=b c=c | e2 e3"]


def test_ep_71_each_statement_consumes_for_itself_and_background_is_never_consumed() -> None:
    twice = answers([PAIR, PAIR], TWO_AND_TWO, policy="chronological")
    assert len(twice) == 4
    found = answers(PAIR, "3: s q 3\n4: s q 4", "s p 1", policy="chronological")
    assert found == ["3 x=1 y=3 | e1", "4 x=1 y=4 | e2"]


def test_ep_72_an_occurrence_that_two_events_brought_stays_visible_while_one_of_them_is() -> None:
    found = answers(PAIR, "1: s p 1\n1: s p 1\n3: s q 3\n4: s q 4\n5: s q 5", policy="chronological")
    assert found == ["1-3 x=1 y=3 | e1 e3", "1-4 x=1 y=4 | e2 e4"]


def test_rs_36_a_braced_right_side_selects_on_its_own() -> None:
    query = select("*", seq("s p ?x", group(seq("s q ?y", "s r ?z"))))
    # the first q has an r after it; that p is not before it does not count
    assert answers(query, "1: s q 1\n2: s p 2\n3: s q 3\n4: s r 4", policy="chronological") == []
    assert answers(query, "1: s q 1\n2: s p 2\n3: s q 3\n4: s r 4", policy="recent") == ["2-4 x=2 y=3 z=4 | e2 e3 e4"]


@pytest.mark.parametrize(
    "statement",
    [
        construct("?x s ?y", seq("?x p ?y", "?x q ?y")),
        select("x", seq("?x p ?y", "?x q ?y"), distinct=True),
        Select(None, group(seq("?x p ?y", "?x q ?y")), limit=1),
        select("*", chain("?x p ?y", "OPTIONALSEQ", "?x q ?y")),
        select("*", chain("?x p ?y", "SEQ", "?x q ?y", "UNION", "?x r ?y")),
        select("*", seq("?x p ?y", "?x q ?y"), "?x r ?y"),
        select("*", seq("?x p ?y", group("?x q ?y", optional("?x r ?z")))),
        select("*", seq("?x p ?y", group(path("?x", Repeat(Iri("q"), "+"), "?y")))),
    ],
)
def test_ep_67_a_policy_applies_to_chains_of_seqs_and_filters_only(statement: Select) -> None:
    assert is_legal((statement,))
    assert not is_legal((statement,), policy="recent")


def test_ep_67_chains_may_nest() -> None:
    nested = select("x", seq("?x p ?y", group(seq("?x q ?y", "?x r ?y"), *where(Var("y")))), *where(Var("x")))
    assert is_legal((nested,), policy="recent")
