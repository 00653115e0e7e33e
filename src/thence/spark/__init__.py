"""A query on Spark. Only this package and `cli` import pyspark.

Tests: tests/spark.
"""
