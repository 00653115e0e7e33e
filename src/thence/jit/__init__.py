"""Numba support: compiled functions and their cache, interpretation until a function is hot, bare pointers.

Tests: tests/columns.
"""
