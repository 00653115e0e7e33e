"""SASE+: grammar, reader, checks."""
