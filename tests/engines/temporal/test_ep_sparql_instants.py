"""EP-SPARQL within an instant: when absence is judged, and what rules emit, in `match` and in `push`."""

from __future__ import annotations

import pytest

import thence
from support.ep_sparql_policies_support import rows as rows_at

PREFIX = "PREFIX : <http://example.org/> "
Shown = tuple[int, int, int, str]


def events(text: str) -> list[thence.Event]:
    """`a p b, b q c @ 1; a p c @ 2`"""
    made = []
    for each in text.split(";"):
        triples, _, time = each.partition("@")
        graph = " ".join(f":{' :'.join(triple.split())} ." for triple in triples.split(","))
        made.append(thence.Event(int(time), "@prefix : <http://example.org/> . " + graph))
    return made


def shown(match: thence.Match) -> Shown:
    """The number of the statement, start, end, and the terms of a row or of its derived triples."""
    terms = [term for triple in match.triples for term in triple]
    terms = terms or [match.bindings[name] for name in sorted(match.bindings)]
    texts = [str(getattr(term, "value", term)).removeprefix("http://example.org/") for term in terms]
    return match.query or 1, match.start, match.end, " ".join(texts)


def matched(text: str, given: str) -> list[Shown]:
    return [shown(match) for match in thence.parse(PREFIX + text, language="ep-sparql").match(events(given))]


def pushed(text: str, given: str, lateness: int = 0) -> list[Shown]:
    engine = thence.parse(PREFIX + text, language="ep-sparql").engine(lateness=lateness)
    rows = [match for each in events(given) for match in engine.push(each)]
    return [shown(match) for match in [*rows, *engine.close()]]


def agree(text: str, given: str, expected: list[Shown]) -> None:
    """The rows of SELECTs: those of one end have no order."""
    assert sorted(matched(text, given)) == expected
    for lateness in (0, 1, 2, 9):
        assert sorted(pushed(text, given, lateness)) == expected


RULE = "CONSTRUCT { ?x :d ?y } WHERE { ?x :p ?y } "
READ = " SELECT ?x ?y { ?x :d ?y }"


@pytest.mark.parametrize(
    "absence",
    ["MINUS { ?x :d ?z }", "FILTER NOT EXISTS { ?x :d ?z }", "OPTIONAL { ?x :d ?z } FILTER(!BOUND(?z))"],
)
def test_absence_left_of_seq_is_judged_after_all_that_is_derived_at_its_instant(absence: str) -> None:
    """EP-53: `a d b` is derived at 1, where its absence would have to be."""
    rules = RULE + f"CONSTRUCT {{ ?x :d ?y }} WHERE {{ {{ ?x :p ?y {absence} }} SEQ {{ ?x :q ?w }} }}"
    agree(rules + READ, "a p b @ 1; a q c @ 2", [(1, 1, 1, "a b")])


def test_an_optional_left_of_seq_sees_what_its_own_rule_derives_at_its_instant() -> None:
    """EP-24, EP-50, EP-52: at 2, `b q b` gets what the rule derives from `b q a` at 1."""
    rule = "CONSTRUCT { ?x :d ?y } WHERE { { ?x :q ?y OPTIONAL { ?x :d ?z } } SEQ { ?x :p ?w } }"
    found = [(1, 1, 2, "b a"), (1, 1, 6, "b a"), (1, 1, 6, "b b")]
    agree(rule + READ, "b q a @ 1; b p a, b q b @ 2; b p a @ 6", found)


def test_absence_left_of_optionalseq_is_judged_after_all_that_is_derived_at_its_instant() -> None:
    """EP-52, EP-53: the optional part of `a q c` does not stand, since `a d b` is derived at 1."""
    rules = RULE + "CONSTRUCT { ?x :d ?w } WHERE { { ?x :p ?y MINUS { ?x :d ?z } } OPTIONALSEQ { ?x :q ?w } }"
    agree(rules + READ, "a p b @ 1; a q c @ 2", [(1, 1, 1, "a b"), (1, 2, 2, "a c")])


def test_an_aggregate_left_of_seq_counts_all_that_is_derived_at_its_instant() -> None:
    """EP-50, EP-52, EP-58"""
    counted = "{ SELECT ?x (COUNT(*) AS ?n) { ?x :d ?z } GROUP BY ?x }"
    rules = RULE + f"CONSTRUCT {{ ?x :d ?n }} WHERE {{ {{ {counted} }} SEQ {{ ?x :q ?w }} }}"
    agree(rules + READ, "a p b, a d e @ 1; a q c @ 2", [(1, 1, 1, "a b"), (1, 1, 1, "a e"), (1, 1, 2, "a 2")])


def same_output(text: str, given: str, expected: list[Shown]) -> None:
    """Rules that are output come in their order (EP-49)."""
    assert matched(text, given) == expected
    for lateness in (0, 1, 2, 9):
        assert pushed(text, given, lateness) == expected


def test_a_construct_that_is_output_waits_until_its_instant_is_complete() -> None:
    """EP-43"""
    engine = thence.parse(PREFIX + RULE, language="ep-sparql").engine()
    first, second = events("a p b @ 1; a r b @ 2")
    assert engine.push(first) == []
    assert [shown(match) for match in engine.push(second)] == [(1, 1, 1, "a d b")]


def test_the_first_solution_by_position_has_the_shared_triple_though_its_event_comes_later() -> None:
    """EP-43, EP-49: `k e z` is in the event of the solution whose first event comes first."""
    rule = "CONSTRUCT { ?x :d ?v . :k :e ?v } WHERE { { ?x :p ?y } SEQ { ?y :q ?v } }"
    same_output(rule, "a p b @ 1; c p d @ 1; d q z @ 2; b q z @ 2", [(1, 1, 2, "a d z k e z"), (1, 1, 2, "c d z")])


def test_ties_are_grouped_into_events_by_round_and_not_by_arrival() -> None:
    """EP-43, EP-49: the second rule derives `a s b` in the first round, whichever event comes first."""
    rules = "CONSTRUCT { ?x :s ?y . ?x :t ?y } WHERE { ?x :q ?y } CONSTRUCT { ?x :q ?y . ?x :t ?y } WHERE { ?x :p ?y }"
    expected = [(1, 3, 3, "c s d c t d"), (2, 3, 3, "a q b a t b"), (1, 3, 3, "a s b")]
    same_output(rules, "a p b @ 3; c q d @ 3", expected)


@pytest.mark.parametrize("given", ["b p d, a p c @ 2", "a p c, b p d @ 2"])
def test_solutions_of_one_event_are_grouped_by_what_they_bind_and_not_by_when_they_are_found(given: str) -> None:
    """EP-49: `k e k` is in the event of the solution with the lesser ?x."""
    rule = "CONSTRUCT { :k :e :k . ?x :d ?y } WHERE { { :c :q ?m } OPTIONALSEQ { ?x :p ?y } }"
    expected = [(1, 1, 2, "k e k a d c"), (1, 1, 2, "b d d")]
    same_output(rule, f"c q z @ 1; {given}", expected)


def test_a_triple_that_a_later_event_of_the_instant_brings_is_not_new() -> None:
    """EP-43, EP-49"""
    same_output(RULE, "a p b @ 1; a d b @ 1; a p c @ 1", [(1, 1, 1, "a d c")])


def test_rows_of_selects_that_share_rules_come_in_the_order_of_time() -> None:
    """EP-42, EP-82"""
    selects = " SELECT ?x { ?x :d ?y }" * 2
    rows = matched(RULE + selects, "a p b @ 1; b p c @ 2; c p d @ 3")
    assert [row[:3] for row in rows] == [(query, time, time) for time in (1, 2, 3) for query in (1, 2)]


def test_a_part_left_of_optionalseq_is_not_missed_while_several_instants_are_open() -> None:
    """EP-44, EP-53: `a q c` stays bare only once all that ends before it has been judged."""
    query = "CONSTRUCT { ?x :d ?w } WHERE { { ?x :p ?y OPTIONAL { ?y :d ?z } } OPTIONALSEQ { ?x :q ?w } }" + READ
    events = "2: a p b\n3: a q c\n4: a r b"
    assert rows_at(PREFIX + query, events, "", watermarks=(2,)) == ["2-3 x=a y=c |"]
