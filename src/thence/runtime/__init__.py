"""Everything around an operator, once for all paths: ids, order, DISTINCT, derived events, problems, saved states.

Tests: tests/runtime.
"""
