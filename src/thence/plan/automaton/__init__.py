"""SPAseQ and SASE+ → automaton."""
