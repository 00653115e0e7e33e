"""The temporal engine (EP-SPARQL): joins of solutions ⟨μ, tα, tω⟩, semi-naively: only new ones meet stored ones.

Tests: tests/engines/temporal.
"""
