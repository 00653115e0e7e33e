"""What tests share: builders of cases, runs of the engine, readers of data."""
