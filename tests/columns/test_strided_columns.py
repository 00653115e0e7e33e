"""Columns become rows and rows columns, however the columns lie in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from thence.jit import pointers as strided_columns
from thence.jit.pointers import read_columns, write_columns

pytestmark = pytest.mark.numba


@st.composite
def column_lists(draw: st.DrawFn) -> tuple[int, list[NDArray[Any]]]:
    """Columns of one length: contiguous, strided, backwards, of one number, narrow, read-only."""
    length = draw(st.integers(0, 150))
    made: list[NDArray[Any]] = []
    for number in range(draw(st.integers(1, 4))):
        stride = draw(st.sampled_from([1, 3, -1, -2, 0]))
        kind = draw(st.sampled_from([np.int64, np.uint16]))
        values = (np.arange(length * max(abs(stride), 1)) + 1000 * number).astype(kind)
        column = np.broadcast_to(kind(number), (length,)) if stride == 0 else values[::stride]
        if stride > 0:
            column.flags.writeable = draw(st.booleans())
        made.append(column)
    return length, made


@pytest.fixture(params=["compiled", "by NumPy"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strided_columns, "_FEW", 1 if request.param == "compiled" else 10_000)


@pytest.mark.usefixtures("way")
def test_columns_are_written_to_their_places() -> None:
    @given(column_lists())
    def check(listed: tuple[int, list[NDArray[Any]]]) -> None:
        length, columns = listed
        table = np.full((length, 2 * len(columns) + 1), -1, np.int64)
        write_columns(table, [(2 * place + 1, column) for place, column in enumerate(columns)], [(0, 7)])
        assert (table[:, 0] == 7).all() and (table[:, 2::2] == -1).all()
        for place, column in enumerate(columns):
            assert table[:, 2 * place + 1].tolist() == column.tolist()

    check()


@pytest.mark.usefixtures("way")
def test_columns_are_read_whole_or_in_an_order() -> None:
    @given(column_lists(), st.data())
    def check(listed: tuple[int, list[NDArray[Any]]], data: st.DataObject) -> None:
        length, columns = listed
        assert read_columns(columns).tolist() == [column.tolist() for column in columns]
        order = np.array(data.draw(st.lists(st.integers(0, length - 1), max_size=200)) if length else [], np.int64)
        assert read_columns(columns, order).tolist() == [column[order].tolist() for column in columns]

    check()


def test_what_is_not_there_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strided_columns, "_FEW", 1)
    for order in ([0, 5], [-1]):
        with pytest.raises(IndexError):
            read_columns([np.arange(5)], np.array(order))
    with pytest.raises(IndexError):
        read_columns([np.arange(5), np.arange(4)])
    with pytest.raises(IndexError):
        write_columns(np.zeros((3, 1), np.int64), [(0, np.arange(2))], [])
