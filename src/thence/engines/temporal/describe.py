"""What `explain` shows of a network: the join tree, what each node keeps, by which key, and for how long."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace

from thence.algebra.ep_sparql import RuleFile, Statement
from thence.algebra.patterns import Select
from thence.algebra.show import show
from thence.engines.temporal.network_summary import (
    KeptSolutions,
    Lifetime,
    NetworkSummary,
    NodeSummary,
    StatementSummary,
    network_summary,
)
from thence.engines.temporal.program import PathScan, Scan, TemporalProgram, Timeless
from thence.engines.temporal.strata import is_fed
from thence.explain.description import Arrow, Description, Node, single_shard_text

_LONGEST = 60  # characters of a label
_MOST = 6  # lines of an arrow, things in a list


def describe(program: TemporalProgram) -> Description:
    """A compiled file: its statements as join trees."""
    summary = network_summary(program)
    nodes: dict[int, Node] = {}
    for each in summary.nodes:
        nodes[each.number] = _node(each, nodes)
    sections: dict[str, tuple[Node, ...]] = {
        f"Join tree of {each.name}": (nodes[each.root],) for each in summary.statements
    }
    if any(each.is_rule for each in summary.statements):
        sections = {"Statements": tuple(map(_statement, summary.statements)), **sections}
    diagram = _Diagram(program, summary, nodes)
    key = program.shard_key
    return Description(
        algebra=show(_part_of_file(program)),
        facts={
            "engine": "temporal joins",
            "evaluation": summary.evaluation,
            "reasoning": "rdfs" if program.network.reasoning else None,
            "policy": _policy(program),
            "key": [f"?{name}" for name in key.names],
            "one_shard": key.reason or None,
            "output": _emitted(summary) if program.query else "derived events",
            "statements": [asdict(each) for each in summary.statements],
            "nodes": [asdict(each) for each in summary.nodes],
            "unbounded": [{"node": node.number, "keeps": kept.what} for node, kept in _unbounded(summary)],
        },
        sections=sections,
        clauses=tuple(_clauses(program, summary)),
        boxes=tuple(diagram.boxes()),
        arrows=tuple(diagram.arrows()),
        start="events and background" if any(isinstance(n, Timeless) for n in program.network.nodes) else "events",
        end="rows" if program.query else "derived events",
    )


def _part_of_file(program: TemporalProgram) -> RuleFile:
    """The statements that the network has, as they were written."""
    numbers = {(each.is_rule, each.number) for each in program.network.statements}
    kept: list[Statement] = []
    seen = {True: 0, False: 0}
    for each in program.file.statements:
        is_rule = not isinstance(each, Select)
        seen[is_rule] += 1
        if (is_rule, seen[is_rule]) in numbers:
            kept.append(each)
    return RuleFile(tuple(kept), program.file.namespace)


def _policy(program: TemporalProgram) -> str | None:
    return program.policy if program.policy not in ("", "unrestricted") else None


def _statement(statement: StatementSummary) -> Node:
    what = "derives " + " . ".join(statement.derives) if statement.is_rule else "emits " + " ".join(statement.emits)
    reads = tuple(f"reads what CONSTRUCT {each.rule} derives, {each.when}" for each in statement.reads)
    return Node(f"{statement.name}, stratum {statement.stratum}", (what,), reads)


def _node(node: NodeSummary, nodes: Mapping[int, Node]) -> Node:
    """A node of the network, with its inputs, which stand before it."""
    details = [] if node.detail is None else [node.detail]
    details += [f"keeps {kept.what} {kept.how_long}" for kept in _shown(node)]
    details += [] if node.waits is None else [f"{node.waits.what} wait {node.waits.how_long}"]
    return Node(
        f"{node.number} {node.title}{f' {node.text}' if node.text else ''}{_by(node)}",
        details=tuple(details),
        inputs=tuple((each.role, nodes[each.node]) for each in node.inputs),
        number=node.number,
        label=_short(f"{node.number} {node.title}{_by(node)}"),
    )


def _shown(node: NodeSummary) -> Iterator[KeptSolutions]:
    """What a node keeps, without the occurrences that all triple patterns keep: one line says so of all."""
    return (kept for kept in node.keeps if not (node.definition == "BGP" and kept.how_long is Lifetime.TO_THE_END))


def _by(node: NodeSummary) -> str:
    """What the two sides are joined on."""
    if node.key is None:
        return ""
    parts = [" ".join(node.key)] if node.key else []
    if node.possible_key:
        parts.append(f"{' '.join(node.possible_key)} where bound")
    if node.by_interval:
        parts.append("the interval")
    return f" by {' and '.join(parts)}" if parts else " without a key"


def _clauses(program: TemporalProgram, summary: NetworkSummary) -> Iterator[str]:
    key = program.shard_key
    has_rules = any(each.is_rule for each in summary.statements)
    yield f"Engine: temporal joins{f'; {summary.evaluation}' if has_rules else ''}"
    yield f"Output: {_output(program, summary)}"
    if program.network.reasoning:
        yield "Reasoning: RDFS"
    if _policy(program) is not None:
        yield f"Policy: {_policy(program)}; rows wait {Lifetime.TO_THE_END}"
    names = " ".join(f"?{name}" for name in key.names)
    yield f"Key: {f'{names}, which every part joins by equality' if names else single_shard_text(key)}"
    yield f"State: {_state(program, summary)}"
    yield "Occurrences: each counts once; a triple pattern keeps its own until their instant is closed"


def _emitted(summary: NetworkSummary) -> list[str]:
    """The columns of all SELECTs."""
    return list(dict.fromkeys(name for each in summary.statements for name in each.emits))


def _output(program: TemporalProgram, summary: NetworkSummary) -> str:
    if not program.query:
        return f"an event with the new triples of a solution at its tω; events wait {Lifetime.TO_THE_END}"
    names = " ".join(_emitted(summary))
    waiting = [f"{node.number}" for node in summary.nodes if node.waits is not None]
    who = f"nodes {_listed(waiting)} let" if len(waiting) > 1 else f"node {waiting[0]} lets" if waiting else ""
    later = f", or when {who} it pass" if waiting else ""
    return f"{names + '; ' if names else ''}a row at its tω{later}"


def _state(program: TemporalProgram, summary: NetworkSummary) -> str:
    """Whether something bounds the state (EP-79)."""
    found = [f"node {node.number} keeps {kept.what} for ever" for node, kept in _unbounded(summary)]
    if program.chain is not None:
        found.append("the policy keeps combinations that no row has consumed, as rivals, for ever")
    return f"unbounded: {_listed(found)}" if found else "bounded: nothing of the stream is kept for ever"


def _unbounded(summary: NetworkSummary) -> Iterator[tuple[NodeSummary, KeptSolutions]]:
    return ((node, kept) for node in summary.nodes for kept in node.keeps if kept.unbounded)


def _listed(names: Sequence[str]) -> str:
    """Names in words, the first few of many.

    >>> _listed(["1", "2", "3"]), _listed([str(number) for number in range(9)])
    ('1, 2 and 3', '0, 1, 2, 3, 4, 5 and 3 more')
    """
    shown = list(names) if len(names) <= _MOST else [*names[:_MOST], f"{len(names) - _MOST} more"]
    *others, last = shown
    return f"{', '.join(others)} and {last}" if others else last


# As a diagram

_ROLES = {"": "input", "EXISTS": "EXISTS"} | {
    each: f"{each} side" for each in ("left", "right", "mandatory", "optional")
}
_CLOSURE = 0
"""The number of the box of the Q-closure: the stream with what rules derive."""


@dataclass(frozen=True, slots=True)
class _Way:
    """Where a node's solutions go: into a box, else out of the statement. `lines` are what they pass on the way."""

    statement: StatementSummary
    box: int | None
    lines: tuple[str, ...]
    label: str


class _Diagram:
    """Boxes are nodes that keep something; what lies between two of them is the text of an arrow. A triple pattern is
    an arrow from the input, and rules lead back to the Q-closure."""

    def __init__(self, program: TemporalProgram, summary: NetworkSummary, nodes: Mapping[int, Node]) -> None:
        self.program, self.summary, self.nodes = program, summary, nodes
        self.has_closure = any(each.is_read for each in summary.statements)
        self.ways = self._ways()

    def _ways(self) -> dict[int, _Way]:
        """The way from each node."""
        ways = {
            each.root: _Way(each, None, _cut(tuple(_statement_lines(each))), each.name)
            for each in self.summary.statements
        }
        for node in reversed(self.summary.nodes):  # each before its inputs
            for each in node.inputs:
                ways[each.node] = self._way_into(node, each.role, ways[node.number])
        return ways

    def _way_into(self, node: NodeSummary, role: str, way: _Way) -> _Way:
        if _is_box(node):
            return _Way(way.statement, node.number, (f"{_ROLES[role]} of {node.number}",), role)
        if node.number == way.statement.root and not way.statement.is_rule:
            return _Way(way.statement, None, (f"SELECT {node.text}",), "SELECT")
        line = f"{node.title} {node.text}".rstrip()
        if way.lines[:1] == (line,):  # a chain of UNIONs
            return way
        label = f"{node.operator}, {way.label}" if way.label else node.operator
        return _Way(way.statement, way.box, _cut((line, *way.lines)), _short(label))

    def _layers(self) -> dict[int, int]:
        """The column of each box: right of those that lead to it."""
        layers: dict[int, int] = {}
        for node in self.summary.nodes:  # each after its inputs
            below = max((layers[each.node] for each in node.inputs), default=int(self.has_closure))
            layers[node.number] = below + _is_box(node)
        return layers

    def boxes(self) -> Iterator[Node]:
        if self.has_closure:
            yield Node("Q-closure", ("the stream with what rules derive",), number=_CLOSURE, layer=1)
        layers = self._layers()
        for node in filter(_is_box, self.summary.nodes):
            yield replace(self.nodes[node.number], layer=layers[node.number])

    def arrows(self) -> Iterator[Arrow]:
        if self.has_closure:
            yield Arrow(None, (_CLOSURE,), "triples of events", "triples")
        for node in self.summary.nodes:
            if not node.inputs:
                text = node.text if node.definition == "BGP" and node.text else f"{node.title} {node.text}".rstrip()
                lines = (text,) if node.detail is None else (text, node.detail)
                source = self._source(node)
                if _is_box(node):
                    yield Arrow(source, (node.number,), lines[0], _short(text), drawn=lines[1:])
                else:
                    yield self._arrow(source, self.ways[node.number], text, lines)
            if _is_box(node):
                yield self._arrow(node.number, self.ways[node.number])

    def _arrow(self, source: int | None, way: _Way, text: str = "", lines: tuple[str, ...] = ()) -> Arrow:
        label = _short(", ".join(filter(None, (text, way.label))))
        shown = _cut((*lines, *way.lines))
        if way.box is not None:
            return Arrow(source, (way.box,), shown[0], label, drawn=shown[1:])
        emits = not way.statement.is_rule or not self.program.query
        return Arrow(source, (_CLOSURE,) * way.statement.is_read, shown[0], label, emits=emits, drawn=shown[1:])

    def _source(self, leaf: NodeSummary) -> int | None:
        """Where a leaf reads: the Q-closure, if a rule may derive what it matches."""
        network = self.program.network
        node = network.nodes[leaf.number - 1]
        is_derived = isinstance(node, Scan | PathScan) and is_fed(node, network.statements, reasoning=network.reasoning)
        return _CLOSURE if is_derived and self.has_closure else None


def _is_box(node: NodeSummary) -> bool:
    return any(True for _ in _shown(node))


def _statement_lines(statement: StatementSummary) -> Iterator[str]:
    yield statement.name
    yield from (f"derives {triple}" for triple in statement.derives)


def _cut(lines: tuple[str, ...]) -> tuple[str, ...]:
    return lines if len(lines) <= _MOST else (*lines[: _MOST - 1], "…")


def _short(text: str) -> str:
    """A label: what is long is in the drawing and in the text."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
