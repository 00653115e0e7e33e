"""Functions on dates and times (17.4.5): of xsd:dateTime; and of xsd:date and xsd:time, as XPath has them."""

from __future__ import annotations

from decimal import Decimal

from thence.match.arithmetic import known_value
from thence.match.expression_errors import ExpressionError
from thence.rdf.dates import XSD_DAY_TIME_DURATION, Date, DateTime, Duration, Time
from thence.rdf.dates import zone as zone_text
from thence.rdf.terms import Literal, Term
from thence.rdf.values import literal


def _dated(term: Term) -> DateTime | Date:
    found = known_value(term)
    if isinstance(found, DateTime | Date):
        return found
    raise ExpressionError(f"{term} has no date")


def _timed(term: Term) -> DateTime | Time:
    found = known_value(term)
    if isinstance(found, DateTime | Time):
        return found
    raise ExpressionError(f"{term} has no time of day")


def _zone(term: Term) -> int | None:
    found = known_value(term)
    if isinstance(found, DateTime | Date | Time):
        return found.zone
    raise ExpressionError(f"{term} is no date or time")


def year(moment: Term) -> Literal:
    return literal(_dated(moment).year)


def month(moment: Term) -> Literal:
    return literal(_dated(moment).month)


def day(moment: Term) -> Literal:
    return literal(_dated(moment).day)


def hours(moment: Term) -> Literal:
    return literal(_timed(moment).hour)


def minutes(moment: Term) -> Literal:
    return literal(_timed(moment).minute)


def seconds(moment: Term) -> Literal:
    return literal(_timed(moment).second)


def timezone(moment: Term) -> Literal:
    """An xsd:dayTimeDuration; an error without a time zone."""
    zone = _zone(moment)
    if zone is None:
        raise ExpressionError(f"{moment} has no time zone")
    return literal(Duration(0, Decimal(zone * 60), XSD_DAY_TIME_DURATION))


def tz(moment: Term) -> Literal:
    """The time zone as it is written: `Z`, `-05:00`, or "" without one. Where the form has `+00:00`, so has this."""
    zone = _zone(moment)
    assert isinstance(moment, Literal)
    written = moment.value[-6:]
    return Literal(written if zone == 0 and written in ("+00:00", "-00:00") else zone_text(zone))
