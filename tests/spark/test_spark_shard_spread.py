"""Shards are spread over Spark's partitions."""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from thence.spark.driver.pipeline import murmur3, shard_keys


def test_each_shard_has_a_partition_of_its_own(spark: SparkSession) -> None:
    shards = 7
    sent = spark.createDataFrame([(key,) for key in shard_keys(shards)], "shard bigint").repartition(shards, "shard")
    assert sent.select(F.spark_partition_id()).distinct().count() == shards
    numbers = [0, 1, 2**31, 2**40 + 1, 2**62 + 12_345]
    asked = spark.createDataFrame([(number,) for number in numbers], "number bigint").selectExpr("hash(number)")
    assert [row[0] for row in asked.collect()] == [murmur3(number) for number in numbers]


def test_any_two_numbers_of_shards_have_a_key_in_common_so_that_a_change_is_noticed() -> None:
    assert all(shard_keys(shards)[0] == 0 for shards in range(1, 200))


def test_keys_are_as_many_as_shards() -> None:
    assert all(len({murmur3(key) % shards for key in shard_keys(shards)}) == shards for shards in range(1, 50))
