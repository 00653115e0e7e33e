"""A shard's saved state is taken up only by the query that saved it, whole; a damaged or forged one is refused, or does
no harm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import thence
from strategies.spaseq import Case, cases
from support.engine_cases import given_event, query_of
from support.shards import Given, Pipeline
from support.spaseq_runs import background
from thence.columns.array_codec import pack_arrays, unpack_arrays
from thence.engines.automaton.plan.spaseq import plan
from thence.errors import InputError
from thence.rdf.times import Domain
from thence.runtime import saved_state

pytestmark = pytest.mark.numba

QUERY = """
    PREFIX : <http://example.org/>
    SELECT ?x ?a ?b WITHIN 10 TICKS FROM STREAM S <http://example.org/s>
    { SEQ (A ; B) DEFINE GPM A ON S { ?x :is ?a } DEFINE GPM B ON S { ?x :was ?b } }
"""
EVENTS: Given = [
    ("S", thence.Event(1, "@prefix : <http://example.org/> . :h :is 'one' .", id="e1")),
    ("S", thence.Event(3, "@prefix : <http://example.org/> . :h :was 'two' .", id="e2")),
    ("S", thence.Event(9, "@prefix : <http://example.org/> . :h :was 'three' .", id="e3")),
]


def pipeline(text: str = QUERY, shards: int = 1) -> Pipeline:
    return Pipeline(plan(thence.parse(text).algebra), EVENTS, shards)


def saved(events: int = 1, shards: int = 1) -> bytes:
    """What a shard keeps of the first events."""
    found: list[bytes] = []

    def keep(state: bytes) -> bytes:
        found.append(state)
        return state

    pipeline(shards=shards).micro_batches([range(events), range(0)], kept=keep)
    return found[0]


def load(state: bytes, text: str = QUERY, shards: int = 1) -> None:
    pipeline(text).answering().shard().load(state, shards)


def test_what_was_saved_is_taken_up() -> None:
    assert [row["events"] for row in pipeline().micro_batches([[0], [1], [2]])] == [["e1", "e2"]]
    load(saved())


@pytest.mark.parametrize("other", [QUERY.replace("10 TICKS", "11 TICKS"), QUERY.replace("A ; B", "A , B")])
def test_a_state_of_another_query_is_refused(other: str) -> None:
    with pytest.raises(InputError, match=r"belongs to another query\. Give each query a checkpoint of its own"):
        load(saved(), other)


def test_a_state_of_the_same_query_compiled_otherwise_is_refused() -> None:
    program = plan(thence.parse(QUERY.replace("?x ?a ?b", "?x")).algebra)
    plainly = plan(thence.parse(QUERY.replace("?x ?a ?b", "?x")).algebra, optimise=False)
    assert program.fingerprint() != plainly.fingerprint()


def test_a_state_of_another_number_of_shards_is_refused() -> None:
    with pytest.raises(
        InputError, match=r"was written with 3 shards, and now there are 1\. Continue with shards=3, or"
    ):
        load(saved(shards=3))


def test_a_state_of_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    old, version = saved(), saved_state.VERSION
    monkeypatch.setattr(saved_state, "VERSION", version + 1)
    with pytest.raises(
        InputError, match=f"by version {version} of the state's format, and this is version {version + 1}"
    ):
        load(old)


@given(st.data())
def test_a_state_with_any_bytes_cut_or_changed_is_refused(data: st.DataObject) -> None:
    state = saved()
    place = data.draw(st.integers(0, len(state) - 1))
    changed = bytes([state[place] ^ data.draw(st.integers(1, 255))])
    for torn in (state[:place], state[:place] + changed + state[place + 1 :], state[:place] + state[place + 1 :]):
        with pytest.raises(InputError, match="cut off"):
            load(torn)


def test_whether_partial_matches_are_told_is_for_the_one_who_goes_on_to_say() -> None:
    shown = Pipeline(pipeline().program, EVENTS, 1, partial=True).answering().shard()
    shown.load(saved(), 1)
    assert len(shown.host.expire(100, Domain.TICKS)) == 1


@given(st.data(), cases())
def test_a_forged_state_is_refused_or_does_no_harm(data: st.DataObject, case: Case) -> None:
    query = query_of(case)
    if query.constructs:
        return
    order = sorted(case.events, key=lambda event: event.time)
    middle = data.draw(st.integers(0, len(order)))
    events = [(event.stream, given_event(event)) for event in order]
    lateness = data.draw(st.sampled_from([0, 3]))
    program = plan(query.algebra)
    whole = Pipeline(program, events, 1, background(case), lateness=lateness, partial=data.draw(st.booleans()))
    cut = [range(middle), range(middle, len(order)), range(0)]
    spoilt: list[np.dtype[Any]] = []
    try:
        whole.micro_batches(cut, kept=lambda state: forged(state, data, spoilt))
    except InputError:
        pass
    except (ValueError, KeyError):
        assert np.uint8 in spoilt  # a text is no term any more, which Python sees when it reads it


def forged(saved: bytes, data: st.DataObject, spoilt: list[np.dtype[Any]]) -> bytes:
    """A state in which a word is another, under a right seal; `spoilt` is told of which type it is."""
    head, arrays = _parts(saved_state.unsealed(saved))
    first = 3 + head["waiting"]  # ids, then chunks that wait, then the operator's own
    chosen = data.draw(st.sampled_from(["state", "state", "state", "ids", "waiting"]))
    if chosen == "state":
        memory = slice(first + 2, first + 5) if data.draw(st.booleans()) else slice(first, None)
        _spoil(data.draw(st.sampled_from(arrays[memory])), data, spoilt)  # the first: what the machine walks over
    elif chosen == "ids":
        _spoil(arrays[data.draw(st.integers(0, 2))], data, spoilt)
    elif head["waiting"]:
        place = data.draw(st.integers(3, first - 1))
        arrays[place] = np.frombuffer(_spoilt(arrays[place].tobytes(), data, spoilt), np.uint8)
    return saved_state.sealed(pack_arrays(head, arrays))


def _parts(content: bytes) -> tuple[dict[str, Any], list[NDArray[Any]]]:
    head, reader = unpack_arrays(content)
    return head, [reader.next().copy() for _ in head.pop("arrays")]


def _spoilt(content: bytes, data: st.DataObject, spoilt: list[np.dtype[Any]]) -> bytes:
    head, arrays = _parts(content)
    _spoil(data.draw(st.sampled_from(arrays)), data, spoilt)
    return pack_arrays(head, arrays)


def _spoil(array: NDArray[Any], data: st.DataObject, spoilt: list[np.dtype[Any]]) -> None:
    spoilt.append(array.dtype)
    if array.size:
        _change(array, data.draw(st.integers(0, array.size - 1)), data)


def _change(array: NDArray[Any], place: int, data: st.DataObject) -> None:
    flat = array.reshape(-1)
    near = st.integers(-3, 3).map(lambda step: int(flat[place]) + step)
    far = st.sampled_from([0, -1, -2, 1, 7, 64, 1023, 1024, 2047, 2048, 2**31, 2**62, 2**63 - 1, -(2**63), 2**20])
    value = data.draw(near | far | st.integers(-(2**63), 2**63 - 1))
    flat[place] = np.array([value % 2**64], np.uint64).astype(flat.dtype)[0]
