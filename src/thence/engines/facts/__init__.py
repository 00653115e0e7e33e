"""The engine of events and facts (TEF-SPARQL).

Tests: tests/engines/facts.
"""
