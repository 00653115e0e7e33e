"""Common mistakes in TEF-SPARQL, in addition to those of all languages."""

from __future__ import annotations

import re
from dataclasses import replace

from thence.lang.mistakes import (
    CLOSING,
    DURATION,
    RESERVED,
    STILL_OPEN,
    UNIT,
    Diagnosis,
    Mistake,
    Mistakes,
    ParseFailure,
    glued,
    misspelt,
    similar,
)
from thence.lang.tef_sparql.expression_reader import AGGREGATES, INSTEAD_OF_AGGREGATE, NO_AGGREGATE
from thence.lang.text import COMPARISONS, END, IRIS, LITERALS, VARIABLES

KEYWORDS = ("SINCE", "UNTIL", "TILL", "REPLACE", "ONSTART", "ONEND", "WITHOUT", "BIND", "FILTER")
"""Those that begin something where a bare name could begin a triple."""

_NO_ROWS = "is not supported: rows are emitted as they are found."
_NOT_HERE = {
    "OPTIONAL": Diagnosis("OPTIONAL is not supported.", "a statement with the pattern, and one WITHOUT it"),
    "GRAPH": Diagnosis("GRAPH is not supported: triples of the background are written like others.", "?x p ?y"),
    "MINUS": Diagnosis("MINUS is not supported.", "WITHOUT"),
    "NOT": Diagnosis("NOT is not supported.", "WITHOUT"),
    "EXISTS": Diagnosis("EXISTS is not supported.", "WITHOUT ( … ), or the pattern itself"),
    "VALUES": Diagnosis("VALUES is not supported.", "FILTER (?x = … || ?x = …)"),
    "IN": Diagnosis("IN is not supported.", "?x = … || ?x = …"),
    "SERVICE": Diagnosis("SERVICE is not supported: a query reads only the data that it is given.", "the background"),
    "ASK": Diagnosis("ASK is not supported for TEF-SPARQL.", "SELECT or CONSTRUCT"),
    "DESCRIBE": Diagnosis("DESCRIBE is not supported for TEF-SPARQL.", "SELECT or CONSTRUCT"),
    "LIMIT": Diagnosis(f"LIMIT {_NO_ROWS}", "ONCE PER ?x"),
    "ORDER": Diagnosis(f"ORDER BY {_NO_ROWS}"),
    "OFFSET": Diagnosis(f"OFFSET {_NO_ROWS}"),
    "GROUP": Diagnosis("GROUP BY is not supported: facts hold aggregates.", "REPLACE … ON …, ?new = ?old + ?v"),
    "HAVING": Diagnosis("HAVING is not supported: facts hold aggregates.", "REPLACE … ON …, ?new = ?old + ?v"),
}
_OPERATORS = {
    "AND": Diagnosis('"AND" is not an operator.', '","'),
    "OR": Diagnosis('"OR" is not an operator.', "UNION"),
    "AFTER": Diagnosis('"AFTER" is not an operator.', "SEQ or BEFORE, with the earlier event first"),
    "THEN": Diagnosis('"THEN" is not an operator.', "SEQ"),
    "FOLLOWED": Diagnosis('"FOLLOWED" is not an operator.', "SEQ"),
    "EQUALS": Diagnosis('"EQUALS" is not an operator of TEF-SPARQL.', "[?s, ?e] after both sides"),
    "WHILE": Diagnosis('"WHILE" is not an operator.', "DURING"),
    "HAPPENS": Diagnosis("HAPPENSWHILE is one word.", "HAPPENSWHILE"),
    "CONTAINS": Diagnosis('"CONTAINS" is not an operator of TEF-SPARQL.', "DURING, with the sides exchanged"),
    "OVERLAPS": Diagnosis(
        '"OVERLAPS" is not an operator of TEF-SPARQL: times are compared, and "," joins facts while both hold.',
        "?x p ?y[?s, ?e], ?x q ?z[?t, ?_], ?s < ?t, ?t < ?e",
    ),
    **{
        word: Diagnosis(f'"{word}" is not an operator of TEF-SPARQL: the times of two events are compared.', hint)
        for word, hint in {
            "MEETS": "?x p ?y[?_, ?e], ?x q ?z[?e, ?_]",
            "STARTS": "?x p ?y[?s, ?e], ?x q ?z[?s, ?f], ?e < ?f",
            "FINISHES": "?x p ?y[?s, ?e], ?x q ?z[?t, ?e], ?t < ?s",
        }.items()
    },
}


_FIRST_WORD = re.compile(
    r"(?:\b(?:WHERE|UNION|ON)\b|[({;,.])\s*([^\W\d][\w-]*)(?:\s+[^\s(){};,.]+){0,2}\s*\Z", re.IGNORECASE
)


def _refused(failure: ParseFailure) -> Diagnosis | None:
    """A keyword of SPARQL, where the parser stopped at it or read it as a bare name."""
    if failure.word and not failure.kind and not _is_at_where(failure):
        if failure.word in ("AND", "OR") and "LOGICAL_AND" in failure.accepted:
            return None
        known = _NOT_HERE | (_OPERATORS if "RELATION" in failure.accepted else {})
        if failure.word in known:
            return known[failure.word]
    if first := failure.behind(_FIRST_WORD):
        if refused := _NOT_HERE.get(first[1].upper()):
            return replace(refused, at=first.start(1))
        if meant := similar(first[1], KEYWORDS):
            return Diagnosis(f'"{first[1][:40]}" is not known here.', meant, first.start(1))
    if failure.last_kind == "NAME" and failure.last.upper() in ("IN", "EXISTS"):
        return replace(_NOT_HERE[failure.last.upper()], at=failure.last_at)
    return None


_KIND = re.compile(r"\bCONSTRUCT\s+(\w+)\s*\Z", re.IGNORECASE)


def _kind(failure: ParseFailure) -> Diagnosis | None:
    """CONSTRUCT FCT { … }, which begins like a triple."""
    found = failure.behind(_KIND) if failure.found == "{" and "A" in failure.accepted else None
    meant = "" if found is None else similar(found[1], ("FACT", "EVENT"))
    return Diagnosis(f'"{found[1]}" is not known here.', meant, found.start(1)) if found and meant else None


_COLUMNS = re.compile(r"\bSELECT\s+(?:DISTINCT\s+)?(?:[?$]\w+[\s,]*)*\Z", re.IGNORECASE)
_AGGREGATE = re.compile(rf"(?:\(\s*)?({'|'.join(AGGREGATES)})\s*\(", re.IGNORECASE)


def _columns(failure: ParseFailure) -> Diagnosis | None:
    if not failure.behind(_COLUMNS):
        return None
    if aggregate := _AGGREGATE.match(failure.text.read, failure.at):
        return Diagnosis(NO_AGGREGATE.format(aggregate[1].upper()), INSTEAD_OF_AGGREGATE)
    begins = failure.found == "(" or failure.last_kind in ("_SELECT", "DISTINCT")
    if not begins or similar(failure.word, ("DISTINCT",)):
        return None
    if failure.found == "(":
        return Diagnosis("SELECT takes variables alone.", "?v = … in WHERE, and SELECT ?v")
    return Diagnosis(f"SELECT names its variables, found {failure.described}.", "SELECT ?x ?y")


_WINDOW = re.compile(r"\[?\s*(?:(?:RANGE|ROWS|TRIPLES|TUMBLING|(?:NAMED\s+)?WINDOW)\b|NOW\s*\])", re.IGNORECASE)


def _window(failure: ParseFailure) -> Diagnosis | None:
    """`[RANGE 10s]` and the like, of other languages."""
    first = failure.at - 1 if failure.text.read[failure.at - 1 : failure.at] == "[" else failure.at
    if failure.found != "[" and first == failure.at and failure.last_kind != "_FROM":
        return None
    if not _WINDOW.match(failure.text.read, first):
        return None
    reason = "Windows are not supported: WITHIN bounds how long events may take, and facts hold until they end."
    return Diagnosis(reason, "WITHIN 10 SECONDS before WHERE", first)


def _is_blank(failure: ParseFailure) -> bool:
    return failure.found == "[" or failure.text.read.startswith("_:", failure.at)


def _is_at_object(failure: ParseFailure) -> bool:
    return failure.accepted >= {"IRIREF", "INTEGER", "MINUS"} and "BANG" not in failure.accepted


def _is_at_where(failure: ParseFailure) -> bool:
    return "_WHERE" in failure.accepted and not failure.opened


def _is_reserved(failure: ParseFailure) -> bool:
    if not failure.kind or not failure.word or failure.kind in LITERALS:
        return False
    return "A" in failure.accepted or (_is_at_object(failure) and not failure.found.isupper())


def _is_unjoined(failure: ParseFailure) -> bool:
    """Whether a pattern begins directly behind another."""
    is_bare = failure.word != "" and not failure.kind
    return is_bare or failure.found in ("(", "{") or failure.kind in IRIS | VARIABLES | LITERALS


def _lacks_on(failure: ParseFailure) -> bool:
    is_replaced = failure.accepted == {"_ON"} or ("_ON" in failure.accepted and failure.word == "BY")
    return is_replaced and (not failure.opened or failure.found != "")


def _lacks_where(failure: ParseFailure) -> bool:
    is_clause = failure.kind in ("_ONCE", "_WITHIN", "_FROM")
    return not is_clause and failure.found not in (",", ".", ";", *CLOSING.values())


# fmt: off
_BEGINS = "_SELECT _CONSTRUCT _DECLARE _PREFIX _BASE"
_ARMS = "_SINCE _UNTIL _REPLACE"
_OBJECT = "IRIREF INTEGER MINUS"  # and no BANG: the parser expects the object of a triple
_ENDS = (")", "}", ".", ",", ";", "[", "")
_PREDICATE_LIST = re.compile(r"(?P<sign>;)\s*[^\s;,.(){}]+\s+[^\s;,.(){}\[\]]+\s*\Z")
_OBJECT_LIST = re.compile(r"(?P<sign>,)\s*[^\s;,.(){}]+\s*\Z")
_STATIC = re.compile(r"\bCONSTRUCT\s+(?P<kind>STATIC)\s[^{}]*\Z", re.IGNORECASE)
_NO_STREAM = "FROM STREAM needs an IRI, found {described}. Try: FROM STREAM name <http://…>"
_TURN = re.compile(r"\s+(?P<turn>START|END)\b", re.IGNORECASE)

MISTAKES: Mistakes = (
    DURATION,
    UNIT,
    _window,  # before the row of brackets
    Mistake(accepts_any=IRIS | VARIABLES, when=_is_blank,
            says="Blank nodes are not supported in TEF-SPARQL. Try: a variable, or ?_"),
    Mistake(within="[", accepts="INFINITY", when=lambda failure: failure.kind != END,
            says="A time is a variable, a number, a string or ∞, found {described}. Try: [?s, ?e]"),
    Mistake(within="[", when=lambda failure: failure.kind != END and failure.accepted <= {"COMMA", "RSQB"},
            says='Brackets hold a start and an end, with "," between, found {described}. Try: [?s, ?e]'),
    Mistake(opened=True, kind=f"{_BEGINS} _WHERE _ONCE _WITHIN _FROM", rejects="A",
            when=lambda failure: not _is_at_object(failure), says=STILL_OPEN),
    _kind,
    # before the row of the keyword after it
    Mistake(found=_ENDS, kind="_WHERE", accepts="A", behind=_OBJECT_LIST, at="sign",
            says='"," separates triples here. Try: repeat subject and predicate'),
    Mistake(accepts="NAME", when=_is_reserved, says=RESERVED),
    Mistake(kind="_UNION RELATION WITHOUT", accepts=_OBJECT, rejects="BANG",
            says="A triple needs an object before {word}. Try: ?o {word}"),
    Mistake(kind="_ON", ahead=_TURN, says="ON{TURN} is one word. Try: ON{TURN}"),
    Mistake(kind="_ON_INIT", accepts_only="_ON",
            says="REPLACE needs an event after ON, found ON INIT. Try: (REPLACE … ON … ) UNION ( … ON INIT)"),
    Mistake(kind="_ON_INIT", accepts="ONSTART", says="ON INIT follows its pattern. Try: ?x p ?y ON INIT"),
    Mistake(accepts="_WHERE", behind=_STATIC, at="kind",
            says="CONSTRUCT makes events or facts; static triples come from the background. Try: CONSTRUCT FACT"),
    Mistake(found=_ENDS, accepts=_OBJECT, rejects="BANG", behind=_PREDICATE_LIST, at="sign",
            says='";" means UNION here. Try: repeat the subject, after a comma'),
    Mistake(found=";", accepts="_WHERE",
            says='";" means UNION, which is not allowed in a head. Try: "," and the subject again'),
    _columns,
    Mistake(after="_CONSTRUCT KIND", accepts="LBRACE", opened=False,
            says="CONSTRUCT needs a triple, found {described}. Try: CONSTRUCT FACT ?x p ?y WHERE …"),
    _refused,  # before the row of the word after it
    Mistake(kind="_REPLACE", accepts="BANG", rejects="ONSTART",
            says="REPLACE is a keyword of TEF-SPARQL, and SPARQL's function of that name is not supported. "
                 "Try: CONCAT, SUBSTR, STRBEFORE or STRAFTER"),
    Mistake(kind=COMPARISONS, found="+ - * /", accepts="A", rejects="EQUAL",
            says="An expression is not allowed first in a list. Try: a pattern first, then the expression"),
    Mistake(found="/ | ^ * !", rejects="STAR", when=lambda failure: "A" in failure.accepted or _is_at_object(failure),
            says="Property paths are not supported. Try: a triple for each step, with variables between"),
    Mistake(kind=LITERALS, accepts="ONSTART", rejects="INTEGER",
            says="A subject is an IRI or a variable, found {short}. Try: ?x p …"),
    Mistake(kind="_ON", accepts="_UNION", says="ON belongs to REPLACE. Try: REPLACE … ON …, or … ON INIT"),
    Mistake(when=_lacks_on, says="REPLACE needs ON and an event, found {described}. Try: REPLACE … ON …"),
    Mistake(kind=_ARMS, accepts="ONSTART BANG",
            says="{word} begins an arm, and UNION must separate arms. Try: UNION ({word} … )"),
    # an infix operator with nothing on its left
    Mistake(kind="RELATION WITHOUT _UNION", after="RELATION WITHOUT", accepts="ONSTART",
            says="A pattern is missing before {word}. Try: … {word} …"),
    Mistake(kind="RELATION WITHOUT _UNION", accepts="ONSTART",
            says="{word} belongs between two patterns. Try: … {word} …"),
    Mistake(kind="_ONCE", accepts="RELATION", says="ONCE PER must come before WHERE. Try: ONCE PER … WHERE …"),
    Mistake(kind="_WITHIN", accepts="RELATION", says="WITHIN must come before WHERE. Try: WITHIN … WHERE …"),
    Mistake(kind="_FROM", accepts="RELATION", says="FROM STREAM must come before WHERE. Try: FROM STREAM … WHERE …"),
    Mistake(kind="_WHERE", accepts="RELATION", says='A statement has one WHERE. Try: "," between patterns'),
    glued,
    misspelt,  # before all rows that say what is missing
    Mistake(kind=_ARMS, accepts="RELATION", says="UNION is missing before {word}. Try: UNION ({word} … )"),
    Mistake(accepts="RELATION", when=_is_unjoined,
            says='"," or an operator such as DURING is missing before {shown}. Try: , {short}'),
    Mistake(kind=_BEGINS, last=";", at="last",
            says='Statements follow one another without ";". Try: no sign between them'),
    Mistake(accepts_only="_PER", says="ONCE is followed by PER, found {described}. Try: ONCE PER ?x"),
    Mistake(after="_PER", says="ONCE PER needs a variable, found {described}. Try: ONCE PER ?x"),
    Mistake(kind=IRIS, accepts_only="_STREAM", says="FROM names a stream here. Try: FROM STREAM {short}"),
    Mistake(accepts_only="_STREAM", says="FROM names a stream here. Try: FROM STREAM <http://…>"),
    Mistake(after="_STREAM", says=_NO_STREAM),
    Mistake(after="NAME", accepts_only=IRIS, says=_NO_STREAM),
    Mistake(after="_DECLARE", bare=True,
            says="DECLARE needs EVENT, FACT or STATIC, found {described}. Try: DECLARE FACT {short}"),
    Mistake(after="_DECLARE", says="DECLARE needs EVENT, FACT or STATIC, found {described}. Try: DECLARE FACT p"),
    Mistake(found=",", accepts="_DECLARE IRIREF",
            says="The predicates of DECLARE are separated by spaces, without commas. Try: DECLARE FACT p q"),
    Mistake(word="AS", accepts="LOGICAL_AND",
            says="A comparison before AS needs parentheses. Try: BIND ?v = (?x > 3)"),
    Mistake(accepts="_WHERE", opened=False, when=_lacks_where,
            says="WHERE is missing, found {described}. Try: WHERE …"),
)
# fmt: on
