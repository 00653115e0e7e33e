"""TEF-SPARQL → dataflow."""
