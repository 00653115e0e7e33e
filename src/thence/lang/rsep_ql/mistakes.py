"""Common mistakes in RSEP-QL, in addition to those of all languages."""

from __future__ import annotations

import re

from thence.errors import InputError
from thence.lang.mistakes import (
    CLOSING,
    NO_COLUMNS,
    STILL_OPEN,
    UNIT,
    Diagnosis,
    Mistake,
    Mistakes,
    ParseFailure,
    misspelt,
    recognised,
    similar,
)
from thence.lang.rsep_ql.reader import TIMESTAMP
from thence.lang.text import END, IRIS, MODIFIERS, VARIABLES
from thence.rdf.times import Domain, parse_duration

_UNITS = re.compile(r"(?:TICK|MILLISECOND|SECOND|MINUTE|HOUR|DAY|WEEK)S?|MS|SEC|MIN|[SMHDW]")


def _follows_number(failure: ParseFailure) -> bool:
    return failure.last_kind == "INTEGER" and _UNITS.fullmatch(failure.word) is not None


def _brackets(failure: ParseFailure) -> Diagnosis | None:
    """Something in a window's brackets that is not part of a window."""
    is_within = failure.opened[-1:] == ["["] and "TUMBLING" in failure.accepted
    if not is_within or failure.found in (*CLOSING.values(), ""):
        return None
    return recognised(failure, IN_BRACKETS)


def _window_name(failure: ParseFailure) -> Diagnosis | None:
    """A name of a window or stream that is not an IRI."""
    if failure.last_kind not in ("_WINDOW", "_AS", "_ON", "_NAMED", "_STREAM") or not failure.accepted & IRIS:
        return None
    is_stream = failure.last_kind in ("_NAMED", "_STREAM")
    what = "stream" if is_stream or (failure.last_kind == "_ON" and "VAR1" not in failure.accepted) else "window"
    if failure.kind in VARIABLES:
        return Diagnosis(f"A {what}'s name is an IRI, found {failure.shown}.", f":{failure.short[1:]}")
    if failure.word and (not failure.kind or len(failure.word) == 1):
        return Diagnosis(f"A {what}'s name is an IRI, found {failure.shown}.", f":{failure.short}")
    keyword = failure.last.upper()
    return Diagnosis(f"{keyword} needs a {what}'s name, found {failure.described}.", f"{keyword} :w")


_PLAIN_NAME = re.compile(r"\W+")


def _event_name(failure: ParseFailure) -> Diagnosis | None:
    if "NAME" not in failure.accepted or failure.accepted & IRIS or failure.kind not in IRIS | VARIABLES:
        return None
    plain = _PLAIN_NAME.sub("", failure.short.rpartition(":")[2]) or "E1"
    return Diagnosis(f"An EVENT's name is a plain word, found {failure.shown}.", plain)


def _operator(failure: ParseFailure) -> Diagnosis | None:
    """Something else where MATCH expects SEQ; or a word before it that was read as an EVENT's name."""
    if "SEQ" not in failure.accepted or failure.found in (*CLOSING.values(), ""):
        return None
    return recognised(failure, BETWEEN_EVENTS)


def _misspelt_before(failure: ParseFailure) -> Diagnosis | None:
    of_match = ("CHRONOLOGICAL", "RECENT", "NAIVE", "FIRST", "LAST", "SEQ")
    is_word = failure.last_kind == "NAME" and failure.word and not failure.kind
    meant = similar(failure.last, of_match) if is_word else ""
    return Diagnosis(f'"{failure.last}" is not known here.', meant, failure.last_at) if meant else None


def _is_late(failure: ParseFailure) -> bool:
    """Whether it is in WHERE or after it."""
    in_where = "_FILTER" in failure.accepted or failure.accepted >= {"DOT", "SEMICOLON"}
    is_after = not failure.opened and not failure.accepted.isdisjoint(MODIFIERS | {END})
    return failure.kind not in failure.accepted and (in_where or is_after)


_ON_WHAT = {"_CONTENT", "_CLOSE", "_NON_EMPTY"}
_NON_EMPTY = re.compile(r"NON[-_\s]?EMPTY(?:[-_\s]?CONTENT)?\b", re.IGNORECASE)


def _non_empty(failure: ParseFailure) -> Diagnosis | None:
    """NON_EMPTY_CONTENT, written otherwise."""
    in_brackets = failure.last.upper() == "NON" and failure.opened[-1:] == ["["]
    at = failure.last_at if in_brackets else failure.at
    found = _NON_EMPTY.match(failure.text.read, at)
    if found is None or not (in_brackets or failure.last_kind == "_REPORT" or failure.accepted == _ON_WHAT):
        return None
    if found[0].upper() == "NON_EMPTY_CONTENT":
        return None  # ON is missing before it
    hint = "NON_EMPTY_CONTENT" if failure.accepted == _ON_WHAT or in_brackets else "ON NON_EMPTY_CONTENT"
    return Diagnosis(f'"{found[0]}" is not known here.', hint, at=at)


def _report(failure: ParseFailure) -> Diagnosis | None:
    if failure.last_kind != "_REPORT" or failure.opened[-1:] == ["["]:
        return None
    what = failure.word if failure.word in ("CONTENT", "CLOSE", "NON_EMPTY_CONTENT") else "CONTENT"
    reason = f"REPORT needs ON CONTENT, ON CLOSE, EVERY or AT, found {failure.described}."
    return Diagnosis(reason, f"REPORT ON {what}")


_WITHIN = re.compile(r"WITHIN\s+(\d{1,9}(?:\s*[A-Z]+)?)", re.IGNORECASE)
_GAP = "AS E1 END ?s, AS E2 START ?t, and FILTER(?t - ?s <= {}) beside MATCH"


def _gap(failure: ParseFailure) -> Diagnosis | None:
    """WITHIN in MATCH; the cure is the FILTER that bounds the gap alike."""
    if failure.word != "WITHIN" or failure.kind or "SEQ" not in failure.accepted:
        return None
    found = _WITHIN.match(failure.text.read, failure.at)
    try:
        span = parse_duration(found[1]) if found is not None else None
    except InputError:
        span = None
    if span is None or span.domain is Domain.TICKS:
        bound = str(10 if span is None else span.length)
    else:
        seconds, rest = divmod(span.length, 1_000_000)
        bound = f'"PT{seconds}{f".{rest:06}".rstrip("0") if rest else ""}S"^^xsd:dayTimeDuration'
    reason = "WITHIN is not supported in MATCH: FILTER compares the times of EVENTs."
    return Diagnosis(reason, _GAP.format(bound))


# fmt: off
_OF_WHERE = ("_FILTER", "_BIND", "_OPTIONAL", "_MINUS", "_VALUES", "_GRAPH", "_WINDOW")
_VARIABLE = re.compile(r"\s*(?P<variable>[?$]\w{1,40})")
_NAME = re.compile(r"[\s(]*(?P<name>[^\W\d]\w{0,40})")
_BEFORE_SEQ = re.compile(r"[\s)}]*SEQ\b", re.IGNORECASE)
_BEFORE_A_PATTERN = re.compile(r"\s*(?:ON\b|:)", re.IGNORECASE)
_NAMED = "MATCH names EVENTs, whose patterns come before WHERE. Try: EVENT ON :w { … } AS E1"
_NOT = "NOT is not supported in MATCH. Try: FILTER NOT EXISTS { … } beside it"
_TIMES_FIRST = "The times of an EVENT are bound where it is declared, before WHERE. Try: AS {last} {word} "
_REGISTER = "REGISTER needs RSTREAM, ISTREAM, DSTREAM, STREAM or QUERY, found {described}. Try: REGISTER QUERY "
_TIME = "2024-05-06T07:00:00Z"
_UNBRACKETED = "A window is written in brackets, found {shown}. Try: [RANGE 10s SLIDE 5s]"

TIMES: Mistakes = (
    *(
        Mistake(after=terminal, says=f"{word} needs a length of time, found {{described}}. Try: {word} 10s")
        for terminal, word in {"_RANGE": "RANGE", "SLIDE": "SLIDE", "_EVERY": "REPORT EVERY", "MINUS": "NOW -"}.items()
    ),
    *(
        Mistake(after=terminal, within=bracket,
                says=f"{word} needs a time, found {{described}}. Try: {word} 5, or {word} {_TIME}")
        for terminal, word, bracket in (
            ("_LND", "LND", ""),
            ("OPENS", "START", ""),
            ("CLOSES", "TO", ""),
            ("_AT", "REPORT AT", ""),
            ("_FROM", "FROM", "["),
        )
    ),
    Mistake(within="[", rejects="UNIT", when=_follows_number,
            says="A time has no unit, found {shown}: it is a number of ticks, or a date. Try: 2024-05-06T07:00:00Z"),
)

IN_BRACKETS: Mistakes = (
    Mistake(kind="_AS _ON _WHERE _NAMED _EVENT", found="{",
            says="The {innermost} is not closed before {shown}. Try: ]"),
    Mistake(last="ON", after="NAME", says="REPORT ON belongs after FROM, not in brackets. Try: REPORT ON {word}"),
    Mistake(found=",", says="The parts of a window are separated by spaces, without commas. Try: [RANGE 10s SLIDE 5s]"),
    Mistake(kind="INTEGER DECIMAL DURATION", says="RANGE says how long a window is, found {shown}. Try: RANGE {short}"),
    Mistake(word="ALL", says="ALL is not supported: empty brackets hold the whole stream. Try: []"),
    UNIT,
    Mistake(says="{shown} is not part of a window. Try: [RANGE 10s SLIDE 5s], [LND 5], [FROM 1 TO 5] or [NOW]"),
)

WINDOWS: Mistakes = (
    Mistake(accepts="_WIN", kind="_AS", found="[", word="WINDOW",
            says="WIN is missing, found {shown}. Try: FROM NAMED :S WIN [RANGE 10s] AS :w"),
    Mistake(kind="_WIN", accepts="_EVENT",
            says="NAMED is missing after FROM: a window needs a name. Try: FROM NAMED :S WIN [RANGE 10s] AS :w"),
    Mistake(word="RANGE LND NOW FROM", after="_WIN", says=_UNBRACKETED),
    Mistake(word="RANGE LND NOW FROM", accepts_only="LSQB LBRACE", says=_UNBRACKETED),
    Mistake(accepts_only="LSQB _ON", kind=IRIS, says="ON is missing before {shown}. Try: ON {short}"),
    Mistake(accepts_only="LSQB",
            says="FROM STREAM needs a window in brackets, found {described}. Try: FROM STREAM <s> [RANGE 10s STEP 5s]"),
)

EVENTS: Mistakes = (
    Mistake(accepts="SELECTOR", found="{", kind=VARIABLES, says=_NAMED),
    Mistake(accepts="SELECTOR", kind="NOT", says=_NOT),
    Mistake(accepts="SELECTOR", kind="POLICY", says="{word} must follow SEQ. Try: E1 SEQ {word} E2"),
    Mistake(accepts="SELECTOR", opened=True, found=(*CLOSING.values(), ",", ";"),
            says="MATCH needs an EVENT's name here, found {described}. Try: MATCH { E1 SEQ E2 }"),
    _event_name,
    Mistake(accepts_only="NAME", after="_AS", says="EVENT needs a name after AS, found {described}. Try: AS E1"),
    Mistake(after="_START _END", says="{LAST} needs a variable, found {described}. Try: {LAST} ?t"),
    Mistake(accepts="_EVENT", word="START END",
            says="START must come before END, each at most once. Try: AS E1 START ?s END ?t"),
    Mistake(accepts="_END", word="AT TIME TIMESTAMP",
            says="An EVENT binds its times by START and END. Try: AS E1 END ?t"),
)

_TIMED = "EVENT ON :w { … } AS E1 START ?s END ?e, and another AS E2 START ?t END ?f"
RELATIONS = {
    "BEFORE": "SEQ",
    "AFTER": "SEQ, with the earlier event first",
    "EQUALSOPTIONAL": f"{_TIMED}; MATCH {{ E1 }} OPTIONAL {{ MATCH {{ E2 }} FILTER(?s = ?t && ?e = ?f) }}",
    "OPTIONALSEQ": "MATCH { E2 } OPTIONAL { MATCH { E1 SEQ E2 } }",
    "WITHOUT": "MATCH { E1 } FILTER NOT EXISTS { MATCH { E2 } }",
} | {
    word: f"{_TIMED}; MATCH {{ E1 }} MATCH {{ E2 }} FILTER({condition})"
    for word, condition in {
        "EQUALS": "?s = ?t && ?e = ?f",
        "DURING": "?t <= ?s && ?e <= ?f",
        "CONTAINS": "?s <= ?t && ?f <= ?e",
        "OVERLAPS": "?s < ?t && ?t < ?e && ?e < ?f",
        "MEETS": "?e = ?t",
        "STARTS": "?s = ?t && ?e < ?f",
        "FINISHES": "?t < ?s && ?e = ?f",
    }.items()
}
"""Operators of other languages between events, E1 before the word and E2 after it, and their form in MATCH."""

BETWEEN_EVENTS: Mistakes = (
    Mistake(last="SEQ", after="NAME", at="last", says="SEQ belongs between two events. Try: E1 SEQ E2"),
    Mistake(last="NOT", after="NAME", at="last", says=_NOT),
    Mistake(last="EVENT", after="NAME", at="last", says=_NAMED),
    Mistake(last="UNRESTRICTED", after="NAME", at="last", says="SEQ without a policy is unrestricted. Try: SEQ alone"),
    Mistake(last=[terminal[1:] for terminal in _OF_WHERE], after="NAME", at="last",
            says="{LAST} belongs beside MATCH, not in it. Try: MATCH { E1 SEQ E2 } {LAST} …"),
    Mistake(word="START END", after="NAME", ahead=_VARIABLE, says=_TIMES_FIRST + "{variable}"),
    Mistake(word="START END", after="NAME", says=_TIMES_FIRST + "?t"),
    _misspelt_before,
    Mistake(kind="POLICY", says="{word} must follow SEQ. Try: SEQ {word}"),
    Mistake(kind=_OF_WHERE, says="{word} belongs beside MATCH, not in it. Try: MATCH { E1 SEQ E2 } {word} …"),
    *(
        Mistake(word=word,
                says="{shown} is not an operator of MATCH; a FILTER beside MATCH compares START and END. Try: " + cure)
        for word, cure in RELATIONS.items()
    ),
    Mistake(word="AND", found=",",
            says="{shown} is not an operator of MATCH: two MATCHes join, in any order. Try: MATCH { E1 } MATCH { E2 }"),
    Mistake(word="OR UNION", says="{shown} is not an operator of MATCH. Try: { MATCH { E1 } } UNION { MATCH { E2 } }"),
    Mistake(found=".", says='"." is not needed in MATCH, which holds names of EVENTs. Try: MATCH { E1 SEQ E2 }'),
    Mistake(found="+ * ?", says="{shown} is not supported in MATCH, where a name stands for one event. "
                                "Try: SPAseQ or SASE+, which have closures"),
    Mistake(word="THEN", says="{shown} is not an operator of MATCH. Try: SEQ"),
    Mistake(when=lambda failure: not failure.word and failure.found != "(",
            says="{shown} is not an operator of MATCH. Try: SEQ"),
    Mistake(says="SEQ is missing before {shown}. Try: SEQ {short}"),
)

CLAUSES: Mistakes = (
    _report,
    Mistake(accepts_only=_ON_WHAT, when=lambda failure: "CLOSE" in failure.word,
            says="REPORT ON needs CONTENT, CLOSE or NON_EMPTY_CONTENT, found {described}. Try: REPORT ON CLOSE"),
    Mistake(accepts_only=_ON_WHAT,
            says="REPORT ON needs CONTENT, CLOSE or NON_EMPTY_CONTENT, found {described}. Try: REPORT ON CONTENT"),
    Mistake(accepts="COMMA _EVENT", kind="INTEGER TIME",
            says='A "," is missing between two times, before {shown}. Try: , {short}'),
    Mistake(after="_REGISTER", when=lambda failure: failure.word != "" or failure.kind in IRIS,
            says=_REGISTER + "{short} AS"),
    Mistake(after="_REGISTER", says=_REGISTER + "<name> AS"),
    Mistake(accepts="LABEL",
            says="REGISTER needs a name, which is a word or an IRI, found {described}. Try: REGISTER QUERY name AS"),
    Mistake(accepts="_COMPUTED", last="AS", after="LABEL",
            says="REGISTER needs a name before AS. Try: REGISTER QUERY name AS"),
    Mistake(accepts="_COMPUTED", says="Expected AS, found {described}. Try: AS"),
    Mistake(found="{", kind=("_FROM", "_WHERE", END), after="_SELECT DISTINCT REDUCED STREAM_OPERATOR", accepts="STAR",
            says=NO_COLUMNS),
    Mistake(accepts_only="_AS", after="RPAR", opened=False, says="An aggregate in SELECT needs a name. Try: AS ?name"),
    Mistake(kind=END, accepts="_WHERE LBRACE", opened=False,
            says="WHERE is missing, found {described}. Try: WHERE { … }"),
    Mistake(accepts_only="LBRACE", after="_WHERE", says="WHERE needs braces, found {described}. Try: WHERE { … }"),
    Mistake(accepts_only="LBRACE", after="_MATCH",
            says="MATCH needs braces, found {described}. Try: MATCH { E1 SEQ E2 }"),
)

MISTAKES: Mistakes = (
    Mistake(word="DESCRIBE", bare=True, says="DESCRIBE is not supported for RSEP-QL. Try: SELECT, CONSTRUCT or ASK"),
    Mistake(word="TIMESTAMP", accepts="FUNCTION_1", says=TIMESTAMP.message),
    Mistake(word="GETDURATION GETSTARTTIME GETENDTIME", accepts="FUNCTION_1",
            says="{short}() is EP-SPARQL's: in RSEP-QL an EVENT binds its times. Try: AS E1 START ?s END ?t"),
    _gap,
    Mistake(bare=True, opened=True, rejects="NAME", ahead=_BEFORE_SEQ,
            says="EVENTs follow each other in MATCH, found {shown}. Try: MATCH { {short} SEQ … }"),
    Mistake(kind="_COMPUTED",
            says="COMPUTED EVERY belongs between REGISTER QUERY name and AS. Try: REPORT EVERY, after FROM"),
    Mistake(kind="SELECTOR", opened=True, rejects="SEQ", ahead=_NAME,
            says="{word} belongs in MATCH, before an EVENT's name. Try: MATCH { {word} {name} }"),
    Mistake(word="WITHIN", bare=True,
            says="WITHIN is not supported: a window says how far back the query looks. "
                 "Try: FROM NAMED :S WIN [RANGE 10m] AS :w"),
    _non_empty,
    misspelt,  # before all that says what was expected
    *TIMES,
    _brackets,
    Mistake(opened=True, kind=MODIFIERS - {"_VALUES"}, says=STILL_OPEN),
    *WINDOWS,
    _window_name,
    *EVENTS,
    _operator,
    # before the row of SEQ outside MATCH
    Mistake(kind="_EVENT _REPORT _FROM", when=_is_late,
            says="{word} must come before WHERE. Try: {word} … WHERE { … }"),
    Mistake(kind="_EVENT", within="(", ahead=_BEFORE_A_PATTERN, says=_NAMED),
    Mistake(kind="SEQ", within="{", says="SEQ belongs in MATCH, between the names of EVENTs. Try: MATCH { E1 SEQ E2 }"),
    *CLAUSES,
)
# fmt: on
