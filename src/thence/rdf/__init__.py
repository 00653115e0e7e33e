"""RDF terms and their values; times; graphs and events; parsing and serialising documents (pyoxigraph).

Tests: tests/rdf.
"""
