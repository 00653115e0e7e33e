"""Files of EP-SPARQL → dataflow: a stage per SELECT and one for all that read rules; what a policy applies to; shard
keys and warnings about state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import assert_never

from thence.algebra.ep_sparql import RuleFile
from thence.algebra.expressions import Exists, Expression, Variable
from thence.algebra.patterns import (
    Alternative,
    Bgp,
    ChainOperator,
    Construct,
    Extend,
    Filter,
    Graph,
    Inverse,
    Join,
    LeftJoin,
    MatchPattern,
    Minus,
    Modifiers,
    NegatedSet,
    OneOrMore,
    Path,
    PathPattern,
    PathSequence,
    Pattern,
    Select,
    SubSelect,
    TemporalJoin,
    TriplePattern,
    Union,
    Values,
    WindowPattern,
    ZeroOrMore,
    ZeroOrOne,
)
from thence.algebra.variables import has_aggregate, parts
from thence.engines.temporal.evaluation import below_correlated
from thence.engines.temporal.operator import TemporalOperator
from thence.engines.temporal.plan.bounds import push_group_filters, useful_durations
from thence.engines.temporal.plan.translation import Translation
from thence.engines.temporal.program import (
    Assign,
    Combine,
    Network,
    Node,
    OptionalCombine,
    PathScan,
    Project,
    Restrict,
    Scan,
    SeqChain,
    SeqOperand,
    Statement,
    Summarise,
    TemporalProgram,
    Timeless,
    group_life,
)
from thence.engines.temporal.strata import dependencies, earlier_nodes, in_order, read_by, strata, unstratified
from thence.errors import InputError, QueryError
from thence.interface.dataflow import Dataflow, Stage
from thence.interface.operator import Feature, ShardKey, one_shard, shared_routes
from thence.interface.output import DerivedTriples, Output, term_rows
from thence.interface.tables import AllTriples, Table
from thence.rdf.terms import IRI, BlankNode
from thence.relation.interval_table import UNBOUNDED, Relation

# Which queries a policy applies to: SELECTs over a chain of SEQs and filters (EP-66, EP-67).


UNRESTRICTED, CHRONOLOGICAL, RECENT = POLICIES = ("unrestricted", "chronological", "recent")


def selects_by(policy: str) -> bool:
    """Whether a policy selects and consumes at all. InputError if there is no such policy."""
    if policy and policy not in POLICIES:
        raise InputError(f'policy="{policy}" is not supported. Try: {UNRESTRICTED}, {CHRONOLOGICAL} or {RECENT}')
    return policy not in ("", UNRESTRICTED)


# Which queries are admitted


def check_policy(file: RuleFile) -> None:
    """QueryError if a statement is not a SELECT over a chain of SEQs and filters (EP-67)."""
    if file.rules:
        raise _refused("this file has CONSTRUCT", "")
    for number, select in enumerate(file.selects, 1):
        for has, hint in _foreign(select):
            which = "this one" if len(file.selects) == 1 else f"SELECT {number}"
            raise _refused(f"{which} has {has}", hint)


def _refused(reason: str, hint: str) -> QueryError:
    reason = f"policy= needs a SELECT over a chain of SEQs and filters; {reason}."
    return QueryError(reason, hint=hint or 'policy="unrestricted"')


def _foreign(select: Select) -> Iterator[tuple[str, str]]:
    """The parts of a SELECT that no policy is defined for, and the cure, in the order of the text."""
    modifiers = select.modifiers
    if select.distinct:
        yield "DISTINCT", "remove DISTINCT"
    if select.reduced:
        yield "REDUCED", "remove REDUCED"
    shown = [each.expression for each in select.columns or () if each.expression is not None]
    if any(map(has_aggregate, shown)):
        yield "an aggregate", ""
    if any(map(_has_exists, shown)):
        yield "EXISTS", ""
    yield from _foreign_group(select.where, is_operand=False)
    words = {
        "GROUP BY": modifiers.group is not None,
        "HAVING": bool(modifiers.having),
        "ORDER BY": bool(modifiers.order),
        "LIMIT": modifiers.limit is not None,
        "OFFSET": modifiers.offset is not None,
        "VALUES": modifiers.values is not None,
    }
    yield from ((word, f"remove {word}") for word, stands in words.items() if stands)


def _foreign_group(group: Pattern, *, is_operand: bool) -> Iterator[tuple[str, str]]:
    """The parts of a group other than one chain (in an operand: one chain or triples) and filters."""
    pattern = group
    if isinstance(group, Filter):
        if _has_exists(group.condition):
            yield "EXISTS", ""
        pattern = group.pattern
    match pattern:
        case Bgp():
            yield from _foreign_triples(pattern, is_operand=is_operand)
        case TemporalJoin(ChainOperator.SEQ):
            yield from _foreign_chain(pattern)
        case TemporalJoin():
            yield pattern.operator.value, ""
        case Filter():
            yield from _foreign_group(pattern, is_operand=is_operand)
        case Join():
            yield from _foreign_join(pattern)
        case _:
            yield _word(pattern), ""


def _foreign_chain(chain: TemporalJoin) -> Iterator[tuple[str, str]]:
    """A left side without filters of its own is the same chain (EP-7)."""
    operands = [chain.right]
    left = chain.left
    while isinstance(left, TemporalJoin) and left.operator is ChainOperator.SEQ:
        operands.append(left.right)
        left = left.left
    for operand in (left, *reversed(operands)):
        yield from _foreign_group(operand, is_operand=True)


def _foreign_triples(triples: Bgp, *, is_operand: bool) -> Iterator[tuple[str, str]]:
    if any(isinstance(each, PathPattern) and _repeats(each.path) for each in triples.triples):
        yield "a path with *, + or ?", ""
    elif not is_operand:
        yield "no SEQ", "{ … } SEQ { … }"
    elif not triples.triples:
        yield "an empty group", "remove it"


def _foreign_join(join: Join) -> Iterator[tuple[str, str]]:
    sides = (join.left, join.right)
    for side in sides:
        if isinstance(side, Join):
            yield from _foreign_join(side)
        elif not isinstance(side, Bgp | Filter | TemporalJoin):
            yield _word(side), ""
    yield "elements beside the chain", "SEQ between the groups"


def _word(
    pattern: Graph | Values | LeftJoin | Union | Minus | Extend | SubSelect | WindowPattern | MatchPattern,
) -> str:
    match pattern:
        case Graph():
            return "GRAPH"
        case Values():
            return "VALUES"
        case LeftJoin():
            return "OPTIONAL"
        case Union():
            return "UNION"
        case Minus():
            return "MINUS"
        case Extend():
            return "BIND"
        case SubSelect():
            return "a sub-select"
        case WindowPattern() | MatchPattern():
            raise AssertionError("RSEP-QL has it, not EP-SPARQL")
        case _:
            assert_never(pattern)


def _has_exists(expression: Expression) -> bool:
    return any(isinstance(part, Exists) for part in parts(expression))


def _repeats(path: Path) -> bool:
    match path:
        case ZeroOrMore() | OneOrMore() | ZeroOrOne():
            return True
        case IRI() | NegatedSet():
            return False
        case Inverse():
            return _repeats(path.path)
        case PathSequence() | Alternative():
            return _repeats(path.left) or _repeats(path.right)
        case _:
            assert_never(path)


# Where the chain is in the network


def chain_of(nodes: Sequence[Node], root: int) -> SeqChain:
    """The chain of a SELECT that `check_policy` admits. `root` is the SELECT's node."""
    number = root
    while isinstance(node := nodes[number], Project | Assign):
        number = node.input
    chain = _chain(nodes, number)
    assert chain is not None, "the check rejects a SELECT without SEQ"
    return chain


def _chain(nodes: Sequence[Node], number: int) -> SeqChain | None:
    """All SEQs that are reached by left operands, through the filters of groups: combinations of the whole chain have
    passed all of them (EP-69)."""
    operands: list[int] = []
    left = number
    while isinstance(joined := _unfiltered(nodes, left), Combine) and joined.relation is Relation.SEQ:
        operands.append(joined.right)
        left = joined.left
    if not operands:
        return None
    operands.append(left)
    return SeqChain(number, tuple(SeqOperand(each, _chain(nodes, each)) for each in reversed(operands)))


def _unfiltered(nodes: Sequence[Node], number: int) -> Node:
    node = nodes[number]
    while isinstance(node, Restrict):
        node = nodes[node.input]
    return node


# The shard key of a network: a variable that every part binds and joins on.


def shard_key(network: Network, tables: tuple[Table, ...], policy: str) -> ShardKey:
    """Events that differ in the key never meet: every triple pattern has the variable, every row shows it where rows
    are compared, and it keeps its name from the leaves to the root."""
    reason = _reason(network, policy)
    if reason:
        return one_shard(len(tables), reason)
    scans = [node for node in network.nodes if isinstance(node, Scan)]
    (root,) = (statement.root for statement in network.statements)
    shared = [name for name in scans[0].variables if all(name in scan.variables for scan in scans)]
    for name in shared:
        if all(_keeps(node, name, number == root) for number, node in enumerate(network.nodes)):
            routes = shared_routes(len(tables), ((scan.table, (scan.variables.index(name),)) for scan in scans))
            if routes is not None:
                return ShardKey((name.name,), routes)
    return one_shard(len(tables), "no variable is in every triple pattern and kept by every part")


def _reason(network: Network, policy: str) -> str:
    if policy and policy != "unrestricted":
        return "a policy chooses among all events"
    if any(statement.is_rule for statement in network.statements):
        return "rules feed the stream"
    if any(isinstance(node, PathScan) for node in network.nodes):
        return "a path reads whole events"
    if not any(isinstance(node, Scan) for node in network.nodes):
        return "no triple pattern reads the stream"
    roots = (network.nodes[statement.root] for statement in network.statements)
    if any(isinstance(root, Summarise) and root.select.modifiers.order for root in roots):
        return "ORDER BY orders all rows of one end"
    return ""


def _keeps(node: object, name: Variable, is_root: bool) -> bool:
    """Whether a node compares only solutions that agree in a variable, and passes it on."""
    match node:
        case Project():
            return name in node.variables or (is_root and not node.distinct)
        case Summarise():
            keys = node.select.modifiers.group
            sliced = node.select.modifiers.limit is not None or node.select.modifiers.offset is not None
            grouped = not node.aggregates or any(key.expression == name for key in keys or ())
            return not sliced and grouped and (is_root or name in node.variables)
        case _:
            return True


# Warnings about state that stays unbounded (EP-77, EP-79).

_NAMES = {
    Relation.ANY: "a join",
    Relation.SEQ: "SEQ",
    Relation.UNTIL: "OPTIONAL",
    Relation.SEQ_UNTIL: "OPTIONALSEQ",
}
_CURE = 'FILTER(getDURATION() < "PT1H"^^xsd:dayTimeDuration), or < 100 where times are ticks'

_GROUPED = "GROUP BY (getENDTIME() AS ?t), or getSTARTTIME() with a FILTER that bounds getDURATION()"
_AS_OPTIONAL = "OPTIONAL with a FILTER inside it that bounds getDURATION(), and FILTER(BOUND(?v)) or FILTER(!BOUND(?v))"


def state_warnings(network: Network) -> Iterator[str]:
    """One warning for each statement that keeps solutions for ever."""
    for statement in network.statements:
        name = f"{'CONSTRUCT' if statement.is_rule else 'SELECT'} {statement.number}"
        outside = sorted({_NAMES[each.relation] for each in _optional(network, statement)})
        kept = sorted({_NAMES[each.relation] for each in _joins(network, statement)})
        if outside and not kept:
            sides = " and ".join(outside)
            yield (
                f"{name} keeps the optional side of {sides} for ever: a bound on getDURATION() outside of that group "
                f"removes rows, but never yields a row without its optional side. Try: {_CURE}, inside its group"
            )
        elif kept or outside:
            parts = " and ".join(dict.fromkeys([*kept, *outside]))
            why = "nothing bounds getDURATION()"
            where = ""
            if _is_bounded_outside(network, statement):
                why = "under a policy, a bound on getDURATION() outside of a right operand does not reach into it"
                where = ", inside its group too"
            yield f"{name} keeps the solutions of {parts} for ever: {why}. Try: {_CURE}{where}"
        tested = below_correlated(_nodes(network, statement), network.nodes)
        if any(isinstance(network.nodes[each], Scan | PathScan) for each in tested):
            why = "it is evaluated for each row"
            yield f"{name} keeps all triples that an EXISTS reads for ever: {why}. Try: {_AS_OPTIONAL}"
        groups = [each for each in _nodes(network, statement) if isinstance(each, Summarise)]
        if any(group_life(network.nodes, each).grows for each in groups):
            yield f"{name} keeps its groups for ever, and their keys differ with time. Try: {_GROUPED}"


def _joins(network: Network, statement: Statement) -> Iterator[Combine]:
    for node in _nodes(network, statement):
        if isinstance(node, Combine) and node.relation is not Relation.EQUALS:
            sides = (node.left,) if node.relation is Relation.SEQ else (node.left, node.right)
            if any(_grows(network, side) for side in sides):
                yield node


def _is_bounded_outside(network: Network, statement: Statement) -> bool:
    """Whether it is the policy that makes the joins grow, whose rivals an outer bound does not remove (EP-69)."""
    without_rivals = replace(network, bounds=useful_durations(network.nodes, network.statements))
    return not any(_joins(without_rivals, statement)) and not any(_optional(without_rivals, statement))


def _optional(network: Network, statement: Statement) -> Iterator[OptionalCombine]:
    for node in _nodes(network, statement):
        is_kept = isinstance(node, OptionalCombine) and node.relation is not Relation.EQUALS
        if isinstance(node, OptionalCombine) and is_kept and _grows(network, node.optional):
            yield node


def _nodes(network: Network, statement: Statement) -> Sequence[Node]:
    return network.nodes[statement.first : statement.root + 1]


def _grows(network: Network, number: int) -> bool:
    return network.bounds[number] == UNBOUNDED and not isinstance(network.nodes[number], Timeless)


# Files of EP-SPARQL → dataflow: a stage for each SELECT, and one for all that read rules, with these rules; or one of
# the rules alone.


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
    rules = _checked_rules(file, reasoning)
    stages = _stages(file, reasoning) or [()]
    programs = [replace(_program(file, queries, reasoning, policy, rules), file=written) for queries in stages]
    warned = dict.fromkeys(each for program in programs for each in state_warnings(program.network))
    described_by = "thence.engines.temporal.describe:describe"
    described = (Stage(program, TemporalOperator(), described_by=described_by) for program in programs)
    return Dataflow(tuple(described), tuple(warned))


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
    """Some SELECTs with the rules that they read; all rules if there is no SELECT."""
    drafts = list(_numbered(file, queries))
    if reasoning or not queries:  # what a schema entails is known only with the background
        return drafts
    whole = _translated(file, drafts, reasoning)
    reads = dependencies(whole.nodes, whole.statements, _without_background)
    needed = set[int]().union(*(read_by(len(file.rules) + place, reads) for place in range(len(queries))))
    return [each for number, each in enumerate(drafts) if number in needed]


def _checked_rules(file: RuleFile, reasoning: bool) -> Network:
    """All rules of a file, whether a SELECT reads them or not: they can be stratified (EP-53)."""
    whole = _translated(file, list(_numbered(file, ())), reasoning)
    reads = dependencies(whole.nodes, whole.statements, _without_background)
    if strata(whole.statements, reads) is None:
        raise file.error(
            unstratified(whole.statements, reads),
            "The rules cannot be stratified: this one depends, at the same time, on the absence or the number of what "
            "it derives.",
            "read it left of SEQ, where it is earlier",
        )
    return Network(tuple(whole.nodes), tuple(whole.statements), by_instant=False, reasoning=reasoning)


def _program(file: RuleFile, queries: tuple[int, ...], reasoning: bool, policy: str, rules: Network) -> TemporalProgram:
    """The program of some SELECTs with the rules that they read; of all rules if there is no SELECT."""
    whole = _translated(file, _needed(file, queries, reasoning), reasoning)
    chain = chain_of(whole.nodes, whole.statements[0].root) if selects_by(policy) else None
    network = _ordered(whole, reasoning, chain, keeps_rounds=not queries)
    is_partial = sum(each.is_rule for each in network.statements) < len(rules.statements)
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
        chain=chain,
        rules=rules if is_partial else None,
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


def _ordered(whole: _Whole, reasoning: bool, chain: SeqChain | None, *, keeps_rounds: bool) -> Network:
    """The network, its statements in the order of evaluation. Under a policy, all combinations of a chain that pass its
    filters are rivals (EP-69, EP-70)."""
    nodes, statements = tuple(whole.nodes), whole.statements
    reads = dependencies(nodes, statements, _without_background)
    levels = strata(statements, reads)
    assert levels is not None, "all rules have been checked"
    order = in_order(statements, reads)
    # what a schema entails is known only with the background
    by_instant = order is None or ((keeps_rounds or reasoning) and len(statements) > 1)
    placed = [replace(each, stratum=level) for each, level in zip(statements, levels, strict=True)]
    if order is not None and not by_instant:
        placed = [placed[number] for number in order]
    triples = next((n for n, table in enumerate(whole.translation.tables) if isinstance(table.pattern, AllTriples)), -1)
    rivals = {each.node for each in chain.all()} if chain is not None else ()
    bounds = useful_durations(nodes, statements, rivals)
    earlier = sorted(earlier_nodes(nodes, statements, _without_background)) if by_instant else ()
    return Network(nodes, tuple(placed), by_instant, bounds, triples, reasoning, tuple(earlier))
