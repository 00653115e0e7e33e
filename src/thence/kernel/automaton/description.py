"""What `explain` shows of an automaton: its patterns or components, states, edges, filters, key and window."""

from __future__ import annotations

from thence.algebra.sase import ComponentQuery
from thence.kernel.automaton.sase_description import component_description
from thence.kernel.automaton.spaseq_description import sequence_description
from thence.program.automaton.program import SequenceProgram
from thence.program.description import Description


def describe(program: SequenceProgram) -> Description:
    """The description of a program, in the words of its language."""
    if isinstance(program.query, ComponentQuery):
        return component_description(program, program.query)
    return sequence_description(program, program.query)
