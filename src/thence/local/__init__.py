"""A query in one process: inputs, finite runs, the engine for pushed events.

Tests: tests/query.
"""
