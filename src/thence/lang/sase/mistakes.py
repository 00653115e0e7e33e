"""Common mistakes in SASE+, in addition to those of all languages."""

from __future__ import annotations

import re
from difflib import get_close_matches

from thence.algebra.sase import AggregateName, Strategy
from thence.errors import closest
from thence.lang.mistakes import (
    CLOSING,
    DURATION,
    EQUALITY,
    STILL_OPEN,
    UNIT,
    Diagnosis,
    Mistake,
    Mistakes,
    ParseFailure,
)
from thence.lang.text import END

# Where in a SASE+ text a parser stopped: the tokens around, and the names in PATTERN. For hints alone: what these
# expressions find in a text that can't be read is nearly always what its author meant.

STRATEGIES = [strategy.value for strategy in Strategy]
CLAUSES = ("PATTERN", "WHERE", "WITHIN", "HAVING", "RETURN", "AGGREGATE")

_KEYWORD = re.compile(
    rf"""`[^`\n]*+`|'[^'\n]*+'|"[^"\n]*+"|\#[^\r\n]*+|(?<![.\w])({"|".join(CLAUSES)})\b""", re.IGNORECASE
)
_AFTER_PATTERN = re.compile(rf"\b(?:{'|'.join(CLAUSES[1:])})\b", re.IGNORECASE)
_COMPONENT = re.compile(r"(?:[(,~]|\bPATTERN\b)\s*[\w:`<>#/.-]{1,200}?\s*\+?\s+(\w+)\s*(\[\s*\])?", re.IGNORECASE)


def clauses(failure: ParseFailure) -> list[str]:
    """The clauses of the current block that have begun."""
    begun = [each[1].upper() for each in _KEYWORD.finditer(failure.text.read, 0, failure.at) if each[1]]
    last = max((number for number, each in enumerate(begun) if each == "PATTERN"), default=0)
    return begun[last:]


def _components(failure: ParseFailure) -> dict[str, bool]:
    """The variables of PATTERN, and whether they are closures."""
    read = failure.text.read[: failure.at]
    begins = read.upper().rfind("PATTERN")
    ends = _AFTER_PATTERN.search(read, max(0, begins))
    area = read[max(0, begins) : ends.start() if ends else None][:2000]
    return {each[1]: each[2] is not None for each in _COMPONENT.finditer(area)}


def variable(failure: ParseFailure) -> str:
    """The first variable as a value names it; `a`, where PATTERN can't be read."""
    name, several = next(iter(_components(failure).items()), ("a", False))
    return f"{name}[1]" if several else name


# Common mistakes in the conditions and values of SASE+.

_REFERS = re.compile(r"\s*[.(\[]")
_OPERAND = re.compile(r"\s*['\"0-9]")
_WORD = re.compile(r"\s*(\w+)")
_LAST_WORD = re.compile(r"(\w+)\s*\Z")
_INSIDE = re.compile(r"[^\[\]{}();,\n<>=!^]*+")
_CONDITION_BEFORE = re.compile(r"(?:\b(?:WHERE|HAVING|AND|OR|NOT)|\^|∧|∨|&&|\|\||\{)\s*\Z", re.IGNORECASE)
_KEYS_BEFORE = re.compile(
    r"\b((?:PARTITION\s+)?BY)\b((?:(?!\b(?:AND|OR|WHERE|WITHIN|HAVING|RETURN|AGGREGATE)\b)[^{}^∧∨;])*)\Z", re.IGNORECASE
)
_OPERATOR_BEFORE = re.compile(r"[-+*/%,(=<>]\s*\Z")
_SUMMARY_BEFORE = re.compile(
    rf"\b({'|'.join(summary.value for summary in AggregateName)})\s*\([\w\s,]*\Z", re.IGNORECASE
)
_INDEXED = re.compile(r"\[[^\[\]\n]*\]\s*\.\s*(\w+)")
_OF = re.compile(r"(\b\w+(?:\[[^\[\]\n]*\])?\.|[(,~]\s*|\bPATTERN\s+)(?:\w+|`[^`\n]+`)\Z", re.IGNORECASE)
_DOTTED = re.compile(r"\.\(?\s*(\w+(?:\.\w+)*)")
_COMMENT = re.compile(r"""`[^`\n]*+`|'[^'\n]*+'|"[^"\n]*+"|<[^<>\s]*+>|\#[^\r\n]*+|(--(?=\s)|//|/\*)""")
_DASHES = re.compile(r"--\s*\Z")
_SPACED = re.compile(r"\w+(?:[-\s]+\w+)+(?=\s*\()")
_SPACED_PERCENT = re.compile(r"(?<![\w.])((?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+))\s+(%)\s*\Z")
_CLAUSES = frozenset({"WHERE", "WITHIN", "HAVING", "RETURN", "AGGREGATE", "UNION"})
_SPANS = frozenset({"SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "TICK"})
_BEGINS = frozenset(
    {"", "LSQB", "BRACKETS", "LPAR", "NOT", "STRATEGY", "_PARTITION", "INTEGER", "DECIMAL", "DOUBLE", "PERCENT"}
    | {"STRING", "QUOTED", "TRUE", "FALSE", "TIMESTAMP", "DATE"}
)


def _comment(failure: ParseFailure) -> Diagnosis | None:
    """A comment of another language. After "--" a value is possible: reading stops later on the line, or after it."""
    read, before = failure.text.read, failure.before
    line = read.rfind("\n", 0, failure.at if before is None else before.start_pos) + 1
    begins = (each.start() for each in _COMMENT.finditer(read, line, failure.at + 2) if each[1])
    at = failure.at if read.startswith("--", failure.at) else next(begins, None)
    return None if at is None else Diagnosis('A comment begins with "#".', "# …", at=at)


def _quote_within(failure: ParseFailure) -> Diagnosis | None:
    if failure.last_kind != "STRING" or not failure.touches or not failure.word:
        return None
    return Diagnosis("A quote within a text is written twice.", failure.last[0] * 2, failure.at - 1)


def _percentage(failure: ParseFailure) -> Diagnosis | None:
    """`80 % * x`: a number and the sign of a remainder, by what is missing."""
    # a keyword reads as a name, and reading stops behind it
    is_keyword = failure.last.upper() in (*_CLAUSES, "AND", "OR", "AS", "IN", "IS", "NOT", "LIKE")
    found = failure.behind(_SPACED_PERCENT, failure.last_at if is_keyword else None)
    return found and Diagnosis("A percentage is written without a space.", f"{found[1]}%", found.start(2))


def _brackets(failure: ParseFailure) -> Diagnosis | None:
    """A mistake in square brackets: in an index, or in the attributes of an equivalence test."""
    if failure.opened[-1:] != ["["]:
        return None
    at = failure.opened[-1].start_pos or 0
    before = failure.behind(_LAST_WORD, at)
    if before is None or before[1].upper() in ("AND", "OR", "NOT", "WHERE", "HAVING"):
        return _same(failure)
    name, inside = before[1], _INSIDE.match(failure.text.read, at + 1)
    assert inside is not None
    written = inside[0].strip()
    if not failure.text.read.startswith("]", inside.end()) or not written:
        return Diagnosis(f"The {failure.innermost} is not closed.", "]")
    what, hint = "an index", f"{name}[1], {name}[i], {name}[i-1] or {name}[{name}.LEN]"
    if ".." in written:
        what, hint = "a range", f"{name}[..i-1] or {name}[]"
    return Diagnosis(f'"{written[:40]}" is not {what}.', hint, at=at + 1)


def _same(failure: ParseFailure) -> Diagnosis | None:
    if failure.found == "." and (attribute := failure.ahead(_WORD)):
        reason = "An equivalence test names attributes alone, for all variables."
        return Diagnosis(reason, f"[{attribute[1][:40]}]", failure.last_at)
    if failure.found == "]":
        return Diagnosis('An equivalence test needs an attribute, found "]".', "[symbol]")
    return None


def _key(failure: ParseFailure) -> Diagnosis | None:
    """A mistake in the keys of PARTITION BY, or of BY of AGGREGATE: values of each event, of attributes without a
    variable."""
    keys = failure.behind(_KEYS_BEFORE, failure.last_at)
    if keys is None:
        return None
    clause = " ".join(keys[1].upper().split())
    if failure.last_kind == "NAME" and failure.kind in ("DOT", "LSQB", "BRACKETS"):
        return _key_of_variable(failure, clause, keys[2])
    before = failure.last.upper()
    if before in _CLAUSES and (not keys[2].strip() or _OPERATOR_BEFORE.search(keys[2])):
        return Diagnosis(f"An attribute is missing before {before}.", f"{clause} symbol", failure.last_at)
    return None


def _key_of_variable(failure: ParseFailure, clause: str, written: str) -> Diagnosis:
    """`PARTITION BY a.price`: which event is meant is not to be said."""
    read, at = failure.text.read, failure.last_at
    if over := failure.behind(_SUMMARY_BEFORE, at):
        reason = f"{clause} is about one event at a time, but {over[1].lower()} covers several."
        return Diagnosis(reason, f"{clause} symbol", at=over.start())
    following = failure.ahead(_WORD) if failure.found == "." else _INDEXED.match(read, failure.at, failure.at + 80)
    attribute = following[1][:40] if following and following[1].upper() != "LEN" else "symbol"
    kept = written.strip() if len(written) <= 80 else ""
    space = " " * bool(re.search(r"[\w,+*/%-]\Z", kept))
    hint = f"{clause} {kept}{space}{attribute}"
    return Diagnosis(f"{clause} takes each event's own attributes, without a variable.", hint, at=at)


def _dotted(failure: ParseFailure) -> Diagnosis | None:
    """`b.k.x`, `b.(k.x)`: a value of a composite that another query gave has a dot in its name."""
    written, rest = failure.behind(_OF), _DOTTED.match(failure.text.read, failure.at, failure.at + 200)
    if failure.found != "." or written is None or rest is None:
        return None
    if failure.accepted & {"BANG", "_PATTERN"}:  # variables of a strategy, and streams: these have no backquotes
        return None
    owner = written[1][:40] if written[1].endswith(".") else ""
    hint = f"{owner}`{failure.last.strip('`')}.{rest[1][:40]}`"
    return Diagnosis('A name with a "." in it is written in backquotes.', hint, failure.last_at)


def _in(failure: ParseFailure) -> Diagnosis | None:
    """IN has a list, and in RETURN there is IN STREAM."""
    at, word = failure.at, ""
    if failure.last_kind == "_IN":
        at, word = failure.last_at, failure.short if failure.word else ""
    elif failure.word == "IN" and "_IN_STREAM" in failure.accepted and (following := failure.ahead(_WORD)):
        word = following[1][:40]
    else:
        return None
    if word and closest(word, ["STREAM"]):
        return Diagnosis(f'"IN {word}" is not known here.', "IN STREAM", at=at)
    if word and clauses(failure)[-1:] == ["RETURN"]:
        return Diagnosis(f'A stream is named after IN STREAM, found "IN {word}".', "IN STREAM name", at=at)
    return Diagnosis(f"IN needs a list in parentheses, found {failure.described}.", "IN (1, 2)")


def _is_bare(failure: ParseFailure) -> bool:
    """Whether a name before begins a reference, and nothing of it follows."""
    return failure.last_kind == "NAME" and {"DOT", "LSQB"} <= failure.accepted and "_AND" not in failure.accepted


def _bare(failure: ParseFailure) -> Diagnosis | None:
    if not _is_bare(failure):
        return None
    at, name = failure.last_at, failure.last
    if failure.found == "-" and failure.text.read.startswith("->", failure.at):
        return Diagnosis('An attribute follows ".", found "->".', f"{name}.…")
    if comment := failure.behind(_DASHES, at):
        return Diagnosis('A comment begins with "#".', "# …", comment.start())
    if name.upper() in _CLAUSES:
        is_condition = failure.behind(_CONDITION_BEFORE, at) is not None
        what, hint = ("condition", "a.price > 10") if is_condition else ("value", "a.price or 10")
        return Diagnosis(f"A {what} is missing before {name.upper()}.", hint, at)
    spaced = _SPACED.match(failure.text.read, at, at + 80)
    if spaced and (strategy := closest(re.sub(r"[-\s]+", "_", spaced[0]), STRATEGIES)):
        return Diagnosis(f'There is no strategy "{spaced[0]}".', strategy, at=at)
    components = _components(failure)
    if name in components:
        reason = f'"{name}" is a variable of PATTERN: which of its attributes is meant?'
        of_all = "[]" if clauses(failure)[-1:] == ["RETURN"] else "[i]"
        return Diagnosis(reason, f"{name}{of_all if components[name] else ''}.price", at)
    if failure.found.startswith(":"):
        return Diagnosis(f'"{name}" alone is not a value.', f"{variable(failure)}.{name}{failure.short}", at=at)
    hint = f"{variable(failure)}.{name} for an attribute, '{name}' for a text"
    return Diagnosis(f'"{name}" alone is not a value.', hint, at=at)


def _joined(failure: ParseFailure) -> Diagnosis | None:
    """A condition is whole, and the next one follows it."""
    if failure.found in (",", ";", "&") and clauses(failure)[-1:] in (["WHERE"], ["HAVING"]):
        return Diagnosis(f'Conditions are joined by "^" or AND, found {failure.shown}.', "^")
    if "_AND" not in failure.accepted or "_AS" in failure.accepted or failure.kind == "IRIREF":
        return None
    if failure.word.removesuffix("S") in _SPANS:
        return Diagnosis(f"A unit of time follows a number, found {failure.shown}.", f"10 {failure.word}")
    if "EQUAL" in failure.accepted and failure.word:
        return _compared(failure)
    if failure.found == "|":
        return Diagnosis('Alternatives are joined by OR or "∨", found "|".', "OR")
    if failure.kind not in _BEGINS or not (failure.kind or failure.word):
        return None
    if failure.word and not failure.ahead(_REFERS) and _is_misspelt(failure):
        return None
    return Diagnosis(f'Conditions are joined by "^" or AND, found {failure.shown}.', f"^ {failure.short}")


def _compared(failure: ParseFailure) -> Diagnosis | None:
    """A word where a comparison could be."""
    if failure.word in ("NOTNULL", "ISNULL"):
        return Diagnosis(f"{failure.shown} is not an operator.", "IS NOT NULL" if failure.word[0] == "N" else "IS NULL")
    if failure.word == "BETWEEN":
        return Diagnosis("BETWEEN is not supported.", "a.price >= 10 ^ a.price <= 20")
    if failure.ahead(_REFERS):
        return Diagnosis(f'A sign such as "=" or "^" is missing before {failure.shown}.', f"= {failure.short}")
    if _is_misspelt(failure):
        return None
    if failure.ahead(_OPERAND):
        return Diagnosis(f"{failure.shown} is not an operator.", "=, !=, <, <=, >, >=, LIKE, IN or IS NULL")
    if failure.last_kind == "NAME":
        hint = f"`{failure.last} {failure.short}`"
        return Diagnosis("A name with a space in it is written in backquotes.", hint, failure.last_at)
    return None


def _is_misspelt(failure: ParseFailure) -> bool:
    """Whether a keyword was meant that could be there."""
    return bool(get_close_matches(failure.word, failure.keywords, n=1, cutoff=0.8))


def _missing(failure: ParseFailure) -> Diagnosis | None:
    if failure.last_kind == "DOT" or failure.accepted == {"DOT"}:
        return Diagnosis(f"An attribute is missing, found {failure.described}.", f"{variable(failure)}.price")
    if "PERCENT" not in failure.accepted or failure.found in CLOSING.values() or (failure.opened and not failure.found):
        return None
    if "STRATEGY" in failure.accepted and failure.last_kind not in ("_RETURN", "COMMA"):
        return Diagnosis(f"A condition is missing, found {failure.described}.", "a.price > 10")
    return Diagnosis(f"A value is missing, found {failure.described}.", "a.price, 10 or 'text'")


_CALLED = re.compile(r"(\b[^\W\d]\w*)\s*\([^(){}]*(?:\)\s*)?\Z")
_BRACED = re.compile(r"[^(){}]*\)\s*\{")
_NEXT_QUERY = re.compile(r"\s*(?:PATTERN|FROM)\b", re.IGNORECASE)
_CLAUSE_KINDS = frozenset({"_WHERE", "_WITHIN", "_HAVING", "_RETURN", "_AGGREGATE", "_UNION"})


def _unit(failure: ParseFailure) -> Diagnosis | None:
    return None if failure.kind in _CLAUSE_KINDS or failure.ahead(_REFERS) else UNIT(failure)


# PATTERN


def _is_typed(failure: ParseFailure) -> bool:
    """Whether the parser stopped after a component's type."""
    return failure.accepted == ({"NAME"} if failure.last_kind == "PLUS" else {"NAME", "PLUS"}) and failure.last != ""


def _no_variable(failure: ParseFailure) -> Diagnosis | None:
    if not _is_typed(failure):
        return None
    hint = "STOCK+ a[]" if failure.last_kind == "PLUS" else f"{failure.last} {failure.last[0].lower()}"
    return Diagnosis(f"A component needs a variable after its type, found {failure.described}.", hint)


def _is_after_component(failure: ParseFailure) -> bool:
    """Whether it stopped within SEQ, after a component's variable."""
    could_end = failure.accepted - {"BRACKETS"} in ({"COMMA", "RPAR"}, {"RPAR"})
    stops = failure.opened and failure.found not in ("", *CLOSING.values())
    return could_end and bool(stops) and clauses(failure)[-1:] == ["PATTERN"]


# Strategies


def _strategy(failure: ParseFailure) -> Diagnosis | None:
    """An unknown strategy reads as a function, until its variables or its brace."""
    called = _CALLED.search(failure.text.read, 0, failure.at)
    if called is None or called[1].lower() in STRATEGIES:
        return None
    close = closest(called[1], STRATEGIES)
    braced = failure.found == "{" or failure.ahead(_BRACED)
    if not close and not braced and not called[1].lower().startswith(("skip", "strict", "partition")):
        return None
    return Diagnosis(f'There is no strategy "{called[1][:40]}".', close or ", ".join(STRATEGIES), at=called.start())


# Clauses


def _begin(failure: ParseFailure) -> Diagnosis | None:
    if "_PATTERN" not in failure.accepted:
        return None
    near = closest(failure.word, ["PATTERN", "PREFIX", "FROM", "BASE"])
    if near and not failure.word.startswith(near):  # else a space is missing
        return Diagnosis(f"{failure.shown} is not known here.", near)
    if near:
        return None
    hint = "PATTERN SEQ(…)" if failure.word == "SEQ" else "PATTERN SEQ(STOCK a, STOCK b) … RETURN a.price"
    return Diagnosis(f"A query begins with PATTERN, found {failure.described}.", hint)


def _nothing_given(failure: ParseFailure) -> Diagnosis | None:
    if "_RETURN" not in failure.accepted or failure.opened:
        return None
    if failure.word and failure.ahead(_REFERS) and clauses(failure)[-1:] in (["PATTERN"], ["WITHIN"]):
        return Diagnosis(f"RETURN is missing before {failure.shown}.", f"RETURN {failure.short}…")
    ends = failure.kind in (END, "_UNION") or (failure.found == ";" and failure.ahead(_NEXT_QUERY))
    if not ends:
        return None
    hint = f"RETURN {variable(failure)}.price"
    return Diagnosis("RETURN is missing: every query needs it.", hint)


def _star(failure: ParseFailure) -> Diagnosis | None:
    if failure.found != "*" or failure.last_kind not in ("_RETURN", "DOT", "COMMA"):
        return None
    return Diagnosis('"*" is not supported: RETURN names its columns.', f"{variable(failure)}.price")


def _is_unnamed(failure: ParseFailure) -> bool:
    """Whether a value that RETURN gives is whole, and could have a name."""
    return "_AS" in failure.accepted and clauses(failure)[-1:] != ["WHERE"]


def _lacks_comma(failure: ParseFailure) -> bool:
    return _is_unnamed(failure) or failure.accepted >= {"COMMA", "_UNION"}


def _is_name(failure: ParseFailure) -> bool:
    return _is_unnamed(failure) and not closest(failure.word, failure.keywords)


def _order(failure: ParseFailure) -> Diagnosis | None:
    begun = clauses(failure)
    if failure.kind not in _CLAUSE_KINDS or not begun:
        return None
    word = failure.found.upper()
    if word in begun:
        return Diagnosis(f"{word} is given twice.", f"one {word}")
    return Diagnosis(f"{word} is not allowed after {begun[-1]}.", "PATTERN … WHERE … WITHIN … HAVING … RETURN")


# fmt: off
_EQUAL = re.compile(r"\s*=")
_BACKQUOTE = re.compile("`")
_NO_VARIABLES = "A strategy names its variables, found {described}. Try: skip_till_next_match(a, b[]) { … }"
_ABSENT = re.compile(r"[(,]\s*(?P<sign>NOT)\s+\w+\s*\Z", re.IGNORECASE)
_TYPE_AND_VARIABLE = re.compile(r"(?P<type>\w+)\s+(?P<variable>\w+)\s*(?:\[\s*\]\s*)?\Z")
_UNBRACKETED = re.compile(r"\bPATTERN\s+(?P<word>SEQ)\s+\w+\s*\Z", re.IGNORECASE)

CONDITIONS: Mistakes = (
    _comment,  # before the quotes: one may hold an apostrophe
    Mistake(found="' \"", says="The quote that opens here is not closed on its line. Try: {found}"),
    Mistake(found="`", ahead=_BACKQUOTE, says="A name in backquotes can't be empty. Try: `my price`"),
    Mistake(found="`", says="The backquote that opens here is not closed on its line. Try: `"),
    Mistake(found=[*"“”„‘’‚«»"], says="A text is written in straight quotes, found {shown}. Try: 'text'"),
    _quote_within,
    Mistake(after="_LIKE", says="LIKE needs a text in quotes, found {described}. Try: LIKE 'A%'"),
    Mistake(last="DATE", when=_is_bare, says="DATE needs a text in quotes, found {described}. Try: DATE '2024-05-06'"),
    Mistake(last="TIMESTAMP", when=_is_bare,
            says="TIMESTAMP needs a text in quotes, found {described}. Try: TIMESTAMP '2024-05-06T07:00:00Z'"),
    # `x = NULL` reads NULL as a variable, and stops behind it
    Mistake(last="NULL NONE", when=_is_bare, at="last", says="A missing value equals nothing. Try: IS NULL"),
    Mistake(word="NULL", after="NOT", at="last", says="IS is missing before NOT NULL. Try: IS NOT NULL"),
    Mistake(accepts="_NULL",
            says="IS asks whether something is missing, found {described}. Try: IS NULL or IS NOT NULL; = for a value"),
    Mistake(found="=", last="=", touches=True, says=EQUALITY),
    Mistake(found=">", last="=", touches=True, at="last", says='"=>" is not a comparison. Try: >='),
    Mistake(found="<", last="=", touches=True, at="last", says='"=<" is not a comparison. Try: <='),
    Mistake(found="!", last="=", touches=True, at="last", says='"=!" is not a comparison. Try: !='),
    Mistake(found="!", accepts="NOT PERCENT", says='A condition is negated by NOT, found "!". Try: NOT'),
    Mistake(found="!", accepts="EQUAL", ahead=_EQUAL, says='"!" and "=" are one sign. Try: !='),
    Mistake(found=":", accepts="EQUAL", ahead=_EQUAL, says='":=" is not a comparison. Try: ='),
    Mistake(found="~", accepts="EQUAL", says="\"~\" is not a comparison. Try: LIKE 'A%'"),
    _percentage,
    Mistake(kind="EQUAL DIFFERENT LESS GREATER LESS_OR_EQUAL GREATER_OR_EQUAL", accepts="_AND", rejects="EQUAL",
            says='A comparison has two sides, found another {shown}. Try: two, joined by "^" or AND'),
    _brackets,
    _key,
    _dotted,
    _in,
)
"""How conditions are written, before anything is said of what they are in."""

PATTERN: Mistakes = (
    Mistake(found="!", accepts="TILDE", says='Absence is written with "~", found "!". Try: ~'),
    Mistake(found="(", accepts="TILDE", after="_PATTERN", says="Several components need SEQ. Try: PATTERN SEQ(…)"),
    Mistake(accepts="TILDE", says="A component is missing, found {described}. Try: STOCK a"),
    Mistake(found="*", when=_is_typed, says='A closure is written with "+": one event or more. Try: {last}+'),
    Mistake(found="?", when=_is_typed,
            says="Optional components are not supported. Try: query UNION query, with it and without"),
    Mistake(found="(", last="OR", when=_is_typed, says="Alternatives in SEQ are not supported. Try: query UNION query"),
    Mistake(found="(", last="AND NOT SEQ", when=_is_typed,
            says="{LAST} is not allowed in SEQ. Try: components alone, separated by commas"),
    _no_variable,
    Mistake(rejects="COMMA", when=_is_after_component,
            says='"~" negates one component, found {shown}. Try: a ~ for each'),
    Mistake(behind=_ABSENT, when=_is_after_component, at="sign",
            says='Absence is written with "~", found "NOT". Try: ~'),
    Mistake(found="+", behind=_TYPE_AND_VARIABLE, when=_is_after_component,
            says='The "+" follows the type. Try: {type}+ {variable}[]'),
    Mistake(found="|", word="OR", when=_is_after_component,
            says="Alternatives in SEQ are not supported. Try: query UNION query"),
    Mistake(when=_is_after_component, says="Components are separated by commas, found {shown}. Try: ,"),
    # without SEQ
    Mistake(accepts="_WHERE _RETURN", behind=_UNBRACKETED, at="word",
            says="The components of SEQ are written in parentheses. Try: SEQ(…)"),
    Mistake(found=",", accepts="_WHERE _RETURN", says="Several components need SEQ. Try: PATTERN SEQ(…)"),
)

MISTAKES: Mistakes = (
    *CONDITIONS,
    Mistake(kind=_CLAUSE_KINDS, word="WHERE WITHIN RETURN", opened=True, says=STILL_OPEN),
    DURATION,
    _unit,
    _strategy,  # before the row of a function's arguments
    Mistake(after="STRATEGY", says=_NO_VARIABLES),
    Mistake(last="(", accepts_only="NAME", says=_NO_VARIABLES),
    Mistake(accepts_only="LBRACE",
            says="A strategy needs its conditions in braces, found {described}. Try: { … }"),
    Mistake(found=".", accepts="BANG", says='A strategy names variables alone, found ".". Try: {last}'),
    Mistake(found="[", accepts="BANG", says='A strategy names a closure whole, found "[". Try: {last}[]'),
    Mistake(after="_FROM",
            says="A stream's name is one word, without quotes, found {described}. Try: FROM stocks PATTERN …"),
    Mistake(last="STREAM", after="NAME", accepts="_PATTERN", at="last",
            says='FROM takes names of streams alone, found "{last}". Try: FROM {short}'),
    Mistake(last="PATTERN", after="NAME", accepts="_PATTERN", at="last",
            says='FROM takes names of streams alone, found "{last}". Try: FROM stocks PATTERN …'),
    Mistake(accepts="_PATTERN COMMA", when=lambda failure: not failure.word,
            says="A stream's name is one word, found {described}. Try: FROM stocks PATTERN …"),
    _begin,
    _nothing_given,
    *PATTERN,
    _star,
    Mistake(after="_IN_STREAM", says="IN STREAM needs a name, one word, found {described}. Try: IN STREAM rises"),
    Mistake(after="_AS", says="The name after AS is one word, or in backquotes, found {described}. Try: AS price"),
    Mistake(kind="_IN_STREAM", when=lambda failure: clauses(failure)[-1:] == ["AGGREGATE"],
            says="AGGREGATE makes no events, so IN STREAM is not allowed. Try: RETURN … IN STREAM name"),
    Mistake(bare=True, ahead=_REFERS, when=_lacks_comma, says='A "," is missing before {shown}. Try: , {short}'),
    Mistake(word="GROUP", when=_is_unnamed,
            says="There is no GROUP BY: AGGREGATE makes groups. Try: AGGREGATE count(*) BY symbol"),
    Mistake(word="ORDER LIMIT OFFSET", when=_is_unnamed,
            says="{word} is not supported: matches are emitted as they are found. Try: the query without it"),
    Mistake(bare=True, when=_is_name, says="A column's name follows AS, found {shown}. Try: AS {short}"),
    # what is missing, once nothing better is known
    _bare,
    _joined,
    Mistake(kind=_BEGINS, accepts="COMMA", rejects="_AND _PATTERN", opened=True,
            when=lambda failure: failure.word != "" or failure.kind != "",
            says='A "," is missing before {shown}. Try: , {short}'),
    _missing,
    _order,
)
# fmt: on
