"""What `bench/spark.py` measures: queries on Spark, and what answers the same beside them."""
