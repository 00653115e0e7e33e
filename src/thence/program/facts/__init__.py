"""The program of the operator of facts (TEF-SPARQL)."""
