"""Selects what of a DataFrame is sent to the workers: the columns that the query needs, and an id for each row. Each
column is costly.

A row's id is made by Spark itself, of all its columns, so that those that no pattern asks for stay where they are. Half
of its 128 bits are the row's time, if that is a number: it is sent anyway, and rows are told apart among those of their
time. Of a type that nobody asks for only whether there is one is sent: there is no other half without.
"""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import DataFrame
from pyspark.sql.types import DoubleType, FloatType

from thence.io.event_tables import OWN_COLUMNS
from thence.rdf.terms import IRI
from thence.rdf.typed_events import RDF_TYPE, predicate_term
from thence.spark.sources.row_decoder import HIGH, LOW, Decoder, RowKind
from thence.spark.sources.row_hashes import MINUS, NULL
from thence.spark.sources.row_ids import id_prefix
from thence.spark.sources.source_positions import COLUMN


def narrowed_decoder(decoder: Decoder, asked: frozenset[IRI] | None) -> Decoder:
    """How rows are read of which no more is sent than must be. `asked` are the predicates of which anything is asked;
    None: of all."""
    names = dict(decoder.names)
    given = names.pop("id", None)
    kept = {ours: theirs for ours, theirs in names.items() if _is_asked(ours, decoder, asked, given)}
    if given is not None:
        return replace(decoder, names=(*kept.items(), ("id", given)))
    untyped = decoder.kind is RowKind.TYPED and "type" not in kept
    return replace(decoder, names=tuple(kept.items()), hashed=True, untyped=untyped)


def selected_columns(frame: DataFrame, decoder: Decoder, narrow: Decoder) -> DataFrame:
    """The part of a DataFrame that is sent. One call says it all in SQL: column by column, there would be hundreds of
    calls to Java."""
    names = dict(narrow.names)
    high, low = _halves(frame, decoder.without_positions())
    given = names.pop("id", None)
    columns = [quoted(theirs) for theirs in dict.fromkeys(names.values())]
    if given is not None:
        text = f"cast({quoted(given)} AS string)"
        made = f"cast({_binary(id_prefix(decoder.stream))} AS string) || {_hexadecimal(high)} || {_hexadecimal(low)}"
        columns.append(f"coalesce(nullif({text}, ''), {made}) AS {quoted(given)}")
        return frame.selectExpr(*columns)
    kind = quoted(dict(decoder.names)["type"]) if narrow.untyped else ""
    columns.append(f"if({kind} <> '', {high}, NULL) AS {HIGH}" if narrow.untyped else f"{high} AS {HIGH}")
    if decoder.domain is None:
        columns.append(f"{low} AS {LOW}")
    return frame.selectExpr(*columns)


def _is_asked(ours: str, decoder: Decoder, asked: frozenset[IRI] | None, given: str | None) -> bool:
    if asked is None or decoder.kind is not RowKind.TYPED:
        return True
    if ours == "type":  # where rows have ids of their own, these say nothing of their types
        return RDF_TYPE in asked or given is not None
    return ours in (*OWN_COLUMNS, COLUMN) or predicate_term(ours, decoder.namespace) in asked


def _halves(frame: DataFrame, decoder: Decoder) -> tuple[str, str]:
    """128 bits of a stream's row. A null changes no hash, and -0.0 has that of 0.0, so that it is said of each column
    which of them it has (`row_hashes.NULL`)."""
    cells = [_binary(decoder.stream)]
    for name in sorted(decoder.columns):
        cell = quoted(name)
        minus = f"if({cell} = 0 AND cast({cell} AS string) = '-0.0', {MINUS}, 0)"
        other = minus if isinstance(frame.schema[name].dataType, FloatType | DoubleType) else "0"
        cells += [f"if({cell} IS NULL, {NULL}, {other})", cell]
    told = ", ".join(cells)
    return f"xxhash64(1, {told})", f"xxhash64(2, {told})"


def _binary(text: str) -> str:
    return f"X'{text.encode().hex()}'"


def _hexadecimal(half: str) -> str:
    return f"lpad(lower(hex({half})), 16, '0')"


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
