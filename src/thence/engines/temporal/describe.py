"""The description of a network for `explain`: the join tree, and the state of each node, its key and its lifetime."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from decimal import Decimal
from enum import StrEnum
from itertools import count
from typing import Any, assert_never

from thence.algebra.ep_sparql import RuleFile
from thence.algebra.expressions import Variable
from thence.algebra.patterns import Graph, Select, Values
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
    OptionalCombine,
    PathScan,
    Project,
    Restrict,
    Scan,
    Summarise,
    TemporalProgram,
    Timeless,
    Without,
    group_life,
)
from thence.engines.temporal.strata import Reading, dependencies, is_fed
from thence.explain.description import Arrow, Description, Node, key_text
from thence.rdf.dates import XSD_DAY_TIME_DURATION, Duration
from thence.rdf.terms import XSD
from thence.rdf.times import Domain
from thence.relation.interval_table import UNBOUNDED, Relation


class Lifetime(StrEnum):
    """The time for which something is kept, or waits."""

    FOR_EVER = "for ever"
    TO_THE_END = "until their instant is closed (watermark > tω)"
    TO_THE_START = "until their start is closed (watermark ≥ tα)"
    WHILE_SHORT = "while getDURATION() can stay within its bound"


_JOINS = {
    Relation.ANY: ("join", "Join", Lifetime.FOR_EVER, Lifetime.FOR_EVER),
    Relation.SEQ: ("SEQ", "SeqJoin", Lifetime.FOR_EVER, Lifetime.TO_THE_START),
    Relation.EQUALS: ("EQUALS", "EqJoin", Lifetime.TO_THE_END, Lifetime.TO_THE_END),
}
_OPTIONAL_JOINS = {
    Relation.UNTIL: ("OPTIONAL", "LeftJoin", Lifetime.TO_THE_END, Lifetime.FOR_EVER),
    Relation.SEQ_UNTIL: ("OPTIONALSEQ", "SeqRightJoin", Lifetime.TO_THE_START, Lifetime.FOR_EVER),
    Relation.EQUALS: ("EQUALSOPTIONAL", "EqLeftJoin", Lifetime.TO_THE_END, Lifetime.TO_THE_END),
}
"""The names of each join, in the language and in the paper, and how long the sides' states keep them."""

_READINGS = {
    Reading.EARLIER: "at earlier instants",
    Reading.SAME: "also at the same instant",
    Reading.COMPLETE: "also at the same instant, where it must be complete",
}
_LONGEST = 60  # characters of a label
_MOST = 6  # lines of an arrow, things in a list


@dataclass(frozen=True, slots=True)
class Kept:
    """Solutions that a node stores. `unbounded`: nothing bounds their number (EP-79)."""

    what: str
    how_long: Lifetime = Lifetime.TO_THE_END
    unbounded: bool = False


@dataclass(frozen=True, slots=True)
class Waiting:
    """Rows that a node emits only when the watermark has come so far (EP-43, EP-44)."""

    what: str = "all rows"
    how_long: Lifetime = Lifetime.TO_THE_END


@dataclass(frozen=True, slots=True)
class NodeSummary:
    """The description of a node. `operator` is its name in the language, `definition` that in the paper, `text`
    what was written there; `inputs` are other nodes, each with its role. Solutions are hashed on `key`, and in
    `possible_key` they agree where they bind it; None for a node without a key. `detail` is a line on how it is
    evaluated. `number` is from 1."""

    operator: str
    definition: str | None
    text: str = ""
    inputs: Sequence[tuple[str, int]] = ()
    keeps: Sequence[Kept] = ()
    waits: Waiting | None = None
    key: Sequence[str] | None = None
    possible_key: Sequence[str] = ()
    by_interval: bool = False
    detail: str | None = None
    number: int = 0

    @property
    def json(self) -> dict[str, object]:
        inputs = [{"role": role, "node": number + 1} for role, number in self.inputs]
        return {**asdict(self), "inputs": inputs}

    @property
    def title(self) -> str:
        """Its operator with the paper's name, where this is another one.

        >>> NodeSummary("SEQ", "SeqJoin").title, NodeSummary("UNION", "Union").title
        ('SEQ (SeqJoin)', 'UNION')
        """
        differs = self.definition is not None and self.definition.lower() != self.operator.lower()
        return f"{self.operator} ({self.definition})" if differs else self.operator

    @property
    def line(self) -> str:
        """Its title and what was written there."""
        return f"{self.title} {self.text}".rstrip()

    @property
    def shown(self) -> list[Kept]:
        """Its state, without the occurrences that all triple patterns keep, which one line states for all."""
        return [kept for kept in self.keeps if self.definition != "BGP" or kept.how_long is not Lifetime.TO_THE_END]

    @property
    def by(self) -> str:
        """The columns that the two sides are joined on."""
        if self.key is None:
            return ""
        parts = [" ".join(self.key)] * bool(self.key)
        parts += [f"{' '.join(self.possible_key)} where bound"] * bool(self.possible_key)
        parts += ["the interval"] * self.by_interval
        return f" by {' and '.join(parts)}" if parts else " without a key"

    def node(self, nodes: Mapping[int, Node]) -> Node:
        details = [self.detail] if self.detail is not None else []
        details += [f"keeps {kept.what} {kept.how_long}" for kept in self.shown]
        details += [f"{self.waits.what} wait {self.waits.how_long}"] if self.waits is not None else []
        return Node(
            f"{self.number} {self.line}{self.by}",
            details=tuple(details),
            inputs=tuple((role, nodes[each + 1]) for role, each in self.inputs),
            number=self.number,
            label=_short(f"{self.number} {self.title}{self.by}"),
        )


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

    def node(self) -> Node:
        what = "derives " + " . ".join(self.derives) if self.is_rule else "emits " + " ".join(self.emits)
        reads = tuple(f"reads what CONSTRUCT {each.rule} derives, {each.when}" for each in self.reads)
        return Node(f"{self.name}, stratum {self.stratum}", (what,), reads)

    @property
    def lines(self) -> tuple[str, ...]:
        return (self.name, *(f"derives {triple}" for triple in self.derives))


def describe(program: TemporalProgram) -> Description:
    """A compiled file: its statements, in the order of evaluation, as join trees, each node after its inputs."""
    network = program.network
    reader = _NodeReader(program)
    all_nodes = [reader.summary(number) for number in range(len(network.nodes))]
    summaries = [all_nodes[number] for each in network.statements for number in range(each.first, each.root + 1)]
    statements = list(_statements(network, reader))
    nodes: dict[int, Node] = {}
    for each in summaries:
        nodes[each.number] = each.node(nodes)
    trees = {f"Join tree of {each.name}": (nodes[each.root],) for each in statements}
    has_rules = any(each.is_rule for each in statements)
    evaluation = "each statement once a step, after the rules that it reads"
    if network.by_instant:
        evaluation = "instants one by one, strata in order, each to its fixpoint"
    columns = list(dict.fromkeys(name for each in statements for name in each.emits))
    policy = program.policy if program.policy not in ("", "unrestricted") else None
    grow = [(node.number, kept.what) for node in summaries for kept in node.keeps if kept.unbounded]
    diagram = _Diagram(program, statements, summaries, nodes)
    clauses = [f"Engine: temporal joins{f'; {evaluation}' if has_rules else ''}"]
    clauses += [f"Output: {_output(program, columns, summaries)}", *["Reasoning: RDFS"] * network.reasoning]
    clauses += [f"Policy: {policy}; rows wait {Lifetime.TO_THE_END}"] if policy is not None else []
    clauses += [f"Key: {key_text(program.shard_key)}", f"State: {_state(program, grow)}"]
    clauses += ["Occurrences: each counts once; a triple pattern keeps its own until their instant is closed"]
    return Description(
        algebra=show(_part_of_file(program)),
        json={
            "engine": "temporal joins",
            "evaluation": evaluation,
            "reasoning": "rdfs" if network.reasoning else None,
            "policy": policy,
            "key": [f"?{name}" for name in program.shard_key.names],
            "one_shard": program.shard_key.reason or None,
            "output": columns if program.query else "derived events",
            "statements": statements,
            "nodes": [each.json for each in summaries],
            "unbounded": [{"node": number, "keeps": what} for number, what in grow],
        },
        sections=trees if not has_rules else {"Statements": tuple(each.node() for each in statements), **trees},
        clauses=tuple(clauses),
        boxes=tuple(diagram.boxes()),
        arrows=tuple(diagram.arrows()),
        start="events and background" if any(isinstance(each, Timeless) for each in network.nodes) else "events",
        end="rows" if program.query else "derived events",
    )


def _part_of_file(program: TemporalProgram) -> RuleFile:
    """The statements that the network has, as they were written."""
    known = {(each.is_rule, each.number) for each in program.network.statements}
    numbers = {True: count(1), False: count(1)}
    statements = [(not isinstance(each, Select), each) for each in program.file.statements]
    kept = tuple(each for is_rule, each in statements if (is_rule, next(numbers[is_rule])) in known)
    return RuleFile(kept, program.file.namespace)


def _output(program: TemporalProgram, columns: list[str], nodes: Sequence[NodeSummary]) -> str:
    if not program.query:
        return f"an event with the new triples of a solution at its tω; events wait {Lifetime.TO_THE_END}"
    waiting = [f"{node.number}" for node in nodes if node.waits is not None]
    who = f"nodes {_listed(waiting)} let" if len(waiting) > 1 else f"node {waiting[0]} lets" if waiting else ""
    later = f", or when {who} it pass" if waiting else ""
    return f"{' '.join(columns)}{'; ' * bool(columns)}a row at its tω{later}"


def _state(program: TemporalProgram, grow: list[tuple[int, str]]) -> str:
    """Whether something bounds the state (EP-79)."""
    reasons = [f"node {number} keeps {what} for ever" for number, what in grow]
    if program.chain is not None:
        reasons.append("the policy keeps combinations that no row has consumed, as rivals, for ever")
    return f"unbounded: {_listed(reasons)}" if reasons else "bounded: nothing of the stream is kept for ever"


def _listed(names: Sequence[str]) -> str:
    """Names in words, the first few of many.

    >>> _listed(["1", "2", "3"]), _listed([str(number) for number in range(9)])
    ('1, 2 and 3', '0, 1, 2, 3, 4, 5 and 3 more')
    """
    shown = list(names) if len(names) <= _MOST else [*names[:_MOST], f"{len(names) - _MOST} more"]
    *others, last = shown
    return f"{', '.join(others)} and {last}" if others else last


def _statements(network: Network, reader: _NodeReader) -> Iterator[StatementSummary]:
    read = dependencies(network.nodes, network.statements, lambda leaf: False)
    strata = sorted({each.stratum for each in network.statements})
    for place, each in enumerate(network.statements):
        strongest: dict[int, Reading] = {}
        for dependency in read:
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
            is_read=any(dependency.rule == place for dependency in read),
        )


def _name(variable: Variable) -> str:
    """A variable as the text has it: a blank node of a pattern is a hidden one."""
    return variable.name if variable.name.startswith("_:") else str(variable)


# Of each node

# a string, an IRI, and variables that stand for something else
_WRITTEN = re.compile(r"""("(?:[^"\\]|\\.)*")|<([^<>"{}|^`\\\s]*)>|\?(?:EXISTS (\d+)|(_:\S+|get[A-Z]+\(\)))""")
_LOCAL = re.compile(r"[A-Za-z_]\w*(?:-\w+)*", re.ASCII)


class _NodeReader:
    """Summarises nodes, each after its inputs."""

    def __init__(self, program: TemporalProgram) -> None:
        self.network = network = program.network
        self.has_dates = (program.file.time_kind or (None,))[0] is Domain.DATETIME
        self.prefixes = {program.namespace: ":", XSD: "xsd:"}
        self.logged = below_correlated(network.nodes, network.nodes)
        self.roots = {each.root for each in network.statements}  # a rule with solution modifiers has one that selects
        self.is_timeless: list[bool] = []  # by node: it reads no event, so that its stored solutions do not grow

    def text(self, written: str, exists: Sequence[ExistsTest] = ()) -> str:
        """The output of `show` on one line, with short names, and the text behind the variables of a network."""

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

    def summary(self, number: int) -> NodeSummary:
        own = replace(self._summary(number), number=number + 1)
        below = [self.is_timeless[each] for _, each in own.inputs]
        self.is_timeless.append(isinstance(self.network.nodes[number], Timeless) or (bool(below) and all(below)))
        return own

    def _summary(self, number: int) -> NodeSummary:
        """The node, its inputs, and its state, until the states' `evict` drops it."""
        node = self.network.nodes[number]
        match node:
            case Scan() | PathScan():
                text, what = self.text(show(node.pattern)), "its occurrences"
                keeps = [Kept(what)] * isinstance(node, Scan)
                if number in self.logged:
                    what = f"all of {what}, for an EXISTS that is evaluated for each row,"
                    keeps.append(Kept(what, Lifetime.FOR_EVER, unbounded=True))
                if isinstance(node, PathScan):
                    return NodeSummary("path", None, text, keeps=keeps, detail="reads whole events")
                detail = "reads what the triples of events entail, too" if self.network.reasoning else None
                return NodeSummary("triple pattern", "BGP", text, keeps=keeps, detail=detail)
            case Timeless():
                return self._timeless(node.pattern)
            case Combine():
                operator, definition, *lifetimes = _JOINS[node.relation]
                sides = ("left", node.left), ("right", node.right)
                keeps = [self._side(*side, lifetime) for side, lifetime in zip(sides, lifetimes, strict=True)]
                return NodeSummary(operator, definition, "", sides, keeps, **self._keys(node, node.left))
            case OptionalCombine():
                operator, definition, mandatory, optional = _OPTIONAL_JOINS[node.relation]
                exists = _exists(node.condition)
                waits = Waiting() if exists else Waiting("bare rows", mandatory)
                sides = ("mandatory", node.mandatory), ("optional", node.optional)
                keeps = [self._side(*sides[0], waits.how_long), self._side(*sides[1], optional)]
                return NodeSummary(
                    operator,
                    definition,
                    "" if node.condition is None else f"F: {self._condition(node.condition)}",
                    (*(sides[::-1] if node.optional_first else sides), *exists),
                    [*keeps, *self._tested(node.condition)],
                    waits,
                    **self._keys(node, node.mandatory),
                )
            case Without():
                sides = ("left", node.left), ("right", node.right)
                keeps = [self._side(*sides[0], Lifetime.TO_THE_END)]
                if not node.keys.left:  # rows wait even so (EP-43)
                    detail = "removes nothing: the sides share no variable"
                    return NodeSummary("MINUS", None, "", sides, keeps, Waiting(), detail=detail)
                keeps.append(self._earliest("the right side", node.right, node.keys))
                return NodeSummary("MINUS", None, "", sides, keeps, Waiting(), **self._keys(node, node.left))
            case Restrict() | Assign():
                exists, text = _exists(node.condition), self._condition(node.condition)
                keeps = [Kept("solutions under test"), *self._tested(node.condition)] if exists else []
                others = (("", node.input), *exists), keeps, Waiting() if exists else None
                if isinstance(node, Restrict):
                    return NodeSummary("FILTER", "Filter", text, *others)
                return NodeSummary("BIND", None, f"({text} AS {node.variable})", *others)
            case Either():
                return NodeSummary("UNION", "Union", "", (("left", node.left), ("right", node.right)))
            case Project():
                operator = "SELECT" if number in self.roots else "sub-select"
                text = f"{'DISTINCT ' * node.distinct}{' '.join(map(_name, node.variables))}"
                keeps = [Kept("the rows that it emitted")] * node.distinct
                return NodeSummary(operator, None, text, (("", node.input),), keeps)
            case Summarise():
                operator = "aggregate" if node.aggregates else "slice of each instant"
                text = self.text(show(node.select)).replace(" WHERE { }", "", 1)
                keeps = [Kept("solutions")] + [self._groups(node)] * node.aggregates
                inputs = ("", node.input), *(("EXISTS", each) for _, each in node.exists)
                where = "" if number in self.roots else " in a sub-select"
                return NodeSummary(f"{operator}{where}", None, text, inputs, keeps, Waiting())
            case _:
                assert_never(node)

    def _timeless(self, pattern: Graph | Values) -> NodeSummary:
        if isinstance(pattern, Graph):
            written = show(pattern).splitlines()[1:-1]  # without the group around it
            return NodeSummary("GRAPH", None, self.text("\n".join(written)).removeprefix("GRAPH "))
        count = len(pattern.rows)
        if not pattern.variables and count == 1:
            return NodeSummary("empty group", "BGP")
        names = " ".join(map(str, pattern.variables))
        return NodeSummary("VALUES", None, f"({names}), {count:,} row{'s' * (count != 1)}")

    def _groups(self, node: Summarise) -> Kept:
        life = group_life(self.network.nodes, node).longest
        lifetime = {0: Lifetime.TO_THE_END, UNBOUNDED: Lifetime.FOR_EVER}.get(life, Lifetime.WHILE_SHORT)
        return Kept("the aggregates of its groups", lifetime, life == UNBOUNDED and not self.is_timeless[node.input])

    def _condition(self, condition: Condition) -> str:
        shortest, longest = condition.shortest, condition.longest
        written = [] if condition.expression is None else [self.text(show(condition.expression), condition.exists)]
        written += [] if shortest is None else [f"getDURATION() >= {self._length(shortest)}"]
        written += [] if longest is None else [f"getDURATION() < {self._length(longest + 1)}"]
        return " && ".join(written)

    def _length(self, length: int) -> str:
        """A length of time, in ticks or as a duration."""
        if not self.has_dates:
            return str(length)
        return str(Duration(0, Decimal(length) / 1_000_000, XSD_DAY_TIME_DURATION))

    def _keys(self, node: Combine | OptionalCombine | Without, left: int) -> dict[str, Any]:
        names = [_name(self.network.nodes[left].variables[column]) for column in node.keys.left]
        by_interval = not isinstance(node, Without) and node.relation is Relation.EQUALS
        certain = node.keys.certain
        return {"key": names[:certain], "possible_key": names[certain:], "by_interval": by_interval}

    def _side(self, side: str, node: int, lifetime: Lifetime) -> Kept:
        is_timeless = self.is_timeless[node]
        if is_timeless and lifetime is Lifetime.TO_THE_START:
            lifetime = Lifetime.FOR_EVER  # their start is +∞
        if lifetime is Lifetime.FOR_EVER and not is_timeless and self.network.bounds[node] < UNBOUNDED:
            lifetime = Lifetime.WHILE_SHORT  # EP-74
        what = f"solutions of the {side} side{', which are timeless,' * is_timeless}"
        return Kept(what, lifetime, lifetime is Lifetime.FOR_EVER and not is_timeless)

    def _tested(self, condition: Condition | None) -> Iterator[Kept]:
        """The state of each EXISTS pattern, except those evaluated for each solution: their leaves hold the state."""
        for test in condition.exists if condition is not None else ():
            if not test.correlated:
                yield self._earliest(f"EXISTS (node {test.node + 1})", test.node, test.keys)

    def _earliest(self, side: str, node: int, keys: JoinKeys) -> Kept:
        """One solution for each shared mapping, where that is always bound (EP-78)."""
        names = [_name(self.network.nodes[node].variables[column]) for column in keys.right]
        is_timeless = self.is_timeless[node]
        which = "solutions"
        if keys.certain == len(names):
            which = f"the earliest solution for each {' '.join(names)}" if names else "the earliest solution"
        what = f"{which} of {side}{', which are timeless,' * is_timeless}"
        return Kept(what, Lifetime.FOR_EVER, not is_timeless and bool(names))


def _exists(condition: Condition | None) -> list[tuple[str, int]]:
    return [] if condition is None else [("EXISTS", test.node) for test in condition.exists]


# As a diagram

_ROLES = {"": "input", "EXISTS": "EXISTS"} | {
    each: f"{each} side" for each in ("left", "right", "mandatory", "optional")
}
_CLOSURE = 0
"""The number of the box of the Q-closure: the stream with what rules derive."""


@dataclass(frozen=True, slots=True)
class _Way:
    """The way of a node's solutions: into a box, else out of the statement. `lines` are the nodes on the way."""

    statement: StatementSummary
    box: int | None
    lines: tuple[str, ...]
    label: str


class _Diagram:
    """Boxes are nodes that keep something; what lies between two of them is the text of an arrow. A triple pattern is
    an arrow from the input, and rules lead back to the Q-closure."""

    def __init__(
        self,
        program: TemporalProgram,
        statements: Sequence[StatementSummary],
        summaries: Sequence[NodeSummary],
        nodes: Mapping[int, Node],
    ) -> None:
        self.program, self.summaries, self.nodes = program, summaries, nodes
        self.has_closure = any(each.is_read for each in statements)
        self.ways = {each.root: _Way(each, None, _cut(each.lines), each.name) for each in statements}
        for node in reversed(summaries):  # each before its inputs
            for role, each in node.inputs:
                self.ways[each + 1] = self._way_into(node, role, self.ways[node.number])

    def _way_into(self, node: NodeSummary, role: str, way: _Way) -> _Way:
        if node.shown:
            return _Way(way.statement, node.number, (f"{_ROLES[role]} of {node.number}",), role)
        if node.number == way.statement.root and not way.statement.is_rule:
            return _Way(way.statement, None, (f"SELECT {node.text}",), "SELECT")
        if way.lines[:1] == (node.line,):  # a chain of UNIONs
            return way
        label = f"{node.operator}, {way.label}" if way.label else node.operator
        return _Way(way.statement, way.box, _cut((node.line, *way.lines)), _short(label))

    def boxes(self) -> Iterator[Node]:
        """Each in the column right of those that lead to it."""
        if self.has_closure:
            yield Node("Q-closure", ("the stream with what rules derive",), number=_CLOSURE, layer=1)
        layers: dict[int, int] = {}
        for node in self.summaries:  # each after its inputs
            below = max((layers[each + 1] for _, each in node.inputs), default=int(self.has_closure))
            layers[node.number] = below + bool(node.shown)
            if node.shown:
                yield replace(self.nodes[node.number], layer=layers[node.number])

    def arrows(self) -> Iterator[Arrow]:
        if self.has_closure:
            yield Arrow(None, (_CLOSURE,), "triples of events", "triples")
        for node in self.summaries:
            if not node.inputs:
                text = node.text if node.definition == "BGP" and node.text else node.line
                lines = (text,) if node.detail is None else (text, node.detail)
                source = self._source(node)
                if node.shown:
                    yield Arrow(source, (node.number,), lines[0], _short(text), drawn=lines[1:])
                else:
                    yield self._arrow(source, self.ways[node.number], text, lines)
            if node.shown:
                yield self._arrow(node.number, self.ways[node.number])

    def _arrow(self, source: int | None, way: _Way, text: str = "", lines: tuple[str, ...] = ()) -> Arrow:
        label = _short(", ".join(filter(None, (text, way.label))))
        title, *drawn = _cut((*lines, *way.lines))
        emits = way.box is None and not (way.statement.is_rule and self.program.query)
        targets = (_CLOSURE,) * way.statement.is_read if way.box is None else (way.box,)
        return Arrow(source, targets, title, label, emits=emits, drawn=tuple(drawn))

    def _source(self, leaf: NodeSummary) -> int | None:
        """The source of a leaf: the Q-closure, if a rule may derive what it matches."""
        network = self.program.network
        node = network.nodes[leaf.number - 1]
        is_derived = isinstance(node, Scan | PathScan) and is_fed(node, network.statements, reasoning=network.reasoning)
        return _CLOSURE if is_derived and self.has_closure else None


def _cut(lines: tuple[str, ...]) -> tuple[str, ...]:
    return lines if len(lines) <= _MOST else (*lines[: _MOST - 1], "…")


def _short(text: str) -> str:
    """A label; long texts are in the drawing and in the text."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
