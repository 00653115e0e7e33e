"""States, edges and predicates as the automaton's arrays; filters as the code of its stack machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from thence.algebra.expressions import (
    And,
    Arithmetic,
    Bound,
    Call,
    Compare,
    Comparison,
    Expression,
    In,
    Negate,
    Not,
    Operation,
    Or,
    Variable,
)
from thence.columns.dictionary import Terms
from thence.columns.value_columns import value_of
from thence.engines.automaton.image import EVENTS
from thence.engines.automaton.program import NOWHERE, PLAIN, START, Automaton
from thence.extraction import opcodes
from thence.extraction.opcodes import GREATER, GREATER_OR_EQUAL, LESS, LESS_OR_EQUAL
from thence.match import tagged_arithmetic
from thence.rdf.terms import IRI, Literal, Term

# Filters as the code of the stack machine.


_COMPARISONS = {
    Comparison.EQUAL: opcodes.EQUAL,
    Comparison.NOT_EQUAL: opcodes.NOT_EQUAL,
    Comparison.SAME: opcodes.SAME,
    Comparison.DIFFERENT: opcodes.DIFFERENT,
    Comparison.LESS: opcodes.LESS,
    Comparison.GREATER: opcodes.GREATER,
    Comparison.LESS_OR_EQUAL: opcodes.LESS_OR_EQUAL,
    Comparison.GREATER_OR_EQUAL: opcodes.GREATER_OR_EQUAL,
}
_OPERATIONS = {
    Operation.ADD: tagged_arithmetic.ADD,
    Operation.SUBTRACT: tagged_arithmetic.SUBTRACT,
    Operation.MULTIPLY: tagged_arithmetic.MULTIPLY,
    Operation.DIVIDE: tagged_arithmetic.DIVIDE,
    Operation.QUOTIENT: tagged_arithmetic.QUOTIENT,
    Operation.REMAINDER: tagged_arithmetic.REMAINDER,
}

_FUNCTIONS = {
    "ABS": tagged_arithmetic.ABSOLUTE,
    "CEIL": tagged_arithmetic.CEILING,
    "FLOOR": tagged_arithmetic.FLOOR,
    "ROUND": tagged_arithmetic.ROUND,
}


@dataclass(slots=True)
class Code:
    """Predicates and constants as they are written; `compile_predicate` gives a predicate's number."""

    slots: dict[Variable, int]
    predicates: list[Expression] = field(default_factory=list)
    constants: list[Term] = field(default_factory=list)
    values: list[tuple[int, int]] = field(default_factory=list)
    terms: Terms = field(default_factory=Terms)
    starts: list[int] = field(default_factory=lambda: [0])
    operations: list[int] = field(default_factory=list)
    arguments: list[int] = field(default_factory=list)
    known: dict[tuple[Expression, object], int] = field(default_factory=dict)

    def compile_predicate(self, condition: Expression, about: object = None) -> int:
        """The number of a predicate; those `about` different things are different ones."""
        if (condition, about) in self.known:
            return self.known[condition, about]
        written = _Writer(self)
        if not written.write(condition) or written.deepest > opcodes.DEPTH:
            written.code = [(opcodes.ASK, 0)]
        self.operations += [operation for operation, _ in written.code]
        self.arguments += [argument for _, argument in written.code]
        self.starts.append(len(self.operations))
        self.predicates.append(condition)
        self.known[condition, about] = len(self.predicates) - 1
        return len(self.predicates) - 1

    def comparison(self, predicate: int) -> tuple[int, Variable, Variable] | None:
        """The comparison and its two variables, if a predicate is nothing more."""
        match self.predicates[predicate]:
            case Compare(comparison, Variable() as left, Variable() as right) if {left, right} <= self.slots.keys():
                return _COMPARISONS[comparison], left, right
            case _:
                return None

    def constant(self, term: Term) -> int:
        if term not in self.constants:
            self.constants.append(term)
            self.terms.add(term)
            self.values.append(value_of(term, self.terms))
        return self.constants.index(term)


def asks(code: Code, predicate: int) -> bool:
    """Whether a predicate is beyond the stack machine."""
    return code.operations[code.starts[predicate]] == opcodes.ASK


@dataclass(slots=True)
class _Writer:
    """Writes one predicate, in postfix order. `write` is False if the machine has no code for it."""

    owner: Code
    code: list[tuple[int, int]] = field(default_factory=list)
    depth: int = 0
    deepest: int = 0

    def write(self, expression: Expression) -> bool:
        match expression:
            case Variable():
                if expression not in self.owner.slots:
                    return False
                return self._push(opcodes.SLOT, self.owner.slots[expression])
            case IRI() | Literal():
                return self._push(opcodes.CONSTANT, self.owner.constant(expression))
            case Bound():
                if expression.variable not in self.owner.slots:
                    return False
                return self._push(opcodes.BOUND, self.owner.slots[expression.variable])
            case Compare():
                return self._binary(
                    expression.left, expression.right, opcodes.COMPARE, _COMPARISONS[expression.comparison]
                )
            case Arithmetic():
                operation = _OPERATIONS[expression.operation]
                return self._binary(expression.left, expression.right, opcodes.ARITHMETIC, operation)
            case And():
                return self._binary(expression.left, expression.right, opcodes.AND, 0)
            case Or():
                return self._binary(expression.left, expression.right, opcodes.OR, 0)
            case Negate():
                return self.write(expression.operand) and self._add(opcodes.UNARY, tagged_arithmetic.NEGATE)
            case Call(function=function, arguments=(operand,)) if function in _FUNCTIONS:
                return self.write(operand) and self._add(opcodes.UNARY, _FUNCTIONS[function])
            case Not():
                return self.write(expression.operand) and self._add(opcodes.NOT, 0)
            case In() if expression.choices:
                tests = [Compare(Comparison.EQUAL, expression.operand, choice) for choice in expression.choices]
                joined: Expression = tests[0]
                for following in tests[1:]:
                    joined = Or(joined, following)
                return self.write(joined)
            case _:
                return False

    def _binary(self, left: Expression, right: Expression, operation: int, argument: int) -> bool:
        done = self.write(left) and self.write(right) and self._add(operation, argument)
        self.depth -= 1
        return done

    def _push(self, operation: int, argument: int) -> bool:
        self.depth += 1
        self.deepest = max(self.deepest, self.depth)
        return self._add(operation, argument)

    def _add(self, operation: int, argument: int) -> bool:
        self.code.append((operation, argument))
        return True


# The variable by which the runs of a state can be skipped: one that every edge compares with the row.
#
# Where each edge asks, say, that `?p1` of the run be greater than a column of the row, the greatest `?p1` of some runs
# tells whether any of them can join.

_TURNED = {
    LESS: GREATER,
    GREATER: LESS,
    LESS_OR_EQUAL: GREATER_OR_EQUAL,
    GREATER_OR_EQUAL: LESS_OR_EQUAL,
}

SlotComparison = tuple[int, int, int, int, int]
"""Comparison; slot and column of its left side, of its right side; -1 where the row has no such column."""


@dataclass(frozen=True, slots=True)
class RunOrder:
    states: list[tuple[int, int]]  # slot or -1; whether greater is easier
    edges: list[tuple[int, int]]  # comparison; column or -1


def order_of(edge_states: Sequence[int], quick: Sequence[Sequence[SlotComparison]], states: int) -> RunOrder:
    order = RunOrder([(-1, 0)] * states, [(-1, -1)] * len(edge_states))
    for state in range(states):
        edges = [edge for edge, of in enumerate(edge_states) if of == state]
        choices = [_comparisons(quick[edge]) for edge in edges]
        common = [key for key in choices[0] if all(key in others for others in choices)] if choices else []
        if common:
            slot, greatest = common[0]
            order.states[state] = (slot, int(greatest))
            for edge, found in zip(edges, choices, strict=True):
                order.edges[edge] = found[common[0]]
    return order


def _comparisons(quick: Sequence[SlotComparison]) -> dict[tuple[int, bool], tuple[int, int]]:
    """The comparison of a run's slot with a column of the row, by slot and direction."""
    found: dict[tuple[int, bool], tuple[int, int]] = {}
    for comparison, left, left_column, right, right_column in quick:
        if comparison not in _TURNED or (left_column < 0) == (right_column < 0):
            continue
        slot, column, turned = (left, right_column, comparison)
        if left_column >= 0:
            slot, column, turned = (right, left_column, _TURNED[comparison])
        found.setdefault((slot, turned in (GREATER, GREATER_OR_EQUAL)), (turned, column))
    return found


@dataclass(slots=True)
class Edge:
    input: int
    state: int
    target: int = NOWHERE
    loop: int = NOWHERE
    accept: bool = False
    feed: int = -1
    equal: list[tuple[int, int]] = field(default_factory=list)  # slot, column
    bind: list[tuple[int, int, int]] = field(default_factory=list)  # slot, column or -1, how
    late: list[tuple[int, int]] | None = None  # slot of the frame, column
    tests: list[int] = field(default_factory=list)
    quick: list[tuple[int, int, int, int, int]] = field(default_factory=list)
    prunes: list[int] = field(default_factory=list)
    key: list[int] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    guards: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    iterated: list[int] = field(default_factory=list)
    role: int = PLAIN
    then: int = 0
    fits: int = -1
    cut: bool = False
    cuts: bool = False
    stops: bool = False
    absorbs: bool = False


@dataclass(slots=True)
class AutomatonState:
    selection: int
    key: list[int] = field(default_factory=list)  # slots
    previous: int = 0
    accepts: int = 0


class FeedShape(NamedTuple):
    """The number of columns of a feed's rows, and of events."""

    columns: int
    events: int


def assemble(
    states: Sequence[AutomatonState],
    drawn: Sequence[Edge],
    guards: Sequence[Sequence[int]],
    feeds: Sequence[FeedShape],
    code: Code,
    *,
    window: int,
    slots: int,
    frame: int,
    iterated: int,
    tumbling: bool = False,
    origin: int = 0,
    fits: int = -1,
    previous: int = 1,
    merges: bool = False,
    grouped: int = 0,
) -> Automaton:
    """The automaton. Edges are put in the order of their feeds, those of guards last; among those of a feed the order
    stays."""
    order = sorted(range(len(drawn)), key=lambda e: (drawn[e].state < START, drawn[e].feed))
    edges = [drawn[e] for e in order]
    moved = {old: new for new, old in enumerate(order)}
    walked = [edge for edge in edges if edge.state >= START]
    equal, bind = _flat([e.equal for e in edges]), _flat([e.bind for e in edges])
    late = _flat([e.late or [] for e in edges])
    guard_edges = _flat([[moved[edge] for edge in guard] for guard in guards])
    keys = _flat([state.key for state in states])
    tests, key_columns = _flat([e.tests for e in edges]), _flat([e.key for e in edges])
    places = _flat([e.places for e in edges])
    guarded, ends = _flat([e.guards for e in edges]), _flat([e.ends for e in edges])
    repeated, quick = _flat([e.iterated for e in edges]), _flat([e.quick for e in edges])
    prunes = _flat([e.prunes for e in edges])
    # a run in a closure uses the words of an order otherwise
    quick_plain = [edge.quick if edge.role == PLAIN and not edge.cut and not edge.cuts else [] for edge in edges]
    ordered = order_of([edge.state for edge in edges], quick_plain, len(states))
    return Automaton(
        selection=np.array([state.selection for state in states], np.uint8),
        window=window,
        tumbling=tumbling,
        origin=origin,
        slots=slots,
        frame=frame,
        iterated=iterated,
        fits=fits,
        merges=merges,
        grouped=grouped,
        previous=previous,
        feed_from=_starts([sum(e.feed == f for e in walked) for f in range(len(feeds))]),
        feed_columns=_int32([feed.columns for feed in feeds]),
        feed_events=_int32([feed.events for feed in feeds]),
        edge_state=_int32([e.state for e in edges]),
        edge_target=_int32([e.target for e in edges]),
        edge_loop=_int32([e.loop for e in edges]),
        edge_accept=np.array([e.accept for e in edges], np.bool_),
        edge_input=_int32([e.input for e in edges]),
        edge_feed=_int32([e.feed for e in edges]),
        edge_role=_int32([e.role for e in edges]),
        edge_then=_int32([e.then for e in edges]),
        edge_fits=_int32([e.fits for e in edges]),
        edge_cut=np.array([e.cut for e in edges], np.bool_),
        edge_cuts=np.array([e.cuts for e in edges], np.bool_),
        edge_absorbs=np.array([e.absorbs for e in edges], np.bool_),
        edge_stops=np.array([e.stops for e in edges], np.bool_),
        equal_from=equal[0],
        equal_slot=_int32([slot for slot, _ in equal[1]]),
        equal_column=_int32([column for _, column in equal[1]]),
        bind_from=bind[0],
        bind_slot=_int32([slot for slot, _, _ in bind[1]]),
        bind_column=_int32([column for _, column, _ in bind[1]]),
        bind_how=_int32([how for _, _, how in bind[1]]),
        edge_late=np.array([e.late is not None for e in edges], np.bool_),
        late_from=late[0],
        late_slot=_int32([slot for slot, _ in late[1]]),
        late_column=_int32([column for _, column in late[1]]),
        test_from=tests[0],
        test_predicate=_int32(tests[1]),
        quick_from=quick[0],
        quick=np.array(quick[1], np.int32).reshape(-1, 5),
        prune_from=prunes[0],
        prune_predicate=_int32(prunes[1]),
        key_from=key_columns[0],
        key_column=_int32(key_columns[1]),
        place_from=places[0],
        place=_int32(places[1]),
        iterated_from=repeated[0],
        iterated_column=_int32(repeated[1]),
        state_key_from=keys[0],
        state_key_slot=_int32(keys[1]),
        state_order=np.array(ordered.states, np.int32).reshape(-1, 2),
        state_previous=_int32([state.previous for state in states]),
        state_accepts=_int32([state.accepts for state in states]),
        edge_order=np.array(ordered.edges, np.int32).reshape(-1, 2),
        guard_from=guarded[0],
        guard=_int32(guarded[1]),
        end_from=ends[0],
        end=_int32(ends[1]),
        guard_edge_from=guard_edges[0],
        guard_edge=_int32(guard_edges[1]),
        row_values=EVENTS + max(feed.events for feed in feeds),
        code_from=_int32(code.starts),
        operation=_int32(code.operations),
        argument=_int32(code.arguments),
        constant_tags=np.array([tag for tag, _ in code.values], np.uint16),
        constant_bits=np.array([bits for _, bits in code.values], np.int64),
    )


def _flat(lists: list[list]) -> tuple[np.ndarray, list]:  # type: ignore[type-arg]
    return _starts([len(each) for each in lists]), [item for each in lists for item in each]


def _starts(lengths: list[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)


def _int32(numbers: list[int]) -> np.ndarray:
    return np.array(numbers, np.int32)
