"""Executes programs: a pure function of program, state, events and watermark. No clock, no I/O, no Spark."""
