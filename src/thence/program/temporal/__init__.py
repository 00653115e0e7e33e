"""The program of the temporal operator (EP-SPARQL): a network of joins over intervals."""
