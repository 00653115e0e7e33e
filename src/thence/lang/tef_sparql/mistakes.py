"""Common mistakes in TEF-SPARQL, besides those of all languages."""

from __future__ import annotations

import re

from thence.lang.mistakes import CLOSING, Diagnosis, Mistake, ParseFailure, duration, similar, still_open, unit
from thence.lang.tef_sparql.expression_reader import AGGREGATES, INSTEAD_OF_AGGREGATE, NO_AGGREGATE
from thence.lang.text import COMPARISONS, END, IRIS, LITERALS, VARIABLES

KEYWORDS = ("SINCE", "UNTIL", "TILL", "REPLACE", "ONSTART", "ONEND", "WITHOUT", "BIND", "FILTER")
"""Those that begin something where a bare name could begin a triple."""

_ARMS = {"_SINCE": "SINCE", "_UNTIL": "UNTIL", "_REPLACE": "REPLACE"}
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
    "EQUALS": Diagnosis('"EQUALS" is not an operator of TEF-SPARQL.', "[?s, ?e] behind both sides"),
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
_NEAR = 300  # characters: a text may have a million
_FIRST_WORD = re.compile(
    r"(?:\b(?:WHERE|UNION|ON)\b|[({;,.])\s*([^\W\d][\w-]*)(?:\s+[^\s(){};,.]+){0,2}\s*\Z", re.IGNORECASE
)
_KIND = re.compile(r"\bCONSTRUCT\s+(\w+)\s*$", re.IGNORECASE)
_PREDICATE_LIST = re.compile(r";\s*[^\s;,.(){}]+\s+[^\s;,.(){}\[\]]+\s*\Z")
_OBJECT_LIST = re.compile(r",\s*[^\s;,.(){}]+\s*\Z")
_STATIC = re.compile(r"\bCONSTRUCT\s+(STATIC)\s[^{}]*\Z", re.IGNORECASE)
_TWO_WORDS = re.compile(r"ON\s+(START|END)\b", re.IGNORECASE)
_WINDOW = re.compile(r"\[?\s*(?:(?:RANGE|ROWS|TRIPLES|TUMBLING|(?:NAMED\s+)?WINDOW)\b|NOW\s*\])", re.IGNORECASE)
_COLUMNS = re.compile(r"\bSELECT\s+(?:DISTINCT\s+)?(?:[?$]\w+[\s,]*)*\Z", re.IGNORECASE)
_AGGREGATE = re.compile(rf"(?:\(\s*)?({'|'.join(AGGREGATES)})\s*\(", re.IGNORECASE)
_ENDS = frozenset({")", "}", ".", ",", ";", "[", ""})


def _behind(failure: ParseFailure) -> str:
    return failure.text.read[max(0, failure.at - _NEAR) : failure.at]


# What the parser expected, by the terminals that it would have taken


def _after_pattern(failure: ParseFailure) -> bool:
    return "RELATION" in failure.accepted


def _at_pattern(failure: ParseFailure) -> bool:
    return "ONSTART" in failure.accepted


def _at_verb(failure: ParseFailure) -> bool:
    return "A" in failure.accepted


def _at_object(failure: ParseFailure) -> bool:
    return {"IRIREF", "INTEGER", "MINUS"} <= failure.accepted and "BANG" not in failure.accepted


def _at_where(failure: ParseFailure) -> bool:
    return "_WHERE" in failure.accepted and not failure.opened


# What TEF-SPARQL refuses by name


def _refused(failure: ParseFailure) -> Diagnosis | None:
    """A keyword of SPARQL, where the parser stopped at it or read it as a bare name."""
    if failure.word and not failure.kind and not _at_where(failure):
        if failure.word in ("AND", "OR") and "LOGICAL_AND" in failure.accepted:
            return None
        known = _NOT_HERE | (_OPERATORS if _after_pattern(failure) else {})
        if failure.word in known:
            return known[failure.word]
    read = _behind(failure)
    for first in reversed(list(_FIRST_WORD.finditer(read))):
        at = failure.at - len(read) + first.start(1)
        if first[1].upper() in _NOT_HERE:
            found = _NOT_HERE[first[1].upper()]
            return Diagnosis(found.reason, found.hint, at=at)
        if meant := similar(first[1], KEYWORDS):
            return Diagnosis(f'"{first[1][:40]}" is not known here.', meant, at=at)
        break
    before = failure.before
    if before is not None and failure.follows("NAME") and before.upper() in ("IN", "EXISTS"):
        found = _NOT_HERE[before.upper()]
        return Diagnosis(found.reason, found.hint, at=before.start_pos)
    return None


def _blank(failure: ParseFailure) -> Diagnosis | None:
    at_term = bool(failure.accepted & (IRIS | VARIABLES))
    if at_term and (failure.text.read.startswith("_:", failure.at) or failure.found == "["):
        return Diagnosis("Blank nodes are not supported in TEF-SPARQL.", "a variable, or ?_")
    return None


def _path(failure: ParseFailure) -> Diagnosis | None:
    if failure.found in ("/", "|", "^", "*", "!") and (_at_object(failure) or _at_verb(failure)):
        if "STAR" in failure.accepted:
            return None
        return Diagnosis("Property paths are not supported.", "a triple for each step, with variables between")
    return None


def _replace_function(failure: ParseFailure) -> Diagnosis | None:
    if failure.kind == "_REPLACE" and "BANG" in failure.accepted and not _at_pattern(failure):
        reason = "REPLACE is a keyword of TEF-SPARQL, and SPARQL's function of that name is not supported."
        return Diagnosis(reason, "CONCAT, SUBSTR, STRBEFORE or STRAFTER")
    return None


# Lists


def _predicate_list(failure: ParseFailure) -> Diagnosis | None:
    """Turtle's `;`, which is UNION here."""
    read = _behind(failure)
    found = _PREDICATE_LIST.search(read) if _at_object(failure) and failure.found in _ENDS else None
    if found:
        at = failure.at - len(read) + found.start()
        return Diagnosis('";" means UNION here.', "repeat the subject, behind a comma", at=at)
    if failure.found == ";" and "_WHERE" in failure.accepted:
        return Diagnosis('";" means UNION, which is not allowed in a head.', '"," and the subject again')
    return None


def _object_list(failure: ParseFailure) -> Diagnosis | None:
    """Turtle's `,` in a head."""
    if not _at_verb(failure) or not (failure.kind == "_WHERE" or failure.found in _ENDS):
        return None
    read = _behind(failure)
    if found := _OBJECT_LIST.search(read):
        at = failure.at - len(read) + found.start()
        return Diagnosis('"," separates triples here.', "repeat subject and predicate", at=at)
    return None


def _expression_first(failure: ParseFailure) -> Diagnosis | None:
    is_operator = failure.kind in COMPARISONS or failure.found in ("+", "-", "*", "/")
    if is_operator and _at_verb(failure) and "EQUAL" not in failure.accepted:
        return Diagnosis("An expression is not allowed first in a list.", "a pattern first, then the expression")
    return None


def _subject(failure: ParseFailure) -> Diagnosis | None:
    if failure.kind in LITERALS and _at_pattern(failure) and "INTEGER" not in failure.accepted:
        return Diagnosis(f"A subject is an IRI or a variable, found {failure.short}.", "?x p …")
    return None


def _joining(failure: ParseFailure) -> Diagnosis | None:
    """Two patterns with nothing between them."""
    if not _after_pattern(failure) or failure.kind == END or similar(failure.word, _known(failure)):
        return None
    if failure.kind in _ARMS:
        return Diagnosis(f"UNION is missing before {failure.word}.", f"UNION ({failure.word} … )")
    if (
        failure.kind in IRIS | VARIABLES | LITERALS
        or failure.found in ("(", "{")
        or (failure.word and not failure.kind)
    ):
        return Diagnosis(f'"," or an operator such as DURING is missing before {failure.shown}.', f", {failure.short}")
    return None


def _known(failure: ParseFailure) -> list[str]:
    return failure.words.keywords(failure.accepted)


# Operators and arms


def _two_words(failure: ParseFailure) -> Diagnosis | None:
    found = _TWO_WORDS.match(failure.text.read, failure.at) if failure.kind == "_ON" else None
    return Diagnosis(f"ON{found[1].upper()} is one word.", f"ON{found[1].upper()}") if found else None


def _on_init(failure: ParseFailure) -> Diagnosis | None:
    if failure.kind != "_ON_INIT":
        return None
    if failure.accepted == {"_ON"}:
        hint = "(REPLACE … ON … ) UNION ( … ON INIT)"
        return Diagnosis("REPLACE needs an event behind ON, found ON INIT.", hint)
    if _at_pattern(failure):
        return Diagnosis("ON INIT follows its pattern.", "?x p ?y ON INIT")
    return None


def _misplaced_on(failure: ParseFailure) -> Diagnosis | None:
    if failure.kind == "_ON" and "_UNION" in failure.accepted:
        return Diagnosis("ON belongs to REPLACE.", "REPLACE … ON …, or … ON INIT")
    is_replaced = failure.accepted == {"_ON"} or ("_ON" in failure.accepted and failure.word == "BY")
    if is_replaced and (not failure.opened or failure.found):
        return Diagnosis(f"REPLACE needs ON and an event, found {failure.described}.", "REPLACE … ON …")
    return None


def _arm_in_list(failure: ParseFailure) -> Diagnosis | None:
    if failure.kind in _ARMS and _at_pattern(failure) and "BANG" in failure.accepted:
        reason = f"{failure.word} begins an arm, and UNION must separate arms."
        return Diagnosis(reason, f"UNION ({failure.word} … )")
    return None


def _prefixed(failure: ParseFailure) -> Diagnosis | None:
    """An infix operator with nothing on its left."""
    if failure.kind in ("RELATION", "WITHOUT", "_UNION") and _at_pattern(failure):
        if failure.follows("RELATION") or failure.follows("WITHOUT"):
            return Diagnosis(f"A pattern is missing before {failure.word}.", f"… {failure.word} …")
        return Diagnosis(f"{failure.word} belongs between two patterns.", f"… {failure.word} …")
    return None


def _reserved(failure: ParseFailure) -> Diagnosis | None:
    """A keyword where a bare name is meant."""
    if not failure.kind or not failure.word or failure.kind in LITERALS or "NAME" not in failure.accepted:
        return None
    if _at_verb(failure) or (_at_object(failure) and not failure.found.isupper()):
        return Diagnosis(f"{failure.shown} is a keyword, not a bare name.", f":{failure.short}")
    return None


# Brackets


def _times(failure: ParseFailure) -> Diagnosis | None:
    if not failure.opened or failure.opened[-1] != "[" or failure.kind == END:
        return None
    if "INFINITY" in failure.accepted:
        return Diagnosis(f"A time is a variable, a number, a string or ∞, found {failure.described}.", "[?s, ?e]")
    if failure.accepted <= {"COMMA", "RSQB"}:
        return Diagnosis(f'Brackets hold a start and an end, with "," between, found {failure.described}.', "[?s, ?e]")
    return None


def _still_open(failure: ParseFailure) -> Diagnosis | None:
    """The next clause or statement begins, and a bracket is open."""
    begins = ("_SELECT", "_CONSTRUCT", "_DECLARE", "_PREFIX", "_BASE", "_WHERE", "_ONCE", "_WITHIN", "_FROM")
    return None if _at_verb(failure) or _at_object(failure) else still_open(failure, begins)


def _kind(failure: ParseFailure) -> Diagnosis | None:
    """CONSTRUCT FCT { … }, which begins like a triple."""
    found = _KIND.search(failure.text.read, 0, failure.at) if failure.found == "{" and _at_verb(failure) else None
    meant = "" if found is None else similar(found[1], ("FACT", "EVENT"))
    if found is None or not meant:
        return None
    return Diagnosis(f'"{found[1]}" is not known here.', meant, at=found.start(1))


def _no_object(failure: ParseFailure) -> Diagnosis | None:
    if _at_object(failure) and failure.kind in ("_UNION", "RELATION", "WITHOUT"):
        return Diagnosis(f"A triple needs an object before {failure.word}.", f"?o {failure.word}")
    return None


# Clauses


def _columns(failure: ParseFailure) -> Diagnosis | None:
    if not _COLUMNS.search(_behind(failure)):
        return None
    if aggregate := _AGGREGATE.match(failure.text.read, failure.at):
        return Diagnosis(NO_AGGREGATE.format(aggregate[1].upper()), INSTEAD_OF_AGGREGATE)
    is_first = failure.follows("_SELECT") or failure.follows("DISTINCT")
    if similar(failure.word, ("DISTINCT",)) or not (failure.found == "(" or is_first):
        return None
    if failure.found == "(":
        return Diagnosis("SELECT takes variables alone.", "?v = … in WHERE, and SELECT ?v")
    return Diagnosis(f"SELECT names its variables, found {failure.described}.", "SELECT ?x ?y")


def _window(failure: ParseFailure) -> Diagnosis | None:
    """`[RANGE 10s]` and the like, of other languages."""
    first = failure.at - 1 if failure.text.read[failure.at - 1 : failure.at] == "[" else failure.at
    if failure.found != "[" and first == failure.at and not failure.follows("_FROM"):
        return None
    if not _WINDOW.match(failure.text.read, first):
        return None
    reason = "Windows are not supported: WITHIN bounds how long events may take, and facts hold until they end."
    return Diagnosis(reason, "WITHIN 10 SECONDS before WHERE", at=first)


def _static(failure: ParseFailure) -> Diagnosis | None:
    read = _behind(failure)
    if "_WHERE" not in failure.accepted or not (found := _STATIC.search(read)):
        return None
    reason = "CONSTRUCT makes events or facts; static triples come from the background."
    return Diagnosis(reason, "CONSTRUCT FACT", at=failure.at - len(read) + found.start(1))


def _no_head(failure: ParseFailure) -> Diagnosis | None:
    if (
        (failure.follows("_CONSTRUCT") or failure.follows("KIND"))
        and not failure.opened
        and "LBRACE" in failure.accepted
    ):
        return Diagnosis(f"CONSTRUCT needs a triple, found {failure.described}.", "CONSTRUCT FACT ?x p ?y WHERE …")
    return None


def _no_where(failure: ParseFailure) -> Diagnosis | None:
    if not _at_where(failure) or similar(failure.word, _known(failure)):
        return None
    if failure.kind in ("_ONCE", "_WITHIN", "_FROM") or failure.found in (",", ".", ";", *CLOSING.values()):
        return None
    return Diagnosis(f"WHERE is missing, found {failure.described}.", "WHERE …")


def _late(failure: ParseFailure) -> Diagnosis | None:
    words = {"_ONCE": "ONCE PER", "_WITHIN": "WITHIN", "_FROM": "FROM STREAM"}.get(failure.kind, "")
    if words and _after_pattern(failure):
        return Diagnosis(f"{words} must come before WHERE.", f"{words} … WHERE …")
    if failure.kind == "_WHERE" and _after_pattern(failure):
        return Diagnosis("A statement has one WHERE.", '"," between patterns')
    return None


def _between(failure: ParseFailure) -> Diagnosis | None:
    begins = failure.kind in ("_SELECT", "_CONSTRUCT", "_DECLARE", "_PREFIX", "_BASE")
    if begins and failure.before == ";" and failure.before is not None:
        at = failure.before.start_pos
        return Diagnosis('Statements follow one another without ";".', "no sign between them", at=at)
    return None


def _once_per(failure: ParseFailure) -> Diagnosis | None:
    if failure.accepted == {"_PER"} and not similar(failure.word, ("PER",)):
        return Diagnosis(f"ONCE is followed by PER, found {failure.described}.", "ONCE PER ?x")
    if failure.follows("_PER"):
        return Diagnosis(f"ONCE PER needs a variable, found {failure.described}.", "ONCE PER ?x")
    return None


def _from(failure: ParseFailure) -> Diagnosis | None:
    if failure.accepted == {"_STREAM"} and not similar(failure.word, ("STREAM",)):
        iri = failure.short if failure.kind in IRIS else "<http://…>"
        return Diagnosis("FROM names a stream here.", f"FROM STREAM {iri}")
    if failure.follows("_STREAM") or (failure.follows("NAME") and failure.accepted == IRIS):
        return Diagnosis(f"FROM STREAM needs an IRI, found {failure.described}.", "FROM STREAM name <http://…>")
    return None


def _declare(failure: ParseFailure) -> Diagnosis | None:
    if failure.follows("_DECLARE") and not similar(failure.word, ("FACT", "EVENT", "STATIC")):
        hint = f"DECLARE FACT {failure.short}" if failure.word and not failure.kind else "DECLARE FACT p"
        return Diagnosis(f"DECLARE needs EVENT, FACT or STATIC, found {failure.described}.", hint)
    if failure.found == "," and "_DECLARE" in failure.accepted and "IRIREF" in failure.accepted:
        return Diagnosis("The predicates of DECLARE are separated by spaces, without commas.", "DECLARE FACT p q")
    return None


def _bind_as(failure: ParseFailure) -> Diagnosis | None:
    if failure.word == "AS" and "LOGICAL_AND" in failure.accepted:
        return Diagnosis("A comparison before AS needs parentheses.", "BIND ?v = (?x > 3)")
    return None


MISTAKES: tuple[Mistake, ...] = (
    duration,
    unit,
    _window,  # before what is said of brackets
    _blank,
    _times,
    _still_open,
    _kind,
    _object_list,  # before what is said of the keyword after it
    _reserved,
    _no_object,
    _two_words,
    _on_init,
    _static,
    _predicate_list,
    _columns,
    _no_head,
    _refused,  # before what is said of the word after it
    _replace_function,
    _expression_first,
    _path,
    _subject,
    _misplaced_on,
    _arm_in_list,
    _prefixed,
    _late,
    _joining,
    _between,
    _once_per,
    _from,
    _declare,
    _bind_as,
    _no_where,
)
