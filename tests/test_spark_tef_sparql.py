"""TEF-SPARQL on Spark: the rows and facts of one process, in batch and in streaming with a restart between
micro-batches."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import thence
from test_spark_ep_sparql import told
from test_spark_rsep_ql import SCHEMA, streamed
from test_tef_sparql_engine import EX, HOMES

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LIFE = [
    (1685, "bornIn", "eisenach"),
    (1695, "relocatedTo", "ohrdruf"),
    (1700, "relocatedTo", "lueneburg"),
    (1707, "relocatedTo", "muehlhausen"),
    (1723, "relocatedTo", "leipzig"),
    (1750, "diedIn", "leipzig"),
    (1800, "rememberedIn", "leipzig"),
]
ROWS: list[tuple[int, int, str, str, str]] = [
    (time, time, f"e{time}", f"<{EX}bach> <{EX}{predicate}> <{EX}{place}> .", "turtle")
    for time, predicate, place in LIFE
]
STAYS = HOMES + "SELECT ?place WHERE ?person liveIn ?place[?s, ?_], now() > ?s + 10"


@pytest.mark.parametrize("written", [HOMES, STAYS], ids=["facts", "stays"])
@pytest.mark.parametrize("streaming", [False, True], ids=["batch", "streaming"])
def test_spark_gives_the_rows_and_ids_of_one_process(
    spark: SparkSession, tmp_path: Path, written: str, streaming: bool
) -> None:
    query = thence.parse(written)
    matches: list[Any] = list(query.match([thence.Event(time, graph, id=name) for time, _, name, graph, _ in ROWS]))
    if streaming:
        found = streamed(spark, query, [ROWS[:2], ROWS[2:3], ROWS[3:]], tmp_path)
    else:
        found = query.dataframe(spark.createDataFrame(ROWS, SCHEMA).repartition(3)).collect()
    assert matches
    assert told(matches) == Counter((row.start, row.end, None, row.match_id, tuple(row.events)) for row in found)
