"""SPAseQ: grammar, reader, checks."""
