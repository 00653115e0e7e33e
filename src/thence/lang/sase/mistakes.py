"""Common mistakes in SASE+, besides those of all languages."""

from __future__ import annotations

import re

from thence.hints import closest
from thence.lang.mistakes import CLOSING, Diagnosis, Mistake, ParseFailure, duration, unit
from thence.lang.sase.condition_mistakes import CONDITIONS, VALUES
from thence.lang.sase.mistake_context import STRATEGIES, ahead, behind, clauses, variable
from thence.lang.words import END

_CALLED = re.compile(r"(\b[^\W\d]\w*)\s*\([^(){}]*(?:\)\s*)?\Z")
_BRACED = re.compile(r"[^(){}]*\)\s*\{")
_NEXT_QUERY = re.compile(r"\s*(?:PATTERN|FROM)\b", re.IGNORECASE)
_REFERS = re.compile(r"\s*[.(\[]")
_ABSENT = re.compile(r"[(,]\s*(NOT)\s+\w+\s*\Z", re.IGNORECASE)
_TYPE_AND_VARIABLE = re.compile(r"(\w+)\s+(\w+)\s*(?:\[\s*\]\s*)?\Z")
_UNBRACKETED = re.compile(r"\bPATTERN\s+(SEQ)\s+\w+\s*\Z", re.IGNORECASE)
_CLAUSES = frozenset({"_WHERE", "_WITHIN", "_HAVING", "_RETURN", "_AGGREGATE", "_UNION"})
_ORDER = "PATTERN … WHERE … WITHIN … HAVING … RETURN"
_ALTERNATIVES = Diagnosis("SEQ has no alternatives.", "query UNION query")


def _still_open(failure: ParseFailure) -> Diagnosis | None:
    """The next clause begins, and a bracket is open."""
    if not failure.opened or (failure.kind not in _CLAUSES and failure.word not in ("WHERE", "WITHIN", "RETURN")):
        return None
    innermost = failure.opened[-1]
    reason = f'The "{innermost}" at {failure.place(innermost)} is not closed before {failure.found.upper()}.'
    return Diagnosis(reason, CLOSING[innermost])


def _unit(failure: ParseFailure) -> Diagnosis | None:
    return None if failure.kind in _CLAUSES or ahead(failure, _REFERS) else unit(failure)


# PATTERN


def _component(failure: ParseFailure) -> Diagnosis | None:
    """Where a component begins."""
    if "TILDE" not in failure.accepted:
        return None
    if failure.found == "!":
        return Diagnosis('Absence is written with "~", found "!".', "~")
    if failure.found == "(" and failure.follows("_PATTERN"):
        return Diagnosis("Several components stand in SEQ.", "PATTERN SEQ(…)")
    return Diagnosis(f"A component is missing, found {failure.told}.", "STOCK a")


def _typed(failure: ParseFailure) -> Diagnosis | None:
    """After a component's type."""
    before = failure.before
    after_plus = failure.follows("PLUS") and failure.accepted == {"NAME"}
    if before is None or (not after_plus and failure.accepted != {"NAME", "PLUS"}):
        return None
    if failure.found == "*":
        return Diagnosis('A closure is written with "+": one event or more.', f"{before[:40]}+")
    if failure.found == "?":
        return Diagnosis("SEQ has no optional components.", "query UNION query, with it and without")
    if failure.found == "(" and before.upper() == "OR":
        return _ALTERNATIVES
    if failure.found == "(" and before.upper() in ("AND", "NOT", "SEQ"):
        return Diagnosis(f"{before.upper()} can't stand in SEQ.", "components alone, parted by commas")
    hint = "STOCK+ a[]" if after_plus else f"{before[:40]} {before[0].lower()}"
    return Diagnosis(f"A component needs a variable after its type, found {failure.told}.", hint)


def _after_component(failure: ParseFailure) -> Diagnosis | None:
    """Within SEQ, after a component's variable."""
    if not failure.found or failure.accepted - {"BRACKETS"} not in ({"COMMA", "RPAR"}, {"RPAR"}):
        return None
    if not failure.opened or failure.found in CLOSING.values() or clauses(failure)[-1:] != ["PATTERN"]:
        return None
    if "COMMA" not in failure.accepted:
        return Diagnosis(f'"~" is of one component, found {failure.shown}.', "a ~ for each")
    read = behind(failure)
    if absent := _ABSENT.search(read):
        return Diagnosis('Absence is written with "~", found "NOT".', "~", at=failure.at - len(read) + absent.start(1))
    if failure.found == "+" and (named := _TYPE_AND_VARIABLE.search(read)):
        return Diagnosis('The "+" stands after the type.', f"{named[1][:40]}+ {named[2][:40]}[]")
    if failure.found == "|" or failure.word == "OR":
        return _ALTERNATIVES
    return Diagnosis(f"Components are parted by commas, found {failure.shown}.", ",")


def _alone(failure: ParseFailure) -> Diagnosis | None:
    """After PATTERN and a component without SEQ."""
    if not {"_WHERE", "_RETURN"} <= failure.accepted:
        return None
    read = behind(failure)
    if bare := _UNBRACKETED.search(read):
        at = failure.at - len(read) + bare.start(1)
        return Diagnosis("The components of SEQ stand in parentheses.", "SEQ(…)", at=at)
    if failure.found == ",":
        return Diagnosis("Several components stand in SEQ.", "PATTERN SEQ(…)")
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
        return Diagnosis(f"A strategy names its variables, found {failure.told}.", hint)
    if failure.accepted == {"LBRACE"}:
        return Diagnosis(f"A strategy has its conditions in braces, found {failure.told}.", "{ … }")
    if "BANG" in failure.accepted and failure.found == ".":
        return Diagnosis('A strategy names variables alone, found ".".', before[:40])
    if "BANG" in failure.accepted and failure.found == "[":
        return Diagnosis('A strategy names a closure whole, found "[".', f"{before[:40]}[]")
    return None


# Clauses


def _begin(failure: ParseFailure) -> Diagnosis | None:
    before = failure.before
    if failure.follows("_FROM"):
        reason = f"A stream's name is one word, without quotes, found {failure.told}."
        return Diagnosis(reason, "FROM stocks PATTERN …")
    if "_PATTERN" not in failure.accepted:
        return None
    if before is not None and failure.follows("NAME") and before.upper() in ("STREAM", "PATTERN"):
        reason = f'FROM takes names of streams alone, found "{before}".'
        hint = f"FROM {failure.short if before.upper() == 'STREAM' else 'stocks PATTERN …'}"
        return Diagnosis(reason, hint, at=before.start_pos)
    if "COMMA" in failure.accepted and not failure.word:
        return Diagnosis(f"A stream's name is one word, found {failure.told}.", "FROM stocks PATTERN …")
    near = closest(failure.word, ["PATTERN", "PREFIX", "FROM", "BASE"])
    if near and not failure.word.startswith(near):  # else a space is missing
        return Diagnosis(f"{failure.shown} is not known here.", near)
    if near:
        return None
    hint = "PATTERN SEQ(…)" if failure.word == "SEQ" else "PATTERN SEQ(STOCK a, STOCK b) … RETURN a.price"
    return Diagnosis(f"A query begins with PATTERN, found {failure.told}.", hint)


def _nothing_given(failure: ParseFailure) -> Diagnosis | None:
    if "_RETURN" not in failure.accepted or failure.opened:
        return None
    if failure.word and ahead(failure, _REFERS) and clauses(failure)[-1:] in (["PATTERN"], ["WITHIN"]):
        return Diagnosis(f"RETURN is missing before {failure.shown}.", f"RETURN {failure.short}…")
    ends = failure.kind in (END, "_UNION") or (failure.found == ";" and ahead(failure, _NEXT_QUERY))
    if not ends:
        return None
    hint = f"RETURN {variable(failure)}.price"
    return Diagnosis("RETURN is missing: the query does not say what it gives.", hint)


def _column(failure: ParseFailure) -> Diagnosis | None:
    if failure.found == "*" and (failure.follows("_RETURN") or failure.follows("DOT") or failure.follows("COMMA")):
        return Diagnosis('There is no "*": RETURN names what it gives.', f"{variable(failure)}.price")
    if failure.follows("_IN_STREAM"):
        return Diagnosis(f"IN STREAM needs a name, one word, found {failure.told}.", "IN STREAM rises")
    if failure.follows("_AS"):
        return Diagnosis(f"The name after AS is one word, or in backquotes, found {failure.told}.", "AS price")
    if failure.kind == "_IN_STREAM" and clauses(failure)[-1:] == ["AGGREGATE"]:
        return Diagnosis("AGGREGATE makes no events, and so no stream.", "RETURN … IN STREAM name")
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
        return Diagnosis(f"There is no {failure.word}: matches are given as they come.", "the query without it")
    if failure.kind or closest(failure.word, failure.words.keywords(failure.accepted)):
        return None
    return Diagnosis(f"A column's name stands after AS, found {failure.shown}.", f"AS {failure.short}")


def _order(failure: ParseFailure) -> Diagnosis | None:
    begun = clauses(failure)
    if failure.kind not in _CLAUSES or not begun:
        return None
    word = failure.found.upper()
    if word in begun:
        return Diagnosis(f"{word} stands twice.", f"one {word}")
    return Diagnosis(f"{word} can't stand after {begun[-1]}.", _ORDER)


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
