"""Common mistakes in EP-SPARQL, besides those of all languages."""

from __future__ import annotations

import re

from thence.lang.ep_sparql.chain_reader import SEQOPTIONAL
from thence.lang.ep_sparql.checks import written_duration
from thence.lang.mistakes import Diagnosis, Mistake, ParseFailure, similar, still_open
from thence.lang.text import END, FUNCTIONS, MODIFIERS

KEYWORDS = (
    "SEQ", "EQUALS", "OPTIONALSEQ", "EQUALSOPTIONAL", "UNION", "OPTIONAL", "MINUS", "FILTER", "BIND", "VALUES", "GRAPH",
    "WHERE", "SELECT", "CONSTRUCT", "PREFIX", "BASE", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET",
)  # fmt: skip
"""Those that begin something where a bare name could begin a triple."""

STREAM_OPERATORS = ("RSTREAM", "ISTREAM", "DSTREAM")
SIGNS = {"AND": "&&", "OR": "||"}

_NEAR = 300  # characters: a text may have a million
_FIRST_WORD = re.compile(r"(?:\A|[{}.)]|\bWHERE\b)\s*([^\W\d]\w*)\b(?![:(])(?=[^{}]*\Z)", re.IGNORECASE)
_CALLED = re.compile(r"(?:[{}.)]|\bWHERE\b)\s*([^\W\d]\w*)\s*\([^{}()]*\Z", re.IGNORECASE)
_COLUMNS = re.compile(r"\bSELECT\b([^{}]*)\Z", re.IGNORECASE)
_WORDS = re.compile(r"(?<![?$:\w])[^\W\d]\w*(?!:)")
_OPENS = re.compile(r"\s*[({]")
_HYPHENATED = re.compile(r"[\w-]+")
_SHORT_FORM = re.compile(r"\bCONSTRUCT\s+WHERE\s*\{[^{}]*\}\s*\Z", re.IGNORECASE)
_PREFIXED = re.compile(r"\b(SEQ|EQUALS|OPTIONALSEQ|EQUALSOPTIONAL)\s*\(\s*\Z", re.IGNORECASE)
_STREAM_CLAUSE = re.compile(
    r"(?:\bSELECT\s+([RID]STREAM)|\b(FROM\s+(?:NAMED\s+)?(?:STREAM|WINDOW)))\s[^{}]*\Z", re.IGNORECASE
)
_STREAM_BLOCK = re.compile(r"(?<![?$:])\b(STREAM|WINDOW)\s+(?:<[^<>]*>|[^\s\[\]{}]+)\s*(?:\[[^\]{}]*)?\Z", re.I)
_FROM = re.compile(r"\bFROM\s+(?:NAMED\s+)?(?:<[^<>]*>|[^\s\[\]{}]+)\s*\Z", re.IGNORECASE)
_HAS_BRACKETS = re.compile(r"[^\[{}]{0,300}\[")
_DURATION = re.compile(r"\bgetDURATION\s*\(\s*\)[^{}]*\Z", re.IGNORECASE)
_JOINED = {"OPTIONALEQUALS": "EQUALSOPTIONAL", "GROUPBY": "GROUP BY", "ORDERBY": "ORDER BY"}
_SPELLED = {"GETDURATION": "getDURATION", "GETSTARTTIME": "getSTARTTIME", "GETENDTIME": "getENDTIME"}


def _behind(failure: ParseFailure) -> str:
    return failure.text.read[max(0, failure.at - _NEAR) : failure.at]


# What EP-SPARQL refuses by name


def _refused(failure: ParseFailure) -> Diagnosis | None:
    if failure.word == "SEQOPTIONAL":
        return SEQOPTIONAL
    if failure.word in ("ASK", "DESCRIBE") and not failure.kind:
        return Diagnosis(f"{failure.word} is not supported for EP-SPARQL.", "SELECT or CONSTRUCT")
    return None


def windowless(word: str, at: int | None = None) -> Diagnosis:
    """The clauses of C-SPARQL and RSP-QL, which RSEP-QL supports."""
    reason = f"{word} is not supported for EP-SPARQL: it works without windows."
    return Diagnosis(reason, 'RSEP-QL: language="rsep-ql", or a file that ends in .rsepql', at=at)


def _window(failure: ParseFailure) -> Diagnosis | None:
    if failure.word == "REGISTER" and not failure.kind and "_SELECT" in failure.accepted and not failure.opened:
        return windowless("REGISTER")
    if failure.word == "MATCH" and _OPENS.match(failure.text.read, failure.at + len(failure.found)):
        return windowless("MATCH")
    if failure.word == "WIN" and _FROM.search(_behind(failure)):
        return windowless("WIN")
    before = failure.before
    if before is not None and failure.found == "{" and before.upper() in ("MATCH", *STREAM_OPERATORS):
        return windowless(before.upper(), before.start_pos)
    read = _behind(failure)
    found = _STREAM_CLAUSE.search(read)
    if found is None and (failure.found == "{" or (failure.opened and failure.opened[-1] == "[")):
        found = _STREAM_BLOCK.search(read)
    if found is None or found.lastindex is None:
        return None
    word = " ".join(found[found.lastindex].upper().split())
    at = failure.at - len(read) + found.start(found.lastindex)
    if word == "FROM STREAM" and not _HAS_BRACKETS.match(failure.text.read, failure.at):
        reason = "FROM STREAM is not supported for EP-SPARQL, which reads one stream."
        return Diagnosis(reason, "SELECT … WHERE alone, or RSEP-QL with FROM STREAM <s> [RANGE 10s STEP 5s]", at=at)
    return windowless(word, at)


def _unit(failure: ParseFailure) -> Diagnosis | None:
    """`getDURATION() < 10s`"""
    before = failure.before
    if before is None or not failure.follows("INTEGER") or not failure.word or not _DURATION.search(_behind(failure)):
        return None
    at = before.start_pos or 0
    written = failure.text.read[at : failure.at + len(failure.found)]
    cure = written_duration(written)
    return Diagnosis(f'A length of time is a literal of xsd:duration, found "{written[:40]}".', cure, at=at)


def _operator(failure: ParseFailure) -> Diagnosis | None:
    """An operator outside of a group; or a word before something that is not a group."""
    if failure.kind in ("OPERATOR", "UNION") and "_CONSTRUCT" in failure.accepted and not failure.opened:
        if "_LIMIT" in failure.accepted and _SHORT_FORM.search(_behind(failure)):
            reason = "CONSTRUCT WHERE takes triples alone, without operators."
            return Diagnosis(reason, f"CONSTRUCT {{ … }} WHERE {{ … }} {failure.word} {{ … }}")
        return Diagnosis(f"{failure.word} belongs between two groups of WHERE.", f"{{ … }} {failure.word} {{ … }}")
    if called := _PREFIXED.search(_behind(failure)):
        word = called[1].upper()
        at = failure.at - len(called[0])
        return Diagnosis(f"{word} belongs between two groups, without parentheses.", f"{{ … }} {word} {{ … }}", at=at)
    before = failure.before
    if failure.found == "{" and before is not None and failure.follows("NAME") and "A" in failure.accepted:
        return Diagnosis(
            f'"{before[:40]}" is not an operator.', f"{', '.join(KEYWORDS[:4])} or UNION", at=before.start_pos
        )
    if failure.kind == "NOT" and "_FILTER" in failure.accepted:
        return Diagnosis("NOT is not allowed between groups.", "FILTER NOT EXISTS { … }")
    return None


def _sign(failure: ParseFailure) -> Diagnosis | None:
    """A sign of another language after an expression. It might begin a column here, so the shared rule sees it too
    late."""
    if not failure.opened or failure.opened[-1] != "(" or "RPAR" not in failure.accepted:
        return None
    if failure.word in SIGNS:
        return Diagnosis(f"{failure.shown} is not an operator.", SIGNS[failure.word])
    if failure.found == "<>":
        return Diagnosis('"<>" is not an operator.', "!=")
    if failure.kind == "IRIREF":
        return Diagnosis(f"{failure.shown} reads as an IRI.", 'spaces around "<"')
    return None


def _two_words(failure: ParseFailure) -> Diagnosis | None:
    if failure.kind != "OPERATOR" or not failure.follows("_OPTIONAL") or failure.before is None:
        return None
    operator = "OPTIONALSEQ" if failure.word == "SEQ" else "EQUALSOPTIONAL"
    return Diagnosis(f"{operator} is one word.", operator, at=failure.before.start_pos)


def _still_open(failure: ParseFailure) -> Diagnosis | None:
    """The next clause or statement begins, and a brace is open."""
    begins = MODIFIERS | {"_SELECT", "_CONSTRUCT", "_PREFIX", "_BASE", "_WHERE"}
    return still_open(failure, begins - {"_VALUES"})


# Bare names


def _misread(failure: ParseFailure) -> Diagnosis | None:
    """A misspelt keyword is read as a bare name, the subject of a triple, and what follows does not go with that."""
    found = "" if failure.kind or "A" in failure.accepted else similar(failure.word, KEYWORDS)
    if found and found in failure.words.keywords(failure.accepted):
        return Diagnosis(f"{failure.shown} is not known here.", found)
    read = _behind(failure)
    for form in (_CALLED, _FIRST_WORD):
        for first in reversed(list(form.finditer(read))):
            at = failure.at - len(read) + first.start(1)
            if first[1].upper() == "WITHIN":
                hint = 'FILTER (getDURATION() < "PT10M"^^xsd:duration)'
                return Diagnosis("WITHIN is not supported: a FILTER says how long a match may last.", hint, at=at)
            if found := _JOINED.get(first[1].upper(), "") or similar(first[1], KEYWORDS):
                return Diagnosis(f'"{first[1]}" is not known here.', found, at=at)
            break
    return None


def _reserved(failure: ParseFailure) -> Diagnosis | None:
    """A keyword where a bare name is meant."""
    if not failure.kind or not failure.word or "NAME" not in failure.accepted or "_FILTER" in failure.accepted:
        return None
    if _OPENS.match(failure.text.read, failure.at + len(failure.found)):
        return None
    if failure.kind in FUNCTIONS or not failure.found.isupper():
        return Diagnosis(f"{failure.shown} is a keyword, not a bare name.", f":{failure.short}")
    return None


def _hyphen(failure: ParseFailure) -> Diagnosis | None:
    before = failure.before
    if before is None or not failure.follows("NAME") or not failure.found.startswith("-"):
        return None
    if before.end_pos != failure.at:
        return None
    whole = _HYPHENATED.match(failure.text.read, before.start_pos or 0)
    name = whole[0][:40] if whole else before[:40]
    return Diagnosis('A bare name can\'t have "-" in it.', f":{name}", at=before.start_pos)


# Clauses


def _no_columns(failure: ParseFailure) -> Diagnosis | None:
    if "STAR" in failure.accepted and any(map(failure.follows, ("_SELECT", "DISTINCT", "REDUCED"))):
        return Diagnosis(f"SELECT names its columns, found {failure.described}.", "SELECT *")
    return None


def _column(failure: ParseFailure) -> Diagnosis | None:
    if failure.found == "," and "_WHERE" in failure.accepted and "_AS" in failure.accepted:
        return Diagnosis("The columns of SELECT are separated by spaces, without commas.", "SELECT ?a ?b")
    return None


def _no_where(failure: ParseFailure) -> Diagnosis | None:
    """A statement that ends after its columns or its template; or what was to be WHERE, read as a column."""
    if failure.follows("_CONSTRUCT"):
        hint = "CONSTRUCT { ?s :p ?o } WHERE { … }"
        return Diagnosis(f"CONSTRUCT needs a template, found {failure.described}.", hint)
    if failure.follows("_WHERE") and failure.kind == "_VALUES":
        return Diagnosis("VALUES belongs in the braces of WHERE.", "WHERE { VALUES … }")
    if "_WHERE" not in failure.accepted or failure.opened:
        return None
    read = _behind(failure)
    columns = _COLUMNS.search(read)
    for word in _WORDS.finditer(columns[1]) if columns else ():
        if found := similar(word[0], ("WHERE",)):
            assert columns is not None
            at = failure.at - len(read) + columns.start(1) + word.start()
            return Diagnosis(f'"{word[0]}" is not known here.', found, at=at)
    if failure.kind in (END, "_SELECT", "_CONSTRUCT", "_PREFIX", "_BASE"):
        return Diagnosis(f"WHERE is missing, found {failure.described}.", "WHERE { … }")
    return None


def _between(failure: ParseFailure) -> Diagnosis | None:
    if failure.found in (";", ".") and "_CONSTRUCT" in failure.accepted:
        return Diagnosis(f"Statements follow one another without {failure.shown}.", "no sign between them")
    return None


def _time_function(failure: ParseFailure) -> Diagnosis | None:
    before = failure.before
    if before is None or not failure.follows("TIME_FUNCTION"):
        return None
    name = _SPELLED[before.upper()]
    return Diagnosis(f"{name} needs parentheses, found {failure.described}.", f"{name}()", at=before.start_pos)


def _dot(failure: ParseFailure) -> Diagnosis | None:
    """A bare name after a whole triple."""
    if {"DOT", "SEMICOLON"} <= failure.accepted and failure.word and not failure.kind:
        return Diagnosis(f'A "." is missing between two triple patterns, before {failure.shown}.', f". {failure.short}")
    return None


MISTAKES: tuple[Mistake, ...] = (
    _refused,
    _window,
    _unit,
    _two_words,
    _sign,
    _reserved,  # before what is said of a clause: `order` may be meant as a name
    _still_open,
    _time_function,
    _no_columns,
    _column,
    _hyphen,
    _misread,  # before what is said of the word after a misspelt keyword
    _operator,
    _no_where,
    _between,
    _dot,
)
