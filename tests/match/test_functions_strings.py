"""Functions on strings (SPARQL 1.1, 17.4.3): the standard's own examples, and what it says beside them."""

from __future__ import annotations

import pytest

from support.sparql_terms import evaluate, refused


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('STRLEN("chat")', "4"),
        ('STRLEN("chat"@en)', "4"),
        ('STRLEN("chat"^^xsd:string)', "4"),
        ('STRLEN("a\U0001f600b")', "3"),
        ('SUBSTR("foobar", 4)', '"bar"'),
        ('SUBSTR("foobar"@en, 4)', '"bar"@en'),
        ('SUBSTR("foobar"^^xsd:string, 4)', '"bar"'),
        ('SUBSTR("foobar", 4, 1)', '"b"'),
        ('SUBSTR("foobar"@en, 4, 1)', '"b"@en'),
        # XPath's examples of fn:substring
        ('SUBSTR("12345", 1.5, 2.6)', '"234"'),
        ('SUBSTR("12345", 0, 3)', '"12"'),
        ('SUBSTR("12345", 5, -3)', '""'),
        ('SUBSTR("12345", -3, 5)', '"1"'),
        ('SUBSTR("12345", "NaN"^^xsd:double, 3)', '""'),
        ('SUBSTR("12345", -42, "INF"^^xsd:double)', '"12345"'),
        ('SUBSTR("12345", "-INF"^^xsd:double, "INF"^^xsd:double)', '""'),
        (f'SUBSTR("12345", {10**30})', '""'),
        (f'SUBSTR("12345", {10**400}, "INF"^^xsd:double)', '""'),
        (f'SUBSTR("12345", {-(10**400)}, {10**400 + 3})', '"12"'),
        ('UCASE("foo")', '"FOO"'),
        ('UCASE("foo"@en)', '"FOO"@en'),
        ('LCASE("BAR")', '"bar"'),
        ('LCASE("BAR"@en)', '"bar"@en'),
        ('UCASE("straße")', '"STRASSE"'),
        ('STRSTARTS("foobar", "foo")', "true"),
        ('STRSTARTS("foobar"@en, "foo"@en)', "true"),
        ('STRSTARTS("foobar"@en, "foo")', "true"),
        ('STRSTARTS("foobar"^^xsd:string, "foo"^^xsd:string)', "true"),
        ('STRENDS("foobar", "bar")', "true"),
        ('STRENDS("foobar"@en, "bar"@en)', "true"),
        ('STRENDS("foobar"@en, "bar")', "true"),
        ('CONTAINS("foobar", "bar")', "true"),
        ('CONTAINS("foobar"@en, "foo"@en)', "true"),
        ('CONTAINS("foobar", "z")', "false"),
        ('STRBEFORE("abc", "b")', '"a"'),
        ('STRBEFORE("abc"@en, "bc")', '"a"@en'),
        ('STRBEFORE("abc", "xyz")', '""'),
        ('STRBEFORE("abc"@en, "z"@en)', '""'),
        ('STRBEFORE("abc"@en, "z")', '""'),
        ('STRBEFORE("abc"@en, ""@en)', '""@en'),
        ('STRBEFORE("abc"@en, "")', '""@en'),
        ('STRAFTER("abc", "b")', '"c"'),
        ('STRAFTER("abc"@en, "ab")', '"c"@en'),
        ('STRAFTER("abc", "xyz")', '""'),
        ('STRAFTER("abc"@en, "z"@en)', '""'),
        ('STRAFTER("abc"@en, "z")', '""'),
        ('STRAFTER("abc"@en, ""@en)', '"abc"@en'),
        ('STRAFTER("abc"@en, "")', '"abc"@en'),
        ('ENCODE_FOR_URI("Los Angeles")', '"Los%20Angeles"'),
        ('ENCODE_FOR_URI("Los Angeles"@en)', '"Los%20Angeles"'),
        ('ENCODE_FOR_URI("~bébé/-_.")', '"~b%C3%A9b%C3%A9%2F-_."'),
        ('CONCAT("foo", "bar")', '"foobar"'),
        ('CONCAT("foo"@en, "bar"@en)', '"foobar"@en'),
        ('CONCAT("foo"^^xsd:string, "bar"^^xsd:string)', '"foobar"'),
        ('CONCAT("foo", "bar"^^xsd:string)', '"foobar"'),
        ('CONCAT("foo"@en, "bar")', '"foobar"'),
        ('CONCAT("foo"@en, "bar"@fr)', '"foobar"'),
        ("CONCAT()", '""'),
        ('LANGMATCHES("en-GB", "en")', "true"),
        ('LANGMATCHES("en", "EN")', "true"),
        ('LANGMATCHES("eng", "en")', "false"),
        ('LANGMATCHES("en", "*")', "true"),
        ('LANGMATCHES("", "*")', "false"),
        ('LANGMATCHES("en", "")', "false"),
        ('MD5("abc")', '"900150983cd24fb0d6963f7d28e17f72"'),
        ('MD5("abc"^^xsd:string)', '"900150983cd24fb0d6963f7d28e17f72"'),
        ('SHA1("abc")', '"a9993e364706816aba3e25717850c26c9cd0d89d"'),
        ('SHA256("abc")', '"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"'),
        ('STRLEN(SHA384("abc"))', "96"),
        ('STRLEN(SHA512("abc"))', "128"),
    ],
)
def test_a_function_of_strings_gives(expression: str, expected: str) -> None:
    assert evaluate(expression) == evaluate(expected)


@pytest.mark.parametrize(
    "expression",
    [
        "STRLEN(1)",
        "STRLEN(<http://example.org/a>)",
        'SUBSTR("abc", "1")',
        'STRSTARTS("foobar", "foo"@en)',
        'STRSTARTS("foobar"@en, "foo"@fr)',
        'STRBEFORE("abc", "b"@cy)',
        'STRBEFORE("abc"@en, "b"@cy)',
        'STRAFTER("abc", "b"@cy)',
        'CONTAINS(1, "1")',
        'CONCAT("a", 1)',
        'MD5("abc"@en)',
        'SHA1(<http://example.org/a>)',
        'LANGMATCHES("en"@en, "en")',
        "UCASE(1)",
    ],
)  # fmt: skip
def test_an_argument_of_the_wrong_type_is_an_error(expression: str) -> None:
    assert refused(expression)
