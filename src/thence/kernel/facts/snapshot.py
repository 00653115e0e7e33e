"""The state of a file of TEF-SPARQL as a head for JSON, and back. Whatever is no state is refused: a saved state may
come from anywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from thence.algebra.expressions import Variable
from thence.algebra.tef_sparql import Assignment, Test
from thence.algebra.traversal import nodes
from thence.errors import InputError
from thence.kernel.array_checks import require
from thence.kernel.facts.event_instances import Blocking, EventInstance, Pending
from thence.kernel.facts.fact_patterns import Origin
from thence.kernel.facts.fact_store import Fact
from thence.kernel.facts.state import FactsState, WaitingTriple, initial_state
from thence.kernel.saved_terms import saved_term
from thence.match.context import Solution
from thence.program.facts.program import FactsProgram
from thence.program.operator import Environment
from thence.rdf.terms import IRI, BlankNode, Term, Triple
from thence.rdf.times import Domain


def snapshot(state: FactsState) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    made = state.machine
    expressions = _expressions(made.file)
    numbers = {expression: number for number, expression in enumerate(expressions)}
    ended = [fact for same in made.store.ended.values() for fact in same]
    head = {
        "domain": made.facts.domain.value,
        "times": [made.facts.now, made.facts.first, made.timer, made.idle_steps, made.keys, made.store.created],
        "begun": made.is_begun,
        "placed": state.placed,
        "waiting": [[*each[:5], _triple(each.triple)] for each in state.waiting],
        "ends": state.times,
        "facts": [_fact(fact) for fact in sorted([*made.store.holding(), *ended], key=lambda each: each.number)],
        "stores": [
            [_instance(each, lambda expression: numbers[expression]) for each in stored.all()]
            for stored in made.stores()
        ],
        "since": [[_since(origin, time) for origin, time in each.items()] for each in made.since.values()],
        "once": _keys(made.once),
        "seen": _keys(made.seen),
    }
    return head, []


def _expressions(file: object) -> list[Any]:
    """The expressions that may wait for a variable, in one order."""
    found = []
    for node in nodes(file):
        if isinstance(node, Test):
            found.append(node.condition)
        elif isinstance(node, Assignment):
            found.append(node.expression)
    return list(dict.fromkeys(found))


def _triple(triple: Triple) -> list[str]:
    return [str(term) for term in triple]


def _bound(bound: Solution) -> list[list[str]]:
    return [[name.name, str(term)] for name, term in bound.items()]


def _fact(fact: Fact) -> list[Any]:
    return [fact.number, _triple(fact.triple), fact.start, fact.end, fact.statement, fact.is_view]


def _pending(listed: tuple[Pending, ...], number: Callable[[Any], int]) -> list[Any]:
    return [
        [
            None if one.variable is None else one.variable.name,
            number(one.expression),
            _bound(one.bound),
            one.now,
            sorted(name.name for name in one.names),
        ]
        for one in listed
    ]


def _instance(each: EventInstance, number: Callable[[Any], int]) -> list[Any]:
    blocked = [
        [_bound(one.bound), sorted(name.name for name in one.names), _pending(one.pending, number)]
        for one in each.blocked
    ]
    return [
        _bound(each.bound),
        each.start,
        each.end,
        list(each.keys),
        list(each.refs),
        _pending(each.pending, number),
        [_fact(fact) for fact in each.read],
        [[name.name, str(term)] for name, term in sorted(each.hidden, key=str)],
        list(each.arms),
        blocked,
    ]


def _since(origin: Origin, time: int) -> list[Any]:
    bound, hidden, arms, start = origin
    pairs = [[[name.name, str(term)] for name, term in sorted(each, key=str)] for each in (bound, hidden)]
    return [*pairs, list(arms), start, time]


def _keys(sets: dict[int, set[tuple[Term | None, ...]]]) -> list[list[Any]]:
    return [
        [number, sorted(([None if term is None else str(term) for term in key] for key in keys), key=str)]
        for number, keys in sorted(sets.items())
    ]


def restore(program: FactsProgram, head: dict[str, Any], next_ref: int, environment: Environment) -> FactsState:
    """The state of a snapshot for this program. InputError if it cannot be one."""
    try:
        return _restored(program, head, next_ref, environment)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, AssertionError):
        require(False, "its head is not that of a state")
        raise AssertionError from None
    except InputError:
        raise


def _restored(program: FactsProgram, head: dict[str, Any], next_ref: int, environment: Environment) -> FactsState:
    state = initial_state(program, environment)
    made = state.machine
    expressions = _expressions(program.file)
    made.facts.domain = Domain(head["domain"])
    now, first, timer, idle, keys, created = head["times"]
    for each in (now, first, idle, keys, created, head["placed"]):
        require(type(each) is int, "a number is none")
    require(timer is None or type(timer) is int, "a number is none")
    made.facts.begin(now)
    made.facts.first, made.timer, made.idle_steps, made.keys = first, timer, idle, keys
    made.is_begun, state.placed = bool(head["begun"]), head["placed"]
    for *numbers, triple in head["waiting"]:
        require(len(numbers) == 5 and all(type(each) is int for each in numbers), "a number is none")
        require(0 <= numbers[2] < next_ref, "an event is none that there is")
        end, stream, ref, place, start = numbers
        state.waiting.append(WaitingTriple(end, stream, ref, place, start, _read_triple(triple)))
    state.times = sorted(int(each) for each in head["ends"])
    known: dict[int, Fact] = {}
    for listed in head["facts"]:
        fact = _read_fact(listed, known)
        made.store.add(fact)
    made.store.created = created
    for stored, instances in zip(made.stores(), head["stores"], strict=True):
        for listed in instances:
            stored.add(_read_instance(listed, expressions, known, next_ref))
    for pattern, listed in zip(made.since, head["since"], strict=True):
        made.since[pattern] = dict(map(_read_since, listed))
    made.recall()
    made.once, made.seen = _read_keys(head["once"]), _read_keys(head["seen"])
    return state


def _read_triple(found: Any) -> Triple:
    subject, predicate, target = map(saved_term, found)
    assert isinstance(subject, IRI | BlankNode) and isinstance(predicate, IRI)
    return Triple(subject, predicate, target)


def _read_bound(found: Any) -> Solution:
    return {Variable(str(name)): saved_term(term) for name, term in found}


def _read_fact(found: Any, known: dict[int, Fact]) -> Fact:
    number, triple, start, end, statement, is_view = found
    for each in (number, start, statement):
        require(type(each) is int, "a number is none")
    require(end is None or type(end) is int, "a number is none")
    if number not in known:
        known[number] = Fact(number, _read_triple(triple), start, end, statement, bool(is_view))
    return known[number]


def _read_pending(found: Any, expressions: list[Any]) -> tuple[Pending, ...]:
    return tuple(
        Pending(
            None if name is None else Variable(str(name)),
            expressions[number],
            _read_bound(bound),
            int(now),
            frozenset(Variable(str(each)) for each in names),
        )
        for name, number, bound, now, names in found
    )


def _read_instance(found: Any, expressions: list[Any], known: dict[int, Fact], next_ref: int) -> EventInstance:
    bound, start, end, keys, refs, pending, read, hidden, arms, blocked = found
    for each in (start, end, *keys, *refs, *arms):
        require(type(each) is int, "a number is none")
    require(all(0 <= ref < next_ref for ref in refs), "an event is none that there is")
    waiting = _read_pending(pending, expressions)
    others = tuple(
        Blocking(_read_bound(one), frozenset(Variable(str(name)) for name in names), _read_pending(wait, expressions))
        for one, names, wait in blocked
    )
    dropped = frozenset((Variable(str(name)), saved_term(term)) for name, term in hidden)
    facts = tuple(_read_fact(each, known) for each in read)
    return EventInstance(
        _read_bound(bound), start, end, tuple(keys), tuple(refs), waiting, facts, dropped, tuple(arms), others
    )


def _read_since(found: Any) -> tuple[Origin, int]:
    bound, hidden, arms, start, time = found
    for each in (start, time, *arms):
        require(type(each) is int, "a number is none")
    sides = [frozenset((Variable(str(name)), saved_term(term)) for name, term in some) for some in (bound, hidden)]
    return (sides[0], sides[1], tuple(arms), start), time


def _read_keys(found: Any) -> dict[int, set[tuple[Term | None, ...]]]:
    return {
        int(number): {tuple(None if text is None else saved_term(text) for text in key) for key in keys}
        for number, keys in found
    }
