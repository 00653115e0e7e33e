"""Terms to make cases of: the literals that are known to make evaluators disagree, by theme, and a small world of them
for each case, so that joins do hit."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

from strategies.choices import Choices
from thence.rdf.terms import IRI, XSD, BlankNode, Literal, Term

Theme = tuple[Literal, ...]


def typed(datatype: str, *forms: str) -> Theme:
    """Literals of one of XML Schema's types."""
    return tuple(Literal(form, XSD + datatype) for form in forms)


NUMBERS: Theme = (
    *typed("integer", "0", "1", "-1", "2", "3", "7", "10", "01", "+1", "-0", "-0007"),
    *typed("decimal", "0.1", "0.5", "1.1", "1.10", "1.0", "-0.0", "-2.5", ".5", "5.", "0.3", "100.00"),
    *typed("float", "0.1", "1", "1.5", "1.0E0", "-0.0", "2.5", "NaN", "INF", "-INF", "16777216"),
    *typed("double", "0.1", "1", "1.5", "1.0E0", "1e0", "-0", "0", "-2.5", "NaN", "INF", "-INF", "+INF", "1E6"),
    *typed("byte", "1", "-128"),
    *typed("short", "1", "32767"),
    *typed("int", "2", "+7"),
    *typed("long", "10"),
    *typed("nonNegativeInteger", "0", "1"),
    *typed("positiveInteger", "3"),
    *typed("nonPositiveInteger", "0", "-1"),
    *typed("negativeInteger", "-1"),
    *typed("unsignedLong", "7"),
    *typed("unsignedInt", "10"),
    *typed("unsignedShort", "2"),
    *typed("unsignedByte", "255"),
)

LARGE_NUMBERS: Theme = (
    *typed(
        "integer", str(2**53), str(2**53 + 1), str(2**63 - 1), str(2**63), str(-(2**63)), str(10**18), "1" + "0" * 30
    ),
    *typed("integer", str(10**18 - 1), str(2**62), "16777217", "0" * 30 + "1", str(10**400)),
    *typed("decimal", "0.333333333333333333333333333333", "123456789012345678.123456789012345", "9007199254740993.0"),
    *typed("decimal", "0.000000000000000001", "0.0000000000000000001", "999999999999999999", "9223372036854775808"),
    *typed("decimal", "99999999.9999999999", "0.1000000000000000055511151231257827", "0.0000000001", "-0.00000000003"),
    *typed("float", "16777217", "3.4028235E38", "1e-45", "1E39", "0.1000000014901161193847656250", "9007199254740993"),
    *typed("double", "9007199254740993", "1e308", "1E400", "4.9E-324", "1E22", "1E23", "1E-400", "18014398509481985"),
    # decimals whose digits and whose quotient would each be rounded, and the double or float that is nearest
    *typed("decimal", "6440186562.48137284", "905097784227635.032", "987.656476", "74904995.6"),
    *typed("double", "6440186562.481373", "905097784227635.0"),
    *typed("float", "987.6565", "74904992", "74905000", "16777216"),
    *typed("long", str(2**63 - 1), str(-(2**63))),
    *typed("unsignedLong", str(2**64 - 1), str(2**63)),
    *typed("nonNegativeInteger", str(2**64)),
    *typed("integer", "2", "10", "-1"),
)

ILL_TYPED: Theme = (
    *typed("integer", "abc", "", " 1", "1.0", "1e0", "--1", "١"),
    *typed("byte", "300", "128"),
    *typed("unsignedByte", "-1"),
    *typed("positiveInteger", "0"),
    *typed("long", str(2**63)),
    *typed("decimal", "1e0", ".", "NaN", ""),
    *typed("double", "nan", "1e", "inf", "0x1"),
    *typed("float", "Infinity", "one"),
    *typed("boolean", "TRUE", "yes", ""),
    *typed("dateTime", "2020-02-30T00:00:00Z", "2020-01-01", "2020-01-01T25:00:00Z", "2020-01-01T00:00:00+15:00"),
    *typed("date", "2020-13-01", "today"),
    *typed("duration", "P", "1D"),
    *typed("dayTimeDuration", "P1Y"),
    *typed("integer", "1"),
)

STRINGS: Theme = (
    Literal(""),
    Literal("a"),
    Literal("b"),
    Literal("A"),
    Literal("abc"),
    Literal("abcABC"),
    Literal("1"),
    Literal("true"),
    Literal("été"),
    Literal("\U0001f600a"),
    Literal('a\n"b"\\\t'),
    Literal("http://example.org/a"),
    Literal("2020-01-01T00:00:00Z"),
    Literal("abc", language="en"),
    Literal("a", language="en"),
    Literal("a", language="en-GB"),
    Literal("bc", language="fr"),
    Literal("", language="en"),
)

UNKNOWN: Theme = (
    Literal("a", "http://example.org/type"),
    Literal("1", "http://example.org/type"),
    Literal("1", "http://example.org/other"),
    *typed("anyURI", "http://example.org/a"),
    *typed("token", "a"),
    *typed("hexBinary", "0A"),
    Literal("a"),
    *typed("integer", "1"),
)

TIMES: Theme = (
    *typed("dateTime", "2020-01-01T00:00:00Z", "2020-01-01T00:00:00", "2020-01-01T00:00:00+00:00"),
    *typed("dateTime", "2019-12-31T19:00:00-05:00", "2020-01-01T14:00:00+14:00", "2020-01-01T00:00:00.500Z"),
    *typed("dateTime", "2020-01-01T00:00:00.5Z", "2020-01-01T00:00:00.123456Z", "2020-01-01T00:00:00.1234567Z"),
    *typed("dateTime", "2020-01-01T00:00:00.1234560Z", "2019-12-31T24:00:00Z", "2020-02-29T12:30:45.25"),
    *typed("dateTime", "0000-01-01T00:00:00Z", "-0044-03-15T00:00:00Z", "12020-01-01T00:00:00Z"),
    *typed("date", "2020-01-01", "2020-01-01Z", "2020-01-02", "2020-01-31+01:00", "2020-02-29"),
    *typed("time", "00:00:00", "12:30:00Z", "24:00:00", "23:59:59.999999999"),
    *typed("gYear", "2020", "2020Z"),
    *typed("gYearMonth", "2020-01"),
    *typed("gMonthDay", "--02-29"),
)

DURATIONS: Theme = (
    *typed("dayTimeDuration", "P1D", "PT24H", "PT0S", "-P1DT2H3M4.5S", "PT0.1S"),
    *typed("yearMonthDuration", "P1Y", "P12M", "P0M", "-P1M"),
    *typed("duration", "P1Y", "P12M", "P1D", "PT24H", "PT0S", "P1Y2M3DT4H5M6.7S"),
)

BOOLEANS: Theme = typed("boolean", "true", "false", "1", "0")

THEMES = (NUMBERS, LARGE_NUMBERS, ILL_TYPED, STRINGS, UNKNOWN, TIMES, DURATIONS, BOOLEANS)

EX = "http://example.org/"
SUBJECTS = tuple(IRI(EX + name) for name in ("a", "b", "c"))
PREDICATES = tuple(IRI(EX + name) for name in ("p", "q", "r"))
BLANK_NODES = (BlankNode("m"), BlankNode("n"))


@dataclass(frozen=True)
class World:
    """The terms of one case: few, so that what is drawn twice often is the same."""

    nodes: tuple[IRI | BlankNode, ...]
    predicates: tuple[IRI, ...]
    literals: tuple[Literal, ...]

    @property
    def objects(self) -> tuple[Term, ...]:
        return (*self.literals, *self.nodes)

    @property
    def constants(self) -> tuple[IRI | Literal, ...]:
        """What an expression, a pattern or VALUES may name: no blank nodes."""
        return (*self.literals, *(node for node in self.nodes if isinstance(node, IRI)))


def a_world(choices: Choices, themes: tuple[Theme, ...] = THEMES) -> World:
    """One or two themes, a few literals of each; of these terms at least three triples can be made."""
    literals: dict[Literal, None] = {}
    for theme in choices.some(themes, 1, 2):
        literals |= dict.fromkeys(choices.some(theme, 2, 4))
    nodes = (*choices.some(SUBJECTS, 1, 3), *choices.some(BLANK_NODES, 0, 2))
    return World(nodes, tuple(choices.some(PREDICATES, 1, 3)), tuple(literals))


literals = st.sampled_from([literal for theme in THEMES for literal in theme])
"""Any literal of any theme."""

_WHOLE = st.from_regex(r"[+-]?[0-9]{1,24}", fullmatch=True)
_FRACTION = st.from_regex(r"[+-]?[0-9]{1,12}\.[0-9]{1,24}", fullmatch=True)
_SCIENTIFIC = st.from_regex(r"[+-]?[0-9]{1,20}(\.[0-9]{1,6})?[eE][+-]?[0-9]{1,2}", fullmatch=True)
numerals = st.one_of(
    st.builds(Literal, _WHOLE, st.just(XSD + "integer")),
    st.builds(Literal, st.one_of(_WHOLE, _FRACTION), st.just(XSD + "decimal")),
    st.builds(Literal, st.one_of(_WHOLE, _FRACTION, _SCIENTIFIC), st.sampled_from((XSD + "float", XSD + "double"))),
)
"""Numbers of all sizes, in any form."""
