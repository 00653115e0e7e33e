"""The automaton engine (SPAseQ, SASE+): runs over rows in the order of time, compiled.

Tests: tests/engines/automaton.
"""
