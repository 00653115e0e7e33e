"""EP-SPARQL's policies `chronological` and `recent`: each SEQ selects, and emitted rows consume (EP-66 – EP-73).

They select as RSEP-QL's do (EP-68), whose own code is `EventMatcher._selected` in `engines/windows/event_patterns.py`:
a change of RS-40 is a change of both.

The nodes of the chain emit every combination of visible occurrences that passes the filters (EP-69). When an instant is
closed, each SEQ selects among these; the selected ones that end at this instant are rows (EP-70). What a row consumes
leaves all stores, so that the state is what the visible occurrences give.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Variable
from thence.columns.arrays import Ints
from thence.engines.temporal.evaluation import Inbox, NetworkRun
from thence.engines.temporal.joins import CombineState
from thence.engines.temporal.leaves import OccurrenceState, joined_triples
from thence.engines.temporal.program import Node, SeqChain, no_rows
from thence.interface.operator import NEVER
from thence.relation.interval_table import NO_END, NO_START, IntervalTable, Relation, concatenated, is_event
from thence.relation.solution_store import SolutionStore

CHRONOLOGICAL = "chronological"

_FEW = 64
"""So few rows of occurrences stay, though nothing needs them."""


@dataclass(slots=True)
class PolicyState:
    """The chain of a SELECT, with `wholes`: for each chain in it, by node, all its combinations."""

    chain: SeqChain
    takes_first: bool  # chronological; else recent
    leaves: Mapping[int, OccurrenceState]  # by node
    places: Mapping[int, OccurrenceState]  # by place of the pattern
    wholes: Mapping[int, SolutionStore]
    kept: int = 0  # how many rows of occurrences there were, when what is useless was dropped

    @classmethod
    def of(cls, chain: SeqChain, policy: str, evaluation: NetworkRun) -> PolicyState:
        nodes = evaluation.network.nodes
        leaves = {number: state for number, state in enumerate(evaluation.states) if isinstance(state, OccurrenceState)}
        places = {state.node.places[0]: state for state in leaves.values()}
        wholes = {}
        for each in chain.all():
            node = nodes[each.node]
            shared = _shared_columns(nodes, each, len(each.operands))
            wholes[each.node] = SolutionStore(shared, len(shared), False, len(node.variables), len(node.places))
        return cls(chain, policy == CHRONOLOGICAL, leaves, places, wholes)

    # A step

    def arrive(self, evaluation: NetworkRun) -> None:
        """Take what is in the statement's inbox; it waits until its instants are closed (EP-43)."""
        inbox = evaluation.inboxes[0]
        evaluation.inboxes[0] = Inbox()
        batch = joined_triples(inbox.triples) if inbox.triples else None
        for number, leaf in self.leaves.items():
            leaf.wait(evaluation.leaf_rows(number, inbox, batch))

    def step(self, evaluation: NetworkRun, watermark: int) -> IntervalTable:
        """The rows of the instants that are closed now."""
        emitted = [no_rows(evaluation.network.nodes[self.chain.node])]
        closed = {number: leaf.leave(watermark) for number, leaf in self.leaves.items()}
        instants = np.unique(np.concatenate([rows.end for rows in closed.values()]))
        bounds = {number: np.searchsorted(rows.end, instants, "right").tolist() for number, rows in closed.items()}
        before = dict.fromkeys(closed, 0)
        for place, time in enumerate(instants.tolist()):
            new = {}
            for number, rows in closed.items():
                first, before[number] = before[number], bounds[number][place]
                if first < before[number]:
                    new[number] = rows.take(slice(first, before[number]))
            count = self.add(evaluation, new)
            if count and time != NO_END:
                emitted.append(self._emitted(evaluation, count))
        if watermark < NEVER and sum(len(leaf.brought) for leaf in self.leaves.values()) > 2 * self.kept + _FEW:
            self._forget(evaluation, watermark)
        return self._shown(evaluation, concatenated(emitted))

    def _forget(self, evaluation: NetworkRun, closed: int) -> None:
        """Drop what no combination that ends later can use, and occurrences that no solution has (EP-75): what is in no
        combination is not a rival, as filters are judged before any SEQ selects (EP-69)."""
        nodes = evaluation.network.nodes
        stored = [(nodes[number], store) for number, store in self.wholes.items()]
        for state in evaluation.states:
            if isinstance(state, CombineState):
                state.evict(closed)
                stored += [(nodes[state.node.left], state.left), (nodes[state.node.right], state.right)]
        used: dict[int, list[Ints]] = {place: [] for place in self.places}
        for node, store in stored:
            for place, refs in zip(node.places, store.table.refs, strict=True):
                used[place].append(refs)
        for place, leaf in self.places.items():
            leaf.forget(np.unique(np.concatenate(used[place])))
        self.kept = sum(len(leaf.brought) for leaf in self.leaves.values())

    def add(self, evaluation: NetworkRun, rows: Mapping[int, IntervalTable]) -> int:
        """Add rows of closed instants to the leaves: how many combinations of the whole chain are new."""
        numbers = range(evaluation.network.statements[0].first, self.chain.node + 1)
        found = evaluation.deltas(numbers, Inbox(dict(rows)), None, _ALL_CLOSED)
        for state in evaluation.states:
            if isinstance(state, CombineState):
                state.close(_ALL_CLOSED)
        for number, store in self.wholes.items():
            store.add(found[number])
        return len(found[self.chain.node])

    def _emitted(self, evaluation: NetworkRun, count: int) -> IntervalTable:
        """Select and consume the rows that end at the instant whose combinations are the last ones in the store, each
        with the first visible event of its occurrences."""
        nodes = evaluation.network.nodes
        rows = _Selection(self, nodes).ending_now(count)
        found = self.wholes[self.chain.node].table.take(rows)
        refs = found.refs.copy()
        for row, place in zip(refs, nodes[self.chain.node].places, strict=True):
            filled = is_event(row)
            row[filled] = self.places[place].events(row[filled])
        self._consume(evaluation, np.unique(refs[is_event(refs)]))
        return IntervalTable(found.start, found.end, found.ids, refs)

    def _shown(self, evaluation: NetworkRun, rows: IntervalTable) -> IntervalTable:
        """The rows that SELECT makes from the rows of its chain."""
        root = evaluation.network.statements[0].root
        numbers = range(self.chain.node + 1, root + 1)
        return evaluation.deltas(numbers, Inbox(), None, _ALL_CLOSED, {self.chain.node: rows})[root]

    def _consume(self, evaluation: NetworkRun, events: Ints) -> None:
        """Hide events from this statement: solutions with an occurrence that nothing visible brought leave (EP-71)."""
        if not len(events):
            return
        dead = {place: numbers for place, leaf in self.places.items() if len(numbers := leaf.consume(events))}
        if not dead:
            return
        nodes = evaluation.network.nodes
        for number, store in self.wholes.items():
            store.keep(_alive(store, nodes[number], dead))
        for state in evaluation.states:
            if isinstance(state, CombineState):
                state.left.keep(_alive(state.left, nodes[state.node.left], dead))
                state.right.keep(_alive(state.right, nodes[state.node.right], dead))

    # Stored

    def tables(self) -> Iterator[IntervalTable]:
        """The tables that it stores beside the nodes."""
        yield from (leaf.waiting for leaf in self.leaves.values())
        yield from (store.table for store in self.wholes.values())

    def refs(self) -> Ints:
        """The events that a later row may list."""
        return np.unique(np.concatenate([leaf.refs() for leaf in self.leaves.values()]))

    def renumber(self, ids: NDArray[np.int32]) -> None:
        """Replace each term id by its new one in `ids`."""
        for leaf in self.leaves.values():
            rows = leaf.waiting
            leaf.waiting = IntervalTable(rows.start, rows.end, ids[rows.ids], rows.refs)
        for store in self.wholes.values():
            store.renumber(ids)


_ALL_CLOSED = NO_START - 1
"""The time at which everything is final: later arrivals are later than all evaluated rows. Timeless solutions stay."""


def _alive(store: SolutionStore, node: Node, dead: Mapping[int, Ints]) -> NDArray[np.bool_]:
    found = np.ones(len(store), np.bool_)
    for row, place in zip(store.table.refs, node.places, strict=True):
        if place in dead:
            found &= ~np.isin(row, dead[place])
    return found


def _shared_columns(nodes: Sequence[Node], chain: SeqChain, length: int) -> tuple[int, ...]:
    """The columns of the variables in both sides of the last of `length - 1` SEQs, by the text (RS-41)."""
    left = {name for operand in chain.operands[: length - 1] for name in nodes[operand.node].variables}
    own, columns = nodes[chain.operands[length - 1].node].variables, nodes[chain.node].variables
    return tuple(columns.index(name) for name in own if name in left)


# Selection


@dataclass(frozen=True, slots=True)
class _Restriction:
    """The solutions that an enclosing SEQ leaves of its left side: compatible with μ2, and ending before t3 (RS-35)."""

    mapping: frozenset[tuple[Variable, int]] = frozenset()
    before: int = NO_START


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """The solution that fills an operand in each combination: `identity` distinguishes solutions (EP-4)."""

    identity: Ints
    start: Ints
    end: Ints


@dataclass(slots=True)
class _Selection:
    """The selection at one instant. `chains` and `chosen` are of chains inside operands, by node."""

    state: PolicyState
    nodes: Sequence[Node]
    chains: dict[int, _ChainSelection] = field(default_factory=dict)
    chosen: dict[tuple[int, _Restriction], Ints] = field(default_factory=dict)
    rows: dict[int, dict[bytes, int]] = field(default_factory=dict)

    def ending_now(self, count: int) -> Ints:
        """The selected ones of the last `count` combinations: those are the ones that end now. Only combinations that
        agree with one of them in the shared variables are its rivals."""
        chain = self.state.chain
        store = self.state.wholes[chain.node]
        first = len(store) - count
        ending = store.table.take(slice(first, None))
        _, distinct = np.unique(ending.ids[list(store.keys)], axis=1, return_index=True)
        asked = ending.take(distinct if store.keys else slice(1))
        _, rivals = store.pairs(asked, store.keys, Relation.ANY, stored_left=False)
        rivals = np.sort(rivals)
        found = rivals[self.of(chain, store.table.take(rivals)).all(_Restriction())]
        return np.sort(found[found >= first])

    def of(self, chain: SeqChain, table: IntervalTable) -> _ChainSelection:
        """The parts of some combinations of a chain."""
        parts: list[_Part] = []
        place = 0
        for operand in chain.operands:
            places = self.nodes[operand.node].places
            refs = table.refs[place : place + len(places)]
            place += len(places)
            start, end = np.full(len(table), NO_START), np.full(len(table), NO_END)
            for row, leaf in zip(refs, places, strict=True):
                filled = is_event(row)
                starts, ends = self.state.places[leaf].intervals(row[filled])
                start[filled] = np.minimum(start[filled], starts)
                end[filled] = np.maximum(end[filled], ends)
            parts.append(_Part(self._identity(operand.chain, refs), start, end))
        return _ChainSelection(self, chain, table, parts)

    def nested(self, chain: SeqChain, restriction: _Restriction) -> Ints:
        """The rows that a chain inside an operand selects, as far as an enclosing SEQ restricts it."""
        variables = self.nodes[chain.node].variables
        restriction = _Restriction(
            frozenset(pair for pair in restriction.mapping if pair[0] in variables), restriction.before
        )
        key = (chain.node, restriction)
        if key not in self.chosen:
            if chain.node not in self.chains:
                self.chains[chain.node] = self.of(chain, self.state.wholes[chain.node].table)
            self.chosen[key] = self.chains[chain.node].all(restriction)
        return self.chosen[key]

    def _identity(self, chain: SeqChain | None, refs: Ints) -> Ints:
        """The number of what fills an operand: of a chain, its row."""
        if chain is None:
            return refs[0] if len(refs) == 1 else np.unique(refs, axis=1, return_inverse=True)[1].reshape(-1)
        if chain.node not in self.rows:
            self.rows[chain.node] = {
                row.tobytes(): number for number, row in enumerate(self.state.wholes[chain.node].table.refs.T.copy())
            }
        known = self.rows[chain.node]
        return np.array([known[row.tobytes()] for row in np.ascontiguousarray(refs.T)], np.int64)


@dataclass(slots=True)
class _ChainSelection:
    """Combinations of a chain, from which its SEQs select. `prefixes` are of the first operands together (EP-17):
    starts and ends; `shared` are the columns of the variables that an operand shares with those before it."""

    selection: _Selection
    chain: SeqChain
    table: IntervalTable
    parts: list[_Part]
    prefixes: list[tuple[Ints, Ints]] = field(init=False)
    shared: list[NDArray[np.int32]] = field(init=False)

    def __post_init__(self) -> None:
        starts = accumulate((part.start for part in self.parts), np.minimum)
        ends = accumulate((part.end for part in self.parts), np.maximum)
        self.prefixes = list(zip(starts, ends, strict=True))
        nodes, lengths = self.selection.nodes, range(1, len(self.parts) + 1)
        self.shared = [self.table.ids[list(_shared_columns(nodes, self.chain, length))] for length in lengths]

    def all(self, restriction: _Restriction) -> Ints:
        """The selected ones of those that the restriction admits."""
        table, variables = self.table, self.selection.nodes[self.chain.node].variables
        admitted = table.end < restriction.before
        for name, term in restriction.mapping:
            admitted &= table.ids[variables.index(name)] == term
        return self._prefixes(len(self.parts), np.flatnonzero(admitted), restriction)

    def _prefixes(self, length: int, rows: Ints, restriction: _Restriction) -> Ints:
        """The combinations that the SEQs between the first `length` operands select (RS-40), among those that agree in
        all later operands: `E2` is the last of the first `length`, `E1` the part before it."""
        operand, part = self.chain.operands[length - 1], self.parts[length - 1]
        if operand.chain is not None:
            rows = rows[np.isin(part.identity[rows], self.selection.nested(operand.chain, restriction))]
        if length == 1 or not len(rows):
            return rows
        partners: dict[tuple[int, ...], list[Ints]] = {}  # of each candidate, by the values of the shared variables
        shared = self.shared[length - 1]
        for own in _grouped(rows, part.identity):
            found = self._prefixes(length - 1, own, self._further(length, int(own[0]), restriction))
            if len(found):
                partners.setdefault(tuple(shared[:, own[0]].tolist()), []).append(found)
        start, end = self.prefixes[length - 2]
        kept = [np.empty(0, np.int64)]
        for rivals in partners.values():
            candidates = np.array([found[0] for found in rivals])
            best = set(self._best(candidates, part.start, part.end).tolist())
            kept += [self._best(found, start, end) for found in rivals if int(found[0]) in best]
        return np.concatenate(kept)

    def _best(self, rows: Ints, start: Ints, end: Ints) -> Ints:
        """FIRST or LAST by ≺: by ends, then by starts (RS-33), with all ties."""
        edge = np.min if self.selection.state.takes_first else np.max
        rows = rows[end[rows] == edge(end[rows])]
        found: Ints = rows[start[rows] == edge(start[rows])]
        return found

    def _further(self, length: int, row: int, restriction: _Restriction) -> _Restriction:
        """The restriction of what is before an operand, by the solution that fills this one in a row."""
        if all(operand.chain is None for operand in self.chain.operands[: length - 1]):
            return restriction  # nothing reads it
        nodes, operand = self.selection.nodes, self.chain.operands[length - 1]
        columns = nodes[self.chain.node].variables
        mapping = ((name, int(self.table.ids[columns.index(name), row])) for name in nodes[operand.node].variables)
        before = min(restriction.before, int(self.parts[length - 1].start[row]))
        return _Restriction(restriction.mapping | frozenset(mapping), before)


def _grouped(rows: Ints, identity: Ints) -> list[Ints]:
    """The rows by identity."""
    order = rows[np.argsort(identity[rows], kind="stable")]
    ordered = identity[order]
    return np.split(order, np.flatnonzero(ordered[1:] != ordered[:-1]) + 1)
