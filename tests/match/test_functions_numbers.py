"""Arithmetic (17.3), functions on numbers (17.4.4) and casts (17.5)."""

from __future__ import annotations

import pytest

from support.sparql_terms import evaluate, refused
from thence.rdf.terms import XSD, Literal, Term

N40 = "1234567890123456789012345678901234567890"


def written(term: Term) -> tuple[str, str]:
    assert isinstance(term, Literal)
    return term.value, term.datatype.removeprefix(XSD)


@pytest.mark.parametrize(
    ("expression", "text", "datatype"),
    [
        ("1 + 1", "2", "integer"),
        ('"1"^^xsd:byte + "1"^^xsd:short', "2", "integer"),
        ("9223372036854775807 + 1", "9223372036854775808", "integer"),
        (f"{N40} * {N40}", str(int(N40) ** 2), "integer"),
        ("1.0 + 2", "3", "decimal"),
        (f"{N40}.5 + 0.{'0' * 40}1", f"{N40}.5{'0' * 39}1", "decimal"),
        ("0.1 + 0.2", "0.3", "decimal"),
        ("0.1e0 + 0.2e0", "3.0000000000000004E-1", "double"),
        ('"0.1"^^xsd:float + 1', "1.1E0", "float"),
        ('"1"^^xsd:float + 1e0', "2.0E0", "double"),
        ("1 / 2", "0.5", "decimal"),
        ("1 / 3", "0." + "3" * 34, "decimal"),
        ("1e0 / 0", "INF", "double"),
        ("-1 / 0e0", "-INF", "double"),
        ("0e0 / 0", "NaN", "double"),
        ("-(0e0)", "-0.0E0", "double"),
        ("-(1)", "-1", "integer"),
        ('+"1"^^xsd:byte', "1", "integer"),
        ("ABS(1)", "1", "integer"),
        ("ABS(-1.5)", "1.5", "decimal"),
        ('ABS("-INF"^^xsd:double)', "INF", "double"),
        ("ROUND(2.4999)", "2", "decimal"),
        ("ROUND(2.5)", "3", "decimal"),
        ("ROUND(-2.5)", "-2", "decimal"),
        ("ROUND(-0.4e0)", "-0.0E0", "double"),
        ("CEIL(10.5)", "11", "decimal"),
        ("CEIL(-10.5)", "-10", "decimal"),
        ("FLOOR(10.5)", "10", "decimal"),
        ("FLOOR(-10.5)", "-11", "decimal"),
        ("FLOOR(7)", "7", "integer"),
        ('ROUND("NaN"^^xsd:float)', "NaN", "float"),
        # casts
        ('xsd:integer("  12 ")', "12", "integer"),
        ("xsd:integer(3.7)", "3", "integer"),
        ("xsd:integer(-3.7)", "-3", "integer"),
        ("xsd:integer(true)", "1", "integer"),
        ("xsd:integer(1e20)", "100000000000000000000", "integer"),
        ("xsd:byte(127.9)", "127", "byte"),
        ("xsd:decimal(0.1e0)", "0.1000000000000000055511151231257827021181583404541015625", "decimal"),
        (f'xsd:decimal("{N40}.10")', f"{N40}.1", "decimal"),
        ("xsd:double(1)", "1.0E0", "double"),
        ('xsd:double("INF")', "INF", "double"),
        ("xsd:float(16777217)", "1.6777216E7", "float"),
        ("xsd:double(false)", "0.0E0", "double"),
        ('xsd:boolean("NaN"^^xsd:double)', "false", "boolean"),
        ("xsd:boolean(0.1)", "true", "boolean"),
        ('xsd:boolean("0")', "false", "boolean"),
        ("xsd:string(1.50)", "1.5", "string"),
        ("xsd:string(1e0)", "1", "string"),
        ("xsd:string(1e6)", "1.0E6", "string"),
        ("xsd:string(1e-7)", "1.0E-7", "string"),
        ("xsd:string(-0e0)", "-0", "string"),
        ('xsd:string("1"^^xsd:boolean)', "true", "string"),
        ("xsd:string(<http://example.org/a>)", "http://example.org/a", "string"),
        ('xsd:string("a"@en)', "a", "string"),
        ('xsd:string("x"^^xsd:integer)', "x", "string"),
        ('xsd:dateTime("2020-01-01T24:00:00Z")', "2020-01-02T00:00:00Z", "dateTime"),
        ('xsd:dateTime("2020-01-01"^^xsd:date)', "2020-01-01T00:00:00", "dateTime"),
        ('xsd:date("2020-01-01T12:00:00+01:00"^^xsd:dateTime)', "2020-01-01+01:00", "date"),
        ('xsd:time("2020-01-01T12:00:00Z"^^xsd:dateTime)', "12:00:00Z", "time"),
        ('xsd:gYear("2020-01-01"^^xsd:date)', "2020", "gYear"),
        ('xsd:gMonthDay("2020-02-29"^^xsd:date)', "--02-29", "gMonthDay"),
        ('xsd:dayTimeDuration("P1Y2DT3H"^^xsd:duration)', "P2DT3H", "dayTimeDuration"),
        ('xsd:yearMonthDuration("P1Y2DT3H"^^xsd:duration)', "P1Y", "yearMonthDuration"),
        ('xsd:duration("PT36H")', "P1DT12H", "duration"),
    ],
)
def test_an_expression_of_numbers_gives(expression: str, text: str, datatype: str) -> None:
    assert written(evaluate(expression)) == (text, datatype)


@pytest.mark.parametrize(
    "expression",
    [
        "1 / 0",
        "1.5 / 0.0",
        '1 + "1"',
        "1 + true",
        '1 + "x"^^xsd:integer',
        "1 + <http://example.org/a>",
        '-"1"',
        '+"1"',
        'ABS("1")',
        'xsd:integer("1.5")',
        'xsd:integer("NaN"^^xsd:double)',
        'xsd:decimal("INF"^^xsd:float)',
        'xsd:decimal("1e0")',
        "xsd:byte(128)",
        'xsd:unsignedInt("-1")',
        'xsd:boolean("yes")',
        'xsd:integer("1"@en)',
        "xsd:integer(<http://example.org/a>)",
        "xsd:string(BNODE())",
        'xsd:dateTime("2020-02-30T00:00:00")',
        'xsd:integer("2020-01-01"^^xsd:date)',
        "xsd:integer()",
        "xsd:integer(1, 2)",
        "xsd:hexBinary(1)",
        f"{'9' * 3000} * {'9' * 3000}",
        f'"{"9" * 5000}"^^xsd:integer + 1',
    ],
)
def test_numbers_that_can_not_be_had_are_an_error(expression: str) -> None:
    assert refused(expression)


@pytest.mark.parametrize(
    ("expression", "truth"),
    [
        ("1 = 1.0", True),
        ("1 < 1.5", True),
        ("2 <= 2.0e0", True),
        ("2 >= 3", False),
        ("9223372036854775807 < 9223372036854775808", True),
        (f"{N40} < {N40}.1", True),
        ('"NaN"^^xsd:double = "NaN"^^xsd:double', False),
        ('"NaN"^^xsd:double != "NaN"^^xsd:double', True),
        ('"NaN"^^xsd:double <= "NaN"^^xsd:double', False),
        ("0e0 = -0e0", True),
        ('"INF"^^xsd:double > 1e308', True),
        ('"abc" < "abd"', True),
        ("false < true", True),
        ('"a"@en = "a"@EN', True),
        ('"a"@en != "a"', True),
        ("<http://example.org/a> != <http://example.org/b>", True),
    ],
)
def test_a_comparison_is(expression: str, truth: bool) -> None:
    assert evaluate(expression) == evaluate("true" if truth else "false")


@pytest.mark.parametrize("expression", ['1 < "1"', '"a"@en < "b"@en', "<x:a> < <x:b>", '"a" = "a"^^<x:t>', "1 >= true"])
def test_a_comparison_that_means_nothing_is_an_error(expression: str) -> None:
    assert refused(expression)
