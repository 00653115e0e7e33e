"""Chunks come out of their bytes as they went in, whatever their events are called."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import thence
from thence.columns.array_codec import pack_arrays, unpack_arrays
from thence.columns.texts import Texts
from thence.engines.automaton.plan.spaseq import plan
from thence.errors import InputError
from thence.interface.extracted import concatenate_bindings
from thence.spark.worker.chunks import Chunk, pack_chunk, unpack_chunk

pytestmark = pytest.mark.numba
PROGRAM = plan(
    thence.parse("""
        SELECT ?a WITHIN 9 TICKS FROM STREAM S <http://example.org/s>
        WHERE { SEQ (A) DEFINE GPM A ON S { ?h <http://example.org/watts> ?a } }""").algebra
)
HASH = "0123456789abcdef"


def chunk(ids: list[str], *, home: bool = False) -> Chunk:
    tables = tuple(concatenate_bindings([], asked.variables) for asked in PROGRAM.tables)
    times, nothing = np.arange(-1, len(ids) - 1), np.empty(0, np.int64)
    return Chunk("S", times, times, Texts.of(ids), np.full(len(ids), home), nothing, tables, Texts.of([]), True)


@pytest.mark.parametrize("home", [True, False])
@pytest.mark.parametrize(
    "ids",
    [
        [HASH + "f" * 16, HASH[::-1] + "0" * 16, HASH + "0" * 15 + "1"],  # with the events' times
        [HASH + HASH, HASH + "0" * 16],
        [HASH + HASH, (HASH + HASH).upper()],
        [HASH + HASH, HASH[1:] + HASH],
        [HASH + HASH, HASH[1:] + HASH + "g"],
        ["", HASH + HASH + HASH + HASH],
        ["S:1", "é"],
        [],
    ],
)
def test_events_are_called_as_they_were(ids: list[str], home: bool) -> None:
    made = unpack_chunk(PROGRAM, pack_chunk(chunk(ids, home=home)))
    assert made.ids.to_list() == ids
    assert made.home.tolist() == [home] * len(ids)
    assert made.ends.tolist() == list(range(-1, len(ids) - 1))


def test_hashes_take_half_the_room_and_none_for_a_time() -> None:
    times = [f"{HASH}{time % 2**64:016x}" for time in range(-1, 999)]
    sizes = [len(pack_chunk(chunk(ids))) for ids in (times, [HASH + HASH] * 1000, [f"{HASH}{HASH}"[:31] + "g"] * 1000)]
    assert sizes[0] + 8_000 <= sizes[1] <= sizes[2] - 24_000 + 100


def test_hashes_of_other_events_than_there_are_are_refused() -> None:
    content = pack_chunk(chunk([HASH + HASH] * 3))
    head, reader = unpack_arrays(content)
    arrays = [reader.next() for _ in head.pop("arrays")]
    arrays[2] = arrays[2][:2]
    with pytest.raises(InputError):
        unpack_chunk(PROGRAM, pack_arrays(head, arrays))


def lasting(*lengths: int) -> Chunk:
    """Events that end at 0, 1, … and last so long."""
    ends = np.arange(len(lengths))
    return replace(chunk([HASH + HASH] * len(lengths)), starts=ends - np.array(lengths), ends=ends)


def test_events_start_and_end_when_they_did_and_points_take_no_room_for_it() -> None:
    made = unpack_chunk(PROGRAM, pack_chunk(lasting(0, 3, 1, 9)))
    assert (made.starts.tolist(), made.ends.tolist()) == ([0, -2, 1, -6], [0, 1, 2, 3])
    assert [piece.starts.tolist() for piece in made.pieces(3)] == [[0, -2, 1], [-6]]
    made = unpack_chunk(PROGRAM, pack_chunk(chunk([HASH + HASH] * 3)))
    assert made.starts is made.ends
    assert len(pack_chunk(chunk([HASH + HASH] * 1000))) + 8_000 <= len(pack_chunk(lasting(*[1] * 1000)))


@pytest.mark.parametrize(
    "starts", [np.array([0, 0]), np.array([0, 0, 3]), np.array([0.0, 0, 0]), np.zeros((3, 1), np.int64), np.int64(0)]
)
def test_starts_that_are_none_are_refused(starts: NDArray[Any]) -> None:
    head, reader = unpack_arrays(pack_chunk(lasting(0, 1, 2)))
    arrays = [reader.next() for _ in head.pop("arrays")]
    arrays[1] = starts
    with pytest.raises(InputError):
        unpack_chunk(PROGRAM, pack_arrays(head, arrays))
