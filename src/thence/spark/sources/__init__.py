"""Sources of events on Spark: DataFrame rows, event files, Parquet files; ids of rows."""
