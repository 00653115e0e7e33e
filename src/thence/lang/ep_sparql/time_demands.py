"""Comparisons of time functions with constants: which kind of time each demands (EP-30), and which mean nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from thence.algebra.ep_sparql import DURATION, END_TIME, START_TIME
from thence.algebra.expressions import Call, Compare, Comparison, Expression, In
from thence.algebra.show import show
from thence.lang.mistakes import Diagnosis
from thence.rdf.dates import (
    XSD_DAY_TIME_DURATION,
    XSD_DURATION,
    XSD_YEAR_MONTH_DURATION,
    Date,
    DateTime,
    Duration,
)
from thence.rdf.terms import Literal
from thence.rdf.times import Domain
from thence.rdf.values import XSD_DATE_TIME, value

_FUNCTIONS = (DURATION, START_TIME, END_TIME)
_DURATIONS = (XSD_DURATION, XSD_DAY_TIME_DURATION, XSD_YEAR_MONTH_DURATION)
_LONGEST = 40


@dataclass(frozen=True, slots=True)
class TimeComparison:
    """A time function beside a constant, and the words for both."""

    function: Call
    constant: Literal
    words: str

    @property
    def domain(self) -> Domain | None:
        """The kind of time that can make it true; none, if neither can."""
        match value(self.constant):
            case bool():
                return None
            case Duration() if self.function.function == DURATION:
                return Domain.DATETIME
            case DateTime() if self.function.function != DURATION:
                return Domain.DATETIME
            case int() | float() | Decimal():
                return Domain.TICKS
            case _:
                return None

    @property
    def has_months(self) -> bool:
        """Whether it is an expression error because months have no fixed length (EP-31)."""
        found = value(self.constant)
        return isinstance(found, Duration) and found.months != 0

    @property
    def mistake(self) -> Diagnosis:
        """Why neither kind of time can make it true."""
        name, constant = show(self.function), self.constant
        is_duration = self.function.function == DURATION
        own, cure = (
            ("a duration", '"P30D"^^xsd:duration')
            if is_duration
            else ("a time", '"2024-05-06T07:00:00Z"^^xsd:dateTime')
        )
        found = value(constant)
        shown = f'"{_shortened(constant.value)}"'
        if found is None and constant.datatype in (*_DURATIONS, XSD_DATE_TIME):
            kind = "a duration" if constant.datatype in _DURATIONS else "a time"
            return Diagnosis(f"{shown} is not {kind}.", '"P30D"^^xsd:duration' if kind == "a duration" else cure)
        kind = _kind(found)
        if isinstance(found, str):
            typed = Literal(found, XSD_DURATION if is_duration else XSD_DATE_TIME)
            cure = f"{shown}^^xsd:{'duration' if is_duration else 'dateTime'}" if value(typed) is not None else cure
        return Diagnosis(f"{name} is {own} and can't be compared with {shown}, which is {kind}.", cure)


def comparisons(expression: Expression) -> Iterator[TimeComparison]:
    """The time functions that this expression compares with constants, itself and not deeper down."""
    match expression:
        case Compare(sign, left, right):
            yield from _pair(left, sign.value, right)
        case In(operand, choices):
            for choice in choices:
                yield from _pair(operand, Comparison.EQUAL.value, choice)


def _pair(left: Expression, sign: str, right: Expression) -> Iterator[TimeComparison]:
    match left, right:
        case Call(name), Literal() if name in _FUNCTIONS:
            yield TimeComparison(left, right, f"{show(left)} {sign} {_words(right)}")
        case Literal(), Call(name) if name in _FUNCTIONS:
            yield TimeComparison(right, left, f"{_words(left)} {sign} {show(right)}")


def _words(constant: Literal) -> str:
    """A constant without its type: a number is written without quotes."""
    text = show(constant)
    return f'"{_shortened(constant.value)}"' if text.startswith('"') else _shortened(text)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _kind(found: object) -> str:
    match found:
        case bool():
            return "true or false"
        case str():
            return "a text"
        case Duration():
            return "a duration"
        case DateTime():
            return "a time"
        case Date():
            return "a date"
        case _:
            return "neither a number nor a time"
