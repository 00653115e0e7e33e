"""What of a DataFrame is sent to the workers: the columns that a query asks for, and an id for each row.

A row's id is made by Spark itself, of all its columns, so that those that no pattern asks for stay where they are.
"""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from thence.rdf.tabular import OWN_COLUMNS
from thence.rdf.terms import IRI
from thence.rdf.typed import predicate_term
from thence.spark.decode import HIGH, LOW, Decoder, Kind


def selected(frame: DataFrame, decoder: Decoder, asked: frozenset[IRI] | None) -> tuple[DataFrame, Decoder]:
    """The part of a DataFrame that is sent, and how it is read. `asked` are the predicates of which anything is asked;
    None: of all."""
    names = dict(decoder.names)
    halves = _halves(decoder)
    given = names.pop("id", None)
    kept = {ours: theirs for ours, theirs in names.items() if _is_asked(ours, decoder, asked)}
    columns = [F.col(_quoted(theirs)).alias(theirs) for theirs in dict.fromkeys(kept.values())]
    if given is None:
        sent = frame.select(*columns, *(half.alias(name) for half, name in zip(halves, (HIGH, LOW), strict=True)))
        return sent, replace(decoder, names=tuple(kept.items()), hashed=True)
    text = F.col(_quoted(given)).cast("string")
    told = F.when(text.isNull() | (text == ""), _hexadecimal(*halves)).otherwise(text)
    kept["id"] = given
    return frame.select(*columns, told.alias(given)), replace(decoder, names=tuple(kept.items()))


def _is_asked(ours: str, decoder: Decoder, asked: frozenset[IRI] | None) -> bool:
    if asked is None or decoder.kind is not Kind.TYPED or ours in OWN_COLUMNS:
        return True
    return predicate_term(ours, decoder.namespace) in asked


def _halves(decoder: Decoder) -> tuple[Column, Column]:
    """128 bits of a stream's row. A null changes no hash, so that it is said of each column whether there is one."""
    cells = [F.lit(decoder.stream), *(F.col(_quoted(name)) for name in sorted(decoder.columns))]
    said = [each for cell in cells for each in (cell.isNull(), cell)]
    return F.xxhash64(F.lit(1), *said), F.xxhash64(F.lit(2), *said)


def _hexadecimal(high: Column, low: Column) -> Column:
    return F.concat(*(F.lpad(F.lower(F.hex(half)), 16, "0") for half in (high, low)))


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
