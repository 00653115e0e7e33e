"""Common mistakes in EP-SPARQL, in addition to those of all languages."""

from __future__ import annotations

import re
from dataclasses import replace

from thence.lang.ep_sparql.chain_reader import SEQOPTIONAL
from thence.lang.ep_sparql.checks import written_duration
from thence.lang.mistakes import (
    COMMAS_IN_SELECT,
    NO_COLUMNS,
    NO_DOT,
    RESERVED,
    STILL_OPEN,
    Diagnosis,
    Mistake,
    Mistakes,
    ParseFailure,
    foreign_operators,
    similar,
)
from thence.lang.text import END, FUNCTIONS, MODIFIERS

KEYWORDS = (
    "SEQ", "EQUALS", "OPTIONALSEQ", "EQUALSOPTIONAL", "UNION", "OPTIONAL", "MINUS", "FILTER", "BIND", "VALUES", "GRAPH",
    "WHERE", "SELECT", "CONSTRUCT", "PREFIX", "BASE", "GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET",
)  # fmt: skip
"""Those that begin something where a bare name could begin a triple."""

STREAM_OPERATORS = ("RSTREAM", "ISTREAM", "DSTREAM")
TIME_FUNCTIONS = ("getDURATION", "getSTARTTIME", "getENDTIME")


def windowless(clause: str, at: int | None = None) -> Diagnosis:
    """The clauses of C-SPARQL and RSP-QL, which RSEP-QL supports."""
    reason = f"{clause} is not supported for EP-SPARQL: it works without windows."
    return Diagnosis(reason, 'RSEP-QL: language="rsep-ql", or a file that ends in .rsepql', at)


WITHIN = Diagnosis(
    "WITHIN is not supported: a FILTER says how long a match may last.",
    'FILTER (getDURATION() < "PT10M"^^xsd:duration)',
)

_STREAM_CLAUSE = re.compile(
    r"(?:\bSELECT\s+([RID]STREAM)|\b(FROM\s+(?:NAMED\s+)?(?:STREAM|WINDOW)))\s[^{}]*\Z", re.IGNORECASE
)
_STREAM_BLOCK = re.compile(r"(?<![?$:])\b(STREAM|WINDOW)\s+(?:<[^<>]*>|[^\s\[\]{}]+)\s*(?:\[[^\]{}]*)?\Z", re.I)
_FROM = re.compile(r"\bFROM\s+(?:NAMED\s+)?(?:<[^<>]*>|[^\s\[\]{}]+)\s*\Z", re.IGNORECASE)
_HAS_BRACKETS = re.compile(r"[^\[{}]{0,300}\[")


def _window(failure: ParseFailure) -> Diagnosis | None:
    read = failure.behind(_STREAM_CLAUSE)
    if read is None and (failure.found == "{" or failure.opened[-1:] == ["["]):
        read = failure.behind(_STREAM_BLOCK)
    if read is None or read.lastindex is None:
        return None
    clause, at = " ".join(read[read.lastindex].upper().split()), read.start(read.lastindex)
    if clause == "FROM STREAM" and not _HAS_BRACKETS.match(failure.text.read, failure.at):
        reason = "FROM STREAM is not supported for EP-SPARQL, which reads one stream."
        return Diagnosis(reason, "SELECT … WHERE alone, or RSEP-QL with FROM STREAM <s> [RANGE 10s STEP 5s]", at)
    return windowless(clause, at)


_DURATION = re.compile(r"\bgetDURATION\s*\(\s*\)[^{}]*\Z", re.IGNORECASE)


def _unit(failure: ParseFailure) -> Diagnosis | None:
    """`getDURATION() < 10s`"""
    if failure.last_kind != "INTEGER" or not failure.word or not failure.behind(_DURATION):
        return None
    written = failure.text.read[failure.last_at : failure.at + len(failure.found)]
    reason = f'A length of time is a literal of xsd:duration, found "{written[:40]}".'
    return Diagnosis(reason, written_duration(written), failure.last_at)


_HYPHENATED = re.compile(r"[\w-]+")


def _hyphen(failure: ParseFailure) -> Diagnosis | None:
    if failure.last_kind != "NAME" or not failure.found.startswith("-") or not failure.touches:
        return None
    whole = _HYPHENATED.match(failure.text.read, failure.last_at)
    assert whole is not None
    return Diagnosis('A bare name can\'t have "-" in it.', f":{whole[0][:40]}", failure.last_at)


_FIRST_WORD = re.compile(r"(?:\A|[{}.)]|\bWHERE\b)\s*([^\W\d]\w*)\b(?![:(])(?=[^{}]*\Z)", re.IGNORECASE)
_CALLED = re.compile(r"(?:[{}.)]|\bWHERE\b)\s*([^\W\d]\w*)\s*\([^{}()]*\Z", re.IGNORECASE)
_JOINED = {"OPTIONALEQUALS": "EQUALSOPTIONAL", "GROUPBY": "GROUP BY", "ORDERBY": "ORDER BY"}


def _misread(failure: ParseFailure) -> Diagnosis | None:
    """A misspelt keyword is read as a bare name, the subject of a triple, and what follows does not go with that."""
    meant = "" if failure.kind or "A" in failure.accepted else similar(failure.word, KEYWORDS)
    if meant and meant in failure.keywords:
        return Diagnosis(f"{failure.shown} is not known here.", meant)
    for form in (_CALLED, _FIRST_WORD):
        for first in failure.all_behind(form)[-1:]:
            if first[1].upper() == "WITHIN":
                return replace(WITHIN, at=first.start(1))
            if meant := _JOINED.get(first[1].upper(), "") or similar(first[1], KEYWORDS):
                return Diagnosis(f'"{first[1]}" is not known here.', meant, first.start(1))
    return None


_COLUMNS = re.compile(r"\bSELECT\b([^{}]*)\Z", re.IGNORECASE)
_WORDS = re.compile(r"(?<![?$:\w])[^\W\d]\w*(?!:)")


def _misspelt_where(failure: ParseFailure) -> Diagnosis | None:
    """A word meant as WHERE, read as a column."""
    columns = None if failure.opened or "_WHERE" not in failure.accepted else failure.behind(_COLUMNS)
    for each in _WORDS.finditer(failure.text.read, *columns.span(1)) if columns else ():
        if meant := similar(each[0], ("WHERE",)):
            return Diagnosis(f'"{each[0]}" is not known here.', meant, each.start())
    return None


_OPENS = re.compile(r"\s*[({]")


def _is_reserved(failure: ParseFailure) -> bool:
    is_keyword = failure.kind != "" and failure.word != "" and not failure.ahead(_OPENS)
    return is_keyword and (failure.kind in FUNCTIONS or not failure.found.isupper())


# fmt: off
_BEGINS = "_SELECT _CONSTRUCT _PREFIX _BASE"
_SHORT_FORM = re.compile(r"\bCONSTRUCT\s+WHERE\s*\{[^{}]*\}\s*\Z", re.IGNORECASE)
_PREFIXED = re.compile(r"\b(?P<operator>SEQ|EQUALS|OPTIONALSEQ|EQUALSOPTIONAL)\s*\(\s*\Z", re.IGNORECASE)

MISTAKES: Mistakes = (
    Mistake(word="SEQOPTIONAL", says=SEQOPTIONAL.message),
    Mistake(word="ASK DESCRIBE", bare=True, says="{word} is not supported for EP-SPARQL. Try: SELECT or CONSTRUCT"),
    Mistake(word="REGISTER", bare=True, accepts="_SELECT", opened=False, says=windowless("{word}").message),
    Mistake(word="WIN", behind=_FROM, says=windowless("{word}").message),
    Mistake(word="MATCH", ahead=_OPENS, says=windowless("{word}").message),
    Mistake(found="{", last=("MATCH", *STREAM_OPERATORS), at="last", says=windowless("{LAST}").message),
    _window,
    _unit,
    Mistake(word="SEQ", after="_OPTIONAL", at="last", says="OPTIONALSEQ is one word. Try: OPTIONALSEQ"),
    Mistake(kind="OPERATOR", after="_OPTIONAL", at="last", says="EQUALSOPTIONAL is one word. Try: EQUALSOPTIONAL"),
    # a sign might begin a column here, so the shared rule sees it too late
    *foreign_operators(within="(", accepts="RPAR"),
    # before the row of a clause: `order` may be meant as a name
    Mistake(accepts="NAME", rejects="_FILTER", when=_is_reserved, says=RESERVED),
    Mistake(opened=True, kind={*MODIFIERS, *_BEGINS.split(), "_WHERE"} - {"_VALUES"}, says=STILL_OPEN),
    *(
        Mistake(last=name.upper(), after="TIME_FUNCTION", at="last",
                says=f"{name} needs parentheses, found {{described}}. Try: {name}()")
        for name in TIME_FUNCTIONS
    ),
    Mistake(after="_SELECT DISTINCT REDUCED", accepts="STAR", says=NO_COLUMNS),
    Mistake(found=",", accepts="_WHERE _AS", says=COMMAS_IN_SELECT),
    _hyphen,
    _misread,  # before the row of the word after a misspelt keyword
    Mistake(kind="OPERATOR UNION", accepts="_CONSTRUCT _LIMIT", opened=False, behind=_SHORT_FORM,
            says="CONSTRUCT WHERE takes triples alone, without operators. "
                 "Try: CONSTRUCT { … } WHERE { … } {word} { … }"),
    Mistake(kind="OPERATOR UNION", accepts="_CONSTRUCT", opened=False,
            says="{word} belongs between two groups of WHERE. Try: { … } {word} { … }"),
    Mistake(behind=_PREFIXED, at="operator",
            says="{OPERATOR} belongs between two groups, without parentheses. Try: { … } {OPERATOR} { … }"),
    Mistake(found="{", after="NAME", accepts="A", at="last",
            says='"{last}" is not an operator. Try: SEQ, EQUALS, OPTIONALSEQ, EQUALSOPTIONAL or UNION'),
    Mistake(kind="NOT", accepts="_FILTER", says="NOT is not allowed between groups. Try: FILTER NOT EXISTS { … }"),
    Mistake(after="_CONSTRUCT",
            says="CONSTRUCT needs a template, found {described}. Try: CONSTRUCT { ?s :p ?o } WHERE { … }"),
    Mistake(kind="_VALUES", after="_WHERE", says="VALUES belongs in the braces of WHERE. Try: WHERE { VALUES … }"),
    _misspelt_where,
    Mistake(kind=(END, *_BEGINS.split()), accepts="_WHERE", opened=False,
            says="WHERE is missing, found {described}. Try: WHERE { … }"),
    Mistake(found="; .", accepts="_CONSTRUCT",
            says="Statements follow one another without {shown}. Try: no sign between them"),
    Mistake(bare=True, accepts="DOT SEMICOLON", says=NO_DOT),
)
# fmt: on
