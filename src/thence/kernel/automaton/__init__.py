"""The automaton operator: steps runs over rows in the order of time, compiled."""
