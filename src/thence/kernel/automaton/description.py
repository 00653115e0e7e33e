"""What `explain` shows of an automaton: its patterns or components, states, edges, filters, key and window."""

from __future__ import annotations

from thence.algebra.components import ComponentQuery
from thence.kernel.automaton.component_description import component_description
from thence.kernel.automaton.sequence_description import sequence_description
from thence.program.description import Description
from thence.program.sequence import SequenceProgram


def describe(program: SequenceProgram) -> Description:
    """The description of a program, in the words of its language."""
    if isinstance(program.query, ComponentQuery):
        return component_description(program, program.query)
    return sequence_description(program, program.query)
