"""Extracts from each event alone what a program asks for.

Tests: tests/match.
"""
