"""`explain` of TEF-SPARQL draws the statements, the facts, and what starts and ends them."""

from __future__ import annotations

import thence


def arrows(text: str) -> list[str]:
    drawn = thence.parse(text, language="tef-sparql").explain("mermaid")
    return [line.strip().replace("#58;", ":") for line in drawn.splitlines() if "-->" in line]


def test_facts_are_drawn_with_what_starts_replaces_and_ends_them() -> None:
    found = arrows("""
        CONSTRUCT FACT ?p liveIn ?x WHERE
          (SINCE ?p bornIn ?x) UNION (REPLACE ?p liveIn ?y ON ?p movesTo ?x) UNION (UNTIL ?p diedIn ?x)
    """)
    assert found == [
        "[*] --> s1: :bornIn, :movesTo, :diedIn",
        "s2 --> s1: read",
        "s1 --> s2: starts, replaces, ends",
        "s2 --> [*]: when it ends",
    ]


def test_starts_ends_and_constructed_events_lead_from_one_statement_to_another() -> None:
    found = arrows("""
        CONSTRUCT FACT ?p isIn ?x WHERE (SINCE ?p enters ?x) UNION (UNTIL ?p leaves ?x)
        CONSTRUCT EVENT ?p goesHome ?x WHERE ONEND ?p isIn ?x
        SELECT ?p WHERE ?p goesHome ?x DURING ?p isIn ?z
    """)
    assert found == [
        "[*] --> s1: :enters, :leaves",
        "s1 --> s4: starts, ends",
        "s4 --> s2: its end",
        "s2 --> s3: event :goesHome",
        "s4 --> s3: read",
        "s3 --> [*]: rows",
    ]


def test_what_only_a_without_reads_is_listed_among_the_events() -> None:
    """TEF-3, TEF-7: no operator says what stands right of WITHOUT, so the stream does."""
    text = "CONSTRUCT FACT ?p isIn ?x WHERE SINCE ?p enters ?x SELECT ?p WHERE ?p isIn ?x WITHOUT ?p rings ?_"
    lines = thence.parse(f"PREFIX : <x:> {text}").explain().splitlines()
    assert "  event predicates: <x:enters>, <x:rings>" in lines
