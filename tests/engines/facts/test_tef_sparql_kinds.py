"""Kinds of predicates in TEF-SPARQL (TEF-1 to TEF-16), and what they forbid (TEF-65, TEF-69, TEF-73)."""

from __future__ import annotations

import pickle
import sys

import pyoxigraph
import pytest

import thence
from support.tef_sparql_listings import BACH, MAXIMUM, READ, SHOP, SHOWS, TEN_DAY, VIEWERS, WEIGHTED_MENDED
from thence.algebra.expressions import Call, Compare, Comparison, Variable
from thence.algebra.tef_sparql import (
    Arm,
    ConstructStatement,
    HeadTriple,
    Kind,
    Plain,
    SelectStatement,
    Since,
    TefFile,
    TefPattern,
)
from thence.algebra.traversal import DEPTH
from thence.engines.facts.kind_checks import Kinds, now_comparison, predicate_kinds
from thence.engines.facts.plan.tef_sparql import with_durations
from thence.errors import QueryError
from thence.lang.tef_sparql.parser import parse
from thence.rdf.terms import IRI, RDF

EVENT, FACT, STATIC = Kind
RDF_TYPE = IRI(RDF + "type")

MADE = "CONSTRUCT FACT ?x f ?y WHERE (SINCE ?x s ?y) UNION (UNTIL ?x u ?y)\n"
"""Statement 1 makes the fact f."""

VIEW = "CONSTRUCT FACT ?x v ?y WHERE ?x f ?y, ?y f ?x\n"


def name(local: str) -> IRI:
    return IRI("http://example.org/" + local)


def kinds(text: str, *background: str) -> Kinds:
    return predicate_kinds(parse(text), frozenset(map(name, background)))


def kind(text: str, local: str, *background: str) -> Kind:
    return kinds(text, *background).of(name(local))


def complaint(text: str, *background: str) -> str:
    with pytest.raises(QueryError) as raised:
        kinds(text, *background)
    error = raised.value
    assert type(error) is QueryError
    assert error.place is not None
    assert error.caret.splitlines()[1:] == [" " * (error.place.column - 1) + "^"]
    assert error.line == text.split("\n")[error.place.line - 1]
    return str(error).removeprefix(f"{error.place}: ")


def pattern(arm: Arm) -> TefPattern:
    assert isinstance(arm, Plain)
    return arm.pattern


# Where kinds come from


def test_tef_1_every_predicate_has_a_kind() -> None:
    found = kinds(BACH)
    assert [found.of(name(each)) for each in ("bornIn", "relocatedTo", "diedIn", "liveIn")] == [
        EVENT,
        EVENT,
        EVENT,
        FACT,
    ]
    assert found.of(RDF_TYPE) is STATIC
    assert found.of(name("unheardOf")) is EVENT
    assert found.statements == (FACT,)


def test_tef_2_declare_construct_and_operators_give_kinds() -> None:
    assert kind("DECLARE FACT p SELECT ?x WHERE ?x p ?y", "p") is FACT
    assert kind("DECLARE STATIC p SELECT ?x WHERE ?x q ?y, ?x p ?y", "p") is STATIC
    assert kind("CONSTRUCT FACT ?x p ?y WHERE (SINCE ?x q ?y)", "p") is FACT
    assert kind("CONSTRUCT EVENT ?x p ?y WHERE ?x q ?y", "p") is EVENT
    assert kind("SELECT ?x WHERE ?x p ?y DURING ?x q ?y", "q") is FACT
    assert kind("SELECT ?x WHERE ONEND ?x p ?y", "p") is FACT


def test_tef_2_a_construct_without_kind_takes_that_of_its_where() -> None:
    for arm in ("(SINCE ?x q ?y)", "(UNTIL ?x q ?y)", "(REPLACE ?x p ?z ON ?x q ?y)", "(?x q ?y ON INIT)"):
        assert kind(f"CONSTRUCT ?x p ?y WHERE {arm}", "p") is FACT
    assert kind("CONSTRUCT ?x p ?y WHERE ?x q ?y", "p") is EVENT
    assert kind("CONSTRUCT ?x p ?y WHERE ?x q ?y WITH ?x f ?y", "p") is EVENT
    assert kind(MADE + "CONSTRUCT ?x p ?y WHERE ?x f ?y", "p") is FACT
    assert kind(MADE + "CONSTRUCT ?x p ?y WHERE ?x f ?y WITHOUT ?x e ?y", "p") is FACT
    assert kind("CONSTRUCT ?x p ?y WHERE ?x b ?y", "p", "b") is FACT  # static triples always hold


def test_tef_2_kinds_go_from_statement_to_statement_in_any_order() -> None:
    chain = ["CONSTRUCT ?x p ?y WHERE ?x q ?y", "CONSTRUCT ?x q ?y WHERE ?x f ?y", MADE]
    for text in (" ".join(chain), " ".join(reversed(chain))):
        assert kind(text, "p") is kind(text, "q") is FACT
    recursive = "CONSTRUCT ?x p ?z WHERE (?x p ?y, ?y p ?z) UNION ?x q ?z "
    assert kind(recursive, "p") is EVENT
    assert kind(recursive + "CONSTRUCT FACT ?x q ?y WHERE (SINCE ?x e ?y)", "p") is FACT
    assert kind("CONSTRUCT ?x p ?z WHERE ?x q ?z CONSTRUCT ?x q ?z WHERE ?x p ?z", "p") is EVENT


def test_tef_3_kinds_flow_down_from_operators() -> None:
    found = kinds(
        "SELECT ?x WHERE (?x a1 ?y, (?x a2 ?y UNION ?x a3 ?y), ?y > 1)"
        " DURING (?x b1 ?y[?s, ?e], ?x b2 ?y WITHOUT ?x c ?y)"
    )
    assert {found.of(name(each)) for each in ("a1", "a2", "a3")} == {EVENT}
    assert {found.of(name(each)) for each in ("b1", "b2")} == {FACT}
    assert kind("CONSTRUCT FACT ?x h ?y WHERE ?x p ?y, ?x q ?y", "q") is FACT
    assert kind("CONSTRUCT EVENT ?x h ?y WHERE ?x p ?y, ?x q ?y", "q") is EVENT


def test_tef_3_kinds_do_not_flow_between_neighbours() -> None:
    text = "DECLARE FACT f SELECT ?x WHERE ?x p ?y, ?x f ?y"
    assert complaint(text) == (
        '"," can\'t join an event and a fact: p is an event (no statement says otherwise),'
        " f is a fact (it is DECLAREd so). Try: DURING or WITH"
    )


def test_tef_3_kinds_do_not_flow_into_the_right_side_of_without() -> None:
    assert kind(MADE + "SELECT ?x WHERE ?x f ?y WITHOUT ?x p ?y", "p") is EVENT
    for right in ("?x p ?y", "?x f ?y", "?x a ?y", "(?x p ?y DURING ?x f ?y)"):
        for left in ("?x e ?y", "?x f ?y"):
            kinds(MADE + f"SELECT ?x WHERE {left} WITHOUT {right}")


def test_tef_4_what_the_background_has_and_no_statement_makes_is_static() -> None:
    text = "SELECT ?x WHERE ?x e ?y DURING ?x b ?y"
    assert kind(text, "b") is FACT
    assert kind(text, "b", "b") is STATIC
    assert kind("DECLARE FACT b " + text, "b", "b") is FACT
    assert kind(MADE, "f", "f") is FACT
    assert kind("SELECT ?x WHERE ?x e ?y, ?x b ?y", "b", "b") is STATIC
    assert kind("SELECT ?x WHERE ?x e ?y", "unheardOf", "unheardOf") is STATIC


def test_tef_5_rdf_type_is_static_unless_it_is_declared() -> None:
    assert kinds("SELECT ?x WHERE ?x e ?y, ?x a T").of(RDF_TYPE) is STATIC
    assert kinds("DECLARE EVENT rdf:type SELECT ?x WHERE ?x a T").of(RDF_TYPE) is EVENT
    assert complaint("CONSTRUCT EVENT ?x rdf:type T WHERE ?x e ?y") == (
        "This makes rdf:type an event, and rdf:type is static (unless it is DECLAREd)."
        " Try: DECLARE EVENT rdf:type, or another predicate"
    )


def test_tef_5_static_types_are_warned_of_unless_something_settles_them() -> None:
    """The types of the stream are ignored (TEF-10), so that this has no rows."""
    warned = (
        "query:1:20: rdf:type is static unless it is DECLAREd: that of the stream is ignored."
        " Try: DECLARE EVENT rdf:type, or DECLARE STATIC rdf:type if the background has it"
    )
    assert kinds("SELECT ?x WHERE ?x a T").warnings == (warned,)
    assert kinds("SELECT ?x WHERE ?x a T, ?x e ?y SELECT ?y WHERE ?y a U").warnings == (warned,)
    assert predicate_kinds(parse("SELECT ?x WHERE ?x a T"), None).warnings == (warned,)
    assert predicate_kinds(parse("SELECT ?x WHERE ?x a T"), frozenset({RDF_TYPE})).warnings == ()
    for settled in ("EVENT", "STATIC"):
        assert kinds(f"DECLARE {settled} rdf:type SELECT ?x WHERE ?x a T").warnings == ()
    assert kinds("CONSTRUCT FACT ?x f 0 WHERE (?x a T ON INIT) SELECT ?x WHERE ?x e ?y, ?x a T").warnings == ()


def test_tef_6_on_init_makes_what_it_reads_static() -> None:
    text = "SELECT ?x WHERE ?x e ?y DURING ?x b ?y CONSTRUCT FACT ?x f ?y WHERE (?x b ?y ON INIT)"
    assert kind(text, "b") is STATIC
    assert complaint(MADE + "CONSTRUCT FACT ?x g ?y WHERE (?x f ?y ON INIT)") == (
        "ON INIT needs a triple of the background, and f is a fact (statement 1 makes it)."
        " Try: another predicate than the background's"
    )


def test_tef_7_every_other_predicate_is_an_event() -> None:
    assert kind("SELECT ?x WHERE ?x p ?y", "p") is EVENT


def test_tef_8_a_variable_predicate_is_of_the_kind_that_its_place_demands() -> None:
    found = kinds("SELECT ?x WHERE ?x ?p ?y DURING ?x ?q ?y")
    triple = pattern(parse("SELECT ?x WHERE ?x ?p ?y").statements[0].arms[0])
    assert found.of_pattern(triple) is EVENT
    assert found.of_pattern(triple, FACT) is FACT
    kinds("CONSTRUCT FACT ?x h ?y WHERE ?x ?p ?y")
    assert "?p is an event" in complaint(MADE + "SELECT ?x WHERE ?x ?p ?y, ?x f ?y")


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("?x e ?y", EVENT),
        ("?x f ?y", FACT),
        ("?x a ?y", STATIC),
        ("?x e ?y, ?x a ?y", EVENT),
        ("?x a ?y, ?x e ?y", EVENT),
        ("?x a ?y, ?x f ?y", FACT),
        ("?x a ?y, ?y a ?x", STATIC),
        ("?x f ?y[?s, ?e], ?n = 1, ?y > 1", FACT),
        ("(?x f ?y UNION ?x f ?z), ?x > 1", FACT),
        ("?x a ?y, now() > ?y", FACT),  # it does not always hold
        ("?x e ?y, ?x a ?y, now() > ?y", EVENT),
        ("?x f ?y WITHOUT ?x e ?y", FACT),
        ("?x e ?y WITHOUT ?x f ?y", EVENT),
        ("?x e ?y DURING ?x f ?y", EVENT),
        ("?x e ?y SEQ ?x e ?z", EVENT),
        ("ONSTART ?x f ?y", EVENT),
        ("ONEND (?x f ?y, ?x a ?y)", EVENT),
    ],
)
def test_tef_9_the_kind_of_a_pattern(where: str, expected: Kind) -> None:
    text = f"{MADE} SELECT ?x WHERE {where}"
    found = kinds(text)
    assert found.of_pattern(pattern(parse(text).statements[1].arms[0])) is expected
    assert found.statements[1] is (expected if expected is not STATIC else FACT)


# What is rejected

CLASHES = {
    # TEF-11: a predicate with two kinds
    "CONSTRUCT FACT ?x g ?y WHERE (SINCE ?x e ?y) CONSTRUCT EVENT ?x g ?y WHERE ?x e ?y": (
        "This makes g an event, and g is a fact (statement 1 makes it)."
        " Try: SINCE before the events, or another predicate"
    ),
    "DECLARE STATIC g CONSTRUCT FACT ?x g ?y WHERE (SINCE ?x e ?y)": (
        "This makes g a fact, and g is static (it is DECLAREd so). Try: another predicate"
    ),
    "CONSTRUCT ?x p ?z WHERE ?x q ?z SELECT ?x WHERE ?x e ?y DURING ?x p ?z": (
        "This makes p an event, and p is a fact (DURING in statement 2 asks for that)."
        " Try: SINCE before the events, or another predicate"
    ),
    "SELECT ?x WHERE ?x p ?y SEQ ?x q ?y SELECT ?x WHERE ?x e ?y DURING ?x p ?z": (
        "DURING needs a fact on its right, and p is an event (SEQ in statement 1 asks for that)."
        " Try: SEQ or BEFORE between events, or SINCE to make a fact of the event"
    ),
    # TEF-11: what the tables do not admit
    MADE + "SELECT ?x WHERE ?x f ?y SEQ ?x e ?z": (
        "SEQ needs an event, and f is a fact (statement 1 makes it)."
        " Try: DURING instead of SEQ, or ONSTART before the fact"
    ),
    MADE + "SELECT ?x WHERE ?x e ?y BEFORE (?x f ?z, ?x > 1)": (
        "BEFORE needs an event, and f is a fact (statement 1 makes it)."
        " Try: DURING instead of BEFORE, or ONSTART before the fact"
    ),
    "SELECT ?x WHERE ?x e ?y SEQ ?x a ?z": (
        "SEQ needs an event, and rdf:type is static (unless it is DECLAREd)."
        ' Try: "," instead of SEQ, or DECLARE EVENT if the stream has it too'
    ),
    MADE + "SELECT ?x WHERE ?x f ?y DURING ?x f ?z": (
        "DURING needs an event on its left, and f is a fact (statement 1 makes it)."
        ' Try: "," between facts, or ONSTART before the left one'
    ),
    "SELECT ?x WHERE ?x a ?y WITH ?x f ?z": (
        "WITH needs an event on its left, and rdf:type is static (unless it is DECLAREd)."
        " Try: an event on the left, or DECLARE EVENT if the stream has it too"
    ),
    "SELECT ?x WHERE ?x e ?y DURING (?x e ?z SEQ ?x e ?w)": (
        "DURING needs a fact on its right, and SEQ gives an event."
        " Try: SEQ or BEFORE between events, or SINCE to make a fact of the event"
    ),
    "DECLARE EVENT e SELECT ?x WHERE ONEND ?x e ?y": (
        "ONEND needs a fact, and e is an event (it is DECLAREd so). Try: the event without ONEND"
    ),
    "SELECT ?x WHERE ONSTART (ONEND ?x f ?y)": (
        "ONSTART needs a fact, and ONEND gives an event. Try: the event without ONSTART"
    ),
    "SELECT ?x WHERE ONSTART ?x a ?y": (
        "ONSTART needs a fact, and rdf:type is static (unless it is DECLAREd). Try: a fact that a statement makes"
    ),
    MADE + "CONSTRUCT FACT ?x g ?y WHERE (SINCE ?x f ?y)": (
        "SINCE needs an event, and f is a fact (statement 1 makes it). Try: SINCE (ONSTART … ) or SINCE (ONEND … )"
    ),
    MADE + "CONSTRUCT FACT ?x g ?y WHERE (UNTIL ?x f ?y)": (
        "UNTIL needs an event, and f is a fact (statement 1 makes it). Try: UNTIL (ONSTART … ) or UNTIL (ONEND … )"
    ),
    MADE + "CONSTRUCT FACT ?x g ?y WHERE (REPLACE ?x g ?z ON ?x f ?y)": (
        "ON needs an event, and f is a fact (statement 1 makes it). Try: ON (ONSTART … ) or ON (ONEND … )"
    ),
    "CONSTRUCT FACT ?x g ?y WHERE (SINCE ?x a ?y)": (
        "SINCE needs an event, and rdf:type is static (unless it is DECLAREd)."
        ' Try: an event beside it, with ",", or DECLARE EVENT if the stream has it too'
    ),
    "DECLARE EVENT e CONSTRUCT FACT ?x g ?y WHERE (REPLACE ?x e ?z ON ?x p ?y)": (
        "REPLACE needs a fact, and e is an event (it is DECLAREd so)."
        " Try: a fact that a statement makes; events end by themselves"
    ),
    "CONSTRUCT FACT ?x g ?y WHERE (REPLACE ?x a ?z ON ?x p ?y)": (
        "REPLACE needs a fact, and rdf:type is static (unless it is DECLAREd). Try: a fact that a statement makes"
    ),
    "DECLARE EVENT e CONSTRUCT FACT ?x g ?y WHERE (?x e ?y ON INIT)": (
        "ON INIT needs a triple of the background, and e is an event (it is DECLAREd so)."
        " Try: another predicate than the background's"
    ),
    # TEF-12
    MADE + "SELECT ?x WHERE ?x e ?y, ?x f ?z": (
        '"," can\'t join an event and a fact: e is an event (no statement says otherwise),'
        " f is a fact (statement 1 makes it). Try: DURING or WITH"
    ),
    MADE + "SELECT ?x WHERE ?x e ?y UNION ?x f ?z": (
        "UNION can't join an event and a fact: e is an event (no statement says otherwise),"
        " f is a fact (statement 1 makes it). Try: ONSTART before the fact"
    ),
    MADE + "SELECT ?x WHERE (?x f ?y UNION ONSTART ?x f ?y), ?x > 1": (
        "UNION can't join an event and a fact: ONSTART gives an event,"
        " f is a fact (statement 1 makes it). Try: ONSTART before the fact"
    ),
    "SELECT ?x WHERE (?x e ?y UNION ?x a ?z), ?x > 1": (
        "UNION can't join an event and a static triple: e is an event (no statement says otherwise),"
        " rdf:type is static (unless it is DECLAREd). Try: an event beside the static triple"
    ),
    MADE + "CONSTRUCT EVENT ?x h ?y WHERE ?x f ?y": (
        "CONSTRUCT EVENT needs an event, and f is a fact (statement 1 makes it). Try: ONSTART before the fact"
    ),
    MADE + "CONSTRUCT FACT ?x h ?y WHERE ?x s ?y": (
        "CONSTRUCT FACT needs a fact, and s is an event (SINCE in statement 1 asks for that)."
        " Try: SINCE before the event"
    ),
    "CONSTRUCT EVENT ?x h ?y WHERE ?x a ?y": (
        "CONSTRUCT EVENT needs an event, and rdf:type is static (unless it is DECLAREd)."
        " Try: an event beside the static triple, or DECLARE EVENT if the stream has it too"
    ),
    "SELECT ?x WHERE ?x a ?y WITHOUT ?x e ?y": (
        "WITHOUT needs an event or a fact on its left, and rdf:type is static (unless it is DECLAREd)."
        " Try: an event or a fact to its left"
    ),
    "CONSTRUCT ?x g ?y WHERE (SINCE ?x e ?y) UNION ?x e ?y": (
        "UNION joins SINCE, which makes facts, and an event: e is an event"
        " (SINCE in statement 1 asks for that). Try: SINCE before the event"
    ),
    MADE + "SELECT ?x WHERE ?x f ?y UNION ?x a ?z": (
        "UNION can't join a fact and a static triple: f is a fact (statement 1 makes it),"
        " rdf:type is static (unless it is DECLAREd). Try: a statement for each"
    ),
    MADE + "SELECT ?x WHERE (?x a ?y UNION ?x f ?z), ?x > 1": (
        "UNION can't join a fact and a static triple: f is a fact (statement 1 makes it),"
        " rdf:type is static (unless it is DECLAREd). Try: a statement for each"
    ),
    # TEF-14
    MADE + VIEW + "CONSTRUCT FACT ?x g ?y WHERE (REPLACE ?x ?p ?z ON ?x e ?y)": (
        "REPLACE can't end facts of any predicate ?p: some are derived from facts."
        " Try: a predicate that a statement makes"
    ),
    MADE + VIEW + "CONSTRUCT FACT ?x v ?y WHERE (SINCE ?x e ?y)": (
        "Statement 2 derives v from facts, and SINCE in statement 3 makes it by events."
        " Try: another predicate in one of them"
    ),
    MADE + VIEW + "CONSTRUCT FACT ?x v ?y WHERE (?x b ?y ON INIT)": (
        "Statement 2 derives v from facts, and ON INIT in statement 3 makes it at the start."
        " Try: another predicate in one of them"
    ),
    MADE + "CONSTRUCT FACT ?x g ?y WHERE (SINCE ?x e ?y) UNION ?x f ?y": (
        "Statement 2 derives g from facts, and SINCE in statement 2 makes it by events."
        " Try: SINCE before every event, or another predicate in one of them"
    ),
    MADE + VIEW + "CONSTRUCT FACT ?x g ?y WHERE (REPLACE (?x f ?y, ?x v ?z) ON ?x e ?y)": (
        "REPLACE can't end v, which statement 2 derives from facts. Try: REPLACE what v is derived from"
    ),
    # TEF-65
    MADE + "SELECT ?x WHERE ?x f ?y[?s, ?e], now() - ?s > 10": (
        "now() over facts must be alone on one side of a comparison. Try: now() > ?s + 10, after a comma of its own"
    ),
    MADE + "SELECT ?x WHERE ?x e ?y DURING (?x f ?y[?s, ?e], now() > ?s && now() < ?s + 3)": (
        "now() over facts must be alone on one side of a comparison. Try: now() > ?s + 10, after a comma of its own"
    ),
    MADE + "SELECT ?x WHERE ?x f ?y, now() > now() - 1": (
        "now() over facts must be alone on one side of a comparison. Try: now() > ?s + 10, after a comma of its own"
    ),
    MADE + "SELECT ?x WHERE ?x f ?y, ?n = now()": (
        "now() has no single value over facts, so it can't be bound. Try: now() > ?s + 10, after a comma of its own"
    ),
    MADE + "CONSTRUCT FACT ?x g now() WHERE ?x f ?y": (
        "now() has no single value over facts, so it is not allowed in the head."
        " Try: now() > ?s + 10, after a comma of its own"
    ),
    "CONSTRUCT FACT ?x g ?y WHERE (?x b ?y, now() > ?y ON INIT)": (
        "ON INIT runs before the first event, so now() is not allowed. Try: a constant"
    ),
    # TEF-69
    "SELECT ?x ?z WHERE ?x e ?z UNION ?x e ?y": (
        "SELECT names ?z, which arm 2 of UNION (a pattern) does not bind. Try: ?z in that pattern"
    ),
    "SELECT ?x ?z WHERE ?x e ?y WITHOUT ?x e ?z": (
        "SELECT names ?z, which WHERE does not bind. Try: ?z in that pattern"
    ),
    "CONSTRUCT FACT ?x g ?y WHERE (SINCE ?x e ?y) UNION (UNTIL ?x e ?z)": (
        "The head names ?y, which arm 2 of UNION (UNTIL) does not bind. Try: UNTIL ( … DURING the fact with ?y )"
    ),
    "CONSTRUCT EVENT ?x g ?y + ?z WHERE ?x e ?y": (
        "The head names ?z, which WHERE does not bind. Try: ?z in that pattern"
    ),
    "SELECT ?x ONCE PER ?x, day(?w) WHERE ?x e ?y": (
        "ONCE PER names ?w, which WHERE does not bind. Try: ?w in that pattern"
    ),
    "SELECT ?x WHERE (?x e ?z UNION ?x e ?y), ?z > 1": (
        "An expression names ?z, which only one side of the UNION before it binds. Try: ?z on both sides"
    ),
    "SELECT ?x WHERE ?x e ?z SEQ (?x p ?z UNION ?x q ?y)": (
        "?z is in only some arms of a UNION, so outside of it the name is another variable."
        " Try: ?z in all arms, or another name inside the UNION"
    ),
    "SELECT ?x WHERE (?x p ?z UNION ?x q ?y UNION ?x r ?z) SEQ ?x e ?z": (
        "?z is in only some arms of a UNION, so outside of it the name is another variable."
        " Try: ?z in all arms, or another name inside the UNION"
    ),
    "SELECT ?x WHERE ?x e ?z WITHOUT ((?x p ?z UNION ?x q ?y), ?z > 1)": (
        "?z is in only some arms of a UNION, so outside of it the name is another variable."
        " Try: ?z in all arms, or another name inside the UNION"
    ),
    "CONSTRUCT FACT ?x g ?z WHERE (REPLACE ?x g ?z ON (?x p ?z UNION ?x q ?y), ?z > 1)": (
        "?z is in only some arms of a UNION, so outside of it the name is another variable."
        " Try: ?z in all arms, or another name inside the UNION"
    ),
    "SELECT ?x ?z WHERE (?x e ?z UNION ?x e ?y), ?z = 1": (
        "?z is in only some arms of a UNION, so outside of it the name is another variable."
        " Try: ?z in all arms, or another name inside the UNION"
    ),
    "CONSTRUCT FACT ?x g ?n WHERE (REPLACE (?x g ?z UNION ?x h ?y) ON ?x e ?w), ?n = ?z": (
        "An expression names ?z, which only one side of the UNION before it binds. Try: ?z on both sides"
    ),
    TEN_DAY: "The head names ?P, which WHERE does not bind. Try: ?P = … after it",
    WEIGHTED_MENDED: ("The head names ?Show, which arm 1 of UNION (REPLACE) does not bind. Try: ?Show = … after it"),
    "SELECT ?x ONCE PER ?y WHERE ?x e ?y": ("ONCE PER names ?y, which SELECT does not. Try: SELECT … ?y"),
    # TEF-50: a view sees nothing around it
    MADE + "SELECT ?x WHERE ?x e ?n SEQ ONEND (?x f ?m, ?m > ?n)": (
        "An expression inside ONEND names ?n, which is bound outside. Try: the expression after ONEND ( … )"
    ),
    # TEF-76
    MADE + "SELECT ?x WITHIN 3 WHERE ?x f ?y": (
        "WITHIN bounds how long events may take, and this statement reads no events. Try: no WITHIN"
    ),
    # TEF-73
    MADE + "CONSTRUCT ?x g ?y ONCE PER ?x WHERE ?x f ?y": (
        "ONCE PER is not allowed for facts that are derived from facts: none of them is the first. "
        "Try: SINCE (ONSTART … )"
    ),
    "CONSTRUCT FACT ?x g ?y ONCE PER ?x WHERE (SINCE ?x e ?y) UNION (UNTIL ?x e2 ?y)": (
        "ONCE PER is not allowed with UNTIL. Try: two statements: ONCE PER on the one without UNTIL"
    ),
}


@pytest.mark.parametrize("text", CLASHES)
def test_a_clash_names_the_statement_the_reason_and_a_cure(text: str) -> None:
    assert complaint(text) == CLASHES[text]


def test_tef_11_declared_kinds_do_not_contradict_each_other() -> None:
    file = TefFile(parse("SELECT ?x WHERE ?x e ?y").statements, ((name("p"), FACT), (name("p"), EVENT)))
    with pytest.raises(QueryError, match=r"DECLARE gives p two kinds, fact and event\. Try: one of them"):
        predicate_kinds(file)


def test_tef_13_arms_that_make_facts_stand_in_construct_fact_alone() -> None:
    x, y = Variable("x"), Variable("y")
    (arm,) = parse("CONSTRUCT ?x f ?y WHERE (SINCE ?x e ?y)").statements[0].arms
    assert isinstance(arm, Since)
    made = ConstructStatement(EVENT, (HeadTriple(x, name("f"), y),), (arm,))
    for statement, words in ((SelectStatement((x,), (arm,)), "SELECT"), (made, "CONSTRUCT EVENT")):
        with pytest.raises(QueryError) as raised:
            predicate_kinds(TefFile((statement,)))
        expected = f"Statement 1: {words} can't have SINCE, which makes facts. Try: CONSTRUCT FACT"
        assert str(raised.value) == expected


def test_tef_14_facts_by_events_and_on_init_go_together() -> None:
    kinds(VIEWERS)
    kinds(MADE + "CONSTRUCT FACT ?x f ?y WHERE (?x b ?y ON INIT)")
    kinds(MADE + VIEW + "CONSTRUCT FACT ?x v ?y WHERE ?y f ?x")


def test_tef_15_a_fact_that_no_statement_makes_is_warned_of() -> None:
    assert kinds(MADE).warnings == ()
    assert kinds("SELECT ?x WHERE ?x e ?y DURING ?x f ?y").warnings == (
        "query:1:35: This reads the fact f (DURING in statement 1 asks for that), which no statement makes."
        " Try: CONSTRUCT FACT, or DECLARE STATIC f if the background has it",
    )
    assert kinds("SELECT ?x WHERE ?x e ?y DURING ?x f ?y", "f").warnings == ()
    assert len(kinds(SHOP).warnings) == 3
    any_fact = "CONSTRUCT FACT ?x ?p ?y WHERE (SINCE ?x makes ?y, ?x of ?p) "
    assert kinds(any_fact + "SELECT ?x WHERE ?x e ?y DURING ?x f ?y").warnings == ()


# TEF-16: the background may not be known yet


@pytest.mark.parametrize(
    ("text", "background"),
    [
        ("SELECT ?x WHERE ?x e ?y DURING ?x b ?y SELECT ?x WHERE ?x e ?y, ?x b ?y", "b"),
        (MADE + "SELECT ?x WHERE ?x f ?y, ?x b ?y", "b"),
        (MADE + "CONSTRUCT ?x p ?y WHERE ?x b ?y SELECT ?x WHERE ?x e ?y DURING ?x p ?y", "b"),
    ],
)
def test_tef_16_a_clash_that_a_background_resolves_waits_for_it(text: str, background: str) -> None:
    file = parse(text)
    predicate_kinds(file, None)
    predicate_kinds(file, frozenset({name(background)}))
    with pytest.raises(QueryError):
        predicate_kinds(file)


CERTAIN = [text for text, said in CLASHES.items() if "otherwise" not in said and "asks for that" not in said]


@pytest.mark.parametrize("text", CERTAIN)
def test_tef_16_a_clash_that_no_background_resolves_does_not_wait(text: str) -> None:
    with pytest.raises(QueryError):
        predicate_kinds(parse(text), None)


# What is accepted


@pytest.mark.parametrize("listing", [text for text in READ.values() if text not in (TEN_DAY, WEIGHTED_MENDED)])
def test_the_listings_of_the_paper_have_kinds(listing: str) -> None:
    kinds(listing)


def test_the_viewers_of_section_5_2() -> None:
    found = kinds(VIEWERS + SHOWS + MAXIMUM)
    assert found.statements == (FACT, FACT, EVENT)
    assert [found.of(name(each)) for each in ("currentNoOfViewers", "shows", "starts", "joins", "maximumViewer")] == [
        *(FACT, FACT, EVENT, EVENT, EVENT)
    ]


@pytest.mark.parametrize(
    "text",
    [
        "SELECT ?x WHERE ?x e ?z WITHOUT ((?x p ?k UNION ?x q ?y), ?z > 1)",  # the left side binds ?z
        "SELECT ?x WHERE ?x e ?z SEQ ((?x p ?k, ?k > ?z) UNION ?x q ?y)",  # it is only tested (TEF-58)
        "SELECT ?x WHERE (?x e ?y WITHOUT ?x p ?z UNION ?x q ?k) SEQ ?x r ?z",  # existential (TEF-39)
        "SELECT ?x WHERE (?x e ?y UNION (?x p ?z UNION ?x q ?y)) SEQ ?x r ?_",  # three arms
        MADE + "SELECT ?x WHERE ?x f ?y[?s, ?e], ?s + 10 <= now()",
        MADE + "SELECT ?x ?n WHERE ?x e ?y DURING ?x f ?y, ?n = now() + 1",
        MADE + "SELECT ?x ONCE PER ?x, day(now()) WHERE ?x f ?y",
        MADE + "SELECT ?x WHERE ?x e ?n SEQ ONEND (?x f ?m, ?m > 1, ?k = ?m), ?m > ?n",
        "CONSTRUCT FACT ?x g ?y WHERE (REPLACE ?x ?p ?z ON ?x e ?y)",
        MADE + "CONSTRUCT FACT ?x g ?y WHERE (REPLACE (?x f ?z, ?x a ?z) ON (?x e ?y, ?x a ?y))",
    ],
)
def test_what_looks_like_a_clash_and_is_none(text: str) -> None:
    kinds(text)


def test_now_stands_on_either_side() -> None:
    now, x = Call("NOW", ()), Variable("x")
    for comparison, mirrored in (
        (Comparison.LESS, Comparison.GREATER),
        (Comparison.GREATER_OR_EQUAL, Comparison.LESS_OR_EQUAL),
        (Comparison.EQUAL, Comparison.EQUAL),
    ):
        assert now_comparison(Compare(comparison, now, x)) == (comparison, x)
        assert now_comparison(Compare(comparison, x, now)) == (mirrored, x)
    assert now_comparison(Compare(Comparison.LESS, now, now)) is None
    assert now_comparison(x) is None


def test_kinds_can_be_pickled() -> None:
    found = kinds(BACH)
    assert pickle.loads(pickle.dumps(found)) == found


def test_deep_patterns_and_many_statements_have_kinds() -> None:
    deep = "(" * 120 + "?x p ?y" + ", ?x > 1) SEQ ?x p ?y" * 120
    chain = "".join(f"CONSTRUCT ?x p{i} ?y WHERE ?x p{i + 1} ?y " for i in range(2000))
    assert sys.getrecursionlimit() <= 1000
    kinds(f"SELECT ?x WHERE {deep}")
    kinds("SELECT ?x WHERE ?x p ?y" + " SEQ ?x p ?y" * (DEPTH - 5))
    kinds(chain)


# Where it stands


@pytest.mark.parametrize(
    "marked",
    [
        MADE + "SELECT ?x WHERE ?x e ?y\n  SEQ ?x «f ?z",
        MADE + "SELECT ?x WHERE ?x «f ?y, ?z > 1, ?x e ?z WITHOUT ?y f ?z",
        MADE + "SELECT ?x WHERE (?x e ?y, ?y e ?z), ?x «f ?y",
        MADE + "SELECT ?x WHERE ?x e ?y DURING (?x e ?y «SEQ ?x e ?z)",
        MADE + "SELECT ?x WHERE ?x e ?y DURING («ONEND ?x f ?y)",
        MADE + "CONSTRUCT FACT ?x g ?y WHERE REPLACE ?x g ?z ON ?x e ?y UNION UNTIL ?x <http://e/> ?y, ?y «f ?x",
        MADE + "CONSTRUCT EVENT ?x e ?y, ?x «f ?y WHERE ?x s ?y",
        "CONSTRUCT EVENT ?x «a T WHERE ?x e ?y",
        "PREFIX p: <http://p/> DECLARE FACT p:f SELECT ?x WHERE ?x e ?y SEQ ?x «p:f ?y",
        MADE + "SELECT ?x, ?y, «?z WHERE ?x e ?y, ?y > 1",
        MADE + "SELECT ?x WHERE (?x e ?y UNION ?x e ?z), «?y > 1",
        MADE + "SELECT ?x WHERE ?x e ?y SEQ (?x e «?y UNION ?x e ?z)",
        MADE + "CONSTRUCT FACT ?x g ?y WHERE ?x f ?y, ?y > 1, «?y > now() + now()",
        MADE + "CONSTRUCT FACT ?x g ?y «WITHIN 3 TICKS WHERE ?x f ?y",
        MADE + "CONSTRUCT FACT ?x g ?y «ONCE PER ?x WHERE ?x f ?y",
        MADE + "CONSTRUCT FACT ?x «v ?y WHERE ?x f ?y CONSTRUCT FACT ?x v ?y WHERE SINCE ?x e ?y",
        MADE + VIEW + "CONSTRUCT FACT ?x g ?y WHERE REPLACE ?x «v ?y ON ?x e ?y",
    ],
)
def test_an_error_about_kinds_says_where_it_is(marked: str) -> None:
    before, _, after = marked.partition("«")
    with pytest.raises(QueryError) as raised:
        kinds(before + after)
    place = raised.value.place
    assert place is not None
    assert (place.line, place.column) == (before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1)


def test_places_are_no_part_of_what_a_file_means() -> None:
    one, other = parse(MADE + VIEW), parse("# the same\n" + (MADE + VIEW).replace(" ", "  "))
    assert one.places != other.places
    assert one == other
    assert repr(one) == repr(other)


def test_a_file_keeps_its_places_when_it_is_sent_elsewhere() -> None:
    sent = pickle.loads(pickle.dumps(parse(MADE + "SELECT ?x WHERE ?x e ?y SEQ ?x f ?z")))
    with pytest.raises(QueryError, match=r"^query:2:32: SEQ needs an event"):
        predicate_kinds(sent)


def test_tef_16_an_error_that_the_background_causes_says_where_it_is() -> None:
    """Only a static triple stands in the arm, once the background has b."""
    query = thence.parse("SELECT ?x WHERE ?x e ?y\n  SEQ ?x b ?z", language="tef-sparql")
    known = "<http://example.org/a> <http://example.org/b> <http://example.org/c> ."
    store = pyoxigraph.Store()
    store.load(known.encode(), format=pyoxigraph.RdfFormat.TURTLE)
    with pytest.raises(QueryError, match=r"^query:2:10: SEQ needs an event, and b is static") as raised:
        list(query.match([thence.Event(1, known)], background=store))
    assert raised.value.caret == "  SEQ ?x b ?z\n         ^"


def test_a_long_pattern_with_a_duration_is_compiled_in_little_time() -> None:
    """Each part is rewritten once: twice would be 2 to the 100 times here."""
    long = "SELECT ?x WHERE ?x e ?y[?s, ?t], duration(?s, ?t) > 3" + "".join(f", ?x e{n} ?z{n}" for n in range(100))
    changed = with_durations(parse(long))
    assert with_durations(changed) == changed != parse(long)
