"""Extracts the tables of a program from each event.

Tests: tests/match.
"""
