"""SPAseQ → program: sequence expressions compiled to automata (Section 6.2), their filters to predicates.

Each arm of the query (its optionals expanded) is a chain of states of its own. A part of the sequence is a state in
which a run waits, and its operand, in disjunctive form, gives one edge for each alternative; a closure has a second
state, in which the run waits for another iteration.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import product

import numpy as np

from thence.algebra.certain import always_bound
from thence.algebra.closures import arms, locals_of, occurrences, variables_of
from thence.algebra.expressions import Expression, Variable
from thence.algebra.patterns import (
    Bgp,
    Extend,
    Filter,
    Graph,
    Join,
    LeftJoin,
    Minus,
    Pattern,
    SubSelect,
    Union,
    Values,
)
from thence.algebra.sequences import (
    Conjunction,
    Disjunction,
    Gpm,
    Occurrence,
    Operand,
    Part,
    Quantifier,
    Selection,
    SelectRows,
    SequenceQuery,
)
from thence.algebra.variables import mentioned
from thence.plan.predicates import Code
from thence.program.automaton import ANY, EVENTS, NEXT, NOWHERE, START, STRICT, Automaton, image
from thence.program.sequence import Input, SequenceProgram, Source

_SELECTIONS = {Selection.STRICT: STRICT, Selection.NEXT: NEXT, Selection.ANY: ANY}


def plan(query: SequenceQuery, *, optimise: bool = True) -> SequenceProgram:
    """The program of a query. Without `optimise`, every filter is left to the machine, and no run is found by its
    key."""
    return _Plan(query, optimise).program()


@dataclass(slots=True)
class _Edge:
    input: int
    state: int
    target: int = NOWHERE
    loop: int = NOWHERE
    accept: bool = False
    equal: list[tuple[int, int]] = field(default_factory=list)  # slot, column
    bind: list[tuple[int, int, bool]] = field(default_factory=list)  # slot, column (-1: clear), anew
    tests: list[int] = field(default_factory=list)
    key: list[int] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    guards: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    iterated: list[int] = field(default_factory=list)


@dataclass(slots=True)
class _State:
    selection: int
    key: list[int] = field(default_factory=list)  # slots


def alternatives(operand: Operand) -> list[tuple[Occurrence, ...]]:
    """An operand as a disjunction of conjunctions."""
    match operand:
        case Occurrence():
            return [(operand,)]
        case Disjunction():
            return alternatives(operand.left) + alternatives(operand.right)
        case Conjunction():
            pairs = product(alternatives(operand.left), alternatives(operand.right))
            return [left + right for left, right in pairs]


class _Plan:
    def __init__(self, query: SequenceQuery, optimise: bool) -> None:
        self.query = query
        self.optimise = optimise
        self.gpms = {gpm.name: gpm for gpm in query.gpms}
        self.sources: list[Source] = []
        self.source_of: dict[str, int] = {}
        self.pushed: dict[str, frozenset[Expression]] = {}
        self.inputs: list[Input] = []
        self.negated: list[int] = []
        self.states: list[_State] = []
        self.edges: list[_Edge] = []
        self.guards: list[list[int]] = []  # a negation's edges
        run_variables, others = _variables(query)
        self.run_slots = len(run_variables)
        self.slots = {variable: slot for slot, variable in enumerate((*run_variables, *others))}
        self.iterated = _iterated(query)
        self.code = Code(self.slots)

    def program(self) -> SequenceProgram:
        for gpm in self.query.gpms:
            self._add_source(gpm)
        for arm in arms(self.query):
            self._arm(arm)
        return SequenceProgram(
            query=self.query,
            sources=tuple(self.sources),
            inputs=tuple(self.inputs),
            negated=tuple(dict.fromkeys(self.negated)),
            partitions=self._partitions(),
            slots=tuple(self.slots),
            iterated=self.iterated,
            predicates=tuple(self.code.predicates),
            constants=tuple(self.code.constants),
            automaton=(automaton := self._automaton()),
            image=image(automaton),
        )

    # The matcher's part

    def _add_source(self, gpm: Gpm) -> None:
        """A GPM with its GRAPH blocks, and those of its filters that no other event can change."""
        pattern: Pattern = gpm.pattern
        for block in gpm.graphs:
            pattern = Join(pattern, block)
        certain = always_bound(pattern)
        alone = [test for test in gpm.filters if self.optimise and mentioned(test) <= certain]
        for test in alone:
            pattern = Filter(test, pattern)
        self.pushed[gpm.name] = frozenset(alone)
        self.source_of[gpm.name] = len(self.sources)
        self.sources.append(Source(gpm.name, gpm.stream, pattern, tuple(variables_of(gpm))))

    def _input(self, alternative: tuple[Occurrence, ...]) -> int:
        sources = tuple(self.source_of[occurrence.gpm] for occurrence in alternative)
        variables = dict.fromkeys(v for source in sources for v in self.sources[source].variables)
        found = Input(sources, tuple(variables))
        if found not in self.inputs:
            self.inputs.append(found)
        return self.inputs.index(found)

    def _certain(self, alternative: tuple[Occurrence, ...]) -> frozenset[Variable]:
        """What every row of an alternative binds."""
        bound = (always_bound(self.sources[self.source_of[occurrence.gpm]].pattern) for occurrence in alternative)
        return frozenset().union(*bound)

    def _partitions(self) -> tuple[Source, ...]:
        wanted = frozenset(self.query.partition)
        if not wanted:
            return ()
        stripped = ((gpm, without_filters(gpm.pattern)) for gpm in self.query.gpms)
        return tuple(
            Source(gpm.name, gpm.stream, pattern, self.query.partition)
            for gpm, pattern in stripped
            if wanted <= frozenset(variables_of(gpm))
        )

    # The machine's part

    def _arm(self, arm: tuple[Part, ...]) -> None:
        steps = [part for part in arm if part.quantifier is not Quantifier.NOT]
        gaps = _gaps(arm)
        entries = [START] + [self._state(part.selection) for part in steps[1:]]
        bound: frozenset[Variable] = frozenset()  # what every run that waits for the step has bound
        for number, part in enumerate(steps):
            last = number == len(steps) - 1
            shape = _Edge(
                input=-1,
                state=entries[number],
                target=NOWHERE if last else entries[number + 1],
                accept=last,
                ends=[self._guard(negation) for negation in gaps[-1]] if last else [],
            )
            guards = [self._guard(negation) for negation in gaps[number]]
            following = bound | frozenset.intersection(*(self._certain(a) for a in alternatives(part.operand)))
            if part.quantifier is Quantifier.PLUS:
                alone = len(arm) == 1
                shape.loop = self._state(Selection.NEXT if alone else Selection.STRICT)
            self._edges(part, shape, guards, bound, frozenset())
            if part.quantifier is Quantifier.PLUS:
                again = _Edge(-1, shape.loop, shape.target, shape.loop, shape.accept, ends=shape.ends)
                self._edges(part, again, [], following, locals_of(self.query, occurrences(part.operand)[0].place))
            bound = following

    def _state(self, selection: Selection | None) -> int:
        assert selection is not None
        self.states.append(_State(_SELECTIONS[selection]))
        return len(self.states) - 1

    def _edges(
        self, part: Part, shape: _Edge, guards: list[int], bound: frozenset[Variable], anew: frozenset[Variable]
    ) -> None:
        """The edges of one state: one for each alternative of the operand."""
        listed = alternatives(part.operand)
        key: list[Variable] = []
        if shape.state != START and self.optimise:
            certain = frozenset.intersection(*(self._certain(alternative) for alternative in listed))
            key = sorted((bound & certain) - anew, key=lambda variable: self.slots[variable])
            self.states[shape.state].key = [self.slots[variable] for variable in key]
        for alternative in listed:
            number = self._input(alternative)
            columns = {variable: column for column, variable in enumerate(self.inputs[number].variables)}
            edge = _Edge(number, shape.state, shape.target, shape.loop, shape.accept, guards=guards, ends=shape.ends)
            self._bindings(edge, columns, anew, self._tests(alternative))
            edge.key = [columns[variable] for variable in key]
            edge.places = [occurrence.place for occurrence in alternative]
            if part.quantifier is Quantifier.PLUS:
                edge.iterated = [columns.get(variable, -1) for variable in self.iterated]
            self.edges.append(edge)

    def _bindings(self, edge: _Edge, columns: dict[Variable, int], anew: frozenset[Variable], tests: list[int]) -> None:
        edge.equal = [(self.slots[v], column) for v, column in columns.items() if v not in anew]
        edge.bind = [(self.slots[v], column, v in anew) for v, column in columns.items()]
        edge.bind += [(self.slots[v], -1, True) for v in anew if v not in columns]
        edge.tests = tests

    def _tests(self, alternative: tuple[Occurrence, ...]) -> list[int]:
        gpms = [self.gpms[occurrence.gpm] for occurrence in alternative]
        left = [test for gpm in gpms for test in gpm.filters if test not in self.pushed[gpm.name]]
        return [self.code.compile_predicate(test) for test in left]

    def _guard(self, negation: Part) -> int:
        """A negation: for each alternative of its operand an edge that leads nowhere, and that no run may take."""
        numbers = []
        for alternative in alternatives(negation.operand):
            number = self._input(alternative)
            self.negated.append(number)
            edge = _Edge(number, NOWHERE - 1)
            columns = {variable: column for column, variable in enumerate(self.inputs[number].variables)}
            self._bindings(edge, columns, frozenset(), self._tests(alternative))
            numbers.append(len(self.edges))
            self.edges.append(edge)
        self.guards.append(numbers)
        return len(self.guards) - 1

    def _automaton(self) -> Automaton:
        order = sorted(range(len(self.edges)), key=lambda e: (self.edges[e].state < START, self.edges[e].input))
        edges = [self.edges[e] for e in order]
        moved = {old: new for new, old in enumerate(order)}
        walked = [edge for edge in edges if edge.state >= START]
        window = self.query.window
        equal, bind = _flat([e.equal for e in edges]), _flat([e.bind for e in edges])
        guard_edges = _flat([[moved[edge] for edge in guard] for guard in self.guards])
        keys = _flat([state.key for state in self.states])
        tests, key_columns = _flat([e.tests for e in edges]), _flat([e.key for e in edges])
        places = _flat([e.places for e in edges])
        guards, ends = _flat([e.guards for e in edges]), _flat([e.ends for e in edges])
        iterated_from, iterated = _iterated_columns(edges)
        return Automaton(
            selection=np.array([state.selection for state in self.states], np.uint8),
            window=-1 if window is None else window.span.length,
            tumbling=window is not None and window.tumbling,
            origin=0 if window is None else window.origin,
            slots=self.run_slots,
            frame=max(len(self.slots), 1),
            iterated=len(self.iterated),
            input_from=_starts([sum(e.input == i for e in walked) for i in range(len(self.inputs))]),
            input_columns=_int32([len(i.variables) for i in self.inputs]),
            input_events=_int32([len(i.sources) for i in self.inputs]),
            edge_state=_int32([e.state for e in edges]),
            edge_target=_int32([e.target for e in edges]),
            edge_loop=_int32([e.loop for e in edges]),
            edge_accept=np.array([e.accept for e in edges], np.bool_),
            edge_iterated=iterated_from,
            equal_from=equal[0],
            equal_slot=_int32([slot for slot, _ in equal[1]]),
            equal_column=_int32([column for _, column in equal[1]]),
            bind_from=bind[0],
            bind_slot=_int32([slot for slot, _, _ in bind[1]]),
            bind_column=_int32([column for _, column, _ in bind[1]]),
            bind_anew=np.array([anew for _, _, anew in bind[1]], np.bool_),
            test_from=tests[0],
            test_predicate=_int32(tests[1]),
            key_from=key_columns[0],
            key_column=_int32(key_columns[1]),
            place_from=places[0],
            place=_int32(places[1]),
            iterated_column=iterated,
            state_key_from=keys[0],
            state_key_slot=_int32(keys[1]),
            guard_from=guards[0],
            guard=_int32(guards[1]),
            end_from=ends[0],
            end=_int32(ends[1]),
            guard_edge_from=guard_edges[0],
            guard_edge=_int32(guard_edges[1]),
            edge_input=_int32([e.input for e in edges]),
            row_values=EVENTS + max(len(i.sources) for i in self.inputs),
            code_from=_int32(self.code.starts),
            operation=_int32(self.code.operations),
            argument=_int32(self.code.arguments),
            constant_tags=np.array([tag for tag, _ in self.code.values], np.uint16),
            constant_bits=np.array([bits for _, bits in self.code.values], np.int64),
        )


def _variables(query: SequenceQuery) -> tuple[tuple[Variable, ...], tuple[Variable, ...]]:
    """The variables that a run may bind, and those that only negated parts use."""
    kept: dict[Variable, None] = {}
    all_of_them: dict[Variable, None] = {}
    for part in query.sequence:
        for alternative in alternatives(part.operand):
            for occurrence in alternative:
                found = dict.fromkeys(variables_of(query.gpm(occurrence.gpm)))
                all_of_them |= found
                if part.quantifier is not Quantifier.NOT:
                    kept |= found
    return tuple(kept), tuple(variable for variable in all_of_them if variable not in kept)


def _iterated(query: SequenceQuery) -> tuple[Variable, ...]:
    """The closures' locals that an aggregate asks for."""
    if not isinstance(query.form, SelectRows):
        return ()
    asked = (aggregate.of for column in query.form.columns for _, aggregate in column.aggregates)
    return tuple(dict.fromkeys(of for of in asked if isinstance(of, Variable)))


def _gaps(arm: tuple[Part, ...]) -> list[list[Part]]:
    """The negations before each step, and at the end those after the last."""
    gaps: list[list[Part]] = [[]]
    for part in arm:
        if part.quantifier is Quantifier.NOT:
            gaps[-1].append(part)
        else:
            gaps.append([])
    return gaps


def without_filters(pattern: Pattern) -> Pattern:
    """A pattern without its FILTERs, as partitions are judged by it."""
    match pattern:
        case Filter():
            return without_filters(pattern.pattern)
        case LeftJoin():
            return LeftJoin(without_filters(pattern.left), without_filters(pattern.right))
        case Join() | Union() | Minus():
            return replace(pattern, left=without_filters(pattern.left), right=without_filters(pattern.right))
        case Extend() | Graph():
            return replace(pattern, pattern=without_filters(pattern.pattern))
        case Bgp() | Values() | SubSelect():
            return pattern


def _flat(lists: list[list]) -> tuple[np.ndarray, list]:  # type: ignore[type-arg]
    return _starts([len(each) for each in lists]), [item for each in lists for item in each]


def _starts(lengths: list[int]) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)


def _int32(numbers: list[int]) -> np.ndarray:
    return np.array(numbers, np.int32)


def _iterated_columns(edges: list[_Edge]) -> tuple[np.ndarray, np.ndarray]:
    starts: list[int] = []
    columns: list[int] = []
    for edge in edges:
        starts.append(len(columns) if edge.iterated else -1)
        columns += edge.iterated
    return _int32(starts), _int32(columns)
