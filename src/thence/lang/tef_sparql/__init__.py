"""TEF-SPARQL: grammar, reader, checks."""
