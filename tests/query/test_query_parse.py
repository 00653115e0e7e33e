"""`thence.parse`: which language a text is in, what a query says about itself, and that importing stays quick."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import thence
from thence.query.languages import recognised

SPASEQ = "SELECT * FROM STREAM S <x:s> { SEQ (A) DEFINE GPM A ON S { ?a <x:p> ?b } }"


@pytest.mark.parametrize(
    ("text", "language"),
    [
        (SPASEQ, "spaseq"),
        (SPASEQ.replace("DEFINE GPM", "DEFIN GPM"), "spaseq"),
        ("select * from stream S <x:s> { seq (A ; B) }", "ep-sparql"),  # SEQ( alone is not enough
        ("SELECT ?x { STREAM <http://e/s> [RANGE 5s] { ?x a :T } }", "rsep-ql"),
        ("SELECT ?x { STREAM <http://e/s> [NOW] { ?x a :T } }", "rsep-ql"),
        ("select ?x from stream <http://e/s> [range 3s step 1s] { ?x a :T }", "rsep-ql"),  # C-SPARQL
        ("SELECT ?x { STREAM <http://e/s> [TRIPLES 10] { ?x a :T } }", "rsep-ql"),  # which refuses it by name
        ("SELECT ?x FROM STREAM Sensors [RANGE 1h] { STREAM Sensors { ?x a :T } }", "rsep-ql"),
        ("SELECT ISTREAM ?x FROM NAMED STREAM <http://e/s> [NOW - 300 S] { ?x a :T }", "rsep-ql"),
        ("SELECT ?x FROM NAMED :S WIN AS :w { WINDOW :w { ?x a :T } }", "rsep-ql"),
        ("REGISTER STREAM :q AS SELECT ?x { ?x a :T }", "rsep-ql"),
        ("CONSTRUCT EVENT { ?x :c ?y } WHERE { (?x :a ?y) SEQ (?y :b ?z) } UNTIL { ?x :d ?y }", "tef-sparql"),
        ("PATTERN SEQ(Stock a, Stock+ b[]) WHERE [company] WITHIN 10", "sase+"),
        ("SELECT ?x FROM NAMED WINDOW :w ON :s [RANGE PT10M] { WINDOW :w { ?x a :T } }", "rsep-ql"),
        ("SELECT ?x { EVENT ON :w { ?x a :T } }", "rsep-ql"),
        ("CONSTRUCT { ?x :on ?y } SINCE { ?x :starts ?y }", "tef-sparql"),
        ("CONSTRUCT FACT ?x f ?n WHERE SINCE ?x s ?n [RANGE 10s]", "tef-sparql"),  # which refuses the window by name
        ("CONSTRUCT ?x f ?n WHERE SINCE ?x s ?n [RANGE 10s]", "tef-sparql"),
        ("CONSTRUCT FACT ?x f ?n FROM NAMED WINDOW :w ON :s [RANGE 10s] WHERE ?x s ?n", "tef-sparql"),
        ("CONSTRUCT { ?x :fact 'SINCE' } FROM NAMED :S WIN [RANGE 5] AS :w { WINDOW :w { ?x :since ?y } }", "rsep-ql"),
        ("CONSTRUCT ?x sum ?n WHERE (REPLACE(?x sum ?m) ON ?x price ?p)", "tef-sparql"),
        ("CONSTRUCT EVENT ?x rises ?y WHERE ?x price ?y", "tef-sparql"),
        ("SELECT ?x WHERE { ?x a ?y } BEFORE { ?x b ?z }", "tef-sparql"),
        ("SELECT ?x WHERE ?x a ?y WITHOUT ?x b ?z", "tef-sparql"),
        ("SELECT ?x { ?x before ?y . ?x with ?z }", "ep-sparql"),  # bare names
        ("SELECT ?x { { ?x :a ?y } SEQ { ?x :b ?z } }", "ep-sparql"),
        ("SELECT ?x FROM <http://e/g> { ?x :a ?y } SEQ { ?x :b ?z }", "ep-sparql"),  # which refuses FROM by name
        ("SELECT ?x FROM <http://e/g> { ?x :a ?y FILTER(getDURATION() < 5) }", "ep-sparql"),
        ("SELECT ?x FROM <http://e/g> { ?x :a ?y }", "rsep-ql"),
        ("SELECT ?PATTERN { ?x :GPM 'SINCE' ; <http://e/WIN> ?y } # FACT", "ep-sparql"),
        ("SELECT (REPLACE(?x, 'a', 'b') AS ?y) { ?x :a ?y }", "ep-sparql"),
        ("", "ep-sparql"),
    ],
)
def test_a_language_is_recognised_by_its_keywords(text: str, language: str) -> None:
    assert recognised(text).name == language


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("q.spaseq", "spaseq"),
        ("q.SASE", "sase+"),
        ("q.epsparql", "ep-sparql"),
        ("q.rsepql", "rsep-ql"),
        ("q.tefsparql", "tef-sparql"),
        ("q.txt", "spaseq"),
    ],
)
def test_the_ending_of_a_file_goes_before_keywords(name: str, language: str) -> None:
    assert recognised(SPASEQ, Path(name)).name == language


@pytest.mark.parametrize("text", ['"\\', "a", "<", "'", "?:", "SEQ ", "ONCE "])
def test_hostile_texts_are_looked_at_in_linear_time(text: str) -> None:
    recognised(text * 200_000)


def test_an_unknown_language_is_told_with_the_one_that_was_meant() -> None:
    with pytest.raises(thence.InputError, match=r'There is no language "spasec"\. Try: spaseq'):
        thence.parse(SPASEQ, language="spasec")


def test_a_path_is_read_and_its_name_stands_in_errors(tmp_path: Path) -> None:
    path = tmp_path / "query.spaseq"
    path.write_text(SPASEQ)
    assert thence.parse(path) == thence.parse(SPASEQ)
    path.write_text(SPASEQ.replace("(A)", "(B)"))
    with pytest.raises(thence.QueryError, match=r'^query\.spaseq:1:37: There is no GPM "B"'):
        thence.parse(path)


@pytest.mark.parametrize(
    ("content", "reason"),
    [(None, "no such file"), (b"\xff\xfe", "is not UTF-8 text")],
)
def test_a_file_that_can_not_be_read_is_told(tmp_path: Path, content: bytes | None, reason: str) -> None:
    path = tmp_path / "query.spaseq"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(thence.InputError, match=reason):
        thence.parse(path)
    with pytest.raises(thence.InputError, match="is a folder"):
        thence.parse(tmp_path)


def test_what_is_no_text_is_no_query() -> None:
    with pytest.raises(thence.InputError, match="A query is text or a Path, not bytes"):
        thence.parse(b"SELECT")  # type: ignore[arg-type]


def test_the_namespace_is_that_of_names_without_a_prefix() -> None:
    text = SPASEQ.replace("<x:p>", ":p")
    assert thence.parse(text, namespace="x:") == thence.parse(SPASEQ)


def test_a_query_says_what_it_reads_and_gives() -> None:
    query = thence.parse(SPASEQ)
    assert (query.streams, query.columns, query.constructs) == (("S",), ("a", "b"), False)
    made = thence.parse(SPASEQ.replace("SELECT *", "CONSTRUCT { ?a <x:q> ?b }"))
    assert (made.columns, made.constructs) == ((), True)
    assert query.warnings == ()


def test_importing_thence_imports_nothing_heavy() -> None:
    heavy = "{'pyspark', 'pandas', 'pyarrow', 'numpy', 'numba', 'pyoxigraph', 'lark', 'rich'}"
    code = f"import sys, thence; print(sorted({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_the_public_names_are_these() -> None:
    assert sorted(name for name in dir(thence) if not name.startswith("_")) == [
        "Engine",
        "Event",
        "InputError",
        "LimitError",
        "Match",
        "Problem",
        "Query",
        "QueryError",
        "RdfError",
        "ThenceError",
        "attribute",
        "count",
        "many",
        "one",
        "parse",
        "pattern",
    ]
    for name in dir(thence):
        assert getattr(thence, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        thence.nothing  # noqa: B018
