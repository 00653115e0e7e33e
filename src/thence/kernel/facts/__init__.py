"""Events and facts: the operator of TEF-SPARQL."""
