"""EP-SPARQL on Spark: the rows of one process, in batch and in streaming with a restart between micro-batches."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, assume, given, settings

import thence
from oracle.ep_sparql import TooManyRounds
from oracle.ep_sparql_cases import Case, answer, any_sliced, cases
from oracle.ep_sparql_query import selects
from oracle.ep_sparql_text import text, turtle

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
    # in streaming, the last instant stays open
    matches = [match for match in parsed.match(events, **options) if not streaming or match.end < rows[-1][0]]
    expected = Counter(
        (match.start, match.end, match.query, match.id, tuple(event.id for event in match.events)) for match in matches
    )
    assert expected
    if streaming:
        cuts = [rows[:2], rows[2:3], rows[3:], [(1000, 1000, "last", triple("nothing", "is", 1))]]
        found = streamed(spark, parsed, cuts, tmp_path, **options)
    else:
        found = parsed.dataframe(spark.createDataFrame(rows, SCHEMA).repartition(3), **options).collect()
    numbered = len(parsed.algebra.selects) > 1  # type: ignore[attr-defined]
    assert expected <= Counter(
        (row.start, row.end, row.query if numbered else None, row.match_id, tuple(row.events)) for row in found
    )
    assert streaming or sum(expected.values()) == len(found)


def streamed(
    spark: SparkSession, query: thence.Query, cuts: list[list[Any]], folder: Path, **options: Any
) -> list[Any]:
    """The rows of several runs, each from the checkpoint of the one before."""
    found: list[Any] = []
    for rows in cuts:
        spark.createDataFrame(rows, SCHEMA).coalesce(1).write.mode("append").parquet(str(folder / "in"))
        frame = spark.readStream.schema(SCHEMA).parquet(str(folder / "in"))
        writer = query.dataframe(frame, **options).writeStream
        writer = writer.foreachBatch(lambda some, _: found.extend(some.collect()))
        writer = writer.option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True)
        writer.start().awaitTermination()
    return found


@settings(
    max_examples=min(100, int(os.environ["THENCE_CASES"])) if "THENCE_CASES" in os.environ else 4,
    suppress_health_check=list(HealthCheck),
    deadline=None,
)
@given(case=cases())
def test_random_cases_in_batch_are_those_of_the_definitions(spark: SparkSession, case: Case) -> None:
    assume(selects(case.file) and case.named is None and case.events)
    try:
        told = answer(case, rounds=12)
    except TooManyRounds:
        assume(False)
    assume(told and not any_sliced(case.file))
    query = thence.parse(text(case.file), language="ep-sparql")
    rows = [(start, end, name, turtle(triples)) for name, start, end, triples in case.events]
    frame: DataFrame = spark.createDataFrame([(*row, "turtle") for row in rows], SCHEMA + ", format string")
    background = None
    if case.background:
        import pyoxigraph as ox

        background = ox.Store()
        background.load(turtle(case.background).encode(), format=ox.RdfFormat.TURTLE)
    found = query.dataframe(frame, background=background, reasoning="rdfs" if case.reasoning else None).collect()
    expected = Counter((number, start, end, len(bindings)) for number, start, end, bindings, _ in told)
    several = len(selects(case.file)) > 1
    reserved = {"start", "end", "match_id", "events", "query"}
    assert expected == Counter(
        (
            row.query if several else 1,
            row.start,
            row.end,
            sum(cell is not None for name, cell in row.asDict().items() if name not in reserved),
        )
        for row in found
    ), text(case.file)
