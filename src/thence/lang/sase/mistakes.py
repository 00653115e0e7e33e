"""Common mistakes in SASE+, besides those of all languages: how each is recognised, and what to say."""

from __future__ import annotations

import re
from difflib import get_close_matches

from thence.algebra.sase import AggregateName, Strategy
from thence.errors import closest
from thence.lang.mistakes import CLOSING, Diagnosis, Mistake, ParseFailure, duration, unit
from thence.lang.text import END

# Where in a SASE+ text a parser stopped: what stands around, and what PATTERN names. For hints alone: what these
# expressions find in a text that can't be read is nearly always what its author meant.

STRATEGIES = [strategy.value for strategy in Strategy]
CLAUSES = ("PATTERN", "WHERE", "WITHIN", "HAVING", "RETURN", "AGGREGATE")

_NEAR = 200  # characters: a text may have a million, and an expression is not to look at all of them from each
_KEYWORD = re.compile(
    rf"""`[^`\n]*+`|'[^'\n]*+'|"[^"\n]*+"|\#[^\r\n]*+|(?<![.\w])({"|".join(CLAUSES)})\b""", re.IGNORECASE
)
_AFTER_PATTERN = re.compile(rf"\b(?:{'|'.join(CLAUSES[1:])})\b", re.IGNORECASE)
_COMPONENT = re.compile(r"(?:[(,~]|\bPATTERN\b)\s*[\w:`<>#/.-]{1,200}?\s*\+?\s+(\w+)\s*(\[\s*\])?", re.IGNORECASE)


def ahead(failure: ParseFailure, pattern: re.Pattern[str]) -> re.Match[str] | None:
    """The text that follows the failure."""
    return pattern.match(failure.text.read, failure.at + len(failure.found))


def behind(failure: ParseFailure) -> str:
    """The text just before the failure."""
    return failure.text.read[max(0, failure.at - _NEAR) : failure.at]


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


def is_component(failure: ParseFailure, name: str) -> bool:
    return name in _components(failure)


def closure(failure: ParseFailure, name: str) -> bool:
    return _components(failure).get(name, False)


def variable(failure: ParseFailure) -> str:
    """The first variable as a value names it; `a`, where PATTERN can't be read."""
    name, several = next(iter(_components(failure).items()), ("a", False))
    return f"{name}[1]" if several else name


# Common mistakes in the conditions and values of SASE+.

_REFERS = re.compile(r"\s*[.(\[]")
_OPERAND = re.compile(r"\s*['\"0-9]")
_EQUAL = re.compile(r"\s*=")
_WORD = re.compile(r"\s*(\w+)")
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
_SPACED = re.compile(r"\w+(?:[-\s]+\w+)+(?=\s*\()")
_SPACED_PERCENT = re.compile(r"(?<![\w.])((?:[0-9]+(?:\.[0-9]+)?|\.[0-9]+))\s+(%)\s*\Z")
_TURNED = {"=>": ">=", "=<": "<=", "=!": "!="}
_COMPARISONS = frozenset({"EQUAL", "DIFFERENT", "LESS", "GREATER", "LESS_OR_EQUAL", "GREATER_OR_EQUAL"})
_CLAUSES = frozenset({"WHERE", "WITHIN", "HAVING", "RETURN", "AGGREGATE", "UNION"})
_SPANS = frozenset({"SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "TICK"})
_BEGINS = frozenset(
    {"", "LSQB", "BRACKETS", "LPAR", "NOT", "STRATEGY", "_PARTITION", "INTEGER", "DECIMAL", "DOUBLE", "PERCENT"}
    | {"STRING", "QUOTED", "TRUE", "FALSE", "TIMESTAMP", "DATE"}
)


def _quote(failure: ParseFailure) -> Diagnosis | None:
    """A quote that is closed would be a token."""
    if failure.found in ("'", '"'):
        return Diagnosis("The quote that opens here is not closed on its line.", failure.found)
    if failure.found == "`" and failure.text.read.startswith("``", failure.at):
        return Diagnosis("A name in backquotes can't be empty.", "`my price`")
    if failure.found == "`":
        return Diagnosis("The backquote that opens here is not closed on its line.", "`")
    if failure.found and failure.found in "“”„‘’‚«»":
        return Diagnosis(f"A text is written in straight quotes, found {failure.shown}.", "'text'")
    return None


def _comment(failure: ParseFailure) -> Diagnosis | None:
    """A comment of another language. After "--" a value may stand: reading stops later on the line, or behind it."""
    read, before = failure.text.read, failure.before
    line = read.rfind("\n", 0, failure.at if before is None else before.start_pos) + 1
    begins = (each.start() for each in _COMMENT.finditer(read, line, failure.at + 2) if each[1])
    at = failure.at if read.startswith("--", failure.at) else next(begins, None)
    return None if at is None else Diagnosis('A comment begins with "#".', "# …", at=at)


def _quote_within(failure: ParseFailure) -> Diagnosis | None:
    before = failure.before
    if before is None or not failure.follows("STRING") or before.end_pos != failure.at or not failure.word:
        return None
    return Diagnosis("A quote within a text is written twice.", before[0] * 2, at=failure.at - 1)


def _text(failure: ParseFailure) -> Diagnosis | None:
    if failure.follows("_LIKE"):
        return Diagnosis(f"LIKE needs a text in quotes, found {failure.described}.", "LIKE 'A%'")
    kind = failure.before.upper() if failure.before is not None and _is_bare(failure) else ""
    if kind in ("DATE", "TIMESTAMP"):
        hint = f"{kind} '2024-05-06{'T07:00:00Z' if kind == 'TIMESTAMP' else ''}'"
        return Diagnosis(f"{kind} needs a text in quotes, found {failure.described}.", hint)
    return None


def _null(failure: ParseFailure) -> Diagnosis | None:
    """`x = NULL` reads NULL as a variable, and stops behind it."""
    before = failure.before
    if before is not None and before.upper() in ("NULL", "NONE") and _is_bare(failure):
        return Diagnosis("A missing value equals nothing.", "IS NULL", at=before.start_pos)
    if before is not None and failure.follows("NOT") and failure.word == "NULL":
        return Diagnosis("IS is missing before NOT NULL.", "IS NOT NULL", at=before.start_pos)
    if "_NULL" in failure.accepted:
        reason = f"IS asks whether something is missing, found {failure.described}."
        return Diagnosis(reason, "IS NULL or IS NOT NULL; = for a value")
    return None


def _sign(failure: ParseFailure) -> Diagnosis | None:
    before = failure.before
    if before is not None and before.end_pos == failure.at:
        pair = f"{before}{failure.found}"
        if pair == "==":
            return Diagnosis('Equality is written with one "=".', "=")
        if pair in _TURNED:
            return Diagnosis(f'"{pair}" is not a comparison.', _TURNED[pair], at=before.start_pos)
    if failure.found == "!" and "NOT" in failure.accepted and "PERCENT" in failure.accepted:
        return Diagnosis('A condition is negated by NOT, found "!".', "NOT")
    if "EQUAL" not in failure.accepted:
        return None
    if failure.found == "!" and ahead(failure, _EQUAL):
        return Diagnosis('"!" and "=" are one sign.', "!=")
    if failure.found == ":" and ahead(failure, _EQUAL):
        return Diagnosis('":=" is not a comparison.', "=")
    return Diagnosis('"~" is not a comparison.', "LIKE 'A%'") if failure.found == "~" else None


def _percentage(failure: ParseFailure) -> Diagnosis | None:
    """`80 % * x`: a number and the sign of a remainder, by what is missing."""
    before = failure.before
    at = failure.at
    if before is not None and before.upper() in (*_CLAUSES, "AND", "OR", "AS", "IN", "IS", "NOT", "LIKE"):
        at = before.start_pos or 0  # it reads as a name, and reading stops behind it
    found = _SPACED_PERCENT.search(failure.text.read, max(0, at - 80), at)
    if found is None:
        return None
    return Diagnosis("A percentage is written without a space.", f"{found[1]}%", at=found.start(2))


def _third_side(failure: ParseFailure) -> Diagnosis | None:
    if failure.kind in _COMPARISONS and "_AND" in failure.accepted and "EQUAL" not in failure.accepted:
        return Diagnosis(f"A comparison has two sides, found another {failure.shown}.", 'two, joined by "^" or AND')
    return None


def _brackets(failure: ParseFailure) -> Diagnosis | None:
    """A mistake in square brackets: in an index, or in the attributes of an equivalence test."""
    if not failure.opened or failure.opened[-1] != "[":
        return None
    at = failure.opened[-1].start_pos or 0
    before = re.search(r"(\w+)\s*\Z", failure.text.read[max(0, at - 60) : at])
    if before is None or before[1].upper() in ("AND", "OR", "NOT", "WHERE", "HAVING"):
        return _same(failure)
    name, inside = before[1], _INSIDE.match(failure.text.read, at + 1)
    assert inside is not None
    written = inside[0].strip()
    if not failure.text.read.startswith("]", inside.end()) or not written:
        return Diagnosis(f'The "[" at {failure.place(failure.opened[-1])} is not closed.', "]")
    what, hint = "an index", f"{name}[1], {name}[i], {name}[i-1] or {name}[{name}.LEN]"
    if ".." in written:
        what, hint = "a range", f"{name}[..i-1] or {name}[]"
    return Diagnosis(f'"{written[:40]}" is not {what}.', hint, at=at + 1)


def _same(failure: ParseFailure) -> Diagnosis | None:
    if failure.found == "." and (attribute := ahead(failure, _WORD)):
        before = failure.before.start_pos if failure.before is not None else None
        reason = "An equivalence test names attributes alone, for all variables."
        return Diagnosis(reason, f"[{attribute[1][:40]}]", at=before)
    if failure.found == "]":
        return Diagnosis('An equivalence test needs an attribute, found "]".', "[symbol]")
    return None


def _key(failure: ParseFailure) -> Diagnosis | None:
    """A mistake in the keys of PARTITION BY, or of BY of AGGREGATE: values of each event, of attributes without a
    variable."""
    before = failure.before
    if before is None:
        return None
    at = before.start_pos or 0
    keys = _KEYS_BEFORE.search(failure.text.read[max(0, at - 200) : at])
    if keys is None:
        return None
    clause = " ".join(keys[1].upper().split())
    if failure.follows("NAME") and failure.kind in ("DOT", "LSQB", "BRACKETS"):
        return _key_of_variable(failure, clause, keys[2])
    if before.upper() in _CLAUSES and (not keys[2].strip() or _OPERATOR_BEFORE.search(keys[2])):
        return Diagnosis(f"An attribute is missing before {before.upper()}.", f"{clause} symbol", at=at)
    return None


def _key_of_variable(failure: ParseFailure, clause: str, written: str) -> Diagnosis:
    """`PARTITION BY a.price`: which event is meant is not to be said."""
    before, read = failure.before, failure.text.read
    assert before is not None
    at = before.start_pos or 0
    if over := _SUMMARY_BEFORE.search(read, max(0, at - 80), at):
        reason = f"{clause} is about one event at a time, but {over[1].lower()} covers several."
        return Diagnosis(reason, f"{clause} symbol", at=over.start())
    following = ahead(failure, _WORD) if failure.found == "." else _INDEXED.match(read, failure.at, failure.at + 80)
    attribute = following[1][:40] if following and following[1].upper() != "LEN" else "symbol"
    kept = written.strip() if len(written) <= 80 else ""
    space = " " * bool(re.search(r"[\w,+*/%-]\Z", kept))
    hint = f"{clause} {kept}{space}{attribute}"
    return Diagnosis(f"{clause} takes each event's own attributes, without a variable.", hint, at=at)


def _dotted(failure: ParseFailure) -> Diagnosis | None:
    """`b.k.x`, `b.(k.x)`: a value of a composite that another query gave has a dot in its name."""
    written, rest = _OF.search(behind(failure)), _DOTTED.match(failure.text.read, failure.at, failure.at + 200)
    if failure.found != "." or failure.before is None or written is None or rest is None:
        return None
    if failure.accepted & {"BANG", "_PATTERN"}:  # variables of a strategy, and streams: these have no backquotes
        return None
    owner = written[1][:40] if written[1].endswith(".") else ""
    hint = f"{owner}`{failure.before.strip('`')[:40]}.{rest[1][:40]}`"
    return Diagnosis('A name with a "." in it is written in backquotes.', hint, at=failure.before.start_pos)


def _in(failure: ParseFailure) -> Diagnosis | None:
    """IN has a list, and in RETURN there is IN STREAM."""
    at, word = failure.at, ""
    if failure.follows("_IN") and failure.before is not None:
        at, word = failure.before.start_pos or 0, failure.short if failure.word else ""
    elif failure.word == "IN" and "_IN_STREAM" in failure.accepted and (following := ahead(failure, _WORD)):
        word = following[1][:40]
    else:
        return None
    if word and closest(word, ["STREAM"]):
        return Diagnosis(f'"IN {word}" is not known here.', "IN STREAM", at=at)
    if word and clauses(failure)[-1:] == ["RETURN"]:
        return Diagnosis(f'A stream is named after IN STREAM, found "IN {word}".', "IN STREAM name", at=at)
    return Diagnosis(f"IN needs a list in parentheses, found {failure.described}.", "IN (1, 2)")


def _is_bare(failure: ParseFailure) -> bool:
    """Whether a name stands before that begins a reference, and nothing of it follows."""
    return failure.follows("NAME") and {"DOT", "LSQB"} <= failure.accepted and "_AND" not in failure.accepted


def _bare(failure: ParseFailure) -> Diagnosis | None:
    before = failure.before
    if before is None or not _is_bare(failure):
        return None
    at = before.start_pos or 0
    if failure.found == "-" and failure.text.read.startswith("->", failure.at):
        return Diagnosis('An attribute follows ".", found "->".', f"{before}.…")
    earlier = failure.text.read[max(0, at - 200) : at]
    if earlier.rstrip().endswith("--"):
        return Diagnosis('A comment begins with "#".', "# …", at=len(failure.text.read[:at].rstrip()) - 2)
    if before.upper() in _CLAUSES:
        what, hint = ("condition", "a.price > 10") if _CONDITION_BEFORE.search(earlier) else ("value", "a.price or 10")
        return Diagnosis(f"A {what} is missing before {before.upper()}.", hint, at=at)
    spaced = _SPACED.match(failure.text.read, at, at + 80)
    if spaced and (strategy := closest(re.sub(r"[-\s]+", "_", spaced[0]), STRATEGIES)):
        return Diagnosis(f'There is no strategy "{spaced[0]}".', strategy, at=at)
    name = str(before)[:40]
    if is_component(failure, name):
        reason = f'"{name}" is a variable of PATTERN: which of its attributes is meant?'
        of_all = "[]" if clauses(failure)[-1:] == ["RETURN"] else "[i]"
        return Diagnosis(reason, f"{name}{of_all if closure(failure, name) else ''}.price", at=at)
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
        return Diagnosis(f"A condition has no spans of time, found {failure.shown}.", f"WITHIN … {failure.word}")
    if "EQUAL" in failure.accepted and failure.word:
        return _compared(failure)
    if failure.found == "|":
        return Diagnosis('Alternatives are joined by OR or "∨", found "|".', "OR")
    if failure.kind not in _BEGINS or not (failure.kind or failure.word):
        return None
    if failure.word and not ahead(failure, _REFERS) and _is_misspelt(failure):
        return None
    return Diagnosis(f'Conditions are joined by "^" or AND, found {failure.shown}.', f"^ {failure.short}")


def _compared(failure: ParseFailure) -> Diagnosis | None:
    """A word where a comparison could stand."""
    before = failure.before
    if failure.word in ("NOTNULL", "ISNULL"):
        return Diagnosis(f"{failure.shown} is not an operator.", "IS NOT NULL" if failure.word[0] == "N" else "IS NULL")
    if failure.word == "BETWEEN":
        return Diagnosis("BETWEEN is not supported.", "a.price >= 10 ^ a.price <= 20")
    if ahead(failure, _REFERS):
        return Diagnosis(f'A sign such as "=" or "^" is missing before {failure.shown}.', f"= {failure.short}")
    if _is_misspelt(failure):
        return None
    if ahead(failure, _OPERAND):
        return Diagnosis(f"{failure.shown} is not an operator.", "=, !=, <, <=, >, >=, LIKE, IN or IS NULL")
    if before is not None and failure.follows("NAME"):
        hint = f"`{before[:40]} {failure.short}`"
        return Diagnosis("A name with a space in it is written in backquotes.", hint, at=before.start_pos)
    return None


def _is_misspelt(failure: ParseFailure) -> bool:
    """Whether a keyword was meant that could stand there."""
    return bool(get_close_matches(failure.word, failure.words.keywords(failure.accepted), n=1, cutoff=0.8))


def _comma(failure: ParseFailure) -> Diagnosis | None:
    """Between two arguments, or two variables of a strategy."""
    if "COMMA" not in failure.accepted or failure.accepted & {"_AND", "_PATTERN"} or failure.kind not in _BEGINS:
        return None
    if failure.opened and (failure.word or failure.kind):
        return Diagnosis(f'A "," is missing before {failure.shown}.', f", {failure.short}")
    return None


def _missing(failure: ParseFailure) -> Diagnosis | None:
    if failure.follows("DOT") or failure.accepted == {"DOT"}:
        return Diagnosis(f"An attribute is missing, found {failure.described}.", f"{variable(failure)}.price")
    if "PERCENT" not in failure.accepted or failure.found in CLOSING.values() or (failure.opened and not failure.found):
        return None
    if "STRATEGY" in failure.accepted and not failure.follows("_RETURN") and not failure.follows("COMMA"):
        return Diagnosis(f"A condition is missing, found {failure.described}.", "a.price > 10")
    return Diagnosis(f"A value is missing, found {failure.described}.", "a.price, 10 or 'text'")


CONDITIONS: tuple[Mistake, ...] = (
    _comment,  # before the quotes: one may hold an apostrophe
    _quote,
    _quote_within,
    _text,
    _null,
    _sign,
    _percentage,
    _third_side,
    _brackets,
    _key,
    _dotted,
    _in,
)
"""How conditions are written, before anything is said of what they are in."""

VALUES: tuple[Mistake, ...] = (_bare, _joined, _comma, _missing)
"""What is missing, once nothing better is known."""

_CALLED = re.compile(r"(\b[^\W\d]\w*)\s*\([^(){}]*(?:\)\s*)?\Z")
_BRACED = re.compile(r"[^(){}]*\)\s*\{")
_NEXT_QUERY = re.compile(r"\s*(?:PATTERN|FROM)\b", re.IGNORECASE)
_ABSENT = re.compile(r"[(,]\s*(NOT)\s+\w+\s*\Z", re.IGNORECASE)
_TYPE_AND_VARIABLE = re.compile(r"(\w+)\s+(\w+)\s*(?:\[\s*\]\s*)?\Z")
_UNBRACKETED = re.compile(r"\bPATTERN\s+(SEQ)\s+\w+\s*\Z", re.IGNORECASE)
_CLAUSE_KINDS = frozenset({"_WHERE", "_WITHIN", "_HAVING", "_RETURN", "_AGGREGATE", "_UNION"})
_ORDER = "PATTERN … WHERE … WITHIN … HAVING … RETURN"
_ALTERNATIVES = Diagnosis("Alternatives in SEQ are not supported.", "query UNION query")


def _still_open(failure: ParseFailure) -> Diagnosis | None:
    """The next clause begins, and a bracket is open."""
    if not failure.opened or (failure.kind not in _CLAUSE_KINDS and failure.word not in ("WHERE", "WITHIN", "RETURN")):
        return None
    innermost = failure.opened[-1]
    reason = f'The "{innermost}" at {failure.place(innermost)} is not closed before {failure.found.upper()}.'
    return Diagnosis(reason, CLOSING[innermost])


def _unit(failure: ParseFailure) -> Diagnosis | None:
    return None if failure.kind in _CLAUSE_KINDS or ahead(failure, _REFERS) else unit(failure)


# PATTERN


def _component(failure: ParseFailure) -> Diagnosis | None:
    """A mistake where a component begins."""
    if "TILDE" not in failure.accepted:
        return None
    if failure.found == "!":
        return Diagnosis('Absence is written with "~", found "!".', "~")
    if failure.found == "(" and failure.follows("_PATTERN"):
        return Diagnosis("Several components need SEQ.", "PATTERN SEQ(…)")
    return Diagnosis(f"A component is missing, found {failure.described}.", "STOCK a")


def _typed(failure: ParseFailure) -> Diagnosis | None:
    """After a component's type."""
    before = failure.before
    after_plus = failure.follows("PLUS") and failure.accepted == {"NAME"}
    if before is None or (not after_plus and failure.accepted != {"NAME", "PLUS"}):
        return None
    if failure.found == "*":
        return Diagnosis('A closure is written with "+": one event or more.', f"{before[:40]}+")
    if failure.found == "?":
        return Diagnosis("Optional components are not supported.", "query UNION query, with it and without")
    if failure.found == "(" and before.upper() == "OR":
        return _ALTERNATIVES
    if failure.found == "(" and before.upper() in ("AND", "NOT", "SEQ"):
        return Diagnosis(f"{before.upper()} is not allowed in SEQ.", "components alone, separated by commas")
    hint = "STOCK+ a[]" if after_plus else f"{before[:40]} {before[0].lower()}"
    return Diagnosis(f"A component needs a variable after its type, found {failure.described}.", hint)


def _after_component(failure: ParseFailure) -> Diagnosis | None:
    """Within SEQ, after a component's variable."""
    if not failure.found or failure.accepted - {"BRACKETS"} not in ({"COMMA", "RPAR"}, {"RPAR"}):
        return None
    if not failure.opened or failure.found in CLOSING.values() or clauses(failure)[-1:] != ["PATTERN"]:
        return None
    if "COMMA" not in failure.accepted:
        return Diagnosis(f'"~" negates one component, found {failure.shown}.', "a ~ for each")
    read = behind(failure)
    if absent := _ABSENT.search(read):
        return Diagnosis('Absence is written with "~", found "NOT".', "~", at=failure.at - len(read) + absent.start(1))
    if failure.found == "+" and (named := _TYPE_AND_VARIABLE.search(read)):
        return Diagnosis('The "+" follows the type.', f"{named[1][:40]}+ {named[2][:40]}[]")
    if failure.found == "|" or failure.word == "OR":
        return _ALTERNATIVES
    return Diagnosis(f"Components are separated by commas, found {failure.shown}.", ",")


def _alone(failure: ParseFailure) -> Diagnosis | None:
    """After PATTERN and a component without SEQ."""
    if not {"_WHERE", "_RETURN"} <= failure.accepted:
        return None
    read = behind(failure)
    if bare := _UNBRACKETED.search(read):
        at = failure.at - len(read) + bare.start(1)
        return Diagnosis("The components of SEQ are written in parentheses.", "SEQ(…)", at=at)
    if failure.found == ",":
        return Diagnosis("Several components need SEQ.", "PATTERN SEQ(…)")
    return None


# Strategies


def _strategy(failure: ParseFailure) -> Diagnosis | None:
    """An unknown strategy reads as a function, until its variables or its brace."""
    called = _CALLED.search(failure.text.read, 0, failure.at)
    if called is None or called[1].lower() in STRATEGIES:
        return None
    close = closest(called[1], STRATEGIES)
    braced = failure.found == "{" or ahead(failure, _BRACED)
    if not close and not braced and not called[1].lower().startswith(("skip", "strict", "partition")):
        return None
    return Diagnosis(f'There is no strategy "{called[1][:40]}".', close or ", ".join(STRATEGIES), at=called.start())


def _selected(failure: ParseFailure) -> Diagnosis | None:
    """A strategy's variables, and its braces."""
    before = failure.before
    if before is None:
        return None
    if failure.follows("STRATEGY") or (failure.accepted == {"NAME"} and before == "("):
        hint = "skip_till_next_match(a, b[]) { … }"
        return Diagnosis(f"A strategy names its variables, found {failure.described}.", hint)
    if failure.accepted == {"LBRACE"}:
        return Diagnosis(f"A strategy needs its conditions in braces, found {failure.described}.", "{ … }")
    if "BANG" in failure.accepted and failure.found == ".":
        return Diagnosis('A strategy names variables alone, found ".".', before[:40])
    if "BANG" in failure.accepted and failure.found == "[":
        return Diagnosis('A strategy names a closure whole, found "[".', f"{before[:40]}[]")
    return None


# Clauses


def _begin(failure: ParseFailure) -> Diagnosis | None:
    before = failure.before
    if failure.follows("_FROM"):
        reason = f"A stream's name is one word, without quotes, found {failure.described}."
        return Diagnosis(reason, "FROM stocks PATTERN …")
    if "_PATTERN" not in failure.accepted:
        return None
    if before is not None and failure.follows("NAME") and before.upper() in ("STREAM", "PATTERN"):
        reason = f'FROM takes names of streams alone, found "{before}".'
        hint = f"FROM {failure.short if before.upper() == 'STREAM' else 'stocks PATTERN …'}"
        return Diagnosis(reason, hint, at=before.start_pos)
    if "COMMA" in failure.accepted and not failure.word:
        return Diagnosis(f"A stream's name is one word, found {failure.described}.", "FROM stocks PATTERN …")
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
    if failure.word and ahead(failure, _REFERS) and clauses(failure)[-1:] in (["PATTERN"], ["WITHIN"]):
        return Diagnosis(f"RETURN is missing before {failure.shown}.", f"RETURN {failure.short}…")
    ends = failure.kind in (END, "_UNION") or (failure.found == ";" and ahead(failure, _NEXT_QUERY))
    if not ends:
        return None
    hint = f"RETURN {variable(failure)}.price"
    return Diagnosis("RETURN is missing: every query needs it.", hint)


def _column(failure: ParseFailure) -> Diagnosis | None:
    if failure.found == "*" and (failure.follows("_RETURN") or failure.follows("DOT") or failure.follows("COMMA")):
        return Diagnosis('"*" is not supported: RETURN names its columns.', f"{variable(failure)}.price")
    if failure.follows("_IN_STREAM"):
        return Diagnosis(f"IN STREAM needs a name, one word, found {failure.described}.", "IN STREAM rises")
    if failure.follows("_AS"):
        return Diagnosis(f"The name after AS is one word, or in backquotes, found {failure.described}.", "AS price")
    if failure.kind == "_IN_STREAM" and clauses(failure)[-1:] == ["AGGREGATE"]:
        return Diagnosis("AGGREGATE makes no events, so IN STREAM is not allowed.", "RETURN … IN STREAM name")
    unnamed = "_AS" in failure.accepted and clauses(failure)[-1:] != ["WHERE"]
    ended = unnamed or {"COMMA", "_UNION"} <= failure.accepted
    if ended and failure.word and not failure.kind and ahead(failure, _REFERS):
        return Diagnosis(f'A "," is missing before {failure.shown}.', f", {failure.short}")
    return _named(failure) if unnamed and failure.word else None


def _named(failure: ParseFailure) -> Diagnosis | None:
    """A word after a value that RETURN gives."""
    if failure.word == "GROUP":
        return Diagnosis("There is no GROUP BY: AGGREGATE makes groups.", "AGGREGATE count(*) BY symbol")
    if failure.word in ("ORDER", "LIMIT", "OFFSET"):
        return Diagnosis(
            f"{failure.word} is not supported: matches are emitted as they are found.", "the query without it"
        )
    if failure.kind or closest(failure.word, failure.words.keywords(failure.accepted)):
        return None
    return Diagnosis(f"A column's name follows AS, found {failure.shown}.", f"AS {failure.short}")


def _order(failure: ParseFailure) -> Diagnosis | None:
    begun = clauses(failure)
    if failure.kind not in _CLAUSE_KINDS or not begun:
        return None
    word = failure.found.upper()
    if word in begun:
        return Diagnosis(f"{word} is given twice.", f"one {word}")
    return Diagnosis(f"{word} is not allowed after {begun[-1]}.", _ORDER)


MISTAKES: tuple[Mistake, ...] = (
    *CONDITIONS,
    _still_open,
    duration,
    _unit,
    _strategy,  # before what is said of a function's arguments
    _selected,
    _begin,
    _nothing_given,
    _component,
    _typed,
    _after_component,
    _alone,
    _column,
    *VALUES,
    _order,
)
