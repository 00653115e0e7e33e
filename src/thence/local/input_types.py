"""The types of inputs that are tables, as far as a query's answer depends on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from thence.columns.attribute_types import attribute_types
from thence.columns.value_types import Types, common_attributes, needs_data
from thence.local.inputs import StreamInput
from thence.program.dataflow import Dataflow
from thence.program.union_types import check_unions


def check_inputs(dataflow: Dataflow, inputs: Mapping[str, Sequence[StreamInput]]) -> None:
    """InputError if a column of a UNION would be of several types. Tables alone have types before they are read; a CSV
    file is read for them, so they are asked for only where they matter."""
    if needs_data(dataflow.typed_stages):
        check_unions(dataflow, {name: common_attributes(map(_types_of, listed)) for name, listed in inputs.items()})


def _types_of(given: StreamInput) -> Types | None:
    columns = given.columns()
    return None if columns is None else attribute_types(columns)
