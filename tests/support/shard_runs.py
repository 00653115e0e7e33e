"""Cases run by the workers of Spark without Spark, in any number of shards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import thence
from support.engine_cases import Comparable
from thence.rdf.terms import XSD_STRING, Literal
from thence.runtime.results import column_names


def comparable(query: thence.Query, rows: Iterable[Mapping[str, Any]]) -> list[Comparable]:
    names = dict(zip(column_names(list(query.columns)), query.columns, strict=True))
    found = []
    for row in rows:
        cells = {names[name]: _cell(row[name]) for name in names if row[name] is not None}
        found.append((row["start"], row["end"], row["certain"], tuple(row["events"]), tuple(sorted(cells.items()))))
    return found


def _cell(cell: Any) -> str:
    if isinstance(cell, list):
        return " ".join(map(_cell, cell))
    match cell["type"]:
        case "uri":
            return f"<{cell['value']}>"
        case "bnode":
            return f"_:{cell['value'].rpartition('_')[2]}"
        case _:
            return str(Literal(cell["value"], cell["datatype"] or XSD_STRING, cell["language"]))
