"""Mistakes that people make in SPAseQ, beside those that they make in SPARQL."""

from __future__ import annotations

from thence.lang.mistakes import CLOSING, Complaint, Failure, Mistake
from thence.lang.names import closest
from thence.lang.words import END, IRIS, MODIFIERS

_UNITS = "SECONDS, MINUTES, HOURS, DAYS or TICKS"
_OPERATORS = '"," ";" ":" "&" or "|"'


def duration(failure: Failure) -> Complaint | None:
    if failure.follows("_WITHIN"):
        return Complaint(f"WITHIN needs a duration, found {failure.told}.", "WITHIN 10 MINUTES")
    return None


def unit(failure: Failure) -> Complaint | None:
    if "UNIT" not in failure.accepted or not failure.word:
        return None
    if closest(failure.word, failure.words.keywords(failure.accepted)):
        return None  # a keyword, misspelt
    return Complaint(f"{failure.shown} is no unit of time.", _UNITS)


def _still_open(failure: Failure) -> Complaint | None:
    """The next GPM begins, and a bracket of SEQ or of the GPM before is open."""
    if failure.kind != "_DEFINE" or len(failure.opened) < 2:
        return None
    innermost = failure.opened[-1]
    reason = f'The "{innermost}" at {failure.place(innermost)} is not closed before DEFINE.'
    return Complaint(reason, CLOSING[innermost])


def _dataset(failure: Failure) -> Complaint | None:
    if failure.follows("_FROM") and (failure.kind in IRIS or failure.word == "NAMED"):
        iri = failure.short if failure.kind in IRIS else "<http://…>"
        return Complaint("FROM names a stream here; background data is read by GRAPH.", f"FROM STREAM S1 {iri}")
    return None


def _unnamed(failure: Failure) -> Complaint | None:
    if failure.follows("_STREAM") and failure.kind in IRIS:
        return Complaint("A stream needs a name before its IRI.", f"FROM STREAM S1 {failure.short}")
    return None


def _form(failure: Failure) -> Complaint | None:
    if failure.word in ("ASK", "DESCRIBE") and "_CONSTRUCT" in failure.accepted:
        return Complaint(f"There is no {failure.word} over streams.", "SELECT or CONSTRUCT")
    return None


def _modifier(failure: Failure) -> Complaint | None:
    if failure.accepted == {END} and failure.kind in MODIFIERS:
        return Complaint(f"{failure.found.upper()} can't stand here: matches are given as they come, one by one.")
    return None


def _prefixed(failure: Failure) -> Complaint | None:
    if "NAME" in failure.accepted and failure.found in ("!", "+", "?") and "VAR1" not in failure.accepted:
        return Complaint("The operators + ? ! stand after their operand.", f"A{failure.found}")
    return None


def _joining(failure: Failure) -> Complaint | None:
    """Two GPMs with nothing between them, or with an operator that SEQ does not have."""
    if "AMPERSAND" not in failure.accepted or failure.kind == END or failure.found in CLOSING.values():
        return None
    if failure.word or failure.found == "(":
        return Complaint(f"An operator is missing before {failure.shown}.", _OPERATORS)
    return Complaint(f"{failure.shown} is no operator of SEQ.", _OPERATORS)


MISTAKES: tuple[Mistake, ...] = (
    duration,
    unit,
    _still_open,  # before what is said of a missing operator
    _dataset,
    _unnamed,
    _form,
    _modifier,
    _prefixed,
    _joining,
)
