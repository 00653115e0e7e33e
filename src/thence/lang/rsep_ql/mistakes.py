"""Common mistakes in RSEP-QL, besides those of all languages."""

from __future__ import annotations

import re

from thence.errors import InputError
from thence.lang.mistakes import CLOSING, Diagnosis, Mistake, ParseFailure, similar, still_open, unit
from thence.lang.rsep_ql.reader import TIMESTAMP
from thence.lang.text import END, IRIS, MODIFIERS, VARIABLES, name
from thence.rdf.times import Domain, parse_duration

_LENGTHS = {"_RANGE": "RANGE", "SLIDE": "SLIDE", "_EVERY": "REPORT EVERY", "MINUS": "NOW -"}
_INSTANTS = {"_LND": "LND", "OPENS": "START", "CLOSES": "TO", "_AT": "REPORT AT"}
_TIME = "2024-05-06T07:00:00Z"
_WINDOWS = "[RANGE 10s SLIDE 5s], [LND 5], [FROM 1 TO 5] or [NOW]"
_GAP = "AS E1 END ?s, AS E2 START ?t, and FILTER(?t - ?s <= {}) beside MATCH"
_WITHIN = re.compile(r"WITHIN\s+(\d{1,9}(?:\s*[A-Z]+)?)", re.IGNORECASE)
_OF_WHERE = ("_FILTER", "_BIND", "_OPTIONAL", "_MINUS", "_VALUES", "_GRAPH", "_WINDOW")
_ON_WHAT = {"_CONTENT", "_CLOSE", "_NON_EMPTY"}
_IN_ANY_ORDER = "MATCH { E1 } MATCH { E2 }"
_OF_MATCH = ("CHRONOLOGICAL", "RECENT", "NAIVE", "FIRST", "LAST", "SEQ")
_TIMES = "EVENT ON :w { … } AS E1 START ?s END ?e, and another AS E2 START ?t END ?f"
_RELATIONS = {
    "BEFORE": "SEQ",
    "AFTER": "SEQ, with the earlier event first",
    "EQUALSOPTIONAL": f"{_TIMES}; MATCH {{ E1 }} OPTIONAL {{ MATCH {{ E2 }} FILTER(?s = ?t && ?e = ?f) }}",
    "OPTIONALSEQ": "MATCH { E2 } OPTIONAL { MATCH { E1 SEQ E2 } }",
    "WITHOUT": "MATCH { E1 } FILTER NOT EXISTS { MATCH { E2 } }",
} | {
    word: f"{_TIMES}; MATCH {{ E1 }} MATCH {{ E2 }} FILTER({condition})"
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
"""What other languages have between events, E1 before the word and E2 after it, and how MATCH has it."""
_NON_EMPTY = re.compile(r"NON[-_\s]?EMPTY(?:[-_\s]?CONTENT)?\b", re.IGNORECASE)
_VARIABLE = re.compile(r"\s*([?$]\w{1,40})")
_UNITS = re.compile(r"(?:TICK|MILLISECOND|SECOND|MINUTE|HOUR|DAY|WEEK)S?|MS|SEC|MIN|[SMHDW]")


# What RSEP-QL refuses by name


def _refused(failure: ParseFailure) -> Diagnosis | None:
    match failure.word:
        case "DESCRIBE" if not failure.kind:
            return Diagnosis("DESCRIBE is not supported for RSEP-QL.", "SELECT, CONSTRUCT or ASK")
        case "TIMESTAMP" if "FUNCTION_1" in failure.accepted:
            return TIMESTAMP
        case "GETDURATION" | "GETSTARTTIME" | "GETENDTIME" if "FUNCTION_1" in failure.accepted:
            return Diagnosis(
                f"{failure.short}() is EP-SPARQL's: in RSEP-QL an EVENT binds its times.", "AS E1 START ?s END ?t"
            )
        case "WITHIN" if not failure.kind and "SEQ" in failure.accepted:
            return Diagnosis("WITHIN is not supported in MATCH: FILTER compares the times of EVENTs.", _gap(failure))
        case "WITHIN" if not failure.kind:
            reason = "WITHIN is not supported: a window says how far back the query looks."
            return Diagnosis(reason, "FROM NAMED :S WIN [RANGE 10m] AS :w")
    return None


def _gap(failure: ParseFailure) -> str:
    """The FILTER that bounds a gap as a WITHIN does."""
    found = _WITHIN.match(failure.text.read, failure.at)
    try:
        span = parse_duration(found[1]) if found is not None else None
    except InputError:
        span = None
    if span is None or span.domain is Domain.TICKS:
        return _GAP.format(10 if span is None else span.length)
    seconds, rest = divmod(span.length, 1_000_000)
    return _GAP.format(f'"PT{seconds}{f".{rest:06}".rstrip("0") if rest else ""}S"^^xsd:dayTimeDuration')


def _misspelt(failure: ParseFailure) -> Diagnosis | None:
    meant = "" if failure.kind else similar(failure.word, failure.words.keywords(failure.accepted))
    return Diagnosis(f"{failure.shown} is not known here.", meant) if meant else None


def _still_open(failure: ParseFailure) -> Diagnosis | None:
    return still_open(failure, MODIFIERS - {"_VALUES"})


# Windows


def _length(failure: ParseFailure) -> Diagnosis | None:
    word = _before(failure, _LENGTHS)
    if not word or failure.word in ("TRIPLES", "ELEMENTS"):
        return None
    return Diagnosis(f"{word} needs a length of time, found {failure.described}.", f"{word} 10s")


def _instant(failure: ParseFailure) -> Diagnosis | None:
    word = _before(failure, _INSTANTS)
    if not word and failure.follows("_FROM") and _in_brackets(failure):
        word = "FROM"
    if word:
        return Diagnosis(f"{word} needs a time, found {failure.described}.", f"{word} 5, or {word} {_TIME}")
    after_number = _in_brackets(failure) and failure.follows("INTEGER") and "UNIT" not in failure.accepted
    if after_number and _UNITS.fullmatch(failure.word):
        return Diagnosis(f"A time has no unit, found {failure.shown}: it is a number of ticks, or a date.", _TIME)
    return None


def _brackets(failure: ParseFailure) -> Diagnosis | None:
    """Something in a window's brackets that is not part of a window."""
    if not _in_brackets(failure) or "TUMBLING" not in failure.accepted or failure.found in (*CLOSING.values(), ""):
        return None
    if failure.kind in ("_AS", "_ON", "_WHERE", "_NAMED", "_EVENT") or failure.found == "{":
        bracket = failure.opened[-1]
        return Diagnosis(f'The "[" at {failure.place(bracket)} is not closed before {failure.shown}.', "]")
    if failure.follows("NAME") and str(failure.before).upper() == "ON":
        return Diagnosis("REPORT ON belongs after FROM, not in brackets.", f"REPORT ON {failure.word}")
    if failure.found == ",":
        return Diagnosis("The parts of a window are separated by spaces, without commas.", "[RANGE 10s SLIDE 5s]")
    if failure.kind in ("INTEGER", "DECIMAL", "DURATION"):
        return Diagnosis(f"RANGE says how long a window is, found {failure.shown}.", f"RANGE {failure.short}")
    if failure.word == "ALL":
        return Diagnosis("ALL is not supported: empty brackets hold the whole stream.", "[]")
    return unit(failure) or Diagnosis(f"{failure.shown} is not part of a window.", _WINDOWS)


def _no_win(failure: ParseFailure) -> Diagnosis | None:
    """A window over a stream in which WIN, NAMED or the brackets are missing."""
    if "_WIN" in failure.accepted and (failure.kind == "_AS" or failure.found == "[" or failure.word == "WINDOW"):
        return Diagnosis(f"WIN is missing, found {failure.shown}.", "FROM NAMED :S WIN [RANGE 10s] AS :w")
    if failure.kind == "_WIN" and "_EVENT" in failure.accepted:
        return Diagnosis("NAMED is missing after FROM: a window needs a name.", "FROM NAMED :S WIN [RANGE 10s] AS :w")
    bare = failure.follows("_WIN") or failure.accepted == {"LSQB", "LBRACE"}
    if bare and failure.word in ("RANGE", "LND", "NOW", "FROM"):
        return Diagnosis(f"A window is written in brackets, found {failure.shown}.", "[RANGE 10s SLIDE 5s]")
    if failure.accepted == {"LSQB", "_ON"} and failure.kind in IRIS:
        return Diagnosis(f"ON is missing before {failure.shown}.", f"ON {failure.short}")
    if failure.accepted == {"LSQB"}:
        reason = f"FROM STREAM needs a window in brackets, found {failure.described}."
        return Diagnosis(reason, "FROM STREAM <s> [RANGE 10s STEP 5s]")
    return None


def _window_name(failure: ParseFailure) -> Diagnosis | None:
    """A name of a window or stream that is not an IRI."""
    what = _before(failure, {"_WINDOW": "window", "_AS": "window", "_ON": "window", "_NAMED": "stream"})
    what = what or _before(failure, {"_STREAM": "stream"})
    if not what or not failure.accepted & IRIS:
        return None
    if failure.follows("_ON") and "VAR1" not in failure.accepted:
        what = "stream"
    if failure.kind in VARIABLES:
        return Diagnosis(f"A {what}'s name is an IRI, found {failure.shown}.", f":{failure.short[1:]}")
    if failure.word and (not failure.kind or len(failure.word) == 1):
        return Diagnosis(f"A {what}'s name is an IRI, found {failure.shown}.", f":{failure.short}")
    keyword = str(failure.before).upper()
    return Diagnosis(f"{keyword} needs a {what}'s name, found {failure.described}.", f"{keyword} :w")


# EVENT and MATCH


def _event_name(failure: ParseFailure) -> Diagnosis | None:
    if "NAME" not in failure.accepted or failure.accepted & IRIS:
        return None
    if failure.accepted == {"NAME"} and failure.follows("_AS") and failure.kind not in IRIS | VARIABLES:
        return Diagnosis(f"EVENT needs a name after AS, found {failure.described}.", "AS E1")
    if failure.kind not in IRIS | VARIABLES:
        return None
    plain = re.sub(r"\W+", "", failure.short.rpartition(":")[2]) or "E1"
    return Diagnosis(f"An EVENT's name is a plain word, found {failure.shown}.", plain)


def _event_times(failure: ParseFailure) -> Diagnosis | None:
    """Something behind an EVENT's name that is not one of its times."""
    if failure.follows("_START") or failure.follows("_END"):
        keyword = str(failure.before).upper()
        return Diagnosis(f"{keyword} needs a variable, found {failure.described}.", f"{keyword} ?t")
    if "_EVENT" in failure.accepted and failure.word in ("START", "END"):
        return Diagnosis("START must come before END, each at most once.", "AS E1 START ?s END ?t")
    if "_END" in failure.accepted and failure.word in ("AT", "TIME", "TIMESTAMP"):
        return Diagnosis("An EVENT binds its times by START and END.", "AS E1 END ?t")
    return None


def _operand(failure: ParseFailure) -> Diagnosis | None:
    """Something else where MATCH expects an event."""
    if "SELECTOR" not in failure.accepted:
        return None
    if failure.found == "{" or failure.kind in VARIABLES:
        return _NAMED
    if failure.kind == "NOT":
        return _NOT
    if failure.kind == "POLICY":
        return Diagnosis(f"{failure.word} must follow SEQ.", f"E1 SEQ {failure.word} E2")
    if failure.opened and failure.found in (*CLOSING.values(), END, ",", ";"):
        hint = "MATCH { E1 SEQ E2 }"
        return Diagnosis(f"MATCH needs an EVENT's name here, found {failure.described}.", hint)
    return None


_NAMED = Diagnosis("MATCH names EVENTs, whose patterns come before WHERE.", "EVENT ON :w { … } AS E1")
_NOT = Diagnosis("NOT is not supported in MATCH.", "FILTER NOT EXISTS { … } beside it")


def _operator(failure: ParseFailure) -> Diagnosis | None:
    """Something else where MATCH expects SEQ; or a word before it that was read as an EVENT's name."""
    if "SEQ" not in failure.accepted or failure.found in (*CLOSING.values(), ""):
        return None
    before, word = failure.before, failure.before.upper() if failure.before is not None else ""
    if before is not None and failure.follows("NAME"):
        at = before.start_pos
        if word == "SEQ":
            return Diagnosis("SEQ belongs between two events.", "E1 SEQ E2", at=at)
        if word == "NOT":
            return Diagnosis(_NOT.reason, _NOT.hint, at=at)
        if word == "EVENT":
            return Diagnosis(_NAMED.reason, _NAMED.hint, at=at)
        if word == "UNRESTRICTED":
            return Diagnosis("SEQ without a policy is unrestricted.", "SEQ alone", at=at)
        if f"_{word}" in _OF_WHERE:
            return _beside(word, at)
        if failure.word in ("START", "END"):
            reason = "The times of an EVENT are bound where it is declared, before WHERE."
            variable = _VARIABLE.match(failure.text.read, failure.at + len(failure.found))
            return Diagnosis(reason, f"AS {before[:40]} {failure.word} {variable[1] if variable else '?t'}")
        if failure.word and not failure.kind and (meant := similar(word, _OF_MATCH)):
            return Diagnosis(f'"{before[:40]}" is not known here.', meant, at=at)
    if failure.kind == "POLICY":
        return Diagnosis(f"{failure.word} must follow SEQ.", f"SEQ {failure.word}")
    if failure.kind in _OF_WHERE:
        return _beside(failure.word)
    if failure.word in _RELATIONS:
        reason = f"{failure.shown} is not an operator of MATCH; a FILTER beside MATCH compares START and END."
        return Diagnosis(reason, _RELATIONS[failure.word])
    if failure.word == "AND" or failure.found == ",":
        return Diagnosis(f"{failure.shown} is not an operator of MATCH: two MATCHes join, in any order.", _IN_ANY_ORDER)
    if failure.word in ("OR", "UNION"):
        return Diagnosis(f"{failure.shown} is not an operator of MATCH.", "{ MATCH { E1 } } UNION { MATCH { E2 } }")
    if failure.found == ".":
        return Diagnosis('"." is not needed in MATCH, which holds names of EVENTs.', "MATCH { E1 SEQ E2 }")
    if failure.found in ("+", "*", "?"):
        reason = f"{failure.shown} is not supported in MATCH, where a name stands for one event."
        return Diagnosis(reason, "SPAseQ or SASE+, which have closures")
    if failure.word == "THEN" or (not failure.word and failure.found != "("):
        return Diagnosis(f"{failure.shown} is not an operator of MATCH.", "SEQ")
    return Diagnosis(f"SEQ is missing before {failure.shown}.", f"SEQ {failure.short}")


def _beside(word: str, at: int | None = None) -> Diagnosis:
    return Diagnosis(f"{word} belongs beside MATCH, not in it.", f"MATCH {{ E1 SEQ E2 }} {word} …", at=at)


def _outside(failure: ParseFailure) -> Diagnosis | None:
    if failure.kind == "SEQ" and failure.opened and failure.opened[-1] == "{":
        return Diagnosis("SEQ belongs in MATCH, between the names of EVENTs.", "MATCH { E1 SEQ E2 }")
    return None


# Clauses


def _order(failure: ParseFailure) -> Diagnosis | None:
    """A clause that stands in WHERE or after it."""
    clauses = {"_EVENT": "EVENT", "_REPORT": "REPORT", "_FROM": "FROM"}
    if failure.kind not in clauses or failure.kind in failure.accepted:
        return None
    in_where = "_FILTER" in failure.accepted or {"DOT", "SEMICOLON"} <= failure.accepted
    if in_where or (not failure.opened and failure.accepted & (MODIFIERS | {END})):
        return Diagnosis(f"{failure.word} must come before WHERE.", f"{failure.word} … WHERE {{ … }}")
    return None


def _non_empty(failure: ParseFailure) -> Diagnosis | None:
    """NON_EMPTY_CONTENT, written otherwise."""
    before = failure.before
    in_brackets = before is not None and before.upper() == "NON" and _in_brackets(failure)
    at = before.start_pos or 0 if in_brackets and before is not None else failure.at
    found = _NON_EMPTY.match(failure.text.read, at)
    if found is None or not (in_brackets or failure.follows("_REPORT") or failure.accepted == _ON_WHAT):
        return None
    if found[0].upper() == "NON_EMPTY_CONTENT":
        return None  # ON is missing before it
    hint = "NON_EMPTY_CONTENT" if failure.accepted == _ON_WHAT or in_brackets else "ON NON_EMPTY_CONTENT"
    return Diagnosis(f'"{found[0]}" is not known here.', hint, at=at)


def _report(failure: ParseFailure) -> Diagnosis | None:
    if failure.follows("_REPORT") and not _in_brackets(failure):
        known = ("CONTENT", "CLOSE", "NON_EMPTY_CONTENT")
        hint = f"REPORT ON {failure.word}" if failure.word in known else "REPORT ON CONTENT"
        return Diagnosis(f"REPORT needs ON CONTENT, ON CLOSE, EVERY or AT, found {failure.described}.", hint)
    if failure.accepted == _ON_WHAT:
        reason = f"REPORT ON needs CONTENT, CLOSE or NON_EMPTY_CONTENT, found {failure.described}."
        return Diagnosis(reason, "REPORT ON CLOSE" if "CLOSE" in failure.word else "REPORT ON CONTENT")
    if "COMMA" in failure.accepted and "_EVENT" in failure.accepted and failure.kind in ("INTEGER", "TIME"):
        return Diagnosis(f'A "," is missing between two times, before {failure.shown}.', f", {failure.short}")
    return None


def _registered(failure: ParseFailure) -> Diagnosis | None:
    if failure.follows("_REGISTER"):
        kinds = "RSTREAM, ISTREAM, DSTREAM, STREAM or QUERY"
        called = failure.short if failure.word or failure.kind in IRIS else "<name>"
        return Diagnosis(f"REGISTER needs {kinds}, found {failure.described}.", f"REGISTER QUERY {called} AS")
    if "LABEL" in failure.accepted:
        reason = f"REGISTER needs a name, which is a word or an IRI, found {failure.described}."
        return Diagnosis(reason, "REGISTER QUERY name AS")
    if "_COMPUTED" in failure.accepted:
        if failure.follows("LABEL") and str(failure.before).upper() == "AS":
            return Diagnosis("REGISTER needs a name before AS.", "REGISTER QUERY name AS")
        return Diagnosis(f"Expected AS, found {failure.described}.", "AS")
    return None


def _columns(failure: ParseFailure) -> Diagnosis | None:
    begins = any(map(failure.follows, ("_SELECT", "DISTINCT", "REDUCED", "STREAM_OPERATOR")))
    if begins and "STAR" in failure.accepted and (failure.found == "{" or failure.kind in ("_FROM", "_WHERE", END)):
        return Diagnosis(f"SELECT names its columns, found {failure.described}.", "SELECT *")
    if failure.accepted == {"_AS"} and failure.follows("RPAR") and not failure.opened:
        return Diagnosis("An aggregate in SELECT needs a name.", "AS ?name")
    return None


def _no_where(failure: ParseFailure) -> Diagnosis | None:
    if failure.kind == END and not failure.opened and {"_WHERE", "LBRACE"} <= failure.accepted:
        return Diagnosis(f"WHERE is missing, found {failure.described}.", "WHERE { … }")
    if failure.accepted == {"LBRACE"} and failure.follows("_WHERE"):
        return Diagnosis(f"WHERE needs braces, found {failure.described}.", "WHERE { … }")
    if failure.accepted == {"LBRACE"} and failure.follows("_MATCH"):
        return Diagnosis(f"MATCH needs braces, found {failure.described}.", "MATCH { E1 SEQ E2 }")
    return None


def _before(failure: ParseFailure, words: dict[str, str]) -> str:
    """The token before the failure, if it is one of these terminals."""
    return "" if failure.before is None else words.get(name(failure.before.type), "")


def _in_brackets(failure: ParseFailure) -> bool:
    return bool(failure.opened) and failure.opened[-1] == "["


MISTAKES: tuple[Mistake, ...] = (
    _refused,
    _non_empty,
    _misspelt,  # before all that says what was expected
    _length,
    _instant,
    _brackets,
    _still_open,
    _no_win,
    _window_name,
    _operand,
    _event_name,
    _event_times,
    _operator,
    _order,  # before what is said of SEQ outside MATCH
    _outside,
    _report,
    _registered,
    _columns,
    _no_where,
)
