"""Tables of solutions that engines keep, with an index to join them by, and the accumulator of aggregates.

Tests: tests/relation.
"""
