"""TEF-SPARQL → dataflow: one stage, since the statements of a file feed each other."""

from __future__ import annotations

from dataclasses import replace

from thence.algebra.tef_sparql import Kind, TefFile
from thence.kernel.facts.operator import FactsOperator
from thence.plan.facts.durations import with_durations
from thence.plan.facts.shard_keys import shard_key
from thence.plan.facts.state_warnings import state_warnings
from thence.program.dataflow import Dataflow, Stage
from thence.program.facts.kinds import predicate_kinds
from thence.program.facts.program import FactsProgram
from thence.program.output import DerivedTriples, Output, term_rows
from thence.program.tables import KEY, TRIPLE_COLUMNS, AllTriples, Table


def compile_query(file: TefFile, *, optimise: bool = True, timed_out: bool = False) -> Dataflow:
    """The dataflow of a file. QueryError if kinds clash (TEF-11 – TEF-14)."""
    file = with_durations(file)
    kinds = predicate_kinds(file, None)  # clashes that a background may resolve are judged with it (TEF-16)
    facts = tuple(sorted((name for name, each in kinds.predicates.items() if each.kind is Kind.FACT), key=str))
    may_be_static = tuple(name for name in facts if kinds.known(name).is_open)
    key, positions = shard_key(file, kinds)
    columns = (*TRIPLE_COLUMNS, KEY) if positions else TRIPLE_COLUMNS
    tables = tuple(Table(stream.name, AllTriples(facts, may_be_static, positions), columns) for stream in file.streams)
    output: Output = DerivedTriples()
    if file.selects:
        names = dict.fromkeys(name.name for each in file.selects for name in each.variables)
        output = term_rows(list(names), numbered=len(file.selects) > 1)
    elif Kind.FACT in kinds.statements:
        output = replace(term_rows(["fact"]), facts=True)
    program = FactsProgram(file, tables, key, output, positions)
    return Dataflow((Stage(program, FactsOperator()),), (*kinds.warnings, *state_warnings(file, kinds)))
