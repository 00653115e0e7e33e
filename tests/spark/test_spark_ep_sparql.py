"""EP-SPARQL on Spark: the rows of one process, in batch and in streaming with a restart between micro-batches."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from shutil import copy
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

import thence
from oracle.ep_sparql import Row, TooManyRounds
from oracle.ep_sparql_cases import Case, answer, any_sliced, cases, random_cases
from oracle.ep_sparql_query import selects
from oracle.ep_sparql_text import text, turtle
from oracle.terms import Blank
from support.comparable_terms import store_of
from support.ep_sparql_files import EXAMPLES
from support.ep_sparql_runs import shown, spark_row
from support.spark_ep_sparql import comparable, finite_frame

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SCHEMA = "time long, end long, id string, value string"
NAMESPACE = "http://example.org/"

FALLS = """PREFIX : <http://example.org/>
SELECT ?company ?before ?after ?agency WHERE {
  { ?company :downratedby ?agency } OPTIONALSEQ
  { { ?company :price ?before } SEQ { ?company :price ?after }
    FILTER(?after < ?before * 0.5 && getDURATION() < 20) }
}"""

ROUTES = """PREFIX : <http://example.org/>
CONSTRUCT { ?a :reaches ?b } WHERE { ?a :road ?b }
CONSTRUCT { ?a :reaches ?c } WHERE { ?a :reaches ?b . ?b :reaches ?c }
SELECT ?from ?to WHERE { ?agent :at ?from . ?agent :wants ?to . ?from :reaches ?to }
SELECT (COUNT(*) AS ?requests) WHERE { ?agent :wants ?to }"""


def triple(*parts: object) -> str:
    return " ".join(f"<{NAMESPACE}{part}>" if isinstance(part, str) else str(part) for part in parts) + " ."


PRICES = [
    (1, triple("acme", "price", 100)),
    (3, triple("globex", "price", 80)),
    (4, triple("acme", "downratedby", "agency1")),
    (6, triple("acme", "price", 90)),
    (9, triple("acme", "price", 40)),
    (9, triple("globex", "price", 30)),
    (30, triple("globex", "price", 10)),
]
REQUESTS = [
    (1, triple("anna", "at", "a") + triple("anna", "wants", "d")),
    (2, triple("c", "road", "d")),
    (2, triple("bert", "at", "b") + triple("bert", "wants", "d")),
    (5, triple("carl", "at", "d") + triple("carl", "wants", "a")),
]
ROADS = triple("a", "road", "b") + "\n" + triple("b", "road", "c")


@pytest.mark.parametrize(("query", "given_rows"), [(FALLS, PRICES), (ROUTES, REQUESTS)], ids=["falls", "routes"])
@pytest.mark.parametrize("streaming", [False, True], ids=["batch", "streaming"])
def test_spark_gives_the_rows_and_ids_of_one_process(
    spark: SparkSession, tmp_path: Path, query: str, given_rows: list[tuple[int, str]], streaming: bool
) -> None:
    roads = tmp_path / "roads.nt"
    roads.write_text(ROADS)
    parsed = thence.parse(query, language="ep-sparql")
    options = {"background": str(roads)} if query is ROUTES else {}
    rows = [(time, time, f"e{number}", graph) for number, (time, graph) in enumerate(given_rows)]
    events = [thence.Event(time, graph, id=name) for time, _, name, graph in rows]
    all_rows = comparable(parsed.match(events, **options))
    assert all_rows
    if streaming:
        cuts = [rows[:2], rows[2:3], rows[3:], [(1000, 1000, "last", triple("nothing", "is", 1))]]
        found = streamed(spark, parsed, cuts, tmp_path, **options)
    else:
        found = parsed.dataframe(spark.createDataFrame(rows, SCHEMA).repartition(3), **options).collect()
    numbered = len(parsed.algebra.selects) > 1  # type: ignore[attr-defined]
    assert all_rows == Counter(
        (row.start, row.end, row.query if numbered else None, row.match_id, tuple(row.events)) for row in found
    )


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("streaming", [False, True], ids=["batch", "streaming"])
def test_the_examples_have_their_rows_on_spark(spark: SparkSession, tmp_path: Path, name: str, streaming: bool) -> None:
    example = EXAMPLES[name]
    query = thence.parse(example.query)
    options: dict[str, Any] = {} if example.background is None else {"background": str(example.background)}
    matches = [each for each in query.match(str(example.stream), **options) if isinstance(each, thence.Match)]
    expected = {each.id for each in matches}
    assert len(matches) == len(example.expected)
    if not streaming:
        frame = finite_frame(spark, example.stream)
        assert {row.match_id for row in query.dataframe(frame, **options).collect()} == expected
        return
    found: list[Any] = []
    folder = tmp_path / "in"
    folder.mkdir()
    copy(example.stream, folder)
    if example.stream.suffix == ".csv":
        schema = finite_frame(spark, example.stream).schema
        frame = spark.readStream.schema(schema).option("header", True).csv(str(folder))
    else:
        frame = spark.readStream.format("thence").load(str(folder))
    writer = query.dataframe(frame, **options).writeStream
    writer = writer.foreachBatch(lambda some, _: found.extend(some.collect()))
    writer = writer.option("checkpointLocation", str(tmp_path / "checkpoint")).trigger(availableNow=True)
    writer.start().awaitTermination()
    # the last instant stays open: what waits for it is not certain
    certain = {each.id for each in matches if each.end < matches[-1].end}
    assert certain <= {row.match_id for row in found} <= expected


def streamed(
    spark: SparkSession,
    query: thence.Query,
    cuts: list[list[Any]],
    folder: Path,
    schema: str = SCHEMA,
    **options: Any,
) -> list[Any]:
    """The rows of several runs, each from the checkpoint of the one before."""
    found: list[Any] = []
    for rows in cuts:
        spark.createDataFrame(rows, schema).coalesce(1).write.mode("append").parquet(str(folder / "in"))
        frame = spark.readStream.schema(schema).parquet(str(folder / "in"))
        writer = query.dataframe(frame, **options).writeStream
        writer = writer.foreachBatch(lambda some, _: found.extend(some.collect()))
        writer = writer.option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True)
        writer.start().awaitTermination()
    return found


def has_blank_nodes(case: Case) -> bool:
    """Whether an event has one: its label in a DataFrame is another."""
    return any(isinstance(term, Blank) for _, _, _, triples in case.events for each in triples for term in each)


@settings(
    max_examples=min(100, int(os.environ["THENCE_CASES"])) if "THENCE_CASES" in os.environ else 4,
    suppress_health_check=list(HealthCheck),
    deadline=None,
)
@given(case=cases())
def test_random_cases_in_batch_are_those_of_the_definitions(spark: SparkSession, case: Case) -> None:
    assume(selects(case.file) and case.named is None and case.events)
    try:
        comparable_rows = answer(case, rounds=12)
    except TooManyRounds:
        assume(False)
    assume(comparable_rows and not any_sliced(case.file) and not has_blank_nodes(case))
    query = thence.parse(text(case.file), language="ep-sparql")
    rows = [(start, end, name, turtle(triples)) for name, start, end, triples in case.events]
    frame: DataFrame = spark.createDataFrame([(*row, "turtle") for row in rows], SCHEMA + ", format string")
    found = query.dataframe(frame, terms="struct", **options_of(case)).collect()
    expected = Counter(shown(row, sliced=True) for row in comparable_rows)
    assert expected == Counter(spark_row(row.asDict(recursive=True), case.events, True) for row in found), text(
        case.file
    )


def options_of(case: Case) -> dict[str, Any]:
    stores = {None: [store_of(case.background)]} if case.background else None
    return {"background": stores, "reasoning": "rdfs" if case.reasoning else None}


SEEDS = range(int(os.environ["THENCE_CASES"]) // 10) if "THENCE_CASES" in os.environ else range(3)


@pytest.mark.parametrize("seed", SEEDS)
def test_random_cases_in_streaming_are_those_of_the_definitions(spark: SparkSession, tmp_path: Path, seed: int) -> None:
    """LIMIT takes the same rows, too (EP-62). What ends with the last event may wait (EP-43)."""
    case, comparable_rows = next(filter(None, map(answered, random_cases(seed))))
    order = sorted(case.events, key=lambda each: each[2])
    rows = [(start, end, name, turtle(triples), "turtle") for name, start, end, triples in order]
    query = thence.parse(text(case.file), language="ep-sparql")
    middle = len(rows) // 2
    cuts = [rows[:middle], rows[middle:]]
    found = streamed(
        spark, query, cuts, tmp_path, terms="struct", schema=SCHEMA + ", format string", **options_of(case)
    )
    expected = Counter(shown(row, sliced=True) for row in comparable_rows)
    certain = Counter({row: count for row, count in expected.items() if row[2] < order[-1][2]})
    listed = Counter(spark_row(row.asDict(recursive=True), order, True) for row in found)
    assert certain <= listed <= expected, text(case.file)


def answered(case: Case) -> tuple[Case, list[Row]] | None:
    """A case with rows before the last event; None for others."""
    if not selects(case.file) or case.named is not None or len(case.events) < 3 or has_blank_nodes(case):
        return None
    try:
        comparable_rows = answer(case, rounds=12)
    except TooManyRounds:
        return None
    last = max(end for _, _, end, _ in case.events)
    return (case, comparable_rows) if any(row[2] < last for row in comparable_rows) else None


@pytest.mark.parametrize("reasoning", [None, "rdfs"])
def test_what_the_background_spoils_is_an_error_of_the_call(
    spark: SparkSession, tmp_path: Path, reasoning: str | None
) -> None:
    """EP-52, EP-53, BAD-1: with this background, what stands left of OPTIONALSEQ need not be earlier."""
    file = tmp_path / "kb.ttl"
    file.write_text(triple("a", "p", 1))
    rules = f"""PREFIX : <{NAMESPACE}> CONSTRUCT {{ ?x :t 1 }} WHERE {{ {{ ?x :t ?z }} OPTIONALSEQ {{ ?x :p ?y }} }}
        SELECT * {{ ?x :t ?n }}"""
    frame = spark.createDataFrame([(1, 1, "e", triple("a", "p", 1))], SCHEMA)
    with pytest.raises(thence.errors.QueryError, match="stratified"):
        thence.parse(rules).dataframe(frame, background=str(file), reasoning=reasoning)


RDFS = "@prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . "
SCHEMAS = {
    "by train": RDFS + ":train rdfs:subPropertyOf :goes . :goes rdfs:range :Stop . :Stop rdfs:subClassOf :Place .",
    "by bus": RDFS + ":bus rdfs:subPropertyOf :goes . :goes rdfs:domain :Place .",
    "by bus, known": RDFS + ":bus rdfs:subPropertyOf :goes . :goes rdfs:domain :Place . :z :bus :c .",
}
TRIPS = [
    (1, triple("a", "train", "b")),
    (2, triple("b", "bus", "c")),
    (4, triple("b", "train", "c") + triple("c", "goes", "d")),
    (7, triple("c", "bus", "a")),
]
REASONED = f"""PREFIX : <{NAMESPACE}>
    SELECT ?x ?z {{ {{ ?x :goes ?y }} SEQ {{ ?y :goes ?z }} }}
    SELECT ?x {{ ?x a :Place }}
    SELECT ?x ?z {{ ?x :goes ?y . ?z :bus ?y }}"""


@pytest.mark.parametrize("streaming", [False, True], ids=["batch", "streaming"])
def test_with_reasoning_each_background_has_its_own_rows_in_one_session(
    spark: SparkSession, tmp_path: Path, streaming: bool
) -> None:
    """EP-55 – EP-57: a worker closes each background once, and keeps those of several schemas apart."""
    parsed = thence.parse(REASONED, language="ep-sparql")
    rows = [(time, time, f"e{number}", graph) for number, (time, graph) in enumerate(TRIPS)]
    events = [thence.Event(time, graph, id=name) for time, _, name, graph in rows]
    seen = []
    for number, name in enumerate(("by train", "by bus") if streaming else (*SCHEMAS, *reversed(SCHEMAS))):
        file = tmp_path / f"schema{number}.ttl"
        file.write_text(SCHEMAS[name])
        options: dict[str, Any] = {"background": str(file), "reasoning": "rdfs"}
        expected = comparable(parsed.match(events, **options))
        if streaming:
            last = [(1000, 1000, "last", triple("nothing", "is", 1))]
            found = streamed(spark, parsed, [rows[:2], rows[2:] + last], tmp_path / str(number), **options)
        else:
            frame = spark.createDataFrame(rows, SCHEMA).repartition(3)
            found = parsed.dataframe(frame, shards=2, **options).collect()
        assert Counter((row.start, row.end, row.query, row.match_id, tuple(row.events)) for row in found) == expected
        seen.append(expected)
    assert seen[0] != seen[1] and len(seen[0]) > 3 < len(seen[1])
