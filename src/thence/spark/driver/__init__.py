"""The plan of DataFrames: decode, match, shuffle by shard, run, output."""
