"""EP-SPARQL → network of temporal joins."""
