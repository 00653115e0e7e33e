"""Where events on Spark come from: DataFrame rows, event files, Parquet files; ids of rows."""
