"""The shard key of a query, and the columns of each table that hold it."""

from __future__ import annotations

from collections.abc import Sequence

from thence.algebra.expressions import Variable
from thence.algebra.spaseq import Quantifier, Selection, SelectRows, SequencePart, SequenceQuery
from thence.optimize.infer_key import shard_key
from thence.program.operator import ShardKey
from thence.program.tables import Table


def routing_key(query: SequenceQuery) -> tuple[tuple[Variable, ...], str]:
    """The variables that events are sharded by, or why there are none. Events that differ in them never meet; where
    partitions are contiguous, those of one partition are in one shard; and where rows are DISTINCT, equal rows are made
    by one shard."""
    key, reason = frozenset(shard_key(query)), "no variable is joined by equality in every part"
    if key and query.partition and any(_is_strict(part) for part in query.sequence):
        key, reason = key & frozenset(query.partition), "PARTITION BY names no variable that every part joins"
    if key and isinstance(query.form, SelectRows) and query.form.distinct:
        shown = frozenset(column.variable for column in query.form.columns if column.expression is None)
        key, reason = key & shown, "DISTINCT compares rows without a variable that every part joins"
    return tuple(sorted(key, key=lambda variable: variable.name)), reason


def _is_strict(part: SequencePart) -> bool:
    """Whether anything before it, or between its iterations, must be contiguous."""
    return part.selection is Selection.STRICT or part.quantifier is Quantifier.PLUS


def routes_of(
    key: Sequence[Variable], reason: str, tables: Sequence[Table], named: Sequence[tuple[int, Sequence[Variable]]]
) -> ShardKey:
    """The part of a key that is bound wherever a table is read, and for each table, which of its columns that is; None
    for one that is never read. `reason` says why there is no key. `named` are the tables that are read, and what their
    columns are called there."""
    found = tuple(variable for variable in key if all(variable in names for _, names in named))
    routes: list[tuple[int, ...] | None] = [None] * len(tables)
    for table, names in named:
        columns = tuple(names.index(variable) for variable in found)
        assert routes[table] in (None, columns), "tables are shared only by those that have the key in the same columns"
        routes[table] = columns
    return ShardKey(tuple(variable.name for variable in found), tuple(routes), "" if found else reason)
