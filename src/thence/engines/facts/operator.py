"""Facts as an operator: files of TEF-SPARQL are its programs; their states as a head for JSON, and back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from thence.algebra.expressions import Variable
from thence.columns.array_codec import ArrayReader
from thence.columns.arrays import Ints
from thence.columns.dictionary import Terms
from thence.columns.value_columns import values_of_ids
from thence.engines.facts.event_instances import (
    Asked,
    Blocking,
    Captured,
    EmittedEvent,
    EmittedFact,
    EmittedRow,
    EventInstance,
    Pending,
    Stored,
)
from thence.engines.facts.fact_store import Fact
from thence.engines.facts.frames import Cell, CellTriple, Frame, Layout, cell, term, triple_of
from thence.engines.facts.program import FactsProgram
from thence.engines.facts.state import FactsState, initial_state, run, take
from thence.engines.facts.steps import WaitingTriple
from thence.engines.facts.views import Continuity, Origin
from thence.errors import InputError
from thence.interface.extracted import Extracted
from thence.interface.operator import NEVER, Environment, HeldFact
from thence.interface.output import OPEN_END, is_numbered
from thence.interface.saved_arrays import require, saved_term
from thence.interface.solutions import Deferred, EventLists, Solutions, fact_text
from thence.rdf.terms import IRI, BlankNode, Literal
from thence.rdf.times import Domain, format_time

# The state as a head for JSON, and back. Whatever is no state is refused: a saved state may come from anywhere.


_DEEPEST = 200
"""How deep WITHOUT may be in WITHOUT: as deep as brackets may."""


def snapshot(state: FactsState) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    made = state.machine
    every = sorted([*made.store.holding(), *made.store.ended], key=lambda fact: fact.number)
    head = {
        "domain": made.facts.domain.value,
        "times": [made.facts.now, made.facts.first, made.timer, made.idle_steps, made.keys, made.store.created],
        "begun": made.is_begun,
        "placed": state.placed,
        "waiting": [[*each[:6], _triple(each.triple)] for each in state.waiting],
        "ends": state.times,
        "facts": [_fact(fact) for fact in every],
        "stores": [[_instance(each, stored.layout) for each in stored.all()] for stored in made.stores()],
        "since": [_since(each) for each in made.continuities()],
        "once": _keys(made.once),
        "seen": _keys(made.seen),
    }
    return head, []


def _triple(triple: CellTriple) -> list[str]:
    return [str(term(each)) for each in triple]


def _frame(frame: Frame, layout: Layout) -> list[list[str]]:
    return [[name.name, str(each)] for name, each in layout.solution(frame).items()]


def _fact(fact: Fact) -> list[Any]:
    return [fact.number, _triple(fact.triple), fact.start, fact.end, fact.statement, fact.is_view]


def _pending(listed: tuple[Pending, ...], layout: Layout) -> list[Any]:
    return [[one.expression.number, _frame(one.frame, layout), one.now] for one in listed]


def _captured(one: Captured) -> list[Any]:
    facts = [[_fact(fact), end] for fact, end in one.facts]
    return [one.number, facts, one.start, one.last, one.now, one.before]


def _asked(listed: tuple[Asked, ...], layout: Layout) -> list[Any]:
    return [
        [_frame(one.frame, layout), _names(one.slots, layout), _names(one.bound, layout), _captured(one.captured)]
        for one in listed
    ]


def _names(slots: tuple[int, ...], layout: Layout) -> list[str]:
    return [layout.variables[slot].name for slot in slots]


def _blocked(listed: tuple[Blocking, ...], layout: Layout) -> list[Any]:
    return [
        [
            _frame(one.frame, layout),
            _names(one.slots, layout),
            _pending(one.pending, layout),
            _blocked(one.blocked, layout),
            None if one.captured is None else _captured(one.captured),
            _asked(one.asked, layout),
        ]
        for one in listed
    ]


def _instance(instance: EventInstance, layout: Layout) -> list[Any]:
    hidden = sorted((layout.variables[slot].name, str(term(one))) for slot, one in instance.hidden)
    return [
        _frame(instance.frame, layout),
        instance.start,
        instance.end,
        list(instance.keys),
        list(instance.refs),
        _pending(instance.pending, layout),
        [_fact(fact) for fact in instance.read],
        hidden,
        list(instance.arms),
        _blocked(instance.blocked, layout),
        _asked(instance.asked, layout),
    ]


def _since(continuity: Continuity) -> list[Any]:
    return [
        [[_saved(each) for each in frame], sorted([slot, str(term(each))] for slot, each in hidden), arms, start, time]
        for (frame, hidden, arms, start), time in continuity.since.items()
    ]


def _saved(value: Cell | None) -> str | None:
    return None if value is None else str(term(value))


def _keys(sets: dict[int, set[tuple[Cell | None, ...]]]) -> list[list[Any]]:
    return [
        [number, sorted(([_saved(each) for each in key] for key in keys), key=str)]
        for number, keys in sorted(sets.items())
    ]


def restore(program: FactsProgram, head: dict[str, Any], next_ref: int, environment: Environment) -> FactsState:
    """The state of a snapshot for this program. InputError if it cannot be one."""
    try:
        return _restored(program, head, next_ref, environment)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, AssertionError):
        require(False, "its head is malformed")
        raise AssertionError from None
    except InputError:
        raise


def _restored(program: FactsProgram, head: dict[str, Any], next_ref: int, environment: Environment) -> FactsState:
    state = initial_state(program, environment)
    made = state.machine
    made.facts.domain = Domain(head["domain"])
    now, first, timer, idle, keys, created = head["times"]
    _check_whole(now, first, idle, keys, created, head["placed"], *(() if timer is None else (timer,)))
    require(timer is None or (bool(made.timers.queries) and timer > now), "a step is due without a timer")
    require(idle >= 0 and keys >= 0 and created >= 0, "expected an integer")
    made.facts.begin(now)
    made.facts.first, made.timer, made.idle_steps, made.keys = first, timer, idle, keys
    made.is_begun, state.placed = bool(head["begun"]), head["placed"]
    for *numbers, triple in head["waiting"]:
        _check_whole(*numbers)
        require(len(numbers) == 6, "expected an integer")
        end, rank, stream, ref, place, start = numbers
        require(0 <= ref < next_ref, "it refers to a missing event")
        state.waiting.append(WaitingTriple(end, rank, stream, ref, place, start, _read_triple(triple)))
    _check_whole(*head["ends"])
    state.times = sorted(head["ends"])
    known: dict[int, Fact] = {}
    every = [_read_fact(listed, known) for listed in head["facts"]]
    require(len(every) == len(known), "two facts have the same number")
    require(all(0 < number <= created for number in known), "the number of a fact is out of range")
    is_held = {(fact.triple, fact.start, fact.is_view) for fact in every if fact.end is None}
    views = {view.number for stratum in made.views.strata for group in stratum for view in group.views}
    made_by = {each.number for each in made.statements}
    is_own = all(fact.statement in made_by and fact.is_view is (fact.statement in views) for fact in every)
    require(is_own, "a fact belongs to no statement")
    require(len(is_held) == sum(fact.end is None for fact in every), "a fact occurs twice")
    for fact in sorted(every, key=lambda each: (0 if each.end is None else each.end, each.number)):
        made.store.add(fact)
    made.store.created = created
    for stored, instances in zip(made.stores(), head["stores"], strict=True):
        for listed in instances:
            stored.add(_read_instance(listed, stored, known, next_ref))
    for continuity, listed in zip(made.continuities(), head["since"], strict=True):
        for each in listed:
            continuity.since.put(*_read_since(each, len(continuity.query.empty)))
    made.recall()
    made.once, made.seen = _read_keys(head["once"]), _read_keys(head["seen"])
    return state


def _check_whole(*numbers: Any) -> None:
    """Check that all are integers of 64 bits, as times are."""
    require(all(type(each) is int and abs(each) < 2**63 for each in numbers), "expected an integer")


def _read_triple(saved: Any) -> CellTriple:
    subject, predicate, target = map(saved_term, saved)
    assert isinstance(subject, IRI | BlankNode) and isinstance(predicate, IRI)
    return cell(subject), cell(predicate), cell(target)


def _read_frame(saved: Any, layout: Layout) -> Frame:
    return layout.frame({Variable(str(name)): saved_term(text) for name, text in saved})


def _read_fact(saved: Any, known: dict[int, Fact]) -> Fact:
    number, triple, start, end, statement, is_view = saved
    _check_whole(number, start, statement, *(() if end is None else (end,)))
    if number not in known:
        known[number] = Fact(number, _read_triple(triple), start, end, statement, bool(is_view))
    return known[number]


def _read_pending(saved: Any, stored: Stored) -> tuple[Pending, ...]:
    for number, _, now in saved:
        _check_whole(number, now)
        require(number >= 0, "expected an integer")
    return tuple(
        Pending(stored.expressions[number], _read_frame(frame, stored.layout), now) for number, frame, now in saved
    )


def _read_blocked(saved: Any, stored: Stored, known: dict[int, Fact], deeper: int = _DEEPEST) -> tuple[Blocking, ...]:
    require(deeper > 0 or not saved, "it is nested too deeply")
    return tuple(
        Blocking(
            _read_frame(one, stored.layout),
            _read_names(names, stored.layout),
            _read_pending(pending, stored),
            _read_blocked(blocked, stored, known, deeper - 1),
            None if captured is None else _read_captured(captured, stored, known),
            _read_asked(asked, stored, known),
        )
        for one, names, pending, blocked, captured, asked in saved
    )


def _read_names(saved: Any, layout: Layout) -> tuple[int, ...]:
    return layout.slots_of(Variable(str(name)) for name in saved)


def _read_asked(saved: Any, stored: Stored, known: dict[int, Fact]) -> tuple[Asked, ...]:
    return tuple(
        Asked(
            _read_frame(one, stored.layout),
            _read_names(names, stored.layout),
            _read_names(own, stored.layout),
            _read_captured(captured, stored, known),
        )
        for one, names, own, captured in saved
    )


def _read_captured(saved: Any, stored: Stored, known: dict[int, Fact]) -> Captured:
    number, listed, start, last, now, before = saved
    _check_whole(number, start, last, now, before, *(end for _, end in listed if end is not None))
    require(number >= 0, "expected an integer")
    require(len({each[0] for each, _ in listed}) == len(listed), "two facts have the same number")
    facts = tuple((_read_other(each, known), end) for each, end in listed)
    return Captured(number, stored.patterns[number], facts, start, last, now, before)


def _read_other(saved: Any, known: dict[int, Fact]) -> Fact:
    """A fact that an instance has read: it has ended, or is among those that hold."""
    require(saved[0] in known or saved[3] is not None, "an open fact is missing from the facts that hold")
    return _read_fact(saved, known)


def _read_instance(saved: Any, stored: Stored, known: dict[int, Fact], next_ref: int) -> EventInstance:
    frame, start, end, keys, refs, pending, read, hidden, arms, blocked, asked = saved
    layout = stored.layout
    _check_whole(start, end, *keys, *refs, *arms)
    require(all(0 <= ref < next_ref for ref in refs), "it refers to a missing event")
    waiting = _read_pending(pending, stored)
    others, later = _read_blocked(blocked, stored, known), _read_asked(asked, stored, known)
    dropped = frozenset((layout.slots[Variable(str(name))], cell(saved_term(text))) for name, text in hidden)
    facts = tuple(_read_other(each, known) for each in read)
    own = _read_frame(frame, layout)
    require(all(own[slot] is not None for slot in stored.slots), "an instance lacks its key")
    parts = (tuple(keys), tuple(refs), waiting, facts, dropped, tuple(arms), others, later)
    return EventInstance(own, start, end, *parts)


def _read_since(saved: Any, slots: int) -> tuple[Origin, int]:
    frame, hidden, arms, start, time = saved
    _check_whole(start, time, *arms, *(slot for slot, _ in hidden))
    require(len(frame) == slots, "a mapping belongs to another query")
    dropped = frozenset((slot, cell(saved_term(text))) for slot, text in hidden)
    return (tuple(map(_read_cell, frame)), dropped, tuple(arms), start), time


def _read_cell(text: str | None) -> Cell | None:
    return None if text is None else cell(saved_term(text))


def _read_keys(saved: Any) -> dict[int, set[tuple[Cell | None, ...]]]:
    return {int(number): {tuple(map(_read_cell, key)) for key in keys} for number, keys in saved}


@dataclass(frozen=True, slots=True)
class FactsOperator:
    """Takes event triples one at a time; facts start and end with them."""

    holds: ClassVar[str] = "facts and partial matches"

    def initial(self, program: FactsProgram, environment: Environment) -> FactsState:
        return initial_state(program, environment)

    def prune(self, program: FactsProgram, state: FactsState) -> None:
        """Terms are kept as they are; the dictionary serves one extraction."""
        state.terms = Terms()

    def step(
        self, program: FactsProgram, state: FactsState, extracted: Extracted, watermark: int, environment: Environment
    ) -> Iterator[Solutions]:
        take(program, state, extracted, environment)
        run(state, watermark)
        if watermark == NEVER and state.machine.is_begun:
            state.machine.finish()
        emitted = state.machine.take()
        if program.file.selects:
            rows = [each for each in emitted if isinstance(each, EmittedRow)]
            if rows:
                yield _rows(program, rows, state.terms)
            return
        others = [each for each in emitted if isinstance(each, EmittedEvent | EmittedFact)]
        if others:
            yield _facts_and_events(program, others, state.terms)

    def facts(self, program: FactsProgram, state: FactsState, time: int | None) -> list[HeldFact]:
        """The facts that hold at a time, by start."""
        store, now = state.machine.store, state.machine.facts.now
        at = now if time is None else time
        if at < now and state.kept_for is not None:
            asked = format_time(at, state.machine.facts.domain)
            raise InputError(f"The facts that held at {asked} are no longer stored. Try: query.engine(history=True)")
        every = [*store.holding(), *store.ended]
        holding = [fact for fact in every if fact.start <= at and (fact.end is None or at < fact.end)]
        holding.sort(key=lambda fact: (fact.start, fact.number))
        return [HeldFact(fact.start, fact.end, triple_of(fact.triple)) for fact in holding]

    def size(self, state: FactsState) -> int:
        return state.stored

    def held(self, program: FactsProgram, state: FactsState) -> Ints:
        refs = {each.ref for each in state.waiting}
        refs |= {ref for stored in state.machine.stores() for each in stored.all() for ref in each.refs}
        return np.array(sorted(refs), np.int64)

    def snapshot(self, program: FactsProgram, state: FactsState) -> tuple[dict[str, Any], list[NDArray[Any]]]:
        return snapshot(state)

    def restore(
        self,
        program: FactsProgram,
        head: dict[str, Any],
        arrays: ArrayReader,
        next_ref: int,
        environment: Environment,
    ) -> FactsState:
        return restore(program, head, next_ref, environment)


def _lists(emitted: Sequence[EmittedRow | EmittedEvent | EmittedFact]) -> EventLists:
    """The input events of each (TEF-75), each once."""
    refs = [() if isinstance(each, EmittedFact) else tuple(dict.fromkeys(each.refs)) for each in emitted]
    offsets = np.cumsum([0, *map(len, refs)]).astype(np.int64)
    flat = np.array([ref for each in refs for ref in each], np.int64)
    places = np.array([place for each in refs for place in range(len(each))], np.int64)
    return EventLists(offsets, flat, places)


def _rows(program: FactsProgram, rows: list[EmittedRow], terms: Terms) -> Solutions:
    names = program.output.columns
    columns = tuple(
        values_of_ids(terms.add_all(row.bound.get(Variable(name)) for row in rows), terms) for name in names
    )
    lists = _lists(rows)
    return Solutions(
        certain=np.array([row.certain for row in rows], np.int64),
        start=np.array([row.start for row in rows], np.int64),
        end=np.array([row.end for row in rows], np.int64),
        names=names,
        terms=terms,
        events=Deferred(lambda: lists),
        columns=columns,
        identity=lambda: columns,
        queries=np.array([row.query for row in rows], np.int64) if is_numbered(program.output) else None,
    )


def _facts_and_events(program: FactsProgram, emitted: list[EmittedEvent | EmittedFact], terms: Terms) -> Solutions:
    """The output of a file without SELECT (TEF-74): events, and facts as they end."""
    lists = _lists(emitted)
    ends = [OPEN_END if each.end is None else each.end for each in emitted]
    shown = [tuple(each.triples) if isinstance(each, EmittedEvent) else (each.triple,) for each in emitted]
    columns = (values_of_ids(terms.add_all(Literal(fact_text(each)) for each in shown), terms),)
    return Solutions(
        certain=np.array([each.end if isinstance(each, EmittedEvent) else each.certain for each in emitted], np.int64),
        start=np.array([each.start for each in emitted], np.int64),
        end=np.array(ends, np.int64),
        names=program.output.columns,
        terms=terms,
        events=Deferred(lambda: lists),
        columns=columns if program.output.columns else None,
        triples=lambda number: shown[number],
        identity=lambda: columns,
    )
