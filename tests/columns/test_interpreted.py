"""A function that Python runs while there is little to do gives what it gives compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from thence.columns import hashing as distinct_triples
from thence.columns import hashing as fingerprints
from thence.columns import value_kinds
from thence.engines.automaton import contiguity, match_buffer
from thence.io import csv_records
from thence.jit import compiled as interpreted
from thence.jit.compiled import LazyEntry, lazy_entry
from thence.match import hash_join, tagged_arithmetic
from thence.spark.sources import row_hashes

pytestmark = pytest.mark.numba

kinds = st.sampled_from(
    [
        *range(value_kinds.DATETIME + 1),
        *(value_kinds.DECIMAL | scale << value_kinds.SCALE_SHIFT for scale in (1, 9, 18)),
    ]
)
bits = st.one_of(
    st.integers(-5, 5),
    st.integers(-(2**63), 2**63 - 1),
    st.floats().map(lambda number: int(np.float64(number).view(np.int64))),
)
values = st.lists(st.tuples(kinds, bits, kinds, bits), min_size=1, max_size=20)


def both_ways(function: LazyEntry, fill: Callable[[Callable[..., Any]], Any]) -> None:
    found, expected = fill(function.interpreted), fill(function.compiled)
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def columns(rows: list[tuple[int, int, int, int]]) -> list[NDArray[Any]]:
    types = (np.uint16, np.int64, np.uint16, np.int64)
    return [np.array(column, dtype) for column, dtype in zip(zip(*rows, strict=True), types, strict=True)]


@given(values)
def test_comparing_gives_the_same_both_ways(rows: list[tuple[int, int, int, int]]) -> None:
    def fill(order_all: Callable[..., Any]) -> Any:
        orders = np.empty(len(rows), np.int8)
        order_all(*columns(rows), orders)
        return [orders]

    both_ways(tagged_arithmetic.order_all, fill)


numeric = st.sampled_from(
    [
        value_kinds.INTEGER,
        value_kinds.DECIMAL,
        value_kinds.DECIMAL | 2 << value_kinds.SCALE_SHIFT,
        value_kinds.FLOAT,
        value_kinds.DOUBLE,
    ]
)


@given(
    st.lists(st.tuples(numeric, bits, numeric, bits), min_size=1),
    st.integers(tagged_arithmetic.ADD, tagged_arithmetic.DIVIDE),
)
def test_arithmetic_gives_the_same_both_ways(rows: list[tuple[int, int, int, int]], operation: int) -> None:
    def fill(arithmetic_all: Callable[..., Any]) -> Any:
        found = np.empty(len(rows), np.uint16), np.empty(len(rows), np.int64)
        arithmetic_all(operation, *columns(rows), *found)
        return found

    both_ways(tagged_arithmetic.arithmetic_all, fill)


ids = st.integers(-1, 2)
tables = st.lists(st.tuples(ids, ids, ids), max_size=20).map(
    lambda rows: np.array(rows, np.int32).reshape(-1, 3).T.copy()
)


@given(tables, tables, st.integers(0, 3), st.integers(0, 30))
def test_joining_gives_the_same_both_ways(left: Any, right: Any, certain: int, most: int) -> None:
    both_ways(hash_join._chains, lambda chains: chains(right, certain))
    chained = hash_join._chains.compiled(right, certain)
    both_ways(hash_join._join, lambda joined: joined(left, right, certain, *chained, most))


@given(st.lists(st.lists(st.tuples(ids, ids, ids), max_size=5), min_size=1), st.integers(1, 20))
def test_leaving_duplicates_out_gives_the_same_both_ways(events: list[list[tuple[int, ...]]], times: int) -> None:
    rows = [row for event in events for row in event * times]
    offsets = np.cumsum([0, *(len(event) * times for event in events)])
    triples = np.array(rows, np.int32).reshape(-1, 3).T.copy()

    def fill(mark: Callable[..., Any]) -> Any:
        keep = np.ones(len(rows), np.bool_)
        mark(offsets, *triples, keep)
        return [keep]

    both_ways(distinct_triples._mark_duplicates, fill)


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2), st.integers(-1, 1), st.integers(1, 3)), max_size=20))
def test_noting_partitions_gives_the_same_both_ways(rows: list[tuple[int, int, int, int]]) -> None:
    table = np.array(sorted(rows), np.int64).reshape(-1, 4)
    times, keys, roles = table[:, 0].copy(), table[:, 1:3].copy(), table[:, 3].astype(np.uint8)

    def fill(note: Callable[..., Any]) -> Any:
        places, known = np.full(64, -1, np.int64), (np.zeros((32, 2), np.int64), np.zeros((32, 2), np.int64))
        previous = np.empty(len(times), np.int64)
        count = note(places, *known, 0, times, keys, roles, np.arange(len(times)), previous)
        return [places, *known, previous, [count]]

    def entered(place_all: Callable[..., Any]) -> Any:
        places = np.full(64, -1, np.int64)
        place_all(places, keys, len(keys))
        return [places]

    both_ways(contiguity.note, fill)
    both_ways(contiguity.place_all, entered)


@given(st.lists(st.integers(-1, 10), min_size=1, max_size=20))
def test_unrolling_matches_gives_the_same_both_ways(parents: list[int]) -> None:
    nodes = np.zeros((len(parents), 5), np.int64)
    nodes[:, match_buffer.PARENT] = [min(parent, number - 1) for number, parent in enumerate(parents)]
    last = np.arange(len(parents))

    def fill(lengths: Callable[..., Any]) -> Any:
        offsets = np.empty(len(last) + 1, np.int64)
        lengths(nodes, last, offsets)
        return [offsets]

    def unrolled_by(unrolled: Callable[..., Any]) -> Any:
        (offsets,) = fill(match_buffer._lengths.compiled)
        found = np.empty((offsets[-1], 5), np.int64)
        unrolled(nodes, last, offsets, found)
        return [found]

    both_ways(match_buffer._lengths, fill)
    both_ways(match_buffer._unroll, unrolled_by)


@given(st.text(alphabet='a,"\n\r', max_size=40), st.booleans())
def test_finding_records_gives_the_same_both_ways(text: str, final: bool) -> None:
    def fill(find: Callable[..., Any]) -> Any:
        records = np.zeros((len(text) + 1, 4), np.int64)
        return [find(np.frombuffer(bytearray(text.encode()), np.uint8), final, records), records]

    both_ways(csv_records._find_records, fill)


@given(st.lists(st.text(max_size=40), min_size=1, max_size=5), st.integers(0, 2**64 - 1), st.booleans())
def test_hashes_are_the_same_both_ways(texts: list[str], seed: int, nulls: bool) -> None:
    encoded = [text.encode() for text in texts]
    text, ends = np.frombuffer(bytearray(b"".join(encoded)), np.uint8), np.cumsum([len(each) for each in encoded])
    words, valid = np.full(len(ends), seed, np.uint64), np.arange(len(ends) if nulls else 0) % 2 == 0
    given = [np.full(len(ends), 42, np.uint64), np.full((len(ends), 2), seed, np.uint64)]

    def filled(*arguments: Any, found: NDArray[Any]) -> Callable[[Callable[..., Any]], Any]:
        def fill(function: Callable[..., Any]) -> Any:
            mine = found.copy()
            return [mine, [function(*arguments, mine) or 0]]

        return fill

    both_ways(row_hashes.hash_numbers, filled(words, valid, nulls, found=given[0]))
    both_ways(row_hashes.hash_texts, filled(text, ends, np.arange(len(ends)), valid, found=given[0]))
    both_ways(row_hashes.hash_literals, lambda hashed: [hashed(1, text, np.uint64(seed))])
    both_ways(fingerprints.hash_texts, filled(text, ends, found=given[1]))
    kinds, bits = np.arange(len(ends)) - 1, np.arange(len(ends))
    both_ways(fingerprints.hash_values, filled(kinds, bits, kinds > 0, words, found=given[1]))
    offsets, ones = np.array([0, len(ends)]), np.array([-1])
    both_ways(fingerprints.hash_events, filled(given[1], offsets, bits, ones, ones, found=given[1][:1]))
    digits = np.frombuffer(bytearray(b"0123456789abcdeg" * 2 * len(ends)), np.uint8)
    both_ways(fingerprints.read_digits, filled(digits, fingerprints._VALUES, found=given[1]))


@pytest.mark.parametrize(("kept", "awake", "times"), [(False, True, 1), (True, False, 2), (True, True, 10)])
def test_what_has_more_than_a_little_to_do_is_compiled(
    monkeypatch: pytest.MonkeyPatch, kept: bool, awake: bool, times: int
) -> None:
    monkeypatch.setattr(interpreted, "LITTLE", 2 * (interpreted.CALL + 5) * times)
    monkeypatch.setattr(interpreted, "is_cached", lambda compiled: kept)
    monkeypatch.setattr(interpreted, "_awake", [True] * awake)

    @lazy_entry(len)
    def doubled(numbers):  # type: ignore[no-untyped-def]
        return numbers * 2

    for _ in range(2):
        doubled(np.arange(5))
        assert not doubled.compiled.signatures
    doubled(np.arange(1))
    assert doubled.compiled.signatures


def test_a_long_text_is_much_to_do() -> None:
    text = np.full(1 << 20, ord("0"), np.uint8)
    ends = np.array([len(text)])
    assert value_kinds.classify.work(text, ends, 0, 1, None, None) > interpreted.LITTLE
