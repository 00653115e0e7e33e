"""RSEP-QL: grammar, reader, checks."""
