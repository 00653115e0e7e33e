"""The interface between engines and the host: programs and operators, dataflows, tables to extract, solutions, output.

Tests: tests/runtime.
"""
