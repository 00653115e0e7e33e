"""Whatever stands in the data, what is written can be read back, and steers no terminal."""

from __future__ import annotations

import csv
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import thence
from thence.cli.result_formats import writer
from thence.interface.solutions import Row
from thence.rdf.terms import IRI, XSD, BlankNode, Literal, Term
from thence.rdf.times import Domain
from thence.runtime.results import Match

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
terms: st.SearchStrategy[Term] = st.one_of(
    st.builds(IRI, st.text("abc:/#é", min_size=1, max_size=9).map("x:".__add__)),
    st.builds(BlankNode, st.text("abc123", min_size=1, max_size=4)),
    st.builds(Literal, texts),
    st.builds(lambda text: Literal(text, language="en"), texts),
    st.builds(lambda text: Literal(text, XSD + "integer"), st.from_regex(r"[+-]?[0-9]{1,4}", fullmatch=True)),
)
QUERY = thence.parse("SELECT ?a ?b FROM STREAM S <x:s> { SEQ (A) DEFINE GPM A ON S { ?a <x:p> ?b } }")
matches = st.lists(
    st.builds(
        lambda bound, start, end, domain: Match.of(Row(9, start, end, (), (), None, 0, bound=bound), domain),
        st.fixed_dictionaries({}, optional={"a": terms, "b": st.lists(terms, max_size=3).map(tuple)}),
        st.integers(-9, 9),
        st.integers(-9, 9),
        st.sampled_from(Domain),
    ),
    max_size=4,
)


def written(format: str, found: list[Match]) -> str:
    file = io.StringIO(newline="")
    lines = writer(format, file, QUERY)
    lines.begin()
    for match in found:
        lines.write(match)
    lines.end()
    return file.getvalue()


@given(matches)
def test_csv_has_a_row_for_each_match_with_the_values_in_it(found: list[Match]) -> None:
    _, *rows = csv.reader(io.StringIO(written("csv", found), newline=""))
    assert [row[2] for row in rows] == [_value(match.bindings.get("a")) for match in found]


def _value(cell: object) -> str:
    match cell:
        case BlankNode():
            return f"_:{cell.value}"
        case IRI() | Literal():
            return cell.value
    return ""


@given(matches)
def test_tsv_has_a_line_for_each_match_and_a_field_for_each_column(found: list[Match]) -> None:
    lines = written("tsv", found).removesuffix("\n").split("\n")
    assert [len(line.split("\t")) for line in lines] == [4] * (len(found) + 1)


@given(matches)
def test_json_and_jsonl_have_the_same_bindings(found: list[Match]) -> None:
    lines = [json.loads(line)["bindings"] for line in written("jsonl", found).split("\n")[:-1]]
    bindings = json.loads(written("json", found))["results"]["bindings"]
    assert lines == [{name: row[name] for name in ("a", "b") if name in row} for row in bindings]
    assert [_term(row.get("a")) for row in lines] == [match.bindings.get("a") for match in found]


def _term(shown: dict[str, str] | None) -> Term | None:
    match shown:
        case {"type": "uri", "value": value}:
            return IRI(value)
        case {"type": "bnode", "value": value}:
            return BlankNode(value)
        case {"type": "literal", "value": value, "xml:lang": language}:
            return Literal(value, language=language)
        case {"type": "literal", "value": value}:
            return Literal(value, shown.get("datatype", XSD + "string"))
    return None


@pytest.mark.parametrize("columns", ["160", "30"], ids=["wide", "narrow"])
@given(matches)
def test_a_table_steers_no_terminal(columns: str, found: list[Match]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", columns)
        text = written("table", found)
    assert not [sign for sign in text if sign != "\n" and (ord(sign) < 32 or 127 <= ord(sign) < 160)]


def test_where_a_table_would_be_too_wide_each_match_is_a_block() -> None:
    bound: dict[str, Term] = {"a": IRI("http://example.org/a-rather-long-name"), "b": Literal("two")}
    found = [Match.of(Row(9, 1, 2, (), (), None, 0, bound=bound), Domain.TICKS)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "50")
        assert written("table", found) == '1 - 2\n  ?a  <http://example.org/a-rather-long-name>\n  ?b  "two"\n'
        patch.setenv("COLUMNS", "100")
        assert "┃" in written("table", found)
