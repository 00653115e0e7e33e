"""One package for each engine: its plan, its compiled program, its state and step, and its description.

Tests: tests/engines.
"""
