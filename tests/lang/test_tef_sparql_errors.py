"""Mistakes in TEF-SPARQL files are reported in one sentence, with their place and a cure."""

from __future__ import annotations

import pytest

from thence.errors import QueryError
from thence.lang.tef_sparql.parser import parse

NO_WINDOW = (
    "Windows are not supported: WITHIN bounds how long events may take, and facts hold until they end."
    " Try: WITHIN 10 SECONDS before WHERE"
)


def complaint(text: str) -> str:
    with pytest.raises(QueryError) as raised:
        parse(text)
    return str(raised.value).removeprefix("query:")


COMPARED = {
    "MEETS": "?x p ?y[?_, ?e], ?x q ?z[?e, ?_]",
    "STARTS": "?x p ?y[?s, ?e], ?x q ?z[?s, ?f], ?e < ?f",
    "FINISHES": "?x p ?y[?s, ?e], ?x q ?z[?t, ?e], ?t < ?s",
}
REFUSED = {
    "SELECT ?x WHERE ?x p ?y ; q ?z": ('1:25: ";" means UNION here. Try: repeat the subject, after a comma'),
    "SELECT ?x WHERE (?x p ?y ; q ?z)": ('1:26: ";" means UNION here. Try: repeat the subject, after a comma'),
    "SELECT ?x WHERE ?x p ?y ; q ?z . ?x r ?w": ('1:25: ";" means UNION here. Try: repeat the subject, after a comma'),
    "SELECT ?x WHERE ?x p ?y, ?z": (
        '1:26: "," joins patterns and expressions, and ?z alone is neither.'
        " Try: repeat subject and predicate, or FILTER (?z)"
    ),
    "SELECT ?x WHERE ?x p ?y, a": (
        '1:26: "," joins patterns and expressions, and a alone is neither.'
        " Try: repeat subject and predicate, or FILTER (a)"
    ),
    "SELECT ?x WHERE ?x p 1, 2": (
        '1:25: "," joins patterns and expressions, and 2 alone is neither.'
        " Try: repeat subject and predicate, or FILTER (2)"
    ),
    "SELECT ?x WHERE ?x p ?y FOLLOWED BY ?x q ?y": ('1:25: "FOLLOWED" is not an operator. Try: SEQ'),
    "SELECT ?x WHERE ?x p _:b": ("1:22: Blank nodes are not supported in TEF-SPARQL. Try: a variable, or ?_"),
    "SELECT ?x WHERE _:b p ?x": ("1:17: Blank nodes are not supported in TEF-SPARQL. Try: a variable, or ?_"),
    "SELECT ?x WHERE ?x p [ q ?y ]": ("1:22: Blank nodes are not supported in TEF-SPARQL. Try: a variable, or ?_"),
    "SELECT ?x WHERE [] p ?x": ("1:17: Blank nodes are not supported in TEF-SPARQL. Try: a variable, or ?_"),
    "CONSTRUCT FCT { ?x p ?y } WHERE SINCE ?x q ?y": ('1:11: "FCT" is not known here. Try: FACT'),
    "SELECT ?x WHERE ?x p UNION ?x q ?y": ("1:22: A triple needs an object before UNION. Try: ?o UNION"),
    "SELECT ?x WHERE ?x p SEQ ?x q ?y": ("1:22: A triple needs an object before SEQ. Try: ?o SEQ"),
    "SELECT ?x (AVG(?t) AS ?a) WHERE ?x p ?t": (
        "1:11: AVG is not supported: TEF-SPARQL computes aggregates with facts."
        " Try: REPLACE ?x sum ?old ON ?x price ?p, ?new = ?old + ?p"
    ),
    "SELECT COUNT(?x) WHERE ?x p ?t": (
        "1:8: COUNT is not supported: TEF-SPARQL computes aggregates with facts."
        " Try: REPLACE ?x sum ?old ON ?x price ?p, ?new = ?old + ?p"
    ),
    "SELECT ?x COUNT(DISTINCT ?t) WHERE ?x p ?t": (
        "1:11: COUNT is not supported: TEF-SPARQL computes aggregates with facts."
        " Try: REPLACE ?x sum ?old ON ?x price ?p, ?new = ?old + ?p"
    ),
    "SELECT ?x (?t + 1 AS ?a) WHERE ?x p ?t": (
        "1:11: SELECT takes variables alone. Try: ?v = … in WHERE, and SELECT ?v"
    ),
    "SELECT ?x FROM STREAM <http://s> [RANGE 10s] WHERE ?x p ?t": f"1:34: {NO_WINDOW}",
    "SELECT ?x WHERE ?x p ?t [RANGE 10s]": f"1:25: {NO_WINDOW}",
    "SELECT ?x WHERE [NOW] ?x p ?t": f"1:17: {NO_WINDOW}",
    "SELECT ?x FROM NAMED WINDOW <w> ON <s> [RANGE 10s] WHERE ?x p ?t": f"1:16: {NO_WINDOW}",
    "SELECT ?x WHERE ?x p ?t OVERLAPS ?x q ?u": (
        '1:25: "OVERLAPS" is not an operator of TEF-SPARQL: times are compared, and "," joins facts while both hold.'
        " Try: ?x p ?y[?s, ?e], ?x q ?z[?t, ?_], ?s < ?t, ?t < ?e"
    ),
    **{
        f"SELECT ?x WHERE ?x p ?t {word} ?x q ?u": (
            f'1:25: "{word}" is not an operator of TEF-SPARQL: the times of two events are compared. Try: {cure}'
        )
        for word, cure in COMPARED.items()
    },
    "SELECT ?x WHERE ?x p ?t CONTAINS ?x q ?u": (
        '1:25: "CONTAINS" is not an operator of TEF-SPARQL. Try: DURING, with the sides exchanged'
    ),
    "CONSTRUCT FACT ?x f ?n WHERE SINCE ?x s ?n [RANGE 10s]": f"1:44: {NO_WINDOW}",
    "SELECT * WHERE ?x p ?y": ('1:8: SELECT names its variables, found "*". Try: SELECT ?x ?y'),
    "SELECT WHERE ?x p ?y": ('1:8: SELECT names its variables, found "WHERE". Try: SELECT ?x ?y'),
    "SELECT ?x ?x p ?y": ('1:14: WHERE is missing, found "p". Try: WHERE …'),
    "SELECT ?x { ?x p ?y }": ('1:11: WHERE is missing, found "{". Try: WHERE …'),
    "SELECT ?x": ("1:10: WHERE is missing, found the end of the text. Try: WHERE …"),
    "SELECT ?x WHERE": ("1:16: Expected a pattern, found the end of the text."),
    "SELECT ?x WHERE { }": ('1:19: Expected a pattern, found "}".'),
    "CONSTRUCT ?x p ?y": ("1:18: WHERE is missing, found the end of the text. Try: WHERE …"),
    "CONSTRUCT WHERE ?x p ?y": ('1:11: CONSTRUCT needs a triple, found "WHERE". Try: CONSTRUCT FACT ?x p ?y WHERE …'),
    "CONSTRUCT STATIC ?x p ?y WHERE ?x q ?y": (
        "1:11: CONSTRUCT makes events or facts; static triples come from the background. Try: CONSTRUCT FACT"
    ),
    "CONSTRUCT FACT ?x p ?y SINCE ?x q ?y": ('1:24: WHERE is missing, found "SINCE". Try: WHERE …'),
    "CONSTRUCT FACT ?x p ?y WHERE SINSE ?x q ?y": ('1:30: "SINSE" is not known here. Try: SINCE'),
    "CONSTRUCT FACT ?x p ?y WHERE (SINSE ?x q ?y)": ('1:31: "SINSE" is not known here. Try: SINCE'),
    "CONSTRUCT FACT ?x p ?y WHERE UNTILL ?x q ?y": ('1:30: "UNTILL" is not known here. Try: UNTIL'),
    "CONSTRUCT FACT ?x p ?y WHERE REPLACE ?x p ?z": (
        "1:45: REPLACE needs ON and an event, found the end of the text. Try: REPLACE … ON …"
    ),
    "CONSTRUCT FACT ?x p ?y WHERE REPLACE ?x p ?z BY ?x q ?y": (
        '1:46: REPLACE needs ON and an event, found "BY". Try: REPLACE … ON …'
    ),
    "CONSTRUCT FACT ?x p ?y WHERE REPLACE ?x p ?z ON INIT ?x q ?y": (
        "1:46: REPLACE needs an event after ON, found ON INIT. Try: (REPLACE … ON … ) UNION ( … ON INIT)"
    ),
    "CONSTRUCT FACT ?x p ?y WHERE ON INIT ?x q ?y": ("1:30: ON INIT follows its pattern. Try: ?x p ?y ON INIT"),
    "CONSTRUCT FACT ?x p ?y WHERE ?x q ?y ONINIT": ('1:38: "ONINIT" is not known here. Try: ON INIT'),
    "CONSTRUCT FACT ?x p ?y WHERE ?x q ?y ON": ("1:38: ON belongs to REPLACE. Try: REPLACE … ON …, or … ON INIT"),
    "CONSTRUCT FACT ?x p ?y WHERE ON START ?x q ?y": ("1:30: ONSTART is one word. Try: ONSTART"),
    "SELECT ?x WHERE ?x q ?y HAPPENS WHILE ?x r ?z": ("1:25: HAPPENSWHILE is one word. Try: HAPPENSWHILE"),
    "SELECT ?x WHERE ?x q ?y WHILE ?x r ?z": ('1:25: "WHILE" is not an operator. Try: DURING'),
    "SELECT ?x WHERE ?x q ?y DURNG ?x r ?z": ('1:25: "DURNG" is not known here. Try: DURING'),
    "SELECT ?x WHERE (?x q ?y) DURNG (?x r ?z)": ('1:27: "DURNG" is not known here. Try: DURING'),
    "SELECT ?x WHERE ?x q ?y AFTER ?x r ?z": (
        '1:25: "AFTER" is not an operator. Try: SEQ or BEFORE, with the earlier event first'
    ),
    "SELECT ?x WHERE ?x q ?y AND ?x r ?z": ('1:25: "AND" is not an operator. Try: ","'),
    "SELECT ?x WHERE ?x q ?y NOT ?x r ?z": ("1:25: NOT is not supported. Try: WITHOUT"),
    "SELECT ?x WHERE NOT ?x r ?z": ("1:17: NOT is not supported. Try: WITHOUT"),
    "SELECT ?x WHERE { ?x q ?y OPTIONAL { ?x r ?z } }": (
        "1:27: OPTIONAL is not supported. Try: a statement with the pattern, and one WITHOUT it"
    ),
    "SELECT ?x WHERE { ?x q ?y . OPTIONAL { ?x r ?z } }": (
        "1:29: OPTIONAL is not supported. Try: a statement with the pattern, and one WITHOUT it"
    ),
    "SELECT ?x WHERE { GRAPH <g:g> { ?x r ?z } }": (
        "1:19: GRAPH is not supported: triples of the background are written like others. Try: ?x p ?y"
    ),
    "SELECT ?x WHERE { ?x q ?y MINUS { ?x r ?z } }": ("1:27: MINUS is not supported. Try: WITHOUT"),
    "SELECT ?x WHERE { ?x q ?y } LIMIT 3": (
        "1:29: LIMIT is not supported: rows are emitted as they are found. Try: ONCE PER ?x"
    ),
    "SELECT ?x WHERE { ?x q ?y } ORDER BY ?x": ("1:29: ORDER BY is not supported: rows are emitted as they are found."),
    "SELECT ?x WHERE ?x q ?y FILTER ?y > 3": (
        '1:32: FILTER needs parentheses around its condition, found "?y". Try: FILTER(?y …)'
    ),
    "SELECT ?x WHERE ?x q ?y, ?y == 3": ('1:30: Equality is written with one "=". Try: ='),
    "SELECT ?x WHERE ?x q ?y, ?y <> 3": ('1:29: "<>" is not an operator. Try: !='),
    "SELECT ?x WHERE ?x q ?y, ?y > 3 AND ?y < 4": ('1:33: "AND" is not an operator. Try: &&'),
    "SELECT ?x WHERE ?x q ?y ?x r ?z": ('1:25: "," or an operator such as DURING is missing before "?x". Try: , ?x'),
    "SELECT ?x WHERE ?x q ?y (?x r ?z)": ('1:25: "," or an operator such as DURING is missing before "(". Try: , ('),
    "SELECT ?x WHERE ?y > 3, ?x q ?y": (
        "1:20: An expression is not allowed first in a list. Try: a pattern first, then the expression"
    ),
    "SELECT ?x WHERE (?y > 3), ?x q ?y": (
        "1:21: An expression is not allowed first in a list. Try: a pattern first, then the expression"
    ),
    "SELECT ?x WHERE ?x q ?y[?s]": (
        '1:27: Brackets hold a start and an end, with "," between, found "]". Try: [?s, ?e]'
    ),
    "SELECT ?x WHERE ?x q ?y[?s ?e]": (
        '1:28: Brackets hold a start and an end, with "," between, found "?e". Try: [?s, ?e]'
    ),
    "SELECT ?x WHERE ?x q ?y[?s, a]": ('1:29: A time is a variable, a number, a string or ∞, found "a". Try: [?s, ?e]'),
    "SELECT ?x WHERE ?x q ?y[?s, ?e": ('1:31: The "[" at 1:24 is never closed. Try: ]'),
    "SELECT ?x WHERE ?x before ?y": ('1:20: "before" is a keyword, not a bare name. Try: :before'),
    "SELECT ?x WHERE ?x q with": ('1:22: "with" is a keyword, not a bare name. Try: :with'),
    "SELECT ?x WHERE (?x q ?y": ('1:25: The "(" at 1:17 is never closed. Try: )'),
    "SELECT ?x WHERE ?x q ?y)": ('1:24: This ")" has no opening bracket.'),
    "SELECT ?x WHERE {?x q ?y)": ('1:25: This ")" has no opening bracket.'),
    "SELECT ?x WITHIN WHERE ?x q ?y": ('1:18: WITHIN needs a duration, found "WHERE". Try: WITHIN 10 MINUTES'),
    "SELECT ?x WITHIN ten MINUTES WHERE ?x q ?y": (
        '1:18: WITHIN needs a duration, found "ten". Try: WITHIN 10 MINUTES'
    ),
    "SELECT ?x WITHIN 10 MINUTS WHERE ?x q ?y": ('1:21: "MINUTS" is not known here. Try: MINUTES'),
    "SELECT ?x ONCE ?x WHERE ?x q ?y": ('1:16: ONCE is followed by PER, found "?x". Try: ONCE PER ?x'),
    "SELECT ?x ONCE PER WHERE ?x q ?y": ('1:20: ONCE PER needs a variable, found "WHERE". Try: ONCE PER ?x'),
    "SELECT ?x FROM <x:s> WHERE ?x q ?y": ("1:16: FROM names a stream here. Try: FROM STREAM <x:s>"),
    "SELECT ?x FROM STREAM s WHERE ?x q ?y": (
        '1:25: FROM STREAM needs an IRI, found "WHERE". Try: FROM STREAM name <http://…>'
    ),
    "SELECT ?x FROM NAMED <x:s> WHERE ?x q ?y": ("1:16: FROM names a stream here. Try: FROM STREAM <http://…>"),
    "DECLARE a b SELECT ?x WHERE ?x q ?y": ('1:9: DECLARE needs EVENT, FACT or STATIC, found "a". Try: DECLARE FACT p'),
    "DECLARE FACT a, b SELECT ?x WHERE ?x q ?y": (
        "1:15: The predicates of DECLARE are separated by spaces, without commas. Try: DECLARE FACT p q"
    ),
    "DECLARE FACT SELECT ?x WHERE ?x q ?y": ('1:14: "SELECT" is a keyword, not a bare name. Try: :SELECT'),
    "DECLARE FACT a DECLARE EVENT a SELECT ?x WHERE ?x q ?y": (
        "1:16: rdf:type is DECLAREd EVENT here and FACT at 1:1. Try: one of them"
    ),
    "DECLARE FACT a": ("1:1: A statement is required. Try: SELECT ?x WHERE …"),
    "SELECT ?x WHERE ?x q ?y; SELECT ?x WHERE ?x q ?y": (
        '1:24: Statements follow one another without ";". Try: no sign between them'
    ),
    'SELECT ?x WHERE ?x q ?y, ?n = REPLACE(?y, "a", "b")': (
        "1:31: REPLACE is a keyword of TEF-SPARQL, and SPARQL's function of that name is not supported."
        " Try: CONCAT, SUBSTR, STRBEFORE or STRAFTER"
    ),
    "SELECT ?x WHERE ?x q ?y, ?n = getDURATION()": (
        "1:31: getDURATION is EP-SPARQL's; here brackets bind the times of the triple or parenthesis before them."
        " Try: ( … )[?s, ?e], duration(?s, ?e) < 10d"
    ),
    "SELECT ?x WHERE ?x q ?y, ?n = sum(?y)": (
        "1:31: SUM is not supported: TEF-SPARQL computes aggregates with facts."
        " Try: REPLACE ?x sum ?old ON ?x price ?p, ?new = ?old + ?p"
    ),
    "SELECT ?x WHERE ?x q ?y, ?n = rand()": (
        "1:31: RAND is not supported: the same events must give the same rows. Try: a value of an event"
    ),
    "SELECT ?x WHERE ?x q ?y, ?n = abs(?y, 3)": ("1:31: abs takes 1 argument, found 2. Try: abs(?a)"),
    "SELECT ?x WHERE ?x q ?y, ?n = fn:day(?y)": (
        "1:31: fn:day is not supported. Try: a function of SPARQL, by its name"
    ),
    "SELECT ?x WHERE ?x q ?y, ?n = day-from-dateTime(?y)": (
        '1:31: "day-from-dateTime" is not a known function. Try: fn:day-from-dateTime'
    ),
    "SELECT ?x WHERE ?x q ?y, ?n = foo(?y)": ('1:31: "foo" is not a known function. Try: FLOOR'),
    "SELECT ?x WHERE ?x q ?y, ?n = now(1)": ("1:31: now takes no arguments, found 1. Try: now()"),
    "SELECT ?x WHERE ?x q ?y, ?_ > 3": ("1:26: ?_ is a new variable each time, so it has no value here. Try: a name"),
    "SELECT ?_ WHERE ?x q ?_": ("1:8: ?_ is a new variable each time, so it has no value here. Try: a name"),
    "CONSTRUCT ?x p ?_ WHERE ?x q ?y": ("1:16: ?_ is a new variable each time, so it has no value here. Try: a name"),
    "SELECT ?x WHERE ?x q ?y BIND (?y + 1)": ("1:25: BIND gives a variable a value. Try: BIND ?v = …"),
    "SELECT ?x WHERE ?x q ?y BIND ?y > 1": ("1:25: BIND gives a variable a value. Try: BIND ?v = …"),
    "SELECT ?x WHERE ?x q ?y BIND (?y > 1 AS ?z)": (
        "1:38: A comparison before AS needs parentheses. Try: BIND ?v = (?x > 3)"
    ),
    "SELECT ?x WHERE 5 q ?y": ("1:17: A subject is an IRI or a variable, found 5. Try: ?x p …"),
    'SELECT ?x WHERE "a" q ?y': ('1:17: A subject is an IRI or a variable, found "a". Try: ?x p …'),
    "SELECT ?x WHERE ?x q": ("1:21: Expected a value or a variable, found the end of the text."),
    "SELECT ?x WHERE ?x ex:q ?y": ('1:20: The prefix "ex:" is not defined. Try: PREFIX ex: <http://example.org/>'),
    'SELECT ?x WHERE ?x q "abc': (
        '1:22: The string that begins here is not closed on its line. Try: """ around several lines'
    ),
    "SELECT ?x WHERE ?x q <a b>": ("1:22: An IRI can't have a space in it."),
    "SELECT ?x WHERE ?x q <b>": (
        "1:22: The IRI <b> is relative, and there is no base to resolve it against. Try: BASE <http://example.org/>"
    ),
    "CONSTRUCT ?x p [] WHERE ?x q ?y": ("1:16: Blank nodes are not supported in TEF-SPARQL. Try: a variable, or ?_"),
    "CONSTRUCT ?x p ?y ; r ?z WHERE ?x q ?y": (
        '1:19: ";" means UNION, which is not allowed in a head. Try: "," and the subject again'
    ),
    "CONSTRUCT ?x p ?y, ?z WHERE ?x q ?y": ('1:18: "," separates triples here. Try: repeat subject and predicate'),
    "CONSTRUCT { } WHERE ?x q ?y": ('1:13: Expected an IRI or a variable, found "}".'),
    "ASK WHERE ?x q ?y": ("1:1: ASK is not supported for TEF-SPARQL. Try: SELECT or CONSTRUCT"),
    "SELCT ?x WHERE ?x q ?y": ('1:1: "SELCT" is not known here. Try: SELECT'),
    "CONSTRUCT EVENT ?x p ?y WHERE SINCE ?x q ?y": (
        "1:31: CONSTRUCT EVENT can't have SINCE, which makes facts. Try: CONSTRUCT FACT"
    ),
    "CONSTRUCT FACT ?x p ?y WHERE (SINCE ?x q ?y) DURING ?x r ?z": (
        "1:31: SINCE is not allowed beside DURING: it is an arm of CONSTRUCT FACT. Try: SINCE ( … DURING … )"
    ),
    "CONSTRUCT FACT ?x p ?y WHERE (SINCE ?x q ?y), ?x r ?z": (
        "1:31: SINCE is not allowed beside a pattern: it is an arm of CONSTRUCT FACT. Try: SINCE ( …, … )"
    ),
    "CONSTRUCT FACT ?x p ?y WHERE SINCE (SINCE ?x q ?y)": (
        "1:37: SINCE is not allowed after SINCE: it is an arm of CONSTRUCT FACT."
        " Try: a statement of its own, or UNION between arms"
    ),
    "CONSTRUCT FACT ?x p ?y WHERE SINCE (UNTIL ?x q ?y UNION ?x r ?y)": (
        "1:37: UNTIL is not allowed after SINCE: it is an arm of CONSTRUCT FACT."
        " Try: a statement of its own, or UNION between arms"
    ),
    "CONSTRUCT FACT ?x p ?y WHERE ONSTART (SINCE ?x q ?y)": (
        "1:39: SINCE is not allowed after ONSTART: it is an arm of CONSTRUCT FACT."
        " Try: a statement of its own, or UNION between arms"
    ),
    "CONSTRUCT FACT ?x p ?y WHERE (?x q ?y ON INIT) SEQ ?x r ?z": (
        "1:31: ON INIT is not allowed beside SEQ: it is an arm of CONSTRUCT FACT. Try: ON INIT after the whole arm"
    ),
    "CONSTRUCT FACT ?x p ?y WHERE (SINCE ?x q ?y)[?s, ?e]": (
        "1:31: SINCE is not allowed before brackets: it is an arm of CONSTRUCT FACT."
        " Try: a statement of its own, or UNION between arms"
    ),
    "CONSTRUCT FACT ?x p ?y WHERE SINCE ?x q ?y UNTIL ?x r ?y": (
        "1:44: UNION is missing before UNTIL. Try: UNION (UNTIL … )"
    ),
    "CONSTRUCT FACT ?x p ?y WHERE SINCE ?x q ?y, UNTIL ?x r ?y": (
        "1:45: UNTIL begins an arm, and UNION must separate arms. Try: UNION (UNTIL … )"
    ),
    "SELECT ?x WHERE SEQ(?x q ?y, ?x r ?z)": ("1:17: SEQ belongs between two patterns. Try: … SEQ …"),
    "SELECT ?x WHERE WITHOUT ?x q ?y": ("1:17: WITHOUT belongs between two patterns. Try: … WITHOUT …"),
    "SELECT ?x WHERE ?x q ?y DURING": ("1:31: Expected a pattern, found the end of the text."),
    "SELECT ?x WHERE ?x q ?y, ": ("1:25: Expected a pattern or an expression, found the end of the text."),
    "SELECT ?x WHERE ?x q ?y UNION": ("1:30: Expected a pattern, found the end of the text."),
    "SELECT ?x WHERE UNION ?x q ?y": ("1:17: UNION belongs between two patterns. Try: … UNION …"),
    "SELECT ?x WHERE ?x q/r ?y": (
        "1:21: Property paths are not supported. Try: a triple for each step, with variables between"
    ),
    "SELECT ?x WHERE ?x q ?y OR ?x r ?z": ('1:25: "OR" is not an operator. Try: UNION'),
    "SELECT (?x AS ?y) WHERE ?x q ?y": ("1:8: SELECT takes variables alone. Try: ?v = … in WHERE, and SELECT ?v"),
    "SELECT ?x WHERE ?x q ?y WHERE ?x r ?z": ('1:25: A statement has one WHERE. Try: "," between patterns'),
    "SELECT ?x WHERE ?x q ?y . . ?x r ?y": (
        '1:27: Expected SELECT, CONSTRUCT or DECLARE, a pattern or an expression, the end, ";" or ON INIT, found ".".'
    ),
    "SELECT ?x WHERE ?x q 10d, ?x r 99999999999999999999d": (
        '1:32: "99999999999999999999d" is not a duration. Try: 10 MINUTES, 10s, PT10M, 50 TICKS'
    ),
    "SELECT ?x FROM STREAM a <x:s> FROM STREAM a <x:t> WHERE ?x q ?y": (
        '1:31: Two streams have the name "a". Try: FROM STREAM another <x:t>'
    ),
    "SELECT ?x FROM STREAM a <x:s> FROM STREAM b <x:s> WHERE ?x q ?y": (
        '1:31: The stream <x:s> has two names, "a" and "b". Try: one of them'
    ),
    "SELECT ?x WITHIN 5 WITHIN 6 WHERE ?x q ?y": ("1:20: WITHIN is given twice. Try: one WITHIN"),
    'SELECT ?x WITHIN 5 WHERE ?x q ?y[3, "2024-05-06T07:00:00Z"]': (
        "1:37: [2024-05-06T07:00:00Z, …] needs times that are dates, and WITHIN 5 TICKS at 1:11 needs ticks."
        " Try: numbers in both"
    ),
    'SELECT ?x WHERE ?x q ?y[3, "abc"]': ('1:28: "abc" is not a time. Try: "2024-05-06T07:00:00Z"'),
    "SELECT ?x WHERE ?x q ?y, (?x > 3": ('1:33: The "(" at 1:26 is never closed. Try: )'),
    "SELECT ?x WHERE ?x q ?y, EXISTS { ?x r ?z }": (
        "1:26: EXISTS is not supported. Try: WITHOUT ( … ), or the pattern itself"
    ),
    "SELECT ?x WHERE ?x q ?y, ?y IN (1, 2)": ("1:29: IN is not supported. Try: ?x = … || ?x = …"),
    "SELECT ?x WHERE ?x q ?y ONCE PER ?x": ("1:25: ONCE PER must come before WHERE. Try: ONCE PER … WHERE …"),
    "SELECT ?x WHERE ?x q ?y WITHIN 10": ("1:25: WITHIN must come before WHERE. Try: WITHIN … WHERE …"),
    "PREFIX ex: SELECT ?x WHERE ?x q ?y": ('1:12: Expected an IRI, found "SELECT".'),
    "SELECT ?x WHERE ?x ?_ ?y, ?x q ?y FILTER()": ('1:42: Expected an expression, found ")".'),
}


@pytest.mark.parametrize("text", REFUSED)
def test_a_mistake_is_told_with_its_place_and_a_cure(text: str) -> None:
    assert complaint(text) == REFUSED[text]


@pytest.mark.parametrize("cure", COMPARED.values())
def test_what_compares_the_times_of_two_events_can_be_read(cure: str) -> None:
    parse(f"DECLARE EVENT p q SELECT ?x WHERE {cure}")


def test_the_source_stands_before_the_place() -> None:
    with pytest.raises(QueryError, match=r"^rules\.tefsparql:2:10: \"before\" is a keyword"):
        parse("SELECT ?x\nWHERE ?x before ?y", source="rules.tefsparql")


def test_long_words_are_cut_in_messages() -> None:
    for text in (
        "SELECT ?x WHERE ?x p ?y, ?n = {}(?y)",
        "SELECT ?x WHERE ?x p ?y, ?n = fn:{}(?y)",
        "SELECT ?x WHERE ?x p ?y {}",
        "SELECT ?x WHERE ?x p ?y, {}",
        "SELECT ?x FROM STREAM {0} <x:s> FROM STREAM {0} <x:t> WHERE ?x p ?y",
        "SELECT ?x FROM STREAM {0}a <x:s> FROM STREAM {0}b <x:s> WHERE ?x p ?y",
        "DECLARE FACT {0} DECLARE EVENT {0} SELECT ?x WHERE ?x p ?y",
        "SELECT ?x WHERE ?x p ?y[{}, ?e]",
    ):
        assert len(complaint(text.format("b" * 10_000))) < 300
