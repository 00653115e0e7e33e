"""Event files, tables and stores, read into batches of events.

Tests: tests/io.
"""
