"""Which statements read what rules derive, and when: strata and the order of evaluation, also with a background (EP-50
to EP-53, EP-56)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum

from thence.algebra.ep_sparql import RuleFile
from thence.algebra.expressions import Exists, Variable
from thence.algebra.patterns import (
    Alternative,
    Inverse,
    LeftJoin,
    Minus,
    NegatedSet,
    OneOrMore,
    Path,
    PathPattern,
    PathSequence,
    PatternTerm,
    Select,
    TriplePattern,
)
from thence.algebra.traversal import nodes as all_nodes
from thence.engines.temporal.conditions import Scope
from thence.engines.temporal.leaves import TripleBatch, scanned_triples
from thence.engines.temporal.program import (
    Assign,
    Combine,
    Either,
    Network,
    Node,
    OptionalCombine,
    PathScan,
    Project,
    Restrict,
    Scan,
    Statement,
    Summarise,
    Timeless,
    Without,
)
from thence.rdf.rdfs import Schema
from thence.rdf.terms import IRI, RDF, BlankNode
from thence.relation.interval_table import Relation

RDF_TYPE = IRI(RDF + "type")


class Reading(Enum):
    """When a statement reads what a rule derives, seen from the row that it emits at tω."""

    EARLIER = 0  # before tω: it is final (EP-52)
    SAME = 1  # also at tω, and more of it only adds rows
    COMPLETE = 2  # also at tω, and all of it must be known


@dataclass(frozen=True, slots=True)
class Dependency:
    """A statement reads triples of a rule; both by their places in the list of statements."""

    statement: int
    rule: int
    reading: Reading


InBackground = Callable[[Scan | PathScan], bool]
"""Whether the background has a triple, or a path, that matches a leaf."""


Entails = Callable[[IRI], Iterable[IRI]]
"""The predicates of the triples that a triple of some predicate entails."""


def dependencies(
    nodes: Sequence[Node],
    statements: Sequence[Statement],
    in_background: InBackground,
    entails: Entails | None = None,
) -> list[Dependency]:
    """All dependencies of statements on rules. `entails`: with reasoning."""
    timeless = _can_be_timeless(nodes, statements, in_background, entails)
    reads: dict[Dependency, None] = {}
    for number, statement in enumerate(statements):
        for place, reading in _readings(nodes, statement.root, timeless):
            for pattern, read in _patterns(nodes[place], reading):
                for other, rule in enumerate(statements):
                    if any(_unifies(pattern, triple, entails) for triple in rule.template or ()):
                        reads[Dependency(number, other, read)] = None
    return list(reads)


def earlier_nodes(
    nodes: Sequence[Node],
    statements: Sequence[Statement],
    in_background: InBackground,
    entails: Entails | None = None,
) -> frozenset[int]:
    """The nodes that are left of SEQ or OPTIONALSEQ and are read only later than they end (EP-52, EP-53)."""
    timeless = _can_be_timeless(nodes, statements, in_background, entails)
    return frozenset(
        place
        for statement in statements
        for place, reading in _readings(nodes, statement.root, timeless)
        if reading is Reading.EARLIER
    )


def strata(statements: Sequence[Statement], reads: Sequence[Dependency]) -> list[int] | None:
    """The stratum of each statement; None where they cannot be stratified. SELECTs come last."""
    levels = [0] * len(statements)
    for _ in range(len(statements) + 1):
        before = list(levels)
        for each in reads:
            if each.reading is not Reading.EARLIER:
                least = levels[each.rule] + (each.reading is Reading.COMPLETE)
                levels[each.statement] = max(levels[each.statement], least)
        if levels == before:
            last = max(levels, default=0) + 1
            return [level if each.is_rule else last for level, each in zip(levels, statements, strict=True)]
    return None


def unstratified(statements: Sequence[Statement], reads: Sequence[Dependency]) -> int:
    """The number of the first rule that depends on the absence of a triple that it derives."""
    same = [each for each in reads if each.reading is not Reading.EARLIER]
    return min(
        statements[each.statement].number
        for each in same
        if each.reading is Reading.COMPLETE and each.statement in read_by(each.rule, same)
    )


def in_order(statements: Sequence[Statement], reads: Sequence[Dependency]) -> list[int] | None:
    """The statements, each after the rules it reads; None if a rule reads, by whatever way, what it derives."""
    needs = {number: {each.rule for each in reads if each.statement == number} for number in range(len(statements))}
    order: list[int] = []
    while needs:
        ready = [number for number, rules in needs.items() if rules <= set(order)]
        if not ready:
            return None
        order += ready
        needs = {number: rules for number, rules in needs.items() if number not in ready}
    return order


def read_by(number: int, reads: Sequence[Dependency]) -> set[int]:
    """A statement and all rules that feed it, directly or not."""
    needed, waiting = {number}, [number]
    while waiting:
        reader = waiting.pop()
        rules = {each.rule for each in reads if each.statement == reader} - needed
        needed |= rules
        waiting += rules
    return needed


def is_fed(leaf: Scan | PathScan, statements: Sequence[Statement], *, reasoning: bool = False) -> bool:
    """Whether a rule may derive a triple that matches a leaf. What a schema entails is known only with the
    background."""
    derived = [triple for rule in statements for triple in rule.template or ()]
    return (reasoning and bool(derived)) or any(_unifies(leaf.pattern, triple, None) for triple in derived)


def _readings(nodes: Sequence[Node], root: int, timeless: Sequence[bool]) -> Iterator[tuple[int, Reading]]:
    """A node and all below it, and when each is read."""
    waiting = [(root, Reading.SAME)]
    while waiting:
        number, reading = waiting.pop()
        yield number, reading
        node = nodes[number]
        complete = _complete(reading)
        match node:
            case Scan() | PathScan() | Timeless():
                pass
            case Combine():
                is_earlier = node.relation is Relation.SEQ and not timeless[node.right]
                waiting += [(node.left, Reading.EARLIER if is_earlier else reading), (node.right, reading)]
            case OptionalCombine():
                is_earlier = node.relation is Relation.SEQ_UNTIL and not timeless[node.mandatory]
                waiting += [(node.mandatory, reading), (node.optional, Reading.EARLIER if is_earlier else complete)]
                waiting += [(test.node, complete) for test in (node.condition.exists if node.condition else ())]
            case Without():
                waiting += [(node.left, reading), (node.right, complete)]
            case Restrict() | Assign():
                waiting += [(node.input, reading), *((test.node, complete) for test in node.condition.exists)]
            case Either():
                waiting += [(node.left, reading), (node.right, reading)]
            case Project():
                waiting.append((node.input, reading))
            case Summarise():
                waiting += [(node.input, complete), *((other, complete) for _, other in node.exists)]


def _complete(reading: Reading) -> Reading:
    return Reading.EARLIER if reading is Reading.EARLIER else Reading.COMPLETE


def _patterns(node: Node, reading: Reading) -> Iterator[tuple[TriplePattern | PathPattern, Reading]]:
    """The triple patterns of a leaf, and when each is read. An unnamed background answers GRAPH too, with what rules
    derive from it (EP-39, EP-40)."""
    match node:
        case Scan() | PathScan():
            yield node.pattern, reading
        case Timeless():
            parts = tuple(all_nodes(node.pattern))
            only_adds = not any(isinstance(part, LeftJoin | Minus | Exists | Select) for part in parts)
            for part in parts:
                if isinstance(part, TriplePattern | PathPattern):
                    yield part, reading if only_adds else _complete(reading)
        case _:
            pass


def _can_be_timeless(
    nodes: Sequence[Node], statements: Sequence[Statement], in_background: InBackground, entails: Entails | None
) -> list[bool]:
    """Whether each node can match background alone, what rules derive from it included (EP-37, EP-52)."""
    timeless = [isinstance(node, Scan | PathScan) and in_background(node) for node in nodes]
    while True:
        before = list(timeless)
        for number, node in enumerate(nodes):
            match node:
                case Scan() | PathScan():
                    timeless[number] |= any(
                        timeless[rule.root] and _unifies(node.pattern, triple, entails)
                        for rule in statements
                        for triple in rule.template or ()
                    )
                case Timeless():
                    timeless[number] = True
                case Combine():
                    timeless[number] = timeless[node.left] and timeless[node.right]
                case OptionalCombine():
                    timeless[number] = timeless[node.mandatory]
                case Without():
                    timeless[number] = timeless[node.left]
                case Either():
                    timeless[number] = timeless[node.left] or timeless[node.right]
                case Restrict() | Assign() | Project() | Summarise():
                    timeless[number] = timeless[node.input]
        if timeless == before:
            return timeless


def _unifies(pattern: TriplePattern | PathPattern, template: TriplePattern, entails: Entails | None) -> bool:
    """Whether a template's triple, or one that it entails, may match a pattern, position by position (EP-51)."""
    made = [template.predicate]
    if entails is not None and isinstance(template.predicate, IRI):
        made += entails(template.predicate)
    if isinstance(pattern, PathPattern):
        predicates = _predicates(pattern.path)
        is_type = entails is not None and predicates is not None and RDF_TYPE in predicates
        return predicates is None or is_type or any(_meet_any(each, predicates) for each in made)
    if entails is not None and (isinstance(pattern.predicate, Variable) or pattern.predicate == RDF_TYPE):
        return True
    ends = _meet(pattern.subject, template.subject) and _meet(pattern.object, template.object)
    return ends and any(_meet(pattern.predicate, each) for each in made)


def _meet(pattern: PatternTerm, template: PatternTerm) -> bool:
    if isinstance(pattern, Variable | BlankNode) or isinstance(template, Variable):
        return True
    return pattern == template and not isinstance(template, BlankNode)


def _meet_any(template: PatternTerm, predicates: Sequence[IRI]) -> bool:
    return isinstance(template, Variable) or template in predicates


def _predicates(path: Path) -> list[IRI] | None:
    """The predicates of a path's triples; None where a triple of any predicate may count: `*`, `?`, `!`."""
    match path:
        case IRI():
            return [path]
        case Inverse() | OneOrMore():
            return _predicates(path.path)
        case PathSequence() | Alternative():
            left, right = _predicates(path.left), _predicates(path.right)
            return None if left is None or right is None else [*left, *right]
        case NegatedSet():
            return None
        case _:
            return None


# Requirements of a background on rules: strata, and no schema in templates (EP-52, EP-53, EP-56).


def check_templates(file: RuleFile, network: Network, schema: Schema) -> None:
    """QueryError for a rule that derives schema, which comes from the background only (EP-56)."""
    for statement in network.statements:
        for triple in statement.template or ():
            if isinstance(triple.predicate, IRI) and schema.derives_schema(triple.predicate):
                reason = (
                    f"This rule derives {triple.predicate}, a schema predicate; with reasoning, the schema comes "
                    "from the background only."
                )
                raise file.error(statement.number, reason, "put it into the background")


def stratified(file: RuleFile, network: Network, triples: TripleBatch, schema: Schema | None, scope: Scope) -> Network:
    """The network with the strata that its background requires: a side that may match background is not earlier
    (EP-52)."""
    if not any(statement.is_rule for statement in network.statements) or (schema is None and not len(triples)):
        return network

    def in_background(leaf: Scan | PathScan) -> bool:
        if isinstance(leaf, PathScan):
            return True
        return bool(len(scanned_triples(leaf.pattern, leaf.variables, triples, scope.terms)))

    entails = None if schema is None else schema.entailed_predicates
    found = dependencies(network.nodes, network.statements, in_background, entails)
    levels = strata(network.statements, found)
    if levels is None:
        reason = (
            "The rules cannot be stratified with this background: it matches a pattern right of SEQ, so the triples "
            "that this rule reads left of SEQ may have the same time."
        )
        raise file.error(unstratified(network.statements, found), reason, "a background without such triples")
    placed = tuple(replace(each, stratum=level) for each, level in zip(network.statements, levels, strict=True))
    earlier = earlier_nodes(network.nodes, network.statements, in_background, entails) if network.by_instant else ()
    return replace(network, statements=placed, earlier=tuple(sorted(earlier)))
