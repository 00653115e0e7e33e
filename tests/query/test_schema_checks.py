"""Names and comparisons that the input's schema refutes are refused before anything runs; names that no event had are
warnings at the end (BAD-2 to BAD-5, BAD-11)."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

import thence
from thence.errors import InputError, QueryError, ThenceWarning
from thence.io import csv_files

pytestmark = pytest.mark.numba

COLUMNS = {
    "type": ["TX", "TX", "TX"],
    "time": [1, 2, 3],
    "CUSTOMER_ID": [4458, 7, 4458],
    "TX_AMOUNT": [1.5, 2.5, 3.5],
    "TERMINAL": ["t1", "t2", "t1"],
    "FRAUD": [False, True, False],
    "speed": [10, 20, 30],
}
THERE = "There are: CUSTOMER_ID, TX_AMOUNT, TERMINAL, FRAUD, speed."
SEQ = "PATTERN SEQ(TX a, TX b) {} WITHIN 10 RETURN {}"
PREFIX = "PREFIX : <http://example.org/> "
SPASEQ = PREFIX + "SELECT ?a FROM STREAM S <http://example.org/S> {{ SEQ(A) DEFINE GPM A ON S {{ {} }} }}"
EP_SPARQL = PREFIX + "SELECT ?a {{ {{ {} }} SEQ {{ ?b :speed ?w }} }}"
RSEP_QL = PREFIX + "SELECT ?a FROM NAMED WINDOW :w ON :S [RANGE 10 STEP 1] WHERE {{ WINDOW :w {{ {} }} }}"
TEF_SPARQL = PREFIX + "SELECT ?a WHERE {}"
BACKGROUND = '<x:s> <x:p> "1" .\n'
LANGUAGES = {"spaseq": SPASEQ, "ep-sparql": EP_SPARQL, "rsep-ql": RSEP_QL, "tef-sparql": TEF_SPARQL}


@pytest.fixture
def table(tmp_path: Path) -> Path:
    parquet.write_table(pa.table(COLUMNS), tmp_path / "tx.parquet")
    return tmp_path / "tx.parquet"


def rows() -> list[dict[str, Any]]:
    return [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)]


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    """The same rows, whose schema is not known."""
    (tmp_path / "tx.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows()))
    return tmp_path / "tx.jsonl"


def csv(folder: Path) -> Path:
    text = [",".join(COLUMNS), *(",".join(str(cell) for cell in row.values()) for row in rows())]
    (folder / "tx.csv").write_text("\n".join(text) + "\n")
    return folder / "tx.csv"


def refused(query: str, given: object, *, language: str | None = None) -> str:
    """The error of a query that is refused before its first event, with the place that its caret shows."""
    parsed = thence.parse(query, language=language)
    with pytest.raises(QueryError) as caught:
        parsed.match(given)
    line, caret = caught.value.caret.split("\n")
    return f"{caught.value} @{line[len(caret) - 1 :][:12]}"


def warned(query: str, given: object, *, language: str | None = None) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ThenceWarning)
        list(thence.parse(query, language=language).match(given))
    return [str(each.message) for each in caught]


# An attribute that no stream has (BAD-2)


@pytest.mark.parametrize(
    ("where", "returned", "expected"),
    [
        ("WHERE b.TX_AMOUNTT > 1", "a.speed", f"TX_AMOUNTT. Did you mean TX_AMOUNT? {THERE} @TX_AMOUNTT >"),
        ("WHERE [CUSTOMER]", "a.speed", f"CUSTOMER. Did you mean CUSTOMER_ID? {THERE} @CUSTOMER] WI"),
        ("", "a.nosuch", f"nosuch. {THERE} @nosuch"),
        ("WHERE PARTITION BY sped % 2", "a.speed", f"sped. Did you mean speed? {THERE} @sped % 2 WIT"),
        ("WHERE a.TERMINAL != 'b.sped' ^ b.sped > 1", "1 AS x", f"sped. Did you mean speed? {THERE} @sped > 1 WIT"),
    ],
)
def test_sase_names_an_attribute_that_no_stream_has(table: Path, where: str, returned: str, expected: str) -> None:
    found = refused(SEQ.format(where, returned), table)
    assert found.partition(": No stream has the attribute ")[2] == expected


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_graph_pattern_names_an_attribute_that_no_stream_has(table: Path, language: str) -> None:
    found = refused(LANGUAGES[language].format("?a :speeed ?v"), table, language=language)
    assert ": No stream has the attribute :speeed. Did you mean :speed? " + THERE in found
    assert found.split(" @")[1].startswith(":speeed ?v")


def test_a_csv_file_has_a_schema_too_and_is_looked_through_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its types are needed anyway as it is read: they are not found a second time."""
    path = csv(tmp_path)
    monkeypatch.setattr(csv_files, "_SETTLED", 0)
    looked: list[str] = []
    through = csv_files._seen
    monkeypatch.setattr(csv_files, "_seen", lambda name, limits: looked.append(name) or through(name, limits))
    assert "Did you mean TX_AMOUNT?" in refused(SEQ.format("WHERE b.TX_AMOUNTT > 1", "a.speed"), path)
    assert len(list(thence.parse(SEQ.format("", "a.speed")).match(path))) == 2
    assert looked == [str(path)]


def test_a_csv_file_that_has_changed_is_looked_through_again(tmp_path: Path) -> None:
    """Of the same length, at once: the file's time may not tell."""
    path = csv(tmp_path)
    query = thence.parse(SEQ.format("WHERE a.speed > 1", "a.speed"))
    assert len(list(query.match(path))) == 2
    path.write_text(path.read_text().replace(",10\n", ",xx\n"))
    with pytest.raises(QueryError, match=r"speed is text \(string\)"):
        query.match(path)


def test_what_the_background_or_the_query_itself_has_is_no_mistake(table: Path) -> None:
    """BAD-2: no background has it, and no statement makes it."""
    named = PREFIX + "SELECT ?a { { ?a :model ?v } SEQ { ?b :speed ?w } }"
    assert "No stream has the attribute :model." in refused(named, table)
    background = table.parent / "background.nt"
    background.write_text('<http://example.org/x> <http://example.org/model> "1" .\n')
    thence.parse(named).match(table, background=background)
    thence.parse(PREFIX + "CONSTRUCT { ?a :model ?v } { ?a :speed ?v }" + named.removeprefix(PREFIX)).match(table)


def test_a_stream_without_a_schema_may_have_every_attribute(table: Path, lines: Path) -> None:
    """Only what comes tells what it has (BAD-4)."""
    query = SEQ.format("WHERE b.nosuch > 1", "a.speed")
    assert [each.partition(" There")[0] for each in warned(query, [str(table), str(lines)])] == [
        "query:1:33: No event has the attribute nosuch."
    ]


def test_a_composed_query_knows_what_its_inner_queries_return(table: Path) -> None:
    """Attributes of a derived stream are the columns of RETURN, whatever comes from outside."""
    query = "PATTERN TX a RETURN (a.speed AS fast) AS Fast IN STREAM fast; FROM fast PATTERN Fast f RETURN f.{}"
    assert len(list(thence.parse(query.format("fast")).match(table))) == 3
    assert "No stream has the attribute fst. Did you mean fast?" in refused(query.format("fst"), table)
    assert "fst" in refused(query.format("fst"), [thence.Event(1, {"type": "TX", "speed": 1})])


# A comparison that types can never make true (BAD-3)


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (
            "a.CUSTOMER_ID = '4458'",
            "a.CUSTOMER_ID = '4458' is never true: CUSTOMER_ID is a number (integer), and '4458' is text. Try: 4458"
            " @CUSTOMER_ID ",
        ),
        (
            'b.TX_AMOUNT > "high"',
            "b.TX_AMOUNT > 'high' is never true: TX_AMOUNT is a number (double), and \"high\" is text. Try: a number"
            " @TX_AMOUNT > ",
        ),
        (
            "a.TERMINAL != 5",
            'a.TERMINAL != 5 is never true: TERMINAL is text (string), and 5 is a number. Try: "5" @TERMINAL != ',
        ),
        (
            "a.speed > 1 ^ b.speed = a.TERMINAL",
            "b.speed = a.TERMINAL is never true: speed is a number (integer), and TERMINAL is text (string). "
            "Try: values of one kind @speed > 1 ^ ",
        ),
        (
            "a.FRAUD = 1",
            "a.FRAUD = 1 is never true: FRAUD is a boolean (boolean), and 1 is a number. Try: true or false "
            "@FRAUD = 1 WI",
        ),
        (
            "a.speed + 1 = 'x'",
            "a.speed + 1 = 'x' is never true: the other side is a number, and 'x' is text. Try: a number @speed + 1 = ",
        ),
    ],
)
def test_sase_compares_what_is_never_equal(table: Path, where: str, expected: str) -> None:
    """SA-29: a comparison of a number with a string is not true, `!=` neither."""
    found = refused(SEQ.format(f"WHERE {where}", "a.speed"), table)
    assert found.partition(": ")[2] == expected


@pytest.mark.parametrize("where", ["a.speed = 10", "a.TX_AMOUNT > a.speed", "a.TERMINAL = 't1'", "a.time > 1"])
def test_what_may_be_true_is_not_refused(table: Path, where: str) -> None:
    thence.parse(SEQ.format(f"WHERE {where}", "a.speed")).match(table)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_constant_in_a_graph_pattern_of_another_kind_than_the_column(table: Path, language: str) -> None:
    """Values of columns are literals: a name never equals one (C-29)."""
    found = refused(LANGUAGES[language].format("?a :TERMINAL :t1"), table, language=language)
    assert ':TERMINAL :t1 is never true: :TERMINAL is text (string), and :t1 is an IRI. Try: "t1"' in found


@pytest.mark.parametrize(
    ("filter", "is_refused"),
    [
        ('?v > "high"', True),
        ('?v = "high"', True),  # C-30: false, not an error
        ('?v != "high"', False),  # which is true
        ('?v IN ("high", "low")', True),
        ('?v IN ("high", 1)', False),
        ('?v = "high" || ?w > 1', True),
        ("?v > ?w", False),
    ],
)
def test_filters_are_judged_by_the_types_of_columns(table: Path, filter: str, is_refused: bool) -> None:
    query = SPASEQ.format(f"?a :speed ?v ; :CUSTOMER_ID ?w FILTER({filter})")
    if is_refused:
        assert '?v IN ("high"' in filter or "is never true: :speed is a number (integer)" in refused(query, table)
        assert refused(query, table).split(" @")[1].startswith("?v ")
    else:
        thence.parse(query).match(table)


def test_a_variable_that_is_bound_in_another_way_may_have_any_value(table: Path) -> None:
    thence.parse(SPASEQ.format('?a :speed ?v BIND("x" AS ?x) FILTER(?x = "x")')).match(table)
    thence.parse(SPASEQ.format('?a :speed ?v . ?a ?p ?v FILTER(?v = "x")')).match(table)


def test_a_number_in_one_stream_and_another_kind_of_number_in_the_next_are_numbers(tmp_path: Path) -> None:
    for name, speed in (("a", [1, 2]), ("b", [1.5, 2.5])):
        columns = {"type": ["TX", "TX"], "time": [1, 2], "speed": speed}
        parquet.write_table(pa.table(columns), tmp_path / f"{name}.parquet")
    query = thence.parse(SEQ.format("WHERE a.speed > 1", "a.speed"))
    query.match([tmp_path / "a.parquet", tmp_path / "b.parquet"])


# What no event had (BAD-4, BAD-5)


@pytest.mark.parametrize("path", ["table", "lines"])
def test_a_type_that_no_event_has_is_a_warning_that_names_the_types(path: str, request: pytest.FixtureRequest) -> None:
    """BAD-5: in any case a warning, even where the schema is known."""
    query = SEQ.format("", "a.speed").replace("(TX a", "(tx a")
    assert warned(query, request.getfixturevalue(path)) == [
        "query:1:13: No event has the type tx. Did you mean TX? There were: TX (3)."
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_name_that_no_event_has_is_a_warning_at_the_end(lines: Path, language: str) -> None:
    (found,) = warned(LANGUAGES[language].format("?a :speeed ?v"), lines, language=language)
    assert "No event has the attribute :speeed. Did you mean :speed? There were: :CUSTOMER_ID, :FRAUD, " in found
    (found,) = warned(LANGUAGES[language].format("?a a :Tx"), lines, language=language)
    assert "No event has the type :Tx. Did you mean :TX? There were: :TX (3)." in found


def test_a_table_of_all_matches_warns_too(lines: Path) -> None:
    matching = thence.parse(SEQ.format("WHERE [CUSTOMER]", "a.speed")).match(lines)
    with pytest.warns(ThenceWarning, match=r"No event has the attribute CUSTOMER\. Did you mean CUSTOMER_ID\?"):
        assert len(matching.table()) == 0


def test_names_that_came_are_no_warnings(lines: Path) -> None:
    assert warned(SEQ.format("WHERE [CUSTOMER_ID] ^ b.TX_AMOUNT > 1", "a.TERMINAL"), lines) == []
    assert warned(SEQ.format("", "a.nosuch"), []) == []  # without any event there is nothing to tell


# Graphs of the background (BAD-11)


@pytest.mark.parametrize("language", ["spaseq", "ep-sparql", "rsep-ql"])
def test_a_graph_that_no_background_has_is_an_error_with_the_graphs_there_are(table: Path, language: str) -> None:
    background = table.parent / "background.nt"
    background.write_text(BACKGROUND)
    reads = "?a :speed ?v {} GRAPH :events {{ ?x <x:p> ?y {}".format(*("}", "") if language == "rsep-ql" else ("", "}"))
    query = thence.parse(LANGUAGES[language].format(reads), language=language)
    with pytest.raises(InputError, match=r"no background data has it \(it has: <events>\)\. Did you mean it"):
        query.match(table, background={"events": background})


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_graph_that_nothing_reads_is_a_warning_at_the_start(table: Path, language: str) -> None:
    background = table.parent / "background.nt"
    background.write_text(BACKGROUND)
    query = thence.parse(LANGUAGES[language].format("?a :speed ?v"), language=language)
    with pytest.warns(ThenceWarning, match="Nothing reads the graph <x:other> of the background: the query"):
        query.match(table, background={"x:other": background})
    with pytest.warns(ThenceWarning, match="Nothing reads the graph <x:other>"):
        query.engine(background={"x:other": background})
    if language == "spaseq":
        with pytest.warns(ThenceWarning, match="Nothing reads the background's triples without a graph"):
            query.match(table, background=background)
    else:
        query.match(table, background=background)
