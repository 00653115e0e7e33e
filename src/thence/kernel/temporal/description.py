"""What `explain` shows of a network: the join tree, what each node keeps, by which key, and for how long."""

from __future__ import annotations

from thence.program.description import Description
from thence.program.temporal.program import TemporalProgram


def describe(program: TemporalProgram) -> Description:
    return Description(("temporal joins",), {})
