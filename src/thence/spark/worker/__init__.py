"""The code that Spark's Python workers run."""
