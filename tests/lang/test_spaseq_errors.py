"""What is said of a SPAseQ query that can't be read: where, why, and what may cure it."""

from __future__ import annotations

import pytest

from thence.errors import QueryError
from thence.lang.spaseq.parser import parse

CLAUSES = "WITHIN 9 TICKS FROM STREAM S1 <x:s> FROM STREAM S2 <x:t>"
GPMS = "DEFINE GPM A ON S1 { ?a <x:p> ?x } DEFINE GPM B ON S2 { ?b <x:p> ?y } DEFINE GPM C ON S1 { ?c <x:q> ?z }"


def refusal(text: str) -> QueryError:
    with pytest.raises(QueryError) as refused:
        parse(text)
    return refused.value


def in_seq(sequence: str) -> str:
    """The error about a sequence, its columns counted from the SEQ's own beginning."""
    start = f"SELECT * {CLAUSES} {{\n"
    return str(refusal(f"{start}SEQ ({sequence}) {GPMS} }}"))


def after_select(clauses: str) -> str:
    """The error about clauses, on a line of their own."""
    return str(refusal(f"SELECT *\n{clauses}\n{{ SEQ (A) DEFINE GPM A ON S {{ ?a <x:p> ?x }} }}"))


@pytest.mark.parametrize(
    ("sequence", "message"),
    [
        ("A B", 'query:2:8: An operator is missing before "B". Try: "," ";" ":" "&" or "|"'),
        ("A (B & C)", 'query:2:8: An operator is missing before "(". Try: "," ";" ":" "&" or "|"'),
        ("A -> B", 'query:2:8: "-" is not an operator of SEQ. Try: "," ";" ":" "&" or "|"'),
        ("A, B,", 'query:2:11: Expected a name or "(", found ")".'),
        ("", 'query:2:6: Expected a name or "(", found ")".'),
        ("!A", "query:2:6: The operators + ? ! follow their operand. Try: A!"),
        (
            "A; (B, C)",
            'query:2:11: A sequence can\'t stand in parentheses: they hold GPMs joined by "&" and "|", found ",".'
            " Try: the sequence without parentheses",
        ),
        ("A; (B+)", 'query:2:11: "+" can\'t stand in parentheses: it is about a whole part of the sequence. Try: (…)+'),
        (
            "A; (B+)+",
            'query:2:11: "+" can\'t stand in parentheses: it is about a whole part of the sequence. Try: (…)+',
        ),
        ("A & B+", 'query:2:11: "+" can\'t stand beside "&": it is about a whole part of the sequence. Try: (A & B)+'),
        (
            "A; B! | C",
            'query:2:10: "!" can\'t stand beside "|": it is about a whole part of the sequence. Try: (A | B)!',
        ),
        ("A+?", 'query:2:8: Two operators, "+?", on one operand. Try: "+" alone'),
    ],
)
def test_operators_stand_where_they_may(sequence: str, message: str) -> None:
    assert in_seq(sequence) == message


@pytest.mark.parametrize(
    ("sequence", "message"),
    [
        ("A; D", 'query:2:9: There is no GPM "D". Try: DEFINE GPM D ON S1 { … }'),
        ("a; B", 'query:2:6: There is no GPM "a". Try: A'),
        ("C!; A", "query:2:6: A negation is not allowed first: no event begins its gap."),
        ("C!", "query:2:6: A negation is not allowed first: no event begins its gap."),
        (
            "A?; C!; B",
            'query:2:10: Without the parts that "?" makes optional, the sequence would begin with this negation.'
            " Try: a part before it that is not optional",
        ),
    ],
)
def test_a_sequence_that_means_nothing_is_told_why(sequence: str, message: str) -> None:
    assert in_seq(sequence) == message


@pytest.mark.parametrize("sequence", ["A; B!", "A; B!; C!", "A; B!; C?"])
def test_a_negation_at_the_end_needs_a_window(sequence: str) -> None:
    text = f"SELECT * FROM STREAM S1 <x:s> FROM STREAM S2 <x:t> {{\nSEQ ({sequence}) {GPMS} }}"
    message = "query:2:9: A negation at the end needs WITHIN, which says how long to wait. Try: WITHIN 10 MINUTES"
    assert str(refusal(text)) == message


@pytest.mark.parametrize(
    ("clauses", "message"),
    [
        ("WITHN 10 MINUTES FROM STREAM S <x:s>", 'query:2:1: "WITHN" is not known here. Try: WITHIN'),
        ("WITHIN 10 MINUTS FROM STREAM S <x:s>", 'query:2:11: "MINUTS" is not known here. Try: MINUTES'),
        ("WITHIN10 MINUTES", "query:2:1: A space is missing after WITHIN. Try: WITHIN 10"),
        (
            "WITHIN 2 FORTNIGHTS FROM STREAM S <x:s>",
            'query:2:10: "FORTNIGHTS" is not a unit of time. Try: SECONDS, MINUTES, HOURS, DAYS or TICKS',
        ),
        ("WITHIN ten", 'query:2:8: WITHIN needs a duration, found "ten". Try: WITHIN 10 MINUTES'),
        ("WITHIN -5 TICKS", 'query:2:8: WITHIN needs a duration, found "-5". Try: WITHIN 10 MINUTES'),
        ("WITHIN", 'query:3:1: WITHIN needs a duration, found "{". Try: WITHIN 10 MINUTES'),
        ("WITHIN FROM STREAM S <x:s>", 'query:2:8: WITHIN needs a duration, found "FROM". Try: WITHIN 10 MINUTES'),
        ("WITHIN 0 TICKS", "query:2:8: A window must be longer than 0. Try: WITHIN 10 MINUTES"),
        ("WITHIN 1.5 TICKS", 'query:2:8: "1.5 TICKS" is finer than a tick.'),
        ("WITHIN P1M", 'query:2:8: "P1M" has no fixed length: years and months differ. Try: days'),
        ('WITHIN "soon"', 'query:2:8: "soon" is not a duration. Try: 10 MINUTES, 10s, PT10M, 50 TICKS'),
        ('WITHIN "PT5M"@en', 'query:2:8: "PT5M"@en is not a duration. Try: WITHIN "PT10M"'),
        (
            'WITHIN "10s"^^<http://www.w3.org/2001/XMLSchema#duration>',
            'query:2:8: "10s"^^<http://www.w3.org/2001/XMLSchema#duration> is not a duration. Try: WITHIN "PT10M"',
        ),
        (
            "WITHIN 99999999999999999999 TICKS",
            'query:2:8: "99999999999999999999 TICKS" is not a duration. Try: 10 MINUTES, 10s, PT10M, 50 TICKS',
        ),
        ("WITHIN 5 TICKS WITHIN 6 TICKS", "query:2:16: WITHIN is given twice. Try: one WITHIN"),
        (
            "WITHIN 9 TICKS TUMBLING FROM 2024-05-06T07:00:00Z",
            "query:2:25: WITHIN counts ticks, but TUMBLING begins at a date. Try: TUMBLING FROM 0",
        ),
        (
            "WITHIN PT1H TUMBLING FROM 5",
            "query:2:22: WITHIN is a time, but TUMBLING begins at a tick. Try: TUMBLING FROM 2024-05-06T07:00:00Z",
        ),
        ('WITHIN PT1H TUMBLING FROM "noon"', 'query:2:22: "noon" is not a time. Try: "2024-05-06T07:00:00Z"'),
        ("FROM 5", "query:2:1: FROM with a time belongs to TUMBLING. Try: WITHIN 10 MINUTES TUMBLING FROM …"),
        (
            "WITHIN 9 TUMBLING FROM STREAM S <x:s> FROM 5",
            "query:2:39: FROM with a time belongs to TUMBLING. Try: TUMBLING directly before it",
        ),
        ("PARTITION BY (?a) PARTITION BY (?x)", "query:2:19: PARTITION BY is given twice. Try: one PARTITION BY"),
        ("PARTITION BY (?a ?a)", "query:2:1: PARTITION BY names ?a twice."),
        ("PARTITION (?a)", 'query:2:11: Expected BY, found "(". Try: BY'),
    ],
)
def test_a_clause_that_can_not_be_read_is_told_why(clauses: str, message: str) -> None:
    assert after_select(clauses) == message


def test_a_duration_is_asked_for_in_the_words_of_the_file() -> None:
    text = "\n\n\n\n\nSELECT *\n    WITHIN ten MINUTES\n"
    with pytest.raises(QueryError) as refused:
        parse(text, source="traffic.spaseq")
    message = 'traffic.spaseq:7:12: WITHIN needs a duration, found "ten". Try: WITHIN 10 MINUTES'
    assert str(refused.value) == message
    assert refused.value.caret == "    WITHIN ten MINUTES\n           ^"


@pytest.mark.parametrize(
    ("clauses", "message"),
    [
        ("FROM STEAM S <x:s>", 'query:2:6: "STEAM" is not known here. Try: STREAM'),
        (
            "FROM <x:s>",
            "query:2:6: FROM names a stream here; background data is read by GRAPH. Try: FROM STREAM S1 <x:s>",
        ),
        (
            "FROM NAMED <x:s>",
            "query:2:6: FROM names a stream here; background data is read by GRAPH. Try: FROM STREAM S1 <http://…>",
        ),
        ("FROM STREAM <x:s>", "query:2:13: A stream needs a name before its IRI. Try: FROM STREAM S1 <x:s>"),
        ("FROM STREAM S", 'query:3:1: Expected an IRI, found "{".'),
        (
            "FROM STREAM S <x:s> FROM STREAM S <x:t>",
            'query:2:33: The stream "S" is named twice, first at 2:13. Try: a new name',
        ),
        (
            "FROM STREAM S <x:s> FROM STREAM T <x:s>",
            "query:2:33: S and T are the same stream, <x:s>. Try: one name for it",
        ),
        ("", 'query:3:27: No FROM STREAM names the stream "S". Try: FROM STREAM S <http://…>'),
        ("FROM STREAM T <x:t>", 'query:3:27: No FROM STREAM names the stream "S". Try: T'),
        ("FROM STREAM s <x:t>", 'query:3:27: No FROM STREAM names the stream "S". Try: s'),
        (
            "FROM STREAM power <x:t> FROM STREAM storage <x:s> FROM STREAM wind <x:w>",
            'query:3:27: No FROM STREAM names the stream "S". Try: power, storage or wind',
        ),
    ],
)
def test_streams_are_named_once_and_before_they_are_used(clauses: str, message: str) -> None:
    assert after_select(clauses) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "query:1:1: Expected SELECT or CONSTRUCT, found the end of the text."),
        ("SELEC * {}", 'query:1:1: "SELEC" is not known here. Try: SELECT'),
        ("ASK {}", "query:1:1: ASK is not supported over streams. Try: SELECT or CONSTRUCT"),
        (
            "SELECT ?a, ?b {}",
            "query:1:10: The columns of SELECT are separated by spaces, without commas. Try: SELECT ?a ?b",
        ),
        (
            "SELECT FIRST(?a) {}",
            "query:1:8: An expression in SELECT needs parentheses and a name. Try: (FIRST(…) AS ?name)",
        ),
        ("SELECT (COUNT(B)) {}", "query:1:17: An expression needs a name here. Try: AS ?name)"),
        ("SELECT * { SEG (A) }", 'query:1:12: Expected SEQ, found "SEG". Try: SEQ'),
        ("SELECT * { DEFINE GPM A ON S { } }", 'query:1:12: Expected SEQ, found "DEFINE". Try: SEQ'),
        ("SELECT * { SEQ (A) DEFNE GPM A ON S { } }", 'query:1:20: "DEFNE" is not known here. Try: DEFINE'),
        ("SELECT * { SEQ (A) DEFINE GMP A ON S { } }", 'query:1:27: "GMP" is not known here. Try: GPM'),
        ("SELECT * { SEQ (A) DEFINE GPM A S { } }", 'query:1:33: Expected ON, found "S". Try: ON'),
        ("SELECT * { SEQ (A) DEFINE GPM A ON S ?a <x:p> 1 }", 'query:1:38: Expected "{", found "?a". Try: {'),
        (
            "SELECT * { SEQ (A, B) DEFINE GPM A ON S { ?a <x:p> 1 . DEFINE GPM B ON S { } }",
            'query:1:56: The "{" at 1:41 is not closed before DEFINE. Try: }',
        ),
        (
            "SELECT * { SEQ (A, B DEFINE GPM A ON S { } }",
            'query:1:22: The "(" at 1:16 is not closed before DEFINE. Try: )',
        ),
        ("SELECT * { SEQ (A) DEFINE GPM A ON S { ?a <x:p> 1 }", 'query:1:52: The "{" at 1:10 is never closed. Try: }'),
        ("SELECT * { SEQ (A) DEFINE GPM A ON S { } } }", 'query:1:44: This "}" has no opening bracket.'),
        (
            "SELECT * { SEQ (A) DEFINE GPM A ON S { OPTINAL { } } }",
            'query:1:40: "OPTINAL" is not known here. Try: OPTIONAL',
        ),
        (
            "SELECT * { SEQ (A) DEFINE GPM A ON S { } } ORDER BY ?a",
            "query:1:44: ORDER is not supported: matches are emitted as they are found.",
        ),
        (
            "SELECT * { SEQ (A) DEFINE GPM A ON S { SERVICE <x:y> { } } }",
            "query:1:40: SERVICE would ask another server; a query reads only the data it is given.",
        ),
        (
            "SELECT * FROM STREAM S <x:s> { SEQ (A)\nDEFINE GPM A ON S { }\nDEFINE GPM A ON S { } }",
            'query:3:12: The GPM "A" is defined twice, first at 2:12. Try: a new name',
        ),
        (
            "SELECT * { SEQ (A) DEFINE GPM A ON S { GRAPH <x:g> { ?s <x:p> ?o } BIND(1 AS ?o) } }",
            "query:1:68: BIND gives ?o a value, but the group has used ?o before. Try: a new name",
        ),
    ],
)
def test_a_frequent_mistake_is_told_with_its_cure(text: str, message: str) -> None:
    assert str(refusal(text)) == message
