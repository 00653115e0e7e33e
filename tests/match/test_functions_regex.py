"""REGEX and REPLACE: XPath's regular expressions (F&O, 7.6), in bounded time."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.sparql_terms import evaluate, refused
from thence.match.context import ExpressionError
from thence.match.regex import MAX_PATTERN, regex
from thence.rdf.terms import Literal


def matches(pattern: str, text: str, flags: str = "") -> bool:
    return regex(pattern, flags).matches(text)


POEM = "<poem author='Wilhelm Busch'>\nKaum hat dies der Hahn gesehen,\nFängt er auch schon an zu krähen:\n</poem>"


@pytest.mark.parametrize(
    ("pattern", "text", "flags", "expected"),
    [
        # XPath's own examples
        ("bra", "abracadabra", "", True),
        ("^a.*a$", "abracadabra", "", True),
        ("^bra", "abracadabra", "", False),
        ("Kaum.*krähen", POEM, "", False),
        ("Kaum.*krähen", POEM, "s", True),
        ("^Kaum.*gesehen,$", POEM, "m", True),
        ("^Kaum.*gesehen,$", POEM, "", False),
        ("kiki", "Kiki", "i", True),
        ("hello world", "helloworld", "x", True),
        ("hello[ ]world", "hello world", "x", True),
        ("a.b", "axb", "q", False),
        ("A.B", "a.b", "iq", True),
        # anchors see the whole text
        ("^b$", "a\nb", "", False),
        ("b$", "b\n", "", False),
        # sets of characters
        ("^[a-z-[aeiou]]+$", "xyz", "", True),
        ("^[a-z-[aeiou]]+$", "aye", "", False),
        ("^[a-z-[a-m-[c]]]$", "c", "", True),
        ("^[^0-9-[x]]$", "x", "", False),
        ("^[A-Z-[IO]]$", "i", "i", False),
        ("^[A-Z-[IO]]$", "j", "i", True),
        (r"^\d$", "٣", "", True),
        (r"^\D$", "3", "", False),
        (r"^\w+$", "été_1", "", False),  # _ is punctuation in XML Schema
        (r"^\w+$", "été1", "", True),
        (r"^\W$", "-", "", True),
        (r"^[\W\d]+$", "-1", "", True),
        (r"^\s$", "\u00a0", "", False),
        (r"^[^\S]$", " ", "", True),
        (r"^\i\c*$", "xsd:int-1", "", True),
        (r"^\I$", "1", "", True),
        (r"^\C$", "/", "", True),
        (r"^\p{Lu}$", "É", "", True),
        (r"^\P{L}$", "É", "", False),
        (r"^\p{Lu}$", "é", "i", False),  # categories do not ignore case
        (r"^[\p{Lu}a]$", "A", "i", True),
        (r"^[^\p{Lu}a]$", "b", "i", True),
        (r"^\p{IsGreek}+$", "αβγ", "", True),
        (r"^\P{IsBasicLatin}$", "a", "", False),
        (r"^\p{Cn}$", "\U000e0fff", "", True),
        (r"^\p{C}$", "\U000e0fff", "", True),
        (r"^[\p{Cn}x]$", "x", "", True),
        (r"^\P{Cn}$", "a", "", True),
        # the rest of the grammar
        ("^(a|b)?c{2,3}$", "accc", "", True),
        ("^(?:ab)+$", "abab", "", True),
        (r"^\^\$\.\-\[\]\{\}\|$", "^$.-[]{}|", "", True),
        (r"^[\-\]\\a^-]+$", "-]\\a^", "", True),
        ("^[-a]+$", "a-", "", True),
        ("^a.{0}b$", "ab", "", True),
        ("", "anything", "", True),
        ("a|", "b", "", True),
        ("^.$", "\U0001f600", "", True),
        ("^.$", "\r", "", True),
        ("\t\n", "\t\n", "", True),
        (r"\t\n", "\t\n", "", True),
    ],
)
def test_a_pattern_is_found(pattern: str, text: str, flags: str, expected: bool) -> None:
    assert matches(pattern, text, flags) is expected


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(", "without its )"),
        ("a)", "without its ("),
        ("[a", "an unexpected end"),
        ("[]", "empty [ ]"),
        ("[a[b]]", "a [ in a class"),
        ("[a-[b]c]", "after a subtracted class"),
        ("[b-a]", "in descending order"),
        (r"[a-\d]", "in descending order"),
        ("a{2", "not a repetition"),
        ("a{,2}", "not a repetition"),
        ("a{x}", "not a repetition"),
        ("a{3,2}", "minimum of repetitions above the maximum"),
        ("a{1001}", "more than 1000"),
        ("*a", "nothing before it"),
        ("a**", "nothing before it"),
        ("]", "a ] alone"),
        ("}", "a } alone"),
        (r"\y", "unknown escape"),
        (r"\b", "unknown escape"),
        ("\\", "unexpected end"),
        (r"\p{Foo}", "'Foo'"),
        (r"\p{IsAtlantis}", "'IsAtlantis'"),
        (r"\p{}", "''"),
        (r"\p{Lu", "''"),
        (r"(a)\1", "back-reference"),
        ("(?=a)", "nothing before it"),
        ("(" * 150 + ")" * 150, "groups nested more than"),
        ("a" * (MAX_PATTERN + 1), "at most"),
        ("(((a{1000}){1000}){1000}){1000}", "can't be used"),
    ],
)  # fmt: skip
def test_a_pattern_that_is_none_is_an_error_with_its_reason(pattern: str, reason: str) -> None:
    with pytest.raises(ExpressionError) as error:
        matches(pattern, "a")
    assert reason in str(error.value)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        # XPath's examples of fn:replace
        ('REPLACE("abracadabra", "bra", "*")', '"a*cada*"'),
        ('REPLACE("abracadabra", "a.*a", "*")', '"*"'),
        ('REPLACE("abracadabra", "a.*?a", "*")', '"*c*bra"'),
        ('REPLACE("abracadabra", "a", "")', '"brcdbr"'),
        ('REPLACE("abracadabra", "a(.)", "a$1$1")', '"abbraccaddabbra"'),
        ('REPLACE("AAAA", "A+", "b")', '"b"'),
        ('REPLACE("AAAA", "A+?", "b")', '"bbbb"'),
        ('REPLACE("darted", "^(.*?)d(.*)$", "$1c$2")', '"carted"'),
        # SPARQL's own
        ('REPLACE("abcd", "b", "Z")', '"aZcd"'),
        ('REPLACE("abab", "B", "Z", "i")', '"aZaZ"'),
        ('REPLACE("abab", "B.", "Z", "i")', '"aZb"'),
        ('REPLACE("abcd"@en, "b", "Z")', '"aZcd"@en'),
        ('REPLACE("été", "t", "T")', '"éTé"'),
        ('REPLACE("ab", "(a)(b)", "$2$1$0")', '"baab"'),
        ('REPLACE("ab", "(a)|(x)", "[$2]")', '"[]b"'),
        ('REPLACE("ab", "(a)", "$12")', '"a2b"'),
        ('REPLACE("ab", "a", "$1")', '"b"'),
        (r'REPLACE("ab", "a", "\\$\\\\")', r'"$\\b"'),
        ('REPLACE("a.b", ".", "$", "q")', '"a$b"'),
        ('REGEX("Alice"@en, "^ali", "i")', "true"),
        ('REGEX("a", "")', "true"),
    ],
)
def test_a_replacement_gives(expression: str, expected: str) -> None:
    assert evaluate(expression) == evaluate(expected)


@pytest.mark.parametrize(
    "expression",
    [
        'REPLACE("abracadabra", ".*?", "$1")',
        'REPLACE("a", "x*", "b")',
        'REPLACE("a", "a", "$")',
        'REPLACE("a", "a", "$x")',
        r'REPLACE("a", "a", "\\n")',
        'REPLACE("a", "a", "b", "g")',
        'REGEX("a", "a", "w")',
        'REGEX(1, "1")',
        'REGEX("a", "a"@en)',
        'REGEX("a", ?pattern)',
        'REPLACE(1, "1", "2")',
    ],
)
def test_a_replacement_that_means_nothing_is_an_error(expression: str) -> None:
    assert refused(expression)


@pytest.mark.parametrize("pattern", ["(a+)+$", "^(a|a)*$", "(a|aa)+$", "(.*a){20}$", "^(([a-z])+.)+[A-Z]([a-z])+$"])
def test_patterns_that_are_catastrophic_elsewhere_take_no_time_here(pattern: str) -> None:
    assert not matches(pattern, "a" * 200_000 + "!")


def test_what_would_take_too_long_is_an_error_before_it_begins() -> None:
    with pytest.raises(ExpressionError, match="too long"):
        matches("(a?){1000}b" * 30, "a" * 5_000_000)
    with pytest.raises(ExpressionError, match="too many matches"):
        regex("a.?z|a").replace("a" * 400_000, "b")


def test_half_of_a_surrogate_pair_is_an_error() -> None:
    assert refused('REGEX(?text, "a")', text=Literal("\ud800"))
    assert refused('REPLACE(?text, "a", "b")', text=Literal("a\ud800"))
    assert refused("MD5(?text)", text=Literal("\ud800"))
    assert refused("ENCODE_FOR_URI(?text)", text=Literal("\ud800"))


@given(st.text(), st.text(alphabet="abc.*+?()[]{}|^$\\", max_size=8))
def test_any_text_is_found_in_itself_when_quoted_and_any_pattern_is_read_or_refused(text: str, pattern: str) -> None:
    encodable = text.encode("utf-8", "ignore").decode()
    assert matches(encodable, f"<{encodable}>", "q")
    with suppress(ExpressionError):
        matches(pattern, "abc")
