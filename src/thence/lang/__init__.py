"""Text to algebra: a grammar file and a reader for each language, all over the ones of SPARQL.

Tests: tests/lang.
"""
