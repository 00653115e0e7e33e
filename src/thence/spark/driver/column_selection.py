"""Selects the columns and rows of a DataFrame that are sent to the workers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from operator import and_, or_
from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T
from pyspark.sql.types import DoubleType, FloatType

from thence.algebra.expressions import Compare, Comparison, Expression
from thence.extraction.attributes import OWN_TIMES, SUBJECT, TYPE, local_name
from thence.interface.tables import Attributes, EventVariable, Fit, Table
from thence.io.row_ids import id_prefix
from thence.io.table_layout import ID, EventColumns, RowKind
from thence.rdf.events import RDF_TYPE, predicate_term
from thence.rdf.terms import IRI, Literal
from thence.rdf.values import is_number, value
from thence.spark.sources.row_decoder import HIGH, LOW, Decoder
from thence.spark.sources.row_hashes import MINUS, NULL
from thence.spark.sources.row_positions import COLUMN

# Selects what of a DataFrame is sent to the workers: the columns that the query needs, and an id for each row. Each
# column is costly.
#
# A row's id is made by Spark itself, of all its columns, so that those that no pattern asks for stay where they are.
# Half of its 128 bits are the row's time, if that is a number: it is sent anyway, and rows are distinguished among
# those of their time. Of a type that nobody asks for only whether there is one is sent: there is no other half without.


def narrowed_decoder(decoder: Decoder, asked: frozenset[IRI] | None) -> Decoder:
    """The decoder of rows reduced to the columns that are needed. `asked` are the predicates that the query reads;
    None: all."""
    whole = decoder.parts
    parts = dict(whole.parts)
    given = parts.pop("id", None)
    if decoder.kind is RowKind.TYPED and asked is not None and given is None and RDF_TYPE not in asked:
        parts.pop("type", None)  # where rows have ids of their own, these say nothing of their types
    if given is not None:
        parts["id"] = ID
    kept = [
        name
        for name in whole.attributes
        if asked is None or name == COLUMN or predicate_term(name, decoder.namespace) in asked
    ]
    untyped = "type" in whole.parts and "type" not in parts
    found = replace(whole, parts=parts, attributes=tuple(kept))
    return replace(decoder, parts=found, hashed=given is None, untyped=untyped)


def selected_columns(frame: DataFrame, decoder: Decoder, narrow: Decoder) -> DataFrame:
    """The part of a DataFrame that is sent, selected in one SQL text: column by column, there would be hundreds of
    calls to Java."""
    high, low = _halves(frame, decoder.without_positions())
    columns = [quoted(theirs) for theirs in narrow.columns if theirs != ID]
    own = decoder.parts.parts
    if not narrow.hashed:
        text = f"cast({quoted(own['id'])} AS string)"
        made = f"cast({_binary(id_prefix(decoder.stream))} AS string) || {_hexadecimal(high)} || {_hexadecimal(low)}"
        columns.append(f"coalesce(nullif({text}, ''), {made}) AS {ID}")
        return frame.selectExpr(*columns)
    kind = quoted(own["type"]) if narrow.untyped else ""
    columns.append(f"if({kind} <> '', {high}, NULL) AS {HIGH}" if narrow.untyped else f"{high} AS {HIGH}")
    if not decoder.numbered:
        columns.append(f"{low} AS {LOW}")
    return frame.selectExpr(*columns)


def _halves(frame: DataFrame, decoder: Decoder) -> tuple[str, str]:
    """128 bits of a stream's row. A null changes no hash, and -0.0 has that of 0.0, so that it is said of each column
    which of them it has (`row_hashes.NULL`)."""
    cells = [_binary(decoder.stream)]
    for name in sorted(decoder.columns):
        cell = quoted(name)
        minus = f"if({cell} = 0 AND cast({cell} AS string) = '-0.0', {MINUS}, 0)"
        other = minus if isinstance(frame.schema[name].dataType, FloatType | DoubleType) else "0"
        cells += [f"if({cell} IS NULL, {NULL}, {other})", cell]
    listed = ", ".join(cells)
    return f"xxhash64(1, {listed})", f"xxhash64(2, {listed})"


def _binary(text: str) -> str:
    return f"X'{text.encode().hex()}'"


def _hexadecimal(half: str) -> str:
    return f"lpad(lower(hex({half})), 16, '0')"


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


# SASE+ conditions on single events as Spark filters, so that Parquet row groups are skipped and fewer rows are sent.
#
# The filter lets through whatever the query may want and more: it is only there to save work, and all is judged again.
# What Spark would judge otherwise than the language is left out of it. A row that it rejects is not looked at further,
# so that a text of it which is too long is not a bad event.

_ALSO_WITHOUT = frozenset(map(str, (*OWN_TIMES, TYPE, SUBJECT)))
"""Attributes that events have without such a column."""

_TURNED = {
    Comparison.LESS: Comparison.GREATER,
    Comparison.GREATER: Comparison.LESS,
    Comparison.LESS_OR_EQUAL: Comparison.GREATER_OR_EQUAL,
    Comparison.GREATER_OR_EQUAL: Comparison.LESS_OR_EQUAL,
    Comparison.SAME: Comparison.SAME,
}


def prefiltered(frame: DataFrame, tables: Sequence[Table], whole: Decoder) -> DataFrame:
    """The rows of a DataFrame that may matter, and the bad ones, which are reported. In a stream every event moves the
    watermark, so that none is left out."""
    pattern = tables[0].pattern if len(tables) == 1 else None
    if not isinstance(pattern, Attributes) or pattern.all_count or whole.kind is not RowKind.TYPED or frame.isStreaming:
        return frame
    if not whole.numbered or whole.times.unit is not None or whole.times.zone is not None:
        return frame  # a time that is text may be none at all, as may be one that is to be computed
    names = dict(whole.names)
    found = [_fitting(pattern, fit, frame, whole.parts) for fit in pattern.fits]
    wanted = [each for each in found if each is not None]
    if len(wanted) < len(found):
        return frame  # something may be any event
    return frame.filter(reduce(or_, [*wanted, *_bad(names)]))


def _bad(names: dict[str, str]) -> list[Column]:
    """The rows that are not events."""
    columns = {ours: F.col(quoted(names[ours])) for ours in ("time", "type", "end") if ours in names}
    found = [columns["time"].isNull()]
    found += [columns["type"].isNull(), columns["type"] == ""] if "type" in columns else []
    return [*found, columns["end"] < columns["time"]] if "end" in columns else found


def _fitting(pattern: Attributes, fit: Fit, frame: DataFrame, columns: EventColumns) -> Column | None:
    """The test that a row must pass, as far as Spark can check it; None if no value is tested."""
    tests = [_compared(pattern.predicates[number], frame, columns) for number in fit.predicates]
    found = [test for test in tests if test is not None]
    if not found:
        return None
    if fit.type is not None and "type" in columns.parts:
        local = fit.type.local if fit.type.iri is None else local_name(fit.type.iri)
        if "%" not in local:  # else it may be written otherwise in a table
            found.append(
                F.col(quoted(columns.parts["type"])).endswith(local)
            )  # by its local name or whole: looked at again
    return reduce(and_, found)


def _compared(condition: Expression, frame: DataFrame, columns: EventColumns) -> Column | None:
    match condition:
        case Compare(comparison, EventVariable() as variable, Literal() as constant) if comparison in _TURNED:
            return _comparison(comparison, variable, constant, frame, columns)
        case Compare(comparison, Literal() as constant, EventVariable() as variable) if comparison in _TURNED:
            return _comparison(_TURNED[comparison], variable, constant, frame, columns)
        case _:
            return None


def _comparison(
    comparison: Comparison, variable: EventVariable, constant: Literal, frame: DataFrame, columns: EventColumns
) -> Column | None:
    theirs = str(variable.attribute)
    found: Any = value(constant)
    if theirs not in columns.attributes or theirs in _ALSO_WITHOUT or isinstance(found, bool):
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
