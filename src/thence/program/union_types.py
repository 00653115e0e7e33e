"""Rejects rows that come together in one column, but are of different types (SA-41)."""

from __future__ import annotations

from collections.abc import Mapping

from thence.columns.value_types import CURE, Types, disagreement
from thence.errors import InputError
from thence.program.dataflow import Dataflow


def check_unions(dataflow: Dataflow, given: Mapping[str, Types | None]) -> None:
    """InputError if a column of the rows of several stages would be of several types, by the types of the streams."""
    found = disagreement(dataflow.typed_stages, given)
    if found is not None:
        raise InputError(f"{found.reason} Try: {CURE}")
