"""SASE+ → program: the automaton of Section 3 on the kernel's machine.

A run waits for a component, or is in a closure that goes on. A *take* edge stays in the closure; without an end
condition, another edge begins the component after it from there, which is the paper's *proceed*. What an event is asked
alone is a bit of its row (`fits`); what is asked of it together with the run's events is a test of the edge, over slots
that the run keeps up to date; and what is asked of a whole closure (an end condition) is tested once the event is in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from thence.algebra.components import (
    Attribute,
    Component,
    ComponentQuery,
    Composite,
    Index,
    Item,
    Length,
    Name,
    Range,
    Reference,
    Return,
    Sequence,
    Strategy,
    Summarised,
    Summary,
    Totals,
)
from thence.algebra.expressions import Arithmetic, Expression, Operation, Variable
from thence.algebra.variables import mentioned
from thence.algebra.walk import replaced
from thence.errors import LimitError
from thence.plan.assembly import Edge, Feed, State, assembled
from thence.plan.predicates import Code
from thence.program.automaton import (
    ANEW,
    ANY,
    AT_STOP,
    AT_WINDOWS_END,
    COUNT,
    CUT_OFF,
    EARLIEST,
    GREATEST,
    KEEP,
    LATEST,
    LEAST,
    NEXT,
    OVER,
    PROCEED,
    START,
    STRICT,
    SUM,
    TAKE,
    WAITS_ANY,
    WAITS_APART,
    WAITS_NEXT,
)
from thence.program.image import image
from thence.program.sequence import (
    Attributes,
    Components,
    Conjunct,
    Fit,
    Input,
    Negation,
    Partition,
    SequenceProgram,
    Source,
    Table,
)

FITS = Variable("fits")
"""The column with the bits that say what an event can be taken for."""

TIME = Variable("time")
"""The column of events' times, where the history must tell them."""

_MOST_FITS = 62
"""Bits of a row."""

WEIGHT = Variable("weight")
"""What a node of the history has besides, where it stands for many: which weight it has."""

_SELECTIONS = {Strategy.STRICT: STRICT, Strategy.PARTITION: STRICT, Strategy.NEXT: NEXT, Strategy.ANY: ANY}
_CONTIGUOUS = (Strategy.STRICT, Strategy.PARTITION)
_SUMMARIES = {
    Summary.COUNT: COUNT,
    Summary.SUM: SUM,
    Summary.MIN: LEAST,
    Summary.MAX: GREATEST,
    Summary.FIRST: EARLIEST,
    Summary.LAST: LATEST,
}


def attribute(name: Name) -> Variable:
    """The column of an attribute, and the slot of a frame in which tests find that of the event in hand."""
    return Variable(f".{name}")


def as_compared(name: Name) -> Variable:
    """The column of an attribute as equality sees it, and a run's slot for it."""
    return Variable(f"={name}")


def plan(query: ComponentQuery, *, optimise: bool = True) -> SequenceProgram:
    """The program of a block. Without `optimise`, no run is found by its key but that of its partition, every test is
    left to the machine, and every event is told to it."""
    return _Plan(query, optimise).program()


@dataclass(frozen=True, slots=True)
class _Slot:
    """A slot of a run: which component's events it tells of, of which attribute (None: the events themselves), and what
    each event does to it. `once`: only the first."""

    component: str
    name: Name | None
    how: int
    once: bool = False


class _Plan:
    def __init__(self, query: ComponentQuery, optimise: bool) -> None:
        self.query = query
        self.optimise = optimise
        self.positive = tuple(component for component in query.components if not component.negated)
        self.tested = tuple(dict.fromkeys((*query.equal, *query.partition)))
        self.parted = query.partition or query.equal
        self.names = tuple(dict.fromkeys((*_names(query), *self.tested)))
        self.contiguous = self._contiguities()
        self.slots: dict[Variable, _Slot | None] = {as_compared(name): None for name in self.tested}
        self.fits: list[Fit] = []
        self.states: list[State] = []
        self.edges: list[Edge] = []
        self.conjuncts: dict[int, Conjunct] = {}
        temporary = {attribute(name): number for number, name in enumerate(self.names)}
        events = {_of_event(name): number for number, name in enumerate(self.names)}
        self.conditions = {c.variable: self._conditions(c) for c in query.components}
        for component in self.positive:  # so that all slots are known before the first predicate is written
            for phase in _PHASES:
                for condition in self._asked(component, phase):
                    self._renamed(condition, component, phase)
        self.shown = self._shown()
        first = len(self.slots)
        self.code = Code(
            {
                **{variable: number for number, variable in enumerate(self.slots)},
                **{variable: first + number for variable, number in temporary.items()},
                **events,
            }
        )

    def program(self) -> SequenceProgram:
        streams = [stream.name for stream in self.query.sources]
        columns = (*map(attribute, self.names), *map(as_compared, self.tested), FITS, *([TIME] * self._negates()))
        self._draw(columns)
        negations = tuple(self._negation(place) for place, c in enumerate(self.query.components) if c.negated)
        pattern = Attributes(self.names, tuple(self.fits), self._all_count())
        window = self.query.window
        automaton = assembled(
            self.states,
            [self._of_feed(edge, feed) for feed in range(len(streams)) for edge in self.edges],
            [[]],
            [Feed(len(columns), 1) for _ in streams],
            self.code,
            window=-1 if window is None else window.length,
            slots=len(self.slots),
            frame=len(self.slots) + len(self.names) or 1,
            iterated=len(self.names) + self._negates() + self._merges(),
            fits=columns.index(FITS),
            previous=len(self.contiguous),
            merges=self._merges(),
            grouped=len(self.tested),
        )
        key = self._key()
        return SequenceProgram(
            query=self.query,
            rewritten=self.query,
            streams=self.query.sources,
            tables=tuple(Table(stream, pattern, columns) for stream in streams),
            sources=tuple(Source(stream, stream, pattern, columns, n) for n, stream in enumerate(streams)),
            inputs=tuple(Input((n,), columns, n) for n in range(len(streams))),
            feeds=tuple(range(len(streams))),
            negated=tuple(range(len(streams))) if negations else (),
            partitions=tuple(Partition(n, columns) for n in range(len(streams))),
            contiguous=self.contiguous,
            slots=(*self.slots, *map(attribute, self.names)),
            outputs=tuple(self.slots),
            key=key,
            routes=tuple(tuple(columns.index(variable) for variable in key) for _ in streams),
            iterated=(*map(attribute, self.names), *([TIME] * self._negates()), *([WEIGHT] * self._merges())),
            predicates=tuple(self.code.predicates),
            constants=tuple(self.code.constants),
            automaton=automaton,
            image=image(automaton),
            shown=self.shown,
            components=Components(
                self.positive,
                self.names,
                tuple(self.conjuncts.get(number) for number in range(len(self.code.predicates))),
                negations,
                tuple(map(as_compared, self.tested)),
                tuple(map(as_compared, self.parted)),
            ),
        )

    def _of_feed(self, edge: Edge, feed: int) -> Edge:
        from dataclasses import replace

        return replace(edge, input=feed, feed=feed)

    def _negates(self) -> bool:
        """Whether something must be absent; then the history tells the times of events."""
        return any(component.negated for component in self.query.components)

    def _merges(self) -> bool:
        """Whether matches need not be made one by one: AGGREGATE asks for no more than what they add up to, and slots
        tell all that becomes of a run."""
        form = self.query.form
        if not isinstance(form, Totals) or self._negates() or not self.optimise:
            return False
        if any(isinstance(total.of, Attribute) and total.of.index is not Index.ALONE for total in form.totals):
            return False
        return all(
            self.query.references.keys().isdisjoint(mentioned(self._renamed(condition, component, phase)))
            for component in self.positive
            for phase in _PHASES
            for condition in self._asked(component, phase)
        )

    def _contiguities(self) -> tuple[tuple[Variable, ...], ...]:
        used = {component.strategy for component in self.positive}
        of_parts = tuple(map(as_compared, self.parted))
        found = [()] * (Strategy.STRICT in used) + [of_parts] * (Strategy.PARTITION in used)
        return tuple(found) or ((),)

    def _all_count(self) -> bool:
        """Whether an event that fits nothing may matter: it breaks contiguity."""
        return not self.optimise or any(component.strategy in _CONTIGUOUS for component in self.query.components)

    def _key(self) -> tuple[Variable, ...]:
        """What shards go by: events that differ in it never meet, nor break each other's contiguity; that of a series
        which must be absent counts too."""
        strategies = {component.strategy for component in self.query.components}
        if not self.optimise or Strategy.STRICT in strategies:
            return ()
        names = self.parted if Strategy.PARTITION in strategies else self.tested
        if isinstance(self.query.form, Totals):  # a group is all in one shard
            names = tuple(name for name in names if name in self.query.form.by)
        return tuple(map(as_compared, names))

    def _shown(self) -> tuple[Variable, ...] | None:
        """The slots that are the columns of RETURN, if each of them is told by one."""
        form = self.query.form
        if not isinstance(form, Return) or self.query.having is not None:
            return None
        given = [item.given for item in form.items]
        nobody = Component(None, "")
        if not all(isinstance(each, Variable) and self._is_told(self.query.references[each]) for each in given):
            return None
        found = [self._place(each, nobody, "whole") for each in given if isinstance(each, Variable)]
        return tuple(each for each in found if isinstance(each, Variable))

    def _is_told(self, reference: Reference) -> bool:
        """Whether one slot tells what a reference is, of a whole match."""
        match reference:
            case Attribute(index=index):
                return index not in (Index.EACH, Index.BEFORE)
            case Length():
                return True
            case Summarised(summary=summary, k=k):
                return summary is not Summary.AVG and k in (None, 1)

    # What is asked

    def _conditions(self, component: Component) -> list[Expression]:
        """The conjuncts that act at a component: the negated one that they name, else the last."""
        query = self.query
        return [each for each in query.conditions if acts_at(query, each) == component]

    def _asked(self, component: Component, phase: str) -> Iterator[Expression]:
        """Those that are asked of its first event, of a later one, or of all once an event is in."""
        for condition in self.conditions[component.variable]:
            own = own_references(self.query, condition, component)
            if not component.closure:
                asked = phase == "first"
            elif any(is_whole(reference) for reference in own):
                asked = phase == "whole"
            elif any(map(_is_iterated, own)):
                asked = phase == "later" or (phase == "first" and not any(map(_is_earlier, own)))
            else:
                asked = phase == "first"
            if asked:
                yield condition

    def _renamed(self, condition: Expression, component: Component, phase: str) -> Expression:
        """A conjunct over slots: those of the run, and those of the event in hand. What no slot tells stays."""
        return replaced(condition, lambda part: self._place(part, component, phase))

    def _place(self, part: Expression, component: Component, phase: str) -> Expression | None:
        reference = self.query.references.get(part) if isinstance(part, Variable) else None
        if reference is None:
            return None
        own = reference.component == component.variable
        match reference:
            case Attribute(index=index, name=name):
                if (
                    own
                    and phase != "whole"
                    and (index in (Index.ALONE, Index.EACH) or (index, phase) == (Index.FIRST, "first"))
                ):
                    return attribute(name)
                if not own and index in (Index.EACH, Index.BEFORE):
                    return part  # for every i: the history tells
                once = index in (Index.ALONE, Index.FIRST)
                return self._slot(
                    f"{reference.component}[{'1' if once else 'LEN'}]", name, KEEP if once else ANEW, reference, once
                )
            case Length():
                return self._slot("LEN", None, COUNT, reference)
            case Summarised(range=range_) if not own and range_ is Range.BEFORE:
                return part
            case Summarised(summary=Summary.AVG, name=name):
                total = self._slot("sum", name, SUM, reference)
                return Arithmetic(Operation.QUOTIENT, total, self._slot("count", name, COUNT, reference))
            case Summarised(summary=Summary.HIGHEST | Summary.LOWEST as summary, name=name, k=k):
                if k != 1:
                    return part
                highest = summary is Summary.HIGHEST
                return self._slot("max" if highest else "min", name, GREATEST if highest else LEAST, reference)
            case Summarised(summary=summary, name=name):
                return self._slot(summary.value, name, _SUMMARIES[summary], reference)

    def _slot(self, what: str, name: Name | None, how: int, reference: Reference, once: bool = False) -> Variable:
        variable = Variable(f"{what}({reference.component}){'' if name is None else f'.{name}'}")
        self.slots.setdefault(variable, _Slot(reference.component, name, how, once))
        return variable

    def _fit(self, component: Component, phase: str) -> int:
        """The bit of what an event must have to be a component's first, or a later one of it."""
        conditions = [each for each in self._asked(component, phase) if self._is_stateless(each, component, phase)]
        about = [replaced(each, lambda part: self._of_event_alone(part)) for each in conditions]
        predicates = tuple(
            self._predicate(each, original, component) for each, original in zip(about, conditions, strict=True)
        )
        found = Fit(component.type, self.tested, predicates)
        if found not in self.fits:
            if len(self.fits) == _MOST_FITS:
                raise LimitError(
                    f"The pattern asks events in more than {_MOST_FITS} ways alone. Try: fewer components, or ANY"
                )
            self.fits.append(found)
        return self.fits.index(found)

    def _of_event_alone(self, part: Expression) -> Expression | None:
        reference = self.query.references.get(part) if isinstance(part, Variable) else None
        return _of_event(reference.name) if isinstance(reference, Attribute) else None

    def _is_stateless(self, condition: Expression, component: Component, phase: str) -> bool:
        """Whether the event alone tells."""
        now = (Index.ALONE, Index.EACH, *((Index.FIRST,) if phase == "first" else ()))
        references = [self.query.references[variable] for variable in mentioned(condition)]
        return phase != "whole" and all(
            isinstance(each, Attribute) and each.component == component.variable and each.index in now
            for each in references
        )

    def _predicate(self, condition: Expression, original: Expression, component: Component) -> int:
        conjunct = Conjunct(original, component.variable)
        number = self.code.compile_predicate(condition, conjunct)
        self.conjuncts[number] = conjunct
        return number

    # The machine's part

    def _draw(self, columns: tuple[Variable, ...]) -> None:
        """States and edges, each component after the one before it: of the edges of a feed the last is tried first, so
        that what begins the next component is known before an event is taken."""
        waiting = [START] + [-2] * len(self.positive[1:])
        inside = [-2] * len(self.positive)
        for number, component in enumerate(self.positive):
            if component.closure:
                inside[number] = self._closure_state(number)
            if number and not self._proceeds(number - 1):
                waiting[number] = self._waiting_state(component)
        for number, component in enumerate(self.positive):
            after = waiting[number + 1] if number + 1 < len(self.positive) else None
            if number and self._proceeds(number - 1):
                role = CUT_OFF if self.positive[number - 1].cut else PROCEED
                shape = Edge(-1, inside[number - 1], role=role, then=self._then(number - 1))
            else:
                shape = Edge(-1, waiting[number])
            self._edges(number, shape, "first", inside[number], after, columns)
            if component.closure:
                shape = Edge(-1, inside[number], role=TAKE, then=self._then(number), stops=self._stops(number))
                shape.cut = component.cut and self._proceeds(number)
                self._edges(number, shape, "later", inside[number], after, columns)

    def _absorbs(self, number: int) -> bool:
        """Whether a closure that takes an event is as it was: it ignores any, and nothing looks back at it."""
        component = self.positive[number]
        changing = any(s is not None and s.component == component.variable and not s.once for s in self.slots.values())
        cut = component.cut and self._proceeds(number)
        return component.strategy is Strategy.ANY and not changing and not cut and not self._has_end(component)

    def _proceeds(self, number: int) -> bool:
        """Whether it is a closure without end condition, which something follows."""
        component = self.positive[number]
        return component.closure and number + 1 < len(self.positive) and not self._has_end(component)

    def _has_end(self, component: Component) -> bool:
        return any(True for _ in self._asked(component, "whole"))

    def _is_last(self, number: int) -> bool:
        """Whether it is a closure that is a match when it stops."""
        component = self.positive[number]
        return component.closure and number + 1 == len(self.positive) and not self._has_end(component)

    def _then(self, number: int) -> int:
        if not self._proceeds(number):
            return OVER
        here, after = self.positive[number].strategy, self.positive[number + 1].strategy
        match after:
            case Strategy.ANY:
                return WAITS_ANY
            case Strategy.NEXT:
                return WAITS_NEXT if here in _CONTIGUOUS else OVER
            case Strategy.PARTITION:
                return WAITS_APART if here is Strategy.STRICT else OVER
            case Strategy.STRICT:
                return OVER

    def _stops(self, number: int) -> bool:
        """Whether it matters that an event stops a closure."""
        contiguous = self.positive[number].strategy in _CONTIGUOUS
        return contiguous and (self._is_last(number) or self._then(number) != OVER)

    def _waiting_state(self, component: Component) -> int:
        by = self.parted if component.strategy is Strategy.PARTITION and not self.optimise else self.tested
        return self._state(component, by if self.optimise or component.strategy is Strategy.PARTITION else ())

    def _closure_state(self, number: int) -> int:
        component = self.positive[number]
        by = self.tested if self.optimise else ()
        if component.strategy is Strategy.PARTITION:
            by = self.parted  # an event that differs in something else stops it
        elif component.strategy is Strategy.STRICT and self._stops(number):
            by = ()  # every event does
        state = self._state(component, by)
        if self._is_last(number):
            waits = self.query.components[-1].negated
            self.states[state].accepts = AT_WINDOWS_END if waits else AT_STOP
        return state

    def _state(self, component: Component, by: tuple[Name, ...]) -> int:
        of_parts = component.strategy is Strategy.PARTITION
        key = [self.code.slots[as_compared(name)] for name in by]
        previous = len(self.contiguous) - 1 if of_parts else 0
        self.states.append(State(_SELECTIONS[component.strategy], key, previous))
        return len(self.states) - 1

    def _edges(
        self, number: int, shape: Edge, phase: str, inside: int, after: int | None, columns: tuple[Variable, ...]
    ) -> None:
        """The edges by which an event becomes one of a component. Where a closure has an end condition, there are two:
        the second is for where it holds, and with `!` the first one is for where it does not."""
        component = self.positive[number]
        self._bind(shape, component, phase, columns)
        shape.places = [number]
        kept = (*map(attribute, self.names), *([TIME] * self._negates()))
        shape.iterated = [columns.index(variable) for variable in kept]
        through = Edge(-1, -1)
        accepts = after is None
        if not component.closure:
            through = _like(shape, target=-1 if after is None else after, accept=accepts)
        elif not self._has_end(component):
            through = _like(shape, loop=inside)
            through.absorbs = self._merges() and self._absorbs(number)
        else:
            again = _like(shape, loop=inside)
            again.cut = shape.cut or component.cut
            self.edges.append(again)
            through = _like(shape, target=-1 if after is None else after, accept=accepts)
            through.prunes = self._tests(component, "whole")
            through.cuts = component.cut
            through.stops = False
        if through.accept and self.query.components[-1].negated:
            through.ends = [0]
        self.edges.append(through)

    def _bind(self, edge: Edge, component: Component, phase: str, columns: tuple[Variable, ...]) -> None:
        place = {variable: number for number, variable in enumerate(columns)}
        slots = self.code.slots
        compared = [(slots[as_compared(name)], place[as_compared(name)]) for name in self.tested]
        if edge.state == START:
            edge.bind = [(slot, column, KEEP) for slot, column in compared]
        else:
            edge.equal = compared
            key = self.states[edge.state].key
            edge.key = [column for slot, column in compared if slot in key]
        for variable, slot in self.slots.items():
            if slot is not None and slot.component == component.variable and (phase == "first" or not slot.once):
                column = -1 if slot.name is None else place[attribute(slot.name)]
                edge.bind.append((slots[variable], column, slot.how))
        edge.late = [(slots[attribute(name)], place[attribute(name)]) for name in self.names]
        edge.tests = self._tests(component, phase)
        if self.optimise:
            found = (self._quick(test, place) for test in edge.tests)
            edge.quick = [quick for quick in found if quick is not None]
        edge.fits = self._fit(component, phase)

    def _quick(self, test: int, place: dict[Variable, int]) -> tuple[int, int, int, int, int] | None:
        """A test that does nothing but compare two values, each of the event in hand or of the run as it was."""
        compared = self.code.comparison(test)
        if compared is None:
            return None
        comparison, *variables = compared
        (left, left_column), (right, right_column) = (
            (self.code.slots[variable], place.get(variable, -1) if variable not in self.slots else -1)
            for variable in variables
        )
        return comparison, left, left_column, right, right_column

    def _tests(self, component: Component, phase: str) -> list[int]:
        return [
            self._predicate(self._renamed(condition, component, phase), condition, component)
            for condition in self._asked(component, phase)
            if not self._is_stateless(condition, component, phase)
        ]

    def _negation(self, place: int) -> Negation:
        component = self.query.components[place]
        before = sum(not each.negated for each in self.query.components[:place]) - 1
        return Negation(
            component,
            before,
            before + 1 if before + 1 < len(self.positive) else -1,
            self._fit(component, "first"),
            self._fit(component, "later") if component.closure else -1,
            *(tuple(self._asked(component, phase)) for phase in _PHASES),
        )


_PHASES = ("first", "later", "whole")


def _like(edge: Edge, **changes: object) -> Edge:
    from dataclasses import replace

    return replace(edge, **changes)  # type: ignore[arg-type]


def _of_event(name: Name) -> Variable:
    """An attribute of an event, asked of it alone."""
    return Variable(f"@{name}")


def acts_at(query: ComponentQuery, condition: Expression) -> Component:
    """The component at which a conjunct acts: the negated one that it names, else the last."""
    named = {query.references[variable].component for variable in mentioned(condition)}
    listed = [component for component in query.components if component.variable in named]
    return next((component for component in listed if component.negated), listed[-1])


def own_references(query: ComponentQuery, condition: Expression, component: Component) -> list[Reference]:
    references = (query.references[variable] for variable in mentioned(condition))
    return [reference for reference in references if reference.component == component.variable]


def is_whole(reference: Reference) -> bool:
    """Whether it tells of a whole closure."""
    match reference:
        case Attribute(index=index):
            return index is Index.LAST
        case Length():
            return True
        case Summarised(range=range_):
            return range_ is Range.ALL


def _is_iterated(reference: Reference) -> bool:
    match reference:
        case Attribute(index=index):
            return index in (Index.EACH, Index.BEFORE)
        case Summarised(range=range_):
            return range_ is Range.BEFORE
        case Length():
            return False


def _is_earlier(reference: Reference) -> bool:
    """Whether it tells of an event before the one at i."""
    match reference:
        case Attribute(index=index):
            return index in (Index.FIRST, Index.BEFORE)
        case Summarised(range=range_):
            return range_ is Range.BEFORE
        case Length():
            return False


def _names(query: ComponentQuery) -> Iterator[Name]:
    """The attributes that a query names."""
    for reference in query.references.values():
        if not isinstance(reference, Length) and reference.name is not None:
            yield reference.name
    if isinstance(query.form, Return):
        for item in query.form.items:
            match item:
                case Item(given=Sequence(name=name)):
                    yield name
                case Item(given=Composite(names=names)):
                    yield from names
    else:
        yield from query.form.by
        for total in query.form.totals:
            if total.of is not None:
                yield total.of.name
