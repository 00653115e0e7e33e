"""Programs of the automaton in one process, and a restart from what was saved."""

from __future__ import annotations

from typing import Any

from thence.engines.automaton.operator import AutomatonOperator
from thence.engines.automaton.program import SequenceProgram
from thence.interface.dataflow import one_stage
from thence.interface.operator import Environment
from thence.local.flow import LocalFlow
from thence.match.background import NO_BACKGROUND, Background
from thence.runtime import saved_state


def flow_of(program: SequenceProgram, background: Background = NO_BACKGROUND, **options: Any) -> LocalFlow:
    """A flow of one stage."""
    return LocalFlow(one_stage(program, AutomatonOperator()), Environment(background, **options))


def program_of(flow: LocalFlow) -> SequenceProgram:
    """The program of a flow's last stage."""
    program = flow.hosts[-1].stage.program
    assert isinstance(program, SequenceProgram)
    return program


def saved(flow: LocalFlow) -> bytes:
    """The state of a flow of one stage."""
    (host,) = flow.hosts
    head, arrays = host.snapshot()
    return saved_state.save(head, arrays, fingerprint=host.stage.program.fingerprint(), shards=1)


def restore(flow: LocalFlow, state: bytes) -> None:
    (host,) = flow.hosts
    host.restore(*saved_state.restore(state, fingerprint=host.stage.program.fingerprint(), shards=1))


def restart(flow: LocalFlow) -> None:
    """Save the state and continue from it."""
    restore(flow, saved(flow))
