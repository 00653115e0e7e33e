"""SASE+ conditions on single events as Spark filters, so that Parquet row groups are skipped and fewer rows are sent.

The filter lets through whatever the query may want and more: it is only there to save work, and all is judged again.
What Spark would judge otherwise than the language is left out of it. A row that it rejects is not looked at further, so
that a text of it which is too long is no bad event.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_, or_
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from thence.algebra.expressions import Compare, Comparison, Expression
from thence.kernel.attributes import local_name
from thence.program.event_columns import EventVariable
from thence.program.tables import Attributes, Fit, Table
from thence.rdf.terms import Literal
from thence.rdf.values import is_number, value
from thence.spark.driver.column_selection import quoted
from thence.spark.sources.row_decoder import Decoder, RowKind

_TURNED = {
    Comparison.LESS: Comparison.GREATER,
    Comparison.GREATER: Comparison.LESS,
    Comparison.LESS_OR_EQUAL: Comparison.GREATER_OR_EQUAL,
    Comparison.GREATER_OR_EQUAL: Comparison.LESS_OR_EQUAL,
    Comparison.SAME: Comparison.SAME,
}


def prefiltered(frame: DataFrame, tables: Sequence[Table], whole: Decoder) -> DataFrame:
    """The rows of a DataFrame that may matter, and those that are no events, which are told. In a stream every event
    says how far time has come, so that none is left out."""
    pattern = tables[0].pattern if len(tables) == 1 else None
    if not isinstance(pattern, Attributes) or pattern.all_count or whole.kind is not RowKind.TYPED or frame.isStreaming:
        return frame
    names = dict(whole.names)
    if whole.domain is None:
        return frame  # a time that is text may be none at all
    found = [_fitting(pattern, fit, frame, names) for fit in pattern.fits]
    wanted = [each for each in found if each is not None]
    if len(wanted) < len(found):
        return frame  # something may be any event
    return frame.filter(reduce(or_, [*wanted, *_bad(names)]))


def _bad(names: dict[str, str]) -> list[Column]:
    """What rows are no events."""
    columns = {ours: F.col(quoted(names[ours])) for ours in ("time", "type", "end") if ours in names}
    found = [columns["time"].isNull(), columns["type"].isNull(), columns["type"] == ""]
    return [*found, columns["end"] < columns["time"]] if "end" in columns else found


def _fitting(pattern: Attributes, fit: Fit, frame: DataFrame, names: dict[str, str]) -> Column | None:
    """What must hold of a row, as far as Spark can check it; None, if that is nothing of its values."""
    tests = [_compared(pattern.predicates[number], frame, names) for number in fit.predicates]
    found = [test for test in tests if test is not None]
    if not found:
        return None
    if fit.type is not None:
        local = fit.type.local if fit.type.iri is None else local_name(fit.type.iri)
        if "%" not in local:  # else it may be written otherwise in a table
            found.append(F.col(quoted(names["type"])).endswith(local))  # by its local name or whole: looked at again
    return reduce(and_, found)


def _compared(condition: Expression, frame: DataFrame, names: dict[str, str]) -> Column | None:
    match condition:
        case Compare(comparison, EventVariable() as variable, Literal() as constant) if comparison in _TURNED:
            return _comparison(comparison, variable, constant, frame, names)
        case Compare(comparison, Literal() as constant, EventVariable() as variable) if comparison in _TURNED:
            return _comparison(_TURNED[comparison], variable, constant, frame, names)
        case _:
            return None


def _comparison(
    comparison: Comparison, variable: EventVariable, constant: Literal, frame: DataFrame, names: dict[str, str]
) -> Column | None:
    theirs = names.get(str(variable.attribute))
    found: Any = value(constant)
    if theirs is None or isinstance(found, bool):
        return None
    kind, column = frame.schema[theirs].dataType, F.col(quoted(theirs))
    if isinstance(kind, T.StringType):
        return column == found if isinstance(found, str) and comparison is Comparison.SAME else None
    exact = isinstance(kind, T.IntegralType) and isinstance(found, int) and abs(found) < 2**63
    if not exact and not (isinstance(kind, T.DoubleType) and is_number(found)):
        return None
    number = F.lit(found if exact else float(found))
    match comparison:
        case Comparison.LESS:
            return column < number
        case Comparison.GREATER:
            return column > number
        case Comparison.LESS_OR_EQUAL:
            return column <= number
        case Comparison.GREATER_OR_EQUAL:
            return column >= number
        case _:
            return column == number
