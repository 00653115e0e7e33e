"""Rules of docs/semantics/ep-sparql.md, each with its smallest case."""

from __future__ import annotations

from pathlib import Path

import pytest

import thence
from thence.engines.temporal.summaries import SummaryState
from thence.errors import InputError, LimitError, QueryError

HOUR = '"PT1H"^^<http://www.w3.org/2001/XMLSchema#dayTimeDuration>'


def query(text: str) -> thence.Query:
    return thence.parse("PREFIX : <http://example.org/> " + text, language="ep-sparql")


def prices(*values: int) -> list[thence.Event]:
    return [thence.Event(time, f"<x:a> <http://example.org/p> {value} .") for time, value in enumerate(values)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("SELECT * { { ?x :p ?y } SEQ { ?x :p ?z } }", ["SELECT 1 keeps the solutions of SEQ for ever"]),
        ("SELECT * { ?x :p ?y ; :q ?z }", ["SELECT 1 keeps the solutions of a join for ever"]),
        ("SELECT * { { ?x :p ?y } SEQ { ?x :p ?z } FILTER(getDURATION() < 5) }", []),
        ("SELECT * { { ?x :p ?y } EQUALS { ?x :q ?z } }", []),
        ("SELECT * { ?x :p ?y OPTIONAL { ?x :q ?z } FILTER(getDURATION() < 5) }", ["optional side of OPTIONAL"]),
        ("SELECT * { ?x :p ?y OPTIONAL { ?x :q ?z FILTER(getDURATION() < 5) } }", []),
    ],
)
def test_state_that_stays_unbounded_causes_a_warning(text: str, names: list[str]) -> None:
    """EP-77, EP-79"""
    found = query(text).warnings
    assert len(found) == len(names)
    assert all(name in warning for name, warning in zip(names, found, strict=True))


def test_a_duration_without_months_is_compared_and_one_with_months_is_an_error() -> None:
    """EP-31"""
    events = [thence.Event(f"2024-05-0{day}T16:00:00Z", f"<x:a> <http://example.org/p> {day} .") for day in (1, 2)]
    duration = '"%s"^^<http://www.w3.org/2001/XMLSchema#duration>'
    text = f"SELECT ?v {{ {{{{ ?x :p ?v }} SEQ {{ ?x :p ?w }}}} FILTER(getDURATION() < {duration}) }}"
    assert len(list(query(text % "P30D").match(events))) == 1
    assert len(list(query(text % "PT1H").match(events))) == 0
    assert len(list(query(text % "P1M").match(events))) == 0


def test_a_duration_cannot_be_compared_with_ticks() -> None:
    """EP-32"""
    with pytest.raises(InputError):
        list(query(f"SELECT ?y {{ ?x :p ?y FILTER(getDURATION() < {HOUR}) }}").match(prices(1, 2)))


@pytest.mark.parametrize("both", ["{ ?x :p ?v } SEQ { ?x :q ?w }", "?x :p ?v . ?x :q ?w"])
def test_a_duration_may_have_more_than_63_bits(both: str) -> None:
    """C-2, EP-30, EP-74"""
    first, last = -(2**62) - 5, 2**62 + 5
    events = [
        thence.Event(first, "<x:a> <http://example.org/p> 1 ."),
        thence.Event(last, "<x:a> <http://example.org/q> 1 ."),
    ]
    (row,) = query(f"SELECT (getDURATION() AS ?d) {{ {both} }}").match(events)
    assert str(row.bindings["d"]).startswith(f'"{last - first}"')
    assert len(list(query(f"SELECT ?v {{ {both} FILTER(getDURATION() > 5) }}").match(events))) == 1
    for condition in ("getDURATION() < 5", "getDURATION() < 5 || ?v = 2", "?v + getDURATION() < 5"):
        assert not list(query(f"SELECT ?v {{ {both} FILTER({condition}) }}").match(events))


def test_rules_that_never_end_are_an_error_that_names_the_rule() -> None:
    """EP-54"""
    counting = query("CONSTRUCT { ?x :p ?z } WHERE { ?x :p ?y BIND(?y + 1 AS ?z) } SELECT ?y { ?x :p ?y }")
    with pytest.raises(LimitError, match=r"CONSTRUCT 1 .* after 20 rounds"):
        list(counting.match(prices(1), max_rounds=20))


def test_rules_that_depend_on_their_own_absence_are_rejected() -> None:
    """EP-53"""
    with pytest.raises(QueryError, match="cannot be stratified"):
        query("CONSTRUCT { ?x :q 1 } WHERE { ?x :p ?y FILTER NOT EXISTS { ?x :q 1 } } SELECT ?x { ?x :q 1 }")


UNSTRATIFIED = "CONSTRUCT { ?x :q 1 } WHERE { ?x :p ?y FILTER NOT EXISTS { ?x :q 1 } }"


@pytest.mark.parametrize("read", ["", "SELECT ?x { ?x :q 1 }", "SELECT ?x { ?x :r 1 }"])
def test_the_error_about_rules_that_cannot_be_stratified_has_the_place_of_the_rule(read: str) -> None:
    """EP-53, BAD-1: whether or not a SELECT reads them."""
    with pytest.raises(QueryError, match="cannot be stratified") as raised:
        query(f"\nCONSTRUCT {{ ?x :s ?y }} WHERE {{ ?x :p ?y }}\n  {UNSTRATIFIED} {read}")
    assert (raised.value.place.line, raised.value.place.column) == (3, 3)


@pytest.mark.parametrize("read", ["?x :d ?y", "?x :r ?y"])
def test_a_background_that_makes_rules_unstratified_is_rejected_with_the_place_of_the_rule(
    read: str, tmp_path: Path
) -> None:
    """EP-52, EP-53: where the background matches the right side of SEQ, the left one need not be earlier."""
    (tmp_path / "known.ttl").write_text("<x:a> <http://example.org/q> <x:b> .", encoding="utf-8")
    rule = "CONSTRUCT { ?x :d ?y } WHERE { { ?x :p ?y MINUS { ?x :d ?z } } SEQ { ?x :q ?w } }"
    asked = query(f"\n{rule} SELECT * {{ {read} }}")
    assert not list(asked.match(prices(1)))
    with pytest.raises(QueryError, match="with this background") as raised:
        list(asked.match(prices(1), background=tmp_path / "known.ttl"))
    assert (raised.value.place.line, raised.value.place.column) == (2, 1)


def test_an_exists_in_the_optional_side_of_optionalseq_is_judged_with_the_combination() -> None:
    """EP-21, EP-27, EP-50: it reads what is derived at the same time."""
    with pytest.raises(QueryError, match="cannot be stratified"):
        query("CONSTRUCT { ?x :q 1 } WHERE { { ?x :p ?y FILTER EXISTS { ?x :q ?w } } OPTIONALSEQ { ?x :p ?z } }")


def test_a_rule_must_not_derive_schema_with_reasoning() -> None:
    """EP-56"""
    text = (
        "CONSTRUCT { ?x <http://www.w3.org/2000/01/rdf-schema#subClassOf> :C } WHERE { ?x :p ?y } SELECT ?x { ?x a :C }"
    )
    with pytest.raises(QueryError, match="schema") as raised:
        query(text).match(prices(1), reasoning="rdfs")
    assert raised.value.place is not None


def test_bounded_state_stays_flat() -> None:
    """EP-74, EP-75"""
    engine = query("SELECT * { { ?x :p ?y } SEQ { ?x :p ?z } FILTER(getDURATION() < 5 && ?z > ?y) }").engine()
    sizes = []
    for time, event in enumerate(prices(*[7] * 400)):
        engine.push(event)
        if time > 20:
            host = engine.answers.flow.hosts[0]
            sizes.append(sum(len(table) for table in host.state.tables()))
    assert max(sizes) <= 12


def test_a_chain_stores_what_a_later_combination_can_use_and_nothing_else() -> None:
    """EP-74, EP-75: of three parts, the prices of the window and the pairs of them that pass."""
    text = "SELECT * { { ?x :p ?a } SEQ { ?x :p ?b } SEQ { ?x :p ?c } FILTER(getDURATION() < 6 && ?b < ?a) }"
    engine = query(text).engine()
    values = [number * 37 % 11 for number in range(60)]
    for time, event in enumerate(prices(*values)):
        engine.push(event)
        window = values[max(0, time - 5) : time + 1]  # the watermark is the last event's time
        pairs = sum(b < a for i, a in enumerate(window) for b in window[i + 1 :])
        (host,) = engine.answers.flow.hosts
        assert sum(len(store) for each in host.state.evaluation.states for store in each.stores) == len(window) + pairs


def test_aggregates_give_every_running_version() -> None:
    """EP-58"""
    text = "SELECT (COUNT(*) AS ?n) (SUM(?y) AS ?s) (AVG(?y) AS ?a) (MIN(?y) AS ?l) (MAX(?y) AS ?h) { ?x :p ?y }"
    found = [
        (match.start, match.end, *(match.bindings[name].value for name in "nsalh"))
        for match in query(text).match(prices(4, 2, 9))
    ]
    assert found == [
        (0, 0, "1", "4", "4", "4", "4"),
        (0, 1, "2", "6", "3", "2", "4"),
        (0, 2, "3", "15", "5", "2", "9"),
    ]


@pytest.mark.parametrize("modifier", ["LIMIT 2", "ORDER BY ?x LIMIT 2"])
def test_rows_that_order_by_leaves_equal_go_by_terms_in_sparqls_order(modifier: str) -> None:
    """EP-62: numbers by value, not by text."""
    given = [thence.Event(1, "<x:a> <http://example.org/p> 10 , 2 , 0.5 .")]
    found = query(f"SELECT ?x ?y {{ ?x :p ?y }} {modifier}").match(given)
    assert [match.bindings["y"].value for match in found] == ["0.5", "2"]


THREE = '<x:a> <http://example.org/p> "l" . <x:b> <http://example.org/p> "l" . <x:c> <http://example.org/p> "m" .'


def nodes_made(text: str, *graphs: str) -> list[tuple[object, ...]]:
    """What ?b and ?c are in each row."""
    events = [thence.Event(time, graph) for time, graph in enumerate(graphs)]
    return [(match.bindings["b"], match.bindings["c"]) for match in query(text).match(events)]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT (BNODE() AS ?b) (BNODE() AS ?c) { ?x :p ?v }",
        "SELECT ?b ?c { ?x :p ?v BIND(BNODE() AS ?b) BIND(BNODE() AS ?c) }",
        "SELECT ?b ?c { { ?x :p ?v BIND(BNODE() AS ?b) } { ?x :p ?v BIND(BNODE() AS ?c) } }",
        "SELECT (BNODE() AS ?b) (BNODE() AS ?c) { ?x :p ?v } ORDER BY ?v",
    ],
)
def test_a_blank_node_is_fresh_in_every_solution(text: str) -> None:
    """EP-41, with SPARQL's BNODE()"""
    assert len({node for row in nodes_made(text, THREE) for node in row}) == 6


@pytest.mark.parametrize(
    "text",
    [
        "SELECT (BNODE(?v) AS ?b) (BNODE(?v) AS ?c) { ?x :p ?v }",
        "SELECT ?b ?c { ?x :p ?v BIND(BNODE(?v) AS ?b) BIND(BNODE(?v) AS ?c) }",
        "SELECT (BNODE(?v) AS ?b) (BNODE(?v) AS ?c) { ?x :p ?v FILTER(BNODE(?v) = BNODE(?v)) }",
        "SELECT (BNODE(?v) AS ?b) (BNODE(?v) AS ?c) { ?x :p ?v } ORDER BY ?v",
    ],
)
def test_a_label_is_one_blank_node_within_a_solution_and_another_in_the_next(text: str) -> None:
    """EP-41, with SPARQL's BNODE("label")"""
    found = nodes_made(text, THREE)
    assert len(found) == len({b for b, _ in found}) == 3
    assert all(b == c for b, c in found)


def test_solutions_of_other_occurrences_have_other_blank_nodes() -> None:
    """EP-4: equal mappings and intervals, and another occurrence in between"""
    text = "SELECT ?b ?c { { { :s :p 1 } SEQ { :s :p 2 } SEQ { :s :p 3 } } BIND(BNODE() AS ?b) BIND(?b AS ?c) }"
    s = "<http://example.org/s> <http://example.org/p> "
    assert len(set(nodes_made(text, f"{s} 1 .", f"{s} 2 .", f"{s} 2 .", f"{s} 3 ."))) == 2


def test_the_same_events_give_the_same_blank_nodes() -> None:
    text = 'SELECT (BNODE() AS ?b) (BNODE("l") AS ?c) { ?x :p ?v }'
    engine = query(text).engine()
    pushed = [*engine.push(thence.Event(0, THREE)), *engine.close()]
    assert [(match.bindings["b"], match.bindings["c"]) for match in pushed] == nodes_made(text, THREE)


def test_reasoning_goes_on_when_the_dictionary_is_compacted(tmp_path: Path) -> None:
    """EP-55"""
    background = tmp_path / "classes.ttl"
    background.write_text("<x:Cat> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <x:Animal> .")
    engine = query("SELECT ?x { ?x a <x:Animal> }").engine(background=background, reasoning="rdfs")
    found = []
    for time in range(6):
        cats = " ".join(f"<x:{time}-{number}> a <x:Cat> ." for number in range(5000))
        found.append(len(engine.push(thence.Event(time, cats))))
    assert found == [5000] * 6


@pytest.mark.parametrize(
    "group",
    [
        [["x"], 1, [[1, '"1"^^<http://www.w3.org/2001/XMLSchema#integer>', None, [], [], False]]],
        [["<x:a>"], 2**70, [[1, '"1"^^<http://www.w3.org/2001/XMLSchema#integer>', None, [], [], False]]],
        [["<x:a>"], 1, [[1, '"1"^^<http://www.w3.org/2001/XMLSchema#integer>', None, ["\ud800"], [], False]]],
        [["<x:a>"], 1, [[1, "x", None, [], [], False]]],
    ],
)
def test_groups_that_cannot_be_saved_ones_are_refused(group: object) -> None:
    """EP-58"""
    engine = query("SELECT ?x (GROUP_CONCAT(?y) AS ?s) { ?x :p ?y } GROUP BY ?x").engine()
    engine.push(prices(1)[0])
    host = engine.answers.flow.hosts[0]
    summary = next(each for each in host.state.evaluation.states if isinstance(each, SummaryState))
    with pytest.raises(InputError, match="damaged"):
        summary.restore_groups([group])


def test_no_derived_triple_waits_for_a_statement_that_has_run() -> None:
    """EP-46: ids in an inbox would not survive a compacted dictionary."""
    engine = query("CONSTRUCT { ?x :r ?y } WHERE { ?x :p ?y } SELECT * { ?x :r ?y }").engine()
    assert len(engine.push(prices(1)[0])) == 1
    assert all(inbox.is_empty for inbox in engine.answers.flow.hosts[0].state.evaluation.inboxes)


def event(time: int, graph: str) -> thence.Event:
    return thence.Event(time, "@prefix : <http://example.org/> . " + graph)


def derived(match: thence.Match) -> tuple[str, ...]:
    """The terms of the triples that a row of a CONSTRUCT adds, without their namespace."""
    return tuple(term.value.removeprefix("http://example.org/") for triple in match.triples for term in triple)


def test_rules_emit_by_round_then_rule_then_start_then_position() -> None:
    """EP-49: the second rule derives in the first round what the first one reads in the second."""
    rules = query("CONSTRUCT { ?x :t ?y } WHERE { ?x :s ?y } CONSTRUCT { ?y :s ?x } WHERE { ?x :p ?y }")
    found = list(rules.match([event(1, ":c :p :d ."), event(1, ":a :p :b .")]))
    assert [(match.query, derived(match)) for match in found] == [
        (2, ("d", "s", "c")),
        (2, ("b", "s", "a")),
        (1, ("d", "t", "c")),
        (1, ("b", "t", "a")),
    ]


def test_a_row_waits_on_minus_even_if_nothing_can_be_removed() -> None:
    """EP-43: MINUS without a shared variable removes nothing, and its rows wait as those of any other."""
    engine = query("SELECT * { ?x :p ?y MINUS { ?z :q ?w } }").engine()
    assert engine.push(event(1, ":a :p :b .")) == []
    assert [match.end for match in engine.push(event(2, ":a :r :b ."))] == [1]


def test_graph_reads_what_the_unnamed_background_entails(tmp_path: Path) -> None:
    """EP-40, EP-55: the unnamed background answers for every IRI, with what RDFS infers from it."""
    schema = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
    (tmp_path / "kb.ttl").write_text(f"@prefix : <http://example.org/> . :C {schema} :D . :k a :C .", encoding="utf-8")
    asked = query("SELECT ?x { ?a :p ?b GRAPH :g { ?x a :D } }")
    found = asked.match([event(1, ":a :p :b .")], background=tmp_path / "kb.ttl", reasoning="rdfs")
    assert [str(match.bindings["x"].value) for match in found] == ["http://example.org/k"]


def test_an_exists_in_an_exists_is_judged_on_the_group_it_stands_in() -> None:
    """EP-27: the inner one sees what ends by the end of the outer one's group, with ?x and ?n of the row put in."""
    asked = query("SELECT ?n { ?x :p ?n FILTER EXISTS { ?y :q ?z FILTER EXISTS { ?x :r ?z FILTER(?n > 3) } } }")
    events = [event(1, ":c :p 4 ."), event(2, ":a :q :k ."), event(2, ":c :r :k ."), event(3, ":c :p 3 .")]
    events += [event(4, ":c :p 5 ."), event(5, ":d :p 6 .")]
    assert [match.bindings["n"].python for match in asked.match(events)] == [5]
    later = [event(1, ":a :q :k ."), event(2, ":c :r :k ."), event(3, ":c :p 5 .")]
    assert not list(asked.match(later))


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("SELECT ?x { ?x :p ?n }", 2),  # one event, two triples
        ("SELECT ?x { ?x :p ?n . ?x :p ?m }", 4),
        ("SELECT ?x { ?x :p/:q ?y }", 2),
        ("CONSTRUCT { :k :s :v } WHERE { { ?a :r ?b } SEQ { ?c :r ?d } } SELECT ?x { ?x :o ?y . :k :s :v }", 3),
    ],
)
def test_different_rows_have_different_ids(text: str, count: int) -> None:
    """EP-4: rows of equal values and events differ in what they hide, or in the interval of a derived triple."""
    graphs = [
        (0, ":a :o :b ."),
        (1, ":a :p :b , :c . :b :q 1 . :c :q 1 ."),
        *((time, ":a :r :b .") for time in (2, 3, 4)),
    ]
    found = list(query(text).match([event(*each) for each in graphs]))
    assert len(found) == count == len({match.id for match in found})


def test_groups_count_among_what_the_state_holds() -> None:
    counted = query("SELECT ?y (COUNT(*) AS ?n) { ?x :p ?y } GROUP BY ?y")
    assert len(list(counted.match(prices(*range(20)), max_runs=20))) == 20
    with pytest.raises(LimitError, match="max_runs"):
        list(counted.match(prices(*range(21)), max_runs=20))


@pytest.mark.parametrize(
    ("graph", "found"), [(":a :p 3 .", 1), (":c :r :d . :a :p 3 .", 1), (":d :r :c . :a :p 3 .", 0)]
)
def test_a_zero_length_pair_of_what_exists_puts_in_is_timeless(graph: str, found: int) -> None:
    """EP-65: so it is not simultaneous with an event, though one holds its term."""
    asked = query("SELECT ?x { ?x :q ?x FILTER NOT EXISTS { { ?y :p ?m } EQUALS { ?z :r* ?x } } }")
    assert len(list(asked.match([event(1, ":c :q :c ."), event(1, graph)]))) == found


READS_PATH = "CONSTRUCT { ?x :t ?z } WHERE { GRAPH :g { ?x :t ?y . ?y :p ?z } } "
READS_ABSENCE = "CONSTRUCT { ?x :w ?y } WHERE { ?x :p ?y MINUS { GRAPH :g { ?y :t ?z } } } "


@pytest.mark.parametrize(
    ("rules", "block", "count"),
    [
        ("", ":g { ?x :t ?y }", 3),
        (READS_PATH, ":g { :a :t ?y }", 3),
        ("CONSTRUCT { ?x :w ?y } WHERE { GRAPH :g { ?x :t ?y } } ", ":other { ?x :w ?y }", 3),
        (READS_ABSENCE, ":g { ?x :w ?y }", 1),
        (READS_ABSENCE + "CONSTRUCT { ?x :w ?y } WHERE { GRAPH :g { ?x :w ?y } } ", ":g { ?x :w ?y }", 1),
        ("", ":g { :a :t [] }", 1),
        ("", ":g { :a :t+ ?y }", 3),
    ],
)
def test_graph_sees_what_rules_derive_from_an_unnamed_background(
    rules: str, block: str, count: int, tmp_path: Path
) -> None:
    """EP-37, EP-39, EP-40: also through rules that read GRAPH themselves, and stratum by stratum (EP-50)."""
    data = tmp_path / "background.ttl"
    data.write_text("@prefix : <http://example.org/> . :a :p :b . :b :p :c . :c :p :d .", "utf-8")
    asked = query(f"CONSTRUCT {{ ?x :t ?y }} WHERE {{ ?x :p ?y }} {rules} SELECT * {{ ?u :q ?v GRAPH {block} }}")
    events = [
        thence.Event(1, "<x:u> <http://example.org/q> 1 ."),
        thence.Event(2, "<x:u> <http://example.org/p> 1 ."),  # what it derives is in the stream, and in no graph
    ]
    assert len(list(asked.match(events, background=data))) == count
    named = {f"http://example.org/{name}": data for name in ("g", "other")}
    assert not list(asked.match(events, background=named)), "what rules derive is in no named graph"


def test_graph_sees_what_a_derived_triple_entails(tmp_path: Path) -> None:
    """EP-37, EP-39, EP-55"""
    data = tmp_path / "background.ttl"
    sub_property = "<http://www.w3.org/2000/01/rdf-schema#subPropertyOf>"
    data.write_text(f"@prefix : <http://example.org/> . :a :p :b . :t {sub_property} :s .", "utf-8")
    asked = query("CONSTRUCT { ?x :t ?y } WHERE { ?x :p ?y } SELECT * { ?u :q ?v GRAPH :g { ?x :s ?y } }")
    events = [thence.Event(1, "<x:u> <http://example.org/q> 1 .")]
    assert len(list(asked.match(events, background=data, reasoning="rdfs"))) == 1
