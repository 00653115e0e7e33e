"""TEF-SPARQL: programs and their flows in one process."""

from __future__ import annotations

import thence
from thence.engines.facts.program import FactsProgram
from thence.interface.operator import Environment
from thence.local.flow import LocalFlow
from thence.match.background import NO_BACKGROUND, Background
from thence.query.query import CompileOptions


def flow_of(text: str, background: Background = NO_BACKGROUND) -> LocalFlow:
    return LocalFlow(thence.parse(text, language="tef-sparql").dataflow(CompileOptions()), Environment(background))


def program_of(flow: LocalFlow) -> FactsProgram:
    program = flow.dataflow.stages[0].program
    assert isinstance(program, FactsProgram)
    return program
