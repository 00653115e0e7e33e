"""The shard key of a file of TEF-SPARQL: where it is in the triples of each predicate; or one shard, and why."""

from __future__ import annotations

import pytest

import thence
from thence.engines.facts.program import FactsProgram

EX = "http://example.org/"
LIVES = "CONSTRUCT ?p livesIn ?x WHERE (SINCE ?p bornIn ?x) UNION (UNTIL (?p leaves ?x)) "


def program(text: str) -> FactsProgram:
    (stage,) = thence.parse(text, language="tef-sparql").dataflow().stages
    assert isinstance(stage.program, FactsProgram)
    return stage.program


def keys(text: str) -> dict[str, str]:
    return {name.value.removeprefix(EX): position.name for name, position in program(text).key_positions}


@pytest.mark.parametrize(
    ("text", "subjects", "objects"),
    [
        (LIVES, "bornIn leaves livesIn", ""),
        ("CONSTRUCT ?room has ?p WHERE (SINCE ?p enters ?room) UNION (UNTIL ?p exits ?room)", "has", "enters exits"),
        (
            "CONSTRUCT ?room is warm WHERE (SINCE (?p enters ?room DURING ?room temperature ?t)) "
            "CONSTRUCT ?room temperature ?t WHERE REPLACE ?room temperature ?old ON ?room measures ?t",
            "is measures temperature",
            "enters",
        ),
        (LIVES + "SELECT ?n WHERE ?a rings ?n SEQ ?b rings ?n", "bornIn leaves livesIn", "rings"),
        ("SELECT ?x WHERE ?x likes ?x SEQ ?y likes ?x", "", "likes"),
        ("SELECT ?x WHERE ?x likes ?x", "likes", ""),
        ("SELECT ?x WHERE :a likes ?x SEQ :a sees ?x", "likes sees", ""),
        ("DECLARE STATIC :near SELECT ?x WHERE (?x sees ?y SEQ ?x hears ?z), ?y near ?z", "hears sees", ""),
        (LIVES + "SELECT ?p ?x ONCE PER ?p WHERE ?p livesIn ?x", "bornIn leaves livesIn", ""),
        ("SELECT DISTINCT ?p WHERE ?p bornIn ?x", "bornIn", ""),
        ("SELECT ?p WHERE ?p bornIn ?x WITHOUT ?p bornIn ?y", "bornIn", ""),
        ("CONSTRUCT FACT ?c sells 0 WHERE ?c stocks ?_ ON INIT SELECT ?x WHERE ?x sees ?y", "sees sells", ""),
    ],
)  # fmt: skip
def test_one_position_settles_those_of_all_predicates_that_share_an_arm_with_it(
    text: str, subjects: str, objects: str
) -> None:
    found = keys(text)
    assert " ".join(name for name, position in found.items() if position == "subject") == subjects
    assert " ".join(name for name, position in found.items() if position == "object") == objects


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT ?x WHERE ?x likes ?y SEQ ?y likes ?z", "no variable is in all triples of statement 1"),
        (
            "SELECT ?x WHERE ?x likes ?y SEQ ?x sees ?z SELECT ?x WHERE ?x likes ?y SEQ ?z sees ?y",
            "no variable is in all triples of statement",
        ),
        ("SELECT ?x WHERE :a likes ?x SEQ :b likes ?x SEQ ?x likes :c", "no variable is in all triples of statement 1"),
        ("CONSTRUCT FACT :all has 1 WHERE SINCE ?x counts ?n", "no variable is in all triples of statement 1"),
        ("SELECT ?x WHERE ?x sees ?y WITHOUT ?z sees ?w", "no variable is in all triples of statement 1"),
        ("SELECT ?x WHERE ?x ?p ?y", "statement 1 has a variable predicate"),
        ("SELECT ?y ONCE PER ?y WHERE ?x sees ?y SEQ ?x hears ?z", "ONCE PER of statement 1 compares rows"),
        ("SELECT DISTINCT ?y WHERE ?x sees ?y SEQ ?x hears ?z", "DISTINCT of statement 1 compares rows"),
        (
            "SELECT ?x ?y ONCE PER ?x ?y WHERE (?x sees ?y SEQ ?x hears ?z) UNION (?x calls ?y SEQ ?z meets ?y)",
            "ONCE PER of statement 1 compares rows",
        ),
        ("DECLARE STATIC :near SELECT ?x WHERE ?x near ?y", "statement 1 reads the background alone"),
        (
            LIVES + "CONSTRUCT FACT ?p stays ?x WHERE ?p livesIn ?x[?s, ?_], now() > ?s + 5",
            "now() may end facts after the last event",
        ),
        (
            LIVES + "SELECT ?x WHERE (?p livesIn ?x, ?p livesIn ?y) UNION (?q livesIn ?x, ?q livesIn ?z)",
            "a UNION drops the key of statement 2",
        ),
    ],
)  # fmt: skip
def test_otherwise_there_is_one_shard_and_explain_says_why(text: str, reason: str) -> None:
    assert not program(text).shard_key.names
    line = next(line for line in thence.parse(text, language="tef-sparql").explain().splitlines() if "ey: " in line)
    assert reason in line and line.endswith("so all events meet in one shard")


def test_explain_shows_the_key() -> None:
    text = "CONSTRUCT ?room has ?p WHERE SINCE ?p enters ?room SELECT ?room WHERE ?room opens ?d SEQ ?p enters ?room"
    explained = thence.parse(text, language="tef-sparql").explain()
    assert f"the subject of <{EX}has>, <{EX}opens>; the object of <{EX}enters>" in explained
    assert f"(one shard if the background has one of <{EX}enters>, <{EX}opens>)" in explained
    assert "one shard if" not in thence.parse("DECLARE EVENT :p SELECT ?x WHERE ?x p ?y").explain()
