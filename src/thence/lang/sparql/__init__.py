"""SPARQL 1.1: grammar and readers, which the other languages extend."""
