"""Common mistakes in SPAseQ, besides those of all languages."""

from __future__ import annotations

from thence.lang.mistakes import CLOSING, Diagnosis, Mistake, ParseFailure, duration, still_open, unit
from thence.lang.words import END, IRIS, MODIFIERS

_OPERATORS = '"," ";" ":" "&" or "|"'


def _still_open(failure: ParseFailure) -> Diagnosis | None:
    """The next GPM begins, and a bracket of SEQ or of the GPM before is open."""
    return still_open(failure, {"_DEFINE"}) if len(failure.opened) > 1 else None


def _dataset(failure: ParseFailure) -> Diagnosis | None:
    if failure.follows("_FROM") and (failure.kind in IRIS or failure.word == "NAMED"):
        iri = failure.short if failure.kind in IRIS else "<http://…>"
        return Diagnosis("FROM names a stream here; background data is read by GRAPH.", f"FROM STREAM S1 {iri}")
    return None


def _unnamed(failure: ParseFailure) -> Diagnosis | None:
    if failure.follows("_STREAM") and failure.kind in IRIS:
        return Diagnosis("A stream needs a name before its IRI.", f"FROM STREAM S1 {failure.short}")
    return None


def _form(failure: ParseFailure) -> Diagnosis | None:
    if failure.word in ("ASK", "DESCRIBE") and "_CONSTRUCT" in failure.accepted:
        return Diagnosis(f"There is no {failure.word} over streams.", "SELECT or CONSTRUCT")
    return None


def _modifier(failure: ParseFailure) -> Diagnosis | None:
    if failure.accepted == {END} and failure.kind in MODIFIERS:
        return Diagnosis(f"{failure.found.upper()} can't stand here: matches are given as they come, one by one.")
    return None


def _prefixed(failure: ParseFailure) -> Diagnosis | None:
    if "NAME" in failure.accepted and failure.found in ("!", "+", "?") and "VAR1" not in failure.accepted:
        return Diagnosis("The operators + ? ! stand after their operand.", f"A{failure.found}")
    return None


def _joining(failure: ParseFailure) -> Diagnosis | None:
    """Two GPMs with nothing between them, or with an operator that SEQ does not have."""
    if "AMPERSAND" not in failure.accepted or failure.kind == END or failure.found in CLOSING.values():
        return None
    if failure.word or failure.found == "(":
        return Diagnosis(f"An operator is missing before {failure.shown}.", _OPERATORS)
    return Diagnosis(f"{failure.shown} is no operator of SEQ.", _OPERATORS)


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
