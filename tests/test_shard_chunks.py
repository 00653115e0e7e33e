"""Chunks come out of their bytes as they went in, whatever their events are called."""

from __future__ import annotations

import numpy as np
import pytest

import thence
from thence.errors import InputError
from thence.kernel.arrays import read, written
from thence.kernel.rows import concatenated
from thence.plan.sequences import plan
from thence.rdf.texts import Texts
from thence.spark.chunks import Chunk, packed, unpacked

pytestmark = pytest.mark.numba
PROGRAM = plan(
    thence.parse("""
        SELECT ?a WITHIN 9 TICKS FROM STREAM S <http://example.org/s>
        WHERE { SEQ (A) DEFINE GPM A ON S { ?h <http://example.org/watts> ?a } }""").algebra
)
HASH = "0123456789abcdef"


def chunk(ids: list[str], *, home: bool = False) -> Chunk:
    tables = tuple(concatenated([], asked.variables) for asked in PROGRAM.tables)
    times, nothing = np.arange(-1, len(ids) - 1), np.empty(0, np.int64)
    return Chunk("S", times, Texts.of(ids), np.full(len(ids), home), nothing, tables, Texts.of([]), True)


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
    made = unpacked(PROGRAM, packed(chunk(ids, home=home)))
    assert made.ids.to_list() == ids
    assert made.home.tolist() == [home] * len(ids)
    assert made.times.tolist() == list(range(-1, len(ids) - 1))


def test_hashes_take_half_the_room_and_none_for_a_time() -> None:
    times = [f"{HASH}{time % 2**64:016x}" for time in range(-1, 999)]
    sizes = [len(packed(chunk(ids))) for ids in (times, [HASH + HASH] * 1000, [f"{HASH}{HASH}"[:31] + "g"] * 1000)]
    assert sizes[0] + 8_000 <= sizes[1] <= sizes[2] - 24_000 + 100


def test_hashes_of_other_events_than_there_are_are_refused() -> None:
    content = packed(chunk([HASH + HASH] * 3))
    head, reader = read(content)
    arrays = [reader.next() for _ in head.pop("arrays")]
    arrays[1] = arrays[1][:2]
    with pytest.raises(InputError):
        unpacked(PROGRAM, written(head, arrays))
