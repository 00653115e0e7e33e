"""The tables that the graph matcher fills, one per GPM, the shard key, and the columns that hold it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from thence.algebra.expressions import Variable
from thence.algebra.patterns import (
    Bgp,
    Extend,
    Filter,
    Graph,
    Join,
    LeftJoin,
    MatchPattern,
    Minus,
    Pattern,
    SubSelect,
    TemporalJoin,
    Union,
    Values,
    WindowPattern,
)
from thence.algebra.spaseq import (
    Operand,
    Quantifier,
    Selection,
    SelectRows,
    SequencePart,
    SequenceQuery,
    certain_in,
    locals_of,
    occurrences,
    variables_of,
    whole_pattern,
)
from thence.algebra.traversal import nodes, numbered
from thence.algebra.variables import always_bound, in_scope
from thence.engines.automaton.program import Partition, Source
from thence.interface.operator import ShardKey, shared_routes
from thence.interface.tables import Table

# Join keys: the variables that separate the events of a query, used to find runs and to choose shards.


def shard_key(query: SequenceQuery) -> tuple[Variable, ...]:
    """The variables that every GPM of the sequence binds in each of its matches (negated GPMs too) and that keep one
    value through a run: events that differ in them never meet. May be empty.

    >>> from thence.lang.spaseq.parser import parse
    >>> query = parse('''SELECT * WITHIN 9 TICKS FROM STREAM S <x:s> { SEQ (A ; B+ , N! ; A)
    ...     DEFINE GPM A ON S { ?house <x:a> ?a } DEFINE GPM B ON S { ?house <x:b> ?b }
    ...     DEFINE GPM N ON S { ?house <x:off> 1 } }''')
    >>> print(*shard_key(query))
    ?house
    """
    places = [found for part in query.sequence for found in occurrences(part.operand)]
    bound = [always_bound(whole_pattern(query.gpm(found.gpm))) for found in places]
    changing = frozenset[Variable]().union(*(locals_of(query, found.place) for found in places))
    shared = frozenset.intersection(*bound) - changing
    return tuple(sorted(shared, key=lambda variable: variable.name))


def join_key(
    query: SequenceQuery, operand: Operand, bound: frozenset[Variable], anew: frozenset[Variable]
) -> frozenset[Variable]:
    """The variables by which the runs that an operand's match can join are found: bound in all runs that wait for it,
    bound by every match of it, and not dropped when it joins."""
    return (bound & certain_in(query, operand)) - anew


# The shard key of a query, and the columns of each table that hold it.


def routing_key(query: SequenceQuery) -> tuple[tuple[Variable, ...], str]:
    """The variables that events are sharded by, or the reason why there are none. Events that differ in them never
    meet; with contiguous partitions, the events of one partition are in one shard; with DISTINCT, one shard makes equal
    rows."""
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
    readers = ((table, tuple(names.index(variable) for variable in found)) for table, names in named)
    routes = shared_routes(len(tables), readers)
    assert routes is not None, "tables are shared only by those that have the key in the same columns"
    return ShardKey(tuple(variable.name for variable in found), routes, "" if found else reason)


# The tables that the graph matcher fills: one for each GPM, shared by GPMs that differ in variable names only.


@dataclass(frozen=True, slots=True)
class Tables:
    """The tables of a query, its GPMs as sources over them, and the tables that define its partitions."""

    tables: tuple[Table, ...]
    sources: tuple[Source, ...]
    partitions: tuple[Partition, ...]


@dataclass(slots=True)
class _PatternRequest:
    """A pattern, the variables that it has, and which of them are wanted."""

    stream: str
    pattern: Pattern
    variables: tuple[Variable, ...]
    wanted: frozenset[Variable]
    table: int = field(default=-1)


def tables_of(
    query: SequenceQuery,
    written: SequenceQuery,
    *,
    optimise: bool,
    partial: bool = False,
    key: tuple[Variable, ...] = (),
) -> Tables:
    """Those that share a table have `key` in the same columns of it. Without `optimise`, each GPM has its own table, of
    all its variables; and of all its variables also if timed-out partial matches are reported, since these show all
    that they have bound. Partitions go by the query as written."""
    wanted = wanted_variables(query) if optimise and not partial else None
    sources = []
    for gpm in query.gpms:
        variables = variables_of(gpm)
        kept = frozenset(variables) if wanted is None else frozenset(variables) & wanted
        sources.append(_PatternRequest(gpm.stream, whole_pattern(gpm), variables, kept))
    partitions = _partitions(written)
    tables = _shared([*sources, *partitions], optimise, key)
    return Tables(
        tables=tables,
        sources=tuple(
            Source(gpm.name, gpm.stream, asked.pattern, _named(asked, tables), asked.table)
            for gpm, asked in zip(query.gpms, sources, strict=True)
        ),
        partitions=tuple(Partition(asked.table, _named(asked, tables)) for asked in partitions),
    )


def wanted_variables(query: SequenceQuery) -> frozenset[Variable]:
    """The variables that something besides the match of one event reads: selected ones, those of the machine's filters,
    those that two occurrences share, partition keys, and those that complete matches join by."""
    seen = Counter(
        variable
        for part in query.sequence
        for found in occurrences(part.operand)
        for variable in variables_of(query.gpm(found.gpm))
    )
    wanted = {variable for variable, times in seen.items() if times > 1} | set(query.partition)
    wanted |= _variables_in([gpm.filters for gpm in query.gpms])
    wanted |= _variables_in([part.demands for part in query.sequence])
    wanted.update(variable for late in query.late for variable in in_scope(late.block))
    if not isinstance(query.form, SelectRows):
        return frozenset(variable for gpm in query.gpms for variable in variables_of(gpm))
    for column in query.form.columns:
        wanted |= {column.variable} | _variables_in([column.expression, column.aggregates])
    return frozenset(wanted)


def _variables_in(parts: list[object]) -> set[Variable]:
    return {node for node in nodes(tuple(parts)) if isinstance(node, Variable)}


def _partitions(query: SequenceQuery) -> list[_PatternRequest]:
    """The GPMs that bind what is partitioned by, without FILTER and GRAPH."""
    by = frozenset(query.partition)
    stripped = [(gpm.stream, without_filters(gpm.pattern)) for gpm in query.gpms if by]
    asked = [_PatternRequest(stream, pattern, in_scope(pattern), by) for stream, pattern in stripped]
    return [each for each in asked if by <= frozenset(each.variables)]


def _shared(asked: list[_PatternRequest], optimise: bool, key: tuple[Variable, ...]) -> tuple[Table, ...]:
    """The tables of some questions, equal ones once; each question learns which is its own."""
    found: dict[object, int] = {}
    patterns: list[tuple[str, Pattern]] = []
    wanted: list[set[int]] = []
    for number, each in enumerate(asked):
        pattern = numbered(each.pattern, each.variables)
        columns = tuple(each.variables.index(v) if v in each.variables else -1 for v in key)
        each.table = found.setdefault((each.stream, pattern, columns) if optimise else number, len(patterns))
        if each.table == len(patterns):
            patterns.append((each.stream, pattern))
            wanted.append(set())
        wanted[each.table].update(place for place, v in enumerate(each.variables) if v in each.wanted)
    return tuple(
        Table(stream, pattern, tuple(Variable(str(place)) for place in sorted(places)))
        for (stream, pattern), places in zip(patterns, wanted, strict=True)
    )


def _named(asked: _PatternRequest, tables: tuple[Table, ...]) -> tuple[Variable, ...]:
    """The requested names of the variables of its table."""
    return tuple(asked.variables[int(variable.name)] for variable in tables[asked.table].variables)


def without_filters(pattern: Pattern) -> Pattern:
    """A pattern without its FILTERs, as partitions are judged by it."""
    match pattern:
        case Filter():
            return without_filters(pattern.pattern)
        case LeftJoin():
            return LeftJoin(without_filters(pattern.left), without_filters(pattern.right))
        case Join() | Union() | Minus():
            return replace(pattern, left=without_filters(pattern.left), right=without_filters(pattern.right))
        case Extend() | Graph():
            return replace(pattern, pattern=without_filters(pattern.pattern))
        case Bgp() | Values() | SubSelect() | TemporalJoin() | WindowPattern() | MatchPattern():
            return pattern
