"""What `explain` shows of a network: the join tree, what each node keeps, by which key, and for how long."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from thence.algebra.ep_sparql import RuleFile, Statement
from thence.algebra.patterns import Select
from thence.algebra.show import show
from thence.kernel.temporal.network_facts import (
    KeptSolutions,
    Lifetime,
    NetworkFacts,
    NodeFacts,
    StatementFacts,
    network_facts,
)
from thence.program.description import Arrow, Box, Description, single_shard_text, streams_data
from thence.program.temporal.dependencies import is_fed
from thence.program.temporal.network import PathScan, Scan, Timeless
from thence.program.temporal.program import TemporalProgram

_DEEPEST = 12
"""From here on the tree is not indented any further: nodes say what they are over."""
_LONGEST = 60  # characters of a label
_MOST = 6  # lines of an arrow, things in a list
_SHORT = {
    Lifetime.FOR_EVER: "for ever",
    Lifetime.TO_THE_END: "until watermark > tω",
    Lifetime.TO_THE_START: "until watermark ≥ tα",
    Lifetime.WHILE_SHORT: "while short enough",
}


def describe(program: TemporalProgram) -> Description:
    """A compiled file: its statements as join trees."""
    facts = network_facts(program)
    written = show(_part_of_file(program))
    clauses = list(_clauses(program, facts))
    diagram = _Diagram(program, facts)
    return Description(
        text=tuple(_text(written, facts, clauses)),
        data=_data(program, written, facts),
        boxes=tuple(diagram.boxes()),
        arrows=tuple(diagram.arrows()),
        notes=tuple(clauses),
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


# As JSON


def _data(program: TemporalProgram, written: str, facts: NetworkFacts) -> dict[str, object]:
    key = program.shard_key
    return {
        "algebra": written,
        "streams": streams_data(program.streams),
        "engine": "temporal joins",
        "evaluation": facts.evaluation,
        "reasoning": "rdfs" if program.network.reasoning else None,
        "policy": _policy(program),
        "key": [f"?{name}" for name in key.names],
        "one_shard": key.reason or None,
        "output": _emitted(facts) if program.query else "derived events",
        "statements": [asdict(each) for each in facts.statements],
        "nodes": [_node_data(node) for node in facts.nodes],
        "unbounded": [{"node": node.number, "keeps": kept.what} for node, kept in _unbounded(facts)],
    }


def _node_data(node: NodeFacts) -> dict[str, object]:
    found = asdict(node)
    found["keeps"] = [
        {"what": kept.what, "how_long": kept.lifetime.value, "unbounded": kept.grows} for kept in node.keeps
    ]
    found["waits"] = node.waits and {"what": node.waits.what, "how_long": node.waits.lifetime.value}
    return found


def _policy(program: TemporalProgram) -> str | None:
    return program.policy if program.policy not in ("", "unrestricted") else None


# As text


def _text(written: str, facts: NetworkFacts, clauses: Sequence[str]) -> Iterator[str]:
    yield "Algebra"
    yield from (f"  {line}".rstrip() for line in written.splitlines())
    if any(each.is_rule for each in facts.statements):
        yield from ("", "Statements")
        for statement in facts.statements:
            yield from _statement_text(statement)
    nodes = {node.number: node for node in facts.nodes}
    for statement in facts.statements:
        yield from ("", f"Join tree of {statement.name}")
        yield from _tree(nodes, statement.root)
    yield from ("", *clauses)
    yield "Occurrences: each counts once; a triple pattern keeps its own until their instant is closed"


def _statement_text(statement: StatementFacts) -> Iterator[str]:
    what = "derives " + " . ".join(statement.derives) if statement.is_rule else "emits " + " ".join(statement.emits)
    yield f"  {statement.name}, stratum {statement.stratum}: {what}"
    yield from (f"    reads what CONSTRUCT {each.rule} derives, {each.when}" for each in statement.reads)


def _tree(nodes: dict[int, NodeFacts], root: int) -> Iterator[str]:
    """A node, what it keeps, and below it its inputs."""
    waiting = [(root, "", 1)]
    while waiting:
        number, role, depth = waiting.pop()
        node = nodes[number]
        indent = "  " * min(depth, _DEEPEST)
        over = ""
        if depth >= _DEEPEST and node.inputs:
            over = ", over " + " and ".join(f"{each.node}" for each in node.inputs)
        yield f"{indent}{f'{role}: ' if role else ''}{number} {_in_one_line(node)}{over}"
        yield from (f"{indent}    {line}" for line in _details(node))
        waiting += [(each.node, each.role, depth + 1) for each in reversed(node.inputs)]


def _in_one_line(node: NodeFacts) -> str:
    return f"{node.title}{f' {node.text}' if node.text else ''}{_by(node)}"


def _details(node: NodeFacts) -> Iterator[str]:
    if node.detail is not None:
        yield node.detail
    yield from (f"keeps {kept.what} {kept.lifetime.value}" for kept in _shown(node))
    if node.waits is not None:
        yield f"{node.waits.what} wait {node.waits.lifetime.value}"


def _shown(node: NodeFacts) -> Iterator[KeptSolutions]:
    """What a node keeps, without the occurrences that all triple patterns keep: one line says so of all."""
    return (kept for kept in node.keeps if not (node.definition == "BGP" and kept.lifetime is Lifetime.TO_THE_END))


def _by(node: NodeFacts) -> str:
    """What the two sides are joined on."""
    if node.key is None:
        return ""
    parts = [" ".join(node.key)] if node.key else []
    if node.possible_key:
        parts.append(f"{' '.join(node.possible_key)} where bound")
    if node.by_interval:
        parts.append("the interval")
    return f" by {' and '.join(parts)}" if parts else " without a key"


def _clauses(program: TemporalProgram, facts: NetworkFacts) -> Iterator[str]:
    """The lines at the end of the text, and above the drawing."""
    key = program.shard_key
    has_rules = any(each.is_rule for each in facts.statements)
    yield f"Engine: temporal joins{f'; {facts.evaluation}' if has_rules else ''}"
    yield f"Output: {_output(program, facts)}"
    if program.network.reasoning:
        yield "Reasoning: RDFS"
    if _policy(program) is not None:
        yield f"Policy: {_policy(program)}; rows wait {Lifetime.TO_THE_END.value}"
    names = " ".join(f"?{name}" for name in key.names)
    yield f"Key: {f'{names}, which every part joins by equality' if names else single_shard_text(key)}"
    yield f"State: {_state(facts)}"


def _emitted(facts: NetworkFacts) -> list[str]:
    """The columns of all SELECTs."""
    return list(dict.fromkeys(name for each in facts.statements for name in each.emits))


def _output(program: TemporalProgram, facts: NetworkFacts) -> str:
    emitted = "a row" if program.query else "an event with the new triples of a solution"
    names = " ".join(_emitted(facts))
    waiting = [f"{node.number}" for node in facts.nodes if node.waits is not None]
    who = f"nodes {_listed(waiting)} let" if len(waiting) > 1 else f"node {waiting[0]} lets" if waiting else ""
    later = f", or when {who} it pass" if waiting else ""
    return f"{names + '; ' if names else ''}{emitted} at its tω{later}"


def _state(facts: NetworkFacts) -> str:
    """Whether something bounds the state (EP-79)."""
    found = [f"node {node.number} keeps {kept.what} for ever" for node, kept in _unbounded(facts)]
    return f"unbounded: {_listed(found)}" if found else "bounded: nothing of the stream is kept for ever"


def _unbounded(facts: NetworkFacts) -> Iterator[tuple[NodeFacts, KeptSolutions]]:
    return ((node, kept) for node in facts.nodes for kept in node.keeps if kept.grows)


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

    statement: StatementFacts
    box: int | None
    lines: tuple[str, ...]
    label: str


class _Diagram:
    """Boxes are nodes that keep something; what lies between two of them is the text of an arrow. A triple pattern is
    an arrow from the input, and rules lead back to the Q-closure."""

    def __init__(self, program: TemporalProgram, facts: NetworkFacts) -> None:
        self.program, self.facts = program, facts
        self.has_closure = any(each.is_read for each in facts.statements)
        self.ways = self._ways()

    def _ways(self) -> dict[int, _Way]:
        """The way from each node."""
        ways = {
            each.root: _Way(each, None, _cut(tuple(_statement_lines(each))), each.name)
            for each in self.facts.statements
        }
        for node in reversed(self.facts.nodes):  # each before its inputs
            for each in node.inputs:
                ways[each.node] = self._way_into(node, each.role, ways[node.number])
        return ways

    def _way_into(self, node: NodeFacts, role: str, way: _Way) -> _Way:
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
        for node in self.facts.nodes:  # each after its inputs
            below = max((layers[each.node] for each in node.inputs), default=int(self.has_closure))
            layers[node.number] = below + _is_box(node)
        return layers

    def boxes(self) -> Iterator[Box]:
        if self.has_closure:
            yield Box(_CLOSURE, "Q-closure", ("Q-closure", "the stream with what rules derive"), layer=1)
        layers = self._layers()
        for node in filter(_is_box, self.facts.nodes):
            label = f"{node.number} {node.title}{_by(node)}"
            yield Box(node.number, _short(label), tuple(_box_lines(node)), layers[node.number])

    def arrows(self) -> Iterator[Arrow]:
        if self.has_closure:
            yield Arrow(None, (_CLOSURE,), ("triples",), lines=("triples of events",))
        for node in self.facts.nodes:
            if not node.inputs:
                text = node.text if node.definition == "BGP" and node.text else f"{node.title} {node.text}".rstrip()
                lines = (text,) if node.detail is None else (text, node.detail)
                source = self._source(node)
                if _is_box(node):
                    yield Arrow(source, (node.number,), (_short(text),), lines=lines)
                else:
                    yield self._arrow(source, self.ways[node.number], text, lines)
            if _is_box(node):
                yield self._arrow(node.number, self.ways[node.number])

    def _arrow(self, source: int | None, way: _Way, text: str = "", lines: tuple[str, ...] = ()) -> Arrow:
        label = _short(", ".join(filter(None, (text, way.label))))
        shown = _cut((*lines, *way.lines))
        if way.box is not None:
            return Arrow(source, (way.box,), (label,), lines=shown)
        emits = not way.statement.is_rule or not self.program.query
        targets = (_CLOSURE,) * way.statement.is_read
        return Arrow(source, targets, (label,) * (len(targets) + emits), emits, shown)

    def _source(self, leaf: NodeFacts) -> int | None:
        """Where a leaf reads: the Q-closure, if a rule may derive what it matches."""
        network = self.program.network
        node = network.nodes[leaf.number - 1]
        is_derived = isinstance(node, Scan | PathScan) and is_fed(node, network.statements, reasoning=network.reasoning)
        return _CLOSURE if is_derived and self.has_closure else None


def _is_box(node: NodeFacts) -> bool:
    return any(True for _ in _shown(node))


def _statement_lines(statement: StatementFacts) -> Iterator[str]:
    yield statement.name
    yield from (f"derives {triple}" for triple in statement.derives)


def _box_lines(node: NodeFacts) -> Iterator[str]:
    yield f"{node.number} {node.title}"
    if node.text:
        yield node.text
    if node.key is not None:
        yield _by(node).strip()
    yield from (f"{kept.name}: {_SHORT[kept.lifetime]}" for kept in _shown(node))
    if node.waits is not None:
        yield f"{node.waits.what} wait {_SHORT[node.waits.lifetime]}"


def _cut(lines: tuple[str, ...]) -> tuple[str, ...]:
    return lines if len(lines) <= _MOST else (*lines[: _MOST - 1], "…")


def _short(text: str) -> str:
    """A label: what is long is in the drawing and in the text."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
