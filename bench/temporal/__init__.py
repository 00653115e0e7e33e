"""Shared by the benchmarks of EP-SPARQL."""
