"""The facts that `explain` shows of a network: what each node is, what it keeps, by which key, and for how long."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from typing import assert_never

from thence.algebra.expressions import Variable
from thence.algebra.patterns import Graph, Values
from thence.algebra.show import show
from thence.engines.temporal.evaluation import below_correlated
from thence.engines.temporal.program import (
    Assign,
    Combine,
    Condition,
    Either,
    ExistsTest,
    JoinKeys,
    Network,
    Node,
    OptionalCombine,
    PathScan,
    Project,
    Restrict,
    Scan,
    Statement,
    Summarise,
    TemporalProgram,
    Timeless,
    Without,
    group_life,
)
from thence.engines.temporal.strata import Reading, dependencies
from thence.rdf.dates import XSD_DAY_TIME_DURATION, Duration
from thence.rdf.terms import XSD
from thence.rdf.times import Domain
from thence.relation.interval_table import UNBOUNDED, Relation


class Lifetime(StrEnum):
    """How long something is kept, or waits."""

    FOR_EVER = "for ever"
    TO_THE_END = "until their instant is closed (watermark > tω)"
    TO_THE_START = "until their start is closed (watermark ≥ tα)"
    WHILE_SHORT = "while getDURATION() can stay within its bound"


@dataclass(frozen=True, slots=True)
class KeptSolutions:
    """Solutions that a node stores. `unbounded`: nothing bounds their number (EP-79)."""

    what: str
    how_long: Lifetime
    unbounded: bool


@dataclass(frozen=True, slots=True)
class WaitingRows:
    """Rows that a node emits only when the watermark has come so far (EP-43, EP-44)."""

    what: str
    how_long: Lifetime


@dataclass(frozen=True, slots=True)
class NodeInput:
    """A node that another one reads, by its number, and as what: `left`, `optional`, `EXISTS`."""

    role: str
    node: int


@dataclass(frozen=True, slots=True)
class NodeSummary:
    """A node, by its number from 1. `operator` is its name in the language, `definition` that in the paper, `text` what
    was written there. Solutions are hashed on `key`, and in `possible_key` they agree where they bind it; None for a
    node without a key. `detail` is a line on how it is evaluated."""

    number: int
    operator: str
    definition: str | None
    text: str
    inputs: tuple[NodeInput, ...]
    key: tuple[str, ...] | None = None
    possible_key: tuple[str, ...] = ()
    by_interval: bool = False
    keeps: tuple[KeptSolutions, ...] = ()
    waits: WaitingRows | None = None
    detail: str | None = None

    @property
    def title(self) -> str:
        """Its operator with the paper's name, where this is another one.

        >>> NodeSummary(1, "SEQ", "SeqJoin", "", ()).title, NodeSummary(2, "UNION", "Union", "", ()).title
        ('SEQ (SeqJoin)', 'UNION')
        """
        differs = self.definition is not None and self.definition.lower() != self.operator.lower()
        return f"{self.operator} ({self.definition})" if differs else self.operator


@dataclass(frozen=True, slots=True)
class RuleReading:
    """The number of a rule whose triples a statement reads, and when they must have come."""

    rule: int
    when: str


@dataclass(frozen=True, slots=True)
class StatementSummary:
    """`CONSTRUCT 2` or `SELECT 1`: its stratum from 1, the node of its solutions, what it derives or which columns it
    emits, and the rules that it reads. `is_read`: a statement of the network reads what it derives."""

    name: str
    stratum: int
    root: int
    is_rule: bool
    derives: tuple[str, ...]
    emits: tuple[str, ...]
    reads: tuple[RuleReading, ...]
    is_read: bool


@dataclass(frozen=True, slots=True)
class NetworkSummary:
    """All of them. `statements` are in the order of evaluation, `nodes` each after its inputs."""

    evaluation: str
    statements: tuple[StatementSummary, ...]
    nodes: tuple[NodeSummary, ...]


_READINGS = {
    Reading.EARLIER: "at earlier instants",
    Reading.SAME: "also at the same instant",
    Reading.COMPLETE: "also at the same instant, where it must be complete",
}
_JOINS = {Relation.ANY: ("join", "Join"), Relation.SEQ: ("SEQ", "SeqJoin"), Relation.EQUALS: ("EQUALS", "EqJoin")}
_OPTIONAL_JOINS = {
    Relation.UNTIL: ("OPTIONAL", "LeftJoin"),
    Relation.SEQ_UNTIL: ("OPTIONALSEQ", "SeqRightJoin"),
    Relation.EQUALS: ("EQUALSOPTIONAL", "EqLeftJoin"),
}


def network_summary(program: TemporalProgram) -> NetworkSummary:
    """The facts of a compiled file."""
    network = program.network
    kind = program.file.time_kind
    has_dates = kind is not None and kind[0] is Domain.DATETIME
    found = _NodeReader(network, program.namespace, has_dates=has_dates)
    return NetworkSummary(
        evaluation=_evaluation(network),
        statements=tuple(_statements(network, found)),
        nodes=tuple(found.facts(number) for each in network.statements for number in _numbers(each)),
    )


def _numbers(statement: Statement) -> range:
    return range(statement.first, statement.root + 1)


def _evaluation(network: Network) -> str:
    if network.by_instant:
        return "instants one by one, strata in order, each to its fixpoint"
    return "each statement once a step, after the rules that it reads"


def _statements(network: Network, reader: _NodeReader) -> Iterator[StatementSummary]:
    found = dependencies(network.nodes, network.statements, lambda leaf: False)
    strata = sorted({each.stratum for each in network.statements})
    for place, each in enumerate(network.statements):
        strongest: dict[int, Reading] = {}
        for dependency in found:
            if dependency.statement == place:
                rule = network.statements[dependency.rule].number
                strongest[rule] = max(dependency.reading, strongest.get(rule, Reading.EARLIER), key=lambda r: r.value)
        yield StatementSummary(
            name=f"{'CONSTRUCT' if each.is_rule else 'SELECT'} {each.number}",
            stratum=strata.index(each.stratum) + 1,
            root=each.root + 1,
            is_rule=each.is_rule,
            derives=tuple(reader.text(show(triple)) for triple in each.template or ()),
            emits=() if each.is_rule else tuple(map(_name, network.nodes[each.root].variables)),
            reads=tuple(RuleReading(rule, _READINGS[strongest[rule]]) for rule in sorted(strongest)),
            is_read=any(dependency.rule == place for dependency in found),
        )


def _name(variable: Variable) -> str:
    """A variable as the text has it: a blank node of a pattern is a hidden one."""
    return variable.name if variable.name.startswith("_:") else str(variable)


# a string, an IRI, and variables that stand for something else
_WRITTEN = re.compile(r"""("(?:[^"\\]|\\.)*")|<([^<>"{}|^`\\\s]*)>|\?(?:EXISTS (\d+)|(_:\S+|get[A-Z]+\(\)))""")
_LOCAL = re.compile(r"[A-Za-z_]\w*(?:-\w+)*", re.ASCII)


class _NodeReader:
    """Reads the facts of nodes."""

    def __init__(self, network: Network, namespace: str, *, has_dates: bool) -> None:
        self.network = network
        self.has_dates = has_dates
        self.prefixes = {namespace: ":", XSD: "xsd:"}
        self.logged = below_correlated(network.nodes, network.nodes)
        self.roots = {each.root: each for each in network.statements}
        self.is_timeless: list[bool] = []  # by node: it reads no event, so that its stored solutions do not grow
        for node in network.nodes:
            below = [self.is_timeless[each] for _, each in _inputs(node)]
            self.is_timeless.append(isinstance(node, Timeless) or (bool(below) and all(below)))

    def text(self, written: str, exists: Sequence[ExistsTest] = ()) -> str:
        """What `show` wrote on one line, with short names, and with what the variables of a network stand for."""

        def plain(found: re.Match[str]) -> str:
            string, iri, test, hidden = found.groups()
            if iri is not None:
                return self._short(iri)
            return string or hidden or f"EXISTS(node {exists[int(test)].node + 1})"

        return _WRITTEN.sub(plain, " ".join(line.strip() for line in written.splitlines()))

    def _short(self, iri: str) -> str:
        for namespace, prefix in self.prefixes.items():
            if iri.startswith(namespace) and _LOCAL.fullmatch(iri[len(namespace) :]):
                return prefix + iri[len(namespace) :]
        return f"<{iri}>"

    def facts(self, number: int) -> NodeSummary:
        """What there is to say of a node."""
        node = self.network.nodes[number]
        plain = self._named(number, node)
        inputs = tuple(NodeInput(role, each + 1) for role, each in _inputs(node))
        found = replace(plain, inputs=inputs, keeps=tuple(self._kept(number, node)), waits=_waiting(node))
        match node:
            case Combine():
                return self._keyed(found, node.keys, node.left, by_interval=node.relation is Relation.EQUALS)
            case OptionalCombine():
                return self._keyed(found, node.keys, node.mandatory, by_interval=node.relation is Relation.EQUALS)
            case Without() if node.keys.left:
                return self._keyed(found, node.keys, node.left)
            case _:
                return found

    def _named(self, number: int, node: Node) -> NodeSummary:
        """Its operator, its name in the paper, and its text."""
        place = number + 1
        match node:
            case Scan():
                detail = "reads what the triples of events entail, too" if self.network.reasoning else None
                return NodeSummary(place, "triple pattern", "BGP", self.text(show(node.pattern)), (), detail=detail)
            case PathScan():
                detail = "reads whole events"
                return NodeSummary(place, "path", None, self.text(show(node.pattern)), (), detail=detail)
            case Timeless():
                return self._timeless(place, node.pattern)
            case Combine():
                return NodeSummary(place, *_JOINS[node.relation], "", ())
            case OptionalCombine():
                text = "" if node.condition is None else f"F: {self._condition(node.condition)}"
                return NodeSummary(place, *_OPTIONAL_JOINS[node.relation], text, ())
            case Without():
                detail = None if node.keys.left else "removes nothing: the sides share no variable"
                return NodeSummary(place, "MINUS", None, "", (), detail=detail)
            case Restrict():
                return NodeSummary(place, "FILTER", "Filter", self._condition(node.condition), ())
            case Assign():
                text = f"({self._condition(node.condition)} AS {node.variable})"
                return NodeSummary(place, "BIND", None, text, ())
            case Either():
                return NodeSummary(place, "UNION", "Union", "", ())
            case Project():
                names = " ".join(map(_name, node.variables))
                operator = "SELECT" if self._is_output(number) else "sub-select"
                return NodeSummary(place, operator, None, f"{'DISTINCT ' * node.distinct}{names}", ())
            case Summarise():
                operator = "aggregate" if node.aggregates else "slice of each instant"
                within = "" if self._is_output(number) else " in a sub-select"
                written = self.text(show(node.select)).replace(" WHERE { }", "", 1)
                return NodeSummary(place, f"{operator}{within}", None, written, ())
            case _:
                assert_never(node)

    def _timeless(self, place: int, pattern: Graph | Values) -> NodeSummary:
        if isinstance(pattern, Graph):
            written = show(pattern).splitlines()[1:-1]  # without the group around it
            return NodeSummary(place, "GRAPH", None, self.text("\n".join(written)).removeprefix("GRAPH "), ())
        if not pattern.variables and len(pattern.rows) == 1:
            return NodeSummary(place, "empty group", "BGP", "", ())
        names = " ".join(map(str, pattern.variables))
        count = len(pattern.rows)
        return NodeSummary(place, "VALUES", None, f"({names}), {count:,} row{'s' * (count != 1)}", ())

    def _condition(self, condition: Condition) -> str:
        shortest, longest = condition.shortest, condition.longest
        bounds = [] if shortest is None else [f"getDURATION() >= {self._length(shortest)}"]
        bounds += [] if longest is None else [f"getDURATION() < {self._length(longest + 1)}"]
        written = [] if condition.expression is None else [self.text(show(condition.expression), condition.exists)]
        return " && ".join([*written, *bounds])

    def _length(self, length: int) -> str:
        """A length of time, in ticks or as a duration."""
        if not self.has_dates:
            return str(length)
        return str(Duration(0, Decimal(length) / 1_000_000, XSD_DAY_TIME_DURATION))

    def _is_output(self, number: int) -> bool:
        """Whether a node is the root of a statement; a rule with solution modifiers has one that selects, too."""
        return number in self.roots

    def _keyed(self, facts: NodeSummary, keys: JoinKeys, left: int, *, by_interval: bool = False) -> NodeSummary:
        names = [_name(self.network.nodes[left].variables[column]) for column in keys.left]
        certain, possible = tuple(names[: keys.certain]), tuple(names[keys.certain :])
        return replace(facts, key=certain, possible_key=possible, by_interval=by_interval)

    # What it keeps: the facts are those of the states' `evict`

    def _kept(self, number: int, node: Node) -> Iterator[KeptSolutions]:
        match node:
            case Scan() | PathScan():
                if isinstance(node, Scan):
                    yield KeptSolutions("its occurrences", Lifetime.TO_THE_END, unbounded=False)
                if number in self.logged:
                    what = "all of its occurrences, for an EXISTS that is evaluated for each row,"
                    yield KeptSolutions(what, Lifetime.FOR_EVER, unbounded=True)
            case Combine():
                yield self._side("left", node.left, _JOINED[node.relation][0])
                yield self._side("right", node.right, _JOINED[node.relation][1])
            case OptionalCombine():
                waits = _waiting(node)
                assert waits is not None
                yield self._side("mandatory", node.mandatory, waits.how_long)
                is_equal = node.relation is Relation.EQUALS
                yield self._side("optional", node.optional, Lifetime.TO_THE_END if is_equal else Lifetime.FOR_EVER)
                yield from self._tested(node.condition)
            case Without():
                yield self._side("left", node.left, Lifetime.TO_THE_END)
                if node.keys.left:
                    yield self._earliest("right side", node.right, node.keys)
            case Restrict() | Assign():
                if node.condition.exists:
                    yield KeptSolutions("solutions under test", Lifetime.TO_THE_END, unbounded=False)
                    yield from self._tested(node.condition)
            case Project():
                if node.distinct:
                    yield KeptSolutions("the rows that it emitted", Lifetime.TO_THE_END, unbounded=False)
            case Summarise():
                yield KeptSolutions("solutions", Lifetime.TO_THE_END, unbounded=False)
                if node.aggregates:
                    life = group_life(self.network.nodes, node).longest
                    lifetime = Lifetime.TO_THE_END if life == 0 else Lifetime.WHILE_SHORT
                    lifetime = Lifetime.FOR_EVER if life == UNBOUNDED else lifetime
                    grows = life == UNBOUNDED and not self.is_timeless[node.input]
                    yield KeptSolutions("the aggregates of its groups", lifetime, grows)
            case Timeless() | Either():
                pass
            case _:
                assert_never(node)

    def _side(self, side: str, node: int, lifetime: Lifetime) -> KeptSolutions:
        is_timeless = self.is_timeless[node]
        if is_timeless and lifetime is Lifetime.TO_THE_START:
            lifetime = Lifetime.FOR_EVER  # their start is +∞
        if lifetime is Lifetime.FOR_EVER and not is_timeless and self.network.bounds[node] < UNBOUNDED:
            lifetime = Lifetime.WHILE_SHORT  # EP-74
        what = f"solutions of the {side} side{', which are timeless,' * is_timeless}"
        return KeptSolutions(what, lifetime, lifetime is Lifetime.FOR_EVER and not is_timeless)

    def _tested(self, condition: Condition | None) -> Iterator[KeptSolutions]:
        """The patterns of EXISTS. One that is evaluated for each solution keeps nothing here: its leaves do."""
        for test in condition.exists if condition is not None else ():
            if not test.correlated:
                yield self._earliest(f"EXISTS (node {test.node + 1})", test.node, test.keys)

    def _earliest(self, side: str, node: int, keys: JoinKeys) -> KeptSolutions:
        """One solution for each shared mapping, where that is always bound (EP-78)."""
        names = [_name(self.network.nodes[node].variables[column]) for column in keys.right]
        is_timeless = self.is_timeless[node]
        which = "solutions"
        if keys.certain == len(names):
            which = f"the earliest solution for each {' '.join(names)}" if names else "the earliest solution"
        grows = not is_timeless and bool(names)
        of = f"of {'the ' * side.endswith('side')}{side}{', which are timeless,' * is_timeless}"
        return KeptSolutions(f"{which} {of}", Lifetime.FOR_EVER, grows)


_JOINED = {
    Relation.ANY: (Lifetime.FOR_EVER, Lifetime.FOR_EVER),
    Relation.SEQ: (Lifetime.FOR_EVER, Lifetime.TO_THE_START),
    Relation.EQUALS: (Lifetime.TO_THE_END, Lifetime.TO_THE_END),
}
"""How long `CombineState` keeps its two sides."""


def _waiting(node: Node) -> WaitingRows | None:
    match node:
        case OptionalCombine():
            if node.condition is not None and node.condition.exists:
                return WaitingRows("all rows", Lifetime.TO_THE_END)
            is_seq = node.relation is Relation.SEQ_UNTIL
            return WaitingRows("bare rows", Lifetime.TO_THE_START if is_seq else Lifetime.TO_THE_END)
        case Restrict() | Assign():
            return WaitingRows("all rows", Lifetime.TO_THE_END) if node.condition.exists else None
        case Without() | Summarise():  # MINUS makes rows wait even where it can remove nothing (EP-43)
            return WaitingRows("all rows", Lifetime.TO_THE_END)
        case _:
            return None


def _inputs(node: Node) -> list[tuple[str, int]]:
    """The nodes that a node reads and as what, in the order of the text."""
    match node:
        case Scan() | PathScan() | Timeless():
            return []
        case Combine() | Either() | Without():
            return [("left", node.left), ("right", node.right)]
        case OptionalCombine():
            sides = [("mandatory", node.mandatory), ("optional", node.optional)]
            return [*(sides[::-1] if node.optional_first else sides), *_tests(node.condition)]
        case Restrict() | Assign():
            return [("", node.input), *_tests(node.condition)]
        case Project():
            return [("", node.input)]
        case Summarise():
            return [("", node.input), *(("EXISTS", number) for _, number in node.exists)]
        case _:
            assert_never(node)


def _tests(condition: Condition | None) -> list[tuple[str, int]]:
    return [] if condition is None else [("EXISTS", test.node) for test in condition.exists]
