"""The types of a SASE+ block's columns, for the output of its program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from thence.algebra.sase import ComponentQuery
from thence.program.output import AttributeTypes

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class ComponentTypes:
    """What RETURN or AGGREGATE emits, as `ColumnTypes`."""

    query: ComponentQuery

    def resolve(self, attributes: AttributeTypes | None, leaf: pa.DataType) -> dict[str, pa.DataType]:
        from thence.program.automaton.return_types import column_types  # Arrow is heavy, and not every run needs it

        return column_types(self.query, attributes, leaf)
