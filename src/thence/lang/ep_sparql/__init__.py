"""EP-SPARQL: grammar, reader, checks."""
