"""A state that is saved and loaded goes on as if nothing had been; one that does not fit is refused with a reason."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable

import pytest
from hypothesis import given

from strategies.spaseq import Case, cases, text
from test_spaseq_agrees import background, batches_of, told_by_the_oracle, told_row
from thence.errors import InputError
from thence.kernel import codec
from thence.kernel.arrays import read, written
from thence.kernel.memory import (
    AT_FREE,
    AT_HEADS,
    AT_NODES,
    AT_PENDING,
    AT_RUNS,
    BUCKETS,
    EDGE,
    FREE,
    MATCHES,
    NEVER,
    NEXT_RUN,
    NODE,
    NODE_CAPACITY,
    NODES,
    PARENT,
    PENDING,
    PLACE,
    RUN_CAPACITY,
    RUN_WIDTH,
    SLOTS,
    STATE,
    Memory,
    region,
)
from thence.kernel.sequence import initial_state
from thence.lang.spaseq import parse
from thence.local.sequences import SequenceRunner
from thence.plan.sequences import plan
from thence.rdf.columns import encode
from thence.rdf.events import Event
from thence.rdf.texts import Texts

pytestmark = pytest.mark.numba

QUERY = "SELECT ?a WITHIN 9 TICKS FROM STREAM S <http://example.org/s> { SEQ (A; B) %s }"
GPMS = "DEFINE GPM A ON S { ?a <x:is> 1 } DEFINE GPM B ON S { ?b <x:is> 2 }"


@given(case=cases())
def test_saving_and_loading_between_any_two_times_changes_nothing(case: Case) -> None:

    runner = SequenceRunner(plan(parse(text(case.query))), background(case))
    told = []
    for low in range(-1, 14):
        piece = {name: [batch.take((batch.ends == low).nonzero()[0])] for name, (batch,) in batches_of(case).items()}
        told += [told_row(row, runner) for row in runner.feed(piece, low + 1)]
        runner.state = codec.load(runner.program, codec.save(runner.program, runner.state))
    told += [told_row(row, runner) for row in runner.feed({}, int(NEVER))]
    times = [event.time for event in case.events]
    assert all(-1 <= time < 14 for time in times)
    assert Counter(told) == told_by_the_oracle(case)


def saved() -> bytes:
    program = plan(parse(QUERY % GPMS))
    return codec.save(program, initial_state(program))


def test_a_state_of_another_query_is_refused() -> None:
    other = plan(parse(QUERY % GPMS.replace("2", "3")))
    with pytest.raises(InputError, match="belongs to another query"):
        codec.load(other, saved())


def test_a_state_of_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    old, version = saved(), codec.VERSION
    monkeypatch.setattr(codec, "VERSION", version + 1)
    with pytest.raises(InputError, match=f"is of version {version}, and this is version {version + 1}"):
        codec.load(plan(parse(QUERY % GPMS)), old)


@pytest.mark.parametrize(
    "spoil", [lambda s: s[:-1], lambda s: s[:100] + b"?" + s[101:], lambda s: b"", lambda s: b"x" + s]
)
def test_a_state_that_is_not_whole_is_refused(spoil: object) -> None:
    assert callable(spoil)
    with pytest.raises(InputError, match="not whole"):
        codec.load(plan(parse(QUERY % GPMS)), spoil(saved()))


def waiting() -> SequenceRunner:
    """Three runs that wait in one bucket, each with an IRI bound."""
    runner = SequenceRunner(plan(parse(QUERY % GPMS)))
    events = [Event(time, f"<x:e{time}> <x:is> 1 .") for time in range(3)]
    assert list(runner.feed({"S": [encode(events, stream="S", first=0)]}, 2)) == []
    return runner


def linked(memory: Memory) -> list[int]:
    """The runs that wait, by what they stand behind."""
    head = region(memory, AT_HEADS)
    (run,) = head[head >= 0].tolist()
    found = []
    while run >= 0:
        found.append(run)
        run = int(region(memory, AT_RUNS)[run, NEXT_RUN])
    return found


def set_run(column: int, value: int) -> Callable[[Memory], None]:
    """Of the last in the bucket."""

    def forge(memory: Memory) -> None:
        region(memory, AT_RUNS)[linked(memory)[-1], column] = value

    return forge


def set_word(place: int, value: int) -> Callable[[Memory], None]:
    def forge(memory: Memory) -> None:
        memory[place] = value

    return forge


def make_a_circle(memory: Memory) -> None:
    runs = linked(memory)
    region(memory, AT_RUNS)[runs[-1], NEXT_RUN] = runs[0]


def lead_to_a_free_run(memory: Memory) -> None:
    region(memory, AT_RUNS)[linked(memory)[-1], NEXT_RUN] = region(memory, AT_FREE)[0]


def free_one_twice(memory: Memory) -> None:
    region(memory, AT_FREE)[0] = region(memory, AT_FREE)[1]


def lose_a_run(memory: Memory) -> None:
    region(memory, AT_RUNS)[linked(memory)[0], NEXT_RUN] = -1


def come_before_oneself(memory: Memory) -> None:
    region(memory, AT_NODES)[1, PARENT] = 2


def have_no_place(memory: Memory) -> None:
    region(memory, AT_NODES)[1, PLACE] = 77


def wait_for_nothing(memory: Memory) -> None:
    region(memory, AT_PENDING)[0] = region(memory, AT_FREE)[memory[FREE] - 1]
    memory[FREE] -= 1
    memory[PENDING] = 1


FORGED = {
    "a run in a state that there is none of": set_run(STATE, 5),
    "a link beyond the runs": set_run(NEXT_RUN, 1 << 40),
    "a link before the runs": set_run(NEXT_RUN, -2),
    "an event beyond those noted": set_run(NODE, 3),
    "no event": set_run(NODE, -1),
    "a term that there is none of": set_run(SLOTS + 1, 3),
    "a value of no kind": set_run(SLOTS, 0xFFFF),
    "a decimal with too many places": set_run(SLOTS, 7 | 19 << 8),
    "a circle": make_a_circle,
    "a free run that waits": lead_to_a_free_run,
    "a run that is free twice": free_one_twice,
    "a run in no bucket": lose_a_run,
    "an event before its past": come_before_oneself,
    "an event in no place of the pattern": have_no_place,
    "a match that waits for nothing": wait_for_nothing,
    "more room for runs": set_word(RUN_CAPACITY, 2048),
    "no room for runs": set_word(RUN_CAPACITY, 0),
    "room whose size wraps around": set_word(NODE_CAPACITY, 1 << 62),
    "narrower runs": set_word(RUN_WIDTH, 1),
    "runs elsewhere": set_word(AT_RUNS, 1 << 33),
    "buckets that are no power of two": set_word(BUCKETS, 1023),
    "more free runs than runs": set_word(FREE, 1025),
    "fewer than none": set_word(NODES, -1),
    "a match that was not taken away": set_word(MATCHES, 1),
    "a machine that was stopped": set_word(EDGE, 0),
}


@pytest.mark.parametrize("forge", FORGED.values(), ids=FORGED)
def test_a_state_that_would_lead_the_machine_astray_is_refused(forge: Callable[[Memory], None]) -> None:
    runner = waiting()
    state = codec.save(runner.program, runner.state)
    codec.load(runner.program, state)
    head, reader = read(codec.unsealed(state))
    arrays = [reader.next().copy() for _ in head.pop("arrays")]
    forge(arrays[2])
    with pytest.raises(InputError, match="The saved state is damaged: "):
        codec.load(runner.program, codec.sealed(written(head, arrays)))


@pytest.mark.parametrize(
    "texts", [["<x:e0>", ""], ["<x:e0>", "x"], ["<x:e0>", "<"], ["<x:e0>", '"a@en'], ["<x:e0>", "<x:e0>"], []]
)
def test_terms_that_are_none_are_refused(texts: list[str]) -> None:
    runner = waiting()
    head, reader = read(codec.unsealed(codec.save(runner.program, runner.state)))
    _, _, *arrays = (reader.next() for _ in head.pop("arrays"))
    forged = Texts.of(texts)
    with pytest.raises(InputError, match="The saved state is damaged: "):
        codec.load(runner.program, codec.sealed(written(head, [forged.text, forged.ends, *arrays])))


@pytest.mark.parametrize("content", [b"", b"\0" * 8, b"\2" + b"\0" * 7 + b"[]", b"\2" + b"\0" * 7 + b"{}", b"x" * 100])
def test_what_has_no_head_is_refused(content: bytes) -> None:
    with pytest.raises(InputError, match="The arrays are"):
        codec.load(plan(parse(QUERY % GPMS)), codec.sealed(content))


@pytest.mark.parametrize("shape", [[-1], [1 << 62], ["3"], [True], 3, None, [[1]]])
def test_arrays_of_no_shape_are_refused(shape: object) -> None:
    head = json.dumps({"arrays": [["int64", shape]]}).encode()
    with pytest.raises(InputError, match="The arrays are"):
        read(len(head).to_bytes(8, "little") + head)[1].next()
