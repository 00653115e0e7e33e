"""A state that is saved and loaded goes on as if nothing had been; one that does not fit is refused with a reason."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from numpy.typing import NDArray

from strategies.spaseq import Case, cases, text
from support.flows import flow_of, restart, restore, saved
from support.spaseq_runs import background, batches_of, comparable_row, oracle_answers
from thence.columns.array_codec import pack_arrays, unpack_arrays
from thence.columns.batches import encode
from thence.columns.texts import Texts
from thence.engines.automaton.memory import NEVER, NODE, PARENT, PLACE, REF, SLOTS, STATE, Contents
from thence.engines.automaton.plan.spaseq import plan
from thence.errors import InputError
from thence.lang.spaseq.parser import parse
from thence.local.flow import LocalFlow
from thence.rdf.events import Event
from thence.runtime import saved_state

pytestmark = pytest.mark.numba

QUERY = "SELECT ?a WITHIN 9 TICKS FROM STREAM S <http://example.org/s> { SEQ (A; B) %s }"
GPMS = "DEFINE GPM A ON S { ?a <x:is> 1 } DEFINE GPM B ON S { ?b <x:is> 2 }"


@given(case=cases())
def test_saving_and_loading_between_any_two_times_changes_nothing(case: Case) -> None:

    runner = flow_of(plan(parse(text(case.query))), background(case))
    shown = []
    for low in range(-1, 14):
        piece = {name: [batch.take((batch.ends == low).nonzero()[0])] for name, (batch,) in batches_of(case).items()}
        shown += [comparable_row(row, runner) for row in runner.feed(piece, low + 1)]
        restart(runner)
    shown += [comparable_row(row, runner) for row in runner.feed({}, int(NEVER))]
    times = [event.time for event in case.events]
    assert all(-1 <= time < 14 for time in times)
    assert Counter(shown) == oracle_answers(case)


def flow(text: str = QUERY % GPMS) -> LocalFlow:
    return flow_of(plan(parse(text)))


def empty() -> bytes:
    return saved(flow())


def test_a_state_of_another_query_is_refused() -> None:
    with pytest.raises(InputError, match="belongs to another query"):
        restore(flow(QUERY % GPMS.replace("2", "3")), empty())


def test_a_state_of_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    old, version = empty(), saved_state.VERSION
    monkeypatch.setattr(saved_state, "VERSION", version + 1)
    with pytest.raises(InputError, match=f"by version {version} of the state's format, and this is version"):
        restore(flow(), old)


@pytest.mark.parametrize(
    "spoil", [lambda s: s[:-1], lambda s: s[:100] + b"?" + s[101:], lambda s: b"", lambda s: b"x" + s]
)
def test_a_state_that_is_not_whole_is_refused(spoil: object) -> None:
    assert callable(spoil)
    with pytest.raises(InputError, match="cut off"):
        restore(flow(), spoil(empty()))


def waiting() -> LocalFlow:
    """Three runs that wait in one bucket, each with an IRI bound."""
    runner = flow_of(plan(parse(QUERY % GPMS)))
    events = [Event(time, f"<x:e{time}> <x:is> 1 .") for time in range(3)]
    assert list(runner.feed({"S": [encode(events, stream="S", first=0)]}, 2)) == []
    return runner


def set_run(column: int, value: int) -> Callable[[Contents], Contents]:
    def forge(found: Contents) -> Contents:
        found.waiting[-1, column] = value
        return found

    return forge


def set_node(column: int, value: int) -> Callable[[Contents], Contents]:
    def forge(found: Contents) -> Contents:
        found.nodes[1, column] = value
        return found

    return forge


def wait_for_nothing(found: Contents) -> Contents:
    return found._replace(pending=found.waiting[:1])


def narrow(which: str) -> Callable[[Contents], Contents]:
    return lambda found: found._replace(**{which: getattr(found, which)[:, :-1]})


def flat(which: str) -> Callable[[Contents], Contents]:
    return lambda found: found._replace(**{which: getattr(found, which).ravel()})


FORGED = {
    "a run in a state that there is none of": set_run(STATE, 5),
    "a run in a state before the first": set_run(STATE, -1),
    "an event beyond those noted": set_run(NODE, 3),
    "no event": set_run(NODE, -1),
    "a term that there is none of": set_run(SLOTS + 1, 3),
    "a value of no kind": set_run(SLOTS, 0xFFFE),
    "a decimal with too many places": set_run(SLOTS, 7 | 19 << 8),
    "an event before its past": set_node(PARENT, 2),
    "an event in no place of the pattern": set_node(PLACE, 77),
    "an event that never came": set_node(REF, 1 << 40),
    "a match that waits for nothing": wait_for_nothing,
    "narrower runs": narrow("waiting"),
    "narrower matches": narrow("pending"),
    "narrower events": narrow("nodes"),
    "runs in a row": flat("waiting"),
    "matches in a row": flat("pending"),
    "events in a row": flat("nodes"),
    "smaller numbers": lambda found: found._replace(waiting=found.waiting.astype(np.int32)),
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_a_state_that_would_lead_the_machine_astray_is_refused(forge: Callable[[Contents], Contents]) -> None:
    runner = waiting()
    state = saved(runner)
    restore(runner, state)
    head, reader = unpack_arrays(saved_state.unsealed(state))
    arrays = [reader.next().copy() for _ in head.pop("arrays")]
    arrays[2:5] = forge(Contents(*arrays[2:5]))
    with pytest.raises(InputError, match="The saved state is damaged: "):
        restore(runner, saved_state.sealed(pack_arrays(head, arrays)))


JOINED = """SELECT ?a WITHIN 9 TICKS FROM STREAM S <http://example.org/s>
    { SEQ (A & B) DEFINE GPM A ON S { ?a <x:is> 1 } DEFINE GPM B ON S { ?b <x:is> 2 } }"""


@pytest.mark.parametrize(
    "forge",
    [lambda start: start + 7, lambda start: start[:1], lambda start: start.astype(np.int32), lambda start: start[None]],
)
def test_starts_that_are_none_are_refused(forge: Callable[[NDArray[Any]], NDArray[Any]]) -> None:
    runner = flow_of(plan(parse(JOINED)))
    events = [Event(start, f"<x:e{start}> <x:is> 1 .", 5) for start in (-1, 3)]
    assert list(runner.feed({"S": [encode(events, stream="S")]}, 5)) == []
    head, reader = unpack_arrays(saved_state.unsealed(saved(runner)))
    arrays = [reader.next() for _ in head.pop("arrays")]
    (place,) = (number for number, array in enumerate(arrays) if array.tolist() == [-1, 3])
    restore(runner, saved_state.sealed(pack_arrays(head, arrays)))
    arrays[place] = forge(arrays[place])
    with pytest.raises(InputError, match="The saved state is damaged: "):
        restore(runner, saved_state.sealed(pack_arrays(head, arrays)))


@pytest.mark.parametrize("kept", [None, 3, [1], [1, 2, 3], ["1", 2], [-1, 0], {"a": 1, "b": 2}])
def test_a_head_that_says_otherwise_what_was_kept_is_refused(kept: object) -> None:
    runner = waiting()
    head, reader = unpack_arrays(saved_state.unsealed(saved(runner)))
    arrays = [reader.next() for _ in head.pop("arrays")]
    with pytest.raises(InputError, match="The saved state is damaged: "):
        restore(runner, saved_state.sealed(pack_arrays(head | {"operator": head["operator"] | {"kept": kept}}, arrays)))


@pytest.mark.parametrize(
    "texts", [["<x:e0>", ""], ["<x:e0>", "x"], ["<x:e0>", "<"], ["<x:e0>", '"a@en'], ["<x:e0>", "<x:e0>"], []]
)
def test_terms_that_are_none_are_refused(texts: list[str]) -> None:
    runner = waiting()
    head, reader = unpack_arrays(saved_state.unsealed(saved(runner)))
    _, _, *arrays = (reader.next() for _ in head.pop("arrays"))
    forged = Texts.of(texts)
    with pytest.raises(InputError, match="The saved state is damaged: "):
        restore(runner, saved_state.sealed(pack_arrays(head, [forged.text, forged.ends, *arrays])))


@pytest.mark.parametrize("content", [b"", b"\0" * 8, b"\2" + b"\0" * 7 + b"[]", b"\2" + b"\0" * 7 + b"{}", b"x" * 100])
def test_what_has_no_head_is_refused(content: bytes) -> None:
    with pytest.raises(InputError, match="The saved arrays "):
        restore(flow(), saved_state.sealed(content))


@pytest.mark.parametrize("shape", [[-1], [1 << 62], ["3"], [True], 3, None, [[1]]])
def test_arrays_of_no_shape_are_refused(shape: object) -> None:
    head = json.dumps({"arrays": [["int64", shape]]}).encode()
    with pytest.raises(InputError, match="The saved arrays "):
        unpack_arrays(len(head).to_bytes(8, "little") + head)[1].next()
