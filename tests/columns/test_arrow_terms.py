"""Numbers as texts: what Arrow writes is what Python's `repr` writes."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from thence.columns.arrow_values import texts_of_doubles


@given(st.lists(st.floats() | st.floats(-1e6, 1e6) | st.integers(-(2**60), 2**60).map(float), max_size=5))
def test_doubles_are_written_as_repr_writes_them(values: list[float]) -> None:
    assert texts_of_doubles(np.array(values, np.float64)).to_pylist() == list(map(repr, values))


@given(
    st.lists(
        (st.floats(1e-4, 1e9, exclude_max=True) | st.integers(1, 10**9 - 1).map(float)) | st.just(-0.0), min_size=1
    )
)
def test_doubles_without_exponents_are_written_as_repr_writes_them(values: list[float]) -> None:
    signed = [sign * value for value in values for sign in (1, -1)]
    assert texts_of_doubles(np.array(signed, np.float64)).to_pylist() == list(map(repr, signed))
