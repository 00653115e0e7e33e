"""The program of the automaton operator (SPAseQ, SASE+)."""
