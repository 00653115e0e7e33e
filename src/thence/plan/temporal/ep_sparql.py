"""Files of EP-SPARQL → dataflow: a stage for each SELECT, and one for all that read rules, with these rules; or one of
the rules alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from thence.algebra.ep_sparql import RuleFile
from thence.algebra.expressions import Variable
from thence.algebra.patterns import Construct, Modifiers, Select, TriplePattern
from thence.errors import QueryError
from thence.kernel.temporal.operator import TemporalOperator
from thence.optimize.push_group_filters import push_group_filters
from thence.plan.temporal.duration_bounds import useful_durations
from thence.plan.temporal.policies import chain_of, check_policy, selects_by
from thence.plan.temporal.shard_keys import shard_key
from thence.plan.temporal.state_warnings import state_warnings
from thence.plan.temporal.translation import Translation
from thence.program.dataflow import Dataflow, Stage
from thence.program.operator import Feature
from thence.program.output import DerivedTriples, Output, term_rows
from thence.program.tables import AllTriples
from thence.program.temporal.dependencies import dependencies, in_order, read_by, strata
from thence.program.temporal.network import UNBOUNDED, Network, Node, Statement
from thence.program.temporal.program import TemporalProgram
from thence.rdf.terms import BlankNode


def _without_background(leaf: object) -> bool:
    """Before the background is known, nothing is in it: strata are settled again when it is."""
    return False


def compile_query(
    file: RuleFile, *, optimise: bool = True, timed_out: bool = False, reasoning: bool = False, policy: str = ""
) -> Dataflow:
    """The dataflow of a file. QueryError if its rules cannot be stratified (EP-53), or if the policy does not apply
    (EP-67)."""
    written = file
    if selects_by(policy):
        check_policy(file)
    elif optimise:  # a policy judges a group's filters on the whole chain (EP-69)
        file = replace(file, statements=tuple(map(push_group_filters, file.statements)))
    stages = _stages(file, reasoning) or [()]
    programs = [replace(_program(file, queries, reasoning, policy), file=written) for queries in stages]
    warned = dict.fromkeys(each for program in programs for each in state_warnings(program.network))
    return Dataflow(tuple(Stage(program, TemporalOperator()) for program in programs), tuple(warned))


def _stages(file: RuleFile, reasoning: bool) -> list[tuple[int, ...]]:
    """The SELECTs of each stage, by number. Those that read rules are one stage, so that these are evaluated once; the
    others may have a shard key each. Rows that ORDER BY orders are not mixed with others."""
    alone: list[tuple[int, ...]] = []
    shared: list[int] = []
    for query, select in enumerate(file.selects, 1):
        if not select.modifiers.order and len(_needed(file, (query,), reasoning)) > 1:
            shared.append(query)
        else:
            alone.append((query,))
    return sorted([*alone, tuple(shared)] if shared else alone)


def _needed(file: RuleFile, queries: tuple[int, ...], reasoning: bool) -> list[tuple[int, Select | Construct]]:
    """Some SELECTs with the rules that they read; the rules alone, if there are none."""
    drafts = list(_numbered(file, queries))
    if reasoning or not queries:  # what a schema entails is known only with the background
        return drafts
    whole = _translated(file, drafts, reasoning)
    found = dependencies(whole.nodes, whole.statements, _without_background)
    needed = set[int]().union(*(read_by(len(file.rules) + place, found) for place in range(len(queries))))
    return [each for number, each in enumerate(drafts) if number in needed]


def _program(file: RuleFile, queries: tuple[int, ...], reasoning: bool, policy: str) -> TemporalProgram:
    """Some SELECTs with the rules that they read; the rules alone, if there are none."""
    whole = _translated(file, _needed(file, queries, reasoning), reasoning)
    network = _ordered(whole, reasoning, keeps_rounds=not queries, prunes=not selects_by(policy))
    output: Output = DerivedTriples(numbered=len(file.rules) > 1)
    if queries:
        output = term_rows([name.name for name in _names(network)], numbered=len(file.selects) > 1)
    tables = tuple(whole.translation.tables)
    return TemporalProgram(
        file=file,
        queries=queries,
        network=network,
        tables=tables,
        shard_key=shard_key(network, tables, policy),
        output=output,
        features=frozenset({Feature.BACKGROUND, Feature.REASONING, Feature.POLICY}),
        streams=file.streams,
        policy=policy,
        chain=chain_of(network.nodes, network.statements[0].root) if selects_by(policy) else None,
    )


def _names(network: Network) -> tuple[Variable, ...]:
    """The columns of the SELECTs, those of the first one first."""
    roots = sorted((each.number, each.root) for each in network.statements if not each.is_rule)
    return tuple(dict.fromkeys(name for _, root in roots for name in network.nodes[root].variables))


class _Whole:
    """A file's statements as nodes."""

    def __init__(self, stream: str, reasoning: bool) -> None:
        self.translation = Translation(stream, reasoning)
        self.statements: list[Statement] = []

    @property
    def nodes(self) -> list[Node]:
        return self.translation.nodes


def _numbered(file: RuleFile, queries: tuple[int, ...]) -> Iterator[tuple[int, Select | Construct]]:
    """The rules with their numbers, then some SELECTs."""
    yield from enumerate(file.rules, 1)
    for query in queries:
        yield query, file.selects[query - 1]


def _translated(file: RuleFile, drafts: list[tuple[int, Select | Construct]], reasoning: bool) -> _Whole:
    whole = _Whole(file.streams[0].name, reasoning)
    translation = whole.translation
    emits_rules = not any(isinstance(each, Select) for _, each in drafts)
    for number, each in drafts:
        known: tuple[int, ...] = ()
        if isinstance(each, Construct) and emits_rules:
            known = tuple(translation.scan(triple) for triple in each.template if _can_be_known(triple))
        first = len(translation.nodes)
        if isinstance(each, Select):
            root = translation.select(each, is_statement=True)
            whole.statements.append(Statement(number, first, root))
        else:
            plain = each.modifiers == Modifiers()
            root = translation.pattern(each.where) if plain else translation.select(_all_columns(each))
            whole.statements.append(Statement(number, first, root, each.template, known))
    return whole


def _all_columns(rule: Construct) -> Select:
    """A rule with modifiers, as the SELECT * whose rows fill its template."""
    return Select(None, rule.where, rule.modifiers)


def _can_be_known(triple: TriplePattern) -> bool:
    """Whether the stream may have a template's triple already: a new blank node is in no event."""
    return not any(isinstance(slot, BlankNode) for slot in (triple.subject, triple.object))


def _ordered(whole: _Whole, reasoning: bool, *, keeps_rounds: bool, prunes: bool) -> Network:
    """The network, its statements in the order of evaluation. Under a policy nothing is pruned: what lasts too long is
    still a rival (EP-70)."""
    nodes, statements = tuple(whole.nodes), whole.statements
    found = dependencies(nodes, statements, _without_background)
    levels = strata(statements, found)
    if levels is None:
        raise QueryError(
            "The rules cannot be stratified: one depends, at the same time, on the absence or the number of what it "
            "derives.",
            hint="read it left of SEQ, where it is earlier",
        )
    order = in_order(statements, found)
    # what a schema entails is known only with the background
    by_instant = order is None or ((keeps_rounds or reasoning) and len(statements) > 1)
    placed = [replace(each, stratum=level) for each, level in zip(statements, levels, strict=True)]
    if order is not None and not by_instant:
        placed = [placed[number] for number in order]
    triples = next((n for n, table in enumerate(whole.translation.tables) if isinstance(table.pattern, AllTriples)), -1)
    bounds = useful_durations(nodes, statements) if prunes else (UNBOUNDED,) * len(nodes)
    return Network(nodes, tuple(placed), by_instant, bounds, triples, reasoning)
