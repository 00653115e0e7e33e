"""Terms, values and events as columns: the dictionary of terms, kinds of values, batches of events.

Tests: tests/columns.
"""
