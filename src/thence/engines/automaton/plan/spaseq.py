"""SPAseQ → program: sequence expressions compiled to automata (Section 6.2), their filters to predicates.

Each arm of the query (its optionals expanded) is a chain of states of its own. A part of the sequence is a state in
which a run waits, and its operand, in disjunctive form, gives one edge for each alternative; a closure has a second
state, in which the run waits for another iteration.
"""

from __future__ import annotations

from thence.algebra.expressions import Variable
from thence.algebra.spaseq import (
    ConstructEvents,
    IterationFunction,
    Occurrence,
    Quantifier,
    SelectColumn,
    Selection,
    SelectRows,
    SequencePart,
    SequenceQuery,
    alternatives,
    arms,
    certain_in,
    locals_of,
    occurrences,
)
from thence.algebra.variables import in_scope
from thence.engines.automaton.image import image
from thence.engines.automaton.operator import AutomatonOperator
from thence.engines.automaton.plan.assembly import AutomatonState, Code, Edge, FeedShape, assemble
from thence.engines.automaton.plan.rules import rewritten
from thence.engines.automaton.plan.tables import join_key, routes_of, routing_key, tables_of
from thence.engines.automaton.program import ANY, NEXT, NOWHERE, START, STRICT, Automaton, Input, SequenceProgram
from thence.interface.dataflow import Dataflow, one_stage
from thence.interface.operator import Feature
from thence.interface.output import Distinct, Events, Output, Rows, TermColumns

_SELECTIONS = {Selection.STRICT: STRICT, Selection.NEXT: NEXT, Selection.ANY: ANY}


def compile_query(query: SequenceQuery, *, optimise: bool = True, timed_out: bool = False) -> Dataflow:
    """A SPAseQ query is one stage."""
    program = plan(query, optimise=optimise, partial=timed_out)
    return one_stage(program, AutomatonOperator(), described_by="thence.engines.automaton.describe:describe")


def plan(query: SequenceQuery, *, optimise: bool = True, partial: bool = False) -> SequenceProgram:
    """The program of a query. Without `optimise`, every filter is left to the machine, no run is found by its key but
    that of PARTITION BY, and every GPM is matched by itself, with all its variables."""
    return _SpaseqPlan(query, rewritten(query, optimise=optimise, partial=partial), optimise, partial).program()


class _SpaseqPlan:
    def __init__(self, written: SequenceQuery, query: SequenceQuery, optimise: bool, partial: bool) -> None:
        self.written = written
        self.query = query
        self.optimise = optimise
        self.gpms = {gpm.name: gpm for gpm in query.gpms}
        self.key, self.one_shard = routing_key(written) if optimise else ((), "the query is not optimised")
        self.tables = tables_of(query, written, optimise=optimise, partial=partial, key=self.key)
        self.sources = self.tables.sources
        self.source_of = {source.gpm: number for number, source in enumerate(self.sources)}
        self.inputs: list[Input] = []
        self.feeds: list[int] = []
        self.negated: list[int] = []
        self.states: list[AutomatonState] = []
        self.edges: list[Edge] = []
        self.guards: list[list[int]] = []  # a negation's edges
        run_variables, others = self._variables()
        self.run_slots = len(run_variables)
        self.slots = {variable: slot for slot, variable in enumerate((*run_variables, *others))}
        self.iterated = _iterated(query)
        self.code = Code(self.slots)

    def program(self) -> SequenceProgram:
        for arm in arms(self.query):
            self._arm(arm)
        return SequenceProgram(
            query=self.written,
            rewritten=self.query,
            streams=self.query.streams,
            tables=self.tables.tables,
            sources=self.sources,
            inputs=tuple(self.inputs),
            feeds=tuple(self.feeds),
            negated=tuple(dict.fromkeys(self.negated)),
            partitions=self.tables.partitions,
            contiguous=(self.written.partition,),
            slots=tuple(self.slots),
            outputs=self._outputs(),
            shard_key=routes_of(self.key, self.one_shard, self.tables.tables, self._read()),
            output=_output(self.written),
            features=frozenset({Feature.BACKGROUND, Feature.TIMED_OUT, Feature.ORDER}),
            iterated=self.iterated,
            predicates=tuple(self.code.predicates),
            constants=tuple(self.code.constants),
            automaton=(automaton := self._automaton()),
            image=image(automaton),
            shown=_shown(self.written),
            late=self.query.late,
        )

    # The matcher's part

    def _variables(self) -> tuple[tuple[Variable, ...], tuple[Variable, ...]]:
        """The variables that a run may bind, and those that only negated parts use."""
        kept: dict[Variable, None] = {}
        all_of_them: dict[Variable, None] = {}
        for part in self.query.sequence:
            for occurrence in occurrences(part.operand):
                found = dict.fromkeys(self.sources[self.source_of[occurrence.gpm]].variables)
                all_of_them |= found
                if part.quantifier is not Quantifier.NOT:
                    kept |= found
        return tuple(kept), tuple(variable for variable in all_of_them if variable not in kept)

    def _read(self) -> list[tuple[int, tuple[Variable, ...]]]:
        """The tables that are read, and what their columns are called there."""
        used = {occurrence.gpm for part in self.query.sequence for occurrence in occurrences(part.operand)}
        by_sources = [(source.table, source.variables) for source in self.sources if source.gpm in used]
        return [*by_sources, *((each.table, each.variables) for each in self.tables.partitions)]

    def _outputs(self) -> tuple[Variable, ...]:
        held = tuple(self.slots)[: self.run_slots]
        return tuple(dict.fromkeys((*held, *(v for late in self.query.late for v in in_scope(late.block)))))

    def _input(self, alternative: tuple[Occurrence, ...]) -> int:
        sources = tuple(self.source_of[occurrence.gpm] for occurrence in alternative)
        variables = dict.fromkeys(v for source in sources for v in self.sources[source].variables)
        known = [(each.sources, each.variables) for each in self.inputs]
        if (sources, tuple(variables)) not in known:
            self.inputs.append(Input(sources, tuple(variables), self._feed(sources)))
            return len(known)
        return known.index((sources, tuple(variables)))

    def _feed(self, sources: tuple[int, ...]) -> int:
        """The feed of a new input: that of another with the same single table, or one of its own."""
        for number, representative in enumerate(self.feeds):
            others = self.inputs[representative].sources
            if len(others) == len(sources) == 1 and self._rows(others[0]) == self._rows(sources[0]):
                return number
        self.feeds.append(len(self.inputs))
        return len(self.feeds) - 1

    def _rows(self, source: int) -> tuple[int, tuple[int, ...]]:
        """The table of a source, and which of its columns partition it: what says all about its rows."""
        variables = self.sources[source].variables
        columns = (variables.index(v) if v in variables else -1 for v in self.query.partition)
        return self.sources[source].table, tuple(columns)

    # The machine's part

    def _arm(self, arm: tuple[SequencePart, ...]) -> None:
        """The states and edges of an arm. A closure has a second state for further iterations, which waits as `;` where
        the closure is alone (SPAseQ, Definition 13) and as `,` in a sequence (Definition 14)."""
        steps = [part for part in arm if part.quantifier is not Quantifier.NOT]
        gaps = _gaps(arm)
        entries = [START] + [self._state(part.selection) for part in steps[1:]]
        bound: frozenset[Variable] = frozenset()  # what every run that waits for the step has bound
        possible: frozenset[Variable] = frozenset()  # and what some may have
        for number, part in enumerate(steps):
            last = number == len(steps) - 1
            shape = Edge(
                input=-1,
                state=entries[number],
                target=NOWHERE if last else entries[number + 1],
                accept=last,
                ends=[self._guard(negation) for negation in gaps[-1]] if last else [],
            )
            guards = [self._guard(negation) for negation in gaps[number]]
            following = bound | certain_in(self.query, part.operand)
            if part.quantifier is Quantifier.PLUS:
                alone = len(arm) == 1
                shape.loop = self._state(Selection.NEXT if alone else Selection.STRICT)
            shape.prunes = [self.code.compile_predicate(condition) for condition in part.demands]
            self._edges(part, shape, guards, bound, possible, frozenset())
            possible |= self._possible(part)
            if part.quantifier is Quantifier.PLUS:
                again = Edge(-1, shape.loop, shape.target, shape.loop, shape.accept, ends=shape.ends)
                anew = locals_of(self.query, occurrences(part.operand)[0].place)
                self._edges(part, again, [], following, possible, anew)
            bound = following

    def _state(self, selection: Selection | None) -> int:
        assert selection is not None
        self.states.append(AutomatonState(_SELECTIONS[selection]))
        return len(self.states) - 1

    def _possible(self, part: SequencePart) -> frozenset[Variable]:
        """The variables that some match of a part binds."""
        sources = [self.sources[self.source_of[found.gpm]] for found in occurrences(part.operand)]
        return frozenset(variable for source in sources for variable in source.variables)

    def _edges(
        self,
        part: SequencePart,
        shape: Edge,
        guards: list[int],
        bound: frozenset[Variable],
        possible: frozenset[Variable],
        anew: frozenset[Variable],
    ) -> None:
        """The edges of one state: one for each alternative of the operand. Every run that waits there has bound
        `bound`, some may have bound `possible`; the edge binds `anew` as if unbound."""
        listed = alternatives(part.operand)
        key: list[Variable] = []
        if shape.state != START:
            # a partition at least: an event passes the runs of its own key, which must not be others'
            found = join_key(self.query, part.operand, bound, anew) if self.optimise else self.query.partition
            key = sorted(found, key=lambda variable: self.slots[variable])
            self.states[shape.state].key = [self.slots[variable] for variable in key]
        for alternative in listed:
            number = self._input(alternative)
            columns = {variable: column for column, variable in enumerate(self.inputs[number].variables)}
            edge = Edge(number, shape.state, shape.target, shape.loop, shape.accept, guards=guards, ends=shape.ends)
            edge.feed = self.inputs[number].feed
            self._bindings(edge, columns, possible - anew, anew, self._tests(alternative))
            edge.key = [columns[variable] for variable in key]
            edge.prunes = shape.prunes
            edge.places = [occurrence.place for occurrence in alternative]
            if part.quantifier is Quantifier.PLUS:
                edge.iterated = [columns.get(variable, -1) for variable in self.iterated]
            self.edges.append(edge)

    def _bindings(
        self,
        edge: Edge,
        columns: dict[Variable, int],
        equal: frozenset[Variable],
        anew: frozenset[Variable],
        tests: list[int],
    ) -> None:
        edge.equal = [(self.slots[v], column) for v, column in columns.items() if v in equal]
        edge.bind = [(self.slots[v], column, v in anew) for v, column in columns.items()]
        edge.bind += [(self.slots[v], -1, True) for v in anew if v in self.slots and v not in columns]
        edge.tests = tests
        if self.optimise:
            forgotten = anew - columns.keys()
            edge.quick = [quick for test in tests if (quick := self._quick(test, columns, forgotten)) is not None]

    def _quick(
        self, test: int, columns: dict[Variable, int], forgotten: frozenset[Variable]
    ) -> tuple[int, int, int, int, int] | None:
        """A test that does nothing but compare two variables, with where their values are found before they join. What
        a new iteration forgets has its old value there still."""
        compared = self.code.comparison(test)
        if compared is None:
            return None
        comparison, left, right = compared
        if left in forgotten or right in forgotten:
            return None
        places = [(self.slots[variable], columns.get(variable, -1)) for variable in (left, right)]
        return (comparison, *places[0], *places[1])

    def _tests(self, alternative: tuple[Occurrence, ...]) -> list[int]:
        gpms = [self.gpms[occurrence.gpm] for occurrence in alternative]
        return [self.code.compile_predicate(test) for gpm in gpms for test in gpm.filters]

    def _guard(self, negation: SequencePart) -> int:
        """A negation: for each alternative of its operand an edge that leads nowhere, and that no run may take."""
        numbers = []
        for alternative in alternatives(negation.operand):
            number = self._input(alternative)
            self.negated.append(self.inputs[number].feed)
            edge = Edge(number, NOWHERE - 1, feed=self.inputs[number].feed)
            columns = {variable: column for column, variable in enumerate(self.inputs[number].variables)}
            self._bindings(edge, columns, frozenset(columns), frozenset(), self._tests(alternative))
            numbers.append(len(self.edges))
            self.edges.append(edge)
        self.guards.append(numbers)
        return len(self.guards) - 1

    def _automaton(self) -> Automaton:
        window = self.query.window
        return assemble(
            self.states,
            self.edges,
            self.guards,
            [FeedShape(len(self.inputs[number].variables), len(self.inputs[number].sources)) for number in self.feeds],
            self.code,
            window=-1 if window is None else window.span.length,
            tumbling=window is not None and window.tumbling,
            origin=0 if window is None else window.origin,
            slots=self.run_slots,
            frame=max(len(self.slots), 1),
            iterated=len(self.iterated),
        )


def _output(query: SequenceQuery) -> Output:
    form = query.form
    if isinstance(form, ConstructEvents):
        return Events(form.template)
    names = tuple(column.variable.name for column in form.columns)
    lists = frozenset(column.variable.name for column in form.columns if _is_list(column))
    return Rows(names, TermColumns(names, lists), Distinct.FOREVER if form.distinct else None)


def _is_list(column: SelectColumn) -> bool:
    return any(asked.function is IterationFunction.COLLECT for _, asked in column.aggregates)


def _iterated(query: SequenceQuery) -> tuple[Variable, ...]:
    """The closures' locals that an aggregate reads."""
    if not isinstance(query.form, SelectRows):
        return ()
    asked = (aggregate.of for column in query.form.columns for _, aggregate in column.aggregates)
    return tuple(dict.fromkeys(of for of in asked if isinstance(of, Variable)))


def _shown(query: SequenceQuery) -> tuple[Variable, ...] | None:
    """The columns of SELECT, if all of them are plain variables; else None."""
    form = query.form
    if not isinstance(form, SelectRows) or form.distinct or any(c.expression is not None for c in form.columns):
        return None
    return tuple(column.variable for column in form.columns)


def _gaps(arm: tuple[SequencePart, ...]) -> list[list[SequencePart]]:
    """The negations before each step, and at the end those after the last."""
    gaps: list[list[SequencePart]] = [[]]
    for part in arm:
        if part.quantifier is Quantifier.NOT:
            gaps[-1].append(part)
        else:
            gaps.append([])
    return gaps
