"""Functions on dates and times (17.4.5), and arithmetic with durations (XPath F&O, 10.6 - 10.8)."""

from __future__ import annotations

import pytest

from support.sparql_terms import evaluate, refused

NOON = '"2011-01-10T14:45:13.815-05:00"^^xsd:dateTime'


def date_time(text: str) -> str:
    return f'"{text}"^^xsd:dateTime'


def days(text: str) -> str:
    return f'"{text}"^^xsd:dayTimeDuration'


def months(text: str) -> str:
    return f'"{text}"^^xsd:yearMonthDuration'


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (f"YEAR({NOON})", "2011"),
        (f"MONTH({NOON})", "1"),
        (f"DAY({NOON})", "10"),
        (f"HOURS({NOON})", "14"),
        (f"MINUTES({NOON})", "45"),
        (f"SECONDS({NOON})", "13.815"),
        (f"TIMEZONE({NOON})", days("-PT5H")),
        (f"TIMEZONE({date_time('2011-01-10T14:45:13.815Z')})", days("PT0S")),
        (f"TZ({NOON})", '"-05:00"'),
        (f"TZ({date_time('2011-01-10T14:45:13.815Z')})", '"Z"'),
        (f"TZ({date_time('2011-01-10T14:45:13.815')})", '""'),
        (f"TZ({date_time('2011-01-10T14:45:13.815+00:00')})", '"+00:00"'),
        (f"YEAR({date_time('-0044-03-15T00:00:00')})", "-44"),
        (f"HOURS({date_time('1999-12-31T24:00:00')})", "0"),
        ('YEAR("2020-02-29"^^xsd:date)', "2020"),
        ('MINUTES("12:34:56"^^xsd:time)', "34"),
        # adding durations
        (f"{date_time('2000-01-31T00:00:00')} + {months('P1M')}", date_time("2000-02-29T00:00:00")),
        (f"{date_time('2000-03-31T00:00:00Z')} - {months('P1M')}", date_time("2000-02-29T00:00:00Z")),
        (f"{date_time('2000-10-30T11:12:00')} + {days('P3DT1H15M')}", date_time("2000-11-02T12:27:00")),
        (f"{days('P3DT1H15M')} + {date_time('2000-10-30T11:12:00')}", date_time("2000-11-02T12:27:00")),
        (f"{date_time('9999-12-31T23:59:59Z')} + {days('PT1S')}", date_time("10000-01-01T00:00:00Z")),
        (f"{date_time('0001-01-01T00:00:00Z')} - {days('PT0.001S')}", date_time("0000-12-31T23:59:59.999Z")),
        (f'{date_time("2000-01-31T00:00:00")} + "P1MT1H"^^xsd:duration', date_time("2000-02-29T01:00:00")),
        (f'"2004-10-30Z"^^xsd:date + {days("P2DT2H30M0S")}', '"2004-11-01Z"^^xsd:date'),
        (f'"2000-10-30"^^xsd:date - {months("P1Y2M")}', '"1999-08-30"^^xsd:date'),
        (f'"23:12:00+03:00"^^xsd:time + {days("P1DT3H15M")}', '"02:27:00+03:00"^^xsd:time'),
        (f'"08:20:00-05:00"^^xsd:time - {days("P23DT10H10M")}', '"22:10:00-05:00"^^xsd:time'),
        # differences
        (f"{date_time('2000-10-30T06:12:00-05:00')} - {date_time('1999-11-28T09:00:00Z')}", days("P337DT2H12M")),
        (f"{date_time('2000-01-01T00:00:00')} - {date_time('2000-01-01T00:00:00Z')}", days("PT0S")),
        ('"2000-10-30"^^xsd:date - "1999-11-28"^^xsd:date', days("P337D")),
        ('"11:12:00Z"^^xsd:time - "04:00:00Z"^^xsd:time', days("PT7H12M")),
        # durations among themselves
        (f"{days('P2DT12H5M')} + {days('P5DT12H')}", days("P8DT5M")),
        (f"{months('P2Y11M')} - {months('P3Y3M')}", months("-P4M")),
        (f"{days('PT2H10M')} * 2.1", days("PT4H33M")),
        (f"2 * {days('PT1H')}", days("PT2H")),
        (f"{months('P2Y11M')} * 2.3", months("P6Y9M")),
        (f"{days('P1DT2H30M10.5S')} / 1.5", days("PT17H40M7S")),
        (f"{months('P2Y11M')} / 1.5", months("P1Y11M")),
        (f"{days('PT2H')} / {days('PT30M')}", "4.0"),
        (f"{months('P3Y4M')} / {months('-P1Y4M')}", "-2.5"),
        (f"-{days('PT2H')}", days("-PT2H")),
        # comparisons
        (f"{date_time('2000-01-01T12:00:00Z')} = {date_time('2000-01-01T13:00:00+01:00')}", "true"),
        (f"{date_time('2000-01-01T12:00:00')} = {date_time('2000-01-01T12:00:00Z')}", "true"),
        (f"{date_time('12000-01-01T00:00:00Z')} > {date_time('9999-01-01T00:00:00Z')}", "true"),
        (f"{date_time('2000-01-01T00:00:00.00000000001Z')} > {date_time('2000-01-01T00:00:00Z')}", "true"),
        (f"{days('PT36H')} = {days('P1DT12H')}", "true"),
        (f"{days('PT36H')} > {days('P1D')}", "true"),
    ],
)
def test_an_expression_of_times_gives(expression: str, expected: str) -> None:
    found, wanted = evaluate(expression), evaluate(expected)
    assert found == wanted or evaluate("?a = ?b && DATATYPE(?a) = DATATYPE(?b)", a=found, b=wanted) == evaluate("true")


@pytest.mark.parametrize(
    "expression",
    [
        "YEAR(2020)",
        'YEAR("2020-01-01")',
        'HOURS("2020-01-01"^^xsd:date)',
        'DAY("2020-02-30T00:00:00"^^xsd:dateTime)',
        f"TIMEZONE({date_time('2011-01-10T14:45:13.815')})",
        "TZ(1)",
        f"{NOON} + 1",
        f"{NOON} + {NOON}",
        f'{NOON} - "2000-01-01"^^xsd:date',
        f"{days('PT1H')} + {months('P1M')}",
        f'{days("PT1H")} * "NaN"^^xsd:double',
        f"{days('PT1H')} / 0",
        f"{days('PT1H')} / {days('PT0S')}",
        '"12:00:00"^^xsd:time + "P1M"^^xsd:yearMonthDuration',
        '"P1M"^^xsd:duration + "P1M"^^xsd:duration',
        f"{days('P' + '9' * 3000 + 'D')} * {'9' * 3000}",
    ],
)
def test_times_that_can_not_be_had_are_an_error(expression: str) -> None:
    assert refused(expression)
